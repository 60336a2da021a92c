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

struct PfsRelRun;

/*
 * Whose digest waits and rows are charged to.  query_id 0: it is the statement at top level,
 * whose identifier is not known yet; statement_id 0: nobody.
 */
typedef struct PfsDigestCharged
{
	uint64		statement_id;
	PfsDigestKey key;
} PfsDigestCharged;

/* statement_id of what a parallel worker does. */
#define PFS_DIGEST_OF_LEADER (PG_UINT64_MAX - 1)

/*
 * What the statement room does for these.  Set once, when the library is loaded
 * (../pfs_register.c); all inside a write section.
 */
typedef struct PfsChargeCallbacks
{
	/*
	 * All places of the table are taken: adds what they have to the digest of
	 * their statement, or drops it if they are nobody's.
	 */
	void		(*full_cb) (void);

	/*
	 * The statement that is charged now; *rides: is that another one than the
	 * innermost, so that another one may be charged while a run goes on that
	 * begins now?
	 */
	PfsDigestCharged (*statement_cb) (bool *rides);

	/*
	 * Counts rows of a table or an index for the digest of the statement that
	 * the run is charged to.
	 */
	void		(*rows_cb) (const struct PfsRelRun *run, const PfsCounts *rows);
} PfsChargeCallbacks;

extern PFS_HIDDEN PfsChargeCallbacks pfs_charge;

/*
 * The node of the plan that is being executed and measured (../node): waits that end are its.  0: none is measured.  Who
 * makes it another than 0 calls pfs_digest_waits_of_nodes() before: so no place of the table has a key that the fast path
 * knows, and all waits go the slow one.
 */
extern PFS_HIDDEN uint32 pfs_charge_node;

/* Empties the table; the first one of its places' keys, too, if any may be that of no node. */
extern void pfs_digest_waits_of_nodes(void);
extern void pfs_digest_waits_flush(void);

/* Sets an entry's counts to zero; it stays the entry of its instrument. */
static inline void
pfs_digest_wait_clear(PfsDigestWait *w)
{
	pfs_counts_clear(&w->counts);
}

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
	if (unlikely(w->key != PFS_DIGEST_WAIT_KEY(instrument, 0)))
		pfs_digest_wait_add_slow(instrument, true, ticks);
	else
		pfs_digest_wait_count(w, ticks);
}

#endif							/* PFS_CHARGE_H */
