/*
 * pfs_stage.h
 *	  The stack of stages of this process, and the fast path by which nearly all
 *	  of them begin and end.
 *
 * Each statement that is being planned or executed has at most one stage; that of
 * an outer statement goes on while inner ones have theirs.  Everything here runs
 * inside a write section.
 *
 * Separate from pfs_statement_open.h, which begins and ends statements: the stack knows of a
 * statement only its event_id.
 */
#ifndef PFS_STAGE_H
#define PFS_STAGE_H

#include "pfs_event_cell.h"

typedef struct PfsStage
{
	PfsInstrumentId instrument;
	uint32		flags;			/* 0: not collected */
	uint64		start;
	uint64		event_id;		/* 0: none */
	uint64		statement;		/* event_id of the statement that it is nested
								 * in; 0: none */
	PfsStageRun *run;			/* NULL: not shown */
	int			progress;		/* phase of a command inside its statement's
								 * stage: the command; 0: it is none */
	Oid			target;			/* the same: the relation that it works on */
} PfsStage;

typedef struct PfsStages
{
	PfsStage   *items;			/* that of the top level is the first */
	uint32		n;
	uint32		max;
	PfsStageRun *run;			/* of the top level; NULL: one that cannot go
								 * on the fast path */
	PfsInstrumentId over;		/* phase that the command may still report,
								 * and that has ended with a nested statement;
								 * PFS_NO_INSTRUMENT: none */
} PfsStages;

extern PFS_HIDDEN PfsStages pfs_stages;

/*
 * Outside of a write section, before one in which a call begins: its stage and
 * one of a command's phases are going to have places.
 */
static inline bool
pfs_stages_need_room(void)
{
	return pfs_stages.n + 2 > pfs_stages.max;
}

extern void pfs_stages_grow(PfsThread *t);

/*
 * Has the stage of a nested call to be on the stack?  One that is off is of no use there, but while a command
 * reports its progress: below it, its phase is not the innermost stage (pfs_stage_look()).
 */
static inline bool
pfs_stage_is_wanted(const PfsThread *t, PfsStageKind kind)
{
	return (pfs_wait_flags(t, pfs_stage_instrument[kind]) & PFS_FLAG_ENABLED) != 0 || (pfs_local.slow & PFS_SLOW_PROGRESS) != 0;
}

/* Is no stage collected that is open, as nearly always?  Then at most that of the top level lies on the stack. */
static inline bool
pfs_stages_are_off(void)
{
	return likely(pfs_stages.n == 0 || (pfs_stages.n == 1 && pfs_stages.items[0].flags == 0));
}

extern void pfs_stage_push(PfsThread *t, PfsInstrumentId instrument, PfsTimestamp now, uint64 statement_id);
extern void pfs_stage_pop(PfsThread *t, uint32 depth, PfsTimestamp now);
extern void pfs_stage_drop(PfsThread *t);

/*
 * The innermost stage that has an event_id, if it is of this statement; 0: there is none.
 * statement 0: of any.
 */
extern uint64 pfs_stage_event_id(uint64 statement);

/*
 * Ends the innermost one, to be recorded later; records it.  held: its flags are 0 while there
 * is none.
 */
extern void pfs_stage_hold(PfsThread *t, PfsTimestamp now, PfsStageEvent *held);
extern void pfs_stage_record(PfsThread *t, PfsStageEvent *held, uint64 statement_id);

/* Has the command of this process come to another phase? */
extern void pfs_stage_look(PfsThread *t);

/* A nested statement ends, and with it the phase of a command that began inside it. */
extern void pfs_stage_end_phase(PfsThread *t, uint64 statement, PfsTimestamp now);

/* How many stages of a run that goes on a TRUNCATE has hidden; owner, and readers of a copy. */
extern uint32 pfs_stages_hidden(const PfsStageRun *run, uint64 hidden_id, uint64 last_id);

/* The last stage of the top level ends. */
extern void pfs_stage_end_run(PfsThread *t, uint64 end);

/* All stages end, with the statement at top level. */
static inline void
pfs_stages_end(PfsThread *t, PfsTimestamp now)
{
	if (likely(pfs_stages.n == 1 && pfs_stages.run != NULL && now.timer == PFS_FLAGS_TIMER(pfs_stages.run->first.flags)))
		pfs_stage_end_run(t, now.at);
	else if (likely(pfs_stages.n == 1 && pfs_stages.items[0].flags == 0))
		pfs_stages.n = 0;
	else
		pfs_stage_pop(t, 0, now);
}

/* The last stage of the top level ends, and another one begins; the slow path of pfs_stage_mark(). */
extern void pfs_stage_switch_slow(PfsThread *t, PfsStageKind kind, PfsTimestamp now, uint64 statement_id);

/*
 * Is the stage of the top level not wanted, and the next one neither?  Then there is
 * nothing to do, and no reading of the clock is needed for it.
 */
static inline bool
pfs_stage_stays_off(const PfsThread *t, PfsStageKind kind)
{
	return pfs_stages.n == 1 && pfs_stages.items[0].flags == 0 &&
		(pfs_wait_flags(t, pfs_stage_instrument[kind]) & PFS_FLAG_ENABLED) == 0;
}

/*
 * Adds a mark to the run, which has room for it, and which readers come to by `more` (A, pairs with the acquire in
 * pfs_statement_read.c); no write section is needed.
 */
static inline void
pfs_stage_add_mark(PfsThread *t, PfsStageRun *run, PfsInstrumentId instrument, uint64 at)
{
	uint32		more = run->first.more;
	uint64		id = t->last_event_id + 1;

	t->last_event_id = id;
	run->marks[more].at = at;
	run->marks[more].what = id << 16 | instrument;
	pfs_store_release(&run->first.more, more + 1);	/* A */
	pfs_local.parent.event_id = id;
}

/*
 * Ends the stage of the top level where another one begins.  True also where there is no run, and the next stage is off.
 * False: the caller calls pfs_stage_switch_slow(), as others are nested in it, `now` is no
 * reading of its timer, the run is full or has other flags, or there is none and the next
 * stage may be on.
 */
static inline bool
pfs_stage_mark(PfsThread *t, PfsStageKind kind, PfsTimestamp now)
{
	PfsInstrumentId instrument = pfs_stage_instrument[kind];
	PfsStageRun *run = pfs_stages.run;

	if (pfs_stages.n != 1)
		return false;
	if (unlikely(run == NULL))
		return pfs_stage_stays_off(t, kind);
	if (now.timer != PFS_FLAGS_TIMER(run->first.flags))
		return false;
	if (unlikely(run->first.more == PFS_STAGE_MARKS || pfs_wait_flags(t, instrument) != run->first.flags))
		return false;
	pfs_stage_add_mark(t, run, instrument, now.at);
	return true;
}

/*
 * Begins the first stage of the top level.  One that is not wanted lies on the stack all
 * the same, as the others do.  False: the caller calls pfs_set_parent().
 */
static pg_attribute_always_inline bool
pfs_stage_first(PfsThread *t, PfsTimestamp now, PfsStageKind kind, uint64 statement_id)
{
	PfsInstrumentId instrument = pfs_stage_instrument[kind];
	PfsParent	parent = {statement_id, statement_id != 0 ? PFS_NESTING_STATEMENT : PFS_NESTING_NONE};
	uint32		flags = pfs_wait_flags(t, instrument);
	PfsStage   *stage = &pfs_stages.items[0];
	PfsStageRun *run = NULL;

	if (likely((flags & PFS_FLAG_ENABLED) == 0 && pfs_stages.n == 0 && statement_id != 0))
	{
		*stage = (PfsStage)
		{
			.instrument = instrument, .statement = statement_id
		};
		pfs_stages.n = 1;
		pfs_local.parent = parent;
		return true;
	}
	if (likely((flags & (PFS_FLAGS_USUAL | PFS_FLAG_CURRENT)) == (pfs_local.usual | PFS_FLAG_CURRENT) && pfs_stages.n == 0 &&
			   now.timer == PFS_FLAGS_TIMER(flags)))
		run = (PfsStageRun *) pfs_event_begin(t, PFS_STAGES, instrument, flags, now.at, parent);
	if (unlikely(run == NULL))
	{
		pfs_stage_push(t, instrument, now, statement_id);
		return false;
	}
	run->first.work_completed = -1;
	run->first.work_estimated = -1;
	pfs_event_show(t, PFS_STAGES);
	stage->instrument = instrument;
	stage->flags = flags;
	stage->start = now.at;
	stage->event_id = run->first.event_id;
	stage->statement = statement_id;
	stage->run = run;
	stage->progress = 0;
	pfs_stages.n = 1;
	pfs_stages.run = run;
	pfs_local.parent.event_id = run->first.event_id;
	pfs_local.parent.type = PFS_NESTING_STAGE;
	return true;
}

#endif							/* PFS_STAGE_H */
