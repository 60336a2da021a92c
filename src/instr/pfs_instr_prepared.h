/*
 * pfs_instr_prepared.h
 *	  What the hooks do for prepared statements.
 */
#ifndef PFS_INSTR_PREPARED_H
#define PFS_INSTR_PREPARED_H

#include "tcop/pquery.h"
#include "utils/portal.h"

#include "pfs_prepared.h"
#include "pfs_statement_open.h"

/* The statement at top level executes a portal, or reads the next part of it.  Nothing for unnamed statements. */
static inline void
pfs_prepared_note_portal(PfsThread *t, Portal portal)
{
	if (likely(portal == NULL || portal->prepStmtName == NULL))
		return;
	if (unlikely(pfs_sql.top.is_fetch))
		pfs_prepared_fetch(&pfs_sql.top, portal->prepStmtName, portal->creation_time);
	else
		pfs_prepared_execute(&pfs_sql.top, pfs_prepared_executed(t, portal->prepStmtName, pfs_sql.top.query_id,
																 portal->creation_time, false));
}

/* A call at top level has begun: the client executes what ActivePortal was made for. */
static inline void
pfs_prepared_note(PfsThread *t)
{
	if (pfs_sql.nest == 1 && pfs_sql.current == &pfs_sql.top)
		pfs_prepared_note_portal(t, ActivePortal);
}

#endif							/* PFS_INSTR_PREPARED_H */
