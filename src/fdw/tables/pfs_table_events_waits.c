/*
 * pfs_table_events_waits.c
 *	  events_waits_current, _history, _history_long: the columns that waits have
 *	  besides those of all events, among them the object that is waited for.
 */
#include "postgres.h"

#include "pfs_compat_buffer.h"
#include "pfs_ev.h"
#include "pfs_file.h"
#include "pfs_object_name.h"

/* Returns the value of the column object_type; NULL for waits without an object. */
static const char *
object_type_of(const PfsWaitEvent *event)
{
	switch (event->object_type)
	{
		case PFS_OBJECT_FILE:
			return "FILE";
		case PFS_OBJECT_SOCKET:
			return "SOCKET";
		case PFS_OBJECT_LWLOCK:
			return "LWLOCK";
		case PFS_OBJECT_BUFFER:
			return "BUFFER";
		case PFS_OBJECT_TABLE:
			return "TABLE";
		case PFS_OBJECT_LOCK:
			return pfs_lock_type(&event->object.locktag);
		default:
			return NULL;
	}
}

static char *
object_schema_of(const PfsWaitEvent *event)
{
	if (event->object_type == PFS_OBJECT_TABLE)
		return pfs_rel_schema(event->object.table.database, event->object.table.relation);
	return event->object_type == PFS_OBJECT_LOCK ? pfs_lock_schema(&event->object.locktag) : NULL;
}

/* Returns what is waited for; NULL if a file's record belongs to another file by now. */
static char *
object_name_of(const PfsWaitEvent *event)
{
	char		name[PFS_FILE_NAME_SIZE];

	if (event->object_type == PFS_OBJECT_TABLE)
		return pfs_rel_name(event->object.table.database, event->object.table.relation);
	if (event->object_type == PFS_OBJECT_LOCK)
		return pfs_lock_name(&event->object.locktag);
	if (event->object_type == PFS_OBJECT_BUFFER && OidIsValid(event->object.page.tablespace))
		return pfs_compat_relation_path(event->object.page.database, event->object.page.tablespace,
										event->object.page.filenode, (ForkNumber) event->object.page.fork);
	if (event->object_type == PFS_OBJECT_FILE &&
		pfs_file_name(event->object.file.index, event->object.file.word, name))
		return pstrdup(name);
	return NULL;
}

#define WAITS_COLUMNS(X, t) \
	PFS_EV_COLUMNS(X, t, "The thread that waits or waited: threads.thread_id.", \
	               " In events_waits_current, of several rows of a thread, the one with the highest number is what it " \
	               "waits for.", \
	               "The function of the server that waits, as exported symbol and offset, inside a static function the " \
	               "offset in the server binary. NULL where unknown.", PFS_EV_BEGIN_NULL) \
	X(t, spins, integer, count, PFS_NULL_IF(row->spins == PFS_EVENT_NO_SPINS, Min(row->spins, PG_INT32_MAX)), \
	  "Of a spinlock the number of delays, of an LWLock or a buffer how often the process slept within the event; " \
	  "else NULL.") \
	X(t, object_schema, text, none, object_schema_of(row), \
	  "Schema of the relation that a lock is on; [database] if it is of another database." PFS_OWN_ROLE, \
	  .width = 8, .hidden = true) \
	X(t, object_name, text, none, object_name_of(row), \
	  "What is waited for: a path below the data directory (of a buffer that of its page's relation), a relation, a " \
	  "transaction id, or the numbers of the lock's key." PFS_OWN_ROLE, .width = 24, .hidden = true) \
	X(t, index_name, text, none, \
	  row->object_type == PFS_OBJECT_TABLE && OidIsValid(row->object.table.index) \
	  ? pfs_rel_name(row->object.table.database, row->object.table.index) : NULL, \
	  "The index by which rows of a table were accessed; NULL: by none." PFS_OWN_ROLE, .width = 8, .hidden = true) \
	X(t, object_type, text, none, object_type_of(row), \
	  "FILE, SOCKET, LWLOCK, BUFFER, TABLE, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and " \
	  "others.", \
	  .width = 6) \
	X(t, object_instance_begin, bigint, none, PFS_NULL_IF_0(row->object_instance), \
	  "Identifies the object among those of its type; NULL where unknown.") \
	X(t, operation, text, none, pfs_operation_name(row->operation), \
	  "What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for " \
	  "locks, fetch, insert, update, delete, lock for rows of tables.", .width = 6) \
	X(t, number_of_bytes, bigint, bytes, PFS_NULL_IF(row->number_of_bytes == PFS_EVENT_NO_BYTES, row->number_of_bytes), \
	  "Bytes that the call moved, or rows of a table; NULL where it moves none.") \
	X(t, file_offset, bigint, bytes, PFS_NULL_IF(row->file_offset == PFS_EVENT_NO_OFFSET, row->file_offset), \
	  "Position in the file in bytes, where the call has one; of a buffer that of its page in the relation.") \
	X(t, flags, bigint, none, PFS_NULL_IF_0((row->flags & PFS_EVENT_NOT_ACQUIRED) != 0), \
	  "1: the event ended without the lock (an attempt that failed, a wait that took nothing); else NULL.") \
	PFS_EV_NESTING_COLUMNS(X, t, "event_id of the event around it, of the same thread; NULL if there is none.", \
	                       "TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.")

PFS_COLUMNS(waits, PfsWaitEvent, WAITS_COLUMNS)

PFS_EV_TABLES(PFS_WAITS, waits, "wait", NULL,
			  "Waits that are running now, one row per nesting level. A finished wait is removed. TRUNCATE is "
			  "accepted and does nothing.");
