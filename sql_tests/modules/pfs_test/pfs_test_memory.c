/*
 * pfs_test_memory.c
 *	  Memory to count: contexts of every kind, handled step by step from SQL;
 *	  sessions that allocate and free at random while the truth is kept in shared
 *	  memory; and what the contexts of a process really hold.
 *
 * Preloaded.  The functions are declared by the tests, with the path that
 * PG_LIBDIR names.
 */
#include "postgres.h"

#include <pthread.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_context);
PG_FUNCTION_INFO_V1(pfs_test_alloc);
PG_FUNCTION_INFO_V1(pfs_test_realloc);
PG_FUNCTION_INFO_V1(pfs_test_free);
PG_FUNCTION_INFO_V1(pfs_test_reset);
PG_FUNCTION_INFO_V1(pfs_test_delete);
PG_FUNCTION_INFO_V1(pfs_test_bytes);
PG_FUNCTION_INFO_V1(pfs_test_random);
PG_FUNCTION_INFO_V1(pfs_test_truth);
PG_FUNCTION_INFO_V1(pfs_test_contexts);
PG_FUNCTION_INFO_V1(pfs_test_contexts_at_start);
PG_FUNCTION_INFO_V1(pfs_test_held);

PGDLLEXPORT Datum pfs_test_context(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_alloc(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_realloc(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_free(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_reset(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_delete(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_bytes(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_random(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_truth(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_contexts(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_contexts_at_start(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_held(PG_FUNCTION_ARGS);
PGDLLEXPORT void pfs_test_note_contexts(void);
PGDLLEXPORT void _PG_init(void);

#define CONTEXTS 32
#define SLOTS 1024
#define GROUPS 16
#define RANDOM_CHUNKS 48

/* Bytes of a chunk's header; a server with assertions keeps there what was asked for. */
#ifdef MEMORY_CONTEXT_CHECKING
#define REQUESTED sizeof(Size)
#else
#define REQUESTED 0
#endif
#if PG_VERSION_NUM >= 160000
#define HEADER (8 + REQUESTED)
#define GENERATION_HEADER HEADER
#define SLAB_HEADER HEADER
#else
#define HEADER (16 + REQUESTED)
#define GENERATION_HEADER (24 + REQUESTED)
#define SLAB_HEADER 16
#endif

/* What is really in use, and at most and at least was. */
typedef struct Truth
{
	int64		count_lower;	/* never more than there is */
	int64		bytes_lower;
	int64		count_upper;	/* never less */
	int64		bytes_upper;
	int64		count_max;		/* of the lower ones */
	int64		bytes_max;
	int64		count_min;		/* of the upper ones */
	int64		bytes_min;
} Truth;

typedef struct PfsTestMemory
{
	slock_t		lock;
	int64		events;			/* allocations and frees */
	Truth		groups[GROUPS]; /* accounts, users, ... by the tests' numbers */
} PfsTestMemory;

typedef struct Context
{
	MemoryContext context;
	bool		bump;
	Size		header;
	void	   *chunks[SLOTS];
} Context;

static PfsTestMemory *shared = NULL;
static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static Context *contexts[CONTEXTS];

/* Those of pfs_test_random(). */
static MemoryContext random_context = NULL;
static void *random_chunks[RANDOM_CHUNKS];
static int	groups[GROUPS];
static int	ngroups = 0;
static int64 own_count = 0;
static int64 own_bytes = 0;

static void look_at_overhead(void);

static void
request_cb(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(sizeof(PfsTestMemory));
}

static void
startup_cb(void)
{
	bool		found;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	shared = ShmemInitStruct("pfs_test_memory", sizeof(PfsTestMemory), &found);
	memset(shared, 0, sizeof(*shared));
	SpinLockInit(&shared->lock);
	look_at_overhead();
}

/* As another library would that watches contexts. */
static void
replace_methods(void)
{
	static MemoryContextMethods copy;

	copy = *TopMemoryContext->methods;
	TopMemoryContext->methods = &copy;
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	if (getenv("PFS_TEST_REPLACE_METHODS") != NULL)
		replace_methods();
	/* What a process has when it is born. */
	pthread_atfork(NULL, NULL, pfs_test_note_contexts);
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_cb;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_cb;
}

/* ---- step by step ---- */

static Context *
context_at(int i)
{
	if (i < 0 || i >= CONTEXTS || contexts[i] == NULL)
		ereport(ERROR, (errmsg("there is no context %d", i)));
	return contexts[i];
}

static void **
chunk_at(Context *c, int slot)
{
	if (slot < 0 || slot >= SLOTS)
		ereport(ERROR, (errmsg("there is no slot %d", slot)));
	return &c->chunks[slot];
}

/* Only as many as there are rows in the test: what malloc() gives is no chunk. */
static Context *
new_context(void)
{
	Context    *c = calloc(1, sizeof(Context));

	if (c == NULL)
		ereport(ERROR, (errmsg("out of memory")));
	return c;
}

/*
 * pfs_test_context(i int4, kind text, name text) returns text: make context i.
 * kind: AllocSet, Generation, Slab (chunks of 1000 bytes), Bump.  name NULL: the
 * constant "pfs test <kind>", which is returned.
 */
Datum
pfs_test_context(PG_FUNCTION_ARGS)
{
	int			i = PG_GETARG_INT32(0);
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
	const char *name = PG_ARGISNULL(2) ? NULL : strdup(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	Context    *c;

	if (i < 0 || i >= CONTEXTS || contexts[i] != NULL)
		ereport(ERROR, (errmsg("context %d cannot be made", i)));
	c = new_context();
	c->header = HEADER;
	if (strcmp(kind, "AllocSet") == 0)
		c->context = AllocSetContextCreateInternal(TopMemoryContext, name ? name : "pfs test AllocSet", ALLOCSET_DEFAULT_SIZES);
	else if (strcmp(kind, "Generation") == 0)
	{
		c->context = GenerationContextCreate(TopMemoryContext, name ? name : "pfs test Generation", ALLOCSET_DEFAULT_SIZES);
		c->header = GENERATION_HEADER;
	}
	else if (strcmp(kind, "Slab") == 0)
	{
		c->context = SlabContextCreate(TopMemoryContext, name ? name : "pfs test Slab", SLAB_DEFAULT_BLOCK_SIZE, 1000);
		c->header = SLAB_HEADER;
	}
#if PG_VERSION_NUM >= 170000
	else if (strcmp(kind, "Bump") == 0)
	{
		c->context = BumpContextCreate(TopMemoryContext, name ? name : "pfs test Bump", ALLOCSET_DEFAULT_SIZES);
		c->bump = true;
	}
#endif
	else
		ereport(ERROR, (errmsg("no kind %s here", kind)));
	contexts[i] = c;
	PG_RETURN_TEXT_P(cstring_to_text(c->context->name));
}

/*
 * pfs_test_alloc(i int4, slot int4, size int8, alignment int4) returns int8: bytes of
 * the chunk's space.  alignment 0: none.
 */
Datum
pfs_test_alloc(PG_FUNCTION_ARGS)
{
	Context    *c = context_at(PG_GETARG_INT32(0));
	void	  **chunk = chunk_at(c, PG_GETARG_INT32(1));
	Size		size = PG_GETARG_INT64(2);

	if (PG_GETARG_INT32(3) == 0)
		*chunk = MemoryContextAllocHuge(c->context, size);
	else
	{
#if PG_VERSION_NUM >= 160000
		*chunk = MemoryContextAllocAligned(c->context, size, PG_GETARG_INT32(3), 0);
		PG_RETURN_INT64(0);
#else
		ereport(ERROR, (errmsg("no aligned chunks here")));
#endif
	}
	memset(*chunk, 'x', size);
	PG_RETURN_INT64(c->bump ? MAXALIGN(size) : GetMemoryChunkSpace(*chunk) - c->header);
}

/* pfs_test_realloc(i int4, slot int4, size int8) returns bool: it has moved */
Datum
pfs_test_realloc(PG_FUNCTION_ARGS)
{
	void	  **chunk = chunk_at(context_at(PG_GETARG_INT32(0)), PG_GETARG_INT32(1));
	void	   *old = *chunk;

	*chunk = repalloc_huge(old, PG_GETARG_INT64(2));
	PG_RETURN_BOOL(*chunk != old);
}

/* pfs_test_free(i int4, slot int4) */
Datum
pfs_test_free(PG_FUNCTION_ARGS)
{
	void	  **chunk = chunk_at(context_at(PG_GETARG_INT32(0)), PG_GETARG_INT32(1));

	pfree(*chunk);
	*chunk = NULL;
	PG_RETURN_VOID();
}

/* pfs_test_reset(i int4) */
Datum
pfs_test_reset(PG_FUNCTION_ARGS)
{
	Context    *c = context_at(PG_GETARG_INT32(0));

	MemoryContextReset(c->context);
	memset(c->chunks, 0, sizeof(c->chunks));
	PG_RETURN_VOID();
}

/* pfs_test_delete(i int4) */
Datum
pfs_test_delete(PG_FUNCTION_ARGS)
{
	int			i = PG_GETARG_INT32(0);

	MemoryContextDelete(context_at(i)->context);
	free(contexts[i]);
	contexts[i] = NULL;
	PG_RETURN_VOID();
}

/* pfs_test_bytes(i int4, slots int4[]) returns int8: space of these chunks, as the allocator has it */
Datum
pfs_test_bytes(PG_FUNCTION_ARGS)
{
	Context    *c = context_at(PG_GETARG_INT32(0));
	ArrayType  *slots = PG_GETARG_ARRAYTYPE_P(1);
	int			n = ArrayGetNItems(ARR_NDIM(slots), ARR_DIMS(slots));
	int64		bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += GetMemoryChunkSpace(*chunk_at(c, ((int32 *) ARR_DATA_PTR(slots))[i])) - c->header;
	PG_RETURN_INT64(bytes);
}

/* ---- at random, with the truth beside ---- */

/* Ours has changed by so much. */
static void
tell(int64 events, int64 count_lower, int64 bytes_lower, int64 count_upper, int64 bytes_upper)
{
	SpinLockAcquire(&shared->lock);
	shared->events += events;
	for (int i = 0; i < ngroups; i++)
	{
		Truth	   *t = &shared->groups[groups[i]];

		t->count_lower += count_lower;
		t->bytes_lower += bytes_lower;
		t->count_upper += count_upper;
		t->bytes_upper += bytes_upper;
		t->count_max = Max(t->count_max, t->count_lower);
		t->bytes_max = Max(t->bytes_max, t->bytes_lower);
		t->count_min = Min(t->count_min, t->count_upper);
		t->bytes_min = Min(t->bytes_min, t->bytes_upper);
	}
	SpinLockRelease(&shared->lock);
}

static int64
space_of(void *chunk)
{
	return chunk == NULL ? 0 : GetMemoryChunkSpace(chunk) - HEADER;
}

/*
 * One chunk goes, if there is one, and another comes, if size is not 0.  What is
 * told first is what the lower sums lose and the upper sums could win; behind the
 * change both are what there is.
 */
static void
change(void **chunk, Size size)
{
	int64		old_count = *chunk != NULL;
	int64		old_bytes = space_of(*chunk);
	int64		bound = size == 0 ? 0 : 2 * size + 64;
	int64		count = size != 0;
	int64		bytes;

	tell(old_count + count, -old_count, -old_bytes, count, bound);
	if (size == 0)
	{
		pfree(*chunk);
		*chunk = NULL;
	}
	else if (*chunk == NULL)
		*chunk = MemoryContextAlloc(random_context, size);
	else
		*chunk = repalloc(*chunk, size);
	bytes = space_of(*chunk);
	tell(0, count, bytes, -old_count, bytes - bound - old_bytes);
	own_count += count - old_count;
	own_bytes += bytes - old_bytes;
}

/* A session's memory goes with it: behind the end of all that looks at it, but for the lower sums. */
static void
lower_gone_cb(int code, Datum arg)
{
	tell(own_count, -own_count, -own_bytes, 0, 0);
}

static void
upper_gone_cb(int code, Datum arg)
{
	tell(0, 0, 0, -own_count, -own_bytes);
}

static void
reset_all(void)
{
	tell(own_count, -own_count, -own_bytes, 0, 0);
	MemoryContextReset(random_context);
	memset(random_chunks, 0, sizeof(random_chunks));
	tell(0, 0, 0, -own_count, -own_bytes);
	own_count = own_bytes = 0;
}

/*
 * pfs_test_random(steps int4, groups int4[], largest int4): so many steps in the context
 * "pfs test random" of this session, which belongs to these groups.
 */
Datum
pfs_test_random(PG_FUNCTION_ARGS)
{
	int			steps = PG_GETARG_INT32(0);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	int			largest = PG_GETARG_INT32(2);

	if (random_context == NULL)
	{
		ngroups = Min(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)), GROUPS);
		for (int i = 0; i < ngroups; i++)
			groups[i] = ((int32 *) ARR_DATA_PTR(array))[i] & (GROUPS - 1);
		random_context = AllocSetContextCreate(TopMemoryContext, "pfs test random", ALLOCSET_DEFAULT_SIZES);
		before_shmem_exit(lower_gone_cb, 0);
		on_proc_exit(upper_gone_cb, 0);
	}
	for (int i = 0; i < steps; i++)
	{
		uint32		r = pg_prng_uint32(&pg_global_prng_state);
		void	  **chunk = &random_chunks[r % RANDOM_CHUNKS];

		CHECK_FOR_INTERRUPTS();
		if (r >> 24 == 0)
			reset_all();
		else if (*chunk != NULL && (r >> 16 & 3) != 0)
			change(chunk, 0);
		else
			change(chunk, 1 + (r >> 8) % largest);
	}
	PG_RETURN_VOID();
}

/*
 * pfs_test_truth(g int4) returns int8[]: of a group: least, present and greatest count, least,
 * present and greatest bytes, and all allocations and frees of all sessions.  g -1:
 * all groups begin anew with what there is.
 */
Datum
pfs_test_truth(PG_FUNCTION_ARGS)
{
	int			g = PG_GETARG_INT32(0);
	Truth		copy;
	int64		events;
	Datum		values[7];

	SpinLockAcquire(&shared->lock);
	for (int i = 0; g < 0 && i < GROUPS; i++)
	{
		Truth	   *t = &shared->groups[i];

		t->count_max = t->count_lower;
		t->bytes_max = t->bytes_lower;
		t->count_min = t->count_upper;
		t->bytes_min = t->bytes_upper;
	}
	copy = shared->groups[g & (GROUPS - 1)];
	events = shared->events;
	SpinLockRelease(&shared->lock);

	values[0] = Int64GetDatum(copy.count_min);
	values[1] = Int64GetDatum(copy.count_lower);
	values[2] = Int64GetDatum(copy.count_max);
	values[3] = Int64GetDatum(copy.bytes_min);
	values[4] = Int64GetDatum(copy.bytes_lower);
	values[5] = Int64GetDatum(copy.bytes_max);
	values[6] = Int64GetDatum(events);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, lengthof(values), INT8OID, 8, true, TYPALIGN_DOUBLE));
}

/* ---- what contexts hold ---- */

typedef struct Noted
{
	const char *name;
	MemoryContext context;
	int64		chunks;			/* bytes of chunks, with headers */
} Noted;

static Noted noted[512];
static int	nnoted = 0;

static MemoryContextCounters
counters_of(MemoryContext context)
{
	MemoryContextCounters counters = {0};

	context->methods->stats(context, NULL, NULL, &counters, false);
	return counters;
}

static int64
used_of(MemoryContext context)
{
	MemoryContextCounters counters = counters_of(context);

	return counters.totalspace - counters.freespace;
}

static MemoryContext
next_context(MemoryContext context)
{
	if (context->firstchild != NULL)
		return context->firstchild;
	while (context != NULL && context->nextchild == NULL)
		context = context->parent;
	return context == NULL ? NULL : context->nextchild;
}

/*
 * What an AllocSet uses for itself: its first block's header with its own, and that
 * of each further block, both as seen in a set of ours by the postmaster.
 */
static int64 first_overhead = 0;
static int64 block_overhead = 0;

static void
look_at_overhead(void)
{
	MemoryContext set = AllocSetContextCreate(TopMemoryContext, "pfs test overhead", ALLOCSET_DEFAULT_SIZES);
	void	   *chunk;

	first_overhead = used_of(set);
	chunk = MemoryContextAlloc(set, 100000);
	block_overhead = used_of(set) - first_overhead - GetMemoryChunkSpace(chunk);
	MemoryContextDelete(set);
}

static int64
overhead_of(MemoryContext context)
{
	return first_overhead + (int64) (counters_of(context).nblocks - 1) * block_overhead;
}

/*
 * Called from outside, by who knows when: note what all AllocSets hold.  Allocates
 * nothing of theirs.
 */
void
pfs_test_note_contexts(void)
{
	nnoted = 0;
	for (MemoryContext context = TopMemoryContext; context != NULL; context = next_context(context))
	{
		if (nnoted >= lengthof(noted) || !IsA(context, AllocSetContext))
			continue;
		noted[nnoted].name = context->name;
		noted[nnoted].context = context;
		noted[nnoted].chunks = used_of(context) - overhead_of(context);
		nnoted++;
	}
}

static const char *
shown_name(MemoryContext context)
{
	if (strcmp(context->name, "dynahash") == 0 && context->ident != NULL)
		return context->ident;
	return context->name;
}

/*
 * pfs_test_contexts() returns text: a line for each AllocSet of this process: address, name,
 * what the set uses, what it uses for itself, name in pg_backend_memory_contexts; divided by
 * tabs.
 */
Datum
pfs_test_contexts(PG_FUNCTION_ARGS)
{
	/* Not from the contexts that are looked at. */
	static char lines[512 * 1024];
	size_t		length = 0;

	for (MemoryContext context = TopMemoryContext; context != NULL; context = next_context(context))
	{
		if (IsA(context, AllocSetContext) && length < sizeof(lines))
			length += snprintf(lines + length, sizeof(lines) - length, "%p\t%s\t" INT64_FORMAT "\t" INT64_FORMAT "\t%s\n",
							   context, context->name, used_of(context), overhead_of(context), shown_name(context));
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(lines, Min(length, sizeof(lines) - 1)));
}

/* pfs_test_contexts_at_start() returns text: of the moment that was noted: address, name, bytes of chunks with their headers */
Datum
pfs_test_contexts_at_start(PG_FUNCTION_ARGS)
{
	StringInfoData lines;

	initStringInfo(&lines);
	for (int i = 0; i < nnoted; i++)
		appendStringInfo(&lines, "%p\t%s\t" INT64_FORMAT "\n", noted[i].context, noted[i].name, noted[i].chunks);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(lines.data, lines.len));
}

/*
 * pfs_test_held() returns int8: bytes of chunks, with their headers, that the AllocSets of this
 * process hold and that it has not inherited.
 */
Datum
pfs_test_held(PG_FUNCTION_ARGS)
{
	int64		held = 0;

	for (MemoryContext context = TopMemoryContext; context != NULL; context = next_context(context))
	{
		if (!IsA(context, AllocSetContext))
			continue;
		held += used_of(context) - overhead_of(context);
		for (int i = 0; i < nnoted; i++)
		{
			if (noted[i].context == context && noted[i].name == context->name)
				held -= noted[i].chunks;
		}
	}
	PG_RETURN_INT64(held);
}
