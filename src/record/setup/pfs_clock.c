/*
 * pfs_clock.c
 *	  Timers: reading, measuring, converting.
 *
 * Separate because it is the only place that knows what a reading means.
 */
#include "postgres.h"

#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "utils/timestamp.h"

#include "pfs_clock.h"
#include "pfs_clock_source.h"

/* How long the cycle counter is compared with CLOCK_MONOTONIC at start. */
#define CALIBRATION_NS	INT64CONST(20000000)
/* Calls among which the cheapest one is a timer's overhead (MySQL's number). */
#define OVERHEAD_CALLS	20
/* Steps among which the smallest one is a timer's resolution. */
#define RESOLUTION_STEPS 5
/* Readings after which a timer that does not advance is given up. */
#define RESOLUTION_READS_MAX 20000000

PfsSharedClock *pfs_clock = NULL;

const char *const pfs_timer_names[PFS_NUM_TIMERS] = {
	[PFS_TIMER_CYCLE] = "CYCLE",
	[PFS_TIMER_NANOSECOND] = "NANOSECOND",
	[PFS_TIMER_MICROSECOND] = "MICROSECOND",
	[PFS_TIMER_MILLISECOND] = "MILLISECOND",
	[PFS_TIMER_TICK] = "TICK",
};

/*
 * Reads CLOCK_MONOTONIC, for MILLISECOND and TICK, too.  The kernel's coarse clock and
 * times() advance with the timer interrupt, and on a virtual machine that does
 * not get its processors in time they were seen to stand still for 90 ms.
 */
static inline uint64
read_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/*
 * Reads a timer by a call of the C library: what pfs_timer_read() does for all timers
 * but CYCLE, which is here only to make the function complete.  MICROSECOND, MILLISECOND
 * and TICK are rounded down.
 */
uint64
pfs_timer_read_system(PfsTimer timer)
{
	switch (timer)
	{
		case PFS_TIMER_CYCLE:
			return pfs_read_cycles();
		case PFS_TIMER_NANOSECOND:
			return read_ns();
		case PFS_TIMER_MICROSECOND:
			return read_ns() / 1000;
		case PFS_TIMER_MILLISECOND:
			return read_ns() / 1000000;
		case PFS_TIMER_TICK:
			return read_ns() / (1000000000 / pfs_clock->frequency[PFS_TIMER_TICK]);
	}
	return 0;
}

#if defined(__x86_64__)

/* Does the processor promise that its counter runs at one rate, always? */
static bool
cycle_counter_is_constant(void)
{
	unsigned int eax,
				ebx,
				ecx,
				edx;

	if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx))
		return false;
	return (edx & (1 << 8)) != 0;	/* invariant TSC */
}

#endif

#if defined(__aarch64__)

/* Returns the frequency of the generic timer, which it tells itself. */
static uint64
measure_cycle_frequency(void)
{
	uint64		frequency;

__asm__ __volatile__("mrs %0, cntfrq_el0":"=r"(frequency));
	return frequency;
}

#else

/*
 * Reads the cycle counter and CLOCK_MONOTONIC at nearly the same time: of 50 attempts
 * the one whose two readings of the counter, before and after, lie closest together.
 */
static void
read_both(uint64 *cycles, uint64 *ns)
{
	uint64		best = PG_UINT64_MAX;

	for (int i = 0; i < 50; i++)
	{
		uint64		before = pfs_read_cycles();
		uint64		now = read_ns();
		uint64		after = pfs_read_cycles();

		if (after - before < best)
		{
			best = after - before;
			*cycles = before + (after - before) / 2;
			*ns = now;
		}
	}
}

/*
 * Returns the cycle counter's frequency: the postmaster compares the counter with
 * CLOCK_MONOTONIC, in a busy loop of CALIBRATION_NS.
 */
static uint64
measure_cycle_frequency(void)
{
	uint64		cycles0 = 0;
	uint64		cycles1 = 0;
	uint64		ns0 = 0;
	uint64		ns1 = 0;

	read_both(&cycles0, &ns0);
	while (read_ns() - ns0 < CALIBRATION_NS)
		;
	read_both(&cycles1, &ns1);
	return (uint64) ((unsigned __int128) (cycles1 - cycles0) * 1000000000 / (ns1 - ns0));
}

#endif

/*
 * Reads the zeros of all timers at one moment, as near to each other as the process gets them
 * without losing its processor in between.  Times of day are wrong by what lies between for as long as
 * the server runs.
 */
static void
read_zeros(PfsSharedClock *clock)
{
	uint64		best = PG_UINT64_MAX;

	for (int i = 0; i < 20; i++)
	{
		uint64		before = read_ns();
		TimestampTz now = GetCurrentTimestamp();
		uint64		zero[PFS_NUM_TIMERS];
		uint64		took;

		for (int t = 0; t < PFS_NUM_TIMERS; t++)
			zero[t] = pfs_timer_read((PfsTimer) t);
		took = read_ns() - before;
		if (took >= best)
			continue;
		best = took;
		clock->start_time = now;
		memcpy(clock->zero, zero, sizeof(zero));
	}
}

/*
 * Starts the clock in the postmaster, before all other parts, as they ask for the
 * default timer.  Leaves CYCLE out, and says so in the log, where the processor or the
 * kernel does not vouch for the counter.
 */
void
pfs_clock_start(void)
{
	PfsSharedClock *clock = pfs_clock;
	bool		constant = true;
	bool		trusted = true;

	/*
	 * The generic timer is constant by definition, and the kernel uses it
	 * itself.
	 */
#if defined(__x86_64__)
	constant = cycle_counter_is_constant();
	trusted = pfs_clock_source_is_trusted(PFS_CLOCK_SOURCES);
#endif
	clock->frequency[PFS_TIMER_CYCLE] = constant && trusted ? measure_cycle_frequency() : 0;
	clock->frequency[PFS_TIMER_NANOSECOND] = 1000000000;
	clock->frequency[PFS_TIMER_MICROSECOND] = 1000000;
	clock->frequency[PFS_TIMER_MILLISECOND] = 1000;
	clock->frequency[PFS_TIMER_TICK] = sysconf(_SC_CLK_TCK);
	if (!constant)
		ereport(LOG,
				(errmsg("pfs: the processor's cycle counter is not constant; timers use NANOSECOND")));
	else if (!trusted)
		ereport(LOG,
				(errmsg("pfs: the kernel does not trust the processor's cycle counter; timers use NANOSECOND"),
				 errdetail("\"tsc\" is not listed in \"%s/available_clocksource\".", PFS_CLOCK_SOURCES)));

	read_zeros(clock);
}

int
pfs_timer_by_name(const char *name)
{
	for (int t = 0; t < PFS_NUM_TIMERS; t++)
	{
		if (pg_strcasecmp(name, pfs_timer_names[t]) == 0)
			return t;
	}
	return -1;
}

bool
pfs_timer_offered(PfsTimer timer)
{
	return pfs_clock->frequency[timer] != 0;
}

PfsTimer
pfs_timer_default(void)
{
	return pfs_timer_offered(PFS_TIMER_CYCLE) ? PFS_TIMER_CYCLE : PFS_TIMER_NANOSECOND;
}

/*
 * Measures a timer for performance_timers: the cycles of its cheapest reading, and its
 * smallest step.  NANOSECOND gets the resolution that the kernel states.  A timer that is
 * not offered has 0 everywhere.  It reads in a busy loop and serves no interrupt, so the
 * caller asks only if a query wants these columns.
 */
void
pfs_timer_measure(PfsTimer timer, PfsTimerFacts *facts)
{
	uint64		best = PG_UINT64_MAX;

	memset(facts, 0, sizeof(*facts));
	if (!pfs_timer_offered(timer))
		return;
	facts->frequency = pfs_clock->frequency[timer];

	for (int i = 0; i < OVERHEAD_CALLS; i++)
	{
		uint64		before = pfs_read_cycles();

		(void) pfs_timer_read(timer);
		best = Min(best, pfs_read_cycles() - before);
	}

	/*
	 * A counter of some MHz can stand still in a call: then a tick is what
	 * can be told.
	 */
	facts->overhead = Max(best, 1);

	best = PG_UINT64_MAX;
	for (int i = 0; i < RESOLUTION_STEPS; i++)
	{
		uint64		first = pfs_timer_read(timer);
		uint64		next = first;

		for (int n = 0; next == first && n < RESOLUTION_READS_MAX; n++)
			next = pfs_timer_read(timer);
		if (next > first)
			best = Min(best, next - first);
	}

	/*
	 * A counter that advances faster than it can be read still steps by one;
	 * what was seen is the time of a reading.
	 */
	facts->resolution = timer == PFS_TIMER_CYCLE || best == PG_UINT64_MAX ? 1 : best;
	if (timer == PFS_TIMER_NANOSECOND)
	{
		struct timespec resolution;

		if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
			facts->resolution = Max(1, resolution.tv_nsec);
	}
}

/*
 * Converts ticks to picoseconds, rounded down, for readers.  Ticks of a timer that is not
 * offered are 0.
 */
PfsPicoseconds
pfs_ticks_to_ps(PfsTimer timer, unsigned __int128 ticks)
{
	uint64		frequency = pfs_clock->frequency[timer];

	if (frequency == 0)
		return 0;

	/*
	 * Most waits are short: a division of 128 bits takes several times as
	 * long.
	 */
	if (ticks <= UINT64_MAX / PFS_PS_PER_SECOND)
		return (uint64) ticks * PFS_PS_PER_SECOND / frequency;
	return ticks * PFS_PS_PER_SECOND / frequency;
}

#define PS_PER_MICROSECOND 1000000

/* Microseconds of the default timer since the server's start. */
static int64
microseconds_of(uint64 reading)
{
	return (int64) (pfs_timer_to_ps(pfs_timer_default(), reading) / PS_PER_MICROSECOND);
}

/*
 * Returns how far the wall clock is ahead of the default timer, of which reading must
 * have been made just now.  Any context.
 */
int64
pfs_clock_offset(uint64 reading)
{
	return GetCurrentTimestamp() - microseconds_of(reading);
}

/* Converts a reading of the default timer to a date, by the offset stored with it. */
TimestampTz
pfs_clock_timestamp(uint64 reading, int64 offset)
{
	return microseconds_of(reading) + offset;
}

/*
 * Finds a reading for a date before the server's start: as long before the clock's zero as
 * the timer has been running, so that ages are right up to the machine's start.  Readings up
 * to the zero are no time after the start, so the offset is the date itself.
 */
uint64
pfs_clock_reading_before(TimestampTz time, int64 *offset)
{
	uint64		zero = pfs_clock->zero[pfs_timer_default()];
	PfsPicoseconds before = 0;
	unsigned	__int128 ticks;

	if (time < pfs_clock->start_time)
		before = (PfsPicoseconds) (pfs_clock->start_time - time) * PS_PER_MICROSECOND;
	ticks = before * pfs_clock->frequency[pfs_timer_default()] / PFS_PS_PER_SECOND;
	*offset = time;
	return ticks < zero ? zero - (uint64) ticks : 1;
}

/* Converts a reading to picoseconds since the clock's zero. */
PfsPicoseconds
pfs_timer_to_ps(PfsTimer timer, uint64 reading)
{
	uint64		zero = pfs_clock->zero[timer];

	/* Another processor's counter may lag behind the one that took the zero. */
	return reading <= zero ? 0 : pfs_ticks_to_ps(timer, reading - zero);
}
