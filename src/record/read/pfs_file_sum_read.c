/*
 * pfs_file_sum_read.c
 *	  The reader of the sums of file calls, for all tables that show them, and truncation;
 *	  pfs_file_sum.c has who adds to them and moves them.
 *
 * What a file has counted is the sum of its records and of the places of all processes:
 * both are read, and truncated, while flushes and the freeing of chains are forbidden (pfs_pending_read.h).  Should a
 * process be stopped in the middle of that, it may go on meanwhile: so no link is believed.
 *
 * The files that are there claim what is theirs; what nobody has claimed is of files that have gone, or of none.  As each
 * record, total and place is handed on once, the sums of a use are what was counted of it, whatever is removed meanwhile.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* ---- readers ---- */

typedef struct Reader
{
	bool		all;
	PfsFileSumEmit emit;
	void	   *arg;
	bool	   *is_claimed;		/* [records of pfs_file_sums] */
	PfsPendingCopies pending;	/* of all files and of none */
	bool	   *is_pending_claimed; /* [pending.n] */
} Reader;

/* Hands a record of the container on, unless it was. */
static void
claim_sum(Reader *r, uint32 index, uint32 file, uint64 word)
{
	PfsChained	sum;
	uint64		state;

	if (r->is_claimed[index] || !pfs_pages_copy(pfs_file_sums, index, 0, &sum, sizeof(sum), &state))
		return;
	r->is_claimed[index] = true;
	r->emit(file, word, &sum, r->arg);
}

static void
emit_pending(const Reader *r, const PfsPending *p, uint32 file, uint64 word)
{
	PfsChained	sum = pfs_file_sum_of_pending(p);

	r->emit(file, word, &sum, r->arg);
}

/* Hands on the copies of what is pending of a file, but for what was counted before a TRUNCATE by instance. */
static void
claim_pending(Reader *r, uint32 file, uint64 word)
{
	uint64		object = PFS_COUNTED_OBJECT(file, word);
	const PfsPending *p;

	while ((p = pfs_pending_copy_next(&r->pending, object)) != NULL)
	{
		if (p->object != object || !pfs_pending_counts(pfs_shared_pending[PFS_COUNTED_FILES].truncated, p, PFS_PENDING_OBJECT))
			continue;
		r->is_pending_claimed[r->pending.next - 1] = true;
		emit_pending(r, p, file, word);
	}
}

/*
 * Hands on what is of one file.  Its chain stays while its state word does, so a look at the word afterwards tells whether
 * the chain was the file's; until then no link is believed.
 */
static void
read_file(Reader *r, uint32 index, uint64 word)
{
	uint32		max = pfs_file_sums->records_max;
	uint32		first = pfs_load_acquire(&((const PfsFile *) pfs_pages_record(pfs_files, index))->sums);
	uint32		n = 0;

	for (uint32 link = first; link != 0 && link <= max && n < max; link = pfs_chain_at(pfs_file_sums, link)->next)
		n++;
	pfs_fence_acquire();
	if (pfs_pages_word(pfs_files, index) != word)
		return;
	for (uint32 link = first; link != 0 && link <= max && n-- > 0; link = pfs_chain_at(pfs_file_sums, link)->next)
		claim_sum(r, link - 1, index, word);
	claim_pending(r, index, word);
}

/* Hands on the totals of a use that have counted something. */
static void
read_totals(const Reader *r, PfsFileUse use)
{
	uint32		ninstruments = pfs_instrument_count();

	for (uint32 i = 0; i < ninstruments; i++)
	{
		for (int part = 0; part < PFS_CALLS_PARTS; part++)
		{
			const PfsChained *total = pfs_calls_total(pfs_file_totals[use], i, part);
			PfsChained	sum;

			if (pfs_load_relaxed(&total->cell.count_timed) + pfs_load_relaxed(&total->cell.count_untimed) == 0)
				continue;
			pfs_racy_copy(&sum, total, sizeof(sum));
			sum.key = PFS_FILE_KEY(PFS_CALLS_KEY(i, part), use);
			r->emit(PFS_NO_RECORD, 0, &sum, r->arg);
		}
	}
}

/* Hands on what no file has claimed. */
static void
read_rest(Reader *r)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_file_sums, &at);)
		claim_sum(r, at.index, PFS_NO_RECORD, 0);
	for (int use = 0; use < PFS_NUM_FILE_USES; use++)
		read_totals(r, use);
	r->pending.next = 0;
	for (const PfsPending *p; (p = pfs_pending_copy_next(&r->pending, PG_UINT64_MAX)) != NULL;)
	{
		if (!r->is_pending_claimed[r->pending.next - 1])
			emit_pending(r, p, PFS_NO_RECORD, 0);
	}
}

/* Reads the files that are there, then, if that is wanted, the rest. */
static void
read_all(PfsPatience *patience, void *arg)
{
	Reader	   *r = arg;

	r->is_claimed = palloc_extended(pfs_file_sums->records_max * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	pfs_pending_copy_all(PFS_COUNTED_FILES, PFS_PENDING_ALL, &r->pending, patience);
	r->is_pending_claimed = palloc0(r->pending.n * sizeof(bool));
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		CHECK_FOR_INTERRUPTS();
		read_file(r, at.index, at.word);
	}
	if (r->all)
		read_rest(r);
	pfree(r->is_pending_claimed);
	pfree(r->pending.items);
	pfree(r->is_claimed);
}

void
pfs_file_sums_each(bool all, PfsFileSumEmit emit, void *arg)
{
	Reader		reader = {.all = all, .emit = emit, .arg = arg};

	if (pfs_file_sums == NULL || pfs_files == NULL)
		return;
	pfs_pending_work(PFS_COUNTED_FILES, false, read_all, &reader);
}

/* ---- truncation ---- */

/* Moves the counters of all files to the totals by instrument; returns how many events. */
static int64
push(void)
{
	int64		events = 0;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, at.index);
		uint32		n = 0;

		for (uint32 link = pfs_load_acquire(&file->sums);
			 link != 0 && link <= pfs_file_sums->records_max && n < pfs_file_sums->records_max;
			 link = pfs_chain_at(pfs_file_sums, link)->next, n++)
			events += pfs_file_sum_move(pfs_chain_at(pfs_file_sums, link));
	}
	return events;
}

/* Empties the counters of all files and the totals; returns how many events they had. */
static int64
clear(void)
{
	PfsTotals	totals = {0};
	uint64		bytes = 0;
	int64		events = 0;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_file_sums, &at);)
		pfs_calls_take(pfs_pages_record(pfs_file_sums, at.index), &totals, &bytes);
	for (int use = 0; use < PFS_NUM_FILE_USES; use++)
		events += (int64) pfs_calls_totals_clear(pfs_file_totals[use], false);
	return events + (int64) pfs_totals_count(&totals);
}

/* As TRUNCATE of a table by instance does; returns how many events have left it. */
int64
pfs_file_sums_push(void)
{
	return pfs_pending_reset(PFS_COUNTED_FILES, PFS_PENDING_OBJECT, push, "file_summary_by_instance");
}

/* As TRUNCATE of file_summary_by_event_name does; returns how many events have left it. */
int64
pfs_file_sums_clear(void)
{
	return pfs_pending_reset(PFS_COUNTED_FILES, PFS_PENDING_ALL, clear, "file_summary_by_instance");
}
