/*
 * pfs_rel_read.h
 *	  What SQL commands read and reset of row accesses.
 *
 * Backends only; may palloc in the current context, and raise errors.
 */
#ifndef PFS_REL_READ_H
#define PFS_REL_READ_H

#include "pfs_pending.h"
#include "pfs_rel_stat.h"

/*
 * A table, of which it has what no index led to, or an index.  Of indexes
 * parts[PFS_INDEX_READ] are the rows that it found, see pfs_rel_stat.h.
 */
typedef struct PfsRelStatCopy
{
	PfsRelStatKind kind;
	Oid			database;		/* InvalidOid: all databases share it */
	Oid			relation;
	Oid			index;			/* InvalidOid: of a table.  One that was
								 * rebuilt can have several copies */
	bool		has_locks;		/* locks on it were waited for: it may be here
								 * for that alone */
	PfsTotals	parts[PFS_NUM_REL_PARTS];
} PfsRelStatCopy;

/* All tables and indexes, with what processes have not added to their records yet, as a view has them. */
typedef void (*PfsRelStatEmit) (const PfsRelStatCopy *copy, void *arg);
extern void pfs_rel_stats_each(PfsCellView view, PfsRelStatEmit emit, void *arg);

/* Adds to the parts of a table what a record of it, or of one of its indexes, has. */
extern void pfs_rel_parts_of_table(const PfsRelStatCopy *copy, PfsTotals *parts);

/* Adds times that belong to other rows than those that a part counts. */
extern void pfs_rel_add_times(PfsTotals *to, const PfsTotals *from, uint64 rows);

/* TRUNCATE: all of them become zero in this view; returns how many rows of tables were counted. */
extern int64 pfs_rel_stats_clear(PfsCellView view);

/* Waits for locks on a table, by lock mode: modes[mode - 1], PFS_REL_LOCK_ANY included. */
typedef void (*PfsRelLocksEmit) (Oid database, Oid relation, const PfsTotals *modes, void *arg);
extern void pfs_rel_locks_each(PfsRelLocksEmit emit, void *arg);

/* TRUNCATE: those by mode, or of all modes; returns how many waits were counted. */
extern int64 pfs_rel_locks_clear(PfsCellView view);

#endif							/* PFS_REL_READ_H */
