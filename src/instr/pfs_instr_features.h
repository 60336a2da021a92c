/*
 * pfs_instr_features.h
 *	  Which features the hooks call, and in which order; pfs_instr.h has those that the start calls.
 *
 * What belongs to a feature is in files of its own.  Who calls features goes through these lists, and knows none of
 * them.  They are expanded where they are used, so that no call on the fast path is an indirect one.
 */
#ifndef PFS_INSTR_FEATURES_H
#define PFS_INSTR_FEATURES_H

#include "pfs_instr_drop.h"
#include "pfs_instr_prepared.h"
#include "pfs_instr_program.h"
#include "pfs_instr_rows.h"
#include "pfs_instr_transaction.h"

/* ---- commands ---- */

/*
 * X(name, type): pfs_NAME_command_begin(command, state) and pfs_NAME_command_end(command, state) are called around each
 * command, where nothing is recorded of it, too.  state: of this type, uninitialized, on the stack.
 */
#define PFS_COMMANDS(X) \
	X(drop, bool)

#define PFS_IN_CALL		0
#define PFS_BEHIND_CALL	1

/*
 * X(name, type, when): the same around those for which a statement may be recorded; PFS_IN_CALL: the end is called before
 * the call's end is counted, PFS_BEHIND_CALL: behind it.
 */
#define PFS_RECORDED_COMMANDS(X) \
	X(transaction, PfsTransactionCommand, PFS_BEHIND_CALL) \
	X(workers, PfsWorkersCommand, PFS_IN_CALL) \
	X(prepared, PfsPreparedCommand, PFS_BEHIND_CALL) \
	X(program, PfsProgramCommand, PFS_IN_CALL) \
	X(rows, PfsRowCounter, PFS_IN_CALL)

/* X(name): pfs_NAME_plain_command(utility), inline, is called before the EXECUTE, SET or SHOW of a plain statement. */
#define PFS_PLAIN_COMMANDS(X) \
	X(prepared)

/* ---- the idle wait ---- */

/* Has a feature something to look at when the session begins to wait for its client?  Asked on the fast path; it looks. */
#define PFS_HAS_IDLE_LOOKS	(pfs_prepared_count != 0)
#define PFS_IDLE_LOOKS(t)	pfs_prepared_look(t)

#endif							/* PFS_INSTR_FEATURES_H */
