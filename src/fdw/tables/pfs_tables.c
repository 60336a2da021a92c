/*
 * pfs_tables.c
 *	  Hands the list of tables to the plumbing, which knows no single one.
 */
#include "postgres.h"

#include "pfs_tables.h"

#define TABLE_POINTER(table) &table,

static const PfsTable *const tables[] = {PFS_TABLES(TABLE_POINTER)};

void
pfs_tables_register(void)
{
	pfs_tables = tables;
	pfs_num_tables = lengthof(tables);
}
