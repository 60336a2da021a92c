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
PFS_LEVEL_TABLES(stem, "event_name", FAMILY, Row, COLUMNS, add_row_cb, rows_per_key, "one kind of " one, \
				 "Counts and times of " #stem " by event name"); \
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
PFS_ONE_LEVEL_TABLE(stem, "event_name", global, Row, "one kind of " one, effect, \
	"Counts and times of " #stem " by event name, every instrument has a row.")

#endif							/* PFS_EVENT_LEVELS_H */
