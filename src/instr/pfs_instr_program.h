/*
 * pfs_instr_program.h
 *	  What commands and ends of transactions do to programs.
 *
 * PL/pgSQL calls pfs_instr_program.c by itself.
 */
#ifndef PFS_INSTR_PROGRAM_H
#define PFS_INSTR_PROGRAM_H

#include "pfs_program_change.h"

/* A command that may call a program, on the stack of the hook's function. */
typedef struct PfsProgramCommand
{
	bool		calls;
	uint32		depth;			/* calls that were open before */
} PfsProgramCommand;

/* Before the command, when its statement has begun; behind it. */
extern void pfs_program_command(PfsThread *t, PfsProgramCommand *c, const Node *utility);
extern void pfs_program_command_end(const PfsProgramCommand *c);

static inline void
pfs_program_transaction_ended(PfsTransactionState state)
{
	if (unlikely(pfs_program_has_changes))
		pfs_program_changes_end(0, state);
}

#endif							/* PFS_INSTR_PROGRAM_H */
