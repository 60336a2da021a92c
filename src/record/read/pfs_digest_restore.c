/*
 * pfs_digest_restore.c
 *	  Rows of digests become digests again: of a file, when the server starts.
 *
 * In the postmaster, before there is any other process, so nobody looks on: no pins, no
 * turns.  Nothing is cached in the process either: after a crash the postmaster goes on with
 * new shared memory.
 *
 * Separate from pfs_digest.c: what is restored was counted by an earlier server.
 */
#include "postgres.h"

#include "pfs_digest_evict.h"
#include "pfs_digest_restore.h"
#include "pfs_node.h"
#include "pfs_rel_stat.h"
#include "pfs_shared.h"

/*
 * An offset that no process takes to hold: it is the date of a reading before the start, and
 * says nothing of the clocks now.
 */
#define NEVER_TAKEN(now) ((now) ^ UINT64CONST(0x8000000000000000))

static uint32 wait_hint;

/*
 * Copies a text, as far as there is room for it now, and returns its length.  Its encoding is not known here; bytes of
 * one character are above 127 in all that a database can have.
 */
static uint32
restore_text(char *to, const PfsText *text, uint32 max)
{
	uint32		len = Min(text->len, max);

	while (len < text->len && len > 0 && IS_HIGHBIT_SET(text->text[len - 1]))
		len--;
	if (len > 0)
		memcpy(to, text->text, len);
	return len;
}

/* Writes text and sample, as far as there is room for them now. */
static void
restore_texts(const PfsDigestSet *set, PfsDigest *d, const PfsDigestRow *row)
{
	if (row->text.len > 0 && set->text > 0)
	{
		d->text_len = restore_text(d->texts, &row->text, set->text);
		d->plan = row->plan;

		/*
		 * Perhaps it was provisional.  The next statement of the digest that
		 * is parsed gives its own.
		 */
		d->text_state = PFS_TEXT_PROVISIONAL;
	}
	if (row->sample.len > 0 && pfs_sizes.sql_text > 0)
	{
		d->sample_len = restore_text(d->texts + pfs_sizes.digest_text, &row->sample, pfs_sizes.sql_text);
		d->sample_seen = pfs_clock_reading_before(row->sample_seen, &d->sample_offset);
		d->sample_ticks = row->sample_ticks;
	}
}

/*
 * Makes a digest of a row; one that has a digest already adds to that.  Without room it is
 * part of all others.
 */
void
pfs_digest_restore(PfsDigestSet *set, const PfsDigestRow *row)
{
	uint32		index = row->key.query_id == 0 ? PFS_NO_RECORD : pfs_plan_make(&row->key, row->plan_id);
	PfsDigest  *d = index == PFS_NO_RECORD ? &set->shared->others : pfs_pages_record(set->pages, index);
	PfsDigest	span = {0};
	PfsDigest  *dates = index == PFS_NO_RECORD ? &span : d;

	pfs_kind_merge(&pfs_statement_kind, &d->counters, &row->totals);
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && row->buckets != NULL; b++)
		d->buckets[b] += row->buckets[b];
	dates->first_seen = pfs_clock_reading_before(row->first_seen, &dates->first_offset);
	dates->last_seen = pfs_clock_reading_before(row->last_seen, &dates->last_offset.value);
	dates->last_offset.taken = NEVER_TAKEN(dates->last_seen);
	if (index == PFS_NO_RECORD)
	{
		pfs_digest_note_others(set, span.first_seen, span.first_offset, span.last_seen, &span.last_offset);
		return;
	}
	pfs_digest_raise_usage(&set->ref_slots[index], pfs_totals_count(&row->totals.time));
	restore_texts(set, d, row);
}

/*
 * Adds the waits of a row to its digest, which is made if it had counted no statement yet, or
 * to those of all others.
 */
void
pfs_digest_wait_restore(const PfsDigestWaitRow *row)
{
	uint32		index = row->key.query_id == 0 ? PFS_NO_RECORD : pfs_plan_make(&row->key, 0);
	PfsDigest  *d = index == PFS_NO_RECORD ? NULL : pfs_pages_record(pfs_digests.pages, index);
	PfsChained *cell = d == NULL ? NULL : pfs_chain_get(pfs_digest_waits, &d->waits, row->instrument, &wait_hint);

	if (cell != NULL)
		pfs_shared_cell_merge(&cell->cell, &row->totals);
	else if (row->instrument < pfs_digest_other_waits.ncells)
		pfs_shared_cell_merge(pfs_shared_block_touch(&pfs_digest_other_waits, row->instrument), &row->totals);
}

/*
 * Adds a digest's rows of a table or an index, which gets its record; its own numbers there are
 * 0.  Without room for it the rows are lost.
 */
void
pfs_digest_rows_restore(const PfsDigestRowsRow *row)
{
	bool		is_index = OidIsValid(row->index);
	PfsRelStatKind kind = is_index ? PFS_INDEX_STATS : PFS_TABLE_STATS;
	uint64		stat = pfs_rel_stat_find(kind, row->database, is_index ? row->index : row->relation, row->relation, false,
										 InvalidSubTransactionId);
	uint32		index = stat == 0 || row->key.query_id == 0 ? PFS_NO_RECORD : pfs_plan_make(&row->key, 0);
	PfsDigest  *d = index == PFS_NO_RECORD ? NULL : pfs_pages_record(pfs_digests.pages, index);

	if (stat != 0)
		pfs_digest_rows_put_all(d, kind, stat, &row->all, row->counts);
}

/* Adds to the nodes of a plan, which are made; without room for them to all others. */
void
pfs_nodes_restore(const PfsNodeRow *rows, uint32 n)
{
	const PfsNodeKey *key = &rows[0].key;
	uint32		index = key->plan_id == 0 ? PFS_NO_RECORD : pfs_plan_make(&key->digest, key->plan_id);
	uint32	   *head = index == PFS_NO_RECORD ? NULL : &((PfsDigest *) pfs_pages_record(pfs_plans.pages, index))->nodes;
	PfsNodeFacts facts[PFS_NODES_MAX];
	PfsNode    *node = NULL;

	for (uint32 i = 0; i < n; i++)
	{
		facts[i] = rows[i].facts;
		facts[i].number = i;
	}
	if (head != NULL && pfs_nodes_make(head, facts, n))
		node = pfs_node_at(*head);
	for (uint32 i = 0; i < n; i++)
	{
		pfs_node_add(node != NULL ? node : pfs_other_nodes, &rows[i].sums);
		node = node != NULL ? pfs_node_next(node) : NULL;
	}
}

void
pfs_node_wait_restore(const PfsNodeWaitRow *row)
{
	uint64		word;
	uint32		index = row->key.plan_id == 0 ? PFS_NO_RECORD : pfs_plan_find(&row->key.digest, row->key.plan_id, &word);

	pfs_node_add_waits(index == PFS_NO_RECORD ? 0 : ((PfsDigest *) pfs_pages_record(pfs_plans.pages, index))->nodes,
					   row->key.number, row->instrument, &row->totals);
}
