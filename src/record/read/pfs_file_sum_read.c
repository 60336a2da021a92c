/*
 * pfs_file_sum_read.c
 *	  Readers and truncation of the sums of file calls; pfs_file_sum.c has who adds to
 *	  them, and the lock under which they move.
 *
 * What a file has counted is the sum of its records and of the places of all processes
 * (pfs_file_pending.h).  A flush moves numbers from a place to a record.  So readers and
 * truncators forbid flushes while they are at work; calls go on, in places that are there
 * and else in the records.  Readers and truncators take turns (pfs_patience.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "pfs_fence.h"
#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_patience.h"
#include "pfs_shared.h"

/* How often a reader tries that finds counters being moved each time. */
#define READ_TRIES 100

/* Returns how many totals instruments can have used; pages of the others stay untouched. */
static uint32
totals_used(void)
{
	return Min(pfs_load_relaxed(&pfs_instruments->count), pfs_instruments->max) * PFS_NUM_FILE_PARTS;
}

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

/* ---- what processes have not added to the sums yet ---- */

/* The places that belong to a thread record; NULL: they were never used. */
static const PfsPendingFiles *
places_of(uint32 thread)
{
	if (pfs_pending_files == NULL || pfs_load_relaxed(&pfs_pending_files_used[thread]) == 0)
		return NULL;
	return &pfs_pending_files[thread];
}

/* Where the owner of a thread record is: its state word, and the sequence word. */
typedef struct Section
{
	uint64		record;
	uint64		seq;
} Section;

/* Of a record that is nobody's only the state word: its page may have been given back. */
static Section
section_of(uint32 thread)
{
	Section		s = {.record = pfs_pages_word(pfs_threads, thread)};

	if ((s.record & PFS_STATE_MASK) == PFS_STATE_ALLOCATED)
		s.seq = pfs_seqlock_read_begin(&((const PfsThread *) pfs_pages_record(pfs_threads, thread))->seq);
	return s;
}

/* Can the owner be writing?  The last section of one that has ended never ends. */
static inline bool
is_writing(Section s)
{
	return (s.seq & 1) != 0;
}

static inline bool
is_same_section(Section a, Section b)
{
	return a.record == b.record && a.seq == b.seq;
}

/*
 * Waits until every process is out of the write section in which it may be, if it has
 * places.  A process that is stopped there is not waited for beyond the patience: what it has
 * on its way from a place to a record is then in one of them, in both or half in each.
 */
static void
wait_for_sections(PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		Section		section;

		if (places_of(i) == NULL)
			continue;
		pfs_patience_next(patience);
		section = section_of(i);
		while (is_writing(section) && is_same_section(section_of(i), section) && pfs_patience_more(patience))
			;
	}
}

/* This process forbids flushes. */
static bool is_forbidding = false;

/* Forbids flushes, and returns when none is under way. */
static void
forbid_flushes(PfsPatience *patience)
{
	is_forbidding = true;
	pfs_add_seqcst(&pfs_shared_files->held, 1);
	pfs_fence_seqcst();			/* pairs with the one in
								 * pfs_pending_file_take() */
	wait_for_sections(patience);
}

static void
allow_flushes(int code, Datum arg)
{
	if (is_forbidding)
		pfs_sub_seqcst(&pfs_shared_files->held, 1);
	is_forbidding = false;
}

typedef void (*Work) (PfsPatience *patience, void *arg);

/*
 * Takes the turn (alone: of a truncator), and does the work while flushes are forbidden, which
 * ends with it, with an error, and with the process.  A command that was cancelled while it
 * waited ends before the work.
 */
static void
work_without_flushes(bool alone, Work work, PfsPatience *patience, void *arg)
{
	pfs_turn_take(PFS_TURN_FILES, alone);
	PG_ENSURE_ERROR_CLEANUP(allow_flushes, (Datum) 0);
	{
		forbid_flushes(patience);
		CHECK_FOR_INTERRUPTS();
		work(patience, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(allow_flushes, (Datum) 0);
	allow_flushes(0, (Datum) 0);
	pfs_turn_give(PFS_TURN_FILES, alone);
	pfs_patience_end(patience);
}

typedef void (*PendingEach) (const PfsPendingFile *p, void *arg);

/* Calls `each` for a copy of every place whose numbers are of generation `oldest` or newer. */
static void
each_pending(uint64 oldest, PendingEach each, void *arg, PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		const PfsPendingFiles *places = places_of(i);

		if (places == NULL)
			continue;
		pfs_patience_next(patience);
		for (int k = 0; k < PFS_PENDING_FILES; k++)
		{
			PfsPendingFile copy;
			Section		section;

			do
			{
				section = section_of(i);
				pfs_racy_copy(&copy, &places->items[k], sizeof(copy));
				pfs_fence_acquire();
			} while ((is_writing(section) || !is_same_section(section_of(i), section)) && pfs_patience_more(patience));
			if (copy.generation != 0 && copy.generation >= oldest)
				each(&copy, arg);
		}
	}
}

/* Do the numbers of a place belong to a file that is still there? */
static bool
is_of_living_file(const PfsPendingFile *p)
{
	return PFS_PENDING_WORD(p->file) != 0 &&
		(uint32) pfs_pages_word(pfs_files, PFS_PENDING_INDEX(p->file)) == PFS_PENDING_WORD(p->file);
}

/* The oldest generation whose numbers still count for their file, or for its event name. */
static uint64
oldest_of_files(void)
{
	return Max(pfs_load_relaxed(&pfs_shared_files->pushed), pfs_load_relaxed(&pfs_shared_files->cleared));
}

static uint64
oldest_of_names(void)
{
	return pfs_load_relaxed(&pfs_shared_files->cleared);
}

/* ---- readers ---- */

typedef struct PendingCopies
{
	PfsPendingFile *items;
	uint32		n;
	uint32		max;
	PfsFileSumEmit emit;
	void	   *arg;
} PendingCopies;

static void
keep_cb(const PfsPendingFile *p, void *arg)
{
	PendingCopies *copies = arg;

	if (copies->n == copies->max)
	{
		copies->max *= 2;
		copies->items = repalloc_huge(copies->items, copies->max * sizeof(PfsPendingFile));
	}
	copies->items[copies->n++] = *p;
}

static int
compare_files(const void *a, const void *b)
{
	uint64		x = ((const PfsPendingFile *) a)->file;
	uint64		y = ((const PfsPendingFile *) b)->file;

	return x < y ? -1 : x > y;
}

/* The numbers of a place as a sum that has nothing else. */
static PfsFileSum
sum_of_pending(const PfsPendingFile *p)
{
	PfsFileSum	sum = {.bytes = p->bytes, .key = p->key};
	PfsTotals	totals = {0};

	pfs_pending_file_read(p, &totals);
	pfs_shared_cell_merge(&sum.cell, &totals);
	return sum;
}

/* Hands what is pending for a file to emit; the copies are ordered by files. */
static void
emit_pending(const PendingCopies *copies, uint32 index, uint64 word)
{
	uint64		file = PFS_PENDING_FILE(index, word);
	uint32		low = 0;
	uint32		high = copies->n;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (copies->items[middle].file < file)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < copies->n && copies->items[low].file == file; low++)
	{
		PfsFileSum	sum = sum_of_pending(&copies->items[low]);

		copies->emit(index, word, &sum, copies->arg);
	}
}

/*
 * Hands the sums of all living files to emit, and what is pending of them.  A file's chain
 * stays while its state word does, so a look at the word afterwards tells whether all that was
 * read was the file's.  Until then no link is believed.
 */
static void
emit_files(const PendingCopies *pending)
{
	uint32		pos = 0;
	uint64		word;
	uint32		index;
	uint32		max = 64;
	PfsFileSum *copies = palloc(max * sizeof(PfsFileSum));

	while ((index = pfs_pages_next(pfs_files, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, index);
		uint32		link = pfs_load_acquire(&file->sums);
		uint32		n = 0;

		CHECK_FOR_INTERRUPTS();
		while (link != 0 && link <= pfs_file_sums->records_max && n < pfs_file_sums->records_max)
		{
			if (n == max)
				copies = repalloc(copies, (max *= 2) * sizeof(PfsFileSum));
			pfs_racy_copy(&copies[n], pfs_file_sum_at(link), sizeof(PfsFileSum));
			link = copies[n++].next;
		}
		pfs_fence_acquire();
		if (pfs_pages_word(pfs_files, index) != word)
			continue;
		for (uint32 i = 0; i < n; i++)
			pending->emit(index, word, &copies[i], pending->arg);
		emit_pending(pending, index, word);
	}
	pfree(copies);
}

static void
read_files(PfsPatience *patience, void *arg)
{
	PendingCopies *pending = arg;

	each_pending(oldest_of_files(), keep_cb, pending, patience);
	qsort(pending->items, pending->n, sizeof(PfsPendingFile), compare_files);
	emit_files(pending);
}

void
pfs_file_sums_each(PfsFileSumEmit emit, void *arg)
{
	PfsPatience patience = {0};
	PendingCopies pending = {.max = 64, .emit = emit, .arg = arg};

	if (pfs_files == NULL)
		return;
	pending.items = palloc(pending.max * sizeof(PfsPendingFile));
	work_without_flushes(false, read_files, &patience, &pending);
	pfree(pending.items);
}

void
pfs_file_counters_add(PfsFileCounters *to, const PfsFileSum *sum, PfsFilePart part)
{
	pfs_shared_cell_read(&sum->cell, &to->totals[part]);
	to->bytes[part] += pfs_load_relaxed(&sum->bytes);
}

static void
count_for_name_cb(const PfsPendingFile *p, void *arg)
{
	PfsFileCounters *numbers = arg;
	PfsFileSum	sum = sum_of_pending(p);

	pfs_file_counters_add(&numbers[sum.instrument], &sum, sum.part);
}

/*
 * Adds the sums of all files, the totals of removed ones and what is pending, by instrument.
 * One pass without any lock: pfs_file_sums_by_instrument() tells whether counters moved
 * meanwhile.
 */
static void
read_all(PfsFileCounters *numbers, PfsPatience *patience)
{
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	while ((index = pfs_pages_next(pfs_file_sums, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsFileSum	copy;

		/* If not, it is being freed, by a process that holds the lock. */
		if (pfs_pages_copy(pfs_file_sums, index, 0, &copy, sizeof(copy), &word))
			pfs_file_counters_add(&numbers[copy.instrument], &copy, copy.part);
	}
	for (uint32 i = 0; i < totals_used(); i++)
		pfs_file_counters_add(&numbers[i / PFS_NUM_FILE_PARTS], &pfs_file_totals[i],
							  i % PFS_NUM_FILE_PARTS);
	each_pending(oldest_of_names(), count_for_name_cb, numbers, patience);
}

/* Reads until nothing has moved meanwhile. */
static void
read_names(PfsPatience *patience, void *arg)
{
	PfsFileCounters *numbers = arg;

	for (int tries = 0; tries < READ_TRIES; tries++)
	{
		uint64		word = pfs_seqlock_read_begin(&pfs_shared_files->moving);

		CHECK_FOR_INTERRUPTS();
		memset(numbers, 0, pfs_instruments->max * sizeof(PfsFileCounters));
		read_all(numbers, patience);
		if (pfs_seqlock_read_valid(&pfs_shared_files->moving, word))
			break;
		pfs_patience_next(patience);
		while ((pfs_seqlock_read_begin(&pfs_shared_files->moving) & 1) != 0 && pfs_patience_more(patience))
			;
		if (patience->has_run_out)
			break;
	}
}

/*
 * Fills an array with the counters of file calls by instrument.  If counters never
 * stop moving, some may be missing, or counted twice: the reading then counts as
 * inexact.
 */
void
pfs_file_sums_by_instrument(PfsFileCounters *numbers)
{
	PfsPatience patience = {0};

	if (pfs_files == NULL)
		return;
	work_without_flushes(false, read_names, &patience, numbers);
}

/* ---- truncation ---- */

static void
count_of_files_cb(const PfsPendingFile *p, void *arg)
{
	if (is_of_living_file(p))
		*(int64 *) arg += (int64) p->timed + p->untimed;
}

static void
count_cb(const PfsPendingFile *p, void *arg)
{
	*(int64 *) arg += (int64) p->timed + p->untimed;
}

/*
 * Begins a generation whose first truncation is this one, in *truncated, and counts
 * what is pending of the older ones, from `oldest` on.  Behind the fence no process adds to
 * places of an older generation, as it loads the generation inside its section.
 */
static int64
begin_generation(uint64 *truncated, uint64 oldest, PendingEach count, PfsPatience *patience)
{
	uint64		generation = pfs_load_relaxed(&pfs_words->file_truncations) + 1;
	int64		events = 0;

	pfs_store_relaxed(truncated, generation);
	pfs_store_release(&pfs_words->file_truncations, generation);
	pfs_fence_everywhere();
	wait_for_sections(patience);
	each_pending(oldest, count, &events, patience);
	return events;
}

/* Moves the counters of all files to the totals by instrument; *arg: how many events. */
static void
push(PfsPatience *patience, void *arg)
{
	int64	   *events = arg;
	bool		locked = lock(patience);
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	*events = begin_generation(&pfs_shared_files->pushed, oldest_of_files(), count_of_files_cb, patience);
	while ((index = pfs_pages_next(pfs_files, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, index);
		uint32		n = 0;

		/*
		 * Holding the lock, no chain is freed: also not one removed
		 * meanwhile.  Without it no link is believed.
		 */
		for (uint32 link = pfs_load_acquire(&file->sums);
			 link != 0 && link <= pfs_file_sums->records_max && n < pfs_file_sums->records_max;
			 link = pfs_file_sum_at(link)->next, n++)
			*events += pfs_file_sum_move(pfs_file_sum_at(link));
	}
	unlock(locked);
}

/* As TRUNCATE of a table by instance does; returns how many events have left it. */
int64
pfs_file_sums_push(void)
{
	PfsPatience patience = {.of_reset = true};
	int64		events = 0;

	if (pfs_files == NULL)
		return 0;
	work_without_flushes(true, push, &patience, &events);
	pfs_reset_time_note("file_summary_by_instance");
	pfs_reset_time_note("events_waits_summary_by_instance");
	return events;
}

/* Empties the counters of all files and the totals; *arg: how many events they had. */
static void
clear(PfsPatience *patience, void *arg)
{
	int64	   *events = arg;
	bool		locked = lock(patience);
	PfsTotals	totals = {0};
	uint64		bytes = 0;
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	*events = begin_generation(&pfs_shared_files->cleared, oldest_of_names(), count_cb, patience);
	while ((index = pfs_pages_next(pfs_file_sums, &pos, &word)) != PFS_NO_RECORD)
		pfs_file_sum_take(pfs_pages_record(pfs_file_sums, index), &totals, &bytes);
	for (uint32 i = 0; i < totals_used(); i++)
		pfs_file_sum_take(&pfs_file_totals[i], &totals, &bytes);
	unlock(locked);
	*events += (int64) pfs_totals_count(&totals);
}

/* As TRUNCATE of file_summary_by_event_name does; returns how many events have left it. */
int64
pfs_file_sums_clear(void)
{
	PfsPatience patience = {.of_reset = true};
	int64		events = 0;

	if (pfs_files == NULL)
		return 0;
	work_without_flushes(true, clear, &patience, &events);
	pfs_reset_time_note("file_summary_by_event_name");
	pfs_reset_time_note("file_summary_by_instance");
	pfs_reset_time_note("events_waits_summary_by_instance");
	return events;
}

double
pfs_file_sums_estimate(void)
{
	return pfs_file_sums == NULL ? 0 : pfs_load_relaxed(&pfs_file_sums->used);
}
