/*
 * pfs_instr_workers.c
 *	  Parallel workers, as their leader's calls of the hooks for statements know them: how many
 *	  there were, and by which shared memory those of each call are told apart.
 *
 * Separate from pfs_instr_hooks.c, which passes the calls on.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/execParallel.h"
#include "nodes/nodeFuncs.h"
#include "storage/dsm.h"

#include "pfs_digest_wait.h"
#include "pfs_instr_call.h"
#include "pfs_instr_prove.h"

/* Workers that the plan's Gather nodes started last; a walker of plan states. */
static bool
count_workers(PlanState *state, void *arg)
{
	if (IsA(state, GatherState))
		*(uint64 *) arg += ((GatherState *) state)->nworkers_launched;
	else if (IsA(state, GatherMergeState))
		*(uint64 *) arg += ((GatherMergeState *) state)->nworkers_launched;
	return planstate_tree_walker(state, count_workers, arg);
}

uint64
pfs_workers_launched(const QueryDesc *desc)
{
	uint64		n = 0;

	if (unlikely(desc->plannedstmt->parallelModeNeeded) && desc->planstate != NULL)
		count_workers(desc->planstate, &n);
	return n;
}

/* The workers of the calls around one that begins. */
typedef struct LateWorkers
{
	const PfsLead *lead;		/* the call that is looked at */
	PfsLateWorkers items[PFS_LATE_WORKERS];
	uint32		n;
} LateWorkers;

/* Adds those of a Gather node that is being executed. */
static void
add_gather(LateWorkers *late, const ParallelExecutorInfo *pei)
{
	if (pei == NULL || pei->pcxt == NULL || pei->pcxt->seg == NULL || late->n == PFS_LATE_WORKERS)
		return;
	late->items[late->n++] = (PfsLateWorkers)
	{
		late->lead->key, dsm_segment_handle(pei->pcxt->seg), late->lead->level
	};
}

/* A walker of plan states. */
static bool
find_gathers(PlanState *state, void *arg)
{
	if (IsA(state, GatherState))
		add_gather(arg, ((GatherState *) state)->pei);
	else if (IsA(state, GatherMergeState))
		add_gather(arg, ((GatherMergeState *) state)->pei);
	return planstate_tree_walker(state, find_gathers, arg);
}

/* Adds those of all calls that are active, the outermost one's first. */
static void
add_active(LateWorkers *late, const PfsLead *lead)
{
	const QueryDesc *desc;

	if (lead == NULL)
		return;
	add_active(late, lead->outer);
	desc = lead->query;
	late->lead = lead;
	if (desc != NULL && desc->planstate != NULL)
		find_gathers(desc->planstate, late);
}

void
pfs_workers_lead(PfsThread *t, PfsLead *lead, const QueryDesc *desc)
{
	LateWorkers late;

	lead->query = desc;
	late.n = 0;
	if (desc != NULL)
		add_active(&late, pfs_leading);
	pfs_lead_begin(t, lead, pfs_digest_of_workers(), pfs_raises_are_seen, late.items, late.n);
}

/* COPY leads no workers itself: those of its query are led in calls of their own. */
void
pfs_workers_command_begin(PfsCommand *command, PfsWorkersCommand *state)
{
	state->leads = !command->is_small && command->tag != T_CopyStmt;
	if (state->leads)
		pfs_workers_lead(command->thread, &state->lead, NULL);
}

void
pfs_workers_command_end(PfsCommand *command, const PfsWorkersCommand *state)
{
	if (state->leads)
		pfs_lead_end(command->thread, &state->lead);
}
