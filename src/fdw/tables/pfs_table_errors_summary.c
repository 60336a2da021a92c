/*
 * pfs_table_errors_summary.c
 *	  events_errors_summary_{global,by_thread,by_account,by_user,by_host}_by_error.
 *
 * Rows are there for what was counted only: a server has hundreds of states, and a
 * session meets a few.
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
	char		state[6];		/* "": all others */
} ErrorRow;

/* Behind a level's own keys, of which the last is the event name of other families. */
enum
{
	ERROR_NAME,
	SQL_STATE,
	SEVERITY,
	SUM_ERROR_RAISED,
	SUM_ERROR_HANDLED,
	FIRST_SEEN,
	LAST_SEEN,
};

#define ERROR_COLUMNS(first) \
	[(first) + ERROR_NAME] = {"error_name", TEXTOID, .width = 24}, \
	[(first) + SQL_STATE] = {"sql_state", TEXTOID, .width = 6}, \
	[(first) + SEVERITY] = {"severity", TEXTOID, .width = 6}, \
	[(first) + SUM_ERROR_RAISED] = {"sum_error_raised", INT8OID}, \
	[(first) + SUM_ERROR_HANDLED] = {"sum_error_handled", INT8OID}, \
	[(first) + FIRST_SEEN] = {"first_seen", TIMESTAMPTZOID}, \
	[(first) + LAST_SEEN] = {"last_seen", TIMESTAMPTZOID}

#define THREAD_KEYS (PFS_THREAD_KEYS - 1)
#define ACCOUNT_KEYS (PFS_ACCOUNT_KEYS - 1)
#define USER_KEYS (PFS_USER_KEYS - 1)
#define HOST_KEYS (PFS_HOST_KEYS - 1)
#define GLOBAL_KEYS (PFS_GLOBAL_KEYS - 1)

static const PfsColumn by_thread_columns[] = {
	[0] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID},
	ERROR_COLUMNS(THREAD_KEYS),
};

static const PfsColumn by_account_columns[] = {
	[0] = {"user_name", TEXTOID, .width = 12},
	[1] = {"host", TEXTOID, .width = 12},
	ERROR_COLUMNS(ACCOUNT_KEYS),
};

static const PfsColumn by_user_columns[] = {
	[0] = {"user_name", TEXTOID, .width = 12},
	ERROR_COLUMNS(USER_KEYS),
};

static const PfsColumn by_host_columns[] = {
	[0] = {"host", TEXTOID, .width = 12},
	ERROR_COLUMNS(HOST_KEYS),
};

static const PfsColumn global_columns[] = {
	ERROR_COLUMNS(GLOBAL_KEYS),
};

static void
add_row_cb(const PfsSummaryRow *from, void *arg)
{
	ErrorRow   *row = pfs_scan_add(arg);

	pfs_level_keys_fill(&row->keys, from);
	row->totals = *(const PfsErrorCell *) from->totals;
	if (!pfs_error_of_cell(from->cell, from->keys, row->state, &row->severity))
		row->state[0] = '\0';
}

static const char *
severity_word(PfsSeverity severity)
{
	static const char *const words[] = {
		[PFS_SEVERITY_WARNING] = "WARNING",
		[PFS_SEVERITY_ERROR] = "ERROR",
		[PFS_SEVERITY_FATAL] = "FATAL",
		[PFS_SEVERITY_PANIC] = "PANIC",
	};

	return words[severity];
}

static Datum
time_or_null(int64 time, bool *isnull)
{
	return time == 0 ? pfs_null(isnull) : TimestampTzGetDatum(time);
}

static Datum
value_get(const ErrorRow *row, int column, bool *isnull)
{
	switch (column)
	{
		case SUM_ERROR_RAISED:
			return Int64GetDatum((int64) row->totals.raised);
		case SUM_ERROR_HANDLED:
			return Int64GetDatum((int64) row->totals.handled);
		case FIRST_SEEN:
			return time_or_null(row->totals.first_seen, isnull);
		case LAST_SEEN:
			return time_or_null(row->totals.last_seen, isnull);
	}
	/* All others have neither. */
	if (row->state[0] == '\0')
		return pfs_null(isnull);
	if (column == ERROR_NAME)
		return pfs_text_or_null(pfs_error_name(row->state), isnull);
	return CStringGetTextDatum(column == SQL_STATE ? row->state : severity_word(row->severity));
}

/* A session meets a few. */
#define ROWS_PER_KEY 3

#define LEVEL(prefix, LEVEL, of, effect) \
static double \
prefix##_estimate(void) \
{ \
	return pfs_level_estimate(PFS_LEVEL_##LEVEL, ROWS_PER_KEY); \
} \
static void \
prefix##_copy(PfsScan *scan) \
{ \
	pfs_summary_read(PFS_FAMILY_ERRORS, PFS_LEVEL_##LEVEL, \
					 PFS_LEVEL_##LEVEL == PFS_LEVEL_THREAD ? scan->thread_id : 0, PFS_NO_INSTRUMENT, add_row_cb, scan); \
} \
static Datum \
prefix##_get(PfsScan *scan, const void *copied, int column, bool *isnull) \
{ \
	const ErrorRow *row = copied; \
\
	if (column < LEVEL##_KEYS) \
		return pfs_level_key_get(scan, PFS_LEVEL_##LEVEL, &row->keys, column, isnull); \
	return value_get(row, column - LEVEL##_KEYS, isnull); \
} \
static int64 \
prefix##_truncate(void) \
{ \
	return pfs_summary_truncate(PFS_FAMILY_ERRORS, PFS_LEVEL_##LEVEL); \
} \
const PfsTable pfs_table_errors_##prefix = { \
	.name = "events_errors_summary_" #prefix "_by_error", \
	.row_is = "one SQLSTATE and severity" of, \
	.truncate_effect = effect, \
	.columns = prefix##_columns, \
	.ncolumns = lengthof(prefix##_columns), \
	.row_size = sizeof(ErrorRow), \
	.estimate = prefix##_estimate, \
	.copy = prefix##_copy, \
	.get = prefix##_get, \
	.truncate = prefix##_truncate, \
	.in_reset_all = true, \
}

LEVEL(by_thread, THREAD, " of one living thread", "pushes the numbers into their accounts");
LEVEL(by_account, ACCOUNT, " of one account", "pushes the numbers of threads and accounts into their users and hosts");
LEVEL(by_user, USER, " of one user", "pushes the numbers of threads and accounts into their hosts, discards those of users");
LEVEL(by_host, HOST, " of one client address", "pushes the numbers of threads, accounts and hosts into the global ones");
LEVEL(global, GLOBAL, "", "zeroes all levels");
