/*
 * pfs_file_sum.c
 *	  Sums of file calls: adding to them, and moving a removed file's sums.
 *
 * Separate from pfs_file.c, as its records have a protocol of their own; readers and
 * truncation are in pfs_file_sum_read.c.
 *
 * Every file has a chain of records, one per instrument and part (read, write,
 * misc), from an atomic head in PfsFile (pfs_chain.h).  It is freed as a whole, long
 * after its file was removed.
 *
 * What has no record (no instance, or no room for one) is added to the totals of
 * its event name.  Most calls are counted in places of their process first
 * (pfs_file_pending.h), and reach a record when a place is needed for another.  So the event
 * names have the sum of all records of the container, of pfs_file_totals, and of what is
 * pending.
 *
 * Who may free a record.  A process that adds to a file writes the file's
 * number into file_in_use of its thread record, then looks at the file's state
 * word, and adds only if the file is still the same; else to the event name.
 * After that it clears file_in_use.  Who removes a file changes the state word
 * first; the file is then a tombstone for as long as PFS_FILE_TOMBSTONES others
 * are removed, and its chain stays where it is and goes on counting (late calls
 * that saw the old word are among them).  Only then file_in_use of all threads
 * is looked at, and if none names the file nobody can come to the chain any more:
 * its sums are added to the event names, and the records are free.  If one
 * does, which takes a process that was descheduled between two instructions, the
 * file waits for a later removal.
 *
 * Between the store to file_in_use and the load of the state word there is no
 * fence: what would be needed is that the store is visible before all those
 * further removals, each of them a system call at least, are over, and stores
 * do not stay in a processor that long.  (A container of less than four files
 * has no tombstones: there the distance is that between the compare-and-swap of
 * the removal and the look at the threads.)
 *
 * The lock.  Freeing, pushing and clearing move counters from one place to
 * another, one process at a time.  The lock is the sequence word `moving`: odd
 * while it is held.  Instrument points only try it; SQL commands wait.  Whoever
 * adds does not care: taking a record's counters is an exchange of each word.
 * So a reader of sums over all records knows from the word whether any counter
 * moved under it.
 */
#include "postgres.h"

#include "pfs_file_sum.h"
#include "pfs_shared.h"

PFS_FIXED PfsPages *pfs_file_sums = NULL;
PFS_FIXED PfsFileSum *pfs_file_totals = NULL;

static uint32 hint;

/* A file is opened, closed, read, written, extended and synced, or some of it. */
#define SUMS_PER_FILE 6
#define SUMS_PER_PAGE 1024

static size_t
totals_size(void)
{
	return (size_t) pfs_sizes.instruments * PFS_NUM_FILE_PARTS * sizeof(PfsFileSum);
}

size_t
pfs_file_sums_beside(void)
{
	return totals_size() + pfs_pending_files_size();
}

void
pfs_file_sums_lay_out(PfsSegment *seg)
{
	PfsPagesSpec spec = {"file_events", sizeof(PfsFileSum), pfs_sizes.files * SUMS_PER_FILE, SUMS_PER_PAGE};

	pfs_file_sums = pfs_pages_create(seg, &spec);
	pfs_file_totals = pfs_segment_take(seg, totals_size(), PFS_CACHE_LINE);
}

/* This process holds the lock. */
static bool has_lock = false;

static inline PfsFileSum *
total_of(PfsInstrumentId instrument, PfsFilePart part)
{
	return &pfs_file_totals[instrument * PFS_NUM_FILE_PARTS + part];
}

/*
 * Says that this process is about to look at a file; NULL: it has gone.  leave() takes it
 * back: until then neither the record nor its chain is freed.
 */
static PfsFile *
enter(PfsThread *t, uint64 file)
{
	uint32		index = PFS_PENDING_INDEX(file);

	if (PFS_PENDING_WORD(file) == 0)
		return NULL;
	pfs_store_relaxed(&t->file_in_use, index + 1);
	pfs_fence_signal();
	return (uint32) pfs_pages_word(pfs_files, index) == PFS_PENDING_WORD(file) ? pfs_pages_record(pfs_files, index) : NULL;
}

static void
leave(PfsThread *t)
{
	pfs_store_release(&t->file_in_use, 0);
}

/* The sum of a file that was entered; NULL: there is no room. */
static PfsFileSum *
sum_of(PfsFile *file, uint32 key)
{
	PfsFileSum	wanted = {.key = key};
	uint16		no_event = 0;

	if (pfs_load_relaxed(&file->first_event) == 0)
		(void) pfs_cas(&file->first_event, &no_event, (uint16) (wanted.instrument + 1));
	return (PfsFileSum *) pfs_chain_get(pfs_file_sums, &file->sums, key, &hint);
}

bool
pfs_file_sum_make(PfsThread *t, uint64 file, uint32 key)
{
	PfsFile    *record = enter(t, file);
	bool		is_there = record == NULL || sum_of(record, key) != NULL;

	leave(t);
	return is_there;
}

/*
 * Adds to the sum of a file, or to the totals of the event name: of a call without a file, on
 * one that was removed, or for which there is no room.  Inside the owner's write section.
 */
static void
add(PfsThread *t, uint64 file, uint32 key, uint64 bytes, const PfsTotals *totals)
{
	PfsFileSum	wanted = {.key = key};
	PfsFile    *record = enter(t, file);
	PfsFileSum *sum = record != NULL ? sum_of(record, key) : NULL;

	if (sum == NULL)
		sum = total_of(wanted.instrument, wanted.part);
	if (bytes != 0)
		pfs_add_relaxed(&sum->bytes, bytes);
	pfs_shared_cell_merge(&sum->cell, totals);
	leave(t);
}

void
pfs_file_sum_at_once(PfsThread *t, const PfsWait *e, uint64 ticks)
{
	PfsFilePart part = pfs_file_part(e->operation);
	bool		timed = (e->flags & PFS_FLAG_TIMED) != 0;
	PfsTotals	totals = {.count_timed = timed, .count_untimed = !timed, .sum = ticks, .min = ticks, .max = ticks};
	uint64		file = e->object_type == PFS_OBJECT_FILE ? PFS_PENDING_FILE(e->object.file.index, e->object.file.word) : 0;
	int64		bytes = part != PFS_FILE_MISC ? pfs_wait_bytes(e) : 0;

	add(t, file, PFS_FILE_KEY(e->instrument, part), Max(bytes, 0), &totals);
}

/* Numbers of before a truncation go to the event name, or nowhere. */
void
pfs_file_sum_merge(PfsThread *t, const PfsPendingFile *p)
{
	PfsTotals	totals = {0};

	if (p->generation < pfs_load_relaxed(&pfs_shared_files->cleared))
		return;
	pfs_pending_file_read(p, &totals);
	add(t, p->generation < pfs_load_relaxed(&pfs_shared_files->pushed) ? 0 : p->file, p->key, p->bytes, &totals);
}

/* ---- removal of files ---- */

bool
pfs_file_sums_try_lock(void)
{
	uint64		word = pfs_load_relaxed(&pfs_shared_files->moving.word);

	if ((word & 1) != 0 || !pfs_cas(&pfs_shared_files->moving.word, &word, word + 1))
		return false;
	has_lock = true;
	pfs_fence_release();		/* A of pfs_seqlock.h */
	return true;
}

void
pfs_file_sums_unlock(void)
{
	has_lock = false;
	pfs_seqlock_write_end(&pfs_shared_files->moving);
}

bool
pfs_file_sums_repair(void)
{
	bool		had_lock = has_lock;

	if (had_lock)
		pfs_file_sums_unlock();
	return had_lock;
}

/*
 * Tells which of these removed files (at most 64) a process still counts a call for, as
 * a bit each.  It looks at each thread once and waits for none.
 */
uint64
pfs_file_sums_in_use(const uint32 *files, int n)
{
	uint64		in_use = 0;
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	pfs_fence_seqcst();
	while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, index);
		uint32		file = pfs_load_acquire(&t->file_in_use);

		if (file == 0)
			continue;
		for (int i = 0; i < n; i++)
		{
			if (files[i] == file - 1)
				in_use |= UINT64_C(1) << i;
		}
	}
	return in_use;
}

/*
 * Takes a sum's counters away, by exchanges, and adds them to *totals and *bytes.
 * Records that have counted nothing, as most have, are left alone, as an exchange costs
 * more than a look.
 */
void
pfs_file_sum_take(PfsFileSum *sum, PfsTotals *totals, uint64 *bytes)
{
	/* An exchange costs more than a look; most records of a server are idle. */
	if (pfs_load_relaxed(&sum->cell.count_timed) + pfs_load_relaxed(&sum->cell.count_untimed) == 0)
		return;
	pfs_shared_cell_take(&sum->cell, totals);
	*bytes += pfs_exchange(&sum->bytes, 0);
}

/*
 * Moves a sum's counters to the totals of its event name, and returns how many events
 * they are.  The caller holds the lock.
 */
int64
pfs_file_sum_move(PfsFileSum *sum)
{
	PfsFileSum *total = total_of(sum->instrument, sum->part);
	PfsTotals	totals = {0};
	uint64		bytes = 0;

	pfs_file_sum_take(sum, &totals, &bytes);
	pfs_shared_cell_merge(&total->cell, &totals);
	if (bytes > 0)
		pfs_add_relaxed(&total->bytes, bytes);
	return (int64) pfs_totals_count(&totals);
}

static void
move_cb(PfsChained *cell, void *arg)
{
	pfs_file_sum_move((PfsFileSum *) cell);
}

void
pfs_file_sums_free(PfsFile *file)
{
	pfs_chain_free(pfs_file_sums, &file->sums, move_cb, NULL);
}
