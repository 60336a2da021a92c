/*
 * pfs_instr_transaction.c
 *	  Commands that begin, change or end transactions; and which one COMMIT PREPARED or
 *	  ROLLBACK PREPARED is about to finish.
 *
 * That the server is asked, which no instrument point does elsewhere.  It keeps the names of prepared transactions to itself; what it offers
 * is the function behind the view pg_prepared_xacts.  (Prepared transactions have entries in
 * the array of processes, which could be compared before and after the command; but these
 * have no names, and with two sessions that finish transactions at the same time nobody
 * could tell which is whose.)
 *
 * The function copies the list under a shared TwoPhaseStateLock, as the command itself does
 * next in exclusive mode, and describes its rows, for which it may look up four types in the
 * catalogue's cache.  That is safe where the utility hook calls: inside a transaction, in no
 * critical section, with no lock of the server's held, outside of the thread record's write
 * section.  What it can raise is what any command can at its begin: the lack of memory, and
 * a cancel request.  Then the command fails before it has done anything, and the prepared
 * transaction is still there.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "pfs_instr_transaction.h"

/* Columns of pg_prepared_xact(). */
#define COLUMN_TRANSACTION	1
#define COLUMN_GID			2

/* A transaction that is still there is less than one epoch older than the next one. */
static uint64
full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, xid));
}

/*
 * Returns the full identifier of the prepared transaction of this name; 0: there is none.  Reads the rows
 * of pg_prepared_xacts until one has it.  What the function behind the view holds goes with the expression
 * context.
 */
static uint64
find_prepared(const char *gid)
{
	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	function;
	ReturnSetInfo result = {.type = T_ReturnSetInfo, .allowedModes = SFRM_ValuePerCall};
	MemoryContext context;
	MemoryContext old;
	uint64		found = 0;

	if (max_prepared_xacts == 0)
		return 0;
	context = AllocSetContextCreate(CurrentMemoryContext, "pfs prepared transactions", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	fmgr_info(F_PG_PREPARED_XACT, &function);
	result.econtext = CreateStandaloneExprContext();
	InitFunctionCallInfoData(*fcinfo, &function, 0, InvalidOid, NULL, (Node *) &result);
	while (found == 0)
	{
		Datum		value = FunctionCallInvoke(fcinfo);
		HeapTupleHeader row;
		bool		isnull;

		if (result.isDone == ExprEndResult)
			break;

		/*
		 * The function has just made it: nothing to detoast, and no column is
		 * null.
		 */
		row = (HeapTupleHeader) DatumGetPointer(value);
		if (strcmp(TextDatumGetCString(GetAttributeByNum(row, COLUMN_GID, &isnull)), gid) == 0)
			found = full_xid(DatumGetTransactionId(GetAttributeByNum(row, COLUMN_TRANSACTION, &isnull)));
	}
	FreeExprContext(result.econtext, true);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return found;
}

/* Reads what a utility does to transactions, if it does anything to them. */
void
pfs_transaction_command_begin(PfsCommand *command, PfsTransactionCommand *state)
{
	const TransactionStmt *stmt = (const TransactionStmt *) command->utility;

	state->kind = PFS_NO_TRANSACTION_COMMAND;
	state->chain = false;
	state->trx_id = 0;
	if (command->tag != T_TransactionStmt)
		return;
	state->kind = stmt->kind;
	state->chain = stmt->chain;
	if (stmt->gid != NULL)
		strlcpy(state->gid, stmt->gid, sizeof(state->gid));
	/* Behind the command nobody knows it any more. */
	if ((stmt->kind == TRANS_STMT_COMMIT_PREPARED || stmt->kind == TRANS_STMT_ROLLBACK_PREPARED) && pfs_transaction.event != NULL)
		state->trx_id = find_prepared(state->gid);
}

void
pfs_transaction_command_end(PfsCommand *command, const PfsTransactionCommand *state)
{
	pfs_transaction_note(command->thread, state->kind, state->chain, state->gid, state->trx_id);
}
