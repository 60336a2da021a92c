/*
 * pfs_table_events_transactions.c
 *	  events_transactions_current, _history, _history_long.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/xid8.h"

#include "pfs_ev.h"
#include "pfs_shared.h"
#include "pfs_statement.h"
#include "pfs_value.h"

enum
{
	STATE = PFS_EV_FIRST_OWN,
	TRX_ID,
	GID,
	ACCESS_MODE,
	ISOLATION_LEVEL,
	AUTOCOMMIT,
	NUMBER_OF_SAVEPOINTS,
	NUMBER_OF_ROLLBACK_TO_SAVEPOINT,
	NUMBER_OF_RELEASE_SAVEPOINT,
	NESTING_EVENT_ID,
	NESTING_EVENT_TYPE,
};

static const PfsColumn columns[] = {
	PFS_EV_COLUMNS,
	[STATE] = {"state", TEXTOID, .width = 9},
	[TRX_ID] = {"trx_id", XID8OID},
	[GID] = {"gid", TEXTOID, .width = 12, .hidden = true},
	[ACCESS_MODE] = {"access_mode", TEXTOID, .width = 10},
	[ISOLATION_LEVEL] = {"isolation_level", TEXTOID, .width = 14},
	[AUTOCOMMIT] = {"autocommit", TEXTOID, .width = 3},
	[NUMBER_OF_SAVEPOINTS] = {"number_of_savepoints", INT8OID},
	[NUMBER_OF_ROLLBACK_TO_SAVEPOINT] = {"number_of_rollback_to_savepoint", INT8OID},
	[NUMBER_OF_RELEASE_SAVEPOINT] = {"number_of_release_savepoint", INT8OID},
	PFS_EV_NESTING_COLUMNS(NESTING_EVENT_ID),
};

static const char *const states[] = {
	[PFS_TRANSACTION_ACTIVE] = "ACTIVE",
	[PFS_TRANSACTION_PREPARED] = "PREPARED",
	[PFS_TRANSACTION_COMMITTED] = "COMMITTED",
	[PFS_TRANSACTION_ROLLED_BACK] = "ROLLED BACK",
};

static const char *const isolation_levels[] = {
	[XACT_READ_UNCOMMITTED] = "READ UNCOMMITTED",
	[XACT_READ_COMMITTED] = "READ COMMITTED",
	[XACT_REPEATABLE_READ] = "REPEATABLE READ",
	[XACT_SERIALIZABLE] = "SERIALIZABLE",
};

/*
 * Nobody tells when a running transaction gets its number, but its process shows
 * the lower half of it.
 */
static uint64
running_id(int pid)
{
	PGPROC	   *proc = BackendPidGetProc(pid);
	TransactionId xid = proc != NULL ? *(volatile TransactionId *) &proc->xid : InvalidTransactionId;
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	if (!TransactionIdIsNormal(xid))
		return 0;
	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, xid));
}

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsTransactionEvent *event = row;
	uint64		id;

	switch (column)
	{
		case STATE:
			return CStringGetTextDatum(states[event->state]);
		case TRX_ID:
			id = event->state == PFS_TRANSACTION_ACTIVE ? running_id(event->pid) : event->trx_id;
			return id == 0 ? pfs_null(isnull)
				: FullTransactionIdGetDatum(FullTransactionIdFromU64(id));
		case GID:
			return event->gid[0] == '\0' ? pfs_null(isnull) : pfs_text_datum(event->gid);
		case ACCESS_MODE:
			return CStringGetTextDatum(event->read_only ? "READ ONLY" : "READ WRITE");
		case ISOLATION_LEVEL:
			return CStringGetTextDatum(isolation_levels[event->isolation]);
		case AUTOCOMMIT:
			return pfs_switch_datum(event->autocommit);
		case NUMBER_OF_SAVEPOINTS:
			return Int64GetDatum(event->savepoints);
		case NUMBER_OF_ROLLBACK_TO_SAVEPOINT:
			return Int64GetDatum(event->rollbacks_to_savepoint);
		case NUMBER_OF_RELEASE_SAVEPOINT:
			return Int64GetDatum(event->releases);
		case NESTING_EVENT_ID:
		case NESTING_EVENT_TYPE:
			return pfs_ev_nesting(row, column - NESTING_EVENT_ID, isnull);
		default:
			return pfs_ev_get(row, column, isnull);
	}
}

PFS_EV_TABLES(PFS_TRANSACTIONS, transactions, "transaction", columns, get, NULL);
