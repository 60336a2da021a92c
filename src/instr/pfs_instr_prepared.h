/*
 * pfs_instr_prepared.h
 *	  What the hooks do for prepared statements.
 */
#ifndef PFS_INSTR_PREPARED_H
#define PFS_INSTR_PREPARED_H

#include "nodes/parsenodes.h"
#include "tcop/pquery.h"
#include "utils/portal.h"

#include "pfs_prepared.h"
#include "pfs_statement_open.h"

/*
 * A call at top level has begun: the client executes what ActivePortal was made
 * for.  Nothing for unnamed statements.
 */
static pg_attribute_always_inline void
pfs_prepared_note(PfsThread *t)
{
	Portal		portal = ActivePortal;

	if (unlikely(portal != NULL && portal->prepStmtName != NULL) && pfs_sql.nest == 1 &&
		pfs_sql.current == &pfs_sql.top)
		pfs_prepared_execute(t, &pfs_sql.top, portal->prepStmtName);
}

/* A command that makes, executes or closes them. */
typedef struct PfsPreparedCommand
{
	NodeTag		tag;			/* the command's; DISCARD ALL has that of
								 * DEALLOCATE */
	char		name[NAMEDATALEN];	/* "": of all; of these commands only */
} PfsPreparedCommand;

/* Before the command, when its call has begun; s: its statement, or NULL. */
extern void pfs_prepared_command(PfsThread *t, PfsPreparedCommand *c, const Node *utility, PfsStatement *s);

/* When it is over. */
extern void pfs_prepared_command_end(PfsThread *t, const PfsPreparedCommand *c);

#endif							/* PFS_INSTR_PREPARED_H */
