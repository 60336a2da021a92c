/*
 * pfs_table_files.c
 *	  file_instances, file_summary_by_event_name, file_summary_by_instance: the
 *	  server's files and what was done with them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_by_instance.h"
#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_tables.h"
#include "pfs_tw.h"
#include "pfs_value.h"

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

enum
{
	FILES_FILE_NAME,
	FILES_EVENT_NAME,
	FILES_OPEN_COUNT,
};

static const PfsColumn files_columns[] = {
	[FILES_FILE_NAME] = {"file_name", TEXTOID, .width = 24},
	[FILES_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	[FILES_OPEN_COUNT] = {"open_count", INT8OID},
};

static double
files_estimate(void)
{
	return pfs_files == NULL ? 0 : pfs_load_relaxed(&pfs_files->used);
}

static void
files_copy(PfsScan *scan)
{
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	if (pfs_files == NULL)
		return;
	while ((index = pfs_pages_next(pfs_files, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsFile *file = pfs_pages_record(pfs_files, index);
		FileRow		copy = {.open_count = pfs_load_relaxed(&file->open_count),
		.first_event = pfs_load_relaxed(&file->first_event)};

		CHECK_FOR_INTERRUPTS();
		if (scan->instrument != PFS_NO_INSTRUMENT && copy.first_event != scan->instrument + 1)
			continue;
		/* Its name is there with this word: so was the rest. */
		if (pfs_file_name(index, word, copy.name) && pfs_pages_word(pfs_files, index) == word)
			*(FileRow *) pfs_scan_add(scan) = copy;
	}
}

static Datum
files_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const FileRow *file = row;

	switch (column)
	{
		case FILES_FILE_NAME:
			return pfs_text_datum(file->name);
		case FILES_EVENT_NAME:
			return file->first_event == 0 ? pfs_null(isnull)
				: pfs_event_name_datum(file->first_event - 1, isnull);
		case FILES_OPEN_COUNT:
			return Int64GetDatum(file->open_count);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_file_instances = {
	.name = "file_instances",
	.row_is = "one file that the server has opened and that is still there",
	.truncate_effect = "refused",
	.columns = files_columns,
	.ncolumns = lengthof(files_columns),
	.row_size = sizeof(FileRow),
	.estimate = files_estimate,
	.copy = files_copy,
	.get = files_get,
};

/* The parts are those of pfs_tw.h. */
StaticAssertDecl((int) PFS_FILE_READ == PFS_CALLS_READ && (int) PFS_FILE_WRITE == PFS_CALLS_WRITE &&
				 (int) PFS_FILE_MISC == PFS_CALLS_MISC, "parts in another order");

/*
 * file_summary_by_event_name
 */
typedef struct EventRow
{
	PfsInstrumentId instrument;
	PfsFileNumbers numbers;
} EventRow;

enum
{
	EVENT_EVENT_NAME,
	EVENT_NUMBERS,
};

static const PfsColumn event_columns[] = {
	[EVENT_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	PFS_CALLS_COLUMNS(EVENT_NUMBERS),
};

/* A guess: the kinds of calls that a server has made after a while. */
#define USUAL_EVENT_NAMES 40

static double
event_estimate(void)
{
	return USUAL_EVENT_NAMES;
}

static void
event_copy(PfsScan *scan)
{
	uint32		n = pfs_instruments == NULL ? 0 : pfs_instruments->max;
	PfsFileNumbers *numbers;

	if (n == 0)
		return;
	numbers = palloc_extended(n * sizeof(PfsFileNumbers), MCXT_ALLOC_HUGE);
	pfs_file_sums_by_instrument(numbers);
	for (uint32 i = 0; i < n; i++)
	{
		PfsTotals	all = {0};
		EventRow   *row;

		pfs_calls_add(&all, numbers[i].totals);
		if (pfs_totals_count(&all) == 0 ||
			(scan->instrument != PFS_NO_INSTRUMENT && i != scan->instrument))
			continue;
		row = pfs_scan_add(scan);
		row->instrument = i;
		row->numbers = numbers[i];
	}
	pfree(numbers);
}

static Datum
event_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const EventRow *event = row;

	if (column == EVENT_EVENT_NAME)
		return pfs_event_name_datum(event->instrument, isnull);
	return pfs_calls_get(event->numbers.totals, event->numbers.bytes, column - EVENT_NUMBERS);
}

const PfsTable pfs_table_file_summary_by_event_name = {
	.name = "file_summary_by_event_name",
	.row_is = "one event name of file calls, over all files, removed ones too",
	.truncate_effect = "empties it, and sets the numbers of all files to zero",
	.columns = event_columns,
	.ncolumns = lengthof(event_columns),
	.row_size = sizeof(EventRow),
	.estimate = event_estimate,
	.copy = event_copy,
	.get = event_get,
	.truncate = pfs_file_sums_clear,
	.in_reset_all = true,
};

/*
 * file_summary_by_instance
 */
typedef struct InstanceRow
{
	uint32		file;
	uint64		word;
	const char *name;			/* one for all rows of the file */
	PfsInstrumentId instrument;
	PfsFileNumbers numbers;
} InstanceRow;

enum
{
	INSTANCE_FILE_NAME,
	INSTANCE_EVENT_NAME,
	INSTANCE_OBJECT_INSTANCE_BEGIN,
	INSTANCE_NUMBERS,
};

static const PfsColumn instance_columns[] = {
	[INSTANCE_FILE_NAME] = {"file_name", TEXTOID, .width = 24},
	[INSTANCE_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	[INSTANCE_OBJECT_INSTANCE_BEGIN] = {"object_instance_begin", INT8OID},
	PFS_CALLS_COLUMNS(INSTANCE_NUMBERS),
};

/* NULL if it has just gone. */
static const char *
copy_name(PfsScan *scan, uint32 file, uint64 word)
{
	char		name[PFS_FILE_NAME_SIZE];

	return pfs_file_name(file, word, name) ? MemoryContextStrdup(scan->rows_context, name) : NULL;
}

static void
add_sum_cb(uint32 file, uint64 word, const PfsFileSum *sum, void *arg)
{
	PfsScan    *scan = arg;
	InstanceRow *row = NULL;
	const char *name = NULL;

	if (scan->instrument != PFS_NO_INSTRUMENT && sum->instrument != scan->instrument)
		return;
	/* All records of a file come one after the other. */
	for (Size i = scan->nrows; i-- > 0;)
	{
		InstanceRow *other = (InstanceRow *) scan->rows + i;

		if (other->file != file || other->word != word)
			break;
		name = other->name;
		if (other->instrument == sum->instrument)
			row = other;
	}
	if (row == NULL)
	{
		if (name == NULL && (name = copy_name(scan, file, word)) == NULL)
			return;
		row = pfs_scan_add(scan);
		row->name = name;
		row->file = file;
		row->word = word;
		row->instrument = sum->instrument;
	}
	pfs_file_numbers_add(&row->numbers, sum, sum->part);
}

static void
instance_copy(PfsScan *scan)
{
	pfs_file_sums_each(add_sum_cb, scan);
}

static Datum
instance_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const InstanceRow *instance = row;

	switch (column)
	{
		case INSTANCE_FILE_NAME:
			return pfs_text_datum(instance->name);
		case INSTANCE_EVENT_NAME:
			return pfs_event_name_datum(instance->instrument, isnull);
		case INSTANCE_OBJECT_INSTANCE_BEGIN:
			return Int64GetDatum((int64) (uintptr_t) pfs_pages_record(pfs_files, instance->file));
	}
	return pfs_calls_get(instance->numbers.totals, instance->numbers.bytes, column - INSTANCE_NUMBERS);
}

static int64
instance_truncate(void)
{
	return pfs_instances_push(PFS_INSTANCE_FILE);
}

const PfsTable pfs_table_file_summary_by_instance = {
	.name = "file_summary_by_instance",
	.row_is = "one event name and one file that is still there",
	.truncate_effect = "adds its numbers to the event names and sets them to zero, in all tables by instance",
	.columns = instance_columns,
	.ncolumns = lengthof(instance_columns),
	.row_size = sizeof(InstanceRow),
	.estimate = pfs_file_sums_estimate,
	.copy = instance_copy,
	.get = instance_get,
	.truncate = instance_truncate,
	.in_reset_all = true,
};
