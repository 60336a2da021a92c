/*
 * pfs_program_call.c
 *	  Calls of programs that are open in this process.
 *
 * They are a stack.  A call that ends as it should is told by its language; an error jumps
 * over that.  Whoever catches one has a subtransaction for it, and rolls it back: then all calls are
 * over that have begun in it, which those are that began at its level of nesting or deeper.  An error
 * that nobody catches ends the transaction, and with it all calls.  Where somebody
 * catches errors without a subtransaction, as a procedure's commit that fails and the apply
 * worker do, the calls that were cut off are over when the one around them is, or when the
 * session waits for its client: no call of a program does that.
 *
 * A procedure that commits or rolls back goes on, and so does its call.
 *
 * A call is counted however it ends, up to where that was noticed.
 *
 * Calls lie in a pool of private memory, which grows before one begins.
 */
#include "postgres.h"

#include "access/xact.h"

#include "pfs_program_call.h"
#include "pfs_shared.h"
#include "pfs_statement.h"

/* The server's own stack ends long before. */
#define CALLS_MAX (1 << 20)

PFS_HOT_FIRST PfsProgramCall *pfs_program_innermost = NULL;

static PfsPool calls = PFS_POOL_INIT(sizeof(PfsProgramCall), CALLS_MAX);

/*
 * Pushes a call, or gives the CALL that stands there its frame, and begins its time.  Without memory the
 * call is counted as lost, and statements in it are those of the program around.
 */
void
pfs_program_begin(PfsProgramEntry *program, const void *frame)
{
	PfsProgramCall *call = pfs_program_innermost;

	/* The language of a procedure says what CALL has said before. */
	if (frame != NULL && call != NULL && call->frame == NULL && call->program == program)
		call->frame = frame;
	else
	{
		if (unlikely(!pfs_pool_has_room(&calls)) && !pfs_pool_grow(&calls))
		{
			pfs_pages_count_lost(pfs_programs);
			return;
		}
		call = pfs_pool_claim(&calls);
		call->outer = pfs_program_innermost;
		call->program = program;
		call->frame = frame;
		call->depth = pfs_program_depth() + 1;
		call->xact_level = GetCurrentTransactionNestLevel();
		call->flags = program->flags;
		pfs_program_innermost = call;
		if (call->flags & PFS_PROGRAM_ENABLED)
			pfs_program_prepare(program);
	}
	if (call->flags & PFS_PROGRAM_TIMED)
		call->start = pfs_timestamp_now();
}

/* Ends the innermost call, and counts it. */
static void
end_innermost(void)
{
	PfsProgramCall *call = pfs_program_innermost;
	bool		timed = (call->flags & PFS_PROGRAM_TIMED) != 0;
	uint64		ticks = 0;

	if (timed)
	{
		uint64		now = pfs_timer_read(call->start.timer);

		ticks = pfs_ticks_of_default(call->start.timer, Max(now, call->start.at) - call->start.at);
	}
	if (call->flags & PFS_PROGRAM_ENABLED)
		pfs_program_count_call(call->program, timed, ticks);
	pfs_program_innermost = call->outer;
	pfs_pool_put(&calls, call);
	pfs_pool_shrink(&calls);
}

void
pfs_program_end_above(uint32 depth)
{
	while (pfs_program_depth() > depth)
		end_innermost();
}

/*
 * Ends the call that its language knows by this frame.  Calls above it have been cut off by an error.  It is
 * not there if it began while nothing was collected.
 */
void
pfs_program_end(const void *frame)
{
	for (const PfsProgramCall *call = pfs_program_innermost; call != NULL; call = call->outer)
	{
		if (call->frame == frame)
		{
			pfs_program_end_above(call->depth - 1);
			return;
		}
	}
}

void
pfs_program_unwind(int xact_level)
{
	while (pfs_program_innermost != NULL && pfs_program_innermost->xact_level >= xact_level)
		end_innermost();
}

static void
leave(PfsThread *t)
{
	pfs_program_end_above(0);
}

const PfsPart pfs_part_programs = {
	.name = "programs",
	.lay_out = pfs_programs_lay_out,
	.leave = leave,
	.forget = (void **) &pfs_program_innermost,
	.pages = &pfs_programs,
	.sets = &pfs_pending_sets[PFS_COUNTED_PROGRAMS],
};
