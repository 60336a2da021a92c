/*
 * pfs_process.c
 *	  What a process does about its thread record as a whole: the functions that the folder
 *	  above hands down, and the repair of what an error has left undone in the middle of a
 *	  write section.
 *
 * A process makes words odd, or counts itself in, when it begins to change what
 * others read, and takes that back some instructions later.  Nothing in between raises
 * an error, calls the server or waits.  Should an error nevertheless have left such a
 * place, nobody could read the thread any more, and its own events would all pass by,
 * as those of a handler that came in the middle.  The process itself finds out: where
 * it waits on a latch it is in the main line and outside of every write section.  Words
 * of a process that has gone need no repair: it either came through detach(), which
 * repairs first, or it was killed, and shared memory is made anew.  What an index or a
 * page of a container was in the middle of stays so: a key that cannot be entered again, a
 * page that is not used.  Only a handler that ends its process at once can do that.
 */
#include "postgres.h"

#include "pfs_event_open.h"
#include "pfs_part.h"
#include "pfs_patience.h"
#include "pfs_process.h"

PFS_FIXED PfsProcessCallbacks pfs_process;

uint64
pfs_repair_others(void)
{
	uint64		repaired = 0;

	pfs_each_part_with(part, repair)
		repaired += part->repair();
	return repaired;
}

/*
 * Makes words even that an error has left odd, and takes back what the process has
 * counted itself in for: otherwise nobody could read the thread, and its own events
 * would all pass by.  Only where the process is outside of every write section, as
 * said above: a latch wait, or the session when it waits for its client.  What is
 * repaired is counted in pfs_sequence_words_repaired.  A running wait whose call an
 * error has cut off is dropped without a history entry.
 */
void
pfs_thread_repair(PfsThread *t)
{
	uint64		repaired = pfs_repair_others();
	PfsEvents  *waits = &t->events[PFS_WAITS];

	pfs_local.slow &= ~PFS_SLOW_REPAIR;
	repaired += pfs_seqlock_repair(&t->moves);
	repaired += pfs_seqlock_repair(&t->memory.seq);
	if (pfs_local.beginning != 0 || (t->seq.word & 1) != 0)
	{
		/*
		 * Inside the write section that was never ended, or in one of our
		 * own.
		 */
		if ((t->seq.word & 1) == 0)
			pfs_write_begin(t);

		/*
		 * Waits that were begun are not waited for any more, but for those
		 * that outlive their call (pfs_open_waits).
		 */
		pfs_local.beginning = 0;
		pfs_wait_leave_place(t);
		if (waits->depth > pfs_open_waits.n + (pfs_local.idle != NULL))
			pfs_store_release(&waits->depth, pfs_open_waits.n + (pfs_local.idle != NULL));
		pfs_write_end(t);
		repaired++;
	}
	if (repaired > 0)
		pfs_add_relaxed(&pfs_patience->repaired, repaired);
}
