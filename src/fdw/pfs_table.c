/*
 * pfs_table.c
 *	  How a relation finds its entry in the list of tables.
 *
 * Apart from the wrapper's callbacks because scans, writes, TRUNCATE, IMPORT
 * and functions all begin here.  Columns are bound by name, so definitions made
 * by an older SQL script work with a newer library.
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pfs_fdw.h"
#include "pfs_quote.h"
#include "pfs_shared.h"

const PfsTable *const *pfs_tables = NULL;
int			pfs_num_tables = 0;

const PfsView pfs_views[] = {
	{"processlist", "one living thread, in the words of MySQL's process list"},
	{"blocking_tree", "one thread that waits for a lock, and one that it waits for"},
	{"tables", "one table or view of pfs"},
	{"file_summary_by_relation", "one relation, or other use of files, over its files and event names; or all removed files of a kind"},
	{"lwlock_objects", "one LWLock that somebody had to wait for, and what it protects"},
};
const int	pfs_num_views = lengthof(pfs_views);

const PfsTable *
pfs_table_by_name(const char *name)
{
	for (int i = 0; i < pfs_num_tables; i++)
	{
		if (strcmp(pfs_tables[i]->name, name) == 0)
			return pfs_tables[i];
	}
	return NULL;
}

void
pfs_require_loaded(void)
{
	if (!pfs_is_loaded)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pfs is not loaded"),
				 errdetail("It records only in a server that loads it at its start."),
				 errhint("Add this line to postgresql.conf and restart the server: shared_preload_libraries = 'pfs'")));
}

void
pfs_require_active(void)
{
	pfs_require_loaded();
	if (!pfs_is_active)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pfs is switched off"),
				 errdetail("It was not switched on when the server started, or cannot work here: then pfs.probes says why."),
				 errhint("Add this line to postgresql.conf and restart the server: pfs.enabled = on")));
}

/* The OPTIONS ("table" ...) of a foreign table, by default its own name. */
static char *
table_name_of(Relation rel)
{
	ForeignTable *foreign = GetForeignTable(RelationGetRelid(rel));
	ListCell   *lc;

	foreach(lc, foreign->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "table") == 0)
			return defGetString(def);
	}
	return pstrdup(RelationGetRelationName(rel));
}

/*
 * A definition that the extension made itself is not the user's error: it comes
 * from the script of another version.
 */
static bool
is_made_by_pfs(Relation rel)
{
	Oid			extension = getExtensionOfObject(RelationRelationId, RelationGetRelid(rel));

	return OidIsValid(extension) && extension == get_extension_oid("pfs", true);
}

void
pfs_report_other_version(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("foreign table \"%s\" does not fit the loaded library of pfs, version %s",
					RelationGetRelationName(rel), PFS_VERSION),
			 errhint("Restart the server so that it loads the installed library, or run ALTER EXTENSION pfs UPDATE.")));
}

static const PfsColumn *
find_column(const PfsTable *table, const char *name, int *column)
{
	for (*column = 0; *column < table->ncolumns; (*column)++)
	{
		if (strcmp(table->columns[*column].name, name) == 0)
			return &table->columns[*column];
	}
	*column = -1;
	return NULL;
}

/* "name, enabled, timed" */
static char *
column_list(const PfsTable *table)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < table->ncolumns; i++)
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
	return buf.data;
}

const PfsTable *
pfs_table_of(Relation rel)
{
	return pfs_table_by_name(table_name_of(rel));
}

/*
 * pfs_bind finds the entry of a foreign table and the number of each of its
 * columns, for scans and writes.  It raises an error for what the library does
 * not have, unless a script of the extension made it.
 */
PfsBinding *
pfs_bind(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	char	   *name = table_name_of(rel);
	PfsBinding *binding = palloc(sizeof(PfsBinding));

	binding->table = pfs_table_by_name(name);
	if (binding->table == NULL && is_made_by_pfs(rel))
		pfs_report_other_version(rel);
	if (binding->table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("pfs has no table \"%s\"", pfs_quote(name)),
				 errhint("SELECT table_name FROM pfs.tables lists them; a foreign table of another name takes OPTIONS (\"table\" '...').")));

	binding->natts = desc->natts;
	binding->column_of = palloc(sizeof(int) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const PfsColumn *column;

		binding->column_of[i] = -1;
		if (att->attisdropped)
			continue;
		column = find_column(binding->table, NameStr(att->attname), &binding->column_of[i]);
		if (column != NULL && column->type == att->atttypid)
			continue;

		/*
		 * A column of a newer script reads NULL until the server is
		 * restarted; a changed type cannot be helped.
		 */
		if (is_made_by_pfs(rel))
		{
			if (column != NULL)
				pfs_report_other_version(rel);
			continue;
		}
		if (column == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("table \"%s\" of pfs has no column \"%s\"", name, NameStr(att->attname)),
					 errhint("Its columns: %s.", column_list(binding->table))));
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of foreign table \"%s\" has type %s",
						column->name, RelationGetRelationName(rel), format_type_be(att->atttypid)),
				 errhint("Declare it as %s %s.", quote_identifier(column->name),
						 format_type_be(column->type))));
	}
	return binding;
}

char *
pfs_writable_columns(const PfsTable *table)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < table->ncolumns; i++)
	{
		if (table->columns[i].check != NULL)
			appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "", table->columns[i].name);
	}
	return buf.len > 0 ? buf.data : NULL;
}
