/*
 * pfs_instr_memory.c
 *	  Memory contexts: the methods that stand in for the server's.
 *
 * A context that has an entry has methods of its own, in the entry: so what is
 * known about the context decides which functions are called, and its pointer to
 * them leads to the entry.  One that has none has its kind's table, where the
 * first allocation makes the entry.  From 16 on a chunk leads to the table by its
 * kind, and not by its context: there the free of all contexts looks for the entry.
 *
 * Each method is written once, as an inline function of which the kind of the
 * allocator, whether its headers are known, and the way of the context are constants;
 * the lists at the end of the file make the methods of them.
 *
 * Chunks are counted behind the server's allocation and before its free, so
 * nothing is held across a call that can raise an error.
 *
 * Allocations can happen in signal handlers only where the process is about to
 * exit.  One that comes in the middle of a write section leaves the counters whole, as
 * each step is one instruction; what would change what is known of a context passes by
 * (pfs_memory_is_busy).
 */
#include "postgres.h"

#include "pfs_instr.h"
#include "pfs_instr_memory.h"

PfsMemoryProbe pfs_memory_probe;
PfsMemoryHere pfs_memory_here;

#define here pfs_memory_here
#define KIND(kind) (&pfs_memory_probe.kinds[kind])

/* ---- counting ---- */

/* The method's result, where the high-water mark rises, as it does for many allocations of a young session. */
static pg_noinline void *
raise_for_alloc(PfsContext *c, void *pointer)
{
	pfs_memory_raise_high_water(here.thread, c->cell);
	pfs_seqlock_write_end(&here.thread->memory.seq);
	return pointer;
}

/* The same of early memory: the cell has got a chunk, which may be its first one. */
static pg_noinline void *
finish_early(PfsContext *c, void *pointer)
{
	pfs_block_touch(&here.thread->cells[PFS_FAMILY_MEMORY], c->cell - pfs_memory_cell(here.thread, 0));
	return pointer;
}

/* The same where more has to be found out, outside of write sections.  context: of bump chunks. */
static pg_noinline void *
leave_alloc(PfsAllocator kind, MemoryContext context, uint64 bytes, void *pointer)
{
	return pfs_memory_came(kind, kind == PFS_BUMP ? context : GetMemoryChunkContext(pointer), bytes, pointer);
}

static pg_noinline void *
end_and_leave_alloc(PfsAllocator kind, MemoryContext context, uint64 bytes, void *pointer)
{
	pfs_seqlock_write_end(&here.thread->memory.seq);
	return leave_alloc(kind, context, bytes, pointer);
}

/*
 * Counts an allocation.  Early memory needs no write section, as nobody reads it.  That it is early is asked once
 * more: another library may have kept this method and call it later.
 */
static pg_attribute_always_inline void *
count_alloc(PfsAllocator kind, PfsWay way, PfsContext *c, MemoryContext context, uint64 bytes, void *pointer)
{
	PfsThread  *t = here.thread;

	if (way == PFS_WAY_EARLY)
	{
		if (unlikely(t->memory.has_levels || !pfs_memory_is_known(t, c)))
			return leave_alloc(kind, context, bytes, pointer);
		pfs_bump(&c->count, 1);
		pfs_bump(&c->bytes, bytes);
		return unlikely(pfs_memory_more_early(t, c->cell, bytes)) ? finish_early(c, pointer) : pointer;
	}
	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(!pfs_memory_is_known(t, c)))
		return end_and_leave_alloc(kind, context, bytes, pointer);
	if (way == PFS_WAY_TOP)
	{
		if (unlikely(*pfs_newest_chunk(pointer) != NULL))
			return end_and_leave_alloc(kind, context, bytes, pointer);
		*pfs_newest_chunk(pointer) = pointer;
	}
	pfs_bump(&c->count, 1);
	pfs_bump(&c->bytes, bytes);
	if (unlikely(pfs_memory_more(t, c->cell, bytes)))
		return raise_for_alloc(c, pointer);
	pfs_seqlock_write_end(&t->memory.seq);
	return pointer;
}

/*
 * Counts a chunk that was asked for with this size; headers: of sets whose headers are as we know them.
 * Of a large one they may not say its size.
 */
static pg_attribute_always_inline void *
count_alloc_of_size(PfsAllocator kind, bool headers, PfsWay way, PfsContext *c, MemoryContext context, Size size,
					void *pointer)
{
	uint64		bytes = kind == PFS_BUMP ? MAXALIGN(size) :
	headers ? pfs_compat_set_chunk_space(pointer) : pfs_memory_space(kind, context, pointer);

	/*
	 * The others know a chunk's context: so this function has to keep nothing
	 * but its entry while it allocates.
	 */
	if (kind != PFS_BUMP)
		context = NULL;
	if (kind != PFS_BUMP && headers && !PFS_SPACE_IS_IN_HEADER(bytes, headers))
		return leave_alloc(kind, context, 0, pointer);
	return count_alloc(kind, way, c, context, bytes, pointer);
}

static pg_noinline void
lower_for_free(PfsAllocator kind, MemoryContext context, void *pointer, PfsContext *c)
{
	pfs_memory_lower_low_water(here.thread, c->cell);
	pfs_seqlock_write_end(&here.thread->memory.seq);
	KIND(kind)->original.free_p(PFS_FREE_ARGS);
}

/* Frees where more has to be found out, outside of the write section. */
static pg_noinline void
leave_free(PfsAllocator kind, MemoryContext context, void *pointer)
{
	pfs_seqlock_write_end(&here.thread->memory.seq);
	pfs_memory_free(kind, context, pointer);
}

/* ---- the methods, by kind, which is a constant in each ---- */

/*
 * Makes the first allocation in a context that was made since the process counts.  A transaction
 * makes a few such contexts: each gets the entry of one of the same name that is gone, which is
 * plain at once.  All others are left to pfs_memory_alloc().
 */
static pg_attribute_always_inline void *
alloc_first(PfsAllocator kind, bool headers, PFS_ALLOC_PARAMS)
{
	PfsContextName *name = pfs_context_name_place(context->name);
	PfsContext *c = name->spare;
	void	   *pointer;

	/* While there are spare entries, there is a thread. */
	if (unlikely(c == NULL || name->name != context->name || pfs_memory_is_busy(here.thread) ||
				 pfs_contexts_incomplete || context->methods != KIND(kind)->table))
		return pfs_memory_alloc(kind, PFS_ALLOC_ARGS);
	name->spare = c->next_spare;
	c->context = context;
	c->bytes = 0;
	c->kind = kind;
	c->methods = pfs_memory_probe.ways[kind][PFS_WAY_PLAIN];
	context->methods = &c->methods;
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (unlikely(pointer == NULL))
		return NULL;
	return count_alloc_of_size(kind, headers, PFS_WAY_PLAIN, c, context, size, pointer);
}

/*
 * Allocates in a context that has an entry.  kind, headers and way are constants in
 * each method; headers: of sets whose headers are as we know them.  TopMemoryContext is
 * older than any counting, so its counted chunks are tracked, and it gets one
 * allocation in six.
 */
static pg_attribute_always_inline void *
alloc_known(PfsAllocator kind, bool headers, PfsWay way, PFS_ALLOC_PARAMS)
{
	PfsContext *c = (PfsContext *) context->methods;
	void	   *pointer;

	if (way == PFS_WAY_OTHER)
		return pfs_memory_alloc(kind, PFS_ALLOC_ARGS);
	pointer = KIND(kind)->original.alloc(PFS_ALLOC_ARGS);
	if (unlikely(pointer == NULL))
		return NULL;
	return count_alloc_of_size(kind, headers, way, c, context, size, pointer);
}

/*
 * Frees in a context that has an entry, inside a write section.  Left for pfs_memory_free() are chunks whose size
 * is not in their header, and one of a context that has no counted chunk.
 */
static pg_attribute_always_inline void
free_known(PfsThread *t, PfsAllocator kind, bool headers, PfsWay way, PfsContext *c, MemoryContext context, void *pointer)
{
	uint64		bytes = headers ? pfs_compat_set_chunk_space(pointer) : 0;

	if (way == PFS_WAY_OTHER || !PFS_SPACE_IS_IN_HEADER(bytes, headers))
	{
		leave_free(kind, context, pointer);
		return;
	}
	if (way == PFS_WAY_TOP)
	{
		if (unlikely(*pfs_newest_chunk(pointer) != pointer || !t->memory.has_levels))
		{
			leave_free(kind, context, pointer);
			return;
		}
		*pfs_newest_chunk(pointer) = NULL;
	}
	if (unlikely(pfs_drop(&c->count, 1)))
	{
		pfs_bump(&c->count, 1);
		leave_free(kind, context, pointer);
		return;
	}
	c->bytes -= bytes;
	if (way == PFS_WAY_EARLY && likely(!t->memory.has_levels))
		pfs_memory_less_early(t, c->cell, bytes);
	else if (unlikely(pfs_memory_less(t, c->cell, 1, bytes)))
	{
		lower_for_free(kind, context, pointer, c);
		return;
	}
	pfs_seqlock_write_end(&t->memory.seq);
	KIND(kind)->original.free_p(PFS_FREE_ARGS);
}

/* ---- the reset and the deletion of a plain context ---- */

typedef enum Emptied
{
	EMPTIED,
	PASSED_MARK,				/* and it is to be moved, inside the write
								 * section */
	LEFT,						/* it is for the general code, outside of the
								 * write section */
} Emptied;

/*
 * Counts all chunks of a context as freed.  An allocation that a signal handler has interrupted has begun the write section
 * that this one seems to end.
 */
static pg_attribute_always_inline Emptied
empty_plain(PfsContext *c)
{
	PfsThread  *t = here.thread;
	uint64		count;
	uint64		bytes;

	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(!pfs_memory_is_busy(t) || !pfs_memory_is_known(t, c)))
		return LEFT;
	count = c->count;
	if (count > 0)
	{
		bytes = c->bytes;
		c->count = c->bytes = 0;
		if (unlikely(pfs_memory_less(t, c->cell, count, bytes)))
			return PASSED_MARK;
	}
	pfs_seqlock_write_end(&t->memory.seq);
	return EMPTIED;
}

static void
finish_empty(PfsContext *c, Emptied how)
{
	if (how == PASSED_MARK)
		pfs_memory_lower_low_water(here.thread, c->cell);
	pfs_seqlock_write_end(&here.thread->memory.seq);
}

static pg_noinline void
finish_reset(PfsAllocator kind, MemoryContext context, Emptied how)
{
	finish_empty((PfsContext *) context->methods, how);
	pfs_memory_reset(kind, context);
}

static pg_noinline void
finish_delete(PfsAllocator kind, MemoryContext context, Emptied how)
{
	finish_empty((PfsContext *) context->methods, how);
	pfs_memory_delete(kind, context);
}

/* Resets a context.  Nothing is known of it afterwards that was not known before. */
static pg_attribute_always_inline void
reset_plain(PfsAllocator kind, MemoryContext context)
{
	Emptied		how = empty_plain((PfsContext *) context->methods);

	if (likely(how == EMPTIED))
		KIND(kind)->original.reset(context);
	else
		finish_reset(kind, context, how);
}

/* Deletes a context.  Its entry becomes a spare one of its name, if that is known. */
static pg_attribute_always_inline void
delete_plain(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = (PfsContext *) context->methods;
	PfsContextName *name = pfs_context_name_place(context->name);
	Emptied		how;

	if (unlikely(name->name != context->name))
	{
		pfs_memory_delete(kind, context);
		return;
	}
	how = empty_plain(c);
	if (unlikely(how != EMPTIED))
	{
		finish_delete(kind, context, how);
		return;
	}
	if (kind == PFS_BUMP)
		c->counted = PFS_COUNTED_ALL;
	context->methods = KIND(kind)->table;
	c->context = NULL;
	c->next_spare = name->spare;
	name->spare = c;
	KIND(kind)->original.delete_context(context);
}

#if PFS_METHODS_IN_ARRAY

/* Frees in any context of the kind, also in one that has no entry. */
static pg_attribute_always_inline void
free_any(PfsAllocator kind, bool headers, void *pointer)
{
	MemoryContext context = headers ? pfs_compat_set_chunk_context(pointer) : NULL;
	PfsThread  *t = here.thread;
	PfsContext *c;

	if (unlikely(context == NULL))
		context = KIND(kind)->original.get_chunk_context(pointer);
	c = (PfsContext *) context->methods;
	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(!pfs_memory_is_known(t, c)))
		leave_free(kind, context, pointer);
	else if (likely(c->way == PFS_WAY_PLAIN))
		free_known(t, kind, headers, PFS_WAY_PLAIN, c, context, pointer);
	else
		free_known(t, kind, headers, c->way, c, context, pointer);
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
	return pfs_memory_realloc(kind, KIND(kind)->original.get_chunk_context(pointer), PFS_REALLOC_ARGS); \
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
free_of_context(PfsAllocator kind, bool headers, PfsWay way, MemoryContext context, void *pointer)
{
	PfsThread  *t = here.thread;
	PfsContext *c = (PfsContext *) context->methods;

	if (way == PFS_WAY_OTHER)
	{
		pfs_memory_free(kind, context, pointer);
		return;
	}
	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(!pfs_memory_is_known(t, c)))
		leave_free(kind, context, pointer);
	else
		free_known(t, kind, headers, way, c, context, pointer);
}

#define FREE_METHOD(name, kind, headers, way) \
static void \
name(MemoryContext context, void *pointer) \
{ \
	free_of_context(kind, headers, way, context, pointer); \
}

#define CHUNK_METHODS(name, kind, headers) \
FREE_METHOD(name##_plain_free, kind, headers, PFS_WAY_PLAIN) \
FREE_METHOD(name##_early_free, kind, headers, PFS_WAY_EARLY) \
FREE_METHOD(name##_top_free, kind, headers, PFS_WAY_TOP) \
FREE_METHOD(name##_other_free, kind, headers, PFS_WAY_OTHER) \
static void * \
name##_realloc(PFS_REALLOC_PARAMS) \
{ \
	return pfs_memory_realloc(kind, PFS_REALLOC_ARGS); \
}

/* Chunks come by their context, which has an entry when it has a chunk. */
#define SET_CHUNK_METHODS(name, kind) \
	pfs_memory_probe.ways[kind][PFS_WAY_PLAIN].free_p = name##_plain_free; \
	pfs_memory_probe.ways[kind][PFS_WAY_EARLY].free_p = name##_early_free; \
	pfs_memory_probe.ways[kind][PFS_WAY_TOP].free_p = name##_top_free; \
	pfs_memory_probe.ways[kind][PFS_WAY_OTHER].free_p = name##_other_free; \
	for (PfsWay way = 0; way < PFS_NUM_WAYS; way++) \
		pfs_memory_probe.ways[kind][way].realloc = name##_realloc

#endif

#define ALLOC_METHOD(name, kind, headers, way) \
static void * \
name(PFS_ALLOC_PARAMS) \
{ \
	return alloc_known(kind, headers, way, PFS_ALLOC_ARGS); \
}

#define CONTEXT_METHODS(name, kind, headers) \
static void * \
name##_first_alloc(PFS_ALLOC_PARAMS) \
{ \
	return alloc_first(kind, headers, PFS_ALLOC_ARGS); \
} \
ALLOC_METHOD(name##_plain_alloc, kind, headers, PFS_WAY_PLAIN) \
ALLOC_METHOD(name##_early_alloc, kind, headers, PFS_WAY_EARLY) \
ALLOC_METHOD(name##_top_alloc, kind, headers, PFS_WAY_TOP) \
ALLOC_METHOD(name##_other_alloc, kind, headers, PFS_WAY_OTHER) \
static void \
name##_plain_reset(MemoryContext context) \
{ \
	reset_plain(kind, context); \
} \
static void \
name##_reset(MemoryContext context) \
{ \
	pfs_memory_reset(kind, context); \
} \
static void \
name##_plain_delete(MemoryContext context) \
{ \
	delete_plain(kind, context); \
} \
static void \
name##_delete(MemoryContext context) \
{ \
	pfs_memory_delete(kind, context); \
}

#define SET_CONTEXT_METHODS(name, kind) \
	pfs_memory_probe.table[kind].alloc = name##_first_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_PLAIN].alloc = name##_plain_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_EARLY].alloc = name##_early_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_TOP].alloc = name##_top_alloc; \
	pfs_memory_probe.ways[kind][PFS_WAY_OTHER].alloc = name##_other_alloc; \
	for (PfsWay way = 0; way < PFS_NUM_WAYS; way++) \
	{ \
		pfs_memory_probe.ways[kind][way].reset = name##_reset; \
		pfs_memory_probe.ways[kind][way].delete_context = name##_delete; \
	} \
	pfs_memory_probe.ways[kind][PFS_WAY_PLAIN].reset = name##_plain_reset; \
	pfs_memory_probe.ways[kind][PFS_WAY_PLAIN].delete_context = name##_plain_delete

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

/*
 * Fills in the methods of each kind and way, in the postmaster.  Bump chunks have no
 * header: their free and realloc only raise errors, and stay the server's.
 */
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
