/*
 * pfs_table_events_waits.c
 *	  events_waits_current, _history, _history_long.
 */
#include "postgres.h"

#include "pfs_ev.h"
#include "pfs_file.h"
#include "pfs_lock_name.h"
#include "pfs_shared.h"
#include "pfs_value.h"

enum
{
	SPINS = PFS_EV_FIRST_OWN,
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
	PFS_EV_COLUMNS,
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
	PFS_EV_NESTING_COLUMNS(NESTING_EVENT_ID),
};

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
		case NESTING_EVENT_TYPE:
			return pfs_ev_nesting(row, column - NESTING_EVENT_ID, isnull);
		case FLAGS:
			return event->flags & PFS_EVENT_NOT_ACQUIRED ? Int64GetDatum(1) : pfs_null(isnull);
		case INDEX_NAME:		/* reserved */
			break;
		default:
			return pfs_ev_get(row, column, isnull);
	}
	return pfs_null(isnull);
}

PFS_EV_TABLES(PFS_WAITS, waits, "wait", columns, get, NULL);
