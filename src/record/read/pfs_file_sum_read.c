/*
 * pfs_file_sum_read.c
 *	  Readers and truncation of the sums of file calls; pfs_file_sum.c has who adds to
 *	  them, and the lock under which they move.
 *
 * What a file has counted is the sum of its records and of the places of all processes:
 * both are read, and truncated, while flushes are forbidden (pfs_pending_read.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* How often a reader tries that finds counters being moved each time. */
#define READ_TRIES 100

/*
 * Takes the lock under which counters of files move.  No interrupt is looked at
 * while it is held.  Without a record, an event of our own can add as ever: adding
 * needs no lock.
 *
 * Returns false if a process holds it and does not go on: the command works without
 * the lock then.  What it misses is what the holder has on its way from a chain to
 * the totals; and when the holder goes on meanwhile, a link can lead to a record
 * that is of another chain by now: its counters, too, are taken or moved, once, by
 * exchanges.
 */
static bool
lock(PfsPatience *patience)
{
	while (!pfs_file_sums_try_lock())
	{
		if (!pfs_patience_more(patience))
		{
			CHECK_FOR_INTERRUPTS();
			return false;
		}
	}
	return true;
}

static void
unlock(bool locked)
{
	if (locked)
		pfs_file_sums_unlock();
}

/* ---- readers ---- */

/* Whom a reader hands the sums of files to. */
typedef struct FilesReader
{
	PfsFileSumEmit emit;
	void	   *arg;

	/* The file that what is pending belongs to. */
	uint32		index;
	uint64		word;
} FilesReader;

static void
emit_pending_cb(const PfsPending *p, void *arg)
{
	const FilesReader *reader = arg;
	PfsChained	sum = pfs_file_sum_of_pending(p);

	reader->emit(reader->index, reader->word, &sum, reader->arg);
}

/*
 * Hands the sums of all living files to emit, and what is pending of them.  A file's chain
 * stays while its state word does, so a look at the word afterwards tells whether all that was
 * read was the file's.  Until then no link is believed.
 */
static void
read_files(PfsPatience *patience, void *arg)
{
	FilesReader *reader = arg;
	PfsPendingCopies pending;
	uint32		max = 64;
	PfsChained *copies = palloc(max * sizeof(PfsChained));

	pfs_pending_copy_all(PFS_COUNTED_FILES, &pending, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, at.index);
		uint32		link = pfs_load_acquire(&file->sums);
		uint32		n = 0;

		CHECK_FOR_INTERRUPTS();
		while (link != 0 && link <= pfs_file_sums->records_max && n < pfs_file_sums->records_max)
		{
			if (n == max)
				copies = repalloc(copies, (max *= 2) * sizeof(PfsChained));
			pfs_racy_copy(&copies[n], pfs_chain_at(pfs_file_sums, link), sizeof(PfsChained));
			link = copies[n++].next;
		}
		pfs_fence_acquire();
		if (pfs_pages_word(pfs_files, at.index) != at.word)
			continue;
		for (uint32 i = 0; i < n; i++)
			reader->emit(at.index, at.word, &copies[i], reader->arg);
		reader->index = at.index;
		reader->word = at.word;
		pfs_pending_of_object(&pending, PFS_COUNTED_OBJECT(at.index, at.word), emit_pending_cb, reader);
	}
	pfree(pending.items);
	pfree(copies);
}

void
pfs_file_sums_each(PfsFileSumEmit emit, void *arg)
{
	PfsPatience patience = {0};
	FilesReader reader = {.emit = emit, .arg = arg};

	pfs_pending_work(PFS_COUNTED_FILES, false, read_files, &patience, &reader);
}

static void
count_for_name_cb(const PfsPending *p, void *arg)
{
	pfs_calls_read_pending(p, (PfsCalls *) arg + PFS_CALLS_INSTRUMENT(p->key));
}

/*
 * Adds the sums of all files, the totals of removed ones and what is pending, by instrument.
 * One pass without any lock: pfs_file_sums_by_instrument() tells whether counters moved
 * meanwhile.
 */
static void
read_all(PfsCalls *numbers, PfsPatience *patience)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_file_sums, &at);)
	{
		PfsChained	copy;

		/* If not, it is being freed, by a process that holds the lock. */
		if (pfs_pages_copy(pfs_file_sums, at.index, 0, &copy, sizeof(copy), &at.word))
			pfs_calls_read(&copy, &numbers[PFS_CALLS_INSTRUMENT(copy.key)], PFS_CALLS_PART(copy.key));
	}
	for (int use = 0; use < PFS_NUM_FILE_USES; use++)
		pfs_calls_totals_read(pfs_file_totals[use], numbers);
	pfs_pending_each(PFS_COUNTED_FILES, count_for_name_cb, numbers, patience);
}

/*
 * Says whether a reading of the sums that began at this word of the sequence lock is over: nothing
 * has moved since, or the reader has waited for too long for whoever moves.
 */
bool
pfs_file_sums_read(uint64 word, PfsPatience *patience)
{
	if (pfs_seqlock_read_valid(&pfs_shared_files->moving, word))
		return true;
	pfs_patience_next(patience);
	while ((pfs_seqlock_read_begin(&pfs_shared_files->moving) & 1) != 0 && pfs_patience_more(patience))
		;
	return patience->has_run_out;
}

/* Reads until nothing has moved meanwhile. */
static void
read_names(PfsPatience *patience, void *arg)
{
	PfsCalls   *numbers = arg;

	for (int tries = 0; tries < READ_TRIES; tries++)
	{
		uint64		word = pfs_seqlock_read_begin(&pfs_shared_files->moving);

		CHECK_FOR_INTERRUPTS();
		memset(numbers, 0, pfs_instruments->max * sizeof(PfsCalls));
		read_all(numbers, patience);
		if (pfs_file_sums_read(word, patience))
			break;
	}
}

/*
 * Fills an array with the counters of file calls by instrument.  If counters never
 * stop moving, some may be missing, or counted twice: the reading then counts as
 * inexact.
 */
void
pfs_file_sums_by_instrument(PfsCalls *numbers)
{
	PfsPatience patience = {0};

	pfs_pending_work(PFS_COUNTED_FILES, false, read_names, &patience, numbers);
}

/* ---- truncation ---- */

/* Moves the counters of all files to the totals by instrument; *arg: how many events. */
static void
push(PfsPatience *patience, void *arg)
{
	int64	   *events = arg;
	bool		locked = lock(patience);

	*events = (int64) pfs_pending_push(PFS_COUNTED_FILES, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, at.index);
		uint32		n = 0;

		/*
		 * Holding the lock, no chain is freed: also not one removed
		 * meanwhile.  Without it no link is believed.
		 */
		for (uint32 link = pfs_load_acquire(&file->sums);
			 link != 0 && link <= pfs_file_sums->records_max && n < pfs_file_sums->records_max;
			 link = pfs_chain_at(pfs_file_sums, link)->next, n++)
			*events += pfs_file_sum_move(pfs_chain_at(pfs_file_sums, link));
	}
	unlock(locked);
}

/* Empties the counters of all files and the totals; *arg: how many events they had. */
static void
clear(PfsPatience *patience, void *arg)
{
	int64	   *events = arg;
	bool		locked = lock(patience);
	PfsTotals	totals = {0};
	uint64		bytes = 0;

	*events = (int64) pfs_pending_clear(PFS_COUNTED_FILES, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_file_sums, &at);)
		pfs_calls_take(pfs_pages_record(pfs_file_sums, at.index), &totals, &bytes);
	for (int use = 0; use < PFS_NUM_FILE_USES; use++)
		*events += (int64) pfs_calls_totals_clear(pfs_file_totals[use], false);
	*events += (int64) pfs_totals_count(&totals);
	unlock(locked);
}

/* Does the work of a truncation, which empties the tables by instance in any case. */
static int64
truncate_sums(PfsPendingWork work)
{
	PfsPatience patience = {.of_reset = true};
	int64		events = 0;

	pfs_pending_work(PFS_COUNTED_FILES, true, work, &patience, &events);
	pfs_reset_time_note("file_summary_by_instance");
	pfs_reset_time_note("events_waits_summary_by_instance");
	return events;
}

/* As TRUNCATE of a table by instance does; returns how many events have left it. */
int64
pfs_file_sums_push(void)
{
	return truncate_sums(push);
}

/* As TRUNCATE of file_summary_by_event_name does; returns how many events have left it. */
int64
pfs_file_sums_clear(void)
{
	return truncate_sums(clear);
}
