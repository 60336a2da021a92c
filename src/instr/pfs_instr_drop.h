/*
 * pfs_instr_drop.h
 *	  What the ends of transactions say of objects that were made or dropped.
 */
#ifndef PFS_INSTR_DROP_H
#define PFS_INSTR_DROP_H

#include "storage/proc.h"

#include "pfs_instr_call.h"

/* Around a command; *watches: what it drops is watched. */
extern void pfs_drop_command_begin(PfsCommand *command, bool *watches);
extern void pfs_drop_command_end(PfsCommand *command, const bool *watches);

/* What the commit drops is watched. */
extern void pfs_drop_watch_commit(void);

/* A transaction, or a level of subtransactions, has ended while the hook is ours. */
extern void pfs_drop_transaction_ended(bool aborted);
extern void pfs_drop_subtransaction_failed(int level);

/* Before the server commits, which drops temporary tables, or empties them. */
static inline void
pfs_drop_committing(void)
{
	if (unlikely(OidIsValid(PFS_IMPORT(MyProc)->tempNamespaceId)))
		pfs_drop_watch_commit();
}

/*
 * Ends what was noted at this level of subtransactions and deeper (1: in the transaction); state: what
 * has become of it.
 */
extern void pfs_drop_ended(int level, PfsTransactionState state);

/* A relation has been made, by a command whose objects are watched: pfs_instr_rebuild.c. */
extern void pfs_rebuild_relation_made(Oid relation);

#endif							/* PFS_INSTR_DROP_H */
