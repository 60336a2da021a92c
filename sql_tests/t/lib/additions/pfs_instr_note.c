/*
 * pfs_instr_note.c
 *	  Leaves and removes notes: the callers of pfs_note.c, as functions of SQL.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "pfs_instr.h"
#include "pfs_note.h"

PG_FUNCTION_INFO_V1(pfs_example_note);
PG_FUNCTION_INFO_V1(pfs_example_remove_notes);

PGDLLEXPORT Datum pfs_example_note(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_example_remove_notes(PG_FUNCTION_ARGS);

Datum
pfs_example_note(PG_FUNCTION_ARGS)
{
	PfsThread  *t = pfs_thread_here();

	PG_RETURN_BOOL(t != NULL && pfs_note_add(t, text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

Datum
pfs_example_remove_notes(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(pfs_notes_remove());
}
