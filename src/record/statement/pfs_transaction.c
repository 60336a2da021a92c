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
#include "pfs_shared.h"
#include "pfs_statement_open.h"

PFS_HOT PfsTransaction pfs_transaction;

/* Writes, inside a write section, what can change while the transaction runs. */
static void
describe(PfsTransactionEvent *e)
{
	e->isolation = XactIsoLevel;
	e->read_only = XactReadOnly;
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

/*
 * Begins the event of a transaction that this process has just noticed, at the time
 * when it is noticed, in the current statement.  Its local number is remembered also if
 * nothing is collected, so it is noticed once.  A transaction whose end no callback has
 * told is dropped: nobody knows when it ended.  The caller is inside a write section.
 */
static pg_attribute_always_inline void
begin(PfsThread *t, PfsTimestamp now, const PfsParent *in)
{
	PfsInstrumentId instrument = pfs_transaction_instrument;
	uint32		flags = pfs_wait_flags(t, instrument);
	PfsTransactionEvent *e;
	bool		chained = pfs_transaction.chain;

	pfs_transaction.chain = false;
	/* No callback has told of its end: the event has none. */
	if (unlikely(pfs_transaction.event != NULL))
	{
		pfs_event_drop(t, PFS_TRANSACTIONS, (PfsEvent *) pfs_transaction.event);
		forget();
		parent_changed(PFS_NESTING_TRANSACTION);
	}
	pfs_transaction.lxid = pfs_compat_lxid(MyProc);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	e = (PfsTransactionEvent *) pfs_event_begin(t, PFS_TRANSACTIONS, instrument, flags,
												pfs_timestamp_of(flags, now), in != NULL ? *in : pfs_statement_parent());
	if (e == NULL)
		return;
	e->state = PFS_TRANSACTION_ACTIVE;
	e->autocommit = !chained;
	e->trx_id = 0;
	e->savepoints = e->rollbacks_to_savepoint = e->releases = 0;
	e->pid = t->pid;
	e->gid[0] = '\0';
	describe(e);
	pfs_transaction.event = e;
	pfs_transaction.event_id = e->event_id;
	pfs_event_show(t, PFS_TRANSACTIONS);
	parent_changed(PFS_NESTING_NONE);
}

void
pfs_transaction_begin(PfsThread *t, PfsTimestamp now)
{
	begin(t, now, NULL);
}

void
pfs_transaction_begin_in(PfsThread *t, PfsTimestamp now, PfsParent parent)
{
	begin(t, now, &parent);
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
		pfs_transaction.lxid = pfs_compat_lxid(MyProc);
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
	e->state = state;
	/* COMMIT PREPARED has put another one there, and has none itself. */
	if (likely(e->trx_id == 0))
		e->trx_id = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
	describe(e);
	/* The event's slot is another one from here on. */
	pfs_count_transaction(t, e->flags, end - e->timer_start, e->read_only);
	pfs_event_end(t, PFS_TRANSACTIONS, (PfsEvent *) e, end);
	forget();
	parent_changed(PFS_NESTING_TRANSACTION);
	pfs_write_end(t);
}

/* Ends the transaction's event where it is counted as nearly all are; see pfs_statement.h. */
bool
pfs_transaction_of_plain_ends(PfsThread *t, PfsTransactionState state, uint64 now)
{
	PfsTransactionEvent *e = pfs_transaction.event;
	PfsTransactionCell *cell = pfs_summary_chunk(t, PFS_FAMILY_TRANSACTIONS, 0);
	PfsCell    *part = XactReadOnly ? &cell->read_only : &cell->read_write;

	if (unlikely(e == NULL || !pfs_is_usual(e->flags) || cell == NULL || part->count_timed == 0))
		return false;
	now = Max(now, e->timer_start);
	e->state = state;
	if (likely(e->trx_id == 0))
		e->trx_id = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
	describe(e);
	pfs_cell_add(part, now - e->timer_start);
	if (likely(e->gid[0] == '\0'))
	{
		pfs_event_drop(t, PFS_TRANSACTIONS, (PfsEvent *) e);
		e->end_event_id = t->last_event_id;
		e->timer_end = now;
		if (likely(e->flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
			pfs_event_record_plain(t, PFS_TRANSACTIONS, (PfsEvent *) e, offsetof(PfsTransactionEvent, gid) + 1);
	}
	else
		pfs_event_end(t, PFS_TRANSACTIONS, (PfsEvent *) e, now);
	forget();
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
			e->trx_id = trx_id;
			break;
	}
	pfs_write_end(t);
}
