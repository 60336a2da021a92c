/*
 * pfs_recorder.c
 *	  The recorder of the load history: when it reads, and what a period is.
 *
 * A background worker without a database, and never in a transaction, so that nothing waits for
 * it but a DROP DATABASE, for a save that is under way.  It ends with status 1 where
 * others would end with 0, so that the server starts it again.
 *
 * Each tick: one reading of the clock; what threads have (pfs_recorder_thread.c) and what
 * digests have (pfs_recorder_digest.c) more than at the last one; the rows of that
 * (pfs_recorder_sum.c); pfs_load_keep().  The first reading makes no period: all that is
 * there then was before.
 *
 * Ticks are at whole seconds, or multiples, of the wall clock; what is waited for is the
 * monotonic clock, so one that is set has no influence.  A period begins where the one
 * before it ended, and its length is the timer's; if the wall clock says something else by
 * more than clocks drift apart, it was set, and the period does not follow.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pfs_guc.h"
#include "pfs_load_keep.h"
#include "pfs_recorder.h"
#include "pfs_recorder_own.h"
#include "pfs_save.h"

/* A tick that comes later than by this part of the interval makes a late period. */
#define LATE_PART		10

/* How far wall clock and timer may drift apart in a period before one was set. */
#define CLOCK_SET_USEC	100000
#define CLOCK_SET_PART	100

/* Readings of all clocks that take longer are not of one moment, nanoseconds. */
#define CLOCKS_NEAR_NS	UINT64CONST(10000000)

/* Longest sleep while nothing is recorded, milliseconds. */
#define LONG_SLEEP		60000

PfsSharedRecorder *pfs_shared_recorder = NULL;

static struct
{
	int			interval;		/* seconds; 0: nothing is recorded */
	PfsTick		last;
	bool		has_last;		/* a period has been handed over, and ended at
								 * `last` */
	uint64		due;			/* by CLOCK_MONOTONIC, nanoseconds */
	MemoryContext context;		/* of the tick */
}			recorder;

PGDLLEXPORT void pfs_recorder_main(Datum arg);

/*
 * Reads the timers and the time of day at one moment: again, if that took so long that the process
 * has lost its processor, as it would look as if the clock had been set.
 */
static PfsTick
read_clocks(void)
{
	PfsTick		tick;

	for (int i = 0; i < 5; i++)
	{
		uint64		begin = pfs_timer_read(PFS_TIMER_NANOSECOND);

		for (PfsTimer timer = 0; timer < PFS_NUM_TIMERS; timer++)
			tick.now[timer] = pfs_timer_offered(timer) ? pfs_timer_read(timer) : 0;
		/* The one that nearly everything is measured by is the tick. */
		tick.now[pfs_timer_default()] = pfs_timer_read(pfs_timer_default());
		tick.wall = GetCurrentTimestamp();
		if (pfs_timer_read(PFS_TIMER_NANOSECOND) - begin < CLOCKS_NEAR_NS)
			break;
	}
	return tick;
}

/* When is the next multiple of the interval?  One that is less than half of it away is left out. */
static void
plan(const PfsTick *tick)
{
	int64		usec = INT64CONST(1000000) * recorder.interval;
	int64		since = tick->wall % usec;

	if (since < 0)
		since += usec;
	recorder.due = tick->now[PFS_TIMER_NANOSECOND] +
		(uint64) (since > usec / 2 ? 2 * usec - since : usec - since) * 1000;
}

/* Reads everything; the differences are in the sums. */
static void
read_all(const PfsTick *tick, bool first)
{
	pfs_sums_begin();
	pfs_recorder_read_threads(tick, first);
	pfs_recorder_read_digests();
}

/* Has the timer been set back, as the cycle counter of a machine that was suspended? */
static bool
has_gone_back(const PfsTick *tick, uint64 before)
{
	return tick->now[pfs_timer_default()] < before;
}

/* Begins to record: what is there now was before. */
static void
begin(void)
{
	PfsTick		tick = read_clocks();
	uint64		before = pfs_shared_recorder->last_tick;

	read_all(&tick, true);
	if (has_gone_back(&tick, before))
		pfs_shared_recorder->lost++;
	else if (before != 0)
	{
		uint64		hole = tick.now[pfs_timer_default()] - before;

		pfs_shared_recorder->lost += (uint64) rint(pfs_sums_ps(hole) / 1e12 / recorder.interval);
	}
	pfs_shared_recorder->last_tick = tick.now[pfs_timer_default()];
	recorder.last = tick;
	recorder.has_last = false;
	plan(&tick);
}

/* Records one period. */
static void
record(void)
{
	PfsTick		tick = read_clocks();
	uint64		late_by = tick.now[PFS_TIMER_NANOSECOND] - recorder.due;
	PfsLoadPeriod period = {.begin = recorder.last.wall, .end = tick.wall, .follows = recorder.has_last};
	int64		usec;
	PfsLoadRow *rows;
	int			nrows;

	if (unlikely(has_gone_back(&tick, pfs_shared_recorder->last_tick)))
	{
		begin();
		return;
	}
	read_all(&tick, false);
	rows = pfs_sums_rows(&nrows);
	period.length = pfs_sums_ps(tick.now[pfs_timer_default()] - recorder.last.now[pfs_timer_default()]);
	usec = (int64) (period.length / 1000000);
	if (llabs(period.end - period.begin - usec) > CLOCK_SET_USEC + usec / CLOCK_SET_PART)
	{
		period.begin = period.end - usec;
		period.follows = false;
	}
	pfs_load_keep(&period, rows, nrows);
	if (late_by > UINT64CONST(1000000000) / LATE_PART * recorder.interval)
		pfs_shared_recorder->late++;
	pfs_shared_recorder->last_tick = tick.now[pfs_timer_default()];
	recorder.last = tick;
	recorder.has_last = true;
	plan(&tick);
}

/* Follows the setting: begins, goes on in another pace, or ends. */
static void
follow_setting(void)
{
	int			before = recorder.interval;

	if (before == pfs_load_interval)
		return;
	recorder.interval = pfs_load_interval;
	if (recorder.interval == 0)
	{
		pfs_shared_recorder->last_tick = 0;
		pfs_load_keep_end();
	}
	else if (before == 0)
		begin();
	else
		plan(&recorder.last);
}

/* Milliseconds until the next tick; 0: now. */
static long
time_left(void)
{
	uint64		now = pfs_timer_read(PFS_TIMER_NANOSECOND);

	if (recorder.interval == 0)
		return LONG_SLEEP;
	return now >= recorder.due ? 0 : (long) ((recorder.due - now + 999999) / 1000000);
}

/*
 * Takes the process out of what is recorded, once it has a thread record: what it waits for would be
 * load that nobody else causes.  Its row in threads says so.
 */
static void
leave_out_itself(void)
{
	static bool done = false;

	if (done || pfs_my_thread == NULL)
		return;
	done = true;
	pfs_store_relaxed(&pfs_my_thread->instrumented, 0);
	pfs_thread_publish_mask(pfs_my_thread);
}

/* The background worker's function. */
void
pfs_recorder_main(Datum arg)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	/* No database: so it is shown by pg_stat_activity, and sees no table. */
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	pfs_sums_start();
	pfs_recorder_threads_start();
	pfs_recorder_digests_start();
	pfs_store_release(&pfs_shared_recorder->latch, MyLatch);
	recorder.context = AllocSetContextCreate(TopMemoryContext, "pfs recorder", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(recorder.context);

	while (!ShutdownRequestPending)
	{
		long		left;
		long		until_save;

		CHECK_FOR_INTERRUPTS();
		leave_out_itself();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		follow_setting();
		if (time_left() == 0)
		{
			record();
			MemoryContextReset(recorder.context);
		}
		until_save = pfs_save_tick();
		/* A save may take longer than what was left before. */
		left = time_left();
		if (until_save >= 0)
			left = Min(left, until_save);
		MemoryContextReset(recorder.context);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	proc_exit(1);
}

/* A latch stays where it is when its process ends, so setting it harms nobody. */
void
pfs_recorder_ask_to_save(void)
{
	Latch	   *latch;

	pfs_store_release(&pfs_shared_recorder->save_asked, 1);
	latch = pfs_load_acquire(&pfs_shared_recorder->latch);
	if (latch != NULL)
		SetLatch(latch);
}

/*
 * Asks the server for a place among its background workers.  Without one it says so in
 * the log, and nothing but the load history is missing.
 *
 * The worker loads the library again, by name.  It must be this file, whose variables the
 * postmaster has set, so its whole path is given where that fits.
 */
void
pfs_recorder_register(void)
{
	Dl_info		library;
	BackgroundWorker worker = {
		.bgw_name = "pfs recorder",
		.bgw_type = "pfs recorder",
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = 1,
		.bgw_library_name = "pfs",
		.bgw_function_name = "pfs_recorder_main",
	};

	if (dladdr(pfs_recorder_register, &library) && library.dli_fname[0] == '/' && strlen(library.dli_fname) < sizeof(worker.bgw_library_name))
		strcpy(worker.bgw_library_name, library.dli_fname);
	RegisterBackgroundWorker(&worker);
}
