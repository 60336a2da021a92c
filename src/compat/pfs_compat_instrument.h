/*
 * pfs_compat_instrument.h
 *	  What the server itself counts and times of a plan's node.
 */
#ifndef PFS_COMPAT_INSTRUMENT_H
#define PFS_COMPAT_INSTRUMENT_H

#include "executor/instrument.h"
#include "nodes/execnodes.h"

/* 19 split the struct.  Can go when 19 is the oldest version. */
#if PG_VERSION_NUM >= 190000
typedef NodeInstrumentation PfsInstrumentation;
#else
typedef Instrumentation PfsInstrumentation;
#endif

/* One that counts rows, or has a timer, too; palloc'd. */
static inline PfsInstrumentation *
pfs_compat_instrument(bool timer, bool async)
{
	int			options = timer ? INSTRUMENT_TIMER : INSTRUMENT_ROWS;

#if PG_VERSION_NUM >= 190000
	return InstrAllocNode(options, async);
#else
	return InstrAlloc(1, options, async);
#endif
}

/* Gives it a timer, before its node is called. */
static inline void
pfs_compat_instrument_timer(PfsInstrumentation *in)
{
#if PG_VERSION_NUM >= 190000
	in->instr.need_timer = true;
#else
	in->need_timer = true;
#endif
}

/* Is the timer running now? */
static inline bool
pfs_compat_instrument_runs(const PfsInstrumentation *in)
{
#if PG_VERSION_NUM >= 190000
	return !INSTR_TIME_IS_ZERO(in->instr.starttime);
#else
	return !INSTR_TIME_IS_ZERO(in->starttime);
#endif
}

/*
 * What the timer has taken by now, in ticks of a clock with this frequency.  is_cycles: it is the processor's counter, which 19 reads,
 * too: its ticks are taken as they are, as it has measured another frequency.
 */
static inline uint64
pfs_compat_instrument_ticks(const PfsInstrumentation *in, bool is_cycles, uint64 frequency)
{
#if PG_VERSION_NUM >= 190000
	instr_time	taken = in->instr.total;

	INSTR_TIME_ADD(taken, in->counter);
#if PG_INSTR_TSC_CLOCK
	if (is_cycles && timing_tsc_enabled)
		return taken.ticks;
#endif
	return INSTR_TIME_GET_DOUBLE(taken) * frequency;
#else
	return (in->total + INSTR_TIME_GET_DOUBLE(in->counter)) * frequency;
#endif
}

#endif							/* PFS_COMPAT_INSTRUMENT_H */
