/*
 * pfs_digest_rows.h
 *	  Rows of tables and indexes by digest: those of the process's runs that have ended, until
 *	  they are added to the digest of their statement, and the cells of digests.
 *
 * As with waits (pfs_digest_wait.h), a process collects in a small table of its own.  Each
 * entry knows its statement, as scans of several statements can be open and end at any time;
 * the end of any statement empties the table.
 *
 * Everything here is done inside a write section, unless a comment says otherwise.
 *
 * Separate from pfs_digest_wait.h, whose table is of one statement.
 */
#ifndef PFS_DIGEST_ROWS_H
#define PFS_DIGEST_ROWS_H

#include "pfs_digest.h"
#include "pfs_rel_run.h"

/* Rows of a table or an index, of one kind of work. */
typedef struct PfsDigestRows
{
	uint64		stat;			/* pfs_rel_stat_is_there() */
	uint16		kind;			/* PfsRelStatKind */
	uint16		part;			/* PfsRelPart, but for BY_INDEX */
	PfsRowCount rows;			/* ticks of the default timer */
} PfsDigestRows;

/* Kinds of work that have counts of their own, with their names in the file: all but LOCK, which is the rest. */
#define PFS_ROW_COUNTS(X) \
	X(PFS_REL_FETCH, "fetched") \
	X(PFS_REL_INSERT, "inserted") \
	X(PFS_REL_UPDATE, "updated") \
	X(PFS_REL_DELETE, "deleted")

#define PFS_NUM_ROW_COUNTS (0 PFS_ROW_COUNTS(PFS_PLUS_ONE))

StaticAssertDecl(PFS_NUM_ROW_COUNTS == PFS_REL_DELETE + 1, "PfsRelPart begins with them");

/*
 * In shared memory: what a digest, or all others, has of a table or an index.  A cell whose
 * table has been dropped is shown no more, and goes to the next table of the same digest:
 * stat is 0 meanwhile.
 */
typedef struct PfsDigestRowsCell
{
	uint64		stat;			/* release-stored behind the rest */
	uint32		kind;
	uint32		next;			/* index + 1 of the next one of its chain; 0:
								 * none; set before it is linked */
	PfsSharedCell all;			/* atomic adds, as the counts */
	uint64		counts[PFS_NUM_ROW_COUNTS];
} PfsDigestRowsCell;

/* The container digest_rows; NULL: pfs is off. */
extern PFS_HIDDEN PfsPages *pfs_digest_rows;

/* Postmaster. */
extern void pfs_digest_rows_lay_out(PfsSegment *seg);

static inline PfsDigestRowsCell *
pfs_digest_rows_at(uint32 link)
{
	return pfs_pages_record(pfs_digest_rows, link - 1);
}

/* Any process: puts a cell that is filled in, and in no chain, at the head of one. */
extern void pfs_digest_rows_link(uint32 *head, PfsDigestRowsCell *cell);

/* PfsChargeCallbacks.rows_cb. */
extern void pfs_digest_rows_add(const PfsRelRun *run, const PfsRowCount *rows);

/* A bit for each entry of the process's table that is in use. */
extern PFS_HIDDEN uint32 pfs_digest_rows_used;

/* Moves entries of a digest from the process's table to an array of `max`, of which *n are in use. */
extern void pfs_digest_rows_claim(const PfsDigestKey *key, PfsDigestRows *to, uint32 *n, uint32 max);

/*
 * Empties the process's table into the digests, as a statement has ended, by its statement_id;
 * PFS_ALL_STATEMENTS: the process ends.  What belongs to a statement whose query identifier is
 * not known yet stays until that one ends, and is dropped then.
 */
#define PFS_ALL_STATEMENTS PG_UINT64_MAX
extern void pfs_digest_rows_flush(uint64 ended);

/* Adds to a digest that has been entered; NULL: to all others. */
extern void pfs_digest_rows_put(PfsPinnedDigest *pinned, const PfsDigestRows *rows);

/*
 * Postmaster, at the start: adds what an earlier server had of a table or an index to a digest, or to all
 * others (NULL).
 */
extern void pfs_digest_rows_put_all(PfsDigest *d, PfsRelStatKind kind, uint64 stat, const PfsTotals *all, const uint64 *counts);

/*
 * Moves the cells of a digest that nobody uses to all others, as long as that is wanted, and gives
 * them back; see pfs_digest_evict.c.  NULL: it is not wanted.
 */
extern void pfs_digest_rows_move(PfsDigest *d, bool (*is_wanted) (void));

#endif							/* PFS_DIGEST_ROWS_H */
