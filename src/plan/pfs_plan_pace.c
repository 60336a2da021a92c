/*
 * pfs_plan_pace.c
 *	  What measuring costs, and how it is kept within its bounds.
 */
#include "postgres.h"

#include <time.h>

#include "pfs_guc.h"
#include "pfs_plan_pace.h"

/* The largest and the smallest weight of a timed call, behind the first ones. */
#define STRIDE_MIN	16
#define STRIDE_MAX	4096

/* One execution: a tenth of its time. */
#define OF_EXECUTION 10

/* Counting a call costs so much of the clock's two readings; bench/nodes measures it. */
#define CALLS_PER_CLOCK 6

/* To give a node our functions, and to add its counts to the plan's, costs as much as so many readings. */
#define CLOCKS_PER_NODE 20

/* Seconds of processor time: what can be earned ahead, and what a plan that was never measured may owe. */
#define EARNED_MAX	60.0
#define OWED_MAX	30.0

uint64		pfs_pace_clock_ticks = 0;

/* Credit, in seconds, and the process's processor time when it was looked at. */
static double credit = 0;
static double earned_at = 0;

/* For strides alone. */
static uint64 random_state = 0;

static uint32
random_below(uint32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 32) * n >> 32;
}

/* The least that two readings take, as an interruption makes it more. */
static void
measure_clock(void)
{
	uint64		least = PG_UINT64_MAX;

	for (int i = 0; i < 100; i++)
	{
		uint64		start = pfs_timer_read(pfs_timer_default());

		least = Min(least, pfs_timer_read(pfs_timer_default()) - start);
	}
	/* Two readings lie one behind the other; a call's are apart. */
	pfs_pace_clock_ticks = Max(least, 1);
	random_state = pfs_timer_read(pfs_timer_default()) | 1;
}

/* Ticks. */
static uint64
cost_of(uint64 calls, uint64 timed)
{
	return calls * pfs_pace_clock_ticks / CALLS_PER_CLOCK + 2 * timed * pfs_pace_clock_ticks;
}

bool
pfs_pace_next(PfsPace *pace, uint64 calls, uint64 elapsed, uint64 *cost)
{
	*cost += cost_of(calls - pace->calls, 1);
	pace->calls = calls;
	if (pace->stride < STRIDE_MIN)
		pace->stride = STRIDE_MIN;
	else if (*cost > elapsed / OF_EXECUTION)
	{
		if (pace->stride == STRIDE_MAX)
			return false;
		pace->stride *= 2;
	}
	/* From 0 to twice the stride less two: on average one less than it. */
	pace->untimed = random_below(2 * pace->stride - 1);
	return true;
}

/* ---- the budget ---- */

static double
processor_time(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
		return 0;
	return now.tv_sec + now.tv_nsec / 1e9;
}

bool
pfs_budget_has_room(bool is_first)
{
	double		budget = pfs_plan_nodes_budget / 100;
	double		at = processor_time();

	if (pfs_pace_clock_ticks == 0)
		measure_clock();
	credit = Min(credit + (at - earned_at) * budget, EARNED_MAX * budget);
	earned_at = at;
	return budget > 0 && credit >= (is_first ? -OWED_MAX * budget : 0);
}

void
pfs_budget_spend(uint64 calls, uint64 timed, uint32 nodes)
{
	uint64		ticks = cost_of(calls, timed) + (uint64) nodes * CLOCKS_PER_NODE * pfs_pace_clock_ticks;

	credit -= (double) ticks / pfs_clock->frequency[pfs_timer_default()];
}
