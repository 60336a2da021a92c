/*
 * pfs_reset_time.c
 *	  When tables were last reset.
 *
 * By name, in one small array: neither TRUNCATE nor a reader of tables is frequent.
 */
#include "postgres.h"

#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "pfs_clock.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

PfsSharedResets *pfs_resets = NULL;

/* The table's place, or the first free one; PFS_RESETS_MAX: there is none. */
static uint32
find_reset(const char *table)
{
	uint32		i = 0;

	while (i < pfs_resets->n && strcmp(pfs_resets->items[i].table, table) != 0)
		i++;
	return i;
}

/* Returns when a table was last reset.  Takes the setup lock. */
TimestampTz
pfs_reset_time(const char *table)
{
	uint32		i;
	TimestampTz time;

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	i = find_reset(table);
	time = i < pfs_resets->n ? pfs_resets->items[i].time : pfs_clock->start_time;
	LWLockRelease(pfs_setup->lock);
	return time;
}

/* Sets the time of a table.  It gets its place at its first reset; more than PFS_RESETS_MAX tables are not noted. */
static void
set_reset(const char *table, TimestampTz time)
{
	uint32		i;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	i = find_reset(table);
	if (i == pfs_resets->n && i < PFS_RESETS_MAX)
	{
		strlcpy(pfs_resets->items[i].table, table, NAMEDATALEN);
		pfs_resets->n++;
	}
	if (i < pfs_resets->n)
		pfs_resets->items[i].time = time;
	LWLockRelease(pfs_setup->lock);
}

/*
 * Notes that a table has been reset, for the command that has reset it.  Takes the setup
 * lock, so the caller must not hold it.
 */
void
pfs_reset_time_note(const char *table)
{
	set_reset(table, GetCurrentTimestamp());
}

/* Notes when a table was reset that goes on where an earlier server had stopped. */
void
pfs_reset_time_restore(const char *table, TimestampTz time)
{
	set_reset(table, Min(time, pfs_clock->start_time));
}
