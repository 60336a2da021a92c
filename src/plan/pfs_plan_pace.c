/*
 * pfs_plan_pace.c
 *	  What measuring costs, and how it is kept within its bounds.
 */
#include "postgres.h"

#include <time.h>

#include "pfs_guc.h"
#include "pfs_plan_pace.h"

/* The weight of a timed call, behind the first ones and behind many; and the largest. */
#define STRIDE_FIRST	8
#define STRIDE_MANY	64
#define MANY_CALLS	1000
#define STRIDE_MAX	4096

/* One execution: a tenth of its time; and after which part of a second that tells something. */
#define OF_EXECUTION 10
#define EVENED_OUT	100

/*
 * What a call costs that is counted, and one that is timed, by what a reading of the clock takes when another one has
 * just been made: measured by bench/nodes, where the node's own work is in the way of both.
 */
#define CLOCKS_PER_CALL		0.17
#define CLOCKS_PER_TIMED	3

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
	return (calls * CLOCKS_PER_CALL + timed * CLOCKS_PER_TIMED) * pfs_pace_clock_ticks;
}

/*
 * The weight follows what measuring has cost: at the begin that is much of what little has been done.  A node is let go no
 * sooner than when that has evened out.
 */
bool
pfs_pace_next(PfsPace *pace, uint64 all, uint32 calls, uint64 elapsed, uint64 *cost)
{
	uint32		least = all > MANY_CALLS ? STRIDE_MANY : STRIDE_FIRST;
	bool		is_slow;
	bool		costs_too_much;

	*cost += cost_of(calls, 1);
	is_slow = *cost > elapsed / OF_EXECUTION;
	costs_too_much = is_slow && pace->stride == STRIDE_MAX && elapsed > pfs_clock->frequency[pfs_timer_default()] / EVENED_OUT;
	if (is_slow)
		pace->stride = Min(pace->stride * 2, STRIDE_MAX);
	else if (pace->stride > least && *cost < elapsed / OF_EXECUTION / 2)
		pace->stride /= 2;
	pace->stride = Max(pace->stride, least);
	/* From 0 to twice the stride less two: on average one less than it. */
	pace->gap = pace->untimed = random_below(2 * pace->stride - 1);
	return !costs_too_much;
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
