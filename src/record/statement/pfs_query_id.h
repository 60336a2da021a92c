/*
 * pfs_query_id.h
 *	  Query identifiers of utilities, which other libraries take out of cached plans.
 */
#ifndef PFS_QUERY_ID_H
#define PFS_QUERY_ID_H

#include "tcop/cmdtag.h"

#include "pfs_statement.h"

/*
 * The identifier that a statement has here, where the server says this one.  An EXECUTE has none, as in
 * pg_stat_statements: what it executes has.  The server's is another one for each of its values.
 */
static inline uint64
pfs_query_id(CommandTag tag, uint64 query_id)
{
	return unlikely(tag == CMDTAG_EXECUTE) ? 0 : query_id;
}

/*
 * Returns the identifier of a utility that is executed: the one that its plan has, or where another
 * library has taken it out, the one that the plan had before.  0: unknown.
 */
extern uint64 pfs_query_id_of_plan(const void *plan, const PfsStatementSource *source);

/*
 * Behind the parse analysis of a utility: another library has taken the identifier of the source
 * out of the query, so its plan will not have it.
 */
extern void pfs_query_id_taken(const PfsStatementSource *source);

#endif							/* PFS_QUERY_ID_H */
