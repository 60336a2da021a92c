/*
 * pfs_table_events_waits.c
 *	  events_waits_current, _history, _history_long: three tables with the same
 *	  columns, which differ in where their events come from and what TRUNCATE
 *	  does.
 */
#include "postgres.h"

#include "pfs_lock_name.h"

#include "pfs_event.h"
#include "pfs_file.h"
#include "pfs_instrument.h"
#include "pfs_source.h"
#include "pfs_tables.h"
#include "pfs_value.h"

/* "symbol+0x1a": CONTRACT says 64 bytes, terminator apart. */
#define SOURCE_SIZE 65

enum
{
	THREAD_ID,
	EVENT_ID,
	END_EVENT_ID,
	EVENT_NAME,
	SOURCE,
	TIMER_START,
	TIMER_END,
	TIMER_WAIT,
	SPINS,
	OBJECT_SCHEMA,
	OBJECT_NAME,
	INDEX_NAME,
	OBJECT_TYPE,
	OBJECT_INSTANCE_BEGIN,
	OPERATION,
	NUMBER_OF_BYTES,
	FILE_OFFSET,
	FLAGS,
	NESTING_EVENT_ID,
	NESTING_EVENT_TYPE,
};

static const PfsColumn columns[] = {
	[THREAD_ID] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID},
	[EVENT_ID] = {"event_id", INT8OID, .key = PFS_KEY_EVENT_ID},
	[END_EVENT_ID] = {"end_event_id", INT8OID},
	[EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	[SOURCE] = {"source", TEXTOID, .width = 24},
	[TIMER_START] = {"timer_start", NUMERICOID, .width = 14},
	[TIMER_END] = {"timer_end", NUMERICOID, .width = 14},
	[TIMER_WAIT] = {"timer_wait", NUMERICOID, .width = 10},
	[SPINS] = {"spins", INT4OID},
	[OBJECT_SCHEMA] = {"object_schema", TEXTOID, .width = 8, .hidden = true},
	[OBJECT_NAME] = {"object_name", TEXTOID, .width = 24, .hidden = true},
	[INDEX_NAME] = {"index_name", TEXTOID, .width = 1, .hidden = true},
	[OBJECT_TYPE] = {"object_type", TEXTOID, .width = 6},
	[OBJECT_INSTANCE_BEGIN] = {"object_instance_begin", INT8OID},
	[OPERATION] = {"operation", TEXTOID, .width = 6},
	[NUMBER_OF_BYTES] = {"number_of_bytes", INT8OID},
	[FILE_OFFSET] = {"file_offset", INT8OID},
	[FLAGS] = {"flags", INT8OID},
	[NESTING_EVENT_ID] = {"nesting_event_id", INT8OID},
	[NESTING_EVENT_TYPE] = {"nesting_event_type", TEXTOID, .width = 8},
};

static void
add_event_cb(const PfsWaitEvent *event, void *arg)
{
	PfsScan    *scan = arg;

	if (scan->event_id != 0 && event->event_id != scan->event_id)
		return;
	if (scan->instrument != PFS_NO_INSTRUMENT && event->instrument != scan->instrument)
		return;
	*(PfsWaitEvent *) pfs_scan_add(scan) = *event;
}

static void
current_copy(PfsScan *scan)
{
	pfs_events_current(scan->thread_id, add_event_cb, scan);
}

static void
history_copy(PfsScan *scan)
{
	pfs_events_history(scan->thread_id, add_event_cb, scan);
}

static void
history_long_copy(PfsScan *scan)
{
	pfs_events_history_long(scan->thread_id, add_event_cb, scan);
}

/* timer_wait is the difference of the other two as they are shown. */
static Datum
get_timer(const PfsWaitEvent *event, int column, bool *isnull)
{
	PfsTimer	timer = PFS_FLAGS_TIMER(event->flags);
	PfsPicoseconds start;
	PfsPicoseconds end;

	if (!(event->flags & PFS_FLAG_TIMED))
		return pfs_null(isnull);
	if (column != TIMER_START && event->end_event_id == 0)
		return pfs_null(isnull);
	start = pfs_timer_to_ps(timer, event->timer_start);
	if (column == TIMER_START)
		return NumericGetDatum(pfs_ps_to_numeric(start));
	end = Max(pfs_timer_to_ps(timer, event->timer_end), start);
	return NumericGetDatum(pfs_ps_to_numeric(column == TIMER_END ? end : end - start));
}

static Datum
get_object(const PfsWaitEvent *event, int column, bool *isnull)
{
	const LOCKTAG *tag = &event->object.locktag;

	switch (event->object_type)
	{
		case PFS_OBJECT_FILE:
			if (column == OBJECT_TYPE)
				return CStringGetTextDatum("FILE");
			if (column == OBJECT_NAME)
			{
				char		name[PFS_FILE_NAME_SIZE];

				if (pfs_file_name(event->object.file.index, event->object.file.word, name))
					return pfs_text_datum(name);
			}
			break;
		case PFS_OBJECT_SOCKET:
			if (column == OBJECT_TYPE)
				return CStringGetTextDatum("SOCKET");
			break;
		case PFS_OBJECT_LWLOCK:
			if (column == OBJECT_TYPE)
				return CStringGetTextDatum("LWLOCK");
			break;
		case PFS_OBJECT_LOCK:
			if (column == OBJECT_TYPE)
				return CStringGetTextDatum(pfs_lock_type(tag));
			if (column == OBJECT_SCHEMA)
				return pfs_text_or_null(pfs_lock_schema(tag), isnull);
			return pfs_text_datum(pfs_lock_name(tag));
		default:
			break;
	}
	return pfs_null(isnull);
}

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsWaitEvent *event = row;

	switch (column)
	{
		case THREAD_ID:
			return Int64GetDatum((int64) event->thread_id);
		case EVENT_ID:
			return Int64GetDatum((int64) event->event_id);
		case END_EVENT_ID:
			return pfs_int64_or_null(event->end_event_id, isnull);
		case EVENT_NAME:
			return pfs_event_name_datum(event->instrument, isnull);
		case SOURCE:
			{
				char		source[SOURCE_SIZE];

				return pfs_source_name(event->source, source, sizeof(source))
					? pfs_text_datum(source) : pfs_null(isnull);
			}
		case TIMER_START:
		case TIMER_END:
		case TIMER_WAIT:
			return get_timer(event, column, isnull);
		case SPINS:
			return event->spins == PFS_EVENT_NO_SPINS ? pfs_null(isnull)
				: Int32GetDatum((int32) Min(event->spins, PG_INT32_MAX));
		case OBJECT_SCHEMA:
		case OBJECT_NAME:
		case OBJECT_TYPE:
			return get_object(event, column, isnull);
		case OBJECT_INSTANCE_BEGIN:
			return pfs_int64_or_null(event->object_instance, isnull);
		case OPERATION:
			return pfs_text_or_null(pfs_operation_name(event->operation), isnull);
		case NUMBER_OF_BYTES:
			return event->number_of_bytes == PFS_EVENT_NO_BYTES ? pfs_null(isnull)
				: Int64GetDatum(event->number_of_bytes);
		case FILE_OFFSET:
			return event->file_offset == PFS_EVENT_NO_OFFSET ? pfs_null(isnull)
				: Int64GetDatum(event->file_offset);
		case NESTING_EVENT_ID:
			return pfs_int64_or_null(event->nesting_event_id, isnull);
		case NESTING_EVENT_TYPE:
			return pfs_text_or_null(event->nesting_event_id == 0 ? NULL
									: pfs_nesting_name(event->nesting_type), isnull);
		case FLAGS:
			return event->flags & PFS_EVENT_NOT_ACQUIRED ? Int64GetDatum(1) : pfs_null(isnull);
		case INDEX_NAME:		/* reserved */
			break;
	}
	return pfs_null(isnull);
}

static Oid
role(const void *row)
{
	return ((const PfsWaitEvent *) row)->role;
}

/* Its rows are running events, which no one can take away. */
static int64
truncate_nothing(void)
{
	return 0;
}

const PfsTable pfs_table_events_waits_current = {
	.name = "events_waits_current",
	.row_is = "one wait that is running now",
	.truncate_effect = "accepted, does nothing",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(PfsWaitEvent),
	.estimate = pfs_events_current_estimate,
	.copy = current_copy,
	.get = get,
	.role = role,
	.truncate = truncate_nothing,
};

const PfsTable pfs_table_events_waits_history = {
	.name = "events_waits_history",
	.row_is = "one of the last finished waits of a living thread",
	.truncate_effect = "empties it",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(PfsWaitEvent),
	.estimate = pfs_events_history_estimate,
	.copy = history_copy,
	.get = get,
	.role = role,
	.truncate = pfs_events_history_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_events_waits_history_long = {
	.name = "events_waits_history_long",
	.row_is = "one of the last finished waits of the whole server",
	.truncate_effect = "empties it",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(PfsWaitEvent),
	.estimate = pfs_events_history_long_estimate,
	.copy = history_long_copy,
	.get = get,
	.role = role,
	.truncate = pfs_events_history_long_truncate,
	.in_reset_all = true,
};
