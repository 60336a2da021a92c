/*
 * pfs_table_errors_summary.c
 *	  events_errors_summary_{global,by_thread,by_account,by_user,by_host}_by_error.
 *
 * There are rows only for what was counted: a server has hundreds of SQLSTATEs, and a
 * session raises a few of them.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_error.h"
#include "pfs_levels.h"
#include "pfs_tables.h"
#include "pfs_value.h"

typedef struct ErrorRow
{
	PfsLevelKeys keys;
	PfsErrorCell totals;
	PfsSeverity severity;
	char		state[6];		/* "": SQLSTATEs without a cell of their own */
} ErrorRow;

static void
add_row_cb(const PfsSummaryRow *from, void *arg)
{
	ErrorRow   *row = pfs_scan_add(arg);

	pfs_level_keys_fill(&row->keys, from);
	row->totals = *(const PfsErrorCell *) from->totals;
	if (!pfs_error_of_cell(from->cell, from->keys, row->state, &row->severity))
		row->state[0] = '\0';
}

static const char *const severity_words[] = {
	[PFS_SEVERITY_WARNING] = "WARNING",
	[PFS_SEVERITY_ERROR] = "ERROR",
	[PFS_SEVERITY_FATAL] = "FATAL",
	[PFS_SEVERITY_PANIC] = "PANIC",
};

/*
 * The row of the SQLSTATEs that have no cell of their own shows neither name nor SQLSTATE
 * nor severity.
 */
#define OF_STATE(value) (row->state[0] != '\0' ? (value) : NULL)

#define COLUMNS(X, t) \
	X(t, error_name, text, none, OF_STATE(pfs_error_name(row->state)), \
	  "Name of the condition as in the manual's appendix on error codes; NULL for states of extensions, and for " \
	  "all that found no place of their own.", .width = 24) \
	X(t, sql_state, text, none, OF_STATE(row->state), \
	  "SQLSTATE; NULL for all that found no place of their own.", .width = 6) \
	X(t, severity, text, none, OF_STATE(severity_words[row->severity]), \
	  "ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets " \
	  "through.", .width = 6) \
	X(t, sum_error_raised, bigint, count, row->totals.raised, "How often it was raised.") \
	X(t, sum_error_handled, bigint, count, row->totals.handled, \
	  "How often a block caught it.") \
	X(t, first_seen, timestamptz, none, PFS_NULL_IF_0(row->totals.first_seen), \
	  "When it was raised first since the last reset.") \
	X(t, last_seen, timestamptz, none, PFS_NULL_IF_0(row->totals.last_seen), "When it was raised last.")

/* A guess: a session raises errors with a few SQLSTATEs. */
#define ROWS_PER_KEY 3

#define WHAT "Errors by SQLSTATE and severity"

PFS_LEVEL_TABLES(errors, "error", ERRORS, ErrorRow, COLUMNS, add_row_cb, ROWS_PER_KEY, "one SQLSTATE and severity", WHAT);

PFS_LEVEL_FUNCTIONS(global, ERRORS, GLOBAL, ErrorRow, COLUMNS, add_row_cb, ROWS_PER_KEY)

PFS_ONE_LEVEL_TABLE(errors, "error", global, ErrorRow, "one SQLSTATE and severity", "zeroes all levels",
					WHAT " of the whole server, sessions that have ended included.");
