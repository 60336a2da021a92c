/*
 * report_statements.c
 *	  The section of a report that has the statements, with what each waited for.
 */
#include "report_build.h"

#include <stdlib.h>
#include <string.h>

enum
{
	S_STATEMENT, S_DATABASE, S_ROLE, S_QUERY_ID, S_COUNT, S_TIME, S_SHARE, S_AVERAGE, S_QUANTILE_95, S_ROWS,
	S_BLOCKS_READ, S_BLOCKS_HIT, S_TEMP, S_WAL, S_ERRORS, NUM_COLUMNS
};

static const TableColumn columns[NUM_COLUMNS] = {
	[S_STATEMENT] = {"statement", COLUMN_TEXT, 60},
	[S_DATABASE] = {"database_name", COLUMN_TEXT, 20},
	[S_ROLE] = {"user_name", COLUMN_TEXT, 20},
	[S_QUERY_ID] = {"query_id", COLUMN_NUMBER},
	[S_COUNT] = {"count", COLUMN_COUNT},
	[S_TIME] = {"time", COLUMN_TIME},
	[S_SHARE] = {"share", COLUMN_PERCENT},
	[S_AVERAGE] = {"average", COLUMN_TIME},
	[S_QUANTILE_95] = {"quantile_95", COLUMN_TIME},
	[S_ROWS] = {"rows", COLUMN_COUNT},
	[S_BLOCKS_READ] = {"blocks_read", COLUMN_COUNT},
	[S_BLOCKS_HIT] = {"blocks_hit", COLUMN_COUNT},
	[S_TEMP] = {"temp_blocks_written", COLUMN_COUNT},
	[S_WAL] = {"wal_bytes", COLUMN_BYTES},
	[S_ERRORS] = {"errors", COLUMN_COUNT},
};

static const char *const titles[NUM_COLUMNS] = {
	[S_STATEMENT] = "statement",
	[S_DATABASE] = "database",
	[S_ROLE] = "role",
	[S_QUERY_ID] = "query id",
	[S_COUNT] = "calls",
	[S_TIME] = "time",
	[S_SHARE] = "share",
	[S_AVERAGE] = "average",
	[S_QUANTILE_95] = "95 % below",
	[S_ROWS] = "rows",
	[S_BLOCKS_READ] = "blocks read",
	[S_BLOCKS_HIT] = "blocks hit",
	[S_TEMP] = "temp written",
	[S_WAL] = "WAL",
	[S_ERRORS] = "errors",
};

/* The columns of the server's table that become numbers here. */
static const struct
{
	int			column;
	const char *name;
	const char *second;			/* added to it */
}			counters[] =

{
	{S_COUNT, "count_star"},
	{S_TIME, "sum_timer_wait"},
	{S_ROWS, "sum_rows_sent", "sum_rows_affected"},
	{S_BLOCKS_READ, "sum_shared_blks_read"},
	{S_BLOCKS_HIT, "sum_shared_blks_hit"},
	{S_TEMP, "sum_temp_blks_written"},
	{S_WAL, "sum_wal_bytes"},
	{S_ERRORS, "sum_errors"},
};

/* The row of the statement that a row of a table by digest is about; NULL: it was left out. */
static ReportRow *
find_statement(const ReportSection *section, const SnapshotTable *table, int row)
{
	const char *database = table_cell(table, row, table_column(table, "database_name"));
	const char *user = table_cell(table, row, table_column(table, "user_name"));
	const char *query = table_cell(table, row, table_column(table, "query_id"));

	for (int i = 0; i < section->num_rows; i++)
	{
		char	  **cells = section->rows[i].cells;

		if (same_text(cells[S_QUERY_ID], query) && same_text(cells[S_DATABASE], database) &&
			same_text(cells[S_ROLE], user))
			return &section->rows[i];
	}
	return NULL;
}

/* One row for each statement that ended in the time. */
static void
add_statements(ReportSection *section, const Difference *difference)
{
	const SnapshotTable *table = difference->table;
	int			count = table_column(table, "count_star");
	int			timed = table_column(table, "count_timed");
	int			time = table_column(table, "sum_timer_wait");
	int			text = table_column(table, "digest_text");
	Number		total = 0;

	for (int row = 0; row < table->num_rows; row++)
		total += growth_of(difference, row, time);
	for (int row = 0; row < table->num_rows; row++)
	{
		ReportRow  *added;
		const char *shown = table_cell(table, row, text);
		const char *user = table_cell(table, row, table_column(table, "user_name"));

		if (difference->hidden[row] || growth_of(difference, row, count) == 0)
			continue;
		added = section_row(section);
		if (shown)
			added->text = copy_string(shown);
		else
			shown = user ? "(not shown to this role, or no text kept)" : "(all others)";
		row_text(added, S_STATEMENT, shown);
		row_text(added, S_DATABASE, table_cell(table, row, table_column(table, "database_name")));
		row_text(added, S_ROLE, user);
		row_text(added, S_QUERY_ID, table_cell(table, row, table_column(table, "query_id")));
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		{
			Number		number = growth_of(difference, row, table_column(table, counters[i].name));

			if (counters[i].second)
				number += growth_of(difference, row, table_column(table, counters[i].second));
			row_number(added, counters[i].column, number);
		}
		row_real(added, S_SHARE, total ? (double) growth_of(difference, row, time) / (double) total : 0);
		if (growth_of(difference, row, timed) != 0)
			row_number(added, S_AVERAGE, growth_of(difference, row, time) / growth_of(difference, row, timed));
	}
}

/*
 * What the statements that are shown waited for; the rest of their time was on the processor,
 * or in statements inside them.
 */
static void
add_waits(ReportBuild *build, ReportSection *section)
{
	Difference *difference = build_difference(build, "events_waits_summary_by_digest");
	ReportLoad *load = &build->report->load;
	int			cpu = load_type(load, "CPU");
	int			event;
	int			count;
	int			timed;
	int			time;

	if (difference == NULL)
		return;
	event = table_column(difference->table, "event_name");
	count = table_column(difference->table, "count_star");
	timed = table_column(difference->table, "count_timed");
	time = table_column(difference->table, "sum_timer_wait");
	for (int row = 0; row < difference->table->num_rows; row++)
	{
		const char *name = table_cell(difference->table, row, event);
		ReportRow  *statement = find_statement(section, difference->table, row);

		if (statement == NULL || name == NULL || difference->hidden[row] || growth_of(difference, row, count) == 0)
			continue;
		row_wait(statement, name, growth_of(difference, row, count), growth_of(difference, row, timed), growth_of(difference, row, time));
		if (!build_has_property(build, name, "contains_waits"))
			row_mix(statement, load_type(load, build_wait_type(build, name)), growth_of(difference, row, time));
	}
	for (int i = 0; i < section->num_rows; i++)
	{
		ReportRow  *row = &section->rows[i];
		Number		rest;

		if (!parse_number(row->cells[S_TIME], &rest))
			continue;
		for (int type = 0; row->mix && type < load->num_types; type++)
			rest -= row->mix[type];
		row_mix(row, cpu, rest > 0 ? rest : 0);
	}
	difference_free(difference);
}

/*
 * The time that 95 of 100 executions stayed below, by the histogram of the time in between: the
 * upper end of the bucket in which they are reached.
 */
static void
add_quantiles(ReportBuild *build, ReportSection *section)
{
	Difference *difference = build_difference(build, "events_statements_histogram_by_digest");
	Number	   *totals;
	Number	   *seen;

	if (difference == NULL)
		return;
	totals = allocate(sizeof(Number) * 2 * (section->num_rows + 1));
	seen = totals + section->num_rows + 1;

	/*
	 * The rows of a statement come in the order of the buckets, so the second
	 * pass adds up.
	 */
	for (int pass = 0; pass < 2; pass++)
	{
		for (int row = 0; row < difference->table->num_rows; row++)
		{
			Number		count = growth_of(difference, row, table_column(difference->table, "count_bucket"));
			ReportRow  *statement = count > 0 ? find_statement(section, difference->table, row) : NULL;
			int			at;

			if (statement == NULL)
				continue;
			at = statement - section->rows;
			if (pass == 0)
				totals[at] += count;
			else
			{
				seen[at] += count;
				if (statement->cells[S_QUANTILE_95] == NULL && seen[at] * 100 >= totals[at] * 95)
					row_text(statement, S_QUANTILE_95, table_cell(difference->table, row,
																  table_column(difference->table, "bucket_timer_high")));
			}
		}
	}
	free(totals);
	difference_free(difference);
}

/* Makes the section; waits and quantiles are those of the rows that are shown. */
void
build_statements(ReportBuild *build)
{
	ReportSection *section;
	Difference *difference;

	section = report_section(build->report, "statements", "Statements",
							 "By shape, role and database. A statement's time contains that of statements inside it. "
							 "Colours show what it waited for; green is the rest, on a processor or in statements inside. "
							 "By time.",
							 columns, titles, NUM_COLUMNS);
	difference = build_difference(build, "events_statements_summary_by_digest");
	if (difference == NULL)
	{
		section->empty = copy_string("The snapshots do not have the table events_statements_summary_by_digest.");
		return;
	}
	add_statements(section, difference);
	section_sort(section, S_TIME, build->most);
	add_waits(build, section);
	add_quantiles(build, section);
	if (section->num_rows == 0 && !build_is_on(build, "statement/"))
		section->empty = copy_string("Nothing was recorded: no instrument statement/% is on. "
									 "SELECT pfs.set_instruments('statement/%', 'YES') switches them on.");
	else if (section->num_rows == 0)
		section->empty = copy_string("No statement ended in this time; or the consumer statements_digest is off, or "
									 "pfs.digests_size is 0.");
	difference_free(difference);
}
