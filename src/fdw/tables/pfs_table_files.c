/*
 * pfs_table_files.c
 *	  file_instances, file_summary_by_event_name, file_summary_by_instance,
 *	  file_summary_by_kind: the server's files and what was done with them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

/*
 * file_instances
 */
typedef struct FileRow
{
	uint32		file;
	uint64		word;
	uint32		open_count;
	uint16		first_event;	/* as in PfsFile */
	char		name[PFS_FILE_NAME_SIZE];
} FileRow;

#define FILES_COLUMNS(X, t) \
	X(t, file_name, text, none, row->name, \
	  "Path below the data directory; cut at the front if longer than 1,024 bytes.", .width = 24) \
	X(t, event_name, text, none, pfs_event_name(row->first_event - 1), \
	  "The instrument of the first event on the file; NULL if there was none, or no room for its numbers.", \
	  .width = 30, .key = PFS_KEY_EVENT_NAME) \
	X(t, open_count, bigint, count, row->open_count, "Descriptors that processes of the server hold now.")

PFS_COLUMNS(files, FileRow, FILES_COLUMNS)

/* Copies the files one by one; one that is removed meanwhile is left out. */
static void
files_copy(PfsScan *scan)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, at.index);
		FileRow		copy;

		CHECK_FOR_INTERRUPTS();
		copy.open_count = pfs_load_relaxed(&file->open_count);
		copy.first_event = pfs_load_relaxed(&file->first_event);
		if (scan->instrument != PFS_NO_INSTRUMENT && copy.first_event != scan->instrument + 1)
			continue;
		/* The name still belongs to this state word, so the rest did, too. */
		if (pfs_file_name(at.index, at.word, copy.name) && pfs_pages_word(pfs_files, at.index) == at.word)
			*(FileRow *) pfs_scan_add(scan) = copy;
	}
}

const PfsTable pfs_table_file_instances = {
	PFS_TABLE("file_instances", files, "MySQL",
			  "one file that the server has opened and that is still there",
			  "refused",
			  "Files that the server has opened and that are still there. One row per path."),
	.containers = {&pfs_files},
	.copy = files_copy,
};

/*
 * file_summary_by_event_name
 */
#define NUMBERS_COLUMNS(X, t) \
	PFS_CALLS_COLUMNS(X, t, &row->calls, \
					  "Number of reads.", "Number of writes, copies into the file among them.", \
					  "Number of other calls.", "Bytes that the reads brought.", \
					  "Bytes that the writes took.")

#define EVENT_COLUMNS(X, t) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 30) \
	NUMBERS_COLUMNS(X, t)

PFS_COLUMNS(event, PfsCallsRow, EVENT_COLUMNS)

/* A guess: the kinds of calls that a server has made after a while. */
#define USUAL_EVENT_NAMES 40

static void
add_call_cb(uint32 file, uint64 word, const PfsChained *sum, void *arg)
{
	pfs_calls_read(sum, (PfsCalls *) arg + PFS_CALLS_INSTRUMENT(sum->key), PFS_CALLS_PART(sum->key));
}

static void
event_copy(PfsScan *scan)
{
	PfsCalls   *calls = palloc_extended(pfs_instruments->max * sizeof(PfsCalls), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	pfs_file_sums_each(true, add_call_cb, calls);
	pfs_calls_add_rows(scan, calls);
	pfree(calls);
}

const PfsTable pfs_table_file_summary_by_event_name = {
	PFS_TABLE("file_summary_by_event_name", event, "MySQL",
			  "one event name of file calls, over all files, removed ones too",
			  "empties it, and sets the numbers of all files to zero",
			  "File calls by event name, over all files: those that are still there, removed ones, and calls "
			  "without a file of their own. TRUNCATE empties it and sets the numbers of all files to zero."),
	.usual_rows = USUAL_EVENT_NAMES,
	.copy = event_copy,
	.truncate = pfs_file_sums_clear,
	.in_reset_all = true,
};

/*
 * file_summary_by_instance and file_summary_by_kind
 */
typedef struct SumRow
{
	PfsFileUse	use;			/* by kind */
	uint32		file;			/* PFS_NO_RECORD: of no file that is there */
	const char *name;			/* one for all rows of the file */
	PfsInstrumentId instrument;
	PfsCalls	calls;
} SumRow;

/* Copies a file's name for all of its rows; NULL if the file has just been removed. */
static const char *
copy_name(PfsScan *scan, uint32 file, uint64 word)
{
	char		name[PFS_FILE_NAME_SIZE];

	return pfs_file_name(file, word, name) ? MemoryContextStrdup(scan->rows_context, name) : NULL;
}

/* The row of a file's instrument and use; NULL: there is none yet.  Rows of one file come together. */
static SumRow *
find_row(const PfsScan *scan, uint32 file, PfsInstrumentId instrument, PfsFileUse use)
{
	SumRow	   *rows = (SumRow *) scan->rows;

	for (Size i = scan->nrows; i > 0 && rows[i - 1].file == file; i--)
	{
		if (rows[i - 1].instrument == instrument && rows[i - 1].use == use)
			return &rows[i - 1];
	}
	return NULL;
}

/* Adds one sum to the row of its file and instrument, and by kind of its use. */
static void
add_sum_cb(uint32 file, uint64 word, const PfsChained *sum, void *arg)
{
	PfsScan    *scan = arg;
	bool		by_kind = scan->table == &pfs_table_file_summary_by_kind;
	PfsInstrumentId instrument = PFS_CALLS_INSTRUMENT(sum->key);
	PfsFileUse	use = by_kind ? PFS_FILE_KEY_USE(sum->key) : PFS_USE_OTHER;
	const SumRow *last = scan->nrows > 0 ? (SumRow *) scan->rows + scan->nrows - 1 : NULL;
	SumRow	   *row;

	if (scan->instrument != PFS_NO_INSTRUMENT && instrument != scan->instrument)
		return;
	row = find_row(scan, file, instrument, use);
	if (row == NULL)
	{
		const char *name = last != NULL && last->file == file ? last->name : NULL;

		if (name == NULL && file != PFS_NO_RECORD)
			name = copy_name(scan, file, word);
		if (name == NULL && !by_kind)
			return;
		row = pfs_scan_add(scan);
		row->use = use;
		row->file = file;
		row->name = name;
		row->instrument = instrument;
	}
	pfs_calls_read(sum, &row->calls, PFS_CALLS_PART(sum->key));
}

static void
instance_copy(PfsScan *scan)
{
	pfs_file_sums_each(false, add_sum_cb, scan);
}

static void
kind_copy(PfsScan *scan)
{
	pfs_file_sums_each(true, add_sum_cb, scan);
}

#define INSTANCE_COLUMNS(X, t) \
	X(t, file_name, text, none, row->name, \
	  "Path below the data directory; cut at the front if longer than 1,024 bytes.", .width = 24) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 30) \
	X(t, object_instance_begin, bigint, none, (uintptr_t) pfs_pages_record(pfs_files, row->file), \
	  "Identifies the object, as in events_waits_current.") \
	NUMBERS_COLUMNS(X, t)

PFS_COLUMNS(instance, SumRow, INSTANCE_COLUMNS)

const PfsTable pfs_table_file_summary_by_instance = {
	PFS_TABLE("file_summary_by_instance", instance, "MySQL",
			  "one event name and one file that is still there",
			  "adds its numbers to the event names and sets them to zero, in all tables by instance",
			  "File calls by file and event name; files that are still there only. TRUNCATE adds the numbers to "
			  "the event names and sets them to zero, here and in events_waits_summary_by_instance."),
	.containers = {&pfs_file_sums},
	.copy = instance_copy,
	.truncate_part = pfs_instances_push,
	.in_reset_all = true,
};

static const char *const use_names[PFS_NUM_FILE_USES] = {
	[PFS_USE_RELATION] = "relation",
	[PFS_USE_TEMPORARY] = "temporary",
	[PFS_USE_WAL] = "WAL",
	[PFS_USE_SLRU] = "SLRU",
	[PFS_USE_OTHER] = "other",
};

#define KIND_COLUMNS(X, t) \
	X(t, kind, text, none, use_names[row->use], \
	  "relation, temporary (relations of sessions, and files of sorts and the like), WAL, SLRU or other.", .width = 9) \
	X(t, file_name, text, none, row->name, \
	  "As in file_summary_by_instance; NULL: what files that were removed or renamed have counted, calls without " \
	  "a file, and what a TRUNCATE by instance has taken from the others.", .width = 24) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 30) \
	NUMBERS_COLUMNS(X, t)

PFS_COLUMNS(kind, SumRow, KIND_COLUMNS)

const PfsTable pfs_table_file_summary_by_kind = {
	PFS_TABLE("file_summary_by_kind", kind, "own",
			  "one event name and one file that is still there, or all that have gone of its kind",
			  "refused",
			  "File calls by kind of file, file and event name, of one moment: the rows of "
			  "file_summary_by_instance, and for each kind what no file that is there has. So a kind's rows add up "
			  "to what was counted, whatever was removed; all kinds to file_summary_by_event_name."),
	.containers = {&pfs_file_sums},
	.copy = kind_copy,
};
