/*
 * pfs_memory.h
 *	  Memory instruments, and the counters of a thread's memory: who counts, when
 *	  each process has to look at its switches again, and what an allocation or
 *	  a free does to the thread's cells.
 *
 * A process is told that switches have changed, or that something was truncated,
 * by a word in its thread's record that says where its entries of contexts lie: every allocation and free that is
 * counted looks at it, inside its write section.  The epoch says which switches a process knows.
 */
#ifndef PFS_MEMORY_H
#define PFS_MEMORY_H

#include "pfs_summary_own.h"
#include "pfs_memory_cell.h"
#include "pfs_memory_counted.h"
#include "pfs_memory_total.h"

typedef struct PfsSharedMemory
{
	uint64		epoch __attribute__((aligned(PFS_CACHE_LINE)));
	uint64		chunks_lost;	/* allocations that could not be tracked;
								 * atomic */
	uint64		processes_lost; /* that could not be made to count; atomic */
	uint64		processes_replaced; /* in which another library was found to
									 * have replaced methods; atomic */
	uint32		dynamic_names;	/* instruments of contexts whose name is no
								 * constant; atomic */
	PfsInstrumentId other;		/* of all that have no instrument of their own */
} PfsSharedMemory;

/* NULL: pfs is off.  Inherited. */
extern PFS_HIDDEN PfsSharedMemory *pfs_memory;

/* At start: the well-known contexts. */
extern void pfs_memory_start(void);

/*
 * The instrument of contexts with this name: found or made, memory/context/other
 * when there are too many.  constant: the name is no data.  Instrument points.
 */
extern PfsInstrumentId pfs_memory_instrument(const char *name, bool constant);

/* Switches have changed, or a truncation has begun: all threads look again. */
extern void pfs_memory_look_again(void);

/* ---- owner, inside a write section of t->memory.seq ---- */

/*
 * Where the process's entries of contexts begin, unless there are news (PFS_NO_CONTEXTS).  The load stands behind the odd
 * word, which the compiler leaves in place; an atomic one would be an instruction of its own.
 */
static pg_attribute_always_inline uintptr_t
pfs_memory_contexts_at(const PfsThread *t)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	return t->memory.contexts_at;
#else
	return pfs_load_relaxed(&t->memory.contexts_at);
#endif
}

/* How much more than its high-water mark is in use: by that its headroom is below zero. */
static pg_attribute_always_inline uint64
pfs_memory_beyond(uint64 headroom)
{
	return (int64) headroom < 0 ? -headroom : 0;
}

/* Raises the high-water marks of a cell by so much, and with them its headroom. */
static pg_attribute_always_inline void
pfs_memory_raise(PfsMemoryCell *c, uint64 count, uint64 bytes)
{
	pfs_bump(&c->headroom_count, count);
	pfs_bump(&c->high_count, count);
	pfs_bump(&c->range_count, count);
	pfs_bump(&c->headroom_bytes, bytes);
	pfs_bump(&c->high_bytes, bytes);
	pfs_bump(&c->range_bytes, bytes);
}

/*
 * Water marks have been passed, that of chunks, that of bytes, or both: move them,
 * and use up headroom that is left at the levels above.
 */
extern void pfs_memory_raise_high_water(PfsThread *t, PfsMemoryCell *c);
extern void pfs_memory_lower_low_water(PfsThread *t, PfsMemoryCell *c);

/*
 * Early memory (pfs_memory_early.h) has no levels above and no reader, so its high-water marks may
 * wait for the next free: till then what is in use beyond them only grows, and is what they are
 * going to be.  This is to come before each free that may be one of early memory.
 */
static pg_attribute_always_inline void
pfs_memory_raise_early(const PfsThread *t, PfsMemoryCell *c)
{
	if (unlikely(!t->memory.has_levels))
		pfs_memory_raise(c, pfs_memory_beyond(c->headroom_count), pfs_memory_beyond(c->headroom_bytes));
}

/*
 * The thread's references say whom it works for, or nobody is going to know: its memory
 * counts in its record from here on, with what the process has counted since its birth.  At
 * instrument points of the owner; called once more it does nothing.
 */
extern void pfs_memory_join(PfsThread *t);

static inline PfsMemoryCell *
pfs_memory_cell(const PfsThread *t, uint32 cell)
{
	return (PfsMemoryCell *) t->cells[PFS_FAMILY_MEMORY].cells + cell;
}

/*
 * One chunk more.  True: a high-water mark has been passed, so
 * pfs_memory_raise_high_water() has to follow.
 */
static pg_attribute_always_inline bool
pfs_memory_more(PfsThread *t, PfsMemoryCell *c, uint64 bytes)
{
	pfs_memory_total_more(t, bytes);
	if (unlikely(pfs_drop(&c->headroom_count, 1)))
	{
		(void) pfs_drop(&c->headroom_bytes, bytes);
		return true;
	}
	return pfs_drop(&c->headroom_bytes, bytes);
}

/*
 * So many chunks less.  True: a low-water mark has been passed, so
 * pfs_memory_lower_low_water() has to follow.
 */
static pg_attribute_always_inline bool
pfs_memory_less(PfsThread *t, PfsMemoryCell *c, uint64 count, uint64 bytes)
{
	pfs_memory_total_less(t, bytes);
	pfs_bump(&c->count_free, count);
	pfs_bump(&c->bytes_free, bytes);
	pfs_bump(&c->headroom_count, count);
	pfs_bump(&c->headroom_bytes, bytes);
	return unlikely(c->headroom_count > c->range_count) || unlikely(c->headroom_bytes > c->range_bytes);
}

/* The same of early memory.  True: this may be the cell's first chunk, so pfs_block_touch() has to follow. */
static pg_attribute_always_inline bool
pfs_memory_more_early(PfsThread *t, PfsMemoryCell *c, uint64 bytes)
{
	pfs_memory_total_more(t, bytes);
	(void) pfs_drop(&c->headroom_bytes, bytes);
	return unlikely(pfs_drop(&c->headroom_count, 1));
}

/* A chunk less; early memory has no low-water marks that anybody asks for. */
static pg_attribute_always_inline void
pfs_memory_less_early(PfsThread *t, PfsMemoryCell *c, uint64 bytes)
{
	if ((int64) (c->headroom_count | c->headroom_bytes) < 0)
		pfs_memory_raise_early(t, c);
	pfs_memory_total_less(t, bytes);
	pfs_bump(&c->count_free, 1);
	pfs_bump(&c->bytes_free, bytes);
	pfs_bump(&c->headroom_count, 1);
	pfs_bump(&c->headroom_bytes, bytes);
}

/*
 * A chunk has become bigger or smaller in its place: one allocation, one free, and the
 * water marks move by the difference at most.
 */
extern void pfs_memory_resize(PfsThread *t, PfsMemoryCell *c, uint64 bytes, uint64 old_bytes);

/* The thread ends, and its memory with it: the process is not told of any more. */
extern void pfs_memory_end(PfsThread *t);

#endif							/* PFS_MEMORY_H */
