/*
 * pfs_instr_prepared.h
 *	  Commands that make, execute or close prepared statements.
 */
#ifndef PFS_INSTR_PREPARED_H
#define PFS_INSTR_PREPARED_H

#include "pfs_instr_call.h"

/* Such a command, on the stack of the hook's function. */
typedef struct PfsPreparedCommand
{
	NodeTag		tag;			/* the command's; DISCARD ALL has that of
								 * DEALLOCATE */
	char		name[NAMEDATALEN];	/* of PREPARE and DEALLOCATE; "": of all */
} PfsPreparedCommand;

/* What an EXECUTE executes.  The portal of a string that the client sends has no name for others. */
static inline PfsPreparedEntry *
pfs_prepared_of_execute(PfsThread *t, const Node *utility, bool is_top)
{
	return pfs_prepared_executed_by_sql(t, ((const ExecuteStmt *) utility)->name,
										is_top && ActivePortal != NULL && !ActivePortal->visible, !is_top);
}

/* Reads what a command does to prepared statements; an EXECUTE is credited to what it executes. */
static inline void
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

/* Behind the call. */
static inline void
pfs_prepared_command_end(PfsCommand *command, const PfsPreparedCommand *state)
{
	if (state->tag == T_PrepareStmt)
		pfs_prepared_made(command->thread, state->name);
	else if (state->tag == T_DeallocateStmt)
		pfs_prepared_closed(command->thread, state->name[0] != '\0' ? state->name : NULL);
}

/* The command of a plain statement is going to be executed.  Where an EXECUTE's has no entry, the client's own one counts. */
static inline void
pfs_prepared_plain_command(const Node *utility)
{
	PfsPreparedEntry *entry;

	if (!IsA(utility, ExecuteStmt))
		return;
	entry = pfs_prepared_of_execute(pfs_my_thread, utility, true);
	if (likely(entry != NULL))
		pfs_plain.open.credit.prepared = entry;
}

#endif							/* PFS_INSTR_PREPARED_H */
