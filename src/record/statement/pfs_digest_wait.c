/*
 * pfs_digest_wait.c
 *	  Waits by digest: the process's own table, and which digest it is emptied to.
 *
 * Separate from pfs_digest.c, as the table is process-local: only emptying it touches a
 * digest.
 */
#include "postgres.h"

#include "pfs_digest_count.h"
#include "pfs_digest_rows.h"
#include "pfs_digest_wait.h"
#include "pfs_departed.h"
#include "pfs_node_area.h"
#include "pfs_plain_state.h"

PFS_HOT_FIRST uint64 pfs_digest_charged;

static PFS_HOT bool working;	/* a parallel worker, for its leader's */
static uint32 hint;

/* No statement's, or that of the one at top level, which knows its own. */
static const PfsDigestKey nobody = {0, 0};

static inline PfsDigestWait *
take_first(void)
{
	PfsDigestWait *w = &pfs_my_thread->digest_waits[__builtin_ctzll(pfs_local.waits_used)];

	pfs_local.waits_used &= pfs_local.waits_used - 1;
	return w;
}

/* Empties an entry, whose waits are counted elsewhere from now on, or nowhere. */
static inline void
hand_over(PfsDigestWait *w)
{
	pfs_digest_wait_hand_over(PFS_DIGEST_WAIT_INSTRUMENT(w->key), &w->counts);
	pfs_digest_wait_clear(w);
}

/*
 * Returns the cell of an instrument: the digest's, made if need be, or where there is no room for one, or the waits are all
 * others', that of all others; NULL: these have none either.
 */
static PfsSharedCell *
cell_of(PfsPinnedDigest *pinned, PfsInstrumentId instrument)
{
	PfsChained *cell = NULL;

	if (likely(pinned != NULL))
		cell = pfs_chain_get(pfs_digest_waits, &pinned->digest->waits, instrument, &hint);
	if (likely(cell != NULL))
		return &cell->cell;
	if (instrument >= pfs_digest_other_waits.ncells)
		return NULL;
	return pfs_shared_block_touch(&pfs_digest_other_waits, instrument);
}

/* Adds waits; those of an instrument for which all others have no cell either are dropped. */
void
pfs_digest_wait_put(PfsPinnedDigest *pinned, PfsInstrumentId instrument, const PfsCounts *waits)
{
	PfsSharedCell *cell = cell_of(pinned, instrument);

	if (likely(cell != NULL))
		pfs_shared_cell_add_counts(cell, waits);
}

/*
 * Empties the process's table of waits into a digest that the caller has pinned, or,
 * with NULL, into the waits of all others.
 */
static void
flush_waits(PfsPinnedDigest *pinned)
{
	while (pfs_local.waits_used != 0)
	{
		PfsDigestWait *w = take_first();

		pfs_digest_wait_put(pinned, PFS_DIGEST_WAIT_INSTRUMENT(w->key), &w->counts);
		hand_over(w);
	}
}

void
pfs_digest_waits_flush_to(const PfsDigestKey *key, bool make)
{
	PfsPinnedDigest *pinned = pfs_digest_is_key(key) ? pfs_digest_enter(key, make) : NULL;

	flush_waits(pinned);
	pfs_digest_leave(pinned);
}

static inline PfsDigestKey
key_of(const PfsStatement *s)
{
	return pfs_digest_key(s->database, s->user, s->query_id);
}

/* The same of a plain statement; query_id 0: it is not known yet. */
static PfsDigestKey
key_of_plain(void)
{
	const PfsStoredStatement *e = pfs_plain.open.event;
	const PfsStatementEvent *slot;

	if (pfs_plain.state == PFS_PLAIN_ARRIVED)
		return nobody;
	if (e != NULL)
		return pfs_digest_key(e->database, e->user, e->query_id);
	slot = (const PfsStatementEvent *) pfs_event_slot(&pfs_my_thread->events[PFS_STATEMENTS], pfs_plain.depth);
	return pfs_digest_key(slot->database, slot->user, slot->query_id);
}

/*
 * Returns the key that the waits in the table belong to; query_id 0: nobody's.  That of
 * the statement at top level is taken from the statement itself, as its query
 * identifier is learned only while it runs.
 */
static PfsDigestKey
key_now(void)
{
	if (pfs_plain.state != PFS_PLAIN_NONE && !working)
		return key_of_plain();
	if (pfs_sql.top.statement_id != pfs_digest_charged || working)
		return pfs_my_thread->charged;
	return key_of(&pfs_sql.top);
}

/*
 * Tells which statement a run that begins is charged to, and whether that is not its own: then another
 * one may be charged while it goes on.
 */
PfsDigestCharged
pfs_digest_charged_now(bool *rides)
{
	PfsDigestCharged now = {working ? PFS_DIGEST_OF_LEADER : pfs_digest_charged, key_now()};
	const PfsStatement *own = pfs_sql.current;

	*rides = own != NULL && own->query_id == 0 && own != &pfs_sql.top;
	return now;
}

/* Adds the waits to the nodes that have waited, too. */
static void
add_to_nodes(void)
{
	for (uint64 used = pfs_local.waits_used; used != 0; used &= used - 1)
	{
		const PfsDigestWait *w = &pfs_my_thread->digest_waits[__builtin_ctzll(used)];
		PfsTotals	waits = pfs_counts_totals(&w->counts);
		uint32		node;
		const PfsMeasured *query = pfs_node_waited(PFS_DIGEST_WAIT_NODE(w->key), pfs_digest_charged, waits.sum, &node);

		if (query != NULL)
			pfs_plan_add_waits(&query->key, query->plan_id, node, PFS_DIGEST_WAIT_INSTRUMENT(w->key), &waits);
	}
}

/*
 * Empties the table before its statement has ended: another one becomes the innermost,
 * all places are taken, or the process ends.  Parallel workers can be late: they add to
 * a digest that is there, but make none.  Waits of a statement without a query identifier are all
 * others'; what is nobody's is dropped.
 */
void
pfs_digest_waits_flush_all(void)
{
	PfsDigestKey key;

	if (pfs_local.waits_used == 0)
		return;
	if (unlikely(pfs_node_area != NULL))
		add_to_nodes();
	key = key_now();
	if (key.query_id != 0)
		pfs_digest_waits_flush_to(&key, !working);
	else if (key.db_user != 0)
		flush_waits(NULL);
	while (pfs_local.waits_used != 0)
		hand_over(take_first());
}

/* The innermost statement with a digest, of those around the present call. */
static const PfsStatement *
innermost(void)
{
	const PfsStatement *s = pfs_sql.current;

	while (s != NULL && s != &pfs_sql.top && (s->query_id == 0 || (s->flags & PFS_FLAG_DIGEST) == 0))
		s = s->outer;
	if (s == NULL && pfs_sql.top_open)
		s = &pfs_sql.top;
	return s != NULL && (s->flags & PFS_FLAG_DIGEST) != 0 ? s : NULL;
}

/* The process's waits belong to this statement from now on; NULL: to none. */
static inline void
charge_to(const PfsStatement *s)
{
	pfs_digest_charged = s != NULL ? s->statement_id : 0;
	pfs_digest_set_charged(pfs_my_thread, s != NULL && s != &pfs_sql.top ? key_of(s) : nobody);
	pfs_local.waits = s != NULL ? pfs_my_thread->digest_waits : NULL;
}

/* The same where there have been some, or runs on tables, which go to the digest of the one before. */
static pg_noinline void
flush_and_charge_to(const PfsStatement *s)
{
	pfs_digest_waits_flush_all();
	if (pfs_rel_local.riding != 0)
		pfs_rel_runs_flush_riding();
	charge_to(s);
}

/*
 * Finds out which statement the process's waits belong to from now on: the slow path of
 * pfs_digest_charge(), which is called wherever the parent of waits changes.  If it is
 * another one than before, the waits so far go to the digest of that one.  Parallel
 * workers stay with the statement of their leader.
 */
void
pfs_digest_charge_now(void)
{
	const PfsStatement *s = innermost();

	if ((s != NULL ? s->statement_id : 0) == pfs_digest_charged || working)
		return;
	if (likely(pfs_local.waits_used == 0 && pfs_rel_local.riding == 0))
		charge_to(s);
	else
		flush_and_charge_to(s);
}

/*
 * Notes that the innermost statement has ended.  The next pfs_digest_charge() finds the
 * one that is innermost then.
 */
static inline void
end_charge(void)
{
	pfs_digest_charged = 0;
	pfs_local.waits = NULL;
	/* A nested statement that ends with an error leaves its key behind. */
	if (unlikely(pfs_my_thread->charged.query_id != 0) && !working)
		pfs_digest_set_charged(pfs_my_thread, nobody);
}

/*
 * The statement at top level turns out to be none, or not to be collected: what it has waited for so
 * far is outside of statements, so it is not passed on.
 */
void
pfs_digest_forget_top(void)
{
	if (pfs_digest_charged != pfs_sql.top.statement_id || working)
		return;
	while (pfs_local.waits_used != 0)
		pfs_digest_wait_clear(take_first());
	end_charge();
}

/*
 * Adds the planning of a statement that was planned and is not executed to its digest.
 * The statement itself is not counted.
 */
void
pfs_digest_end_planned(const PfsStatement *s)
{
	PfsDigestKey key = key_of(s);
	PfsPinnedDigest *pinned;
	PfsDigest  *d;

	if ((s->flags & PFS_FLAG_DIGEST) == 0 || s->n[PFS_N_PLAN_TIME] == 0)
		return;
	pinned = key.query_id != 0 ? pfs_digest_enter(&key, true) : NULL;
	d = pinned != NULL ? pinned->digest : &pfs_digests.shared->others;
	pfs_shared_sum_add(&d->counters.low[PFS_N_PLAN_TIME], &d->counters.high[PFS_N_PLAN_TIME], s->n[PFS_N_PLAN_TIME]);
	pfs_digest_leave(pinned);
}

/*
 * Adds time to that of a statement's digest, beside what its statements took: ticks of the
 * timer in its flags.  See PfsDigest.extra.
 */
static void
add_time(const PfsStatement *s, uint64 ticks, uint64 statements)
{
	uint64		of_default = (s->flags & PFS_FLAG_TIMED) ? pfs_ticks_of_default(PFS_FLAGS_TIMER(s->flags), ticks) : 0;

	pfs_pending_digests_add_time(key_of(s), of_default, statements);
}

/* The nearest statement around a nested one whose time is counted for a digest; NULL: none. */
static const PfsStatement *
counted_outer(const PfsStatement *s)
{
	do
		s = s->outer;
	while (s != NULL && (s->flags & (PFS_FLAG_DIGEST | PFS_FLAG_TIMED)) != (PFS_FLAG_DIGEST | PFS_FLAG_TIMED));
	return s;
}

/*
 * Takes the time of a nested statement that ends off the digest of the one around it.  One
 * that has left the statement in which it began was taken off then; what comes
 * behind, where other statements run, is nobody's time.
 */
static void
take_off_outer(const PfsStatement *s, uint64 ticks)
{
	const PfsStatement *from = s->left ? s : counted_outer(s);

	if ((s->flags & PFS_FLAG_TIMED) != 0 && from != NULL)
		pfs_pending_digests_add_time(key_of(from), -(int64) pfs_ticks_of_default(PFS_FLAGS_TIMER(s->flags), ticks), 0);
}

/*
 * A nested statement is about to leave the one around it, which ends: its time so far is
 * its own and not the outer one's, as if it ended now.
 */
void
pfs_digest_leave_outer(const PfsStatement *s, PfsTimestamp now)
{
	uint64		at = pfs_timestamp_of(s->flags, now);

	if ((s->flags & (PFS_FLAG_DIGEST | PFS_FLAG_TIMED)) != (PFS_FLAG_DIGEST | PFS_FLAG_TIMED) || at <= s->start || s->left)
		return;
	take_off_outer(s, at - s->start);
	add_time(s, at - s->start, 0);
}

/*
 * Adds a statement that ends to its digest, together with the table of waits if it is
 * the one that they were collected for.  Without a query identifier it counts for all
 * others.  One that was only parsed, bound or planned is no
 * execution: its waits and its planning are added, but it is not counted.  An error
 * makes it count in any phase.  Returns whether the thread's totals have it by that.
 */
bool
pfs_digest_end_statement(const PfsStatement *s, const PfsStatementEvent *e, uint64 end)
{
	bool		is_innermost = s->statement_id == pfs_digest_charged;
	bool		is_counted = false;

	if (unlikely(pfs_rel_local.riding != 0) && is_innermost)
		pfs_rel_runs_flush_riding();
	if (unlikely(s != &pfs_sql.top))
		take_off_outer(s, end - s->start);
	if (unlikely(s->phase != PFS_PHASE_EXECUTION && s->n[PFS_N_ERRORS] == 0))
	{
		if (is_innermost)
			pfs_digest_waits_flush_all();
		add_time(s, end - s->start, s->query_id == 0);
		pfs_digest_end_planned(s);
	}
	else
		is_counted = pfs_digest_count(s, e, end, is_innermost);
	if (likely(is_innermost))
		end_charge();
	/* Rows that its runs and others' have left. */
	if (unlikely(pfs_digest_rows_used != 0))
		pfs_digest_rows_flush(s->statement_id);
	return is_counted;
}

/* ---- parallel workers ---- */

/* The digest that this process collects waits for, and workers that it starts now. */
PfsDigestKey
pfs_digest_of_workers(void)
{
	return pfs_digest_charged != 0 ? key_now() : nobody;
}

/*
 * A parallel worker begins to collect waits for the leader's statement; whose they are is
 * known later, by pfs_digest_work_for().
 */
static void
attach(PfsThread *t)
{
	if (!pfs_thread_is_parallel_worker() ||
		(pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STATEMENT]) & PFS_FLAG_DIGEST) == 0)
		return;
	working = true;
	pfs_store_relaxed(&t->works_since, pfs_timer_read(pfs_timer_default()));
	pfs_local.waits = t->digest_waits;
}

/* A parallel worker knows which digest its waits belong to. */
void
pfs_digest_work_for(PfsDigestKey key)
{
	if (working)
		pfs_digest_set_charged(pfs_my_thread, key);
}

/*
 * Empties the table when the process ends, so that waits of a parallel worker reach the
 * digest of its leader's statement; then the places: its thread's totals go soon, and who gets the places next is
 * another thread.
 */
static void
detach(PfsThread *t)
{
	pfs_local.waits = NULL;
	pfs_digest_waits_flush_all();
	pfs_digest_rows_flush(PFS_ALL_STATEMENTS);
	if (working)
	{
		uint64		now = pfs_timer_read(pfs_timer_default());

		/* Processors may not quite agree on the time. */
		if (now > t->works_since)
			pfs_pending_digests_add_time(t->charged, now - t->works_since, 0);
	}
	pfs_store_relaxed(&t->works_since, 0);
	end_charge();
	working = false;
	pfs_pending_leave(t, PFS_COUNTED_DIGESTS);
}

const PfsPart pfs_part_digests = {
	.name = "digests",
	.size = sizeof(*pfs_shared_digests),
	.address = (void **) &pfs_shared_digests,
	.lay_out = pfs_digests_lay_out,
	.attach = attach,
	.detach = detach,
	.repair = pfs_pending_digests_repair,
	.pages = &pfs_digests.pages,
	.beside = pfs_digests_extra_size,
	.sets = &pfs_pending_sets[PFS_COUNTED_DIGESTS],
};
