/*
 * pfs_digest_rows.c
 *	  Rows by digest: the process's own table, and the cells that it is emptied to.
 *
 * A digest has a chain of cells, as of its waits, by table or index.  Cells are added to by
 * whoever has the digest pinned, and nothing is unlinked before the digest goes.  A table that
 * is dropped leaves its cells where they are: whoever looks for the cell of another
 * table takes the first such one that it comes to, if no other process has the digest pinned.
 * So nobody else can hold a cell that it has found before, and who comes later finds
 * the new one, as rows of a table that has gone are added to nothing.
 *
 * All others have chains by a hash of the table, and a reference count in place of the digest's.
 */
#include "postgres.h"

#include "pfs_digest_rows.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* Cells of one page: 64 kB, or so. */
#define CELLS_PER_PAGE		512

/* Tables and indexes of a shape, on average, within reason. */
#define CELLS_PER_DIGEST	4

/* The longest chain of a digest: each addition walks along it.  What is more goes to all others. */
#define CELLS_AT_MOST		512

/* Entries of the process's table. */
#define ENTRIES				32

PFS_FIXED PfsPages *pfs_digest_rows = NULL;
PFS_HOT_FIRST uint32 pfs_digest_rows_used = 0;

static uint32 hint;

typedef struct Entry
{
	PfsDigestCharged charged;
	PfsDigestRows of;
} Entry;

static Entry entries[ENTRIES];

StaticAssertDecl(ENTRIES == 32, "a word says which are used");

void
pfs_digest_rows_lay_out(PfsSegment *seg)
{
	pfs_digest_rows = pfs_pages_create(seg, "digest_rows", TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsDigestRowsCell)),
									   pfs_sizes.tables == 0 ? 0 : pfs_sizes.digests * CELLS_PER_DIGEST,
									   CELLS_PER_PAGE);
}

/* ---- cells ---- */

/* Gives a cell whose table has gone to another one; false: another process may be using it. */
static bool
reuse(PfsDigestRowsCell *cell, const uint64 *ref, uint64 was, const PfsDigestRows *of)
{
	if (pfs_load_acquire(ref) != 1 || !pfs_cas(&cell->stat, &was, 0))
		return false;
	memset(&cell->all, 0, sizeof(cell->all));
	memset(cell->counts, 0, sizeof(cell->counts));
	pfs_store_relaxed(&cell->kind, of->kind);
	pfs_store_release(&cell->stat, of->stat);
	return true;
}

void
pfs_digest_rows_link(uint32 *head, PfsDigestRowsCell *cell)
{
	uint32		first = pfs_load_acquire(head);

	do
	{
		pfs_store_relaxed(&cell->next, first);
	} while (!pfs_cas(head, &first, pfs_pages_index(pfs_digest_rows, cell) + 1));
}

/*
 * Returns the cell of a table or an index in a chain, made if need be; NULL: there is no room.
 * Two processes that make one at a time make two, which readers add up.  ref: of the owner of
 * the chain, which the caller has pinned.
 */
static PfsDigestRowsCell *
find(uint32 *head, const uint64 *ref, uint32 at_most, const PfsDigestRows *of)
{
	PfsDigestRowsCell *unused = NULL;
	uint64		was = 0;
	uint32		n = 0;

	for (uint32 link = pfs_load_acquire(head); link != 0; n++)
	{
		PfsDigestRowsCell *cell = pfs_digest_rows_at(link);
		uint64		stat = pfs_load_acquire(&cell->stat);

		if (stat == of->stat && pfs_load_relaxed(&cell->kind) == of->kind)
			return cell;
		if (unused == NULL && !pfs_rel_stat_is_there(pfs_load_relaxed(&cell->kind), stat))
		{
			unused = cell;
			was = stat;
		}
		link = pfs_load_relaxed(&cell->next);
	}
	if (unused != NULL && reuse(unused, ref, was, of))
		return unused;
	unused = n >= at_most ? NULL : pfs_pages_make(pfs_digest_rows, &hint);
	if (unused == NULL)
		return NULL;
	unused->kind = of->kind;
	unused->stat = of->stat;
	pfs_digest_rows_link(head, unused);
	return unused;
}

static void
add_to_cell(PfsDigestRowsCell *cell, const PfsDigestRows *rows)
{
	pfs_shared_cell_add_counts(&cell->all, &rows->rows);
	if (rows->part < PFS_NUM_ROW_COUNTS)
		pfs_add_relaxed(&cell->counts[rows->part], pfs_row_count(&rows->rows));
}

/* The chain of all others in which a table or an index is. */
static uint32 *
others_of(const PfsDigestRows *of)
{
	uint32		hash = ((uint32) (of->stat >> 32) * 2 + of->kind) * UINT32_C(2654435769);

	return &pfs_shared_digests->rows[hash / (UINT32_MAX / PFS_OTHER_ROWS_CHAINS + 1)];
}

/*
 * The cell of all others, between these two; NULL: there is no room for one more, none shall be
 * made, or the table has gone.  That is looked at behind the reference: whoever reuses the cell
 * of a table that goes later sees that.
 */
static PfsDigestRowsCell *
enter_others(const PfsDigestRows *of, uint32 at_most)
{
	pfs_add_seqcst(&pfs_shared_digests->rows_ref, 1);
	if (!pfs_rel_stat_is_there(of->kind, of->stat))
		return NULL;
	return find(others_of(of), &pfs_shared_digests->rows_ref, at_most, of);
}

static void
leave_others(void)
{
	pfs_sub_seqcst(&pfs_shared_digests->rows_ref, 1);
}

/* Adds rows to the cell of a digest; to all others' where that has no room for one. */
void
pfs_digest_rows_put(PfsPinnedDigest *pinned, const PfsDigestRows *rows)
{
	PfsDigestRowsCell *cell = NULL;

	/* What was counted of a table or an index that has gone goes with it. */
	if (!pfs_rel_stat_is_there(rows->kind, rows->stat))
		return;
	if (pinned != NULL)
		cell = find(&pinned->digest->rows, &pinned->ref_slot->ref, CELLS_AT_MOST, rows);
	if (cell != NULL)
	{
		add_to_cell(cell, rows);
		return;
	}
	cell = enter_others(rows, UINT32_MAX);
	if (cell != NULL)
		add_to_cell(cell, rows);
	leave_others();
}

/* Adds numbers of any size to a cell. */
static void
add_all_to_cell(PfsDigestRowsCell *to, const PfsTotals *all, const uint64 *counts)
{
	pfs_shared_cell_merge(&to->all, all);
	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		pfs_add_relaxed(&to->counts[i], counts[i]);
}

/* Adds what a file has.  Nobody else is there, so the digest needs no pin. */
void
pfs_digest_rows_put_all(PfsDigest *d, PfsRelStatKind kind, uint64 stat, const PfsTotals *all, const uint64 *counts)
{
	const PfsDigestRows of = {.stat = stat, .kind = kind};
	uint64		ref = 1;
	PfsDigestRowsCell *cell = d == NULL ? NULL : find(&d->rows, &ref, CELLS_AT_MOST, &of);

	if (cell == NULL)
		cell = find(others_of(&of), &ref, UINT32_MAX, &of);
	if (cell != NULL)
		add_all_to_cell(cell, all, counts);
}

/*
 * Adds one cell to that of all others, if it is still wanted; where these have none, it becomes theirs, so
 * that nothing is lost when there is no room.  Returns whether it has.
 */
static bool
move_cell(PfsDigestRowsCell *cell, bool (*is_wanted) (void))
{
	const PfsDigestRows of = {.stat = cell->stat, .kind = cell->kind};
	PfsTotals	totals = {0};
	PfsDigestRowsCell *to;

	if (is_wanted == NULL || !pfs_rel_stat_is_there(of.kind, of.stat) || !is_wanted())
		return false;
	to = enter_others(&of, 0);
	if (to == NULL)
		pfs_digest_rows_link(others_of(&of), cell);
	else
	{
		pfs_shared_cell_read(&cell->all, &totals);
		add_all_to_cell(to, &totals, cell->counts);
	}
	leave_others();
	return to == NULL;
}

/* Moves cell after cell, and gives back those whose numbers are in another one then. */
void
pfs_digest_rows_move(PfsDigest *d, bool (*is_wanted) (void))
{
	uint32		link = pfs_exchange(&d->rows, 0);

	while (link != 0)
	{
		PfsDigestRowsCell *cell = pfs_digest_rows_at(link);

		link = cell->next;
		if (!move_cell(cell, is_wanted))
			pfs_pages_discard(pfs_digest_rows, cell);
	}
}

/* ---- the process's table ---- */

/*
 * The digest of the statement at top level, or of the leader's; query_id 0: it is not known yet, or
 * the statement is neither.
 */
static PfsDigestKey
key_of(uint64 statement_id)
{
	static const PfsDigestKey nobody = {0, 0};

	if (statement_id == PFS_DIGEST_OF_LEADER)
		return pfs_my_thread->charged;
	if (statement_id != pfs_sql.top.statement_id)
		return nobody;
	return pfs_digest_key(pfs_sql.top.database, pfs_sql.top.user, pfs_sql.top.query_id);
}

/* Learns the key of what an entry is charged to, where that was not known yet. */
static inline void
learn_key(PfsDigestCharged *charged)
{
	if (charged->key.query_id == 0)
		charged->key = key_of(charged->statement_id);
}

/* Adds an entry to its digest; without a query identifier to all others. */
static void
give(const Entry *e)
{
	PfsPinnedDigest *pinned = NULL;

	if (e->charged.key.query_id != 0)
		pinned = pfs_digest_enter(&e->charged.key, e->charged.statement_id != PFS_DIGEST_OF_LEADER);

	pfs_digest_rows_put(pinned, &e->of);
	pfs_digest_leave(pinned);
}

/* Does a statement that goes on have to learn its query identifier first? */
static inline bool
has_to_wait(const Entry *e, uint64 ended)
{
	return ended != PFS_ALL_STATEMENTS && e->charged.statement_id != ended &&
		(e->charged.statement_id == PFS_DIGEST_OF_LEADER || e->charged.statement_id == pfs_sql.top.statement_id);
}

/* Empties the table, but for what has to wait. */
void
pfs_digest_rows_flush(uint64 ended)
{
	for (uint32 left = pfs_digest_rows_used; left != 0; left &= left - 1)
	{
		Entry	   *e = &entries[__builtin_ctz(left)];

		learn_key(&e->charged);
		if (e->charged.key.query_id == 0 && has_to_wait(e, ended))
			continue;
		give(e);
		pfs_digest_rows_used &= ~(left & -left);
	}
}

/* Moves what fits into the array. */
void
pfs_digest_rows_claim(const PfsDigestKey *key, PfsDigestRows *to, uint32 *n, uint32 max)
{
	for (uint32 left = pfs_digest_rows_used; left != 0; left &= left - 1)
	{
		Entry	   *e = &entries[__builtin_ctz(left)];
		uint32		i = 0;

		learn_key(&e->charged);
		if (!pfs_digest_same_key(&e->charged.key, key))
			continue;
		while (i < *n && (to[i].stat != e->of.stat || to[i].kind != e->of.kind || to[i].part != e->of.part))
			i++;
		if (i == max)
			continue;
		if (i == *n)
			to[(*n)++] = e->of;
		else
			pfs_counts_add(&to[i].rows, &e->of.rows);
		pfs_digest_rows_used &= ~(left & -left);
	}
}

/*
 * Adds rows to the table.  If all entries are in use, those whose digests are known are emptied;
 * if none is, the rows are lost for digests.
 */
void
pfs_digest_rows_add(const PfsRelRun *run, const PfsRowCount *rows)
{
	bool		by_index = OidIsValid(run->wait.object.table.index);
	PfsRelStatKind kind = by_index ? PFS_INDEX_STATS : PFS_TABLE_STATS;
	uint64		stat = by_index ? run->index_stat : run->table_stat;
	PfsRelPart	part = pfs_rel_part(run->wait.operation);
	Entry		e = {run->charged, {stat, kind, part, *rows}};

	if (run->charged.statement_id == 0 || stat == 0 || (pfs_row_count(rows) == 0 && rows->sum == 0))
		return;
	learn_key(&e.charged);
	for (uint32 left = pfs_digest_rows_used; left != 0; left &= left - 1)
	{
		Entry	   *other = &entries[__builtin_ctz(left)];

		if (other->of.stat == stat && other->of.kind == kind && other->of.part == part &&
			pfs_digest_same_key(&other->charged.key, &e.charged.key) &&
			(e.charged.key.query_id != 0 || other->charged.statement_id == e.charged.statement_id))
		{
			pfs_counts_add(&other->of.rows, rows);
			return;
		}
	}
	if (unlikely(pfs_digest_rows_used == PG_UINT32_MAX))
		pfs_digest_rows_flush(0);
	if (unlikely(pfs_digest_rows_used == PG_UINT32_MAX))
	{
		pfs_pages_count_lost(pfs_digest_rows);
		return;
	}
	entries[__builtin_ctz(~pfs_digest_rows_used)] = e;
	pfs_digest_rows_used |= pfs_digest_rows_used + 1;
}
