/*
 * pfs_rel_stat.h
 *	  What is counted of tables and indexes: one record for each table, of rows that no
 *	  index led to, and one for each index.
 *
 * A record is found by database and OID.  It is made by the first process that counts
 * something and removed when what it is of is dropped.  Most rows are counted in places of
 * their process first; ../ledger/README.md has that, and how a process says that it adds to a
 * record.
 */
#ifndef PFS_REL_STAT_H
#define PFS_REL_STAT_H

#include "pfs_cell.h"
#include "pfs_pages.h"
#include "pfs_segment.h"
#include "pfs_rel_run.h"
#include "pfs_thread.h"

/* AccessShareLock to AccessExclusiveLock, from 1; and all of them, for PFS_VIEW_OF_OBJECTS. */
#define PFS_REL_LOCK_MODES 8
#define PFS_REL_LOCK_ANY (PFS_REL_LOCK_MODES + 1)

/* Of an index, in place of a part that it cannot have: rows that it found. */
#define PFS_INDEX_READ PFS_REL_UPDATE

/*
 * In shared memory.  The OIDs never change while it is ALLOCATED, but for that of an index that REINDEX CONCURRENTLY
 * has built anew: one word, by pfs_rel_stat_hand_over().  The times of an
 * index's PFS_REL_FETCH contain those in which the index found the row; of PFS_INDEX_READ
 * all rows count, and only the times of those that led to no row of the table.
 */
typedef struct PfsRelStat
{
	Oid			database;		/* InvalidOid: all databases share it */
	Oid			oid;			/* of the table or the index; atomic */
	Oid			relation;		/* the table */
	uint32		locks;			/* chain of waits for locks on the table, by
								 * mode; atomic */
	PfsSharedCell parts[PFS_NUM_REL_PARTS]; /* atomic adds; ticks of the
											 * default timer */
	PfsSharedCell kept[PFS_NUM_REL_PARTS];	/* of one view, see PfsCellView;
											 * only truncators add */
} PfsRelStat;

extern PfsPages *pfs_rel_locks; /* cells of waits for locks: PfsChained */

/* Postmaster. */
extern void pfs_rel_stats_lay_out(PfsSegment *seg);

static inline PfsRelStat *
pfs_rel_stat_at(PfsRelStatKind kind, uint32 index)
{
	return pfs_pages_record(pfs_rel_stats[kind].pages, index);
}

static inline PfsCountedObjects
pfs_rel_stat_counted(PfsRelStatKind kind)
{
	return kind == PFS_TABLE_STATS ? PFS_COUNTED_TABLES : PFS_COUNTED_INDEXES;
}

/*
 * Instrument points: the record, made if there is none, as number above the low half of its
 * state word; 0: there is no room, which the container counts, or it has been dropped a moment ago.
 * temporary: it goes with the process.  maker: the subtransaction that has made the table or the
 * index, with which it goes if that is rolled back; InvalidSubTransactionId: an earlier transaction.
 */
extern uint64 pfs_rel_stat_find(PfsRelStatKind kind, Oid database, Oid oid, Oid relation, bool temporary,
								SubTransactionId maker);

/*
 * A table or an index has been dropped, before its locks are released; or everything in a
 * database.
 */
extern void pfs_rel_stats_drop(Oid database, Oid oid);
extern void pfs_rel_stats_remove_database(Oid database);

/*
 * An index has another OID from now on, which processes may look for already (pfs_rebuild.h).  When they look for it
 * by the other one no more, all processes forget what they know by the OIDs.
 */
extern void pfs_rel_stat_hand_over(Oid database, Oid from, Oid to);
extern void pfs_rel_stats_handed_over(void);

/* Readers: a table or an index is found to have gone. */
extern void pfs_rel_stats_remove(Oid database, Oid oid);

/*
 * A subtransaction is rolled back, or the transaction (InvalidSubTransactionId): what it has made is gone.
 * A subtransaction is committed: it is its parent's.  The transaction is committed, or prepared.
 */
extern void pfs_rel_stats_rolled_back(SubTransactionId id);
extern void pfs_rel_stats_promote(SubTransactionId id, SubTransactionId parent);
extern void pfs_rel_stats_committed(void);

/* At the process's end. */
extern void pfs_rel_stats_detach(PfsThread *t);

#endif							/* PFS_REL_STAT_H */
