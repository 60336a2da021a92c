/*
 * pfs_test_save.c
 *	  The file that survives a restart, written when a test wants it and not when the
 *	  recorder's time has come.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pfs_test_symbol.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_save);
PGDLLEXPORT Datum pfs_test_save(PG_FUNCTION_ARGS);

/* Could it be written? */
Datum
pfs_test_save(PG_FUNCTION_ARGS)
{
	bool		(*save_now) (void) = symbol("pfs_save_now");

	PG_RETURN_BOOL(save_now());
}
