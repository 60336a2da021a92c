/*
 * pfs_digest_wait.h
 *	  The waits of the statement that is being executed, until they are added to
 *	  its digest.
 *
 * One small table per process, for the innermost statement that has a query
 * identifier.  Waits add to it inline (pfs_digest_wait_add() in
 * pfs_charge.h); it is emptied when the statement ends, when another one
 * becomes the innermost, and when it is full.  It lies in the thread's record
 * (digest_waits), as the recorder of the load history reads it.
 *
 * Everything here is done by the process itself, inside a write section, unless a
 * comment says otherwise.
 *
 * Separate from pfs_digest.h, which is about records that all processes add to.
 */
#ifndef PFS_DIGEST_WAIT_H
#define PFS_DIGEST_WAIT_H

#include "pfs_charge.h"
#include "pfs_digest.h"
#include "pfs_departed.h"
#include "pfs_statement_open.h"

/*
 * Called where another statement may have become the innermost one.  The query
 * identifier of the one at top level need not be known before it ends.
 */
extern void pfs_digest_charge_now(void);

extern PFS_HIDDEN uint64 pfs_digest_charged;	/* its statement_id; 0:
												 * nobody.  Its key lies in
												 * the thread's record */

/* The statement at top level turns out to be none, or not to be collected. */
extern void pfs_digest_forget_top(void);

static inline void
pfs_digest_charge(void)
{
	const PfsStatement *s = pfs_sql.current;

	/*
	 * Nearly always the one at top level, and it was before; or the nested
	 * one whose next call begins.
	 */
	if (likely(pfs_sql.open == NULL && pfs_sql.top_open && pfs_sql.top.statement_id == pfs_digest_charged) ||
		(s != NULL && s->statement_id == pfs_digest_charged))
		return;
	pfs_digest_charge_now();
}

/* A statement at top level begins that wants a digest; no other is open inside it. */
static inline void
pfs_digest_charge_top(PfsThread *t)
{
	if (unlikely(pfs_local.waits_used != 0 || pfs_rel_local.riding != 0))
		pfs_digest_charge_now();
	pfs_digest_charged = pfs_sql.top.statement_id;
	pfs_store_relaxed(&t->charged.query_id, 0);
	pfs_local.waits = t->digest_waits;
}

/* Says whose the waits are from now on; query_id 0: the statement's at top level. */
static inline void
pfs_digest_set_charged(PfsThread *t, PfsDigestKey key)
{
	pfs_store_relaxed(&t->charged.db_user, key.db_user);
	pfs_store_relaxed(&t->charged.query_id, key.query_id);
}

/* Waits belong to this statement from now on; key: of its digest, of the one at top level {0, 0}.  The table is empty. */
static inline void
pfs_digest_charge_nested(PfsThread *t, uint64 statement_id, PfsDigestKey key)
{
	pfs_digest_charged = statement_id;
	pfs_digest_set_charged(t, key);
}

/* Notes that waits are counted elsewhere from now on, or nowhere. */
static inline void
pfs_digest_wait_hand_over(PfsInstrumentId instrument, const PfsCounts *waits)
{
	pfs_departed_note(pfs_my_thread, instrument, waits->timed + waits->untimed, waits->sum);
}

/* Adds waits to a digest that has been entered; NULL: to all others. */
extern void pfs_digest_wait_put(PfsPinnedDigest *pinned, PfsInstrumentId instrument, const PfsCounts *waits);

/* Empties the table into the digest of a key, which is made if need be and `make` says so. */
extern void pfs_digest_waits_flush_to(const PfsDigestKey *key, bool make);

/* Empties it into the digest of its statement: PfsChargeCallbacks.full_cb. */
extern void pfs_digest_waits_flush_all(void);

/* The statement that is charged now: see PfsChargeCallbacks.statement_cb. */
extern PfsDigestCharged pfs_digest_charged_now(bool *rides);

/*
 * A parallel worker's waits are its leader's statement's (pfs_leader.h).  A worker collects from
 * its begin, and learns from the leader for which digest.
 */
extern PfsDigestKey pfs_digest_of_workers(void);
extern void pfs_digest_work_for(PfsDigestKey key);

/* The process begins, as a parallel worker or another one; ends. */
extern void pfs_digest_attach(PfsThread *t);
extern void pfs_digest_detach(PfsThread *t);

#endif							/* PFS_DIGEST_WAIT_H */
