/*
 * pfs_instr_memory.c
 *	  Memory contexts: the methods that stand in for the server's.
 *
 * A context that has been met has methods of its own, in its entry: so what is
 * known about the context decides which functions are called, and its pointer to
 * them leads to the entry.  One that has not been met has its kind's table, where
 * the first allocation meets it.  From 16 on a chunk leads to the table by its
 * kind, and not by its context: there the free of all contexts looks for the entry.
 *
 * Chunks are counted behind the server's allocation and before its free, so
 * nothing is held across a call that can raise an error.
 *
 * Allocations can happen in signal handlers only where the process is about to
 * exit.  One that comes in the middle of a change leaves the numbers whole, as each
 * step is one instruction; what would change what is known of a context passes by
 * (is_busy).
 */
#include "postgres.h"

#include "pfs_instr.h"
#include "pfs_instr_memory.h"

PfsMemoryProbe pfs_memory_probe;
PfsMemoryHere pfs_memory_here;

#define here pfs_memory_here
#define KIND(kind) (&pfs_memory_probe.kinds[kind])

/* ---- contexts ---- */

static void
choose_way(PfsContext *c)
{
	PfsWay		way = PFS_WAY_OTHER;

	if (c->on && c->epoch == here.epoch)
	{
		if (c->counted == PFS_COUNTED_ALL || c->kind == PFS_BUMP)
			way = PFS_WAY_PLAIN;
		else if (c->counted == PFS_COUNTED_LISTED)
			way = PFS_WAY_LISTED;
	}
	if (way != c->way)
	{
		c->methods = pfs_memory_probe.ways[c->kind][way];
		c->way = way;
	}
}

/* Inside a change: what was usual is to be found out again. */
static pg_noinline void
look_again(PfsThread *t)
{
	pfs_store_relaxed(&t->memory.stale, false);
	pfs_fence_seqcst();			/* who made it stale did so behind the news */
	here.epoch = pfs_load_acquire(&pfs_memory->epoch);
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
	{
		c->epoch = here.epoch - 1;
		choose_way(c);
	}
	pfs_memory_settle(t);
}

static bool
is_busy(const PfsThread *t)
{
	return (t->memory.seq.word & 1) != 0;
}

void
pfs_memory_look(PfsThread *t)
{
	if (!pfs_load_relaxed(&t->memory.stale))
		return;
	pfs_seqlock_write_begin(&t->memory.seq);
	look_again(t);
	pfs_seqlock_write_end(&t->memory.seq);
}

/* ---- counting ---- */

static pg_attribute_always_inline void
begin_change(PfsThread *t)
{
	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(pfs_load_relaxed(&t->memory.stale)))
		look_again(t);
}

static pg_attribute_always_inline void
end_change(PfsThread *t)
{
	pfs_seqlock_write_end(&t->memory.seq);
}

/* One chunk more, in a change that has looked at the news; ends it. */
static inline void
add_and_end(PfsThread *t, PfsContext *c, uint64 bytes)
{
	pfs_memory_add(t, c->cell, bytes);
	c->count++;
	c->bytes += bytes;
	end_change(t);
}

static void
count_more(PfsContext *c, uint64 bytes)
{
	PfsThread  *t = here.thread;

	begin_change(t);
	add_and_end(t, c, bytes);
}

static void
count_less(PfsContext *c, uint64 count, uint64 bytes)
{
	PfsThread  *t = here.thread;

	begin_change(t);
	pfs_memory_remove(t, c->cell, count, bytes);
	c->count -= count;
	c->bytes -= bytes;
	end_change(t);
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
 * ever asks which of them were counted: they are not listed, having no header that
 * would lead from the list to their context.
 */
static void
chunk_came(PfsContext *c, const void *chunk, uint64 bytes)
{
	bool		lost = false;

	if (c->kind == PFS_BUMP ? c->on : pfs_context_put(c, chunk, &lost))
		count_more(c, bytes);
	if (lost)
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
	choose_way(c);
}

/* A chunk is about to go. */
static void
chunk_goes(PfsContext *c, const void *chunk, uint64 bytes)
{
	if (is_busy(here.thread) || !pfs_context_take(c, chunk))
		return;
	count_less(c, 1, bytes);
	pfs_context_taken(c);
	choose_way(c);
}

/* A chunk has become another one, perhaps in the same place. */
static void
chunk_changed(PfsContext *c, const void *old, uint64 old_bytes, const void *chunk, uint64 bytes)
{
	bool		was_counted = pfs_context_take(c, old);
	bool		lost;
	bool		is_counted = pfs_context_put(c, chunk, &lost);

	if (lost)
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
	if (was_counted && is_counted && chunk == old)
	{
		begin_change(here.thread);
		pfs_memory_resize(here.thread, c->cell, bytes, old_bytes);
		c->bytes += bytes - old_bytes;
		end_change(here.thread);
	}
	else
	{
		/* Moved: for a moment there were both. */
		if (is_counted)
			count_more(c, bytes);
		if (was_counted)
			count_less(c, 1, old_bytes);
		pfs_context_taken(c);
	}
	choose_way(c);
}

/* ---- the short ways ---- */

/*
 * Straight through, in as few registers as it takes: what is not usual leaves by a
 * jump to a function that does the rest.  So most calls save no register, and the
 * steps of pfs_memory_add() and pfs_memory_remove() are written out once more.
 */

static pg_noinline void *
finish_alloc(PfsContext *c, uint64 bytes, void *pointer)
{
	PfsThread  *t = here.thread;

	look_again(t);
	add_and_end(t, c, bytes);
	return pointer;
}

/* A mark has been passed; so many bytes are still to be taken from their room. */
static pg_noinline void *
finish_alloc_mark(PfsContext *c, uint64 bytes, void *pointer)
{
	PfsThread  *t = here.thread;

	(void) pfs_drop(&c->cell->room_bytes, bytes);
	pfs_memory_raise(t, c->cell);
	end_change(t);
	return pointer;
}

static pg_attribute_always_inline void *
count_alloc(PfsContext *c, uint64 bytes, void *pointer)
{
	PfsThread  *t = here.thread;
	PfsMemoryCell *cell = c->cell;

	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(pfs_memory_has_news(t)))
		return finish_alloc(c, bytes, pointer);
	pfs_bump(&c->count, 1);
	pfs_bump(&c->bytes, bytes);
	pfs_bump(&cell->count_alloc, 1);
	pfs_bump(&cell->bytes_alloc, bytes);
	pfs_memory_total_more(t, bytes);
	if (unlikely(pfs_drop(&cell->room_count, 1)))
		return finish_alloc_mark(c, bytes, pointer);
	if (unlikely(pfs_drop(&cell->room_bytes, bytes)))
		return finish_alloc_mark(c, 0, pointer);
	pfs_seqlock_write_end(&t->memory.seq);
	return pointer;
}

static pg_noinline void *
count_alloc_of_unknown_size(PfsAllocator kind, PfsContext *c, void *pointer)
{
	return count_alloc(c, bytes_of(kind, c->context, pointer), pointer);
}

/* From which step on the rest of a free is to be done. */
typedef enum Step
{
	STEP_ALL,					/* something is new */
	STEP_COUNT,					/* a mark of this has been reached */
	STEP_BYTES,
	STEP_TOTAL,					/* it was the most that was in use */
} Step;

static pg_noinline void
finish_free(PfsAllocator kind, MemoryContext context, void *pointer, PfsContext *c, uint64 bytes, Step from)
{
	PfsThread  *t = here.thread;

	switch (from)
	{
		case STEP_ALL:
			look_again(t);
			pfs_memory_remove(t, c->cell, 1, bytes);
			c->bytes -= bytes;
			break;
		case STEP_TOTAL:
			pfs_memory_total_mark(t, bytes);
			pfs_memory_cell_less(t, c->cell, 1, bytes);
			break;
		case STEP_COUNT:
			pfs_bump(&c->cell->room_bytes, bytes);
			pfs_memory_lower(t, c->cell);
			break;
		default:
			pfs_memory_lower(t, c->cell);
			break;
	}
	end_change(t);
	KIND(kind)->original.free_p(PFS_FREE_ARGS);
}

/* The count of the entry is lower already. */
static pg_attribute_always_inline void
count_free(PfsAllocator kind, MemoryContext context, void *pointer, PfsContext *c, uint64 bytes)
{
	PfsThread  *t = here.thread;
	PfsMemoryCell *cell = c->cell;

	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(pfs_memory_has_news(t)))
	{
		finish_free(kind, context, pointer, c, bytes, STEP_ALL);
		return;
	}
	c->bytes -= bytes;
	if (unlikely(pfs_lift(&t->memory.room, bytes)))
	{
		finish_free(kind, context, pointer, c, bytes, STEP_TOTAL);
		return;
	}
	pfs_bump(&cell->room_count, 1);
	if (unlikely(cell->room_count > cell->range_count))
	{
		finish_free(kind, context, pointer, c, bytes, STEP_COUNT);
		return;
	}
	pfs_bump(&cell->room_bytes, bytes);
	if (unlikely(cell->room_bytes > cell->range_bytes))
	{
		finish_free(kind, context, pointer, c, bytes, STEP_BYTES);
		return;
	}
	pfs_seqlock_write_end(&t->memory.seq);
	KIND(kind)->original.free_p(PFS_FREE_ARGS);
}

/* ---- the methods, by kind, which is a constant in each ---- */

/* The first allocation in a context: it was made since we look on, and is empty. */
static pg_noinline void *
alloc_first_other(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsContext *c = NULL;
	void	   *pointer;

	if (here.thread != NULL && !is_busy(here.thread))
	{
		c = pfs_memory_meet(kind, context, !pfs_contexts_incomplete() || pfs_memory_is_fresh(kind, context));
		if (c != NULL)
			prepare(c);
	}
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (likely(pointer != NULL && c != NULL))
		chunk_came(c, pointer, kind == PFS_BUMP ? MAXALIGN(size) : bytes_of(kind, context, pointer));
	return pointer;
}

/* A transaction makes a few contexts, whose names are known: they are plain at once. */
static pg_attribute_always_inline void *
alloc_first(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsThread  *t = here.thread;
	const PfsContextName *name = pfs_context_name_place(context->name);
	PfsContext *c;
	void	   *pointer;

	if (unlikely(t == NULL || is_busy(t) || pfs_load_relaxed(&t->memory.stale) || pfs_contexts_incomplete() ||
				 name->name != context->name || !pfs_memory_is_on(t, name->instrument) ||
				 (c = pfs_context_add(context)) == NULL))
		return alloc_first_other(kind, PFS_ALLOC_ARGS);
	c->kind = kind;
	c->way = PFS_WAY_PLAIN;
	c->on = true;
	c->epoch = here.epoch;
	c->instrument = name->instrument;
	c->cell = pfs_memory_cell(t, name->cell);
	c->methods = pfs_memory_probe.ways[kind][PFS_WAY_PLAIN];
	context->methods = &c->methods;
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (unlikely(pointer == NULL))
		return NULL;
	return count_alloc(c, kind == PFS_BUMP ? MAXALIGN(size) : bytes_of(kind, context, pointer), pointer);
}

static pg_noinline void *
alloc_other(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsContext *c = (PfsContext *) context->methods;
	bool		busy = is_busy(here.thread);
	void	   *pointer;

	if (!busy)
		prepare(c);
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (pointer != NULL && !busy)
		chunk_came(c, pointer, kind == PFS_BUMP ? MAXALIGN(size) : bytes_of(kind, context, pointer));
	return pointer;
}

/* headers: of sets that are as we know them. */
static pg_attribute_always_inline void *
alloc_plain(PfsAllocator kind, bool headers, PFS_ALLOC_PARAMS)
{
	PfsContext *c = (PfsContext *) context->methods;
	void	   *pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	uint64		bytes;

	if (unlikely(pointer == NULL))
		return NULL;
	bytes = kind == PFS_BUMP ? MAXALIGN(size) : headers ? pfs_compat_set_chunk_space(pointer) : 0;
	if (PFS_SPACE_IS_IN_HEADER(bytes, headers || kind == PFS_BUMP))
		return count_alloc(c, bytes, pointer);
	return count_alloc_of_unknown_size(kind, c, pointer);
}

/* TopMemoryContext is older than any counting, and gets one allocation in six. */
static pg_attribute_always_inline void *
alloc_listed(PfsAllocator kind, bool headers, PFS_ALLOC_PARAMS)
{
	PfsContext *c = (PfsContext *) context->methods;
	void	   *pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	uint64		bytes;

	if (unlikely(pointer == NULL))
		return NULL;
	if (unlikely(!pfs_chunk_list(c, pointer)))
	{
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
		return pointer;
	}
	bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;
	if (PFS_SPACE_IS_IN_HEADER(bytes, headers))
		return count_alloc(c, bytes, pointer);
	return count_alloc_of_unknown_size(kind, c, pointer);
}

static pg_noinline void
free_other(PfsAllocator kind, MemoryContext context, void *pointer)
{
	chunk_goes((PfsContext *) context->methods, pointer, bytes_of(kind, context, pointer));
	KIND(kind)->original.free_p(PFS_FREE_ARGS);
}

static pg_attribute_always_inline void
free_plain(PfsAllocator kind, bool headers, MemoryContext context, void *pointer)
{
	PfsContext *c = (PfsContext *) context->methods;
	uint64		bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;

	if (!PFS_SPACE_IS_IN_HEADER(bytes, headers))
	{
		free_other(kind, context, pointer);
		return;
	}
	if (unlikely(pfs_drop(&c->count, 1)))
	{
		c->count = 0;
		free_other(kind, context, pointer);
		return;
	}
	count_free(kind, context, pointer, c, bytes);
}

static pg_attribute_always_inline void
free_listed(PfsAllocator kind, bool headers, MemoryContext context, void *pointer)
{
	PfsContext *c = (PfsContext *) context->methods;
	uint64		bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;

	/* The last one of all changes what is known of the context. */
	if (!PFS_SPACE_IS_IN_HEADER(bytes, headers) || unlikely(c->count <= 1))
	{
		free_other(kind, context, pointer);
		return;
	}
	if (!pfs_chunk_unlist(c, pointer))
	{
		KIND(kind)->original.free_p(PFS_FREE_ARGS);
		return;
	}
	pfs_bump(&c->count, -1);
	count_free(kind, context, pointer, c, bytes);
}

static pg_noinline void *
realloc_known(PfsAllocator kind, MemoryContext context, PFS_REALLOC_REST)
{
	PfsContext *c = (PfsContext *) context->methods;
	uint64		old_bytes = bytes_of(kind, context, pointer);
	bool		busy = is_busy(here.thread);
	void	   *result;

	if (!busy)
		prepare(c);
	result = KIND(kind)->original.realloc(PFS_REALLOC_ARGS);
	if (likely(result != NULL && !busy))
		chunk_changed(c, pointer, old_bytes, result, bytes_of(kind, context, result));
	return result;
}

/* All of a context's chunks go. */
static pg_attribute_always_inline void
empty(PfsContext *c)
{
	if (c->count > 0)
		count_less(c, c->count, c->bytes);
	if (unlikely(c->listed > 0))
		pfs_context_unlist_all(c);
	c->counted = PFS_COUNTED_ALL;
}

static pg_attribute_always_inline void
reset(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = (PfsContext *) context->methods;

	if (likely(!is_busy(here.thread)))
	{
		empty(c);
		if (c->way != PFS_WAY_PLAIN)
			choose_way(c);
	}
	KIND(kind)->original.reset(context);
}

static pg_attribute_always_inline void
delete_context(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = (PfsContext *) context->methods;

	if (likely(!is_busy(here.thread)))
		empty(c);
	pfs_memory_leave(c);
	pfs_context_remove(c);
	KIND(kind)->original.delete_context(context);
}

#if PFS_METHODS_IN_ARRAY

/* Of all contexts of the kind, also such as have no entry. */
static pg_attribute_always_inline void
free_any(PfsAllocator kind, bool headers, void *pointer)
{
	MemoryContext context = headers ? pfs_compat_set_chunk_context(pointer) : NULL;
	const PfsContext *c;

	if (unlikely(context == NULL))
		context = KIND(kind)->original.get_chunk_context(pointer);
	c = pfs_context_of(context);
	if (unlikely(c == NULL))
		KIND(kind)->original.free_p(pointer);
	else if (likely(c->way == PFS_WAY_PLAIN))
		free_plain(kind, headers, context, pointer);
	else if (c->way == PFS_WAY_LISTED)
		free_listed(kind, headers, context, pointer);
	else
		free_other(kind, context, pointer);
}

static pg_attribute_always_inline void *
realloc_any(PfsAllocator kind, PFS_REALLOC_PARAMS)
{
	MemoryContext context = KIND(kind)->original.get_chunk_context(pointer);

	if (unlikely(pfs_context_of(context) == NULL))
		return KIND(kind)->original.realloc(PFS_REALLOC_ARGS);
	return realloc_known(kind, context, PFS_REALLOC_REST_ARGS);
}

#define CHUNK_METHODS(name, kind, headers) \
static void \
name##_free(void *pointer) \
{ \
	free_any(kind, headers, pointer); \
} \
static void * \
name##_realloc(PFS_REALLOC_PARAMS) \
{ \
	return realloc_any(kind, PFS_REALLOC_ARGS); \
}

/* Chunks come by the table. */
#define SET_CHUNK_METHODS(name, kind) \
	pfs_memory_probe.table[kind].free_p = name##_free; \
	pfs_memory_probe.table[kind].realloc = name##_realloc

#else

#define CHUNK_METHODS(name, kind, headers) \
static void \
name##_plain_free(MemoryContext context, void *pointer) \
{ \
	free_plain(kind, headers, context, pointer); \
} \
static void \
name##_listed_free(MemoryContext context, void *pointer) \
{ \
	free_listed(kind, headers, context, pointer); \
} \
static void \
name##_other_free(MemoryContext context, void *pointer) \
{ \
	free_other(kind, context, pointer); \
} \
static void * \
name##_realloc(PFS_REALLOC_PARAMS) \
{ \
	return realloc_known(kind, PFS_REALLOC_ARGS); \
}

/* Chunks come by their context, which has been met when it has one. */
#define SET_CHUNK_METHODS(name, kind) \
	pfs_memory_probe.ways[kind][PFS_WAY_PLAIN].free_p = name##_plain_free; \
	pfs_memory_probe.ways[kind][PFS_WAY_LISTED].free_p = name##_listed_free; \
	pfs_memory_probe.ways[kind][PFS_WAY_OTHER].free_p = name##_other_free; \
	for (PfsWay way = 0; way < PFS_NUM_WAYS; way++) \
		pfs_memory_probe.ways[kind][way].realloc = name##_realloc

#endif

#define CONTEXT_METHODS(name, kind, headers) \
static void * \
name##_first_alloc(PFS_ALLOC_PARAMS) \
{ \
	return alloc_first(kind, PFS_ALLOC_ARGS); \
} \
static void * \
name##_plain_alloc(PFS_ALLOC_PARAMS) \
{ \
	return alloc_plain(kind, headers, PFS_ALLOC_ARGS); \
} \
static void * \
name##_listed_alloc(PFS_ALLOC_PARAMS) \
{ \
	return alloc_listed(kind, headers, PFS_ALLOC_ARGS); \
} \
static void * \
name##_other_alloc(PFS_ALLOC_PARAMS) \
{ \
	return alloc_other(kind, PFS_ALLOC_ARGS); \
} \
static void \
name##_reset(MemoryContext context) \
{ \
	reset(kind, context); \
} \
static void \
name##_delete(MemoryContext context) \
{ \
	delete_context(kind, context); \
}

#define SET_CONTEXT_METHODS(name, kind) \
	pfs_memory_probe.table[kind].alloc = name##_first_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_PLAIN].alloc = name##_plain_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_LISTED].alloc = name##_listed_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_OTHER].alloc = name##_other_alloc; \
	for (PfsWay way = 0; way < PFS_NUM_WAYS; way++) \
	{ \
		pfs_memory_probe.ways[kind][way].reset = name##_reset; \
		pfs_memory_probe.ways[kind][way].delete_context = name##_delete; \
	}

#define SET_METHODS(name, kind) \
	do { \
		SET_CONTEXT_METHODS(name, kind); \
		SET_CHUNK_METHODS(name, kind); \
	} while (0)

CONTEXT_METHODS(headed_set, PFS_ALLOC_SET, true)
CHUNK_METHODS(headed_set, PFS_ALLOC_SET, true)
CONTEXT_METHODS(set, PFS_ALLOC_SET, false)
CHUNK_METHODS(set, PFS_ALLOC_SET, false)
CONTEXT_METHODS(generation, PFS_GENERATION, false)
CHUNK_METHODS(generation, PFS_GENERATION, false)
CONTEXT_METHODS(slab, PFS_SLAB, false)
CHUNK_METHODS(slab, PFS_SLAB, false)
CONTEXT_METHODS(bump, PFS_BUMP, false)

/* Bump chunks have no header: their free and realloc only raise errors. */
void
pfs_memory_methods_start(bool headers)
{
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		pfs_memory_probe.table[kind] = KIND(kind)->original;
		for (PfsWay way = 0; way < PFS_NUM_WAYS; way++)
			pfs_memory_probe.ways[kind][way] = KIND(kind)->original;
	}
	if (headers)
		SET_METHODS(headed_set, PFS_ALLOC_SET);
	else
		SET_METHODS(set, PFS_ALLOC_SET);
	SET_METHODS(generation, PFS_GENERATION);
	SET_METHODS(slab, PFS_SLAB);
	SET_CONTEXT_METHODS(bump, PFS_BUMP);
}
