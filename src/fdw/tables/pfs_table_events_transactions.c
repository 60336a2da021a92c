/*
 * pfs_table_events_transactions.c
 *	  events_transactions_current, _history, _history_long: the columns that
 *	  transactions have besides those of all events.
 */
#include "postgres.h"

#include "access/xact.h"

#include "pfs_ev.h"
#include "pfs_statement.h"

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

#define TRANSACTIONS_COLUMNS(X, t) \
	PFS_EV_COLUMNS(X, t, "The thread that it runs or ran in: threads.thread_id.", PFS_EV_NO_MORE, PFS_RESERVED, \
	               PFS_EV_BEGIN_NULL) \
	X(t, state, text, none, states[row->state], \
	  "ACTIVE, COMMITTED, ROLLED BACK, or PREPARED for two-phase commit.", .width = 9) \
	X(t, trx_id, xid8, none, PFS_NULL_IF_0(row->trx_id), "Transaction id; NULL while none is assigned.") \
	X(t, gid, text, none, row->gid[0] != '\0' ? row->gid : NULL, \
	  "Name that PREPARE TRANSACTION gave it; NULL if none." PFS_OWN_ROLE, .width = 12, .hidden = true) \
	X(t, access_mode, text, none, row->read_only ? "READ ONLY" : "READ WRITE", \
	  "READ WRITE or READ ONLY.", .width = 10) \
	X(t, isolation_level, text, none, isolation_levels[row->isolation], \
	  "READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ or SERIALIZABLE.", .width = 14) \
	X(t, autocommit, text, none, pfs_yes_or_no(row->autocommit), \
	  "YES: it is one statement, or the statements of one message. NO: it was begun by BEGIN, START TRANSACTION " \
	  "or AND CHAIN.", .width = 3) \
	X(t, number_of_savepoints, bigint, count, row->savepoints, "SAVEPOINT commands in it.") \
	X(t, number_of_rollback_to_savepoint, bigint, count, row->rollbacks_to_savepoint, \
	  "ROLLBACK TO SAVEPOINT commands in it.") \
	X(t, number_of_release_savepoint, bigint, count, row->releases, "RELEASE SAVEPOINT commands in it.") \
	PFS_EV_NESTING_COLUMNS(X, t, "event_id of the statement that began it; NULL if there is none.", \
	                       "STATEMENT; NULL if nesting_event_id is.")

PFS_COLUMNS(transactions, PfsTransactionEvent, TRANSACTIONS_COLUMNS)

PFS_EV_TABLES(PFS_TRANSACTIONS, transactions, "transaction", NULL,
			  "Transactions that are running now, one per thread at most. A finished transaction is removed. "
			  "TRUNCATE is accepted and does nothing.");
