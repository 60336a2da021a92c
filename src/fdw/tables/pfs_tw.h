/*
 * pfs_tw.h
 *	  The columns that every summary has: count_star, count_timed and the sum,
 *	  minimum, average and maximum of the times.
 */
#ifndef PFS_TW_H
#define PFS_TW_H

#include "pfs_cell.h"
#include "pfs_table.h"

/* Column numbers, from the table's first of them. */
typedef enum PfsTw
{
	PFS_TW_COUNT_STAR,
	PFS_TW_COUNT_TIMED,
	PFS_TW_SUM,
	PFS_TW_MIN,
	PFS_TW_AVG,
	PFS_TW_MAX,
} PfsTw;

#define PFS_TW_NCOLUMNS (PFS_TW_MAX + 1)

/* The six entries of a PfsColumn array, from index `first`. */
#define PFS_TW_COLUMNS(first) \
	[(first) + PFS_TW_COUNT_STAR] = {"count_star", INT8OID}, \
	[(first) + PFS_TW_COUNT_TIMED] = {"count_timed", INT8OID}, \
	[(first) + PFS_TW_SUM] = {"sum_timer_wait", NUMERICOID, .width = 14}, \
	[(first) + PFS_TW_MIN] = {"min_timer_wait", NUMERICOID, .width = 10}, \
	[(first) + PFS_TW_AVG] = {"avg_timer_wait", NUMERICOID, .width = 10}, \
	[(first) + PFS_TW_MAX] = {"max_timer_wait", NUMERICOID, .width = 12}

/* The same for a part of the calls: count_read, sum_timer_read, ... */
#define PFS_TW_PART_COLUMNS(first, part) \
	[(first) + 0] = {"count_" part, INT8OID}, \
	[(first) + 1] = {"sum_timer_" part, NUMERICOID, .width = 14}, \
	[(first) + 2] = {"min_timer_" part, NUMERICOID, .width = 10}, \
	[(first) + 3] = {"avg_timer_" part, NUMERICOID, .width = 10}, \
	[(first) + 4] = {"max_timer_" part, NUMERICOID, .width = 12}

#define PFS_TW_PART_NCOLUMNS 5

/* Which value the i-th column of such a part is. */
static inline PfsTw
pfs_tw_of_part(int i)
{
	return i == 0 ? PFS_TW_COUNT_STAR : (PfsTw) (i + 1);
}

/*
 * What summaries of calls have behind their keys: all calls, those that read,
 * those that write and all others, and the bytes of the first two.
 */
enum
{
	PFS_CALLS_READ,
	PFS_CALLS_WRITE,
	PFS_CALLS_MISC,
};

#define PFS_CALLS_PARTS (PFS_CALLS_MISC + 1)
#define PFS_CALLS_PART(part) (PFS_TW_NCOLUMNS + (part) * PFS_TW_PART_NCOLUMNS)
#define PFS_CALLS_BYTES_READ PFS_CALLS_PART(PFS_CALLS_PARTS)
#define PFS_CALLS_BYTES_WRITE (PFS_CALLS_BYTES_READ + 1)

#define PFS_CALLS_COLUMNS(first) \
	PFS_TW_COLUMNS(first), \
	PFS_TW_PART_COLUMNS((first) + PFS_CALLS_PART(PFS_CALLS_READ), "read"), \
	PFS_TW_PART_COLUMNS((first) + PFS_CALLS_PART(PFS_CALLS_WRITE), "write"), \
	PFS_TW_PART_COLUMNS((first) + PFS_CALLS_PART(PFS_CALLS_MISC), "misc"), \
	[(first) + PFS_CALLS_BYTES_READ] = {"sum_number_of_bytes_read", NUMERICOID, .width = 10}, \
	[(first) + PFS_CALLS_BYTES_WRITE] = {"sum_number_of_bytes_write", NUMERICOID, .width = 10}

/* column: counted from the first of these; parts, bytes: [PFS_CALLS_PARTS]. */
extern Datum pfs_calls_get(const PfsTotals *parts, const uint64 *bytes, int column);

/* All parts in one, to be added to a sum. */
static inline void
pfs_calls_add(PfsTotals *to, const PfsTotals *parts)
{
	for (int part = 0; part < PFS_CALLS_PARTS; part++)
		pfs_totals_add(to, &parts[part]);
}

/*
 * Times are in ticks of the default timer and shown in picoseconds; 0 where
 * nothing was timed.
 */
extern Datum pfs_tw_get(const PfsTotals *totals, PfsTw what);

#endif							/* PFS_TW_H */
