/*
 * pfs_statement_read.c
 *	  What readers of stages, statements and transactions need besides the readers of all
 *	  events: the work of a progress stage, what a running statement does not have yet, the
 *	  ID that a running transaction has got.
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

void
pfs_stage_event_running(const PfsThread *thread, PfsEvent *copy, PfsPatience *patience)
{
	read_work(thread->status, thread->pid, thread->thread_id, (PfsStageEvent *) copy, patience);
}

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
