/*
 * report_tables.c
 *	  The sections of a report that show one table of the server each.
 *
 * A section is a list of columns; what a column takes from the difference of the table is
 * in its definition, so a new section is a new list.
 */
#include "report_build.h"

#include <stdlib.h>
#include <string.h>

typedef enum CellSource
{
	FROM_TEXT,					/* a text or a number of the later snapshot,
								 * as it is */
	FROM_GROWTH,
	FROM_LATER,					/* a number of the later snapshot */
	FROM_CHANGE,				/* growth less the growth of the second column */
	FROM_AVERAGE,				/* growth by the growth of the second column */
	FROM_SHARE,					/* of the column in all rows */
} CellSource;

typedef struct SectionColumn
{
	const char *name;			/* in JSON */
	const char *title;
	ColumnKind	kind;
	CellSource	source;
	const char *column;			/* of the server's table */
	const char *second;
} SectionColumn;

#define MAX_SECTION_COLUMNS 14

typedef struct SectionDefinition
{
	const char *id;
	const char *title;
	const char *about;
	const char *table;
	const char *instruments;	/* what has to be on; NULL: nothing */
	int			group;			/* rows with the same first columns are added
								 * up; 0: not */
	int			sort;			/* column */
	bool		(*wanted) (const ReportBuild *build, const Difference *difference, int row);
	SectionColumn columns[MAX_SECTION_COLUMNS];
} SectionDefinition;

/* ---- which rows ---- */

static bool
grew(const Difference *difference, int row, const char *column)
{
	return growth_of(difference, row, table_column(difference->table, column)) != 0;
}

static bool
counted(const ReportBuild *build, const Difference *difference, int row)
{
	return grew(difference, row, "count_star");
}

/* Waits for a resource, neither idle times nor what contains other waits. */
static bool
real_wait(const ReportBuild *build, const Difference *difference, int row)
{
	const char *event = table_cell(difference->table, row, 0);

	return counted(build, difference, row) && event &&
		!build_has_property(build, event, "idle") && !build_has_property(build, event, "contains_waits");
}

static bool
raised(const ReportBuild *build, const Difference *difference, int row)
{
	return table_cell(difference->table, row, table_column(difference->table, "sql_state")) != NULL &&
		grew(difference, row, "sum_error_raised");
}

static bool
used_memory(const ReportBuild *build, const Difference *difference, int row)
{
	Number		used = 0;

	table_number(difference->table, row, table_column(difference->table, "current_number_of_bytes_used"), &used);
	return used > 0 || grew(difference, row, "count_alloc") || grew(difference, row, "count_free");
}

static bool
was_lost(const ReportBuild *build, const Difference *difference, int row)
{
	return grew(difference, row, "count_lost");
}

/* ---- the sections ---- */

#define TEXT(name, title) {name, title, COLUMN_TEXT, FROM_TEXT, name}
#define COUNT_OF(name, title, column) {name, title, COLUMN_COUNT, FROM_GROWTH, column}
#define TIME_OF(name, title, column) {name, title, COLUMN_TIME, FROM_GROWTH, column}
#define AVERAGE_OF(name, title, column, second) {name, title, COLUMN_TIME, FROM_AVERAGE, column, second}

/* Of a table and of an index. */
#define WORK_ON_ROWS \
	COUNT_OF("fetched", "fetched", "count_fetch"), \
	COUNT_OF("inserted", "inserted", "count_insert"), \
	COUNT_OF("updated", "updated", "count_update"), \
	COUNT_OF("deleted", "deleted", "count_delete"), \
	{"share", "share of time", COLUMN_PERCENT, FROM_SHARE, "sum_timer_wait"}, \
	TIME_OF("time", "time", "sum_timer_wait"),

static const SectionDefinition definitions[] = {
	{
		"waits", "Waits", "What the server waited for, its background processes too; idle times are left out. By time.",
		"events_waits_summary_global_by_event_name", "wait/", 0, 2, real_wait,
		{
			TEXT("event_name", "wait"),
			COUNT_OF("count", "count", "count_star"),
			TIME_OF("time", "time", "sum_timer_wait"),
			{"share", "share", COLUMN_PERCENT, FROM_SHARE, "sum_timer_wait"},
			AVERAGE_OF("average", "average", "sum_timer_wait", "count_timed"),
			{"longest", "longest since reset", COLUMN_TIME, FROM_LATER, "max_timer_wait"},
			{"quantile_99", "99 % below, since reset", COLUMN_TIME, FROM_LATER, "quantile_99"},
		}
	},
	{
		"files", "Files", "By relation or kind of file; names of relations are those of this database. What files that were removed or "
		"renamed have counted, as old WAL and temporary ones, is in one row for each kind. By time.",
		"file_summary_by_relation", "wait/io/file/", 0, 6, counted,
		{
			TEXT("kind", "kind"),
			TEXT("object_schema", "schema"),
			TEXT("object_name", "name"),
			TEXT("tablespace", "tablespace"),
			COUNT_OF("reads", "reads", "count_read"),
			COUNT_OF("writes", "writes", "count_write"),
			TIME_OF("time", "time", "sum_timer_wait"),
			TIME_OF("read_time", "reading", "sum_timer_read"),
			TIME_OF("write_time", "writing", "sum_timer_write"),
			TIME_OF("misc_time", "other calls", "sum_timer_misc"),
			{"bytes_read", "read", COLUMN_BYTES, FROM_GROWTH, "sum_number_of_bytes_read"},
			{"bytes_written", "written", COLUMN_BYTES, FROM_GROWTH, "sum_number_of_bytes_write"},
		}
	},
	{
		"tables", "Tables", "Rows fetched, inserted, updated and deleted, and the time in these calls. By time.",
		"table_io_waits_summary_by_table", "wait/io/table/", 0, 8, counted,
		{
			TEXT("database_name", "database"),
			TEXT("object_schema", "schema"),
			TEXT("object_name", "table"),
			WORK_ON_ROWS
		}
	},
	{
		"indexes", "Indexes", "Rows that went by each index; without a name: by none. By time.",
		"table_io_waits_summary_by_index_usage", "wait/io/table/", 0, 9, counted,
		{
			TEXT("database_name", "database"),
			TEXT("object_schema", "schema"),
			TEXT("object_name", "table"),
			TEXT("index_name", "index"),
			WORK_ON_ROWS
		}
	},
	{
		"table_locks", "Locks on tables", "Waits for locks on relations. By time.",
		"table_lock_waits_summary_by_table", "wait/lock/", 0, 4, counted,
		{
			TEXT("database_name", "database"),
			TEXT("object_schema", "schema"),
			TEXT("object_name", "relation"),
			COUNT_OF("count", "waits", "count_star"),
			TIME_OF("time", "time", "sum_timer_wait"),
			AVERAGE_OF("average", "average", "sum_timer_wait", "count_timed"),
			{"longest", "longest since reset", COLUMN_TIME, FROM_LATER, "max_timer_wait"},
			TIME_OF("access_exclusive_time", "for access exclusive", "sum_timer_access_exclusive"),
		}
	},
	{
		"users", "Users", "Statements by the role that logged in; statements inside functions count, too. By time.",
		"events_statements_summary_by_user_by_event_name", "statement/", 1, 2, counted,
		{
			TEXT("user_name", "role"),
			COUNT_OF("count", "statements", "count_star"),
			TIME_OF("time", "time", "sum_timer_wait"),
			{"share", "share", COLUMN_PERCENT, FROM_SHARE, "sum_timer_wait"},
			AVERAGE_OF("average", "average", "sum_timer_wait", "count_timed"),
			COUNT_OF("errors", "errors", "sum_errors"),
			COUNT_OF("rows_sent", "rows sent", "sum_rows_sent"),
			COUNT_OF("rows_affected", "rows changed", "sum_rows_affected"),
			COUNT_OF("blocks_read", "blocks read", "sum_shared_blks_read"),
			{"wal_bytes", "WAL", COLUMN_BYTES, FROM_GROWTH, "sum_wal_bytes"},
		}
	},
	{
		"programs", "Functions and triggers", "The time in each, and in its statements. By time.",
		"events_statements_summary_by_program", NULL, 0, 5, counted,
		{
			TEXT("object_type", "kind"),
			TEXT("database_name", "database"),
			TEXT("object_schema", "schema"),
			TEXT("object_name", "name"),
			COUNT_OF("count", "calls", "count_star"),
			TIME_OF("time", "time", "sum_timer_wait"),
			AVERAGE_OF("average", "average", "sum_timer_wait", "count_timed"),
			COUNT_OF("statements", "statements", "count_statements"),
			TIME_OF("statement_time", "in statements", "sum_statements_wait"),
		}
	},
	{
		"errors", "Errors", "By SQLSTATE; handled are those that a block caught. By number.",
		"events_errors_summary_global_by_error", "error", 0, 3, raised,
		{
			TEXT("sql_state", "SQLSTATE"),
			TEXT("error_name", "name"),
			TEXT("severity", "severity"),
			COUNT_OF("raised", "raised", "sum_error_raised"),
			COUNT_OF("handled", "handled", "sum_error_handled"),
			TEXT("last_seen", "last seen"),
		}
	},
	{
		"memory", "Memory", "By memory context and use: what is in use at the end, and what it grew by. By bytes in use.",
		"memory_summary_global_by_event_name", NULL, 0, 1, used_memory,
		{
			TEXT("event_name", "context"),
			{"used", "in use", COLUMN_BYTES, FROM_LATER, "current_number_of_bytes_used"},
			{"change", "grew by", COLUMN_BYTES, FROM_CHANGE, "sum_number_of_bytes_alloc", "sum_number_of_bytes_free"},
			{"most", "most since reset", COLUMN_BYTES, FROM_LATER, "high_number_of_bytes_used"},
			COUNT_OF("allocations", "allocations", "count_alloc"),
			{"allocated", "allocated", COLUMN_BYTES, FROM_GROWTH, "sum_number_of_bytes_alloc"},
		}
	},
	{
		"memory_users", "Memory by role", "Bytes that each role's sessions have in use at the end; without a name: background processes. By bytes in use.",
		"memory_summary_by_user_by_event_name", "memory/context/", 1, 1, used_memory,
		{
			TEXT("user_name", "role"),
			{"used", "in use", COLUMN_BYTES, FROM_LATER, "current_number_of_bytes_used"},
			{"change", "grew by", COLUMN_BYTES, FROM_CHANGE, "sum_number_of_bytes_alloc", "sum_number_of_bytes_free"},
			COUNT_OF("allocations", "allocations", "count_alloc"),
			{"allocated", "allocated", COLUMN_BYTES, FROM_GROWTH, "sum_number_of_bytes_alloc"},
		}
	},
	{
		"lost", "Lost events", "What pfs could not keep, as a part of its memory was full: its setting has to be larger. By number.",
		"status", NULL, 0, 1, was_lost,
		{
			TEXT("variable_name", "counter"),
			COUNT_OF("lost", "lost", "count_lost"),
		}
	},
};

#define NUM_DEFINITIONS ((int) (sizeof(definitions) / sizeof(definitions[0])))

/* ---- rows ---- */

/* What one row adds to a column that is a sum. */
static Number
number_of(const Difference *difference, int row, const SectionColumn *column)
{
	int			first = table_column(difference->table, column->column);
	Number		number = 0;

	switch (column->source)
	{
		case FROM_TEXT:
			break;
		case FROM_LATER:
			table_number(difference->table, row, first, &number);
			break;
		case FROM_CHANGE:
			number = growth_of(difference, row, first) -
				growth_of(difference, row, table_column(difference->table, column->second));
			break;
		case FROM_GROWTH:
		case FROM_AVERAGE:
		case FROM_SHARE:
			number = growth_of(difference, row, first);
			break;
	}
	return number;
}

/* Sums of a row in the making. */
typedef struct RowSums
{
	Number		numbers[MAX_SECTION_COLUMNS];
	Number		seconds[MAX_SECTION_COLUMNS];	/* of what an average is
												 * divided by */
} RowSums;

/* The row whose first cells are these, or a new one. */
static int
find_row(ReportSection *section, RowSums **sums, const SectionDefinition *definition, const Difference *difference, int row)
{
	ReportRow  *added;

	for (int i = 0; definition->group > 0 && i < section->num_rows; i++)
	{
		bool		same = true;

		for (int j = 0; same && j < definition->group; j++)
		{
			const char *cell = table_cell(difference->table, row,
										  table_column(difference->table, definition->columns[j].column));

			same = same_text(cell, section->rows[i].cells[j]);
		}
		if (same)
			return i;
	}
	added = section_row(section);
	for (int i = 0; i < section->num_columns; i++)
	{
		if (definition->columns[i].source == FROM_TEXT)
			row_text(added, i, table_cell(difference->table, row,
										  table_column(difference->table, definition->columns[i].column)));
	}
	*sums = reallocate(*sums, sizeof(RowSums) * section->num_rows);
	memset(&(*sums)[section->num_rows - 1], 0, sizeof(RowSums));
	return section->num_rows - 1;
}

/* Writes the sums of all rows into their cells. */
static void
finish_rows(ReportSection *section, const SectionDefinition *definition, const RowSums *sums, bool reset)
{
	for (int i = 0; i < section->num_columns; i++)
	{
		const SectionColumn *column = &definition->columns[i];
		Number		total = 0;

		for (int row = 0; row < section->num_rows; row++)
			total += sums[row].numbers[i];
		for (int row = 0; row < section->num_rows; row++)
		{
			Number		number = sums[row].numbers[i];

			if (column->source == FROM_TEXT || (column->source == FROM_CHANGE && reset))
				continue;
			if (column->source == FROM_SHARE)
				row_real(&section->rows[row], i, total ? (double) number / (double) total : 0);
			else if (column->source == FROM_AVERAGE)
				row_number(&section->rows[row], i, sums[row].seconds[i] ? number / sums[row].seconds[i] : 0);
			else
				row_number(&section->rows[row], i, number);
		}
	}
}

/* Makes one section from its definition. */
static void
build_section(ReportBuild *build, const SectionDefinition *definition)
{
	int			num_columns = 0;
	static TableColumn all_columns[NUM_DEFINITIONS][MAX_SECTION_COLUMNS];
	static const char *all_titles[NUM_DEFINITIONS][MAX_SECTION_COLUMNS];
	TableColumn *columns = all_columns[definition - definitions];
	const char **titles = all_titles[definition - definitions];
	ReportSection *section;
	Difference *difference;
	RowSums    *sums = NULL;

	for (; num_columns < MAX_SECTION_COLUMNS && definition->columns[num_columns].name; num_columns++)
	{
		const SectionColumn *column = &definition->columns[num_columns];

		columns[num_columns] = (TableColumn)
		{
			column->name, column->kind, column->kind == COLUMN_TEXT ? 48 : 0
		};
		titles[num_columns] = column->title;
	}
	section = report_section(build->report, definition->id, definition->title, definition->about, columns, titles, num_columns);
	difference = build_difference(build, definition->table);
	if (difference == NULL)
	{
		section->empty = format_string("The snapshots do not have the table %s.", definition->table);
		return;
	}
	for (int row = 0; row < difference->table->num_rows; row++)
	{
		int			into;

		if (difference->hidden[row] || !definition->wanted(build, difference, row))
			continue;
		into = find_row(section, &sums, definition, difference, row);
		for (int i = 0; i < num_columns; i++)
		{
			const SectionColumn *column = &definition->columns[i];

			sums[into].numbers[i] += number_of(difference, row, column);
			if (column->source == FROM_AVERAGE)
				sums[into].seconds[i] += growth_of(difference, row, table_column(difference->table, column->second));
		}
	}
	finish_rows(section, definition, sums, difference->reset);
	free(sums);
	difference_free(difference);
	section_sort(section, definition->sort, build->most);
	if (section->num_rows == 0 && definition->instruments && !build_is_on(build, definition->instruments))
		section->empty = format_string("Nothing was recorded: no instrument %s%% is on. "
									   "SELECT pfs.set_instruments('%s%%', 'YES') switches them on.",
									   definition->instruments, definition->instruments);
}

void
build_tables(ReportBuild *build)
{
	for (int i = 0; i < NUM_DEFINITIONS; i++)
		build_section(build, &definitions[i]);
}
