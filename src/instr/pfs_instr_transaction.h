/*
 * pfs_instr_transaction.h
 *	  Commands that begin, change or end transactions.
 */
#ifndef PFS_INSTR_TRANSACTION_H
#define PFS_INSTR_TRANSACTION_H

#include "nodes/parsenodes.h"

#include "pfs_instr_call.h"

/* What is needed of such a command when its tree may be gone. */
typedef struct PfsTransactionCommand
{
	int			kind;			/* TransactionStmtKind, or
								 * PFS_NO_TRANSACTION_COMMAND */
	bool		chain;
	uint64		trx_id;			/* of the prepared transaction that is
								 * finished */
	char		gid[PFS_GID_SIZE];
} PfsTransactionCommand;

extern void pfs_transaction_command_begin(PfsCommand *command, PfsTransactionCommand *state);

/* Behind the call: notes what any command has done to the transaction. */
extern void pfs_transaction_command_end(PfsCommand *command, const PfsTransactionCommand *state);

/* The same of a plain statement's. */
static inline void
pfs_transaction_note(PfsThread *t, int kind, bool chain, const char *gid, uint64 trx_id)
{
	pfs_transaction_command(t, kind, chain, gid, trx_id);
	if (kind == TRANS_STMT_ROLLBACK)
		pfs_statement_stage(t, PFS_STAGE_ROLLBACK);
}

#endif							/* PFS_INSTR_TRANSACTION_H */
