/*
 * pfs_instr_program.h
 *	  What commands do to programs.
 *
 * PL/pgSQL calls pfs_instr_program.c by itself.
 */
#ifndef PFS_INSTR_PROGRAM_H
#define PFS_INSTR_PROGRAM_H

#include "pfs_instr_call.h"

/* A command that may call a program, on the stack of the hook's function. */
typedef struct PfsProgramCommand
{
	bool		calls;
	uint32		depth;			/* calls that were open before */
} PfsProgramCommand;

extern void pfs_program_command_begin(PfsCommand *command, PfsProgramCommand *state);
extern void pfs_program_command_end(PfsCommand *command, const PfsProgramCommand *state);

#endif							/* PFS_INSTR_PROGRAM_H */
