/*
 * pfs_instr_memory_switch.c
 *	  When a process has our methods for its memory contexts, which contexts it
 *	  meets, and where the tables are found in the postmaster.
 *
 * A process where no memory instrument was ever on has the server's own methods.
 * It gets ours at the first event after one is on, and its own back when none is
 * on any more and nothing that was counted is left.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_instr.h"
#include "pfs_instr_memory.h"
#include "pfs_status.h"

#define KIND(kind) (&pfs_memory_probe.kinds[kind])

static const char *const kind_names[PFS_NUM_ALLOCATORS] = {"AllocSet", "Generation", "Slab", "Bump"};

static const char *why_not = "pfs is not active";

/* Its tables could not be written. */
static bool failed = false;

PfsContextName pfs_context_names[PFS_CONTEXT_NAMES];

/* ---- contexts ---- */

static PfsContextName
look_up(const char *name, bool constant)
{
	PfsInstrumentId instrument = pfs_memory_instrument(name, constant);

	return (PfsContextName)
	{
		name, instrument, pfs_cell_of_instrument(PFS_FAMILY_MEMORY, instrument)
	};
}

static PfsContextName
name_of(const char *name)
{
	PfsContextName *known = pfs_context_name_place(name);

	if (known->name == name)
		return *known;
	if (!pfs_methods_is_constant(name))
		return look_up(name, false);
	*known = look_up(name, true);
	return *known;
}

void
pfs_memory_find_switch(PfsThread *t, PfsContext *c)
{
	if (c->cell == NULL)
	{
		PfsContextName name = name_of(c->context->name);

		c->instrument = name.instrument;
		if (name.cell < pfs_summary[PFS_FAMILY_MEMORY].ncells)
			c->cell = pfs_memory_cell(t, name.cell);
	}
	c->on = c->cell != NULL && pfs_memory_is_on(t, c->instrument);
	c->epoch = pfs_memory_here.epoch;
}

bool
pfs_memory_is_fresh(PfsAllocator kind, MemoryContext context)
{
	MemoryContextCounters counters = {0};

	KIND(kind)->original.stats(context, NULL, NULL, &counters, false);
	if (kind == PFS_SLAB)
		return counters.nblocks == 0;
	return counters.totalspace - counters.freespace == KIND(kind)->fresh_used;
}

PfsContext *
pfs_memory_meet(PfsAllocator kind, MemoryContext context, bool empty)
{
	PfsContext *c = pfs_context_add(context);

	if (unlikely(c == NULL))
	{
		pfs_add_relaxed(&pfs_memory->chunks_lost, 1);
		return NULL;
	}
	if (!empty)
		c->counted = PFS_COUNTED_NONE;
	c->kind = kind;
	c->epoch = pfs_memory_here.epoch - 1;
	c->way = PFS_WAY_OTHER;
	c->methods = pfs_memory_probe.ways[kind][PFS_WAY_OTHER];
	context->methods = &c->methods;
	return c;
}

void
pfs_memory_leave(PfsContext *c)
{
	c->context->methods = KIND(c->kind)->table;
}

/* ---- a process is told, and is no more ---- */

static int
kind_of(MemoryContext context)
{
	for (int kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (context->methods == KIND(kind)->table)
			return kind;
	}
	return -1;
}

/* The next one in the tree, or NULL. */
static MemoryContext
next_context(MemoryContext context)
{
	if (context->firstchild != NULL)
		return context->firstchild;
	while (context != NULL && context->nextchild == NULL)
		context = context->parent;
	return context == NULL ? NULL : context->nextchild;
}

/* Contexts that are there already: what they hold was not counted. */
static bool
meet_all(void)
{
	for (MemoryContext context = TopMemoryContext; context != NULL; context = next_context(context))
	{
		int			kind = kind_of(context);

		if (kind >= 0 && pfs_memory_meet(kind, context, pfs_memory_is_fresh(kind, context)) == NULL)
			return false;
	}
	return true;
}

static void
stop(void)
{
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
		pfs_memory_leave(c);
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (KIND(kind)->table != NULL)
			(void) pfs_methods_write(KIND(kind), &KIND(kind)->original);
	}
	pfs_memory_here.thread = NULL;
	pfs_contexts_stop();
}

/*
 * Who makes our news stale comes behind the record's publication: or we see
 * what he did before.
 */
static bool
start(PfsThread *t)
{
	pfs_store_relaxed(&t->memory.stale, true);
	if (!pfs_contexts_start())
		return false;
	pfs_memory_here.thread = t;
	if (!meet_all())
	{
		stop();
		return false;
	}
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (KIND(kind)->table != NULL && pfs_methods_write(KIND(kind), &pfs_memory_probe.table[kind]) != 0)
		{
			stop();
			return false;
		}
	}
	return true;
}

/* pfs_memory_switch; t NULL: the record goes, whatever is left. */
static bool
switch_memory(PfsThread *t, bool wanted)
{
	if (t == NULL || pfs_memory_here.thread == NULL)
	{
		if (pfs_memory_here.thread != NULL)
			stop();
		if (t == NULL || !wanted || failed || CritSectionCount > 0 || pfs_load_relaxed(&t->mask) == 0)
			return false;
		if (!start(t))
		{
			/* Once is enough: it would fail again. */
			failed = true;
			pfs_add_relaxed(&pfs_memory->processes_lost, 1);
			return false;
		}
		pfs_store_relaxed(&t->memory.is_told, true);
		return true;
	}
	if (wanted || pfs_memory_total_in_use(t->memory.room, t->memory.mark) > 0)
		return true;
	stop();
	pfs_store_relaxed(&t->memory.is_told, false);
	return false;
}

/* ---- the postmaster ---- */

/* Do headers of sets say what the methods say, for chunks of all sizes? */
static bool
have_sets_headers(void)
{
	MemoryContext scratch = pfs_compat_scratch_context(PFS_ALLOC_SET);
	bool		plain = true;

	for (Size size = 1; size <= 64 * 1024; size = size * 3 / 2 + 1)
	{
		void	   *pointer = MemoryContextAlloc(scratch, size);
		Size		bytes = pfs_compat_set_chunk_space(pointer);

		if (bytes != 0 && bytes != GetMemoryChunkSpace(pointer) - KIND(PFS_ALLOC_SET)->header)
			plain = false;
#if PFS_METHODS_IN_ARRAY
		if (pfs_compat_set_chunk_context(pointer) != NULL && pfs_compat_set_chunk_context(pointer) != scratch)
			plain = false;
#endif
	}
	MemoryContextDelete(scratch);
	return plain;
}

static void
report(PfsAllocator kind)
{
	PfsProbeRow row = {0};

	/* What this version does not have is not missing. */
	if (kind == PFS_BUMP && !PFS_HAVE_BUMP)
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
	why_not = pfs_methods_find(pfs_memory_probe.kinds);
	if (why_not == NULL)
		why_not = pfs_methods_prove(pfs_memory_probe.kinds);
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
		report(kind);
	if (why_not != NULL)
	{
		ereport(LOG,
				(errmsg("pfs: memory instruments are unavailable: %s", why_not)));
		return;
	}
	pfs_methods_note_constants();
	pfs_memory_methods_start(have_sets_headers());
	pfs_memory_switch = switch_memory;
}

const char *
pfs_memory_probe_failure(void)
{
	return why_not;
}
