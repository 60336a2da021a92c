/*
 * pfs_instr_real.c
 *	  What wrappers of all families call: the functions behind them, and the begin of
 *	  events that have no object.
 *
 * Separate from pfs_instr.c, which knows all wrappers.
 */
#include "postgres.h"

#include "pfs_instr.h"

PFS_FIXED PfsReal pfs_real;

/*
 * Begins an event under the wait event that the server has announced, or under the
 * fallback; no object.
 */
PfsWait *
pfs_plain_begin(PfsThread *t, PfsInstrumentId fallback, PfsOperation op, const void *frame)
{
	uint32		wait_info;
	PfsInstrumentId instrument;
	uint32		flags;
	PfsWait    *e;

	if (t == NULL)
		return NULL;
	wait_info = pfs_wait_event_info();
	instrument = wait_info != 0 ? pfs_wait_info_instrument(wait_info) : fallback;
	if (unlikely(instrument == PFS_NO_INSTRUMENT))
		return NULL;
	flags = pfs_wait_flags(t, instrument);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return NULL;
	e = pfs_wait_begin(t, instrument, flags, op, PFS_OBJECT_NONE, PFS_EVENT_NO_OFFSET,
					   pfs_frames_source(frame));
	if (e != NULL)
	{
		pfs_wait_set_bytes(e, PFS_EVENT_NO_BYTES);
		pfs_wait_start(t, e);
	}
	return e;
}
