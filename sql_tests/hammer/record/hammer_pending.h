/*
 * hammer_pending.h
 *	  What the writers (hammer_pending.c) and the readers (hammer_pending_read.c) of the test of the
 *	  ledger have in common.
 */
#ifndef HAMMER_PENDING_H
#define HAMMER_PENDING_H

#include "hammer_server.h"

#include "pfs_local.h"
#include "pfs_patience.h"
#include "pfs_pending_read.h"
#include "pfs_ref.h"
#include "pfs_shared.h"

#define KIND		PFS_COUNTED_FILES
#define KEYS		(HAMMER_WORKERS_MAX / 2)	/* each writer has one */
#define OBJECTS		8
#define THREADS		(2 * HAMMER_WORKERS_MAX)
#define HANDLES		12			/* objects that a writer knows */
#define TOMBSTONES	2			/* removed objects that are not freed yet */
#define PLACE_FULL	300			/* events of a place */
#define PART		2			/* that is truncated by itself */
#define COLLECTED	0x80000000	/* of a key: its thread has the events */

typedef struct Object
{
	uint64		number;			/* never used twice; from 1 */
	uint64		sums[KEYS];
} Object;

typedef struct Place
{
	PfsPending	place;
	uint64		value;
	uint64		check;			/* of a whole copy: three times the value */
	uint64		unused[3];
} Place;

typedef struct Variant
{
	const char *name;
	PfsPendingShape shape;
	bool		removes;		/* objects are removed, and names truncated */
	bool		evicts;			/* by the writers, who pin them */
	bool		leaves;			/* a place counts for its thread, too */
} Variant;

StaticAssertDecl(sizeof(Place) == PFS_CACHE_LINE, "places are whole lines");

typedef struct PendingContext
{
	uint64		names[KEYS];
	uint64		numbers;		/* objects made so far */
	uint64		refs[OBJECTS];	/* pfs_ref.h */
	uint64		of_threads[KEYS];	/* what writers have collected, each its
									 * own */
	uint64		parts[KEYS];	/* what PART has of all objects */
	uint64		begun[KEYS];
	uint64		ended[KEYS];

	/* Truncators, who have the turn alone. */
	uint64		cleared;		/* events that left the names */
	uint64		pushed;			/* events that left the objects */
	uint64		parted;			/* events that left the part */
	uint64		ended_before[KEYS]; /* the last truncation by object: these
									 * are of none */
	uint64		begun_behind[KEYS]; /* those that come later are, if none is
									 * removed */
	uint64		ended_before_clear[KEYS];	/* the same by name */
	uint64		begun_behind_clear[KEYS];

	/* How often something happened. */
	uint64		at_once;
	uint64		flushed;
	uint64		homeless;		/* flushes of what had no object any more */
	uint64		left_behind;	/* places of threads that have ended */
	uint64		freed;
	uint64		truncated;
	uint64		read;
	uint64		threads;
} PendingContext;

extern PendingContext *x;
extern const Variant *variant;
extern PfsPages *objects;

static inline uint64
events_of(uint64 value)
{
	return (uint32) value;
}

/* What a place counts for. */
static inline uint32
key_of(const PfsPending *p)
{
	return p->key & ~COLLECTED;
}

static inline bool
counts_for_part(const uint64 *truncated, const PfsPending *p)
{
	return pfs_pending_counts(truncated, p, PART);
}

/* Adds to an object, or to the names. */
extern void add(Object *object, uint32 key, uint64 value);

/* Readers and truncators, until the time is over; removes: it removes objects. */
extern void work_with_all(bool removes, HammerRng *rng);

/* Work for pfs_blocking_work(), each to an array by key: what names have, what objects have that are there. */
extern void read_names(PfsPatience *patience, void *arg);
extern void read_objects(PfsPatience *patience, void *arg);

/* What the part has. */
extern void read_part(PfsPatience *patience, void *arg);

#endif							/* HAMMER_PENDING_H */
