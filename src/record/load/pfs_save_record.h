/*
 * pfs_save_record.h
 *	  Records with named fields: what the sections of the file consist of.
 *
 * Plain code, as pfs_save_bytes.h.  A section begins with a list of its kinds of records, each
 * with the names of its fields, and how these lie there; then come records, each behind the
 * number of its kind.  The reader looks up by name what it knows: other records and fields are
 * passed over, and a field that the file does not have is zero.  Numbers have no width in the
 * file (seven bits a byte, the lowest first, the eighth bit of each byte but the last one set),
 * so a field may grow.
 *
 * Reader and writer share one list of fields for each kind of record, PfsSaveRecord.  What is
 * read may be anything: a value that its field cannot have is the end of the section.
 */
#ifndef PFS_SAVE_RECORD_H
#define PFS_SAVE_RECORD_H

#include "pfs_cell.h"
#include "pfs_save_bytes.h"

/* Bytes of any record in memory, and of its texts, in which something may stand for a secret. */
#define PFS_SAVE_RECORD_SIZE	4096
#define PFS_SAVE_TEXT_MAX		(PFS_TEXT_LENGTH_MAX + 64)

/*
 * What a file's section can have, so that a list of it fits into memory: kinds of records,
 * fields of all.
 */
#define PFS_SAVE_KINDS_MAX		16
#define PFS_SAVE_FIELDS_MAX		512

/* Picoseconds up to here can be converted to ticks: 600 million years. */
#define PFS_SAVE_PS_MAX ((unsigned __int128) 1 << 94)

typedef enum PfsSaveType
{
	PFS_SAVE_NUMBER,			/* any that the member has room for */
	PFS_SAVE_COUNT,				/* one that SQL can show, with room for more
								 * of it: uint64 */
	PFS_SAVE_SUM,				/* picoseconds, or a sum that has the same
								 * limit: PfsTicks */
	PFS_SAVE_TICKS,				/* the same in ticks of the default timer,
								 * which are picoseconds in the file; of one
								 * event: uint64, which ends there */
	PFS_SAVE_TIME,				/* TimestampTz */
	PFS_SAVE_TEXT,				/* PfsText, without a zero byte; of what is
								 * read, in the file's bytes */
	PFS_SAVE_BUCKETS,			/* uint64 [PFS_HISTOGRAM_BUCKETS] */
} PfsSaveType;

typedef struct PfsSaveField
{
	const char *name;
	PfsSaveType type;
	uint16		offset;
	uint16		size;
} PfsSaveField;

/* An entry of such a list: a member of a struct, under its own name or another one. */
#define PFS_SAVE_AS(name, struct_type, member, type) \
	{name, type, offsetof(struct_type, member), sizeof(((struct_type *) NULL)->member)}
#define PFS_SAVE_MEMBER(struct_type, member, type) PFS_SAVE_AS(#member, struct_type, member, type)

typedef struct PfsSaveRecords PfsSaveRecords;

/* A kind of record. */
typedef struct PfsSaveRecord
{
	const char *name;
	const PfsSaveField *fields;
	uint16		nfields;
	uint16		size;			/* of the struct */

	/* NULL, or: can there be such a record behind those before it? */
	bool		(*is_possible) (const void *record, const PfsSaveRecords *r);
} PfsSaveRecord;

#define PFS_SAVE_RECORD(record_name, list, struct_type, ...) \
	{.name = record_name, .fields = list, .nfields = lengthof(list), .size = sizeof(struct_type), __VA_ARGS__}

/* How a field lies in the file. */
typedef enum PfsSaveWire
{
	PFS_WIRE_NUMBER = 'n',
	PFS_WIRE_SIGNED = 's',		/* the sign in the lowest bit */
	PFS_WIRE_BYTES = 'b',		/* a number, and so many bytes */
} PfsSaveWire;

/* What a section has: kinds of records. */
typedef struct PfsSaveFormat
{
	const char *name;			/* less than PFS_SAVE_NAME_SIZE bytes */
	const PfsSaveRecord *const *records;
	int			nrecords;
} PfsSaveFormat;

/* Begins a section with the names of its records and fields.  pfs_save_end_section() ends it. */
extern void pfs_save_begin_records(PfsSaveWriter *w, const PfsSaveFormat *format);

/* Puts a record of this kind: its place in format->records. */
extern void pfs_save_put_record(PfsSaveWriter *w, const PfsSaveFormat *format, int kind, const void *record);

/* What the fields of a section in the file are here. */
typedef struct PfsSaveMap
{
	int			nkinds;
	struct
	{
		int8		kind;		/* here; -1: not known */
		uint16		first;		/* of its fields below */
		uint16		nfields;
	}			kinds[PFS_SAVE_KINDS_MAX];
	struct
	{
		int16		field;		/* here; -1: not known */
		uint8		wire;
	}			fields[PFS_SAVE_FIELDS_MAX];
} PfsSaveMap;

/* A place in a section that is read.  A copy of it is another place; the map is that of all. */
struct PfsSaveRecords
{
	const PfsSaveFormat *format;
	const PfsSaveMap *map;
	PfsSaveReader bytes;
	uint64		frequency;		/* of the timer by whose ticks records count;
								 * 0: nobody uses what is read */
	uint32		nread[PFS_SAVE_KINDS_MAX];	/* by kind here: records so far */
	char		problem[160];	/* why it cannot be read; "": none so far */
};

/* Begins to read a section that is whole.  False: see r->problem. */
extern bool pfs_save_open_records(PfsSaveRecords *r, PfsSaveMap *map, const PfsSaveFormat *format,
								  const PfsSaveFound *found);

/*
 * Reads the next record that is known here into room for any, PFS_SAVE_RECORD_SIZE bytes that are
 * aligned as PfsTicks.  Returns its kind; -1: there are no more, or r->problem says why not.
 */
extern int	pfs_save_get_record(PfsSaveRecords *r, void *record);

/* The same of this kind alone: others are passed over. */
static inline bool
pfs_save_get_kind(PfsSaveRecords *r, int kind, void *record)
{
	int			got;

	while ((got = pfs_save_get_record(r, record)) >= 0 && got != kind)
		;
	return got == kind;
}

/* Can all of a section be read?  False: see problem. */
extern bool pfs_save_check_records(const PfsSaveFormat *format, const PfsSaveFound *found, char *problem,
								   size_t size);

/* Room for any record. */
typedef union PfsSavedAny
{
	PfsTicks	aligned;
	char		bytes[PFS_SAVE_RECORD_SIZE];
} PfsSavedAny;

/* ---- records of several sections ---- */

/* A name of an instrument, "" of one that has none; others refer to it by its place among these. */
typedef struct PfsSavedEvent
{
	PfsText		name;
} PfsSavedEvent;

/* Since when a table counts. */
typedef struct PfsSavedReset
{
	PfsText		table;
	TimestampTz time;
} PfsSavedReset;

extern PFS_HIDDEN const PfsSaveRecord pfs_save_event_record;
extern PFS_HIDDEN const PfsSaveRecord pfs_save_reset_record;

#endif							/* PFS_SAVE_RECORD_H */
