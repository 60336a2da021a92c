/*
 * pfs_levels.h
 *	  The keys that summaries of all families have, by level: of a thread, an
 *	  account, a user, a host; then the event name.
 */
#ifndef PFS_LEVELS_H
#define PFS_LEVELS_H

#include "pfs_summary.h"
#include "pfs_table.h"

/* First in a row of a summary; which of the names count depends on the level. */
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

/* The entries of a PfsColumn array, and how many they are. */
#define PFS_EVENT_NAME_COLUMN {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME}

#define PFS_THREAD_KEYS 2
#define PFS_THREAD_KEY_COLUMNS \
	[0] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID}, \
	[1] = PFS_EVENT_NAME_COLUMN

#define PFS_ACCOUNT_KEYS 3
#define PFS_ACCOUNT_KEY_COLUMNS \
	[0] = {"user_name", TEXTOID, .width = 12}, \
	[1] = {"host", TEXTOID, .width = 12}, \
	[2] = PFS_EVENT_NAME_COLUMN

#define PFS_USER_KEYS 2
#define PFS_USER_KEY_COLUMNS \
	[0] = {"user_name", TEXTOID, .width = 12}, \
	[1] = PFS_EVENT_NAME_COLUMN

#define PFS_HOST_KEYS 2
#define PFS_HOST_KEY_COLUMNS \
	[0] = {"host", TEXTOID, .width = 12}, \
	[1] = PFS_EVENT_NAME_COLUMN

#define PFS_GLOBAL_KEYS 1
#define PFS_GLOBAL_KEY_COLUMNS \
	[0] = PFS_EVENT_NAME_COLUMN

/* The value of a key column; column counts from the level's first one. */
extern Datum pfs_level_key_get(PfsScan *scan, PfsLevel level, const PfsLevelKeys *keys, int column, bool *isnull);

/* The name of an instrument; made once in a scan, which must not use table_private. */
extern Datum pfs_level_event_name(PfsScan *scan, PfsInstrumentId instrument, bool *isnull);

/* How many rows a table of the level may have, if each key has so many. */
extern double pfs_level_estimate(PfsLevel level, double rows_per_key);

/*
 * The functions of a family's table of one level.  Row: the type of its rows,
 * which has `keys`; add_cb fills one; value_get gives the columns behind the keys.
 */
#define PFS_LEVEL_FUNCTIONS(prefix, FAMILY, LEVEL, Row, add_cb, value_get, rows_per_key) \
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
static Datum \
prefix##_get(PfsScan *scan, const void *copied, int column, bool *isnull) \
{ \
	const Row  *row = copied; \
\
	if (column < PFS_##LEVEL##_KEYS) \
		return pfs_level_key_get(scan, PFS_LEVEL_##LEVEL, &row->keys, column, isnull); \
	return value_get(row, column - PFS_##LEVEL##_KEYS, isnull); \
} \
static int64 \
prefix##_truncate(void) \
{ \
	return pfs_summary_truncate(PFS_FAMILY_##FAMILY, PFS_LEVEL_##LEVEL); \
}

#endif							/* PFS_LEVELS_H */
