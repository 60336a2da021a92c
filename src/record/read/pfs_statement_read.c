/*
 * pfs_statement_read.c
 *	  What readers of stages, statements and transactions need besides the readers of all
 *	  events: the stages of a run, the work of a progress stage, what a running statement
 *	  does not have yet, the ID that a running transaction has got.
 *
 * Separate from the owner's side in ../statement, as this retries and may allocate.
 */
#include "postgres.h"

#include "access/transam.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/backend_status.h"

#include "pfs_event_read.h"
#include "pfs_progress.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_stage.h"

void
pfs_statement_event_complete(PfsEvent *event, bool running)
{
	PfsStatementEvent *s = (PfsStatementEvent *) event;

	if (!running)
		return;
	s->sqlstate = 0;
	s->message_len = 0;
	s->counts &= ~PFS_COUNTS_MEMORY;
	memset(s->n, 0, sizeof(s->n));
}

/* ---- stages ---- */

/*
 * The work of the progress stages that this session has seen last.  The server says of a scan that is at
 * its first block what it says of one that has read all; a stage that was seen at work is not at its
 * first block.
 */
typedef struct SeenWork
{
	uint64		thread_id;
	uint64		event_id;
	int64		completed;
} SeenWork;

#define SEEN_WORK 64

static SeenWork seen_work[SEEN_WORK];

/*
 * Brings a copy's work up to date with the parameters of its command, which outlive it: over.
 */
static void
update_work(uint64 thread_id, PfsStageEvent *e, const int64 *params, bool over)
{
	SeenWork   *seen = &seen_work[(thread_id + e->event_id) % SEEN_WORK];

	if (seen->thread_id == thread_id && seen->event_id == e->event_id)
		e->work_completed = Max(e->work_completed, seen->completed);
	if (!pfs_progress_work(e->instrument, pfs_progress_phase(e->progress, params), params, over,
						   &e->work_completed, &e->work_estimated))
		pfs_progress_complete(&e->work_completed, &e->work_estimated);
	*seen = (SeenWork)
	{
		thread_id, e->event_id, e->work_completed
	};
}

/*
 * Completes a reader's copy of a running progress stage: its work, from its process's
 * status entry, if that is still in the same command, or that has just ended.  pid: of the
 * process that had the stage, as the entry may have another one by now.
 */
static void
read_work(const PgBackendStatus *entry, int pid, uint64 thread_id, PfsStageEvent *e, PfsPatience *patience)
{
	volatile const PgBackendStatus *shared = entry;
	int64		params[PGSTAT_NUM_PROGRESS_PARAM];
	bool		is_its;
	int			command;
	int			before;
	int			after;

	if (entry == NULL || e->progress == 0)
		return;
	pfs_patience_next(patience);
	do
	{
		pgstat_begin_read_activity(shared, before);
		is_its = shared->st_procpid == pid;
		command = shared->st_progress_command;
		memcpy(params, entry->st_progress_param, sizeof(params));
		pgstat_end_read_activity(shared, after);
		if (!pgstat_read_activity_complete(before, after))
			continue;
		if (is_its && (command == e->progress || command == PROGRESS_COMMAND_INVALID))
			update_work(thread_id, e, params, command == PROGRESS_COMMAND_INVALID);
		return;
	} while (pfs_patience_more(patience));
}

/*
 * Makes the event of a run's i-th stage, for readers, from a copy of the run.  It
 * begins at its mark and ends where the next one begins; the last stage ends with the
 * run, or not yet (`running`).  Only the last one keeps the work of the run's fields.
 * Ends are never before begins, also when the clock went back between processors.
 */
static void
stage_of_run(const PfsStageRun *run, uint32 i, bool running, PfsStageEvent *e)
{
	const PfsStageMark *next = i < run->first.more ? &run->marks[i] : NULL;

	*e = run->first;
	if (i > 0)
	{
		const PfsStageMark *mark = &run->marks[i - 1];

		e->timer_start = Max(mark->at, run->first.timer_start);
		e->event_id = pfs_stage_mark_event_id(mark);
		e->instrument = pfs_stage_mark_instrument(mark);
	}
	if (next != NULL)
	{
		e->timer_end = Max(next->at, e->timer_start);
		e->end_event_id = pfs_stage_mark_event_id(next) - 1;
		e->work_completed = e->work_estimated = -1;
		e->progress = 0;
	}
	else if (running)
		e->timer_end = e->end_event_id = 0;
	else
		e->timer_end = Max(e->timer_end, e->timer_start);
	e->more = e->hidden = e->hidden_long = 0;
}

/*
 * Copies a run that goes on.  It gets marks without a write section: those that `more`
 * says are complete (A, pairs with pfs_stage_mark()).
 */
static void
copy_run(const void *slot, PfsEvent *copy)
{
	uint8		more = pfs_load_acquire(&((const PfsStageRun *) slot)->first.more); /* A */

	pfs_racy_copy(copy, slot, pfs_sizes.event_size[PFS_STAGES]);
	((PfsStageRun *) copy)->first.more = Min(more, PFS_STAGE_MARKS);
}

static void
take_running_stage(const PfsThread *thread, const PfsEvent *copy, PfsPatience *patience, PfsEventTake take, void *arg)
{
	const PfsStageRun *run = (const PfsStageRun *) copy;
	PfsStageEvent stage;

	stage_of_run(run, run->first.more, true, &stage);
	read_work(thread->status, thread->pid, thread->thread_id, &stage, patience);
	take((PfsEvent *) &stage, true, arg);
}

/* Hands on the finished stages of a run, as pfs_stage_slots promises it. */
static void
take_finished_stages(const PfsEvent *copy, const PfsThread *running, bool history_long, PfsEventTake take, void *arg)
{
	const PfsStageRun *run = (const PfsStageRun *) copy;
	uint32		hidden = history_long ? run->first.hidden_long : run->first.hidden;

	if (running != NULL)
		hidden = pfs_stages_hidden(run, history_long ? running->stages_hidden_long : running->stages_hidden,
								   running->last_event_id);
	for (uint32 i = run->first.more + (running != NULL ? 0 : 1); i > hidden; i--)
	{
		PfsStageEvent stage;

		stage_of_run(run, i - 1, false, &stage);
		take((PfsEvent *) &stage, false, arg);
	}
}

const PfsEventSlots pfs_stage_slots = {
	.copy = copy_run,
	.take_running = take_running_stage,
	.take_finished = take_finished_stages,
};

/* ---- transactions ---- */

/*
 * Gives the copy of a running transaction the lower half of its ID, which the process's PGPROC has,
 * as the server calls no hook when it assigns one; 0 while it has none.  The process gives the ID up
 * before the callback that ends the event: of an event that runs behind this, the ID is its own.
 */
void
pfs_transaction_event_look(const PfsThread *thread, PfsEvent *copy)
{
	PfsTransactionEvent *e = (PfsTransactionEvent *) copy;
	const volatile PGPROC *proc = GetPGProcByNumber(pfs_load_relaxed(&thread->procno));

	if (e->state == PFS_TRANSACTION_ACTIVE)
		e->trx_id = proc->pid == e->pid ? proc->xid : InvalidTransactionId;
}

/* The upper half of a running transaction's ID is that of the next one, or the one before it. */
void
pfs_transaction_event_complete(PfsEvent *event, bool running)
{
	PfsTransactionEvent *e = (PfsTransactionEvent *) event;
	TransactionId xid = (TransactionId) e->trx_id;
	FullTransactionId next;
	uint32		epoch;

	if (!running || e->state != PFS_TRANSACTION_ACTIVE || !TransactionIdIsNormal(xid))
		return;
	next = ReadNextFullTransactionId();
	epoch = EpochFromFullTransactionId(next);
	if (xid > XidFromFullTransactionId(next))
		epoch--;
	e->trx_id = U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, xid));
}
