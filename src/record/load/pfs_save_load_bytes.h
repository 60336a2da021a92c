/*
 * pfs_save_load_bytes.h
 *	  How the load history lies in the file.
 *
 * Plain code, as pfs_save_record.h.  Classes and events have numbers by their places among the
 * section's records of these kinds; a period is followed by its rows (PfsLoadRow, with these numbers).
 */
#ifndef PFS_SAVE_LOAD_BYTES_H
#define PFS_SAVE_LOAD_BYTES_H

#include "pfs_load_code.h"
#include "pfs_save_record.h"

/* Classes whose names are kept while a section is read. */
#define PFS_SAVE_CLASSES_MAX 64

/* The number of the first event: those below are PFS_LOAD_REMAINDER and PFS_LOAD_CPU_NAME. */
#define PFS_SAVED_EVENTS 2

StaticAssertDecl((PfsInstrumentId) (PFS_LOAD_REMAINDER + PFS_SAVED_EVENTS) == 0 &&
				 (PfsInstrumentId) (PFS_LOAD_CPU_NAME + PFS_SAVED_EVENTS) == 1, "numbers of events are those of instruments, moved");

/* The word of wait_event_type. */
typedef struct PfsSavedClass
{
	PfsText		name;
} PfsSavedClass;

typedef struct PfsSavedPeriod
{
	uint8		ring;			/* PfsLoadResolution */
	uint16		resolution;		/* seconds */
	TimestampTz begin;
	TimestampTz end;
	uint64		length;			/* picoseconds */
} PfsSavedPeriod;

/* A statement's text. */
typedef struct PfsSavedLoadText
{
	PfsLoadTextKey key;
	PfsText		text;
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

#endif							/* PFS_SAVE_LOAD_BYTES_H */
