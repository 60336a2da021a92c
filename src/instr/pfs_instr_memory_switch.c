/*
 * pfs_instr_memory_switch.c
 *	  When a process has our methods for its memory contexts, and where the tables
 *	  are found in the postmaster.
 *
 * A process where no memory instrument was ever on has the server's own methods.
 * It gets ours at its birth, if one is on then, or else at the first event after one
 * is, and its own back when none is on any more and nothing that was counted is left.
 * record asks for that by PfsMemoryCallbacks, as it does not know methods.
 *
 * The tables and the contexts may be written by other libraries, too.  What they put
 * there in place of ours stays there, whatever we do later.  Separate from the methods
 * themselves, which are called a hundred times in a transaction.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_instr.h"
#include "pfs_instr_memory.h"
#include "pfs_instr_prove.h"
#include "pfs_memory_early.h"
#include "pfs_private.h"

#define KIND(kind) (&pfs_memory_probe.kinds[kind])

static const char *const kind_names[PFS_NUM_ALLOCATORS] = {"AllocSet", "Generation", "Slab", "Bump"};

/* Its tables could not be written. */
static bool failed = false;

PfsContextName pfs_context_names[PFS_CONTEXT_NAMES];

/* ---- contexts ---- */

static void
drop_spares_of(PfsContextName *name)
{
	while (name->spare != NULL)
	{
		PfsContext *c = name->spare;

		name->spare = c->next_spare;
		pfs_context_remove(c);
	}
}

/* What was known of them holds no longer, or other names need entries. */
void
pfs_memory_drop_spares(void)
{
	for (int i = 0; i < PFS_CONTEXT_NAMES; i++)
		drop_spares_of(&pfs_context_names[i]);
}

/* Looks up the instrument of a context's name; that of a constant is cached. */
static PfsContextName
name_of(const char *name)
{
	PfsContextName *known = pfs_context_name_place(name);
	PfsContextName found = {.name = name};
	bool		constant;

	if (known->name == name)
		return *known;
	constant = pfs_methods_is_constant(name);
	found.instrument = pfs_memory_instrument(name, constant);
	found.cell = pfs_cell_of_instrument(PFS_FAMILY_MEMORY, found.instrument);

	/*
	 * A name that is known here takes a new context past
	 * pfs_memory_find_switch(), which only a process that stays attached to
	 * the segment may pass.
	 */
	if (constant && pfs_my_thread != NULL)
	{
		drop_spares_of(known);
		*known = found;
	}
	return found;
}

/*
 * Finds out whether the context's allocations are to be counted from now on.  In a process
 * that has left shared memory nothing more is counted.
 */
void
pfs_memory_find_switch(PfsThread *t, PfsContext *c)
{
	bool		counts = !pfs_memory_is_early(t) || pfs_memory_has_segment();

	if (counts && c->cell == NULL)
	{
		PfsContextName name = name_of(c->context->name);

		c->instrument = name.instrument;
		if (name.cell < pfs_summary[PFS_FAMILY_MEMORY].ncells)
			c->cell = pfs_memory_cell(t, name.cell);
	}
	c->on = counts && c->cell != NULL && pfs_memory_is_on(t, c->instrument);
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

/*
 * Makes an entry for a context, with methods that presume nothing. Chunks that it has
 * already were not counted.
 */
PfsContext *
pfs_memory_add_context(PfsAllocator kind, MemoryContext context, bool empty)
{
	PfsContext *c;

	if (unlikely(!pfs_contexts_have_room()))
		pfs_memory_drop_spares();
	c = pfs_context_add(context);
	if (unlikely(c == NULL))
	{
		pfs_memory_lose_chunk();
		return NULL;
	}
	if (!empty)
		c->counted = PFS_COUNTED_NONE;
	c->kind = kind;
	c->on = false;
	c->epoch = pfs_memory_here.epoch - 1;
	c->way = PFS_WAY_OTHER;
	c->methods = pfs_memory_probe.ways[kind][PFS_WAY_OTHER];
	/* Another library's methods, which have led here, stay. */
	if (context->methods == KIND(kind)->table)
		context->methods = &c->methods;
	return c;
}

/* ---- other libraries ---- */

void
pfs_memory_note_others(void)
{
	static bool noted = false;

	if (noted || !pfs_memory_has_segment())
		return;
	noted = true;
	pfs_add_relaxed(&pfs_memory->processes_replaced, 1);
}

/*
 * The copy is never given back, as the library may find it and keep its address.  What
 * the library writes to the old place from now on is not called.  Without memory for a
 * copy its methods are lost.
 */
void
pfs_memory_set_apart(PfsContext *c)
{
	MemoryContextMethods *copy = pfs_private_map(sizeof(*copy), false);

	pfs_memory_note_others();
	if (copy != NULL)
	{
		*copy = c->methods;
		c->context->methods = copy;
	}
	c->methods = pfs_memory_probe.ways[c->kind][c->way];
}

/* ---- a process begins and stops counting ---- */

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

/* Makes entries for the contexts that are there already: what they hold was not counted. */
static bool
add_all_contexts(void)
{
	for (MemoryContext context = TopMemoryContext; context != NULL; context = next_context(context))
	{
		int			kind = kind_of(context);

		if (kind >= 0 && pfs_memory_add_context(kind, context, pfs_memory_is_fresh(kind, context)) == NULL)
			return false;
	}
	return true;
}

/*
 * Gives a context its kind's methods back, unless it has those of another library: then
 * it returns false, and as the library may have kept the address of ours, the server's
 * methods are written there.
 */
static bool
leave(PfsContext *c)
{
	const PfsMethods *methods = KIND(c->kind);
	const MemoryContextMethods *ours = &pfs_memory_probe.ways[c->kind][c->way];
	bool		same = pfs_methods_are(&c->methods, ours);

	if (same && c->context->methods == &c->methods)
	{
		c->context->methods = methods->table;
		return true;
	}
	pfs_memory_note_others();
	(void) pfs_methods_exchange(&c->methods, ours, &methods->original);
	return false;
}

static int
write_table(PfsAllocator kind, const MemoryContextMethods *from, const MemoryContextMethods *to)
{
	bool		others;
	int			err;

	if (KIND(kind)->table == NULL)
		return 0;
	err = pfs_methods_write(KIND(kind), from, to, &others);
	if (err == 0 && others)
		pfs_memory_note_others();
	return err;
}

/* Stops counting: all contexts and tables get the server's methods back. */
static void
stop(void)
{
	bool		keep = false;

	pfs_memory_drop_spares();
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
		keep |= !leave(c);
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
		(void) write_table(kind, &pfs_memory_probe.table[kind], &KIND(kind)->original);
	pfs_memory_here.thread = pfs_memory_early_rest();
	pfs_contexts_stop(keep);
	pfs_memory_early_stop();
}

/* Are all tables as they were when the postmaster looked? */
static bool
have_own_tables(void)
{
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (KIND(kind)->table != NULL && !pfs_methods_are(KIND(kind)->table, &KIND(kind)->original))
			return false;
	}
	return true;
}

/*
 * Begins to count: makes entries for all contexts, and lets the tables lead to our
 * methods.  False: that cannot be done, and nothing has changed.
 *
 * Another session makes the record stale only when it is published; what that session
 * did before, this process sees here.  The private record is known to nobody, so its
 * switches are those of now, until its counters are handed over.
 */
static bool
start(PfsThread *t)
{
	bool		done;

	pfs_memory_make_stale(t);
	pfs_memory_here.epoch = pfs_load_acquire(&pfs_memory->epoch);
	if (!have_own_tables())
	{
		pfs_memory_note_others();
		return false;
	}
	if (!pfs_contexts_start())
		return false;
	pfs_memory_here.thread = t;
	if (pfs_memory_is_early(t))
		t->memory.contexts_at = pfs_contexts_at;
	done = add_all_contexts();
	for (PfsAllocator kind = 0; done && kind < PFS_NUM_ALLOCATORS; kind++)
		done = write_table(kind, &KIND(kind)->original, &pfs_memory_probe.table[kind]) == 0;
	if (!done)
		stop();
	return done;
}

/* start(), and if it cannot be done, never again: it would fail again. */
static bool
start_or_fail(PfsThread *t)
{
	if (t != NULL && start(t))
		return true;
	failed = true;
	pfs_add_relaxed(&pfs_memory->processes_lost, 1);
	return false;
}

/* Hands what was counted before the thread had its account over to its record. */
static void
hand_over(PfsThread *t)
{
	PfsThread  *early = pfs_memory_here.thread;

	pfs_seqlock_write_begin(&early->memory.seq);
	pfs_seqlock_write_begin(&t->memory.seq);
	pfs_memory_early_hand_over(t);
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
	{
		if (c->cell != NULL)
			c->cell = pfs_memory_cell(t, c->cell - pfs_memory_cell(early, 0));
	}
	pfs_memory_here.thread = t;
	pfs_seqlock_write_end(&t->memory.seq);
	pfs_seqlock_write_end(&early->memory.seq);
	pfs_memory_early_stop();
	pfs_memory_make_stale(t);
	pfs_memory_look(t);
}

/*
 * Begins to count, goes on, or stops, as the switches say, when record asks for it; true:
 * the process counts.  In a record it does so only when it is known for whom.  What has been
 * counted goes on being counted until none of it is left.
 */
static bool
switch_cb(PfsThread *t, bool wanted)
{
	bool		counts = pfs_contexts_at != PFS_NO_CONTEXTS;

	if (!t->memory.has_levels)
		return counts;
	if (counts && pfs_memory_is_early(pfs_memory_here.thread) && pfs_load_relaxed(&t->mask) != 0)
	{
		hand_over(t);
		pfs_store_relaxed(&t->memory.is_counted, true);
	}
	if (pfs_memory_here.thread != t)
	{
		if (counts)
			stop();
		if (!wanted || failed || CritSectionCount > 0 || pfs_load_relaxed(&t->mask) == 0 || !start_or_fail(t))
			return false;
		pfs_store_relaxed(&t->memory.is_counted, true);
		return true;
	}
	if (wanted || t->memory.in_use > 0)
		return true;
	stop();
	pfs_store_relaxed(&t->memory.is_counted, false);
	return false;
}

/* Stops at once, whatever is left: the record goes, or there will be none. */
static void
leave_cb(void)
{
	if (pfs_contexts_at != PFS_NO_CONTEXTS)
		stop();
}

static const PfsMemoryCallbacks callbacks = {switch_cb, leave_cb};

/* ---- a process is born ---- */

/* In the child, before it has done anything. */
static pg_noinline void
begin_early(void)
{
	int			save_errno = errno;

	if (!IsUnderPostmaster && pfs_memory_callbacks != NULL)
	{
		pfs_memory_is_counted = start_or_fail(pfs_memory_early_start());
		if (!pfs_memory_is_counted)
			pfs_memory_early_stop();
	}
	errno = save_errno;
}

/* The server calls it in one place, for each process that the postmaster makes. */
static pid_t
wrap_fork(void)
{
	pid_t		pid = pfs_real.fork();

	if (pid == 0 && pfs_memory_has_segment() && pfs_load_relaxed(&pfs_words->memory_wanted))
		begin_early();
	return pid;
}

const PfsGotPatch pfs_memory_calls[] = {
	PFS_CALL("fork", fork, PFS_MEMORY_PREFIX "%"),
	{NULL},
};

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

/* Reports the method table of one kind of context as a row of pfs.probes; why_not NULL: it can be used. */
static void
report(PfsAllocator kind, const char *why_not)
{
	/* What this version does not have is not missing. */
	if (kind == PFS_BUMP && !PFS_HAVE_BUMP)
		return;
	pfs_prove_report("", "method_table", kind_names[kind], why_not);
}

/*
 * Finds the method tables of all kinds and proves that they are what they seem, in the
 * postmaster; hands record the callbacks if memory can be counted.
 */
void
pfs_instr_memory_start(void)
{
	const char *why_not = pfs_methods_find(pfs_memory_probe.kinds);

	if (why_not == NULL)
		why_not = pfs_methods_prove(pfs_memory_probe.kinds);
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
		report(kind, why_not);
	if (why_not != NULL)
	{
		ereport(LOG,
				(errmsg("pfs: memory instruments are unavailable: %s", why_not)));
		return;
	}
	pfs_methods_note_constants();
	pfs_memory_here.thread = pfs_memory_early_rest();
	pfs_memory_methods_start(have_sets_headers());
	pfs_memory_callbacks = &callbacks;
}
