/*
 * pfs_instr_rows.h
 *	  Rows that a statement returned or changed, where the executor's own count
 *	  does not say so: utilities that return rows, and queries whose WITH changes
 *	  data.
 */
#ifndef PFS_INSTR_ROWS_H
#define PFS_INSTR_ROWS_H

#include "executor/execdesc.h"
#include "tcop/dest.h"

#include "pfs_instr_call.h"

/* ---- utilities that return rows ---- */

/*
 * A receiver that counts what it hands on to another one.  It lives as long as the
 * call of the utility.
 */
typedef struct PfsRowCounter
{
	DestReceiver pub;
	DestReceiver *to;
	uint64		rows;
} PfsRowCounter;

/*
 * What to give to a utility as its receiver: the counter, if the utility is of a kind
 * that returns rows without saying how many, else `dest` itself.
 */
extern DestReceiver *pfs_rows_receiver(PfsRowCounter *counter, NodeTag utility, DestReceiver *dest);

/* Around a command: gives it the counter, and says how many rows it has returned and written. */
extern void pfs_rows_command_begin(PfsCommand *command, PfsRowCounter *counter);
extern void pfs_rows_command_end(PfsCommand *command, const PfsRowCounter *counter);

/* ---- WITH that changes data ---- */

/*
 * Have the rows counted that a query's WITH inserts, updates and deletes.  Before a
 * run of the executor.
 */
extern void pfs_rows_watch_with(const QueryDesc *desc);

/* How many these were since the last call.  After a run of the executor, or its finish. */
extern uint64 pfs_rows_of_with(const QueryDesc *desc);

#endif							/* PFS_INSTR_ROWS_H */
