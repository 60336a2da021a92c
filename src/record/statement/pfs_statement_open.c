/*
 * pfs_statement_open.c
 *	  What a process knows of its open statements.
 */
#include "postgres.h"

#include "pfs_statement_open.h"

PFS_HOT_STRUCT PfsSql pfs_sql = {.top.n = pfs_sql.top.own};
