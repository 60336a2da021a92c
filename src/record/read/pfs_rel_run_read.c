/*
 * pfs_rel_run_read.c
 *	  Runs of work on tables that are going on, for readers of running waits: with the rows
 *	  that they have come to.
 */
#include "postgres.h"

#include "pfs_event_read.h"
#include "pfs_rel_run.h"

/* Makes a stable copy of a run; false if there is none in this place, or the patience has run out. */
static bool
copy_run(const PfsThread *t, const PfsRelRuns *runs, int place, PfsRelRun *copy, PfsPatience *patience)
{
	pfs_patience_next(patience);
	do
	{
		uint64		before = pfs_seqlock_read_begin(&t->seq);

		if ((pfs_load_acquire(&runs->shown) & (UINT64_C(1) << place)) == 0) /* C */
			return false;
		pfs_racy_copy(copy, &runs->items[place], sizeof(*copy));
		if (pfs_seqlock_read_valid(&t->seq, before))
			return true;
	} while (pfs_patience_more(patience));
	return false;
}

/* Hands on the runs of a thread, in the order of their places. */
void
pfs_rel_runs_current(const PfsThread *thread, uint64 word, PfsPatience *patience, PfsEventTake take, void *arg)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, thread->index);
	const PfsRelRuns *runs = pfs_thread_sets_get(&pfs_rel_run_sets, thread->index);

	for (int place = 0; runs != NULL && place < PFS_REL_RUNS; place++)
	{
		PfsRelRun	run;
		PfsWaitEvent event;

		if (!copy_run(t, runs, place, &run, patience) || (run.wait.flags & PFS_FLAG_CURRENT) == 0)
			continue;
		/* Otherwise the record belongs to another thread by now. */
		if (pfs_pages_word(pfs_threads, thread->index) != word)
			return;
		pfs_wait_event_unpack(&run.wait, (PfsEvent *) &event);
		event.thread_id = thread->thread_id;
		event.role = thread->foreground ? thread->role : InvalidOid;
		event.number_of_bytes = (int64) pfs_rel_run_rows(&run);
		take((PfsEvent *) &event, true, arg);
	}
}
