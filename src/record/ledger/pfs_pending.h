/*
 * pfs_pending.h
 *	  The ledger of a process: what it has counted for objects that all processes share, as
 *	  files and digests, and not added to their sums yet; and what a kind of objects is.
 *
 * The sums of an object are memory that all processes share, and sessions that work with
 * one object would fight over its lines at every call.  So each process has places of its
 * own, beside its thread record (pfs_thread_sets.h), and readers add those of all processes
 * to the sums.  README.md has the protocol.
 *
 * A kind of objects has an inline function that counts on the way of an event: it finds its
 * place, by pfs_pending_find() or in a way of its own, else takes one by pfs_pending_get(), and
 * adds to the kind's own numbers there.  All that is not on that way goes by the kind's
 * descriptor, PfsCountedKind.  The kind's PfsPendingShape is a constant, so that the inline
 * function has no load of it.
 *
 * Separate from the sums: these are everybody's, a place is one process's.  SQL commands:
 * ../read/pfs_pending_read.h.
 */
#ifndef PFS_PENDING_H
#define PFS_PENDING_H

#include "pfs_cell.h"
#include "pfs_instrument.h"
#include "pfs_part.h"
#include "pfs_patience.h"
#include "pfs_thread_sets.h"

/*
 * An object, as an event names it: index of its record above the low half of the state word,
 * which is not 0 while it is there.  Low half 0: none; the high half is the kind's own.
 */
#define PFS_COUNTED_OBJECT(index, word) ((uint64) (index) << 32 | (uint32) (word))
#define PFS_COUNTED_INDEX(object) ((uint32) ((object) >> 32))
#define PFS_COUNTED_WORD(object) ((uint32) (object))

/*
 * What a place begins with; the kind's numbers follow.  All zero is empty.  A place is a
 * whole number of cache lines, at most PFS_PENDING_SIZE_MAX bytes.
 */
typedef struct PfsPending
{
	uint64		object;			/* low half 0: of none */
	uint32		key;			/* what is counted of it, as the kind says */
	uint32		note;			/* the kind's own, written when the place is
								 * taken */
	uint64		generation;		/* of truncations, when the place was taken;
								 * 0: it is empty */
} PfsPending;

#define PFS_PENDING_SIZE_MAX (24 * PFS_CACHE_LINE)

/*
 * A process's places of a kind: sets of so many ways, by a hash of object and key.  Those of a set
 * are taken from the first one on.
 */
typedef struct PfsPendingShape
{
	uint32		head;			/* bytes in front of them, the kind's own */
	uint32		sets;
	uint32		ways;
	uint32		size;			/* of a place, in bytes */
} PfsPendingShape;

/* What pfs_pending_find() looks at. */
#define PFS_PENDING_WAYS 2

/* Bytes of all that. */
static inline size_t
pfs_pending_bytes(const PfsPendingShape *shape)
{
	return shape->head + (size_t) shape->sets * shape->ways * shape->size;
}

/*
 * What of a place's numbers is truncated by itself: a part has a generation that ends all earlier numbers of it,
 * and that of PFS_PENDING_ALL ends those of every part.  The other parts are the kind's own.
 */
#define PFS_PENDING_ALL		0
#define PFS_PENDING_OBJECT	1	/* that they are their object's, and not only
								 * their name's */
#define PFS_PENDING_PARTS	5

/*
 * What one kind of objects differs in.  make, add and leave are called by the owner of places
 * inside its write section, with an object that nobody frees meanwhile: no lock, no
 * allocation, no error.
 */
typedef struct PfsCountedKind
{
	const PfsPendingShape *shape;	/* NULL: of what nobody shares, as
									 * prepared statements: its owner counts
									 * in the object, and there are no places */
	PfsPages  **objects;		/* their container: leads from a place to its
								 * object; NULL: the kind finds it itself */

	/*
	 * Makes that in which the numbers of a place will be added up; false: no
	 * room.  NULL: an object has it from the start.
	 */
	bool		(*make) (void *object, uint32 key);

	/*
	 * Adds the numbers of a place to the sums of its object.  object NULL: it
	 * has none, or that has gone, or was truncated since: then they go where
	 * the kind counts by names, if it does.
	 */
	void		(*add) (void *object, const PfsPending *p);

	/*
	 * Moves what a place has for its thread, too, as it is about to be
	 * emptied, or the process ends, which leaves the place as it is (stays).
	 * NULL: nothing.
	 */
	void		(*leave) (PfsThread *t, PfsPending *p, bool stays);

	/* Frees what the record of a removed object leads to.  NULL: nothing. */
	void		(*discard) (void *object);

	/*
	 * SQL commands, for a copy of a place: how many events its numbers are.
	 * NULL: the kind does not ask for that.
	 */
	uint64		(*events) (const PfsPending *p);

	/* Where a record has its cells of two views, see PfsCellView. */
	uint32		cells;
	uint32		ncells;
} PfsCountedKind;

/*
 * Two groups of SQL's tables can show the same numbers, and are truncated each by itself.  Then a record has
 * `ncells` cells, which are both views', and behind them as many of what one view has lost: TRUNCATE of a view takes
 * the first ones there, where the other view goes on showing them.  Whose they are is the same for all records
 * (kept_for).  A place of such a kind is a PfsPendingCounts.
 */
typedef enum PfsCellView
{
	PFS_VIEW_OF_KIND,			/* table_io_waits_summary_...,
								 * events_statements_summary_by_program */
	PFS_VIEW_OF_OBJECTS,		/* objects_summary_global_by_type */
} PfsCellView;

/* What a place begins with whose kind counts in cells: key is the number of the cell. */
typedef struct PfsPendingCounts
{
	PfsPending	place;
	PfsCounts	counts;			/* ticks of the default timer */
} PfsPendingCounts;

/*
 * The kinds, each by its number, set once, when the library is loaded (../pfs_families.c); and what each kind's file
 * defines.
 */
extern PFS_HIDDEN const PfsCountedKind *pfs_counted_kinds[PFS_NUM_COUNTED_OBJECTS];

#define PFS_COUNTED_DECLARE(number, kind) \
	extern const PfsCountedKind pfs_counted_##kind; \
	extern const PfsPart pfs_part_##kind;

PFS_COUNTED_KINDS(PFS_COUNTED_DECLARE)

/* In shared memory, one for each kind. */
typedef struct PfsSharedPending
{
	/*
	 * By part: the generation of its last TRUNCATE; truncators, one at a
	 * time, before they raise the kind's object_truncations.
	 */
	uint64		truncated[PFS_PENDING_PARTS];
	uint32		kept_for;		/* PfsCellView; truncators in their turn */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsSharedPending;

extern PFS_HIDDEN PfsSharedPending *pfs_shared_pending; /* [PFS_NUM_COUNTED_OBJECTS] */
extern PFS_HIDDEN PfsThreadSets pfs_pending_sets[PFS_NUM_COUNTED_OBJECTS];

/* This process's places of each kind; NULL: it has none yet. */
extern PFS_HIDDEN char *pfs_my_pending[PFS_NUM_COUNTED_OBJECTS];

/* Postmaster: takes the places of all kinds; begins the first generation. */
extern void pfs_pending_lay_out(PfsSegment *seg);
extern void pfs_pending_start(void);

/* The process leaves the places of its thread record. */
extern void pfs_pending_detach(PfsThread *t);

/* Do the numbers of a place count for this part, by these truncations? */
static inline bool
pfs_pending_counts(const uint64 *truncated, const PfsPending *p, int part)
{
	return p->generation >= pfs_load_relaxed(&truncated[PFS_PENDING_ALL]) && p->generation >= pfs_load_relaxed(&truncated[part]);
}

/* ---- the owner, inside a write section of its thread ---- */

/*
 * A place of this process for an object and key, empty; what was there is flushed.  NULL: not
 * at this moment, or there is no room for sums of the object, and the call is to be counted
 * in the sums at once.
 */
extern PfsPending *pfs_pending_take(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key);

/*
 * Something of a place's form, in which what is counted is in the sums behind pfs_pending_put(); and the one or the other,
 * where no place is to be had at this moment, or there is no room for sums of the object.
 */
extern PfsPending *pfs_pending_at_once(PfsCountedObjects kind, uint64 object, uint32 key);
extern PfsPending *pfs_pending_get(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key);
extern void pfs_pending_put_at_once(PfsThread *t, PfsCountedObjects kind, const PfsPending *p);

/* Its generation: no truncation has that. */
#define PFS_PENDING_AT_ONCE PG_UINT64_MAX

/* Behind counting in a place that pfs_pending_find() or pfs_pending_get() has given.  False: it was none. */
static inline bool
pfs_pending_put(PfsThread *t, PfsCountedObjects kind, const PfsPending *p)
{
	if (likely(p->generation != PFS_PENDING_AT_ONCE))
		return true;
	pfs_pending_put_at_once(t, kind, p);
	return false;
}

/* This process's places of a kind, with what is in front of them; NULL: there are none. */
extern char *pfs_pending_mine(PfsThread *t, PfsCountedObjects kind);

/* Flushes all places of a kind, as far as it may, as the process ends. */
extern void pfs_pending_leave(PfsThread *t, PfsCountedObjects kind);

/*
 * From enter to leave the object's record and sums are not freed, by those who ask
 * pfs_objects_in_use() before.  NULL: it is none, or has gone; leave is called all the same.
 */
extern void *pfs_object_enter(PfsThread *t, PfsCountedObjects kind, uint64 object);
extern void pfs_object_leave(PfsThread *t, PfsCountedObjects kind);

/*
 * Who frees objects, some time after their state words have changed: which of these records
 * (indexes, at most 64) has a process entered?  A bit each.
 */
extern uint64 pfs_objects_in_use(PfsCountedObjects kind, const uint32 *objects, int n);

/*
 * An object whose state word has just been changed waits in a list of this process until nobody can add to it any
 * more.  The second frees what this process has removed so far, as far as it can: before further removals, and at
 * its end.
 */
extern void pfs_object_removed(PfsCountedObjects kind, uint32 index);
extern void pfs_objects_free_removed(void);

/* A process without a thread record leaves removals to others: it has no end at which its list would be freed. */
static inline bool
pfs_may_remove_objects(void)
{
	return pfs_my_thread != NULL;
}

/* Is it still there? */
static inline bool
pfs_object_is_there(PfsCountedObjects kind, uint64 object)
{
	return PFS_COUNTED_WORD(object) != 0 &&
		(uint32) pfs_pages_word(*pfs_counted_kinds[kind]->objects, PFS_COUNTED_INDEX(object)) == PFS_COUNTED_WORD(object);
}

static inline bool
pfs_pending_is(const PfsPending *p, uint64 object, uint32 key)
{
	return p->object == object && p->key == key;
}

/* The set of places in which those of an object and key are. */
static pg_attribute_always_inline PfsPending *
pfs_pending_set(char *places, const PfsPendingShape *shape, uint64 object, uint32 key)
{
	uint32		hash = (PFS_COUNTED_INDEX(object) + key * 31) * UINT32_C(2654435769);

	return (PfsPending *) (places + shape->head + ((uint64) hash * shape->sets >> 32) * shape->ways * shape->size);
}

/* The next place of the set. */
static inline PfsPending *
pfs_pending_next(PfsPending *p, const PfsPendingShape *shape)
{
	return (PfsPending *) ((char *) p + shape->size);
}

/*
 * On the way of an event: is it the place of an object and key, and can be counted in?  A place
 * that is empty has generation 0, which no truncation has.
 *
 * The load of the truncations comes behind the store of the odd sequence word; the other side is in
 * pfs_pending_read.c.
 */
static pg_attribute_always_inline bool
pfs_pending_holds(PfsCountedObjects kind, const PfsPending *p, uint64 object, uint32 key)
{
	if (unlikely(!pfs_pending_is(p, object, key)))
		return false;
	pfs_fence_signal();
	return likely(p->generation == pfs_load_relaxed(&pfs_words->object_truncations[kind]));
}

/*
 * On the way of an event: this process's place of an object and key that can be counted
 * in; NULL: pfs_pending_get() has to be asked.  shape: the kind's constant.
 */
static pg_attribute_always_inline PfsPending *
pfs_pending_find(PfsCountedObjects kind, const PfsPendingShape *shape, uint64 object, uint32 key)
{
	PfsPending *p;

	if (unlikely(pfs_my_pending[kind] == NULL))
		return NULL;
	p = pfs_pending_set(pfs_my_pending[kind], shape, object, key);
	if (!pfs_pending_is(p, object, key))
		p = pfs_pending_next(p, shape);
	return likely(pfs_pending_holds(kind, p, object, key)) ? p : NULL;
}

StaticAssertDecl(PFS_PENDING_WAYS == 2, "pfs_pending_find() looks at two");

#endif							/* PFS_PENDING_H */
