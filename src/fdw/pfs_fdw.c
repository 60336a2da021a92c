/*
 * pfs_fdw.c
 *	  The wrapper's handler and validator, and IMPORT FOREIGN SCHEMA.
 *
 * IMPORT prints the tables from their C definitions; the released SQL script is
 * that print, frozen, and a regression test fails when they drift apart.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"

#include "pfs_fdw.h"
#include "pfs_quote.h"

/* The one schema that IMPORT offers. */
#define REMOTE_SCHEMA "pfs"

PFS_FUNCTION(pfs_fdw_handler);
PFS_FUNCTION(pfs_fdw_validator);

/*
 * Prints the command that creates a table, for IMPORT FOREIGN SCHEMA.  Columns
 * of later releases come last, as they do in an updated database.
 */
static char *
print_table(const PfsTable *table, const char *server)
{
	StringInfoData buf;
	const char *separator = "";

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE FOREIGN TABLE %s (\n", quote_identifier(table->name));
	for (int since = 0; since < PFS_NUM_RELEASES; since++)
	{
		for (int i = 0; i < table->ncolumns; i++)
		{
			const PfsColumn *column = &table->columns[i];

			if (column->since != since)
				continue;
			appendStringInfo(&buf, "%s\t%s %s", separator, quote_identifier(column->name),
							 format_type_be(column->type));
			if (column->by_default != NULL)
				appendStringInfo(&buf, " DEFAULT %s", quote_literal_cstr(column->by_default));
			separator = ",\n";
		}
	}
	appendStringInfo(&buf, "\n) SERVER %s OPTIONS (\"table\" '%s')",
					 quote_identifier(server), table->name);
	return buf.data;
}

/* LIMIT TO and EXCEPT are applied by the caller. */
static List *
pfsImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid)
{
	ForeignServer *server = GetForeignServer(serverOid);
	List	   *commands = NIL;

	if (strcmp(stmt->remote_schema, REMOTE_SCHEMA) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
				 errmsg("schema \"%s\" does not exist on server \"%s\"",
						stmt->remote_schema, server->servername),
				 errhint("The only one is \"%s\".", REMOTE_SCHEMA)));
	if (stmt->options != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", linitial_node(DefElem, stmt->options)->defname),
				 errhint("IMPORT FOREIGN SCHEMA from pfs takes no options.")));
	for (int i = 0; i < pfs_num_tables; i++)
		commands = lappend(commands, print_table(pfs_tables[i], server->servername));
	return commands;
}

/* The foreign data wrapper's handler function: the list of its callbacks. */
Datum
pfs_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = pfsGetForeignRelSize;
	routine->GetForeignPaths = pfsGetForeignPaths;
	routine->GetForeignPlan = pfsGetForeignPlan;
	routine->ExplainForeignScan = pfsExplainForeignScan;

	routine->BeginForeignScan = pfsBeginForeignScan;
	routine->IterateForeignScan = pfsIterateForeignScan;
	routine->ReScanForeignScan = pfsReScanForeignScan;
	routine->EndForeignScan = pfsEndForeignScan;

	routine->AddForeignUpdateTargets = pfsAddForeignUpdateTargets;
	routine->PlanForeignModify = pfsPlanForeignModify;
	routine->BeginForeignModify = pfsBeginForeignModify;
	routine->ExecForeignInsert = pfsExecForeignInsert;
	routine->ExecForeignUpdate = pfsExecForeignUpdate;
	routine->ExecForeignDelete = pfsExecForeignDelete;
	routine->EndForeignModify = pfsEndForeignModify;
	routine->BeginForeignInsert = pfsBeginForeignInsert;
	routine->EndForeignInsert = pfsEndForeignModify;
	routine->IsForeignRelUpdatable = pfsIsForeignRelUpdatable;
	routine->ExecForeignTruncate = pfsExecForeignTruncate;

	routine->ImportForeignSchema = pfsImportForeignSchema;

	/*
	 * Left out on purpose: GetForeignRowMarkType (FOR UPDATE locks nothing),
	 * AnalyzeForeignTable (ANALYZE skips these tables; estimates come from
	 * the containers), IsForeignScanParallelSafe (only the leader reads).
	 */
	PG_RETURN_POINTER(routine);
}

/*
 * While a script of another version is being run, a table that this library
 * does not know is let pass: using it says what to do.
 */
Datum
pfs_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (catalog != ForeignTableRelationId || strcmp(def->defname, "table") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("invalid option \"%s\"", def->defname),
					 catalog == ForeignTableRelationId
					 ? errhint("Foreign tables of pfs take one option: \"table\".")
					 : errhint("pfs_fdw takes no options here.")));
		if (pfs_table_by_name(defGetString(def)) == NULL && !creating_extension)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("pfs has no table \"%s\"", pfs_quote(defGetString(def))),
					 errhint("SELECT table_name FROM pfs.tables lists them.")));
	}
	PG_RETURN_VOID();
}
