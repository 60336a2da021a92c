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

extern void pfs_prepared_command_begin(PfsCommand *command, PfsPreparedCommand *state);

/* Behind the call. */
extern void pfs_prepared_command_end(PfsCommand *command, const PfsPreparedCommand *state);

/* What an EXECUTE executes.  The portal of a string that the client sends has no name for others. */
static inline PfsPreparedEntry *
pfs_prepared_of_execute(PfsThread *t, const Node *utility, bool is_top)
{
	return pfs_prepared_executed_by_sql(t, ((const ExecuteStmt *) utility)->name,
										is_top && ActivePortal != NULL && !ActivePortal->visible, !is_top);
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
