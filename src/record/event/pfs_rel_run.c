/*
 * pfs_rel_run.c
 *	  Runs of work on tables: their places, and their events.
 *
 * Readers.  The owner fills in a place, and then raises its bit in `shown` (C, as the depth
 * of running waits); it is filled in again only behind a write section, in which the
 * bit was taken back.  So a reader that finds the bit, copies, and sees the thread's
 * sequence word unchanged has a copy of one run.  The numbers that a run counts are
 * single words, which change outside of write sections.
 */
#include "postgres.h"

#include "access/xact.h"

#include "pfs_event_open.h"
#include "pfs_shared.h"
#include "pfs_rel_run.h"
#include "pfs_wait_class.h"

PFS_HOT_STRUCT PfsRelLocal pfs_rel_local;
PfsRelRun	pfs_rel_run_of_nobody = {.is_shown = true};
PfsThreadSets pfs_rel_run_sets;
PFS_FIXED PfsRelStats pfs_rel_stats[PFS_NUM_REL_STAT_KINDS];

StaticAssertDecl(PFS_REL_RUNS == 64, "a word says which are in use");

/* The place that is looked at next for a run that can be evicted. */
static uint32 next_victim = 0;

/* ---- places ---- */

void
pfs_rel_runs_lay_out(PfsSegment *seg)
{
	if (pfs_sizes.tables > 0)
		pfs_thread_sets_lay_out(&pfs_rel_run_sets, seg, sizeof(PfsRelRuns));
}

/* Takes the places that belong to the thread's record, at its first run. */
bool
pfs_rel_runs_claim(PfsThread *t)
{
	if (unlikely(pfs_rel_local.runs == NULL))
	{
		pfs_rel_local.runs = pfs_thread_sets_claim(&pfs_rel_run_sets, t);
		if (pfs_rel_local.runs == NULL)
			return false;
		/* The last process that had the record may have been cut off. */
		pfs_store_relaxed(&pfs_rel_local.runs->shown, 0);

		/*
		 * No other process's serials: a link may outlive our hold of the
		 * places.
		 */
		pfs_rel_local.last_serial = t->thread_id << 32;
	}
	return pfs_rel_local.runs != NULL;
}

void
pfs_rel_runs_detach(PfsThread *t)
{
	if (pfs_rel_local.runs != NULL)
		pfs_store_relaxed(&pfs_rel_local.runs->shown, 0);
	pfs_rel_local.runs = NULL;
	pfs_rel_local.open = pfs_rel_local.writing = pfs_rel_local.riding = 0;
}

/* Takes a free place and empties it; the event in it is the caller's to fill in. */
PfsRelRun *
pfs_rel_run_claim(void)
{
	PfsRelRun  *run;
	uint32		place;

	if (pfs_rel_local.open == PG_UINT64_MAX)
		return NULL;
	place = __builtin_ctzll(~pfs_rel_local.open);
	pfs_rel_local.open |= UINT64_C(1) << place;
	run = &pfs_rel_local.runs->items[place];
	run->serial = ++pfs_rel_local.last_serial;
	pfs_counts_clear(&run->rows);
	pfs_counts_clear(&run->index_rows);
	run->held = run->examined = 0;
	run->server_rows = NULL;
	run->subxact = GetCurrentTransactionNestLevel();
	run->is_shown = run->is_write = run->examines = run->by_index = false;
	run->in_call = run->found = false;
	return run;
}

/*
 * Returns a run that can be evicted, when all places are taken: the next one in turn that is not
 * in the middle of a call, as that will write there when it returns.
 */
PfsRelRun *
pfs_rel_run_victim(void)
{
	for (int i = 0; i < PFS_REL_RUNS; i++)
	{
		PfsRelRun  *run = &pfs_rel_local.runs->items[next_victim++ % PFS_REL_RUNS];

		if (!run->in_call)
			return run;
	}
	return NULL;
}

/* ---- rows ---- */

/* Converts times that another timer has measured. */
pg_noinline PfsRowCount
pfs_rows_converted(const PfsRowCount *rows, uint32 flags)
{
	PfsTimer	timer = PFS_FLAGS_TIMER(flags);
	PfsRowCount converted = *rows;

	converted.sum = pfs_ticks_of_default(timer, rows->sum);
	if (rows->timed == 0)
		return converted;
	converted.min = pfs_ticks_of_default(timer, rows->min);
	converted.max = pfs_ticks_of_default(timer, rows->max);
	return converted;
}

/*
 * Returns the rows and times that a run has counted so far for its digest.  A run that fetches by an index counts the
 * rows that the index has found, with the times in which the table was read.  If the process does not know which index it
 * is, the run of the index itself has counted the rows, and the run of the table adds its times alone.
 */
static PfsRowCount
rows_of_digest(const PfsRelRun *run)
{
	PfsRowCount spaces[2];
	const PfsRowCount *rows = pfs_rows_by_default_timer(&run->rows, run->wait.flags, &spaces[0]);
	const PfsRowCount *found;
	PfsRowCount of_table;

	if (OidIsValid(run->wait.object.table.index) && run->wait.operation == PFS_OP_FETCH)
	{
		found = pfs_rows_by_default_timer(&run->index_rows, run->wait.flags, &spaces[1]);
		return pfs_rows_with_times(pfs_row_count(found), rows, found);
	}
	of_table = *rows;
	if (run->by_index)
		of_table.timed = of_table.untimed = 0;
	return of_table;
}

/*
 * Adds to a digest what a run has counted since the last call, if the run goes on for another statement (it rides); else
 * the run ends, and all that it has counted is added.
 */
void
pfs_rel_run_flush(PfsRelRun *run)
{
	PfsRowCount rows = rows_of_digest(run);
	bool		rides = (pfs_rel_local.riding & pfs_rel_run_bit(run)) != 0;

	if (unlikely(rides))
	{
		const PfsRowCount all = rows;
		uint64		n = pfs_row_count(&all) - pfs_row_count(&run->given);

		/* Time in which no row was found belongs to the rows that there are. */
		if (n == 0 && !run->by_index)
			return;
		rows.timed = Min(all.timed - run->given.timed, n);
		rows.untimed = n - rows.timed;
		rows.sum -= run->given.sum;
		run->given = all;
		run->charged = pfs_charge.statement_cb(&rides);
	}
	pfs_charge.rows_cb(run, &rows);
}

void
pfs_rel_runs_flush_riding(void)
{
	for (uint64 left = pfs_rel_local.riding; left != 0; left &= left - 1)
		pfs_rel_run_flush(&pfs_rel_local.runs->items[__builtin_ctzll(left)]);
}

/* ---- events ---- */

/* Does it read a table by a sequential scan? */
static inline bool
is_full_scan(const PfsRelRun *run)
{
	return run->examines && !run->by_index && !OidIsValid(run->wait.object.table.index);
}

/*
 * Gives a run its number and its begin, and shows it to readers, at its first call.  A
 * run without a call is no event.
 */
void
pfs_rel_run_show(PfsThread *t, PfsRelRun *run)
{
	PfsWait    *e = &run->wait;
	uint64		id;

	run->is_shown = true;
	if (is_full_scan(run))
		pfs_rel_local.full_scans++;
	if ((pfs_local.not_usual != 0 || t->events[PFS_WAITS].depth == PFS_EVENT_IN_PLACE) && !pfs_process.prepare_cb(t))
		e->flags &= ~(PFS_FLAG_CURRENT | PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG);
	e->flags &= pfs_load_relaxed(&t->mask) | ~(PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG);
	id = (e->flags & PFS_FLAG_CURRENT) ? ++t->last_event_id : 0;
	pfs_wait_identify(e, id, e->kind, pfs_wait_parent(t, t->events[PFS_WAITS].depth));
	e->timer_start = e->timer_end = pfs_wait_read_end(t, e->flags);
	/* C, pairs with the acquire in copy_run(). */
	if (e->event_id != 0)
		pfs_store_release(&pfs_rel_local.runs->shown, pfs_rel_local.runs->shown | pfs_rel_run_bit(run));
}

void
pfs_rel_run_drop(PfsRelRun *run)
{
	uint64		bit = pfs_rel_run_bit(run);

	if (pfs_rel_local.runs->shown & bit)
		pfs_store_relaxed(&pfs_rel_local.runs->shown, pfs_rel_local.runs->shown & ~bit);
	pfs_rel_local.open &= ~bit;
	pfs_rel_local.writing &= ~bit;
	pfs_rel_local.riding &= ~bit;
	run->serial = 0;
}

uint64
pfs_rel_calls(void)
{
	uint64		calls = 0;

	for (uint64 left = pfs_rel_local.open; left != 0; left &= left - 1)
	{
		if (pfs_rel_local.runs->items[__builtin_ctzll(left)].in_call)
			calls |= left & -left;
	}
	return calls;
}

/*
 * Ends the time of a call that an error has left, and counts the rows that the server says it has read until
 * then.  Waits belong to what pfs_rel_calls_unwind() has found.
 */
void
pfs_rel_call_broken(PfsRelRun *run)
{
	run->outer = pfs_local.parent;
	if (run->server_rows == NULL)
		run->held += pfs_rel_call_returned(run);
	else
	{
		pfs_rel_call_end(run, pfs_rel_call_rows(run));
		run->server_rows = NULL;
	}
}

/*
 * Leaves waits to what is around the calls that an error has left, which can be inside of each
 * other: the innermost one is the parent of waits now.
 */
void
pfs_rel_calls_unwind(uint64 runs)
{
	bool		found;

	do
	{
		found = false;
		for (uint64 left = runs; left != 0; left &= left - 1)
		{
			const PfsRelRun *run = &pfs_rel_local.runs->items[__builtin_ctzll(left)];

			if (!run->in_call || run->wait.event_id == 0 || run->wait.event_id != pfs_local.parent.event_id)
				continue;
			pfs_local.parent = run->outer;
			found = true;
		}
	} while (found);
}

/* Makes the event of a run, and frees its place. */
void
pfs_rel_run_end(PfsThread *t, PfsRelRun *run)
{
	PfsWait    *e = &run->wait;
	uint64		ticks = run->rows.sum + run->index_rows.sum;

	pfs_rel_run_drop(run);
	if (!run->is_shown)
		return;
	pfs_wait_set_bytes(e, (int64) pfs_rel_run_rows(run));
	e->object.table.ticks = (uint32) ticks;
	if (ticks > PG_UINT32_MAX)
	{
		e->ticks = ticks;
		pfs_wait_widen(e, PFS_WIDE_TICKS);
	}
	pfs_wait_count(t, e, ticks);
	pfs_wait_leave_place(t);
	if (e->flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG))
		pfs_history_push(t, e);
}

/*
 * Adds the rows that a run has fetched since it was looked at last.  Each statement that gets rows
 * of a sequential scan has used no index, as each FETCH of a cursor.
 */
void
pfs_rel_run_examine(PfsRelRun *run)
{
	uint64		rows = run->examines ? pfs_rel_run_rows(run) : 0;

	if (rows != run->examined && is_full_scan(run))
		pfs_rel_local.full_scans++;
	pfs_rel_local.rows_examined += rows - run->examined;
	run->examined = rows;
}

void
pfs_rel_runs_examine(void)
{
	for (uint64 left = pfs_rel_local.open; left != 0; left &= left - 1)
		pfs_rel_run_examine(&pfs_rel_local.runs->items[__builtin_ctzll(left)]);
}
