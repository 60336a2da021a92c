/*
 * pfs_instr_program.h
 *	  What commands do to programs.
 *
 * PL/pgSQL calls pfs_instr_program.c by itself.
 */
#ifndef PFS_INSTR_PROGRAM_H
#define PFS_INSTR_PROGRAM_H

#include "nodes/nodes.h"

#include "pfs_thread.h"

/* A command that may call a program, on the stack of the hook's function. */
typedef struct PfsProgramCommand
{
	bool		calls;
	uint32		depth;			/* calls that were open before */
} PfsProgramCommand;

/* Before the command, when its statement has begun; behind it. */
extern void pfs_program_command(PfsThread *t, PfsProgramCommand *c, const Node *utility);
extern void pfs_program_command_end(const PfsProgramCommand *c);

#endif							/* PFS_INSTR_PROGRAM_H */
