/*
 * pfs_program_change.h
 *	  Functions that this transaction makes and drops: the records of those that are not there
 *	  behind it go.
 *
 * Separate from pfs_program.c, which knows no transactions.  Called by the hooks of
 * commands, and by callbacks of transactions; outside of write sections.
 */
#ifndef PFS_PROGRAM_CHANGE_H
#define PFS_PROGRAM_CHANGE_H

#include "pfs_program.h"
#include "pfs_statement.h"

/* Is there anything to do when the transaction or a subtransaction ends? */
extern PFS_HIDDEN bool pfs_program_has_changes;

/*
 * A function of this database was made, or replaced, which is not told apart; one was dropped; or a
 * database was, with all of its (InvalidOid).
 */
extern void pfs_program_note_made(Oid function);
extern void pfs_program_note_dropped(Oid database, Oid function);

/* Has this transaction dropped it, and not taken that back? */
extern bool pfs_program_is_dropped_here(Oid function);

/*
 * Ends what was noted at this level of subtransactions and deeper; 0: at all of them.  state: what has
 * become of it.
 */
extern void pfs_program_changes_end(int level, PfsTransactionState state);

/* A subtransaction of this level has been committed: what it has done becomes its parent's. */
extern void pfs_program_changes_promote(int level);

#endif							/* PFS_PROGRAM_CHANGE_H */
