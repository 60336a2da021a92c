/*
 * pfs_event_levels.h
 *	  The five summaries of a family of events: by thread, account, user, host,
 *	  and global, where every instrument of the family has a row.
 */
#ifndef PFS_EVENT_LEVELS_H
#define PFS_EVENT_LEVELS_H

#include "pfs_levels.h"
#include "pfs_tables.h"
#include "pfs_tw.h"

/* One of the tables; prefix names its functions and columns. */
#define PFS_EVENT_LEVEL_TABLE(prefix, stem, one, Row, of, effect) \
const PfsTable pfs_table_##stem##_##prefix = { \
	.name = "events_" #stem "_summary_" #prefix "_by_event_name", \
	.row_is = "one kind of " one " of one " of, \
	.truncate_effect = effect, \
	.columns = prefix##_columns, \
	.ncolumns = lengthof(prefix##_columns), \
	.row_size = sizeof(Row), \
	.estimate = prefix##_estimate, \
	.copy = prefix##_copy, \
	.get = prefix##_get, \
	.truncate = prefix##_truncate, \
	.in_reset_all = true, \
}

/*
 * All of them.  FAMILY: the family; Row: {PfsLevelKeys keys; Totals totals;}; COLUMNS(first):
 * the columns behind the keys; value_get(row, column): one of them; effect: of TRUNCATE of
 * the global one.
 */
#define PFS_EVENT_LEVEL_TABLES(stem, one, FAMILY, Row, Totals, COLUMNS, value_get, rows_per_key, effect) \
static const PfsColumn by_thread_columns[] = {PFS_THREAD_KEY_COLUMNS, COLUMNS(PFS_THREAD_KEYS)}; \
static const PfsColumn by_account_columns[] = {PFS_ACCOUNT_KEY_COLUMNS, COLUMNS(PFS_ACCOUNT_KEYS)}; \
static const PfsColumn by_user_columns[] = {PFS_USER_KEY_COLUMNS, COLUMNS(PFS_USER_KEYS)}; \
static const PfsColumn by_host_columns[] = {PFS_HOST_KEY_COLUMNS, COLUMNS(PFS_HOST_KEYS)}; \
static const PfsColumn global_columns[] = {PFS_GLOBAL_KEY_COLUMNS, COLUMNS(PFS_GLOBAL_KEYS)}; \
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
PFS_LEVEL_FUNCTIONS(by_thread, FAMILY, THREAD, Row, add_row_cb, value_get, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_account, FAMILY, ACCOUNT, Row, add_row_cb, value_get, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_user, FAMILY, USER, Row, add_row_cb, value_get, rows_per_key) \
PFS_LEVEL_FUNCTIONS(by_host, FAMILY, HOST, Row, add_row_cb, value_get, rows_per_key) \
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
static Datum \
global_get(PfsScan *scan, const void *copied, int column, bool *isnull) \
{ \
	const Row  *row = copied; \
\
	if (column < PFS_GLOBAL_KEYS) \
		return pfs_level_event_name(scan, row->keys.instrument, isnull); \
	return value_get(row, column - PFS_GLOBAL_KEYS, isnull); \
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
PFS_EVENT_LEVEL_TABLE(by_thread, stem, one, Row, "living thread", "pushes the numbers into their accounts"); \
PFS_EVENT_LEVEL_TABLE(by_account, stem, one, Row, "account", \
					  "pushes the numbers of threads and accounts into their users and hosts"); \
PFS_EVENT_LEVEL_TABLE(by_user, stem, one, Row, "user", \
					  "pushes the numbers of threads and accounts into their hosts, discards those of users"); \
PFS_EVENT_LEVEL_TABLE(by_host, stem, one, Row, "client address", \
					  "pushes the numbers of threads, accounts and hosts into the global ones"); \
const PfsTable pfs_table_##stem##_global = { \
	.name = "events_" #stem "_summary_global_by_event_name", \
	.row_is = "one kind of " one, \
	.truncate_effect = effect, \
	.columns = global_columns, \
	.ncolumns = lengthof(global_columns), \
	.row_size = sizeof(Row), \
	.estimate = global_estimate, \
	.copy = global_copy, \
	.get = global_get, \
	.truncate = global_truncate, \
	.in_reset_all = true, \
}

#endif							/* PFS_EVENT_LEVELS_H */
