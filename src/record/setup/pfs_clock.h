/*
 * pfs_clock.h
 *	  The five timers, their common zero, and picoseconds.
 *
 * Events store raw readings of the timer that was set for their class when
 * they began.  Conversion is the reader's work and uses the exact ratio:
 * (reading - zero) * 10^12 / frequency, in 128 bits.
 */
#ifndef PFS_CLOCK_H
#define PFS_CLOCK_H

#include <time.h>

#include "datatype/timestamp.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

typedef enum PfsTimer
{
	PFS_TIMER_CYCLE,			/* processor's cycle counter */
	PFS_TIMER_NANOSECOND,		/* CLOCK_MONOTONIC */
	PFS_TIMER_MICROSECOND,		/* CLOCK_MONOTONIC / 1,000 */
	PFS_TIMER_MILLISECOND,		/* CLOCK_MONOTONIC / 1,000,000 */
	PFS_TIMER_TICK,				/* CLOCK_MONOTONIC in clock ticks, usually 100
								 * per second */
} PfsTimer;

#define PFS_NUM_TIMERS (PFS_TIMER_TICK + 1)

#define PFS_PS_PER_SECOND INT64CONST(1000000000000)

/* Picoseconds do not fit 64 bits after 213 days. */
typedef unsigned __int128 PfsPicoseconds;

/* In shared memory; written once at server start, then only read. */
typedef struct PfsSharedClock
{
	uint64		frequency[PFS_NUM_TIMERS];	/* units per second; 0: not
											 * offered */
	uint64		zero[PFS_NUM_TIMERS];	/* reading at server start */
	TimestampTz start_time;		/* wall clock at the zero */
} PfsSharedClock;

/* What performance_timers shows; frequency 0: not offered. */
typedef struct PfsTimerFacts
{
	uint64		frequency;		/* units per second */
	uint64		resolution;		/* smallest step seen, in units */
	uint64		overhead;		/* cycles of one reading, smallest of 20 */
} PfsTimerFacts;

/* Set once, in the postmaster, when the shared memory is made; inherited. */
extern PfsSharedClock *pfs_clock;

/* Measure frequencies (about 20 ms) and take the common zero. */
extern void pfs_clock_start(void);
extern const char *const pfs_timer_names[PFS_NUM_TIMERS];

/* Case-insensitive; -1 if there is no such timer. */
extern int	pfs_timer_by_name(const char *name);
extern bool pfs_timer_offered(PfsTimer timer);

/* CYCLE if offered, else NANOSECOND. */
extern PfsTimer pfs_timer_default(void);

/* Measure now; takes up to some 100 ms for the slow timers. */
extern void pfs_timer_measure(PfsTimer timer, PfsTimerFacts *facts);

/* A raw reading as picoseconds since server start. */
extern PfsPicoseconds pfs_timer_to_ps(PfsTimer timer, uint64 reading);

/*
 * Timestamps that are stored.  The wall clock and a timer drift apart, so whoever stores
 * a reading that is to be shown as a date stores beside it how far apart the two were:
 * the wall clock less the timer's microseconds since the server's start.  Then the
 * same date is shown each time that it is read.
 */
extern int64 pfs_clock_offset(uint64 reading);
extern TimestampTz pfs_clock_timestamp(uint64 reading, int64 offset);

/*
 * The same of a date before the server's start, which a file has: a reading that is not
 * after the clock's zero, and an offset with which it is this date.
 */
extern uint64 pfs_clock_reading_before(TimestampTz time, int64 *offset);

/* Differences of two readings, or a sum of them, as picoseconds. */
extern PfsPicoseconds pfs_ticks_to_ps(PfsTimer timer, unsigned __int128 ticks);

/* Ticks of a timer in those of the default timer.  Any context. */
static inline uint64
pfs_ticks_of_default(PfsTimer timer, uint64 ticks)
{
	PfsTimer	to = pfs_timer_default();

	if (likely(timer == to) || pfs_clock->frequency[timer] == 0)
		return ticks;
	return (uint64) ((unsigned __int128) ticks * pfs_clock->frequency[to] / pfs_clock->frequency[timer]);
}

/* Out of line: every timer but CYCLE. */
extern uint64 pfs_timer_read_system(PfsTimer timer);

/* The cycle counter, unserialised: about 25 cycles itself. */
static inline uint64
pfs_read_cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	uint64		value;

__asm__ __volatile__("mrs %0, cntvct_el0":"=r"(value));
	return value;
#endif
}

/* Any process, any context (async-signal safe, changes errno only on failure). */
static inline uint64
pfs_timer_read(PfsTimer timer)
{
	return likely(timer == PFS_TIMER_CYCLE) ? pfs_read_cycles() : pfs_timer_read_system(timer);
}

#endif							/* PFS_CLOCK_H */
