/*
 * pfs_job.c
 *	  Jobs: their instruments, begin and end, and their counts as a family of summaries.
 */
#include "postgres.h"

#include "pfs_event_cell.h"
#include "pfs_event_own.h"
#include "pfs_event_write.h"
#include "pfs_job.h"

static PfsInstrumentId instruments[PFS_JOB_LARGE + 1];

static void
job_start(void)
{
	static const char *const names[] = {[PFS_JOB_SMALL] = "job/small",[PFS_JOB_LARGE] = "job/large"};

	for (int i = 0; i < lengthof(names); i++)
	{
		PfsInstrument proto = {.class = PFS_CLASS_JOB, .documentation = "Jobs of this size."};

		strlcpy(proto.name, names[i], sizeof(proto.name));
		instruments[i] = pfs_instrument_register(&proto);
	}
}

void
pfs_job_event_record(PfsThread *t, PfsEvent *event)
{
	pfs_event_record_plain(t, PFS_JOBS, event, sizeof(PfsJobEvent));
}

PfsJobEvent *
pfs_job_begin(PfsThread *t, PfsJobKind kind, uint32 priority)
{
	uint32		flags = pfs_wait_flags(t, instruments[kind]);
	PfsJobEvent *e;

	if ((flags & PFS_FLAG_ENABLED) == 0 || pfs_is_writing(t))
		return NULL;
	pfs_write_begin(t);
	e = (PfsJobEvent *) pfs_event_begin(t, PFS_JOBS, instruments[kind], flags, pfs_wait_clock(flags),
										pfs_statement_parent());
	if (e != NULL)
	{
		e->priority = priority;
		e->steps = 0;
		pfs_event_show(t, PFS_JOBS);
	}
	pfs_write_end(t);
	return e;
}

/*
 * Counts a job in the thread's own cell, or for the server alone.  Inside a write
 * section; ticks are those of the timer in flags.
 */
static void
count(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks)
{
	PfsBlock   *block = &t->cells[PFS_FAMILY_JOBS];
	uint32		cell = pfs_cell_of_instrument(PFS_FAMILY_JOBS, instrument);
	bool		timed = (flags & PFS_FLAG_TIMED) != 0;

	if (cell >= block->ncells)
		return;
	ticks = timed ? pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks) : 0;
	if ((flags & PFS_FLAG_THREAD) == 0)
	{
		PfsTotals	one = {timed ? 1 : 0, timed ? 0 : 1, ticks, ticks, ticks};

		pfs_kind_merge(&pfs_job_kind, pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_JOBS].cells, cell), &one);
		return;
	}
	pfs_summary_look(t, PFS_FAMILY_JOBS);
	if (timed)
		pfs_cells_add(block, cell, ticks);
	else
	{
		pfs_cells_touch(block, cell, PG_UINT64_MAX);
		pfs_bump(&((PfsCell *) block->cells)[cell].count_untimed, 1);
	}
}

void
pfs_job_end(PfsThread *t, PfsJobEvent *e, uint64 steps)
{
	uint64		end = pfs_wait_read_end(t, e->flags);

	pfs_write_begin(t);
	e->steps = steps;
	count(t, e->instrument, e->flags, end - e->timer_start);
	pfs_event_end(t, PFS_JOBS, (PfsEvent *) e, end);
	pfs_write_end(t);
}

/* ---- as a family of summaries ---- */

static uint32
job_cells(void)
{
	return lengthof(instruments);
}

const PfsSummaryKind pfs_job_kind = {
	.tables = {
		[PFS_LEVEL_THREAD] = "events_jobs_summary_by_thread_by_event_name",
		[PFS_LEVEL_ACCOUNT] = "events_jobs_summary_by_account_by_event_name",
		[PFS_LEVEL_USER] = "events_jobs_summary_by_user_by_event_name",
		[PFS_LEVEL_HOST] = "events_jobs_summary_by_host_by_event_name",
		[PFS_LEVEL_GLOBAL] = "events_jobs_summary_global_by_event_name",
	},
	.start = job_start,
	.cell_size = sizeof(PfsCell),
	.read_size = sizeof(PfsCell),
	.shared_size = sizeof(PfsSharedCell),
	.totals_size = sizeof(PfsTotals),
	.cells = job_cells,
	.lock_offset = offsetof(PfsThread, seq),
	.ntimes = 1,
	.container = "events_jobs_summary_global",
};
