/*
 * pfs_stage.c
 *	  The stack of stages of this process.
 *
 * Each statement that is being planned or executed has at most one stage; that of
 * an outer statement goes on while inner ones have theirs.  What is deeper than
 * events_stages_current can show is still counted.
 *
 * Separate from pfs_statement_nest.c, which decides when statements begin and end: the
 * stack knows of a statement only its event_id.
 */
#include "postgres.h"

#include "utils/backend_status.h"

#include "pfs_progress.h"
#include "pfs_statement_open.h"

/* Deeper ones need memory from the system. */
#define STAGES_AT_FIRST 16

static PFS_HOT_TABLE PfsStage first_stages[STAGES_AT_FIRST];

PFS_HOT_STRUCT PfsStages pfs_stages = {first_stages, 0, STAGES_AT_FIRST, PFS_NO_INSTRUMENT};

/*
 * Returns the event_id of the innermost stage that has one, for new events to be nested in; 0:
 * none has, or it is of another statement.  That of a command goes on while a function that it
 * calls executes statements, whose waits are theirs, as their digests have them.
 */
uint64
pfs_stage_event_id(uint64 statement)
{
	for (uint32 i = pfs_stages.n; i > 0; i--)
	{
		const PfsStage *stage = &pfs_stages.items[i - 1];
		uint64		id = stage->event_id;

		if (id != 0)
			return statement == 0 || stage->statement == statement ? id : 0;
	}
	return 0;
}

/*
 * Doubles the stack of stages, outside of a write section.  A signal handler's events
 * read the stack, so it moves inside one.  Without memory the next stages are not seen.
 */
void
pfs_stages_grow(PfsThread *t)
{
	PfsStage   *old = pfs_stages.items;
	uint32		max = pfs_stages.max;
	PfsStage   *more = pfs_private_map(2 * max * sizeof(PfsStage), false);

	if (more == NULL)
		return;
	pfs_write_begin(t);
	memcpy(more, old, pfs_stages.n * sizeof(PfsStage));
	pfs_stages.items = more;
	pfs_stages.max = 2 * max;
	pfs_write_end(t);
	if (old != first_stages)
		pfs_private_unmap(old, max * sizeof(PfsStage));
}

/* The event of the stage at top level goes on in a slot, as another one comes to where it lies. */
static void
leave_place(PfsThread *t)
{
	PfsEvents  *events = &t->events[PFS_STAGES];
	PfsStage   *stage = &pfs_stages.items[0];

	if (likely(!pfs_stage_is_in_place(t)))
		return;
	stage->event = (PfsStageEvent *) pfs_event_slot(events, 0);
	memcpy(PFS_EVENT_STORED(stage->event), events->finished.next, PFS_STAGE_STORED);
	stage->start = stage->event->timer_start;
	pfs_store_release(&events->depth, 1);	/* C */
}

/*
 * Begins a stage in a slot, inside the statement with this event_id
 * (0: none), and puts it on the stack.  One that is not enabled lies there with flags 0, so
 * that each pop finds its own.  The caller calls pfs_set_parent() afterwards.  If the
 * stack could not grow, the stage is not seen, and the caller compares pfs_stages.n.
 */
void
pfs_stage_push(PfsThread *t, PfsInstrumentId instrument, PfsTimestamp now, uint64 statement_id)
{
	PfsParent	parent = {statement_id, statement_id != 0 ? PFS_NESTING_STATEMENT : PFS_NESTING_NONE};
	uint32		flags = pfs_wait_flags(t, instrument);
	PfsStage   *stage;

	if (unlikely(pfs_stages.n == pfs_stages.max))
		return;
	leave_place(t);
	stage = &pfs_stages.items[pfs_stages.n++];
	memset(stage, 0, sizeof(*stage));
	stage->instrument = instrument;
	stage->statement = statement_id;
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	stage->flags = flags;
	stage->start = pfs_timestamp_of(stage->flags, now);
	stage->event = (PfsStageEvent *) pfs_event_begin(t, PFS_STAGES, instrument, stage->flags, stage->start, parent);
	if (stage->event == NULL)
		return;
	stage->event_id = stage->event->event_id;
	stage->event->work_completed = -1;
	stage->event->work_estimated = -1;
	pfs_event_show(t, PFS_STAGES);
}

void
pfs_stage_switch(PfsThread *t, PfsStageKind kind, PfsTimestamp now, uint64 statement_id)
{
	pfs_stage_pop(t, 0, now);
	(void) pfs_stage_first(t, now, kind, statement_id);
	pfs_set_parent();
}

/* Is the command whose phase this is the one that the process is in? */
static inline bool
is_same_command(const PfsStage *stage)
{
	return MyBEEntry->st_progress_command == stage->progress && MyBEEntry->st_progress_command_target == stage->target;
}

/*
 * The work of a progress stage by the parameters of this process's command, which
 * outlive the command itself.  now: the phase that the command is in; NULL: it is to be found.
 * False: they are those of another run of the phase.
 */
static bool
look_at_work(PfsStage *stage, const PfsProgressPhase *now)
{
	const PgBackendStatus *status = MyBEEntry;
	const int64 *params;
	bool		over;

	if (status == NULL || stage->event == NULL || stage->event->progress == 0)
		return true;
	over = status->st_progress_command == PROGRESS_COMMAND_INVALID;
	if (!over && !is_same_command(stage))
		return false;
	params = (const int64 *) status->st_progress_param;
	if (now == NULL)
		now = pfs_progress_phase(stage->progress, params);
	return pfs_progress_work(stage->instrument, now, params, over,
							 &stage->event->work_completed, &stage->event->work_estimated);
}

/*
 * Ends the innermost stages until `depth` are left: each is counted, and recorded if it
 * had a slot.  Called at the end of a call, and where calls that an error has cut off
 * have left stages behind.  A progress stage gets its work from the process's status
 * entry before it ends.  The caller calls pfs_set_parent() afterwards.
 */
void
pfs_stage_pop(PfsThread *t, uint32 depth, PfsTimestamp now)
{
	while (pfs_stages.n > depth)
	{
		PfsStage   *stage = &pfs_stages.items[pfs_stages.n - 1];
		uint64		end;

		if (pfs_stage_is_in_place(t))
		{
			pfs_stage_end_in_place(t, pfs_timestamp_of(stage->flags, now));
			continue;
		}
		pfs_stages.n--;
		if (stage->flags == 0)
			continue;
		end = Max(pfs_timestamp_of(stage->flags, now), stage->start);
		if (stage->event != NULL)
		{
			if (stage->progress != 0 && !look_at_work(stage, NULL))
				pfs_progress_complete(&stage->event->work_completed, &stage->event->work_estimated);
			pfs_event_end(t, PFS_STAGES, (PfsEvent *) stage->event, end);
		}
		pfs_count_stage(t, stage->instrument, stage->flags, end - stage->start);
	}
}

/*
 * Ends the innermost stage, that of a nested planning, without recording it: the
 * history needs to know the statement that it belongs to, which is decided later.  It
 * is counted here, its slot is free again, and `held` is its event, if it had a slot, for
 * pfs_stage_record().  The caller knows that the stage is not that of the top level.
 */
void
pfs_stage_hold(PfsThread *t, PfsTimestamp now, PfsStageEvent *held)
{
	PfsStage   *stage = &pfs_stages.items[--pfs_stages.n];
	uint64		end;

	if (stage->flags == 0)
		return;
	end = Max(pfs_timestamp_of(stage->flags, now), stage->start);
	if (stage->event != NULL)
	{
		*held = *stage->event;
		held->timer_end = end;
		held->end_event_id = t->last_event_id;
		pfs_event_drop(t, PFS_STAGES, (PfsEvent *) stage->event);
	}
	pfs_count_stage(t, stage->instrument, stage->flags, end - stage->start);
}

/*
 * Puts a stage that pfs_stage_hold() has ended into the history, inside the statement
 * with this event_id (0: none).  Nothing happens if it had no slot, or was recorded before.
 */
void
pfs_stage_record(PfsThread *t, PfsStageEvent *held, uint64 statement_id)
{
	if (held->flags == 0)
		return;
	leave_place(t);
	held->nesting_event_id = statement_id;
	held->nesting_type = statement_id != 0 ? PFS_NESTING_STATEMENT : PFS_NESTING_NONE;
	pfs_event_record(t, PFS_STAGES, (PfsEvent *) held, held->timer_end);
	held->flags = 0;
}

/*
 * Removes all stages, as if they had not been: they are neither counted nor recorded.
 */
void
pfs_stage_drop(PfsThread *t)
{
	pfs_stages.n = 0;
	pfs_store_relaxed(&t->events[PFS_STAGES].depth, 0);
}

/* The innermost stage that is a phase of a command, or NULL. */
static PfsStage *
progress_stage(void)
{
	for (uint32 i = pfs_stages.n; i > 0; i--)
	{
		if (pfs_stages.items[i - 1].progress != 0)
			return &pfs_stages.items[i - 1];
	}
	return NULL;
}

/*
 * The command is in another phase, or anew in the one of the progress stage: ends that, and begins the next one.
 * Statements inside the command, those of functions that it calls, are in none of their own, unless they are such
 * commands themselves.
 */
static pg_noinline void
change_phase(PfsThread *t, PfsStage *stage, const PfsProgressPhase *phase)
{
	const PgBackendStatus *status = MyBEEntry;
	PfsInstrumentId instrument = phase != NULL ? phase->instrument : PFS_NO_INSTRUMENT;
	bool		innermost = stage == NULL || stage == &pfs_stages.items[pfs_stages.n - 1];
	PfsTimestamp now;

	if (stage == NULL && instrument == PFS_NO_INSTRUMENT)
		return;
	if (!innermost && (instrument == PFS_NO_INSTRUMENT || is_same_command(stage)))
		return;
	if (unlikely(instrument == pfs_stages.over && instrument != PFS_NO_INSTRUMENT))
		return;
	pfs_stages.over = PFS_NO_INSTRUMENT;
	now = pfs_timestamp_now();
	if (stage != NULL && innermost)
		pfs_stage_pop(t, pfs_stages.n - 1, now);
	else if (stage != NULL && stage->event != NULL)
		stage->event->progress = 0; /* from here on the parameters are the
									 * inner command's */
	if (instrument != PFS_NO_INSTRUMENT)
	{
		PfsParent	parent = pfs_statement_parent();
		uint32		n = pfs_stages.n;

		pfs_stage_push(t, instrument, now, parent.type == PFS_NESTING_STATEMENT ? parent.event_id : 0);
		if (pfs_stages.n > n)
		{
			stage = &pfs_stages.items[n];
			stage->progress = status->st_progress_command;
			stage->target = status->st_progress_command_target;
			if (stage->event != NULL)
				stage->event->progress = stage->progress;
			(void) look_at_work(stage, phase);
		}
	}
	pfs_set_parent();
}

/*
 * Notices, at an instrument point, that the command of this process has come to another
 * phase, or again to the same one (the next table, the next round of a vacuum).
 */
void
pfs_stage_look(PfsThread *t)
{
	const PgBackendStatus *status = MyBEEntry;
	const PfsProgressPhase *phase = NULL;
	PfsStage   *stage = progress_stage();

	if (status != NULL && status->st_progress_command != PROGRESS_COMMAND_INVALID)
		phase = pfs_progress_phase(status->st_progress_command, (const int64 *) status->st_progress_param);
	if (phase == NULL || stage == NULL || stage->instrument != phase->instrument || !look_at_work(stage, phase))
		change_phase(t, stage, phase);
}

/*
 * Ends the phase of a command that began inside a nested statement, as that ends: COPY (query)
 * TO begins to report its progress when its query is open.  The command says that it is in the
 * phase until it has ended, which begins no stage any more.
 */
void
pfs_stage_end_phase(PfsThread *t, uint64 statement, PfsTimestamp now)
{
	uint32		outer = pfs_stages.n - 1;

	if (pfs_stages.n == 0 || pfs_stages.items[outer].progress == 0 || pfs_stages.items[outer].statement != statement)
		return;
	pfs_stages.over = pfs_stages.items[outer].instrument;
	pfs_stage_pop(t, outer, now);
}
