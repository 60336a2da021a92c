/*
 * pfs_leader.h
 *	  What a process and its parallel workers tell each other: for which of its calls a worker
 *	  works, and what the workers have read for it.
 *
 * Of the leader (L) and a worker (W):
 *
 *	  L  pfs_lead_begin(t, &lead, ...)		a call begins that may start workers
 *	  L  starts them
 *	  W  pfs_work_for(leader, ...)			attaches: which call is it?
 *	  W  pfs_work_hand_over()					its transaction is over
 *	  L  waits for them
 *	  L  pfs_lead_end(t, &lead)				takes what they gave
 *
 * pfs_leader.c says why nothing is lost, and nothing counted for another call.
 *
 * Instrument points: no lock, no allocation, no error.
 */
#ifndef PFS_LEADER_H
#define PFS_LEADER_H

#include "pfs_rel_run.h"

/*
 * One call that may start workers, on the stack of the hook's function.  The calls that are active are
 * a list, the innermost first.
 */
typedef struct PfsLead
{
	const struct PfsLead *outer;	/* NULL: the outermost */
	PfsDigestKey key;			/* for which its workers' waits are counted */
	const void *query;			/* the executor's descriptor; NULL: a utility */
	uint32		level;			/* where its workers give what they have read */
	uint32		nlate;			/* entries of PfsThread.workers.late: those of
								 * the outermost calls come first, as a call's
								 * workers are the same as long as one inside
								 * of it is active */
} PfsLead;

/* The innermost call; NULL: none is active. */
extern PFS_HIDDEN const PfsLead *pfs_leading;

/* ---- the leader; outside of write sections ---- */

/*
 * Begin and end of a call.  lead: its query is filled in, the rest is done here.  late, nlate: workers of calls around
 * it that may not have attached yet; nests: an error that cuts calls off is seen.
 */
extern void pfs_lead_begin(PfsThread *t, PfsLead *lead, PfsDigestKey key, bool nests, const PfsLateWorkers *late,
						   uint32 nlate);
extern void pfs_lead_end(PfsThread *t, const PfsLead *lead);

/* An error jumps to a handler at this address. */
extern void pfs_lead_cut_off(const void *handler);

/* A transaction or subtransaction has been rolled back, and the workers of what has failed have gone. */
extern void pfs_lead_rolled_back(PfsThread *t);

/* ---- the worker ---- */

/*
 * It attaches.  index, word: of the leader's record; segment: the handle of the memory that it shares with the
 * leader.  Returns for which digest its waits are counted.
 */
extern PfsDigestKey pfs_work_for(PfsThread *leader, uint64 word, uint32 segment);

/* Whom it works for, and the level of the call; NULL: it is no worker, or does not know yet. */
extern const PfsThread *pfs_work_leader(uint32 *level);

/* Its transaction is over: gives the leader what it has read. */
extern void pfs_work_hand_over(void);

#endif							/* PFS_LEADER_H */
