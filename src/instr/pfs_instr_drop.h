/*
 * pfs_instr_drop.h
 *	  What the ends of transactions say to the list of objects that were dropped.
 */
#ifndef PFS_INSTR_DROP_H
#define PFS_INSTR_DROP_H

#include "nodes/nodes.h"
#include "storage/proc.h"

#include "pfs.h"

/*
 * Before a command: whether what it drops is watched from now on, and pfs_drop_unwatch() has to
 * follow.
 */
extern bool pfs_drop_command(const Node *utility);

extern void pfs_drop_unwatch(void);

/* What the commit drops is watched. */
extern void pfs_drop_watch_commit(void);

/* A transaction, or a level of subtransactions, has ended while the hook is ours. */
extern void pfs_drop_transaction_ended(bool aborted);
extern void pfs_drop_subtransaction_failed(int level);

/* Before the server commits, which drops temporary tables, or empties them. */
static inline void
pfs_drop_committing(void)
{
	if (unlikely(MyProc != NULL && OidIsValid(MyProc->tempNamespaceId)))
		pfs_drop_watch_commit();
}

/* object_access_hook is ours. */
extern PFS_HIDDEN bool pfs_drop_is_watching;

/*
 * The transaction is committed: counters of what it dropped are removed.  A level of
 * subtransactions, and the deeper ones, is rolled back (1: all is), or committed to the one
 * around it.
 */
extern void pfs_drop_committed(void);
extern void pfs_drop_rolled_back(int level);
extern void pfs_drop_promote(int level);

/* Objects that the present transaction has dropped; 0: none of these need be called. */
extern PFS_HIDDEN uint32 pfs_dropped;

#endif							/* PFS_INSTR_DROP_H */
