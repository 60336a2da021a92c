/*
 * pfs_instr_memory.c
 *	  Memory contexts: the methods that stand in for the server's, and when a
 *	  process puts them into its tables.
 *
 * A process where no memory instrument was ever on has the server's own methods.
 * It gets ours at the first event after one is on, and its own back when none is
 * on any more and nothing that was counted is left.
 *
 * Chunks are counted behind the server's allocation and before its free, so
 * nothing is held across a call that can raise an error.  The way that nearly all
 * calls take has no branch but for "another context" and "something is new":
 * `here.last` is a context all of whose chunks are counted, with its instrument on.
 *
 * Allocations can happen in signal handlers only where the process is about to
 * exit.  One that comes in the middle of ours sees the odd word and passes by.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_context.h"
#include "pfs_instr.h"
#include "pfs_memory.h"
#include "pfs_methods.h"
#include "pfs_status.h"

/* Names of contexts that were met, by address. */
#define NAMES 256

static const char *const kind_names[PFS_NUM_ALLOCATORS] = {"AllocSet", "Generation", "Slab", "Bump"};

/* Set in the postmaster, inherited. */
static PfsMethods methods[PFS_NUM_ALLOCATORS];
static MemoryContextMethods ours[PFS_NUM_ALLOCATORS];
static const char *why_not = "pfs is not active";

/* This process; all zero where its allocations are not looked at. */
static struct
{
	MemoryContext last;			/* NULL: none */
	PfsContext *entry;			/* of the last one */
	PfsThread  *thread;
	uint64		epoch;			/* of pfs_memory, as seen last */
	bool		failed;			/* its tables could not be written */
	struct
	{
		const char *name;
		PfsInstrumentId instrument;
	}			names[NAMES];
}			here;

/* ---- contexts ---- */

static PfsInstrumentId
instrument_of(const char *name)
{
	uint32		place = ((uint64) (uintptr_t) name * UINT64CONST(0x9E3779B97F4A7C15)) >> 56;
	PfsInstrumentId instrument;
	bool		constant;

	if (here.names[place].name == name)
		return here.names[place].instrument;
	constant = pfs_methods_is_constant(name);
	instrument = pfs_memory_instrument(name, constant);
	if (constant)
	{
		here.names[place].name = name;
		here.names[place].instrument = instrument;
	}
	return instrument;
}

/* A context that never had a chunk. */
static bool
is_fresh(PfsAllocator kind, MemoryContext context)
{
	MemoryContextCounters counters = {0};

	methods[kind].original.stats(context, NULL, NULL, &counters, false);
	if (kind == PFS_SLAB)
		return counters.nblocks == 0;
	return counters.totalspace - counters.freespace == methods[kind].fresh_used;
}

/* Inside a change: the epoch is another one. */
static pg_noinline void
look_again(PfsThread *t)
{
	here.epoch = pfs_load_acquire(&pfs_memory->epoch);
	here.last = NULL;
	pfs_memory_settle(t);
}

/* Is the context's instrument on, for this thread? */
static void
find_switch(PfsThread *t, PfsContext *c)
{
	if (c->cell == PFS_NO_CELL)
	{
		c->instrument = instrument_of(c->context->name);
		c->cell = pfs_cell_of_instrument(PFS_FAMILY_MEMORY, c->instrument);
	}
	c->on = c->cell != PFS_NO_CELL &&
		(pfs_instrument_flags(c->instrument) & pfs_load_relaxed(&t->mask) & PFS_FLAG_ENABLED) != 0;
	c->epoch = here.epoch;
}

/*
 * The entry of a context that something is about to be allocated in.  One that has
 * none was made since we look on, and is empty: all that were there have entries.
 * NULL: pass by.
 */
static PfsContext *
meet(PfsAllocator kind, MemoryContext context)
{
	PfsThread  *t = here.thread;
	PfsContext *c;

	if (t == NULL || (t->memory.seq.word & 1) != 0)
		return NULL;
	if (pfs_load_relaxed(&pfs_memory->epoch) != here.epoch)
	{
		pfs_seqlock_write_begin(&t->memory.seq);
		look_again(t);
		pfs_seqlock_write_end(&t->memory.seq);
	}
	c = pfs_context_find(context);
	if (c == NULL)
	{
		c = pfs_context_add(context);
		here.last = NULL;
		if (c == NULL)
		{
			pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
			return NULL;
		}
		if (pfs_contexts_incomplete() && !is_fresh(kind, context))
			c->counted = PFS_COUNTED_NONE;
		c->epoch = here.epoch - 1;
	}
	if (c->epoch != here.epoch)
		find_switch(t, c);
	return c;
}

/* ---- counting ---- */

static pg_attribute_always_inline void
begin_change(PfsThread *t)
{
	pfs_seqlock_write_begin(&t->memory.seq);
	if (unlikely(pfs_load_relaxed(&pfs_memory->epoch) != here.epoch))
		look_again(t);
}

static pg_attribute_always_inline void
end_change(PfsThread *t)
{
	pfs_seqlock_write_end(&t->memory.seq);
}

static pg_attribute_always_inline void
count_more(PfsContext *c, uint64 bytes)
{
	PfsThread  *t = here.thread;

	begin_change(t);
	pfs_memory_add(t, c->cell, bytes);
	c->count++;
	c->bytes += bytes;
	end_change(t);
}

static pg_attribute_always_inline void
count_less(PfsContext *c, uint64 count, uint64 bytes)
{
	PfsThread  *t = here.thread;

	begin_change(t);
	pfs_memory_remove(t, c->cell, count, bytes);
	c->count -= count;
	c->bytes -= bytes;
	end_change(t);
}

/* A chunk has come into a context that meet() gave. */
static void
chunk_came(PfsContext *c, const void *chunk, uint64 bytes)
{
	bool		lost;

	if (pfs_context_put(c, chunk, &lost))
		count_more(c, bytes);
	if (lost)
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
	if (c->counted == PFS_COUNTED_ALL && c->on && c->epoch == here.epoch)
	{
		here.entry = c;
		here.last = c->context;
	}
}

/* A chunk is about to go. */
static void
chunk_goes(MemoryContext context, const void *chunk, uint64 bytes)
{
	PfsContext *c;

	if (here.thread == NULL || (here.thread->memory.seq.word & 1) != 0)
		return;
	c = pfs_context_find(context);
	if (c == NULL || !pfs_context_take(c, chunk))
		return;
	count_less(c, 1, bytes);
	pfs_context_taken(c);
}

/* A chunk has become another one, perhaps in the same place. */
static void
chunk_changed(PfsAllocator kind, MemoryContext context, const void *old, uint64 old_bytes,
			  const void *chunk, uint64 bytes)
{
	PfsContext *c = meet(kind, context);
	bool		was_counted;
	bool		is_counted;
	bool		lost;

	if (c == NULL)
		return;
	was_counted = pfs_context_take(c, old);
	is_counted = pfs_context_put(c, chunk, &lost);
	if (lost)
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
	if (was_counted && is_counted && chunk == old)
	{
		begin_change(here.thread);
		pfs_memory_resize(here.thread, c->cell, bytes, old_bytes);
		c->bytes += bytes - old_bytes;
		end_change(here.thread);
		return;
	}
	/* Moved: for a moment there were both. */
	if (is_counted)
		count_more(c, bytes);
	if (was_counted)
		count_less(c, 1, old_bytes);
	pfs_context_taken(c);
}

/* All of a context's chunks go, and then the context itself. */
static void
context_goes(MemoryContext context, bool itself)
{
	PfsContext *c;

	if (here.thread == NULL || (here.thread->memory.seq.word & 1) != 0)
		return;
	c = pfs_context_find(context);
	if (c == NULL)
		return;
	if (c->count > 0)
		count_less(c, c->count, c->bytes);
	pfs_context_empty(c);
	if (itself)
	{
		pfs_context_remove(c);
		here.last = NULL;
	}
}

/* ---- the methods, by kind; a kind's number is a constant in each ---- */

static pg_attribute_always_inline uint64
bytes_of(PfsAllocator kind, bool plain, MemoryContext context, void *pointer)
{
	if (plain)
	{
		Size		bytes = pfs_compat_set_chunk_space(pointer);

		if (likely(bytes != 0))
			return bytes;
	}
	return PFS_SPACE_OF_CHUNK(&methods[kind].original, context, pointer) - methods[kind].header;
}

static pg_noinline void *
alloc_slow(PfsAllocator kind, PFS_ALLOC_PARAMS)
{
	PfsContext *c = meet(kind, context);
	void	   *pointer = methods[kind].original.alloc(PFS_ALLOC_ARGS);

	if (pointer != NULL && c != NULL)
		chunk_came(c, pointer, kind == PFS_BUMP ? MAXALIGN(size) : bytes_of(kind, false, context, pointer));
	return pointer;
}

static pg_attribute_always_inline void *
alloc_inline(PfsAllocator kind, bool plain, PFS_ALLOC_PARAMS)
{
	void	   *pointer;

	if (unlikely(context != here.last))
		return alloc_slow(kind, PFS_ALLOC_ARGS);
	pointer = methods[kind].original.alloc(PFS_ALLOC_ARGS);
	if (likely(pointer != NULL))
		count_more(here.entry, kind == PFS_BUMP ? MAXALIGN(size) : bytes_of(kind, plain, context, pointer));
	return pointer;
}

static pg_attribute_always_inline MemoryContext
context_of(PfsAllocator kind, bool plain, PFS_FREE_PARAMS)
{
#if PFS_METHODS_IN_ARRAY
	if (plain)
	{
		MemoryContext found = pfs_compat_set_chunk_context(pointer);

		if (likely(found != NULL))
			return found;
	}
#endif
	return PFS_CONTEXT_OF_CHUNK(&methods[kind].original);
}

static pg_attribute_always_inline void
free_inline(PfsAllocator kind, bool plain, PFS_FREE_PARAMS)
{
	MemoryContext of = context_of(kind, plain, PFS_FREE_ARGS);
	uint64		bytes = bytes_of(kind, plain, of, pointer);

	if (likely(of == here.last && here.entry->count > 0))
		count_less(here.entry, 1, bytes);
	else
		chunk_goes(of, pointer, bytes);
	methods[kind].original.free_p(PFS_FREE_ARGS);
}

static pg_attribute_always_inline void *
realloc_inline(PfsAllocator kind, bool plain, PFS_REALLOC_PARAMS)
{
	MemoryContext of = PFS_CONTEXT_OF_CHUNK(&methods[kind].original);
	uint64		old_bytes = bytes_of(kind, plain, of, pointer);
	void	   *result = methods[kind].original.realloc(PFS_REALLOC_ARGS);

	if (likely(result != NULL))
		chunk_changed(kind, of, pointer, old_bytes, result, bytes_of(kind, plain, of, result));
	return result;
}

#define METHODS(name, kind, plain) \
static void * \
name##_alloc(PFS_ALLOC_PARAMS) \
{ \
	return alloc_inline(kind, plain, PFS_ALLOC_ARGS); \
} \
static void \
name##_free(PFS_FREE_PARAMS) \
{ \
	free_inline(kind, plain, PFS_FREE_ARGS); \
} \
static void * \
name##_realloc(PFS_REALLOC_PARAMS) \
{ \
	return realloc_inline(kind, plain, PFS_REALLOC_ARGS); \
} \
static void \
name##_reset(MemoryContext context) \
{ \
	context_goes(context, false); \
	methods[kind].original.reset(context); \
} \
static void \
name##_delete(MemoryContext context) \
{ \
	context_goes(context, true); \
	methods[kind].original.delete_context(context); \
} \
static const MemoryContextMethods name##_methods = { \
	.alloc = name##_alloc, \
	.free_p = name##_free, \
	.realloc = name##_realloc, \
	.reset = name##_reset, \
	.delete_context = name##_delete, \
};

/* Sets of this server have the headers that we know; or are asked like others. */
METHODS(plain_set, PFS_ALLOC_SET, true)
METHODS(set, PFS_ALLOC_SET, false)
METHODS(generation, PFS_GENERATION, false)
METHODS(slab, PFS_SLAB, false)
METHODS(bump, PFS_BUMP, false)

/* ---- a process is told, and is no more ---- */

static int
kind_of(MemoryContext context)
{
	for (int kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (context->methods == methods[kind].table)
			return kind;
	}
	return -1;
}

/* Contexts that are there already: what they hold was not counted. */
static bool
note_contexts(void)
{
	MemoryContext context = TopMemoryContext;

	while (context != NULL)
	{
		int			kind = kind_of(context);

		if (kind >= 0)
		{
			PfsContext *c = pfs_context_add(context);

			if (c == NULL)
				return false;
			c->epoch = here.epoch - 1;
			if (!is_fresh(kind, context))
				c->counted = PFS_COUNTED_NONE;
		}
		if (context->firstchild != NULL)
		{
			context = context->firstchild;
			continue;
		}
		while (context != NULL && context->nextchild == NULL)
			context = context->parent;
		if (context != NULL)
			context = context->nextchild;
	}
	return true;
}

static void
put_back(void)
{
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (methods[kind].table != NULL)
			(void) pfs_methods_write(&methods[kind], &methods[kind].original);
	}
}

static void
stop(void)
{
	put_back();
	here.last = NULL;
	here.thread = NULL;
	pfs_contexts_stop();
}

static bool
start(PfsThread *t)
{
	here.last = NULL;
	here.epoch = pfs_load_acquire(&pfs_memory->epoch);
	if (!pfs_contexts_start())
		return false;
	if (!note_contexts())
	{
		pfs_contexts_stop();
		return false;
	}
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (methods[kind].table != NULL && pfs_methods_write(&methods[kind], &ours[kind]) != 0)
		{
			stop();
			return false;
		}
	}
	here.thread = t;
	return true;
}

/* pfs_memory_switch; t NULL: the record goes, whatever is left. */
static bool
switch_memory(PfsThread *t, bool wanted)
{
	if (t == NULL || here.thread == NULL)
	{
		if (here.thread != NULL)
			stop();
		if (t == NULL || !wanted || here.failed || CritSectionCount > 0 || pfs_load_relaxed(&t->mask) == 0)
			return false;
		if (!start(t))
		{
			/* Once is enough: it would fail again. */
			here.failed = true;
			pfs_add_relaxed(&pfs_memory->processes_lost, 1);
			return false;
		}
		pfs_store_relaxed(&t->memory.is_told, true);
		return true;
	}
	if (wanted || t->memory.peak - t->memory.room > 0)
		return true;
	stop();
	pfs_store_relaxed(&t->memory.is_told, false);
	return false;
}

/* ---- the postmaster ---- */

/* Do headers of sets say what the methods say, for chunks of all sizes? */
static bool
are_sets_plain(void)
{
	MemoryContext scratch = pfs_compat_scratch_context(PFS_ALLOC_SET);
	bool		plain = true;

	for (Size size = 1; size <= 64 * 1024; size = size * 3 / 2 + 1)
	{
		void	   *pointer = MemoryContextAlloc(scratch, size);
		Size		bytes = pfs_compat_set_chunk_space(pointer);

		if (bytes != 0 && bytes != GetMemoryChunkSpace(pointer) - methods[PFS_ALLOC_SET].header)
			plain = false;
#if PFS_METHODS_IN_ARRAY
		if (pfs_compat_set_chunk_context(pointer) != NULL && pfs_compat_set_chunk_context(pointer) != scratch)
			plain = false;
#endif
	}
	MemoryContextDelete(scratch);
	return plain;
}

/* The server's own, but for those that we stand in for. */
static MemoryContextMethods
with_original(PfsAllocator kind, const MemoryContextMethods *entries)
{
	MemoryContextMethods all = methods[kind].original;

	all.alloc = entries->alloc;
	/* Bump chunks have no header: their free and realloc only raise errors. */
	if (kind != PFS_BUMP)
	{
		all.free_p = entries->free_p;
		all.realloc = entries->realloc;
	}
	all.reset = entries->reset;
	all.delete_context = entries->delete_context;
	return all;
}

/* Can the tables be written at all?  What is written is what is there. */
static const char *
try_writing(void)
{
	static char message[128];

	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		int			err = methods[kind].table == NULL ? 0 : pfs_methods_write(&methods[kind], &methods[kind].original);

		if (err != 0)
		{
			snprintf(message, sizeof(message), "could not make a table of memory-context methods writable: %s", strerror(err));
			return message;
		}
	}
	return NULL;
}

static void
report(PfsAllocator kind)
{
	PfsProbeRow row = {0};

	if (methods[kind].table == NULL && why_not == NULL)
		return;
	snprintf(row.name, sizeof(row.name), "method_table/%s", kind_names[kind]);
	row.mechanism = "method_table";
	row.target = kind_names[kind];
	row.status = why_not == NULL ? "active" : "unavailable";
	strlcpy(row.detail, why_not == NULL ? "" : why_not, sizeof(row.detail));
	pfs_probe_report(&row);
}

void
pfs_memory_probe_start(void)
{
	why_not = pfs_methods_find(methods);
	if (why_not == NULL)
		why_not = try_writing();
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
		report(kind);
	if (why_not != NULL)
	{
		ereport(LOG,
				(errmsg("pfs: memory instruments are unavailable: %s", why_not)));
		return;
	}
	pfs_methods_note_constants();
	ours[PFS_ALLOC_SET] = with_original(PFS_ALLOC_SET, are_sets_plain() ? &plain_set_methods : &set_methods);
	ours[PFS_GENERATION] = with_original(PFS_GENERATION, &generation_methods);
	ours[PFS_SLAB] = with_original(PFS_SLAB, &slab_methods);
	ours[PFS_BUMP] = with_original(PFS_BUMP, &bump_methods);
	pfs_memory_switch = switch_memory;
}

const char *
pfs_memory_probe_failure(void)
{
	return why_not;
}
