/*
 * pfs_save_load_bytes.h
 *	  How the load history lies in the file.
 *
 * Plain code, as pfs_save_record.h.  Classes and events have numbers by their places among the
 * section's records of these kinds; a period is followed by its rows.
 */
#ifndef PFS_SAVE_LOAD_BYTES_H
#define PFS_SAVE_LOAD_BYTES_H

#include "pfs_load_code.h"
#include "pfs_save_record.h"

/* Rings that are known here.  A period of another one is passed over. */
#define PFS_SAVE_RINGS	3

/* Classes whose names are kept while a section is read. */
#define PFS_SAVE_CLASSES_MAX 64

/* Instead of an event's number; that of the first one is PFS_SAVED_EVENTS. */
enum
{
	PFS_SAVED_REMAINDER,
	PFS_SAVED_CPU,
	PFS_SAVED_EVENTS,
};

/* The word of wait_event_type. */
typedef struct PfsSavedClass
{
	PfsSavedString name;
} PfsSavedClass;

typedef struct PfsSavedPeriod
{
	uint8		ring;			/* PfsLoadResolution */
	uint16		resolution;		/* seconds */
	TimestampTz begin;
	TimestampTz end;
	uint64		length;			/* picoseconds */
} PfsSavedPeriod;

typedef struct PfsSavedRow
{
	uint8		type;			/* PfsLoadType */
	uint8		statement;		/* PfsLoadStatement */
	uint32		class;
	uint32		event;
	Oid			database;
	Oid			user;
	uint64		query_id;
	uint64		count;
	uint64		time;			/* picoseconds, as the next one */
	uint64		longest;
} PfsSavedRow;

/* A statement's text. */
typedef struct PfsSavedLoadText
{
	uint64		query_id;
	Oid			database;
	Oid			user;
	PfsSavedString text;
} PfsSavedLoadText;

/* Kinds of records in each section: their places in the lists of formats. */
enum
{
	PFS_SAVED_LOAD_RESET,
	PFS_SAVED_LOAD_CLASS,
	PFS_SAVED_LOAD_EVENT,
	PFS_SAVED_LOAD_PERIOD,
	PFS_SAVED_LOAD_ROW,
};

enum
{
	PFS_SAVED_LOAD_TEXTS_TEXT,
};

extern PFS_HIDDEN const PfsSaveFormat pfs_save_load_format;
extern PFS_HIDDEN const PfsSaveFormat pfs_save_load_texts_format;

/* Puts the words of all classes, by their numbers here. */
extern void pfs_save_put_classes(PfsSaveWriter *w);

/*
 * Puts a period of this ring.  Events from nevents on, which have no name in the file, are in
 * the remainder.
 */
extern void pfs_save_put_period(PfsSaveWriter *w, uint8 ring, const PfsLoadHead *head, const PfsLoadRow *rows,
								uint32 nevents);

/* A section of periods that is read. */
typedef struct PfsSavedPeriods
{
	PfsSaveRecords *records;
	bool		has_next;		/* a period has been read, and not its rows */
	PfsSavedPeriod next;
	uint32		nclasses;
	uint8		classes[PFS_SAVE_CLASSES_MAX];	/* here; PG_UINT8_MAX: not
												 * known */
} PfsSavedPeriods;

/*
 * The next period of a ring that is known here; rows: [PFS_LOAD_ROWS_MAX], with events by the
 * file's numbers, from 0 on, PFS_LOAD_REMAINDER or PFS_LOAD_CPU_NAME.  False: there are no more.
 */
extern bool pfs_save_get_period(PfsSavedPeriods *periods, uint8 *ring, PfsLoadHead *head, PfsLoadRow *rows);

/* Makes a row's key that of the remainder it belongs to. */
static inline void
pfs_save_make_remainder(PfsLoadKey *key)
{
	PfsLoadKey	remainder = {.type = key->type, .class = key->class, .instrument = PFS_LOAD_REMAINDER};

	*key = remainder;
}

/*
 * Adds a remainder to the one of the same key, or puts it behind all rows; returns how many
 * there are.
 */
extern int	pfs_save_add_remainder(PfsLoadRow *rows, int nrows, const PfsLoadRow *row);

#endif							/* PFS_SAVE_LOAD_BYTES_H */
