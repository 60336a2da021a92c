/*
 * pfs_levels.h
 *	  What summaries of all families share, by level: the keys, of a thread, an
 *	  account, a user, a host; then the event name; and the table itself.
 */
#ifndef PFS_LEVELS_H
#define PFS_LEVELS_H

#include "pfs_summary.h"
#include "pfs_tables.h"
#include "pfs_thread.h"
#include "pfs_timer_wait.h"

/* The first field of a summary's row; which of the keys are set depends on the level. */
typedef struct PfsLevelKeys
{
	uint64		thread_id;
	PfsInstrumentId instrument;
	uint32		cell;			/* of families whose cells are no instruments */
	const void *cell_keys;		/* what these stand for: PfsSummaryRow.keys */
	bool		named;			/* false: background processes */
	char		user_name[NAMEDATALEN];
	char		host_name[PFS_CLIENT_HOST_SIZE];
} PfsLevelKeys;

/* The keys of each level.  row is a struct that begins with PfsLevelKeys keys. */
#define PFS_THREAD_KEYS(X, t) \
	X(t, thread_id, bigint, none, row->keys.thread_id, \
	  "A living thread: threads.thread_id.", .key = PFS_KEY_THREAD_ID)

#define PFS_ACCOUNT_KEYS(X, t) \
	PFS_USER_KEYS(X, t) \
	PFS_HOST_KEYS(X, t)

#define PFS_USER_KEYS(X, t) PFS_USER_COLUMN(X, t, &row->keys)
#define PFS_HOST_KEYS(X, t) PFS_HOST_COLUMN(X, t, &row->keys)

/* of: whatever has these names, and says whether there are any. */
#define PFS_USER_COLUMN(X, t, of) \
	X(t, user_name, text, none, (of)->named ? (of)->user_name : NULL, \
	  "The authenticated role; NULL for background processes, (others) for roles that gave their places away.", \
	  .width = 12)

#define PFS_HOST_COLUMN(X, t, of) \
	X(t, host, text, none, (of)->named ? (of)->host_name : NULL, \
	  "Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that " \
	  "gave their places away.", .width = 12)

#define PFS_GLOBAL_KEYS(X, t)

/* The column behind the keys, of families whose cells are instruments. */
#define PFS_EVENT_NAME_COLUMN(X, t) PFS_INSTRUMENT_COLUMN(X, t, row->keys.instrument, 30)

/* The struct of a summary's rows, whose totals are the family's. */
#define PFS_LEVEL_ROW(Row, Totals) \
typedef struct Row \
{ \
	PfsLevelKeys keys; \
	Totals		totals; \
} Row; \
StaticAssertDecl(offsetof(Row, totals) == sizeof(PfsLevelKeys), "totals lie right behind the keys")

/* The records of a level; global there is one. */
#define PFS_THREAD_RECORDS {&pfs_threads}
#define PFS_ACCOUNT_RECORDS {&pfs_accounts[PFS_ACCOUNTS].pages}
#define PFS_USER_RECORDS {&pfs_accounts[PFS_USERS].pages}
#define PFS_HOST_RECORDS {&pfs_accounts[PFS_HOSTS].pages}
#define PFS_GLOBAL_RECORDS {NULL}

/*
 * A family's table of one level, whose rows begin with what PFS_LEVEL_ROW() has.  COLUMNS: the list
 * of the columns behind the keys; rows_per_key: a guess.
 */
#define PFS_LEVEL_TABLE(symbol, FAMILY, LEVEL, Row, COLUMNS, rows_per_key, table_name, source, a_row_is, effect, comment) \
PFS_JOINED_COLUMNS(symbol, Row, PFS_##LEVEL##_KEYS, COLUMNS) \
const PfsTable pfs_table_##symbol = { \
	PFS_TABLE(table_name, symbol, source, a_row_is, effect, comment), \
	.family = PFS_FAMILY_##FAMILY, \
	.part = PFS_LEVEL_##LEVEL, \
	.containers = PFS_##LEVEL##_RECORDS, \
	.usual_rows = rows_per_key, \
	.copy = pfs_level_copy, \
	.truncate_part = pfs_level_truncate, \
	.in_reset_all = true, \
}

/* A global table with a row for each of the family's instruments; its columns have been made. */
#define PFS_ALL_EVENTS_TABLE(symbol, FAMILY, copy_cb, table_name, a_row_is, effect, comment) \
const PfsTable pfs_table_##symbol = { \
	PFS_TABLE(table_name, symbol, "MySQL", a_row_is, effect, comment), \
	.family = PFS_FAMILY_##FAMILY, \
	.part = PFS_LEVEL_GLOBAL, \
	.estimate = pfs_level_all_estimate, \
	.copy = copy_cb, \
	.truncate_part = pfs_level_truncate, \
	.in_reset_all = true, \
}

/* The callbacks of these tables; what they show is in PfsTable.family and .part. */
extern void pfs_level_copy(PfsScan *scan);
extern void pfs_level_copy_all(PfsScan *scan);
extern double pfs_level_all_estimate(const PfsTable *table);
extern int64 pfs_level_truncate(const PfsTable *table);

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
#define PFS_LEVEL_TABLES(stem, by, FAMILY, Row, COLUMNS, rows_per_key, one, what) \
PFS_ONE_LEVEL_TABLE(stem, thread, by, FAMILY, THREAD, Row, COLUMNS, rows_per_key, one " of one living thread", \
					what ", by living thread."); \
PFS_ONE_LEVEL_TABLE(stem, account, by, FAMILY, ACCOUNT, Row, COLUMNS, rows_per_key, one " of one account", \
					what ", by account: a user on a client address, sessions that have ended included."); \
PFS_ONE_LEVEL_TABLE(stem, user, by, FAMILY, USER, Row, COLUMNS, rows_per_key, one " of one user", \
					what ", by user, sessions that have ended included."); \
PFS_ONE_LEVEL_TABLE(stem, host, by, FAMILY, HOST, Row, COLUMNS, rows_per_key, one " of one client address", \
					what ", by client address, sessions that have ended included.")

#define PFS_ONE_LEVEL_TABLE(stem, level, by, FAMILY, LEVEL, Row, COLUMNS, rows_per_key, a_row_is, what) \
PFS_LEVEL_TABLE(stem##_by_##level, FAMILY, LEVEL, Row, COLUMNS, rows_per_key, \
				"events_" #stem "_summary_by_" #level "_by_" by, "MySQL", a_row_is, PFS_##LEVEL##_EFFECT, \
				what " TRUNCATE " PFS_##LEVEL##_EFFECT ".")

/*
 * All five tables of a family of events by event name, the global one with a row for each instrument.
 * stem: statements; one: "statement"; effect: of TRUNCATE of the global one.
 */
#define PFS_EVENT_LEVEL_TABLES(stem, one, FAMILY, Row, COLUMNS, rows_per_key, effect) \
PFS_LEVEL_TABLES(stem, "event_name", FAMILY, Row, COLUMNS, rows_per_key, "one kind of " one, \
				 "Counts and times of " #stem " by event name"); \
PFS_COLUMNS(stem##_global, Row, COLUMNS) \
PFS_ALL_EVENTS_TABLE(stem##_global, FAMILY, pfs_level_copy_all, "events_" #stem "_summary_global_by_event_name", \
					 "one kind of " one, effect, \
					 "Counts and times of " #stem " by event name, every instrument has a row. TRUNCATE " effect ".")

#endif							/* PFS_LEVELS_H */
