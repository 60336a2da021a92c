/*
 * pfs_file_sum.c
 *	  Sums of file calls: adding to them, and moving a removed file's sums.
 *
 * Separate from pfs_file.c, as its records have a protocol of their own; readers and truncation
 * are in pfs_file_sum_read.c.
 *
 * Every file has a chain of records, one per instrument and part (read, write, misc), from an
 * atomic head in PfsFile (pfs_chain.h).  It is freed as a whole, long after its file was
 * removed.
 *
 * What has no record (no instance, or no room for one) is added to the totals of its event name
 * and of what such files are for, which every sum and place says.  Most calls are counted in
 * places of their process first (pfs_pending.h), and reach a record when a place is needed for
 * another.  So the event names have the sum of all records of the container, of
 * pfs_file_totals, and of what is pending.
 *
 * Who may free a record.  ../ledger/README.md has how a process says that it adds to a file, and how
 * others see that.  A removed file is a tombstone for as long as PFS_FILE_TOMBSTONES others are
 * removed, and its chain stays where it is and goes on counting (late calls that saw the old
 * state word are among them).  Only then object_in_use of all threads is looked at, and if none
 * names the file its sums are added to the event names, and the records are free.  If one does,
 * the file waits for a later removal.  Each of those removals is a system call at least, which
 * is the time that the ledger asks for.  (A container of less than four files has no
 * tombstones: there the distance is that between the compare-and-swap of the removal and the
 * look at the threads.)
 *
 * Whoever frees a chain moves its counters as a flush does, inside a write section of its thread and while no reader or
 * truncator forbids it (pfs_may_move()).  Others may add meanwhile: taking a sum's counters is an exchange of each word.
 */
#include "postgres.h"

#include "pfs_fd.h"
#include "pfs_file_sum.h"
#include "pfs_shared.h"

PFS_FIXED PfsPages *pfs_file_sums = NULL;
PFS_FIXED PfsChained *pfs_file_totals[PFS_NUM_FILE_USES];

static uint32 hint;

/* A file is opened, closed, read, written, extended and synced, or some of it. */
#define SUMS_PER_FILE 6
#define SUMS_PER_PAGE 1024

void
pfs_file_sums_lay_out(PfsSegment *seg)
{
	pfs_file_sums = pfs_pages_create(seg, "file_events", sizeof(PfsChained), pfs_sizes.files * SUMS_PER_FILE,
									 SUMS_PER_PAGE);
	for (int use = 0; use < PFS_NUM_FILE_USES; use++)
		pfs_file_totals[use] = pfs_segment_take(seg, pfs_calls_totals_size(), PFS_CACHE_LINE);
}

/* The total of a key's event name and use. */
static inline PfsChained *
total_of(uint32 key)
{
	return pfs_calls_total(pfs_file_totals[PFS_FILE_KEY_USE(key)], PFS_CALLS_INSTRUMENT(key), PFS_CALLS_PART(key));
}

/*
 * What a file is for that a call was on.  It can have gone since, when its tombstone still says
 * it: only if that has gone, too, while the call went on, nobody knows.
 */
static PfsFileUse
use_of(uint64 file)
{
	uint32		index = PFS_COUNTED_INDEX(file);
	PfsFileUse	use;

	if (PFS_COUNTED_WORD(file) == 0)
		return pfs_file_use(index);
	use = pfs_file_use(((const PfsFile *) pfs_pages_record(pfs_files, index))->kind);
	pfs_fence_acquire();
	if ((((uint32) pfs_pages_word(pfs_files, index) ^ PFS_COUNTED_WORD(file)) & ~PFS_STATE_MASK) != 0)
		return PFS_USE_OTHER;
	return use;
}

/*
 * The sum of a file that was entered; NULL: there is no room.  key: with the use, which is the
 * file's own.
 */
static PfsChained *
sum_of(PfsFile *file, uint32 key)
{
	uint16		no_event = 0;

	if (pfs_load_relaxed(&file->first_event) == 0)
		(void) pfs_cas(&file->first_event, &no_event, (uint16) (PFS_CALLS_INSTRUMENT(key) + 1));
	return pfs_chain_get(pfs_file_sums, &file->sums, key, &hint);
}

/* ---- what is pending ---- */

/*
 * Counts a call in the place of its file, for which one is taken if there is none, or in the sums of
 * the file if none can be had.
 */
PfsPendingCalls *
pfs_file_sum(PfsThread *t, const PfsWait *e, uint64 end)
{
	uint64		file = likely(e->object_type == PFS_OBJECT_FILE) ? e->object.file.counted : 0;
	uint32		key = pfs_calls_key(e);
	PfsPendingCalls *p = (PfsPendingCalls *) pfs_pending_find(PFS_COUNTED_FILES, &pfs_pending_file_shape, file, key);

	if (unlikely(p == NULL))
	{
		p = pfs_pending_calls_get(t, PFS_COUNTED_FILES, file, key);
		p->place.note = use_of(file);
	}
	pfs_pending_calls_count(p, e, end);
	return pfs_pending_put(t, PFS_COUNTED_FILES, &p->place) ? p : NULL;
}

/* Gives a file the sum in which a place's calls will be counted. */
static bool
make_cb(void *file, uint32 key)
{
	return sum_of(file, PFS_FILE_KEY(key, pfs_file_use(((const PfsFile *) file)->kind))) != NULL;
}

/*
 * Adds to the sum of a file, or (NULL) to the totals of the event name: of calls without a file, on one that was
 * removed, or for which there is no room.
 */
static void
add_cb(void *file, const PfsPending *place)
{
	uint32		key = PFS_FILE_KEY(place->key, place->note);
	PfsTotals	totals = pfs_pending_calls_totals(place);
	PfsChained *sum = file != NULL ? sum_of(file, key) : NULL;

	pfs_calls_add(sum != NULL ? sum : total_of(key), &totals, pfs_pending_calls_bytes(place));
}

PfsChained
pfs_file_sum_of_pending(const PfsPending *place)
{
	PfsChained	sum = {.bytes = pfs_pending_calls_bytes(place), .key = PFS_FILE_KEY(place->key, place->note)};
	PfsTotals	totals = pfs_pending_calls_totals(place);

	pfs_shared_cell_merge(&sum.cell, &totals);
	return sum;
}

const PfsCountedKind pfs_counted_files = {
	.shape = &pfs_pending_file_shape,
	.objects = &pfs_files,
	.make = make_cb,
	.add = add_cb,
	.leave = pfs_fd_leave_place,
	.events = pfs_pending_calls_events,
};

/* ---- removal of files ---- */

/*
 * Moves a sum's counters to the totals of its event name, and returns how many events
 * they are.
 */
int64
pfs_file_sum_move(PfsChained *sum)
{
	PfsTotals	totals = {0};
	uint64		bytes = 0;

	pfs_calls_take(sum, &totals, &bytes);
	pfs_calls_add(total_of(sum->key), &totals, bytes);
	return (int64) pfs_totals_count(&totals);
}

static void
move_cb(PfsChained *cell, void *arg)
{
	pfs_file_sum_move(cell);
}

void
pfs_file_sums_free(PfsFile *file)
{
	pfs_chain_free(pfs_file_sums, &file->sums, move_cb, NULL);
}
