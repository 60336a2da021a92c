/*
 * pfs_statement_family.c
 *	  Statements, stages and transactions as families of events: how much of a slot an
 *	  event uses, and its copy to the long history.
 *
 * Separate, as the callbacks here are all that the plumbing of ../event needs of them.
 */
#include "postgres.h"

#include "pfs_event_store.h"
#include "pfs_statement.h"

size_t
pfs_stage_event_used(const PfsEvent *event)
{
	return pfs_stage_run_bytes((const PfsStageRun *) event);
}

PFS_EVENT_STORE(pfs_stage_event_store, pfs_stage_event_used)

size_t
pfs_statement_event_used(const PfsEvent *event)
{
	return pfs_statement_event_bytes((const PfsStatementEvent *) event);
}

PFS_EVENT_STORE(pfs_statement_event_store, pfs_statement_event_used)

size_t
pfs_transaction_event_used(const PfsEvent *event)
{
	return pfs_transaction_event_bytes((const PfsTransactionEvent *) event);
}

PFS_EVENT_STORE(pfs_transaction_event_store, pfs_transaction_event_used)
