/*
 * pfs_reset_time.c
 *	  When tables were last reset.
 *
 * By name, in one small array: neither TRUNCATE nor a reader of tables is frequent.
 *
 * Who notes a time holds the setup lock.  Readers take none, as the holder of a lock may be
 * stopped: a name never changes once n counts it (A: the store of n, behind that of the name and
 * its first time, pairs with a reader's load of n), and a time is one aligned word.
 */
#include "postgres.h"

#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "pfs_clock.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

PfsSharedResets *pfs_resets = NULL;

/* The table's place among the first n, or n. */
static uint32
find_reset(const char *table, uint32 n)
{
	uint32		i = 0;

	while (i < n && strcmp(pfs_resets->items[i].table, table) != 0)
		i++;
	return i;
}

/* Returns when a table was last reset. */
TimestampTz
pfs_reset_time(const char *table)
{
	uint32		n = pfs_load_acquire(&pfs_resets->n);	/* A */
	uint32		i = find_reset(table, n);

	return i < n ? pfs_load_relaxed(&pfs_resets->items[i].time) : pfs_clock->start_time;
}

/*
 * Notes when a table was reset.  It gets its place at its first reset; more than PFS_RESETS_MAX
 * tables are not noted.  Takes the setup lock, so the caller must not hold it.
 */
void
pfs_reset_time_set(const char *table, TimestampTz time)
{
	uint32		n;
	uint32		i;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	n = pfs_resets->n;
	i = find_reset(table, n);
	if (i < n)
		pfs_store_relaxed(&pfs_resets->items[i].time, time);
	else if (n < PFS_RESETS_MAX)
	{
		strlcpy(pfs_resets->items[n].table, table, NAMEDATALEN);
		pfs_resets->items[n].time = time;
		pfs_store_release(&pfs_resets->n, n + 1);	/* A */
	}
	LWLockRelease(pfs_setup->lock);
}

/* Notes that a table has been reset, for the command that has reset it.  Takes the lock, too. */
void
pfs_reset_time_note(const char *table)
{
	pfs_reset_time_set(table, GetCurrentTimestamp());
}
