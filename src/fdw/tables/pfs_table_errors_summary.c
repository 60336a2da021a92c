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

PFS_LEVEL_ROW(ErrorRow, PfsErrorCell);

static const char *const severity_words[] = {
	[PFS_SEVERITY_WARNING] = "WARNING",
	[PFS_SEVERITY_ERROR] = "ERROR",
	[PFS_SEVERITY_FATAL] = "FATAL",
	[PFS_SEVERITY_PANIC] = "PANIC",
};

typedef enum ErrorWord
{
	ERROR_NAME,
	SQL_STATE,
	SEVERITY,
} ErrorWord;

/* Returns one of these; NULL in the row of the SQLSTATEs that have no cell of their own. */
static const char *
word_of(const ErrorRow *row, ErrorWord word)
{
	char	   *state = palloc(6);
	PfsSeverity severity;

	if (!pfs_error_of_cell(row->keys.cell, row->keys.cell_keys, state, &severity))
		return NULL;
	return word == ERROR_NAME ? pfs_error_name(state) : word == SQL_STATE ? state : severity_words[severity];
}

#define COLUMNS(X, t) \
	X(t, error_name, text, none, word_of(row, ERROR_NAME), \
	  "Name of the condition as in the manual's appendix on error codes; NULL for states of extensions, and for " \
	  "all that found no place of their own.", .width = 24) \
	X(t, sql_state, text, none, word_of(row, SQL_STATE), \
	  "SQLSTATE; NULL for all that found no place of their own.", .width = 6) \
	X(t, severity, text, none, word_of(row, SEVERITY), \
	  "ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets " \
	  "through.", .width = 6) \
	X(t, sum_error_raised, bigint, count, row->totals.raised, "How often it was raised.") \
	X(t, sum_error_handled, bigint, count, row->totals.handled, "How often a block caught it.") \
	X(t, first_seen, timestamptz, none, PFS_NULL_IF_0(row->totals.first_seen), \
	  "When it was raised first since the last reset.") \
	X(t, last_seen, timestamptz, none, PFS_NULL_IF_0(row->totals.last_seen), "When it was raised last.")

/* A guess: a session raises errors with a few SQLSTATEs. */
#define ROWS_PER_KEY 3

#define WHAT "Errors by SQLSTATE and severity"

PFS_LEVEL_TABLES(errors, "error", ERRORS, ErrorRow, COLUMNS, ROWS_PER_KEY, "one SQLSTATE and severity", WHAT);
PFS_LEVEL_TABLE(errors_global, ERRORS, GLOBAL, ErrorRow, COLUMNS, ROWS_PER_KEY, "events_errors_summary_global_by_error", "MySQL",
				"one SQLSTATE and severity", "zeroes all levels",
				WHAT " of the whole server, sessions that have ended included. TRUNCATE zeroes all levels.");
