/*
 * pfs_instr_prepared.c
 *	  Commands that make, execute or close prepared statements.
 *
 * Those of the protocol are known from their first execution on: see pfs_credit_top_executes().
 */
#include "postgres.h"

#include "pfs_instr_prepared.h"

/* Reads what a utility does to prepared statements; an EXECUTE is credited to what it executes. */
void
pfs_prepared_command_begin(PfsCommand *command, PfsPreparedCommand *state)
{
	PfsStatement *s = command->statement;
	const char *name = NULL;

	state->tag = command->tag;
	switch (state->tag)
	{
		case T_PrepareStmt:
			name = ((const PrepareStmt *) command->utility)->name;
			break;
		case T_DeallocateStmt:
			name = ((const DeallocateStmt *) command->utility)->name;
			break;
		case T_DiscardStmt:
			if (((const DiscardStmt *) command->utility)->target == DISCARD_ALL)
				state->tag = T_DeallocateStmt;
			break;
		case T_ExecuteStmt:
			if (s != NULL)
				pfs_prepared_execute(s, pfs_prepared_of_execute(command->thread, command->utility, s == &pfs_sql.top));
			return;
		default:
			return;
	}
	strlcpy(state->name, name != NULL ? name : "", sizeof(state->name));
}

void
pfs_prepared_command_end(PfsCommand *command, const PfsPreparedCommand *state)
{
	if (state->tag == T_PrepareStmt)
		pfs_prepared_made(command->thread, state->name);
	else if (state->tag == T_DeallocateStmt)
		pfs_prepared_closed(command->thread, state->name[0] != '\0' ? state->name : NULL);
}
