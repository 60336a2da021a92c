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

/* What the timer has taken by now, in seconds. */
static inline double
pfs_compat_instrument_time(const PfsInstrumentation *in)
{
#if PG_VERSION_NUM >= 190000
	return INSTR_TIME_GET_DOUBLE(in->instr.total) + INSTR_TIME_GET_DOUBLE(in->counter);
#else
	return in->total + INSTR_TIME_GET_DOUBLE(in->counter);
#endif
}

#endif							/* PFS_COMPAT_INSTRUMENT_H */
