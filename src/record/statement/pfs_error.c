/*
 * pfs_error.c
 *	  Counting errors, and finding out which were caught.
 *
 * An ERROR leaves by a jump to the innermost handler.  A handler that throws it on
 * jumps again.  If the last of the jumps goes to the outermost handler of
 * the process, or the server logs the error, nobody has caught it.  If not, and
 * something else happens (another raise, a statement, the session becomes idle, the
 * process ends), a block has caught it.
 *
 * A parallel worker's errors are raised again in its leader, and count there.
 *
 * pfs_error_cell.c has the counts as a family of summaries: this file decides what is
 * counted, that one how sums are made of it.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_error.h"
#include "pfs_event_cell.h"

PFS_FIXED PfsSharedErrors *pfs_errors = NULL;
PFS_HOT_FIRST PfsOpenError pfs_open_error;

static PFS_FIXED PfsInstrumentId error_instrument = PFS_NO_INSTRUMENT;

void
pfs_errors_start(void)
{
	error_instrument = pfs_instrument_make(PFS_CLASS_ERROR,
										   "Errors by SQLSTATE, and warnings that log_min_messages lets through.",
										   "error");
}

/* ---- cells ---- */

uint32
pfs_error_cells(void)
{
	return PFS_ERROR_CELL_FIRST_DEFINED + PFS_ERROR_SEVERITIES * pfs_error_names();
}

/*
 * Returns the cell of a state and severity.  Inside a write section, behind its look at the
 * family's generation: see pfs_errors_free_places().
 *
 * A state that PostgreSQL does not define takes a place.  These are given out in order, so the
 * first free one ends the search.  Who loses it to another process looks at what that one
 * stored.
 */
static uint32
find_cell(int sqlstate, PfsSeverity severity)
{
	uint32		number = pfs_error_name_number(unpack_sql_state(sqlstate));
	uint64		key = (uint64) (severity + 1) << 32 | (uint32) sqlstate;

	if (number < pfs_error_names() && severity < PFS_ERROR_SEVERITIES)
		return PFS_ERROR_CELL_FIRST_DEFINED + severity * pfs_error_names() + number;
	for (uint32 i = 0; i < PFS_ERROR_PLACES; i++)
	{
		uint64		there = pfs_load_relaxed(&pfs_errors->keys[i]);

		if (there == 0 && pfs_cas(&pfs_errors->keys[i], &there, key))
			there = key;
		if (there == key)
			return PFS_ERROR_CELL_OTHER + 1 + i;
	}
	return PFS_ERROR_CELL_OTHER;
}

/*
 * Frees all places, for a truncator of the global table, before it raises the family's
 * generation.  Readers are excluded by the table's lock.
 *
 * An owner finds its place and counts there within one write section, behind a
 * look at the generation.  If it sees the new one, it finds what is stored in the
 * places behind their freeing: no place changes its state between then and the
 * next truncation, so all who count the same state by this generation do it in
 * the first place that has it.  If it sees the old one, its write section began
 * before the truncator's fence, and the truncator waits for its end: what it
 * counted, in whatever place, is of the old generation, which is returned by the
 * truncation and shown to nobody.  So no count appears under another state than
 * its own, and none is lost or returned twice.
 *
 * Such a late one can also take a place for its state.  That is then as if it had
 * taken it behind the truncation; at worst a state has two places and uses the
 * first, until the next truncation.
 */
void
pfs_errors_free_places(void)
{
	for (uint32 i = 0; i < PFS_ERROR_PLACES; i++)
		pfs_store_relaxed(&pfs_errors->keys[i], 0);
}

uint32
pfs_errors_known(void)
{
	uint32		n = 0;

	while (n < PFS_ERROR_PLACES && pfs_load_relaxed(&pfs_errors->keys[n]) != 0)
		n++;
	return pfs_error_cells() - PFS_ERROR_PLACES + n;
}

/* ---- the owner ---- */

/*
 * Adds `one`, a raise or a catch, to the cell of a state: the thread's, or the server's
 * where nothing is counted by thread, or the thread has no memory for it.  It is a write
 * section of its own.
 */
static void
count(PfsThread *t, int sqlstate, PfsSeverity severity, uint32 flags, const PfsErrorCell *one)
{
	PfsErrorCell *c = NULL;
	uint32		cell;

	pfs_write_begin(t);
	pfs_summary_look(t, PFS_FAMILY_ERRORS);
	cell = find_cell(sqlstate, severity);
	if (cell == PFS_ERROR_CELL_OTHER && one->raised > 0)
		pfs_add_relaxed(&pfs_errors->lost, 1);
	if (flags & PFS_FLAG_THREAD)
		c = pfs_summary_cell(t, PFS_FAMILY_ERRORS, cell);
	/* Readers of the thread's cell look on, and look again. */
	if (c != NULL)
		pfs_kind_add(&pfs_error_kind, c, one, PFS_SHARE_ALL);
	else
		pfs_kind_merge(&pfs_error_kind, pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_ERRORS].cells, cell), one);
	pfs_write_end(t);
}

/*
 * Counts a raise, if errors are enabled for this thread, and returns whether it did.
 * *flags: those of the error instrument, for the catch that may follow.
 */
static bool
count_raise(PfsThread *t, PfsSeverity severity, int sqlstate, uint32 *flags)
{
	PfsErrorCell one = {.raised = 1};

	if (error_instrument == PFS_NO_INSTRUMENT)
		return false;
	*flags = pfs_wait_flags(t, error_instrument);
	if ((*flags & PFS_FLAG_ENABLED) == 0)
		return false;
	one.first_seen = one.last_seen = GetCurrentTimestamp();
	count(t, sqlstate, severity, *flags, &one);
	return true;
}

/* Counts that a block has caught the error that was raised last. */
void
pfs_error_handled(PfsThread *t)
{
	PfsErrorCell one = {.handled = 1};
	int			sqlstate = pfs_open_error.sqlstate;

	if (pfs_is_writing(t))
		return;
	pfs_open_error.sqlstate = 0;
	count(t, sqlstate, PFS_SEVERITY_ERROR, pfs_open_error.flags, &one);
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

/*
 * Counts an error at the jump that raises it, and remembers it until it is known
 * whether a block catches it.  One that jumps to the outermost handler is not
 * remembered, as nobody catches it there.  Any other that was still remembered has been
 * caught.  What comes inside a write section is only counted as reentered.
 */
void
pfs_error_raised(PfsThread *t, int sqlstate, const void *handler)
{
	if (pfs_is_writing(t))
	{
		pfs_local.reentered++;
		return;
	}
	pfs_error_flush(t);
	if (count_raise(t, PFS_SEVERITY_ERROR, sqlstate, &pfs_open_error.flags) && !is_outermost(handler))
		pfs_open_error.sqlstate = sqlstate;
}

/* Are errors counted, of any thread? */
bool
pfs_error_is_wanted(void)
{
	return error_instrument != PFS_NO_INSTRUMENT && (pfs_instrument_flags(error_instrument) & PFS_FLAG_ENABLED) != 0;
}

/*
 * Notes that a handler has thrown on the error that it got: at the outermost handler
 * nobody can catch it any more.
 */
void
pfs_error_thrown_on(const void *handler)
{
	if (is_outermost(handler))
		pfs_open_error.sqlstate = 0;
}

/*
 * Counts a message that the server logs, unless it is an ERROR that was counted when it
 * was raised (raises_are_seen).  An error that is logged was not caught; one that ends
 * the process (FATAL or worse) says that whatever was remembered before was.  Called by
 * the log hook, not in parallel workers, whose errors are raised again in the leader.
 */
void
pfs_error_logged(PfsThread *t, PfsSeverity severity, int sqlstate, bool raises_are_seen)
{
	uint32		flags;

	if (pfs_is_writing(t))
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
		pfs_error_flush(t);
	if (severity != PFS_SEVERITY_ERROR || !raises_are_seen)
		(void) count_raise(t, severity, sqlstate, &flags);
}

/*
 * Copies which states the places have, for readers of the summaries, under the lock
 * that excludes truncators.
 */
void
pfs_errors_copy_keys(void *to)
{
	uint64	   *keys = to;

	for (uint32 i = 0; i < PFS_ERROR_PLACES; i++)
		keys[i] = pfs_load_relaxed(&pfs_errors->keys[i]);
}

/*
 * Returns in *state (6 bytes, terminated) and *severity what a cell stands for, for
 * readers of the summaries.  False: it is the cell of all others, or a place that no
 * state has.  `keys` is the copy that was made with the counters, as a truncation may
 * have freed the place since.
 */
bool
pfs_error_of_cell(uint32 cell, const uint64 *keys, char *state, PfsSeverity *severity)
{
	uint32		sqlstate;

	if (cell >= PFS_ERROR_CELL_FIRST_DEFINED)
	{
		uint32		n = cell - PFS_ERROR_CELL_FIRST_DEFINED;

		*severity = (PfsSeverity) (n / pfs_error_names());
		sqlstate = pfs_error_named_state(n % pfs_error_names());
	}
	else
	{
		uint64		key = cell == PFS_ERROR_CELL_OTHER ? 0 : keys[cell - PFS_ERROR_CELL_OTHER - 1];

		if (key == 0)
			return false;
		*severity = (PfsSeverity) (key >> 32) - 1;
		sqlstate = (uint32) key;
	}
	strcpy(state, unpack_sql_state(sqlstate));
	return true;
}
