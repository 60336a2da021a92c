/*
 * pfs_load_code.h
 *	  What is kept of one period, and how it lies in memory: its head, its largest rows and
 *	  the remainders, as bytes.
 *
 * Separate from the rings, so that a plain program can read what a file holds.  A row takes
 * twenty bytes or so where PfsLoadRow has 48, as most numbers are small, and rows of one
 * user in one database follow each other.
 */
#ifndef PFS_LOAD_CODE_H
#define PFS_LOAD_CODE_H

#include "pfs_load_row.h"

/* Rows of a period that are kept apart; each other one is in the remainder of its class. */
#define PFS_LOAD_LARGEST	32
#define PFS_LOAD_REMAINDERS (PFS_NUM_LOAD_TYPES * PFS_NUM_LOAD_CLASSES)
#define PFS_LOAD_ROWS_MAX	(PFS_LOAD_LARGEST + PFS_LOAD_REMAINDERS)

/*
 * Instead of an instrument's number: the remainder of type and class, whose event_name is
 * NULL.
 */
#define PFS_LOAD_REMAINDER	((PfsInstrumentId) 0xFFFE)

typedef struct PfsLoadHead
{
	TimestampTz begin;
	TimestampTz end;
	uint64		length;			/* picoseconds */
	uint64		number;			/* in its ring */
	uint32		generation;		/* TRUNCATEs that had been: pfs_load_ring.h */
	uint16		resolution;		/* seconds */
	uint16		nrows;
} PfsLoadHead;

/* No period has more bytes: a row has a byte, an instrument, query_id, two OIDs, and three numbers of 64 bits. */
#define PFS_LOAD_ROW_BYTES	(1 + 3 + 8 + 2 * 5 + 3 * 10)
#define PFS_LOAD_BYTES_MAX	TYPEALIGN(8, sizeof(PfsLoadHead) + PFS_LOAD_ROWS_MAX * PFS_LOAD_ROW_BYTES)

/* Aligned, with room for any period. */
typedef union PfsLoadBytes
{
	PfsLoadHead head;
	uint64		words[PFS_LOAD_BYTES_MAX / 8];
	uint8		bytes[PFS_LOAD_BYTES_MAX];
} PfsLoadBytes;

/* Whose text: a statement of the history. */
typedef struct PfsLoadTextKey
{
	uint64		query_id;
	Oid			database;
	Oid			user;
} PfsLoadTextKey;

/* The word of wait_event_type, and back: false, where it is none. */
extern const char *pfs_load_class_name(uint8 class);
extern bool pfs_load_class_by_name(const char *name, uint8 *class);

/* Is this the remainder of a class? */
static inline bool
pfs_load_is_remainder(const PfsLoadKey *key)
{
	return key->instrument == PFS_LOAD_REMAINDER;
}

/* The remainder that a row belongs to. */
static inline PfsLoadKey
pfs_load_remainder_of(const PfsLoadKey *key)
{
	return (PfsLoadKey)
	{
		.type = key->type, .class = key->class, .instrument = PFS_LOAD_REMAINDER
	};
}

/*
 * Writes a period's rows behind its head, and how many there are into it.  Returns the
 * bytes of all.  rows: at most PFS_LOAD_ROWS_MAX; those of one user and database lie side
 * by side if they are sorted by key.
 */
extern uint32 pfs_load_encode(PfsLoadBytes *to, const PfsLoadHead *head, const PfsLoadRow *rows, int nrows);

/* Reads the rows of a period that was written so.  rows: [PFS_LOAD_ROWS_MAX]. */
extern void pfs_load_decode(const PfsLoadBytes *from, PfsLoadRow *rows);

#endif							/* PFS_LOAD_CODE_H */
