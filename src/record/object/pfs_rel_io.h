/*
 * pfs_rel_io.h
 *	  What instrument points of tables and indexes call: which run a call belongs to, and
 *	  when runs end.  event/pfs_rel_run.h has what happens in between.
 *
 * A scan's run is found by a link that lies beside the scan; that of a command's writes by
 * table, index and operation.  The first call begins it.
 *
 *	scans:	run = pfs_rel_run(t, &link, rel, index, op)		at each call
 *			pfs_rel_link_end(t, &link)						at the end of the scan
 *	writes:	run = pfs_rel_write(t, rel, index, op)			at each call
 *			outer = pfs_rel_writes_begin()					around a command
 *			pfs_rel_writes_end(outer)
 *
 * Instrument points: no lock, no allocation, no error.
 */
#ifndef PFS_REL_IO_H
#define PFS_REL_IO_H

#include "utils/rel.h"

#include "pfs_lock_time.h"
#include "pfs_rel_run.h"

/* Out of line: the first call of a scan, or the first one since its run was evicted. */
extern PfsRelRun *pfs_rel_run_begin(PfsThread *t, PfsRelLink *link, Relation rel, Relation index, Oid index_oid,
									PfsOperation operation);

/* A run of the present command's writes. */
extern PfsRelRun *pfs_rel_write(PfsThread *t, Relation rel, Relation index, PfsOperation operation);

/* Out of line: the run ends; its rows are counted. */
extern void pfs_rel_run_finish(PfsThread *t, PfsRelRun *run);
extern void pfs_rel_writes_finish(PfsThread *t);

/*
 * Ends the runs that began in a transaction's nesting level, or a deeper one, whose scans
 * nobody ends: it is rolled back, or (level 1) over.  So do older ones in the middle of a call that
 * began in it, as of a cursor that was being read when an error came; calls_before: the runs that
 * were in a call before it.  A subtransaction that is committed leaves them to the one around it.
 */
extern void pfs_rel_runs_sweep(PfsThread *t, int level, uint64 calls_before);
extern void pfs_rel_runs_promote(int level);

/* Out of line: counts a wait for a lock that has ended (pfs_ended_lock). */
extern void pfs_rel_lock_ended(PfsThread *t);

/* Called where such a wait may have ended. */
static inline void
pfs_rel_lock_look(PfsThread *t)
{
	if (unlikely(OidIsValid(pfs_ended_lock.relation)))
		pfs_rel_lock_ended(t);
}

/*
 * A bitmap index scan has been asked for its rows: a bitmap scan of the table goes by this
 * index from now on.
 */
extern void pfs_rel_note_bitmap(Oid relation, Oid index);
extern Oid	pfs_rel_bitmap_index(Oid relation);

/*
 * A query begins to run, or to finish, that has this table, while pfs_object_rules_name_tables: an index of
 * it may be read where the table's name is not at hand.
 */
extern void pfs_rel_note_name(Relation rel);

/*
 * The run of a scan; never NULL: one of nobody's counts what is not wanted.  index_oid: InvalidOid if
 * no index leads to the rows; index: the same, or NULL if only its OID is known.  rel: NULL if
 * only the index is at hand, which has the table's schema and OID.
 */
static pg_attribute_always_inline PfsRelRun *
pfs_rel_run(PfsThread *t, PfsRelLink *link, Relation rel, Relation index, Oid index_oid, PfsOperation operation)
{
	PfsRelRun  *run = link->run;

	if (likely(run != NULL && run->serial == link->serial))
		return run;
	return pfs_rel_run_begin(t, link, rel, index, index_oid, operation);
}

static inline void
pfs_rel_link_end(PfsThread *t, PfsRelLink *link)
{
	if (link->run != NULL && link->run != &pfs_rel_run_of_nobody && link->run->serial == link->serial)
		pfs_rel_run_finish(t, link->run);
	link->run = NULL;
}

/* Around what a command does: its writes are runs of its own, which end with it. */
static inline uint64
pfs_rel_writes_begin(void)
{
	uint64		outer = pfs_rel_local.writes_first;

	pfs_rel_local.writes_first = pfs_rel_local.last_serial + 1;
	return outer;
}

static inline void
pfs_rel_writes_end(uint64 outer)
{
	if (unlikely(pfs_rel_local.writing != 0))
		pfs_rel_writes_finish(pfs_my_thread);
	pfs_rel_local.writes_first = outer;
}

#endif							/* PFS_REL_IO_H */
