/*
 * pfs_error.c
 *	  Counting errors, and finding out which were caught.
 *
 * An ERROR leaves by a jump to the innermost handler.  A handler that throws it on
 * jumps again.  If the last of the jumps goes to the outermost handler of
 * the process, or the server logs the error, nobody has caught it.  If not, and
 * something else happens (another raise, a statement, the session becomes idle, the process
 * ends), somebody has.
 *
 * A parallel worker's errors are raised again in its leader, and count there.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_error.h"
#include "pfs_event_cell.h"

PFS_NEAR PfsSharedErrors *pfs_errors = NULL;
PFS_NEAR PfsOpenError pfs_open_error;

static PFS_NEAR PfsInstrumentId error_instrument = PFS_NO_INSTRUMENT;

void
pfs_errors_start(void)
{
	PfsInstrument proto = {.class = PFS_CLASS_ERROR, .name = "error"};

	proto.documentation = "Errors by SQLSTATE, and warnings that log_min_messages lets through.";
	error_instrument = pfs_instrument_register(&proto);
}

/* ---- cells ---- */

static uint64
key_of(int sqlstate, PfsSeverity severity)
{
	return (uint64) (severity + 1) << 32 | (uint32) sqlstate;
}

/*
 * Cells are given out in order and never taken back, so the first free one ends the
 * search.  Who loses it to another process looks at what that one stored.
 */
static uint32
find_cell(int sqlstate, PfsSeverity severity)
{
	uint64		key = key_of(sqlstate, severity);

	for (uint32 i = PFS_ERROR_CELL_OTHER + 1; i < PFS_ERROR_CELLS; i++)
	{
		uint64		there = pfs_load_relaxed(&pfs_errors->keys[i]);

		if (there == 0 && pfs_cas(&pfs_errors->keys[i], &there, key))
			return i;
		if (there == key)
			return i;
	}
	return PFS_ERROR_CELL_OTHER;
}

bool
pfs_error_of_cell(uint32 cell, char *state, PfsSeverity *severity)
{
	uint64		key = pfs_load_relaxed(&pfs_errors->keys[cell]);
	uint32		sqlstate = (uint32) key;

	if (key == 0)
		return false;
	*severity = (PfsSeverity) (key >> 32) - 1;
	for (int i = 0; i < 5; i++, sqlstate >>= 6)
		state[i] = PGUNSIXBIT(sqlstate);
	state[5] = '\0';
	return true;
}

uint32
pfs_errors_known(void)
{
	uint32		n = 0;

	for (uint32 i = PFS_ERROR_CELL_OTHER + 1; i < PFS_ERROR_CELLS && pfs_load_relaxed(&pfs_errors->keys[i]) != 0; i++)
		n++;
	return n;
}

/* ---- the owner ---- */

/* Raised or handled once, at `seen`. */
static void
count(PfsThread *t, uint32 cell, uint32 flags, const PfsErrorCell *one)
{
	PfsBlock   *block = &t->summary[PFS_FAMILY_ERRORS].cells;
	PfsErrorCell *c;

	if ((flags & PFS_FLAG_THREAD) == 0)
	{
		pfs_error_kind.merge(pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_ERRORS].cells, cell), one);
		return;
	}
	pfs_change_begin(t);
	pfs_family_look(t, PFS_FAMILY_ERRORS);
	pfs_block_touch(block, cell);
	c = pfs_block_cell(block, cell);
	pfs_store_relaxed(&c->raised, c->raised + one->raised);
	pfs_store_relaxed(&c->handled, c->handled + one->handled);
	if (one->last_seen != 0)
		pfs_store_relaxed(&c->last_seen, one->last_seen);
	if (c->first_seen == 0)
		pfs_store_relaxed(&c->first_seen, one->first_seen);
	pfs_change_end(t);
}

/* The cell that it was counted in; false: it was not. */
static bool
count_raise(PfsThread *t, PfsSeverity severity, int sqlstate, uint32 *cell, uint32 *flags)
{
	PfsErrorCell one = {.raised = 1};

	if (error_instrument == PFS_NO_INSTRUMENT)
		return false;
	*flags = pfs_wait_flags(t, error_instrument);
	if ((*flags & PFS_FLAG_ENABLED) == 0)
		return false;
	one.first_seen = one.last_seen = GetCurrentTimestamp();
	*cell = find_cell(sqlstate, severity);
	if (*cell == PFS_ERROR_CELL_OTHER)
		pfs_add_relaxed(&pfs_errors->lost, 1);
	count(t, *cell, *flags, &one);
	return true;
}

void
pfs_error_handled(PfsThread *t)
{
	PfsErrorCell one = {.handled = 1};

	if (pfs_is_changing(t))
		return;
	pfs_open_error.sqlstate = 0;
	count(t, pfs_open_error.cell, pfs_open_error.flags, &one);
}

/*
 * Stacks grow down on all processors that pfs works on, so the outermost handler is the
 * highest one.  A library's own stack is mapped memory, and lies below the main one.
 */
static inline bool
is_outermost(const void *handler)
{
	return pfs_open_error.outermost == NULL || (uintptr_t) handler >= (uintptr_t) pfs_open_error.outermost;
}

bool
pfs_error_has_failed(const void *handler)
{
	return pfs_open_error.outermost != NULL && is_outermost(handler);
}

void
pfs_error_raised(PfsThread *t, int sqlstate, const void *handler)
{
	if (pfs_is_changing(t))
	{
		pfs_local.reentered++;
		return;
	}
	pfs_error_settle(t);
	if (count_raise(t, PFS_SEVERITY_ERROR, sqlstate, &pfs_open_error.cell, &pfs_open_error.flags) &&
		!is_outermost(handler))
		pfs_open_error.sqlstate = sqlstate;
}

void
pfs_error_thrown_on(const void *handler)
{
	if (is_outermost(handler))
		pfs_open_error.sqlstate = 0;
}

void
pfs_error_logged(PfsThread *t, PfsSeverity severity, int sqlstate, bool raises_are_seen)
{
	uint32		cell;
	uint32		flags;

	if (pfs_is_changing(t))
	{
		pfs_local.reentered++;
		return;
	}

	/*
	 * Who logs an error has not caught it; one that has no handler any more
	 * is logged as FATAL.
	 */
	if (severity >= PFS_SEVERITY_ERROR && sqlstate == pfs_open_error.sqlstate)
		pfs_open_error.sqlstate = 0;
	if (severity >= PFS_SEVERITY_FATAL)
		pfs_error_settle(t);
	if (severity != PFS_SEVERITY_ERROR || !raises_are_seen)
		(void) count_raise(t, severity, sqlstate, &cell, &flags);
}
