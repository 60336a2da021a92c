/*
 * pfs_charge.h
 *	  Waits are charged to the statement that is being executed: each is added, inline, to
 *	  a small table by instrument.
 *
 * The table lies in the thread's record (digest_waits).  Which statement it is, and what
 * becomes of the table when that changes, is the statement room's business: it sets
 * pfs_local.waits while there is one, and empties what pfs_local.waits_used says
 * (pfs_digest_wait.h).
 *
 * Everything here is done inside a write section.
 */
#ifndef PFS_CHARGE_H
#define PFS_CHARGE_H

#include "pfs_local.h"

/*
 * Whose digest waits and rows are charged to.  query_id 0: it is the statement at top level,
 * whose identifier is not known yet; statement_id 0: nobody.
 */
typedef struct PfsDigestCharged
{
	uint64		statement_id;
	PfsDigestKey key;
} PfsDigestCharged;

/* Counts a wait of a digest that has no place in the table yet. */
extern void pfs_digest_wait_add_slow(PfsInstrumentId instrument, bool timed, uint64 ticks);

/* Counts a wait that is timed by the default timer in a place of the statement's table. */
static pg_attribute_always_inline void
pfs_digest_wait_count(PfsDigestWait *w, uint64 ticks)
{
	w->counts.timed++;
	w->counts.sum += ticks;
	if (ticks < w->counts.min)
	{
		/* The first wait always gets here. */
		pfs_local.waits_used |= w->bit;
		w->counts.min = ticks;
	}
	if (ticks > w->counts.max)
		w->counts.max = ticks;
}

/* Counts a wait for the running statement's digest, if it has one. */
static pg_attribute_always_inline void
pfs_digest_wait_add(PfsInstrumentId instrument, uint64 ticks)
{
	PfsDigestWait *w = pfs_local.waits;

	if (w == NULL)
		return;
	w += instrument % PFS_DIGEST_WAITS;
	if (unlikely(w->key != (uint32) instrument + 1))
		pfs_digest_wait_add_slow(instrument, true, ticks);
	else
		pfs_digest_wait_count(w, ticks);
}

#endif							/* PFS_CHARGE_H */
