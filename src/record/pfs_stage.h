/*
 * pfs_stage.h
 *	  The stack of stages of this process, and the way on which nearly all of
 *	  them begin and end.
 *
 * Each statement that is being planned or executed has at most one stage; that of
 * an outer statement goes on while inner ones have theirs.  Everything here runs
 * inside a change.
 */
#ifndef PFS_STAGE_H
#define PFS_STAGE_H

#include "pfs_event_cell.h"

typedef struct PfsStage
{
	PfsInstrumentId instrument;
	uint32		flags;			/* 0: not collected */
	uint64		start;
	uint64		event_id;		/* 0: no number */
	PfsStageEvent *event;		/* NULL: not shown */
	bool		progress;		/* phase of a command inside its statement's
								 * stage */
} PfsStage;

typedef struct PfsStages
{
	PfsStage   *items;			/* that of the top level is the first */
	uint32		n;
	uint32		max;
} PfsStages;

extern PFS_HIDDEN PfsStages pfs_stages;

extern void pfs_stage_push(PfsThread *t, PfsInstrumentId instrument, PfsMoment now, uint64 statement_id);
extern void pfs_stage_pop(PfsThread *t, uint32 depth, PfsMoment now);
extern void pfs_stage_drop(PfsThread *t, uint32 depth);
extern uint64 pfs_stage_event_id(void); /* of the innermost; 0: none */

/* As a pop of the innermost one; it is recorded by the other. */
extern void pfs_stage_hold(PfsThread *t, PfsMoment now, PfsHeldStage *held);
extern void pfs_stage_record(PfsThread *t, PfsHeldStage *held, uint64 statement_id);

/* Has the command of this process come to another phase? */
extern void pfs_stage_look(PfsThread *t);

/* Any process: the work of a copy of a running stage. */
extern void pfs_stage_read_work(const PgBackendStatus *entry, int pid, PfsStageEvent *e);

/* What is the same in all stages of a thread. */
extern void pfs_stage_stamp(PfsThread *t);

/* All that a stage can have, and what its flags have to be for the short way. */
#define PFS_STAGE_USUAL (PFS_FLAGS_USUAL | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY)

/*
 * The only stage that there is, of the top level, ends where another one begins.
 * The slots have their stamps, and both events are the outermost of their ring.
 */
static pg_attribute_always_inline void
pfs_stage_switch(PfsThread *t, PfsStageKind kind, PfsMoment now, uint64 statement_id)
{
	PfsInstrumentId instrument = pfs_stage_instrument[kind];
	uint32		flags = pfs_wait_flags(t, instrument);
	PfsStage   *s = &pfs_stages.items[0];
	PfsEvents  *events = &t->events[PFS_STAGES];
	PfsStageEvent *e = s->event;

	if (unlikely(pfs_stages.n != 1 || s->flags != flags || e == NULL ||
				 (flags & PFS_STAGE_USUAL) != (pfs_local.usual | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY) ||
				 now.timer != PFS_FLAGS_TIMER(flags) || now.at < s->start))
	{
		pfs_stage_pop(t, 0, now);
		pfs_stage_push(t, instrument, now, statement_id);
		pfs_set_parent();
		return;
	}
	e->timer_end = now.at;
	e->end_event_id = t->last_event_id;
	pfs_family_look(t, PFS_FAMILY_STAGES);
	pfs_cells_add(&t->summary[PFS_FAMILY_STAGES].cells, s->instrument - pfs_stage_instrument[0],
				  now.at - s->start);
	pfs_ring_push(&events->ring, 0);
	if (unlikely(events->ring.head - events->flushed >= PFS_LOG_GROUP))
		pfs_events_flush(t, PFS_STAGES);

	e = pfs_ring_spare(&events->ring, 0);
	e->timer_start = s->start = now.at;
	e->event_id = s->event_id = ++t->last_event_id;
	e->nesting_event_id = statement_id;
	e->kind = instrument | (uint64) (statement_id != 0 ? PFS_NESTING_STATEMENT : PFS_NESTING_NONE) << 32;
	e->flags = flags;
	e->progress = 0;
	e->work_completed = e->work_estimated = -1;
	s->instrument = instrument;
	s->event = e;
	pfs_local.parent.event_id = s->event_id;
	pfs_local.parent.type = PFS_NESTING_STAGE;
}

#endif							/* PFS_STAGE_H */
