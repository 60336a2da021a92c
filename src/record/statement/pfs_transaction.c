/*
 * pfs_transaction.c
 *	  The transaction of this process.
 *
 * PostgreSQL has no callback for the begin of a transaction, so it is noticed: by a hook,
 * or in processes without statements by a wait, when the process has another
 * local transaction number than the one remembered.
 *
 * Separate from the statements, as a transaction can begin before one, end behind it, and
 * go on without any.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "nodes/parsenodes.h"

#include "pfs_compat.h"
#include "pfs_plain.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

PFS_HOT_FIRST PfsTransaction pfs_transaction;

/* Writes, inside a write section, what can change while the transaction runs. */
static void
describe(PfsTransactionEvent *e)
{
	e->isolation = PFS_IMPORT(XactIsoLevel);
	e->read_only = PFS_IMPORT(XactReadOnly);
}

/*
 * Sets anew what waits are nested in, if that is `until_now`: the transaction where it
 * ends, nothing where one begins.  Nearly always it is a stage or a statement instead.
 */
static inline void
parent_changed(PfsNesting until_now)
{
	if (pfs_local.parent.type == until_now)
		pfs_set_parent();
}

/*
 * Forgets the open transaction; its slot is ended or dropped by the caller.  Inside a
 * write section.
 */
static inline void
forget(void)
{
	pfs_transaction.event = NULL;
	pfs_transaction.event_id = 0;
	pfs_transaction.lxid = InvalidLocalTransactionId;
}

/* Inside a write section: no callback has told of the end of this one, so its event has none. */
static pg_noinline void
drop(PfsThread *t)
{
	pfs_store_relaxed(&t->events[PFS_TRANSACTIONS].depth, 0);
	forget();
	parent_changed(PFS_NESTING_TRANSACTION);
}

/* Bytes of an event in a block: without a name, and of any. */
#define STORED_SIZE TYPEALIGN(PFS_EVENT_UNIT, PFS_TRANSACTION_STORED_MIN)
#define STORED_SIZE_MAX TYPEALIGN(PFS_EVENT_UNIT, sizeof(PfsTransactionEvent) - PFS_EVENT_UNSTORED)

/*
 * Shows the event of the present transaction, whose start is a reading by the timer in flags, ENABLED among
 * them.  It lies where it is going to stay, in a block of which nobody writes more meanwhile: a thread has one
 * transaction at a time.  Without a history, or a block, it lies in its slot, and goes nowhere.  Inside a write
 * section.
 */
static pg_attribute_always_inline void
show(PfsThread *t, uint32 flags, uint64 start, PfsParent parent, bool chained)
{
	PfsEvents  *events = &t->events[PFS_TRANSACTIONS];
	char	   *room = NULL;
	PfsTransactionEvent *e;

	if (likely(flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
		room = pfs_history_room(t, PFS_TRANSACTIONS, STORED_SIZE_MAX);
	if (likely(room != NULL))
		e = (PfsTransactionEvent *) (room - PFS_EVENT_UNSTORED);
	else
		e = (PfsTransactionEvent *) pfs_event_slot(events, 0);
	e->kind = pfs_transaction_instrument | parent.type << 32 | (uint64) (STORED_SIZE / sizeof(uint64)) << 48;
	e->timer_start = start;
	e->event_id = (flags & PFS_FLAG_CURRENT) ? ++t->last_event_id : 0;
	e->nesting_event_id = parent.event_id;
	e->flags = flags;
	e->state = PFS_TRANSACTION_ACTIVE;
	e->autocommit = !chained;
	e->trx_id = 0;
	e->savepoints = e->rollbacks_to_savepoint = e->releases = 0;
	e->pid = t->pid;
	e->gid[0] = '\0';
	describe(e);
	pfs_transaction.event = e;
	pfs_transaction.event_id = e->event_id;
	pfs_store_release(&events->depth, likely(room != NULL) ? PFS_EVENT_IN_PLACE : 1);	/* C */
}

/* Ends the event at this reading, and puts it into the histories.  Inside a write section. */
static pg_attribute_always_inline void
finish(PfsThread *t, PfsTransactionEvent *e, PfsTransactionState state, uint64 end)
{
	PfsEvents  *events = &t->events[PFS_TRANSACTIONS];
	bool		is_in_place = events->depth == PFS_EVENT_IN_PLACE;

	e->state = state;
	describe(e);
	e->timer_end = end;
	e->end_event_id = t->last_event_id;
	pfs_store_relaxed(&events->depth, 0);
	if (likely(is_in_place))
		pfs_history_done(t, PFS_TRANSACTIONS, e->size * sizeof(uint64), e->flags);
	forget();
}

/*
 * Begins the event of a transaction that this process has just noticed, at the time
 * when it is noticed, in the current statement.  Its local number is remembered also if
 * nothing is collected, so it is noticed once.  The caller is inside a write section.
 */
void
pfs_transaction_begin(PfsThread *t, PfsTimestamp now)
{
	uint32		flags = pfs_wait_flags(t, pfs_transaction_instrument);
	bool		chained = pfs_transaction.chain;

	pfs_transaction.chain = false;
	if (unlikely(pfs_transaction.event != NULL))
		drop(t);
	pfs_transaction.lxid = pfs_compat_lxid(PFS_IMPORT(MyProc));
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	show(t, flags, pfs_timestamp_of(flags, now), pfs_statement_parent(), chained);
	parent_changed(PFS_NESTING_NONE);
}

void
pfs_transaction_of_plain_begins(PfsThread *t, uint64 start, uint64 statement)
{
	PfsParent	parent = {statement, PFS_NESTING_STATEMENT};
	bool		chained = pfs_transaction.chain;

	if (unlikely(pfs_transaction.event != NULL))
		drop(t);
	pfs_transaction.chain = false;
	pfs_transaction.lxid = pfs_compat_lxid(PFS_IMPORT(MyProc));
	show(t, pfs_plain.transaction_flags, start, parent, chained);
}

void
pfs_transaction_look(PfsThread *t)
{
	if (unlikely(pfs_transaction_is_new()))
		pfs_transaction_begin(t, pfs_timestamp_now());
}

/* Without an event to begin or to drop, needs neither the clock nor a write section. */
void
pfs_transaction_notice(PfsThread *t)
{
	if (pfs_transaction.event == NULL && (pfs_wait_flags(t, pfs_transaction_instrument) & PFS_FLAG_ENABLED) == 0)
	{
		pfs_transaction.lxid = pfs_compat_lxid(PFS_IMPORT(MyProc));
		pfs_transaction.chain = false;
	}
	else if (!pfs_is_writing(t))
	{
		pfs_write_begin(t);
		pfs_transaction_begin(t, pfs_timestamp_now());
		pfs_write_end(t);
	}
}

/*
 * Ends the transaction's event, counts it and puts it into the history; called by the
 * transaction callbacks, and at the end of the process.  It is a write section of its
 * own.  If the process is inside another one, as a callback that interrupts an
 * instrument point may be, the event is left to the next begin, which drops it.
 */
void
pfs_transaction_end(PfsThread *t, PfsTransactionState state, PfsTimestamp now)
{
	PfsTransactionEvent *e = pfs_transaction.event;
	uint64		end;

	pfs_transaction.lxid = InvalidLocalTransactionId;
	if (e == NULL || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	end = Max(pfs_timestamp_of(e->flags, now), e->timer_start);
	/* COMMIT PREPARED has put another one there, and has none itself. */
	if (likely(e->trx_id == 0))
		e->trx_id = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
	pfs_count_transaction(t, e->flags, end - e->timer_start, XactReadOnly);
	finish(t, e, state, end);
	parent_changed(PFS_NESTING_TRANSACTION);
	pfs_write_end(t);
}

/*
 * Ends the transaction of a plain statement, which has run, at its commit.  It is the only one that is
 * open, and is counted as nearly all are: else the general code ends it.
 */
bool
pfs_transaction_of_plain_commits(PfsThread *t)
{
	uint64		xid = U64FromFullTransactionId(PFS_IMPORT(GetTopFullTransactionIdIfAny) ());
	PfsTransactionEvent *e = pfs_transaction.event;
	PfsTransactionCell *cell;
	PfsCell    *part;
	uint64		now;

	if (unlikely(pfs_is_writing(t)))
		return false;
	now = pfs_timer_read(PFS_FLAGS_TIMER(pfs_local.usual));
	pfs_write_begin(t);
	pfs_fence_signal();
	cell = pfs_transaction.cell;
	part = PFS_IMPORT(XactReadOnly) ? &cell->read_only : &cell->read_write;
	if (unlikely(pfs_plain.state != PFS_PLAIN_RAN || !pfs_plain_is_on() || !pfs_is_usual(e->flags) ||
				 e->gid[0] != '\0' || cell == NULL || part->count_timed == 0))
	{
		pfs_write_end(t);
		return false;
	}
	pfs_plain.open.stamp = now;
	now = Max(now, e->timer_start);
	e->trx_id = xid;
	pfs_cell_add(part, now - e->timer_start);
	finish(t, e, PFS_TRANSACTION_COMMITTED, now);
	pfs_write_end(t);
	return true;
}

/*
 * Notes in the event of the open transaction what a utility command did to it, after
 * the command has succeeded.  AND CHAIN is remembered for the next transaction, which
 * begins by it.
 */
void
pfs_transaction_command(PfsThread *t, int command, bool chain, const char *gid, uint64 trx_id)
{
	PfsTransactionEvent *e = pfs_transaction.event;

	if (chain)
		pfs_transaction.chain = true;
	if (e == NULL || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	describe(e);
	switch (command)
	{
		case TRANS_STMT_BEGIN:
		case TRANS_STMT_START:
			e->autocommit = false;
			break;
		case TRANS_STMT_SAVEPOINT:
			e->savepoints++;
			break;
		case TRANS_STMT_ROLLBACK_TO:
			e->rollbacks_to_savepoint++;
			break;
		case TRANS_STMT_RELEASE:
			e->releases++;
			break;
		case TRANS_STMT_PREPARE:
		case TRANS_STMT_COMMIT_PREPARED:
		case TRANS_STMT_ROLLBACK_PREPARED:
			strlcpy(e->gid, gid, sizeof(e->gid));
			e->size = STORED_SIZE_MAX / sizeof(uint64);
			e->trx_id = trx_id;
			break;
	}
	pfs_write_end(t);
}
