/*
 * pfs_statement_open.c
 *	  What the process knows of its open statements.
 */
#include "postgres.h"

#include "pfs_plain_state.h"
#include "pfs_statement_open.h"

PFS_HOT_STRUCT PfsSql pfs_sql = {.top.n = pfs_sql.top.own};
PFS_HOT_STRUCT PfsPlain pfs_plain;
PFS_HOT_FIRST uint32 pfs_texts_parsed = 0;
