/*
 * pfs_file_sum_read.c
 *	  The reader of the sums of file calls, for all tables that show them, and truncation;
 *	  pfs_file_sum.c has who adds to them and moves them.
 *
 * What a file has counted is the sum of its records and of the places of all processes:
 * both are read, and truncated, while flushes and the freeing of chains are forbidden (pfs_pending_read.h).  Should a
 * process be stopped in the middle of that, it may go on meanwhile: so no link is believed.
 *
 * All sums, totals and places are copied first.  Then the files that are there say which of the
 * copies are theirs; what nobody claims is of files that have gone, or of none.  As each copy is in
 * the answer once, the sums of a use are what was counted of it, whatever is removed meanwhile.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* ---- readers ---- */

/* A copy of a sum, and whose it is. */
typedef struct Copy
{
	uint32		file;			/* PFS_NO_RECORD: of none that is there */
	uint64		word;
	PfsChained	sum;
} Copy;

typedef struct Reader
{
	int			flags;
	PfsFileSumEmit emit;
	void	   *arg;
	Copy	   *copies;
	uint32		n;
	uint32		max;
	uint32	   *of_record;		/* [records of pfs_file_sums]: number of its
								 * copy + 1; 0: there is none */
	uint32		npending;		/* the last copies, which name their files
								 * themselves */
} Reader;

/* Appends the copy of a sum; until the caller says so, it is no record's. */
static Copy *
add_copy(Reader *r, const PfsChained *sum)
{
	Copy	   *copy;

	if (r->n == r->max)
	{
		r->max *= 2;
		r->copies = repalloc_huge(r->copies, r->max * sizeof(Copy));
	}
	copy = &r->copies[r->n++];
	copy->file = PFS_NO_RECORD;
	copy->word = 0;
	copy->sum = *sum;
	return copy;
}

/* Copies the records of the container, those of removed files among them. */
static void
copy_sums(Reader *r)
{
	memset(r->of_record, 0, pfs_file_sums->records_max * sizeof(uint32));
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_file_sums, &at);)
	{
		PfsChained	sum;

		if (!pfs_pages_copy(pfs_file_sums, at.index, 0, &sum, sizeof(sum), &at.word))
			continue;
		(void) add_copy(r, &sum);
		r->of_record[at.index] = r->n;
	}
}

/* Copies the totals that have counted something. */
static void
copy_totals(Reader *r)
{
	uint32		ninstruments = pfs_instrument_count();

	for (int use = 0; use < PFS_NUM_FILE_USES; use++)
	{
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
				(void) add_copy(r, &sum);
			}
		}
	}
}

static void
copy_pending_cb(const PfsPending *p, void *arg)
{
	Reader	   *r = arg;
	PfsChained	sum = pfs_file_sum_of_pending(p);
	Copy	   *copy = add_copy(r, &sum);

	r->npending++;
	if (pfs_pending_counts(pfs_shared_pending[PFS_COUNTED_FILES].truncated, p, PFS_PENDING_OBJECT) && PFS_COUNTED_WORD(p->object) != 0)
	{
		copy->file = PFS_COUNTED_INDEX(p->object);
		copy->word = PFS_COUNTED_WORD(p->object);
	}
}

/*
 * Gives the files that are there what is theirs.  A file's chain stays while its state word
 * does, so a look at the word afterwards tells whether the chain was the file's; until then no
 * link is believed.  living: for each record the state word of its file; 0: it is not there.
 */
static void
claim(Reader *r, uint64 *living)
{
	uint32		max = pfs_file_sums->records_max;

	memset(living, 0, pfs_files->records_max * sizeof(uint64));
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, at.index);
		uint32		first = pfs_load_acquire(&file->sums);
		uint32		n = 0;

		CHECK_FOR_INTERRUPTS();
		for (uint32 link = first; link != 0 && link <= max && n < max; link = pfs_chain_at(pfs_file_sums, link)->next)
			n++;
		pfs_fence_acquire();
		if (pfs_pages_word(pfs_files, at.index) != at.word)
			continue;
		living[at.index] = at.word;
		for (uint32 link = first; link != 0 && link <= max && n-- > 0; link = pfs_chain_at(pfs_file_sums, link)->next)
		{
			if (r->of_record[link - 1] == 0)
				continue;
			r->copies[r->of_record[link - 1] - 1].file = at.index;
			r->copies[r->of_record[link - 1] - 1].word = at.word;
		}
	}
	for (uint32 i = r->n - r->npending; i < r->n; i++)
	{
		Copy	   *copy = &r->copies[i];
		uint64		word = copy->file != PFS_NO_RECORD ? living[copy->file] : 0;

		if (word != 0 && (uint32) word == (uint32) copy->word)
			copy->word = word;
		else
			copy->file = PFS_NO_RECORD;
	}
}

/* Orders the copies of one file by instrument and use. */
static int
compare_copies(const void *a, const void *b)
{
	uint32		x = (*(Copy *const *) a)->sum.key;
	uint32		y = (*(Copy *const *) b)->sum.key;

	if (PFS_CALLS_INSTRUMENT(x) != PFS_CALLS_INSTRUMENT(y))
		return PFS_CALLS_INSTRUMENT(x) < PFS_CALLS_INSTRUMENT(y) ? -1 : 1;
	return (int) PFS_FILE_KEY_USE(x) - (int) PFS_FILE_KEY_USE(y);
}

/*
 * Hands on what is of one file and instrument together, and of these what is of one use.  Files are many,
 * and each has few copies: so the copies are counted first, then each goes where those of its file begin.
 */
static void
emit_sorted(const Reader *r)
{
	uint32		nfiles = pfs_files->records_max;
	uint32	   *ends = palloc_extended((nfiles + 2) * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Copy	  **sorted = palloc_extended(Max(r->n, 1) * sizeof(Copy *), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < r->n; i++)
		ends[Min(r->copies[i].file, nfiles) + 1]++;
	for (uint32 file = 0; file <= nfiles; file++)
		ends[file + 1] += ends[file];
	for (uint32 i = 0; i < r->n; i++)
		sorted[ends[Min(r->copies[i].file, nfiles)]++] = &r->copies[i];
	for (uint32 file = 0, begin = 0; file <= nfiles; begin = ends[file++])
	{
		if (file == nfiles && (r->flags & PFS_FILE_SUMS_ALL) == 0)
			break;
		if (ends[file] - begin > 1)
			qsort(&sorted[begin], ends[file] - begin, sizeof(Copy *), compare_copies);
		for (uint32 i = begin; i < ends[file]; i++)
			r->emit(sorted[i]->file, sorted[i]->word, &sorted[i]->sum, r->arg);
	}
	pfree(sorted);
	pfree(ends);
}

/* Reads all, and hands on what was read. */
static void
read_all(PfsPatience *patience, void *arg)
{
	Reader	   *r = arg;
	uint64	   *living = palloc_extended(pfs_files->records_max * sizeof(uint64), MCXT_ALLOC_HUGE);

	r->max = 1024;
	r->copies = palloc(r->max * sizeof(Copy));
	r->of_record = palloc_extended(pfs_file_sums->records_max * sizeof(uint32), MCXT_ALLOC_HUGE);
	r->n = r->npending = 0;
	copy_sums(r);
	if (r->flags & PFS_FILE_SUMS_ALL)
		copy_totals(r);
	pfs_pending_each(PFS_COUNTED_FILES, copy_pending_cb, r, patience);
	claim(r, living);
	if (r->flags & PFS_FILE_SUMS_SORTED)
		emit_sorted(r);
	else
	{
		for (uint32 i = 0; i < r->n; i++)
			r->emit(r->copies[i].file, r->copies[i].word, &r->copies[i].sum, r->arg);
	}
	pfree(living);
	pfree(r->of_record);
	pfree(r->copies);
}

void
pfs_file_sums_each(int flags, PfsFileSumEmit emit, void *arg)
{
	Reader		reader = {.flags = flags, .emit = emit, .arg = arg};

	if (pfs_file_sums == NULL || pfs_files == NULL)
		return;
	pfs_blocking_work(PFS_COUNTED_FILES, false, read_all, &reader);
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
