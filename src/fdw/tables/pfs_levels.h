/*
 * pfs_levels.h
 *	  What summaries of all families share, by level: the keys, of a thread, an
 *	  account, a user, a host; then the event name; and the table itself.
 */
#ifndef PFS_LEVELS_H
#define PFS_LEVELS_H

#include "pfs_summary.h"
#include "pfs_tables.h"

/* The first field of a summary's row; which of the keys are set depends on the level. */
typedef struct PfsLevelKeys
{
	uint64		thread_id;
	PfsInstrumentId instrument;
	uint32		cell;			/* of families whose cells are no instruments */
	bool		named;			/* false: background processes */
	char		user_name[NAMEDATALEN];
	char		host_name[PFS_CLIENT_HOST_SIZE];
} PfsLevelKeys;

extern void pfs_level_keys_fill(PfsLevelKeys *keys, const PfsSummaryRow *from);

/* The keys of each level.  row is a struct that begins with PfsLevelKeys keys. */
#define PFS_THREAD_KEYS(X, t) \
	X(t, thread_id, bigint, none, row->keys.thread_id, \
	  "A living thread: threads.thread_id.", .key = PFS_KEY_THREAD_ID)

#define PFS_ACCOUNT_KEYS(X, t) \
	PFS_USER_KEYS(X, t) \
	PFS_HOST_KEYS(X, t)

#define PFS_USER_KEYS(X, t) \
	X(t, user_name, text, none, row->keys.named ? row->keys.user_name : NULL, \
	  "The authenticated role; NULL for background processes, (others) for roles that gave their places away.", \
	  .width = 12)

#define PFS_HOST_KEYS(X, t) \
	X(t, host, text, none, row->keys.named ? row->keys.host_name : NULL, \
	  "Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that " \
	  "gave their places away.", .width = 12)

#define PFS_GLOBAL_KEYS(X, t)

/* The column behind the keys, of families whose cells are instruments. */
#define PFS_EVENT_NAME_COLUMN(X, t) \
	X(t, event_name, text, none, pfs_event_name(row->keys.instrument), \
	  "The instrument: setup_instruments.name.", .width = 30, .key = PFS_KEY_EVENT_NAME)

/* Estimates the rows of a table of the level, if each key has rows_per_key of them. */
extern double pfs_level_estimate(PfsLevel level, double rows_per_key);

/*
 * The columns and functions of a family's table of one level, for a PfsTable that
 * PFS_LEVEL_TABLE or the family's own file defines.  Row: the type of its rows, which
 * begins with the keys; COLUMNS: the list of the columns behind them; add_cb fills a row.
 */
#define PFS_LEVEL_FUNCTIONS(prefix, FAMILY, LEVEL, Row, COLUMNS, add_cb, rows_per_key) \
PFS_JOINED_COLUMNS(prefix, Row, PFS_##LEVEL##_KEYS, COLUMNS) \
static double \
prefix##_estimate(void) \
{ \
	return pfs_level_estimate(PFS_LEVEL_##LEVEL, rows_per_key); \
} \
static void \
prefix##_copy(PfsScan *scan) \
{ \
	pfs_summary_read(PFS_FAMILY_##FAMILY, PFS_LEVEL_##LEVEL, \
					 PFS_LEVEL_##LEVEL == PFS_LEVEL_THREAD ? scan->thread_id : 0, scan->instrument, add_cb, scan); \
} \
static int64 \
prefix##_truncate(void) \
{ \
	return pfs_summary_truncate(PFS_FAMILY_##FAMILY, PFS_LEVEL_##LEVEL); \
}

/* The table itself, which C knows as pfs_table_<symbol>. */
#define PFS_LEVEL_TABLE(symbol, prefix, Row, name, source, a_row_is, effect, comment) \
const PfsTable pfs_table_##symbol = { \
	PFS_TABLE(name, prefix, source, a_row_is, effect, comment), \
	.row_size = sizeof(Row), \
	.estimate = prefix##_estimate, \
	.copy = prefix##_copy, \
	.truncate = prefix##_truncate, \
	.in_reset_all = true, \
}

/* What TRUNCATE does at the levels of all families but memory, as pfs.tables shows it. */
#define PFS_THREAD_EFFECT "moves the counters into their accounts"
#define PFS_ACCOUNT_EFFECT "moves the counters of threads and accounts into their users and hosts"
#define PFS_USER_EFFECT "moves the counters of threads and accounts into their hosts, discards those of users"
#define PFS_HOST_EFFECT "moves the counters of threads, accounts and hosts into the global ones"

/*
 * The four tables of a family of events below the global one, whose rows and columns are
 * the same but for the keys.  stem and by: of the names, events_<stem>_summary_..._by_<by>;
 * one: what a row without the key is; what: what the tables show.
 */
#define PFS_LEVEL_TABLES(stem, by, FAMILY, Row, COLUMNS, add_cb, rows_per_key, one, what) \
PFS_LEVEL_FUNCTIONS(by_thread, FAMILY, THREAD, Row, COLUMNS, add_cb, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_account, FAMILY, ACCOUNT, Row, COLUMNS, add_cb, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_user, FAMILY, USER, Row, COLUMNS, add_cb, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_host, FAMILY, HOST, Row, COLUMNS, add_cb, rows_per_key) \
PFS_ONE_LEVEL_TABLE(stem, by, by_thread, Row, one " of one living thread", PFS_THREAD_EFFECT, \
	what ", by living thread."); \
PFS_ONE_LEVEL_TABLE(stem, by, by_account, Row, one " of one account", PFS_ACCOUNT_EFFECT, \
	what ", by account: a user on a client address, sessions that have ended included."); \
PFS_ONE_LEVEL_TABLE(stem, by, by_user, Row, one " of one user", PFS_USER_EFFECT, \
	what ", by user, sessions that have ended included."); \
PFS_ONE_LEVEL_TABLE(stem, by, by_host, Row, one " of one client address", PFS_HOST_EFFECT, \
	what ", by client address, sessions that have ended included.")

#define PFS_ONE_LEVEL_TABLE(stem, by, prefix, Row, a_row_is, effect, what) \
PFS_LEVEL_TABLE(stem##_##prefix, prefix, Row, "events_" #stem "_summary_" #prefix "_by_" by, "MySQL", a_row_is, \
				effect, what " TRUNCATE " effect ".")

#endif							/* PFS_LEVELS_H */
