/*
 * pfs_instr_prepared.c
 *	  Commands that make, execute or close prepared statements.
 *
 * Separate from pfs_instr_hooks.c, which calls this around each utility: the command's
 * tree may be gone when it is over, so what is needed of it is read before.
 */
#include "postgres.h"

#include "pfs_instr_prepared.h"

/* Reads what a utility does to prepared statements. */
static void
read_command(PfsPreparedCommand *c, const Node *utility)
{
	const char *name = NULL;

	c->tag = nodeTag(utility);
	switch (c->tag)
	{
		case T_PrepareStmt:
			name = ((const PrepareStmt *) utility)->name;
			break;
		case T_ExecuteStmt:
			name = ((const ExecuteStmt *) utility)->name;
			break;
		case T_DeallocateStmt:
			name = ((const DeallocateStmt *) utility)->name;
			break;
		case T_DiscardStmt:
			if (((const DiscardStmt *) utility)->target == DISCARD_ALL)
				c->tag = T_DeallocateStmt;
			break;
		default:
			return;
	}
	strlcpy(c->name, name != NULL ? name : "", sizeof(c->name));
}

void
pfs_prepared_command(PfsThread *t, PfsPreparedCommand *c, const Node *utility, PfsStatement *s)
{
	/* The client can have prepared the command itself. */
	pfs_prepared_note(t);
	read_command(c, utility);
	if (c->tag == T_ExecuteStmt && s != NULL)
		pfs_prepared_execute(t, s, c->name);
}

void
pfs_prepared_command_end(PfsThread *t, const PfsPreparedCommand *c)
{
	if (c->tag == T_PrepareStmt)
		pfs_prepared_made(t, c->name);
	else if (c->tag == T_DeallocateStmt)
		pfs_prepared_closed(t, c->name[0] != '\0' ? c->name : NULL);
}
