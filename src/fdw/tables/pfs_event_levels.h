/*
 * pfs_event_levels.h
 *	  The five summaries of a family of events: by thread, account, user, host,
 *	  and global, where every instrument of the family has a row.
 */
#ifndef PFS_EVENT_LEVELS_H
#define PFS_EVENT_LEVELS_H

#include "pfs_levels.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

/*
 * All five.  stem: "statements", one: "statement"; FAMILY: the family; Row: {PfsLevelKeys
 * keys; Totals totals;}; COLUMNS(X, t): the list of the columns behind the keys; effect: of
 * TRUNCATE of the global one.
 */
#define PFS_EVENT_LEVEL_TABLES(stem, one, FAMILY, Row, Totals, COLUMNS, rows_per_key, effect) \
static void \
add_row_cb(const PfsSummaryRow *from, void *arg) \
{ \
	Row		   *row = pfs_scan_add(arg); \
\
	pfs_level_keys_fill(&row->keys, from); \
	row->totals = *(const Totals *) from->totals; \
} \
static void \
add_totals_cb(const PfsSummaryRow *from, void *arg) \
{ \
	((Totals *) arg)[pfs_cell_of_instrument(PFS_FAMILY_##FAMILY, from->instrument)] = \
		*(const Totals *) from->totals; \
} \
PFS_LEVEL_FUNCTIONS(by_thread, FAMILY, THREAD, Row, COLUMNS, add_row_cb, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_account, FAMILY, ACCOUNT, Row, COLUMNS, add_row_cb, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_user, FAMILY, USER, Row, COLUMNS, add_row_cb, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_host, FAMILY, HOST, Row, COLUMNS, add_row_cb, rows_per_key) \
PFS_JOINED_COLUMNS(global, Row, PFS_GLOBAL_KEYS, COLUMNS) \
static void \
global_copy(PfsScan *scan) \
{ \
	uint32		ncells = pfs_summary == NULL ? 0 : pfs_summary[PFS_FAMILY_##FAMILY].ncells; \
	Totals	   *totals = palloc0(Max(ncells, 1) * sizeof(Totals)); \
\
	pfs_summary_read(PFS_FAMILY_##FAMILY, PFS_LEVEL_GLOBAL, 0, scan->instrument, add_totals_cb, totals); \
	for (uint32 cell = 0; cell < ncells; cell++) \
	{ \
		PfsInstrumentId id = pfs_instrument_of_cell(PFS_FAMILY_##FAMILY, cell); \
		Row		   *row; \
\
		if (id == PFS_NO_INSTRUMENT || (scan->instrument != PFS_NO_INSTRUMENT && id != scan->instrument)) \
			continue; \
		row = pfs_scan_add(scan); \
		row->keys.instrument = id; \
		row->totals = totals[cell]; \
	} \
} \
static double \
global_estimate(void) \
{ \
	return pfs_summary == NULL ? 0 : pfs_instruments->ncells[PFS_FAMILY_##FAMILY]; \
} \
static int64 \
global_truncate(void) \
{ \
	return pfs_summary_truncate(PFS_FAMILY_##FAMILY, PFS_LEVEL_GLOBAL); \
} \
PFS_EVENT_LEVEL_TABLE(stem, by_thread, Row, one " of one living thread", PFS_THREAD_EFFECT, \
	"by living thread. TRUNCATE pushes the numbers into their accounts."); \
PFS_EVENT_LEVEL_TABLE(stem, by_account, Row, one " of one account", PFS_ACCOUNT_EFFECT, \
	"by account: user and host. TRUNCATE pushes the numbers of threads and accounts into their users and hosts."); \
PFS_EVENT_LEVEL_TABLE(stem, by_user, Row, one " of one user", PFS_USER_EFFECT, \
	"by user. TRUNCATE pushes the numbers of threads and accounts into their hosts and discards those of users."); \
PFS_EVENT_LEVEL_TABLE(stem, by_host, Row, one " of one client address", PFS_HOST_EFFECT, \
	"by client address. TRUNCATE pushes the numbers of threads, accounts and hosts into the global ones."); \
PFS_EVENT_LEVEL_TABLE(stem, global, Row, one, effect, \
	"every instrument has a row. TRUNCATE " effect ".")

/* One of the five tables. */
#define PFS_EVENT_LEVEL_TABLE(stem, prefix, Row, of, effect, comment) \
PFS_LEVEL_TABLE(stem##_##prefix, prefix, Row, "events_" #stem "_summary_" #prefix "_by_event_name", "MySQL", \
				"one kind of " of, effect, "Counts and times of " #stem " by event name, " comment)

#endif							/* PFS_EVENT_LEVELS_H */
