/*
 * pfs_patience.c
 *	  Waiting for processes that are in the middle of something, and taking turns.
 *
 * Separate from the readers and resets that wait, so that all of them stop waiting by
 * the same rule.
 */
#include "postgres.h"

#include <time.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"

#include "pfs_atomic.h"
#include "pfs_clock.h"
#include "pfs_patience.h"

/* Looks without a nap, and pauses of the processor between two of them. */
#define LOOKS		50
#define PAUSES		20

#define NAP_NS		100000

/*
 * All naps of a reading or a reset.  A process that only waits for its processor, on
 * a machine that has many times too few of them, has it again by then.
 */
#define NAPS_NS		UINT64CONST(500000000)

/* How long, within a statement, nobody naps again after this has run out. */
#define AGAIN_NS	UINT64CONST(10000000000)

PFS_FIXED PfsSharedPatience *pfs_patience = NULL;

/* The statement of this process whose patience ran out last, and when. */
static TimestampTz tired_statement = 0;
static uint64 tired_at = 0;

/* Has the patience run out shortly before, in the statement that the process is in? */
static bool
is_tired(uint64 now)
{
	return tired_at != 0 && tired_statement == GetCurrentStatementStartTimestamp() && now - tired_at < AGAIN_NS;
}

static bool
run_out(PfsPatience *patience)
{
	patience->has_run_out = true;
	return false;
}

/*
 * Tells whether to look at a process again, after a pause.  The first LOOKS looks at each
 * process pause the processor only.  After these it naps, until NAPS_NS have passed since
 * the first nap of this reading or reset.  Then, or when the statement is cancelled, it
 * says no, and the caller takes what it finds.  Where the patience ran out within the
 * same statement less than AGAIN_NS before, there are no naps.
 */
bool
pfs_patience_more(PfsPatience *patience)
{
	struct timespec nap = {0, NAP_NS};
	uint64		now;

	if (patience->looks++ < LOOKS)
	{
		for (int i = 0; i < PAUSES; i++)
			pfs_pause();
		return true;
	}
	if (patience->has_run_out || QueryCancelPending || ProcDiePending)
		return run_out(patience);
	now = pfs_timer_read(PFS_TIMER_NANOSECOND);
	if (patience->until == 0)
		patience->until = is_tired(now) ? now : now + NAPS_NS;
	if (now >= patience->until)
	{
		if (!is_tired(now))
		{
			tired_statement = GetCurrentStatementStartTimestamp();
			tired_at = now;
		}
		return run_out(patience);
	}
	/* libc's own, which is no wait of the server. */
	nanosleep(&nap, NULL);
	return true;
}

void
pfs_patience_end(const PfsPatience *patience)
{
	if (patience->has_run_out)
		pfs_add_relaxed(patience->of_reset ? &pfs_patience->resets_inexact : &pfs_patience->reads_inexact, 1);
}

/* ---- turns ---- */

/* What tells our locks from those of others: nobody else uses this type of lock. */
static LOCKTAG
tag_of(PfsTurn what)
{
	LOCKTAG		tag = {.locktag_field1 = InvalidOid, .locktag_field2 = 0x706673, .locktag_field3 = what};

	tag.locktag_type = LOCKTAG_USERLOCK;
	tag.locktag_lockmethodid = USER_LOCKMETHOD;
	return tag;
}

static LOCKMODE
mode_of(bool alone)
{
	return alone ? ExclusiveLock : ShareLock;
}

/*
 * Waits for the lock, at most PFS_TURN_TIMEOUT.  LockAcquire() takes the time at which it gives up
 * from the variable of lock_timeout, so this is lowered while it waits, and restored also when it raises an error.
 */
static void
wait_for_turn(const LOCKTAG *tag, LOCKMODE mode)
{
	int			timeout = LockTimeout;

	if (timeout == 0 || timeout > PFS_TURN_TIMEOUT)
		LockTimeout = PFS_TURN_TIMEOUT;
	PG_TRY();
	{
		(void) LockAcquire(tag, mode, false, false);
	}
	PG_FINALLY();
	{
		LockTimeout = timeout;
	}
	PG_END_TRY();
}

/*
 * The same in a process that is in no transaction, and for which the server has prepared no
 * timeout: it looks again, as patience does.
 */
static void
nap_for_turn(const LOCKTAG *tag, LOCKMODE mode)
{
	struct timespec nap = {0, NAP_NS};
	uint64		until = pfs_timer_read(PFS_TIMER_NANOSECOND) + PFS_TURN_TIMEOUT * UINT64CONST(1000000);

	while (LockAcquire(tag, mode, false, true) == LOCKACQUIRE_NOT_AVAIL)
	{
		CHECK_FOR_INTERRUPTS();
		if (pfs_timer_read(PFS_TIMER_NANOSECOND) > until)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("pfs: others read or reset these numbers all the time")));
		nanosleep(&nap, NULL);
	}
}

/*
 * Takes the lock at once if it is free; else waits, and raises an error in the end.  The
 * recorder is in no transaction, and the lock, which no resource owner knows then, is the
 * process's: nothing between take and give raises an error.  The postmaster, which is no
 * process for locks, reads only where there is no other.
 */
void
pfs_turn_begin(PfsTurn what, bool alone)
{
	LOCKTAG		tag = tag_of(what);

	if (MyProc == NULL)
		return;
	if (LockAcquire(&tag, mode_of(alone), false, true) != LOCKACQUIRE_NOT_AVAIL)
		return;
	if (IsTransactionState())
		wait_for_turn(&tag, mode_of(alone));
	else
		nap_for_turn(&tag, mode_of(alone));
}

void
pfs_turn_end(PfsTurn what, bool alone)
{
	LOCKTAG		tag = tag_of(what);

	if (MyProc == NULL)
		return;
	(void) LockRelease(&tag, mode_of(alone), false);
}
