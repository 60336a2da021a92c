/*
 * pfs_instr_memory_chunk.c
 *	  Memory contexts: the slow path of the methods, which presumes nothing of the
 *	  context or the chunk.
 *
 * It is taken for the first allocation of a context, for one in whose life a switch has
 * flipped, for news from other sessions, for repalloc(), and for contexts to which
 * another library has given methods of its own.  These can lead to ours, from copies that
 * the library has made, also when this process counts nothing any more: then they pass
 * the call on.  Separate from pfs_instr_memory.c, whose methods are inline functions with
 * constant arguments.
 */
#include "postgres.h"

#include "pfs_instr.h"
#include "pfs_instr_memory.h"
#include "pfs_memory_early.h"

#define here pfs_memory_here
#define KIND(kind) (&pfs_memory_probe.kinds[kind])

/* ---- contexts ---- */

/*
 * Gives the entry the methods that fit what is known of it now. Where another library
 * has replaced some of them, the context is set apart.
 */
void
pfs_memory_choose_methods(PfsContext *c)
{
	PfsWay		way = PFS_WAY_OTHER;

	if (c->on && c->epoch == here.epoch)
	{
		if (c->counted == PFS_COUNTED_ALL || c->kind == PFS_BUMP)
			way = pfs_memory_plain_way(here.thread);
		else if (c->counted == PFS_COUNTED_TRACKED)
			way = PFS_WAY_TRACKED;
	}
	if (way != c->way)
	{
		bool		all = pfs_methods_exchange(&c->methods, &pfs_memory_probe.ways[c->kind][c->way],
											   &pfs_memory_probe.ways[c->kind][way]);

		c->way = way;
		if (unlikely(!all))
			pfs_memory_set_apart(c);
	}
}

/*
 * Inside a write section: switches may have changed, so what is known of each context is
 * to be found out again, and truncations are applied.
 */
pg_noinline void
pfs_memory_take_news(PfsThread *t)
{
	pfs_store_relaxed(&t->memory.stale, false);
	pfs_fence_seqcst();			/* it was made stale behind the news */
	here.epoch = pfs_load_acquire(&pfs_memory->epoch);
	pfs_memory_drop_spares();
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
	{
		if (c->cell != NULL)
			pfs_memory_find_switch(t, c);
		pfs_memory_choose_methods(c);
	}
	pfs_summary_look(t, PFS_FAMILY_MEMORY);
}

void
pfs_memory_look(PfsThread *t)
{
	if (!pfs_load_relaxed(&t->memory.stale))
		return;
	pfs_seqlock_write_begin(&t->memory.seq);
	pfs_memory_take_news(t);
	pfs_seqlock_write_end(&t->memory.seq);
}

PfsContext *
pfs_memory_search(MemoryContext context)
{
	pfs_memory_note_others();
	return pfs_context_search(context);
}

/* ---- chunks ---- */

/* Only a process that has left shared memory, and whose counters nobody sees, does not say so. */
void
pfs_memory_lose_chunk(void)
{
	if (pfs_memory_has_segment())
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
}

/*
 * Does what pfs_memory_count_more() has left to be done, and ends the write section that
 * it has left open.
 */
pg_noinline void
pfs_memory_finish_more(PfsContext *c, uint64 bytes, PfsMemoryRest rest)
{
	PfsThread  *t = here.thread;

	for (; rest == PFS_REST_ALL; rest = pfs_memory_count_more(c, bytes))
	{
		pfs_memory_take_news(t);
		pfs_seqlock_write_end(&t->memory.seq);
	}
	if (rest == PFS_REST_MARK)
	{
		pfs_memory_raise_high_water(t, c->cell);
		pfs_seqlock_write_end(&t->memory.seq);
	}
}

/* Does what pfs_memory_count_less() has left to be done, in the same way. */
pg_noinline void
pfs_memory_finish_less(PfsContext *c, uint64 count, uint64 bytes, PfsMemoryRest rest)
{
	PfsThread  *t = here.thread;

	for (; rest == PFS_REST_ALL; rest = pfs_memory_count_less(c, count, bytes))
	{
		pfs_memory_take_news(t);
		pfs_seqlock_write_end(&t->memory.seq);
	}
	if (rest == PFS_REST_MARK)
	{
		pfs_memory_lower_low_water(t, c->cell);
		pfs_seqlock_write_end(&t->memory.seq);
	}
}

static void
count_more(PfsContext *c, uint64 bytes)
{
	PfsMemoryRest rest = pfs_memory_count_more(c, bytes);

	if (unlikely(rest != PFS_REST_NONE))
		pfs_memory_finish_more(c, bytes, rest);
}

static uint64
bytes_of(PfsAllocator kind, MemoryContext context, void *pointer)
{
	return PFS_SPACE_OF_CHUNK(&KIND(kind)->original, context, pointer) - KIND(kind)->header;
}

/* Something is about to be allocated: what is wanted now? */
static void
prepare(PfsContext *c)
{
	pfs_memory_look(here.thread);
	if (c->epoch != here.epoch)
		pfs_memory_find_switch(here.thread, c);
}

/*
 * A chunk has come.  Bump chunks go with all others of their context, so nobody
 * ever asks which of them were counted: they are not tracked, having no header
 * that would lead from the list to their context.
 */
static void
chunk_came(PfsContext *c, const void *chunk, uint64 bytes)
{
	bool		lost = false;

	if (c->kind == PFS_BUMP ? c->on : pfs_context_put(c, chunk, &lost))
		count_more(c, bytes);
	if (lost)
		pfs_memory_lose_chunk();
	pfs_memory_choose_methods(c);
}

/* A chunk is about to go. */
static void
chunk_goes(PfsContext *c, const void *chunk, uint64 bytes)
{
	if (pfs_memory_is_busy(here.thread) || !pfs_context_take(c, chunk))
		return;
	pfs_memory_take_off(c, 1, bytes);
	pfs_context_taken(c);
	pfs_memory_choose_methods(c);
}

/* Counts that realloc() has made another chunk of one, perhaps in the same place. */
static void
chunk_changed(PfsContext *c, const void *old, uint64 old_bytes, const void *chunk, uint64 bytes)
{
	bool		was_counted = pfs_context_take(c, old);
	bool		lost;
	bool		is_counted = pfs_context_put(c, chunk, &lost);

	if (lost)
		pfs_memory_lose_chunk();
	if (was_counted && is_counted && chunk == old)
	{
		PfsThread  *t = here.thread;

		pfs_seqlock_write_begin(&t->memory.seq);
		if (unlikely(pfs_load_relaxed(&t->memory.stale)))
			pfs_memory_take_news(t);
		pfs_memory_resize(t, c->cell, bytes, old_bytes);
		c->bytes += bytes - old_bytes;
		pfs_seqlock_write_end(&t->memory.seq);
	}
	else
	{
		/* Moved: for a short time there were both. */
		if (is_counted)
			count_more(c, bytes);
		if (was_counted)
			pfs_memory_take_off(c, 1, old_bytes);
		pfs_context_taken(c);
	}
	pfs_memory_choose_methods(c);
}

/* ---- methods ---- */

/*
 * Finds the entry of a context, or makes it.  A context without an entry has its kind's
 * table, and was made since the process counts, so that it is empty; or all entries are
 * in use; or it has methods of another library, which lead to ours.
 */
static PfsContext *
find_entry(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = pfs_memory_entry(kind, context);
	bool		empty;

	if (c != NULL)
		return c;
	empty = context->methods == KIND(kind)->table && !pfs_contexts_incomplete;
	return pfs_memory_add_context(kind, context, empty || pfs_memory_is_fresh(kind, context));
}

/* Allocates in any context, and counts the chunk if its instrument is on. */
void *
pfs_memory_alloc(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsContext *c = NULL;
	void	   *pointer;

	if (here.thread != NULL && !pfs_memory_is_busy(here.thread))
	{
		c = find_entry(kind, context);
		if (c != NULL)
			prepare(c);
	}
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (likely(pointer != NULL && c != NULL))
		chunk_came(c, pointer, kind == PFS_BUMP ? MAXALIGN(size) : bytes_of(kind, context, pointer));
	return pointer;
}

void
pfs_memory_free(PfsAllocator kind, MemoryContext context, void *pointer)
{
	PfsContext *c = pfs_memory_entry(kind, context);

	if (c != NULL)
		chunk_goes(c, pointer, bytes_of(kind, context, pointer));
	KIND(kind)->original.free_p(PFS_FREE_ARGS);
}

/*
 * Makes a chunk bigger or smaller, in any context; it may be counted behind this, and
 * not before.
 */
void *
pfs_memory_realloc(PfsAllocator kind, MemoryContext context, PFS_REALLOC_REST)
{
	PfsContext *c = pfs_memory_entry(kind, context);
	uint64		old_bytes;
	void	   *result;

	if (c == NULL || pfs_memory_is_busy(here.thread))
		return KIND(kind)->original.realloc(PFS_REALLOC_ARGS);
	old_bytes = bytes_of(kind, context, pointer);
	prepare(c);
	result = KIND(kind)->original.realloc(PFS_REALLOC_ARGS);
	if (likely(result != NULL))
		chunk_changed(c, pointer, old_bytes, result, bytes_of(kind, context, result));
	return result;
}

/* Counts all chunks of a context as freed. */
static void
empty(PfsContext *c)
{
	if (c->count > 0)
		pfs_memory_take_off(c, c->count, c->bytes);
	pfs_context_untrack_all(c);
	c->counted = PFS_COUNTED_ALL;
}

void
pfs_memory_reset(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = pfs_memory_entry(kind, context);

	if (likely(c != NULL && !pfs_memory_is_busy(here.thread)))
	{
		empty(c);
		if (c->way > PFS_WAY_EARLY)
			pfs_memory_choose_methods(c);
	}
	KIND(kind)->original.reset(context);
}

/*
 * Deletes a context and its entry.  The server's own delete method may call others of the
 * context's, so these are the kind's by then.
 */
void
pfs_memory_delete(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = pfs_memory_entry(kind, context);

	if (likely(c != NULL))
	{
		if (likely(!pfs_memory_is_busy(here.thread)))
			empty(c);
		if (likely(context->methods == &c->methods))
			context->methods = KIND(kind)->table;
		pfs_context_remove(c);
	}
	KIND(kind)->original.delete_context(context);
}
