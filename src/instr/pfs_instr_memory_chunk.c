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
		else if (c->counted == PFS_COUNTED_TRACKED && c->context == TopMemoryContext)
			way = PFS_WAY_TOP;
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
static void
take_news(PfsThread *t)
{
	pfs_store_relaxed(&t->memory.contexts_at, pfs_contexts_at);
	pfs_fence_seqcst();			/* it was taken away behind the news */
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

/* Begins a write section in which there are no news. */
static void
begin(PfsThread *t)
{
	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(pfs_memory_contexts_at(t) == PFS_NO_CONTEXTS))
		take_news(t);
}

void
pfs_memory_look(PfsThread *t)
{
	if (pfs_memory_contexts_at(t) != PFS_NO_CONTEXTS)
		return;
	begin(t);
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

static void
count_more(PfsContext *c, uint64 bytes)
{
	PfsThread  *t = here.thread;

	begin(t);
	pfs_bump(&c->count, 1);
	pfs_bump(&c->bytes, bytes);
	if (unlikely(pfs_memory_more(t, c->cell, bytes)))
		pfs_memory_raise_high_water(t, c->cell);
	pfs_seqlock_write_end(&t->memory.seq);
}

static void
count_less(PfsContext *c, uint64 count, uint64 bytes)
{
	PfsThread  *t = here.thread;

	begin(t);
	c->count -= count;
	c->bytes -= bytes;
	pfs_memory_raise_early(t, c->cell);
	if (unlikely(pfs_memory_less(t, c->cell, count, bytes)))
		pfs_memory_lower_low_water(t, c->cell);
	pfs_seqlock_write_end(&t->memory.seq);
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
	count_less(c, 1, bytes);
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

		begin(t);
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
			count_less(c, 1, old_bytes);
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

/* Finds out what is wanted of the context now. */
static void
look_at(PfsContext *c)
{
	pfs_memory_look(here.thread);
	if (c->epoch != here.epoch)
		pfs_memory_find_switch(here.thread, c);
}

/* The entry of a context in which a chunk comes; NULL: it is not looked at. */
static PfsContext *
prepare(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = NULL;

	if (pfs_contexts_at != PFS_NO_CONTEXTS && !pfs_memory_is_busy(here.thread))
		c = find_entry(kind, context);
	if (c != NULL)
		look_at(c);
	return c;
}

/* Allocates in any context, and counts the chunk if its instrument is on. */
void *
pfs_memory_alloc(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsContext *c = prepare(kind, context);
	void	   *pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);

	if (likely(pointer != NULL && c != NULL))
		chunk_came(c, pointer, kind == PFS_BUMP ? MAXALIGN(size) : pfs_memory_space(kind, context, pointer));
	return pointer;
}

void *
pfs_memory_came(PfsAllocator kind, MemoryContext context, uint64 bytes, void *pointer)
{
	PfsContext *c = prepare(kind, context);

	if (likely(c != NULL))
		chunk_came(c, pointer, bytes != 0 || kind == PFS_BUMP ? bytes : pfs_memory_space(kind, context, pointer));
	return pointer;
}

void
pfs_memory_free(PfsAllocator kind, MemoryContext context, void *pointer)
{
	PfsContext *c = pfs_memory_entry(kind, context);

	if (c != NULL)
		chunk_goes(c, pointer, pfs_memory_space(kind, context, pointer));
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
	old_bytes = pfs_memory_space(kind, context, pointer);
	look_at(c);
	result = KIND(kind)->original.realloc(PFS_REALLOC_ARGS);
	if (likely(result != NULL))
		chunk_changed(c, pointer, old_bytes, result, pfs_memory_space(kind, context, result));
	return result;
}

/* Counts all chunks of a context as freed. */
static void
empty(PfsContext *c)
{
	if (c->count > 0)
		count_less(c, c->count, c->bytes);
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
