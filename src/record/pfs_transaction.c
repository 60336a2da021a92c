/*
 * pfs_transaction.c
 *	  The transaction of this process.
 *
 * PostgreSQL calls nobody when a transaction begins, so it is noticed: by a hook,
 * or in processes without statements by a wait, when the process has another
 * local transaction number than the one remembered.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"

#include "pfs_compat.h"
#include "pfs_shared.h"
#include "pfs_event_cell.h"

static struct
{
	LocalTransactionId lxid;	/* of the open one, InvalidLocalTransactionId:
								 * none */
	PfsTransactionEvent *event; /* NULL: not collected */
	uint64		event_id;
	bool		chain;			/* the next one begins by AND CHAIN */
}			transaction;

uint64
pfs_transaction_event_id(void)
{
	return transaction.event_id;
}

bool
pfs_transaction_is_new(void)
{
	LocalTransactionId lxid = pfs_compat_lxid(MyProc);

	return lxid != transaction.lxid && lxid != InvalidLocalTransactionId;
}

/* Inside a change: what can change while it runs. */
static void
describe(PfsTransactionEvent *e)
{
	e->isolation = XactIsoLevel;
	e->read_only = XactReadOnly;
}

/* Inside a change. */
static void
begin(PfsThread *t)
{
	PfsInstrumentId instrument = pfs_transaction_instrument;
	uint32		flags = pfs_wait_flags(t, instrument);
	PfsParent	parent = pfs_statement_parent();
	PfsTransactionEvent *e;

	transaction.lxid = pfs_compat_lxid(MyProc);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	e = (PfsTransactionEvent *) pfs_event_begin(t, PFS_TRANSACTIONS, instrument, flags,
												pfs_wait_read_end(t, flags), &parent);
	if (e == NULL)
		return;
	e->state = PFS_TRANSACTION_ACTIVE;
	e->autocommit = !transaction.chain;
	e->trx_id = 0;
	e->savepoints = e->rollbacks_to_savepoint = e->releases = 0;
	e->pid = t->pid;
	e->gid[0] = '\0';
	describe(e);
	transaction.chain = false;
	transaction.event = e;
	transaction.event_id = e->event_id;
	pfs_event_show(t, PFS_TRANSACTIONS);
	pfs_set_parent();
}

/* Inside a change. */
static void
forget(PfsThread *t)
{
	transaction.event = NULL;
	transaction.event_id = 0;
	transaction.lxid = InvalidLocalTransactionId;
	pfs_set_parent();
}

void
pfs_transaction_look(PfsThread *t)
{
	if (likely(!pfs_transaction_is_new()))
		return;
	/* Whose end nobody told: it has none. */
	if (transaction.event != NULL)
		pfs_event_drop(t, PFS_TRANSACTIONS, (PfsEvent *) transaction.event);
	forget(t);
	begin(t);
}

void
pfs_transaction_notice(PfsThread *t)
{
	if (likely(!pfs_transaction_is_new()) || pfs_is_changing(t))
		return;
	pfs_change_begin(t);
	pfs_transaction_look(t);
	pfs_change_end(t);
}

void
pfs_transaction_end(PfsThread *t, PfsTransactionState state)
{
	PfsTransactionEvent *e = transaction.event;
	uint64		end;

	transaction.lxid = InvalidLocalTransactionId;
	if (e == NULL || pfs_is_changing(t))
		return;
	pfs_change_begin(t);
	end = Max(pfs_wait_read_end(t, e->flags), e->timer_start);
	e->state = state;
	e->trx_id = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
	describe(e);
	/* The event's slot is another one from here on. */
	pfs_count_transaction(t, e->flags, end - e->timer_start, e->read_only);
	pfs_event_end(t, PFS_TRANSACTIONS, (PfsEvent *) e, end);
	forget(t);
	pfs_change_end(t);
}

void
pfs_transaction_command(PfsThread *t, PfsTransactionCommand command, const char *gid)
{
	PfsTransactionEvent *e = transaction.event;

	if (command == PFS_COMMAND_CHAIN)
		transaction.chain = true;
	if (e == NULL || pfs_is_changing(t))
		return;
	pfs_change_begin(t);
	describe(e);
	switch (command)
	{
		case PFS_COMMAND_BEGIN:
			e->autocommit = false;
			break;
		case PFS_COMMAND_SAVEPOINT:
			e->savepoints++;
			break;
		case PFS_COMMAND_ROLLBACK_TO:
			e->rollbacks_to_savepoint++;
			break;
		case PFS_COMMAND_RELEASE:
			e->releases++;
			break;
		case PFS_COMMAND_PREPARE:
			strlcpy(e->gid, gid, sizeof(e->gid));
			break;
		case PFS_COMMAND_CHAIN:
		case PFS_COMMAND_OTHER:
			break;
	}
	pfs_change_end(t);
}
