/*
 * pfs_stage.h
 *	  The stack of stages of this process.
 *
 * Each statement that is being planned or executed has at most one stage; that of
 * an outer statement goes on while inner ones have theirs.  The event of the one at top
 * level is made where it stays, in the thread's block, as long as it is the only one; those
 * of the others are in slots.  Everything here runs inside a write section.
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
	PfsStageEvent *event;		/* its slot; NULL: it is not shown, or lies
								 * where it stays */
	int			progress;		/* phase of a command inside its statement's
								 * stage: the command; 0: it is none */
	Oid			target;			/* the same: the relation that it works on */
} PfsStage;

typedef struct PfsStages
{
	PfsStage   *items;			/* that of the top level is the first */
	uint32		n;
	uint32		max;
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

/* Bytes of a stage in a block. */
#define PFS_STAGE_STORED TYPEALIGN(PFS_EVENT_UNIT, PFS_STAGE_STORED_MIN)

/* Does the event of the stage at top level, which is the only one then, lie where it stays? */
static pg_attribute_always_inline bool
pfs_stage_is_in_place(const PfsThread *t)
{
	return t->events[PFS_STAGES].depth == PFS_EVENT_IN_PLACE;
}

/* Makes the event of a stage where it stays; flags: as nearly all have them.  NULL: there is no block. */
static pg_attribute_always_inline PfsStageEvent *
pfs_stage_make_in_place(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 start, uint64 statement_id)
{
	char	   *room = pfs_history_room(t, PFS_STAGES, PFS_STAGE_STORED);
	uint64		nesting = statement_id != 0 ? PFS_NESTING_STATEMENT : PFS_NESTING_NONE;
	PfsStageEvent *e;

	if (unlikely(room == NULL))
		return NULL;
	e = (PfsStageEvent *) (room - PFS_EVENT_UNSTORED);
	e->kind = instrument | nesting << 32 | (uint64) (PFS_STAGE_STORED / sizeof(uint64)) << 48;
	e->timer_start = start;
	e->event_id = ++t->last_event_id;
	e->nesting_event_id = statement_id;
	e->flags = flags;
	e->progress = 0;
	e->work_completed = e->work_estimated = -1;
	return e;
}

/* Begins the first stage there.  False: it could not. */
static pg_attribute_always_inline bool
pfs_stage_begin_in_place(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 start, uint64 statement_id)
{
	const PfsStageEvent *e = pfs_stage_make_in_place(t, instrument, flags, start, statement_id);

	if (unlikely(e == NULL))
		return false;
	pfs_stages.items[0] = (PfsStage)
	{
		.instrument = instrument, .flags = flags, .event_id = e->event_id, .statement = statement_id
	};
	pfs_stages.n = 1;
	pfs_local.parent.event_id = e->event_id;
	pfs_local.parent.type = PFS_NESTING_STAGE;
	pfs_store_release(&t->events[PFS_STAGES].depth, PFS_EVENT_IN_PLACE);	/* C */
	return true;
}

/* Counts it, and puts its event into the histories. */
static pg_attribute_always_inline void
pfs_stage_finish_in_place(PfsThread *t, uint64 end)
{
	PfsStageEvent *e = (PfsStageEvent *) ((char *) t->events[PFS_STAGES].finished.next - PFS_EVENT_UNSTORED);

	end = Max(end, e->timer_start);
	pfs_summary_look(t, PFS_FAMILY_STAGES);
	pfs_cells_add(&t->cells[PFS_FAMILY_STAGES], pfs_stage_cell(e->instrument), end - e->timer_start);
	e->timer_end = end;
	e->end_event_id = t->last_event_id;
	if (likely(e->flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
		pfs_history_done(t, PFS_STAGES, PFS_STAGE_STORED, e->flags);
}

/* Ends it, and no other one begins. */
static pg_attribute_always_inline void
pfs_stage_end_in_place(PfsThread *t, uint64 end)
{
	pfs_stage_finish_in_place(t, end);
	pfs_store_relaxed(&t->events[PFS_STAGES].depth, 0);
	pfs_stages.n = 0;
}

/* Ends it, and the next one of the same flags and statement begins.  False: that could not. */
static pg_attribute_always_inline bool
pfs_stage_next_in_place(PfsThread *t, PfsInstrumentId instrument, uint64 now)
{
	PfsStage   *stage = &pfs_stages.items[0];
	const PfsStageEvent *e;

	pfs_stage_finish_in_place(t, now);
	e = pfs_stage_make_in_place(t, instrument, stage->flags, now, stage->statement);
	if (unlikely(e == NULL))
	{
		pfs_store_relaxed(&t->events[PFS_STAGES].depth, 0);
		pfs_stages.n = 0;
		return false;
	}
	stage->instrument = instrument;
	stage->event_id = pfs_local.parent.event_id = e->event_id;
	pfs_local.parent.type = PFS_NESTING_STAGE;
	return true;
}

/* All stages end, with the statement at top level. */
static inline void
pfs_stages_end(PfsThread *t, PfsTimestamp now)
{
	if (likely(pfs_stages.n == 1 && pfs_stages.items[0].flags == 0))
		pfs_stages.n = 0;
	else
		pfs_stage_pop(t, 0, now);
}

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

/* All stages end, and another one of the top level begins. */
extern void pfs_stage_switch(PfsThread *t, PfsStageKind kind, PfsTimestamp now, uint64 statement_id);

/*
 * Begins the first stage of the top level.  One that is not wanted lies on the stack all
 * the same, as the others do.  False: the caller calls pfs_set_parent().
 */
static pg_attribute_always_inline bool
pfs_stage_first(PfsThread *t, PfsTimestamp now, PfsStageKind kind, uint64 statement_id)
{
	PfsInstrumentId instrument = pfs_stage_instrument[kind];
	uint32		flags = pfs_wait_flags(t, instrument);

	if (likely((flags & PFS_FLAG_ENABLED) == 0 && pfs_stages.n == 0 && statement_id != 0))
	{
		pfs_stages.items[0] = (PfsStage)
		{
			.instrument = instrument, .statement = statement_id
		};
		pfs_stages.n = 1;
		pfs_local.parent.event_id = statement_id;
		pfs_local.parent.type = PFS_NESTING_STATEMENT;
		return true;
	}
	if (likely((flags & (PFS_FLAGS_USUAL | PFS_FLAG_CURRENT)) == (pfs_local.usual | PFS_FLAG_CURRENT) && pfs_stages.n == 0 &&
			   now.timer == PFS_FLAGS_TIMER(flags)) &&
		likely(pfs_stage_begin_in_place(t, instrument, flags, now.at, statement_id)))
		return true;
	pfs_stage_push(t, instrument, now, statement_id);
	return false;
}

#endif							/* PFS_STAGE_H */
