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
 * (pfs_memory_is_busy).
 *
 * Here is what is usual; pfs_instr_memory_chunk.c has the rest.
 */
#include "postgres.h"

#include "pfs_instr.h"
#include "pfs_instr_memory.h"

PfsMemoryProbe pfs_memory_probe;
PfsMemoryHere pfs_memory_here;

#define here pfs_memory_here
#define KIND(kind) (&pfs_memory_probe.kinds[kind])

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

	pfs_memory_take_news(t);
	pfs_memory_add(t, c->cell, bytes);
	c->count++;
	c->bytes += bytes;
	pfs_memory_end_change(t);
	return pointer;
}

/* A mark has been passed; so many bytes are still to be taken from their room. */
static pg_noinline void *
finish_alloc_mark(PfsContext *c, uint64 bytes, void *pointer)
{
	PfsThread  *t = here.thread;

	(void) pfs_drop(&c->cell->room_bytes, bytes);
	pfs_memory_raise(t, c->cell);
	pfs_memory_end_change(t);
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
	return count_alloc(c, PFS_SPACE_OF_CHUNK(&KIND(kind)->original, c->context, pointer) - KIND(kind)->header, pointer);
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
			pfs_memory_take_news(t);
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
	pfs_memory_end_change(t);
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

/* A transaction makes a few contexts, whose names are known: they are plain at once. */
static pg_attribute_always_inline void *
alloc_first(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsThread  *t = here.thread;
	const PfsContextName *name = pfs_context_name_place(context->name);
	PfsContext *c;
	void	   *pointer;

	if (unlikely(t == NULL || pfs_memory_is_busy(t) || pfs_load_relaxed(&t->memory.stale) ||
				 pfs_contexts_incomplete() || context->methods != KIND(kind)->table ||
				 name->name != context->name || !pfs_memory_is_on(t, name->instrument) ||
				 (c = pfs_context_add(context)) == NULL))
		return pfs_memory_alloc(kind, PFS_ALLOC_ARGS);
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
	if (kind == PFS_BUMP)
		return count_alloc(c, MAXALIGN(size), pointer);
	return count_alloc_of_unknown_size(kind, c, pointer);
}

/* headers: of sets that are as we know them. */
static pg_attribute_always_inline void *
alloc_plain(PfsAllocator kind, bool headers, PFS_ALLOC_PARAMS)
{
	PfsContext *c = pfs_context_of(context);
	void	   *pointer;
	uint64		bytes;

	if (unlikely(c == NULL))
		return pfs_memory_alloc(kind, PFS_ALLOC_ARGS);
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
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
	PfsContext *c = pfs_context_of(context);
	void	   *pointer;
	uint64		bytes;

	if (unlikely(c == NULL))
		return pfs_memory_alloc(kind, PFS_ALLOC_ARGS);
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (unlikely(pointer == NULL))
		return NULL;
	if (unlikely(!pfs_chunk_list(c, pointer)))
	{
		pfs_memory_lose_chunk();
		return pointer;
	}
	bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;
	if (PFS_SPACE_IS_IN_HEADER(bytes, headers))
		return count_alloc(c, bytes, pointer);
	return count_alloc_of_unknown_size(kind, c, pointer);
}

static pg_attribute_always_inline void
free_plain(PfsAllocator kind, bool headers, PfsContext *c, MemoryContext context, void *pointer)
{
	uint64		bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;

	if (!PFS_SPACE_IS_IN_HEADER(bytes, headers))
	{
		pfs_memory_free(kind, context, pointer);
		return;
	}
	if (unlikely(pfs_drop(&c->count, 1)))
	{
		c->count = 0;
		pfs_memory_free(kind, context, pointer);
		return;
	}
	count_free(kind, context, pointer, c, bytes);
}

static pg_attribute_always_inline void
free_listed(PfsAllocator kind, bool headers, PfsContext *c, MemoryContext context, void *pointer)
{
	uint64		bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;

	/* The last one of all changes what is known of the context. */
	if (!PFS_SPACE_IS_IN_HEADER(bytes, headers) || unlikely(c->count <= 1))
	{
		pfs_memory_free(kind, context, pointer);
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

/* All of a context's chunks go. */
static pg_attribute_always_inline void
empty(PfsContext *c)
{
	if (c->count > 0)
		pfs_memory_count_less(c, c->count, c->bytes);
	if (unlikely(c->listed > 0))
		pfs_context_unlist_all(c);
	c->counted = PFS_COUNTED_ALL;
}

static pg_attribute_always_inline void
reset(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = pfs_memory_entry(kind, context);

	if (likely(c != NULL && !pfs_memory_is_busy(here.thread)))
	{
		empty(c);
		if (c->way != PFS_WAY_PLAIN)
			pfs_memory_choose_way(c);
	}
	KIND(kind)->original.reset(context);
}

/* The server's own delete method may call others of the context's. */
static pg_attribute_always_inline void
delete_context(PfsAllocator kind, MemoryContext context)
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

#if PFS_METHODS_IN_ARRAY

/* Of all contexts of the kind, also such as have no entry. */
static pg_attribute_always_inline void
free_any(PfsAllocator kind, bool headers, void *pointer)
{
	MemoryContext context = headers ? pfs_compat_set_chunk_context(pointer) : NULL;
	PfsContext *c;

	if (unlikely(context == NULL))
		context = KIND(kind)->original.get_chunk_context(pointer);
	c = pfs_context_of(context);
	if (unlikely(c == NULL))
		pfs_memory_free(kind, context, pointer);
	else if (likely(c->way == PFS_WAY_PLAIN))
		free_plain(kind, headers, c, context, pointer);
	else if (c->way == PFS_WAY_LISTED)
		free_listed(kind, headers, c, context, pointer);
	else
		pfs_memory_free(kind, context, pointer);
}

static pg_attribute_always_inline void *
realloc_any(PfsAllocator kind, PFS_REALLOC_PARAMS)
{
	MemoryContext context = KIND(kind)->original.get_chunk_context(pointer);

	return pfs_memory_realloc(kind, context, PFS_REALLOC_REST_ARGS);
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

/*
 * Of a context that has an entry, unless another library's copy of its methods has led
 * here.
 */
static pg_attribute_always_inline void
free_known(PfsAllocator kind, bool headers, PfsWay way, MemoryContext context, void *pointer)
{
	PfsContext *c = pfs_context_of(context);

	if (unlikely(c == NULL || way == PFS_WAY_OTHER))
		pfs_memory_free(kind, context, pointer);
	else if (way == PFS_WAY_PLAIN)
		free_plain(kind, headers, c, context, pointer);
	else
		free_listed(kind, headers, c, context, pointer);
}

#define CHUNK_METHODS(name, kind, headers) \
static void \
name##_plain_free(MemoryContext context, void *pointer) \
{ \
	free_known(kind, headers, PFS_WAY_PLAIN, context, pointer); \
} \
static void \
name##_listed_free(MemoryContext context, void *pointer) \
{ \
	free_known(kind, headers, PFS_WAY_LISTED, context, pointer); \
} \
static void \
name##_other_free(MemoryContext context, void *pointer) \
{ \
	free_known(kind, headers, PFS_WAY_OTHER, context, pointer); \
} \
static void * \
name##_realloc(PFS_REALLOC_PARAMS) \
{ \
	return pfs_memory_realloc(kind, PFS_REALLOC_ARGS); \
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
	return pfs_memory_alloc(kind, PFS_ALLOC_ARGS); \
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
