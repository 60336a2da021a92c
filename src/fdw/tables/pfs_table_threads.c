/*
 * pfs_table_threads.c
 *	  threads: one row per living process that has had an event.
 *
 * Identity, parent and switches come from the thread's own record, what the
 * process is doing from the server's status entry for it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "pfs_backend_status.h"
#include "pfs_instrument.h"
#include "pfs_memory_total.h"
#include "pfs_object_name.h"
#include "pfs_setup.h"
#include "pfs_statement.h"
#include "pfs_tables.h"
#include "pfs_thread.h"

typedef struct ThreadRow
{
	uint64		thread_id;
	uint64		parent_thread_id;
	uint32		index;
	uint64		word;
	int32		pid;
	Oid			role;
	bool		foreground;
	bool		is_session;		/* client backend or walsender: has a process
								 * list id */
	bool		is_walsender;
	bool		instrumented;
	bool		history;
	bool		is_idle;		/* idle wait running, outside or inside a */
	bool		is_idle_in_transaction; /* transaction */
	PfsInstrumentId wait;		/* innermost running one but idle */
	uint64		wait_event_id;	/* its event_id; 0: none is running */
	PfsInstrumentId stage;		/* the latest running stage */
	uint64		stage_event_id;
	char	   *statement;		/* what runs at top level, or NULL */
	bool		memory_is_counted;	/* its memory is counted */
	uint64		current_memory; /* bytes */
	uint64		high_memory;
	bool		has_status;
	PfsBackendStatus status;
	char		name[PFS_NAME_SIZE];
} ThreadRow;

typedef struct CopyState
{
	PfsScan    *scan;
	bool		with_status;
	Size		last;			/* row that the last event belonged to */
	PfsPatience patience;
} CopyState;

/*
 * Finds the row of the thread that an event belongs to.  Threads and events come from
 * the same records, so it is nearly always the row found last or the next.
 */
static ThreadRow *
find_thread(CopyState *state, uint64 thread_id)
{
	ThreadRow  *rows = (ThreadRow *) state->scan->rows;

	for (Size i = 0; i < state->scan->nrows; i++)
	{
		Size		at = (state->last + i) % state->scan->nrows;

		if (rows[at].thread_id == thread_id)
		{
			state->last = at;
			return &rows[at];
		}
	}
	return NULL;				/* it began after the threads were copied */
}

/*
 * Notes a running wait in its thread's row: the innermost one, and whether the thread
 * is idle.
 */
static void
add_wait_cb(const PfsEvent *event, void *arg)
{
	ThreadRow  *row = find_thread(arg, event->thread_id);
	const PfsInstrument *ins = pfs_instrument_at(event->instrument);

	if (row == NULL || ins == NULL)
		return;
	if (ins->class == PFS_CLASS_IDLE)
	{
		if (strcmp(pfs_instrument_name(ins), "idle") == 0)
			row->is_idle = true;
		else
			row->is_idle_in_transaction = true;
	}
	else if (event->event_id > row->wait_event_id)
	{
		row->wait = event->instrument;
		row->wait_event_id = event->event_id;
	}
}

/* Notes a running stage in its thread's row: the latest one. */
static void
add_stage_cb(const PfsEvent *event, void *arg)
{
	ThreadRow  *row = find_thread(arg, event->thread_id);

	if (row == NULL || event->event_id <= row->stage_event_id)
		return;
	row->stage = event->instrument;
	row->stage_event_id = event->event_id;
}

/* Notes the text of the statement that runs at top level in its thread's row. */
static void
add_statement_cb(const PfsEvent *event, void *arg)
{
	ThreadRow  *row = find_thread(arg, event->thread_id);
	const PfsStatementEvent *statement = (const PfsStatementEvent *) event;

	if (row == NULL || statement->level > 0 || statement->text_len == 0)
		return;

	/*
	 * It is a deferred trigger's, after the statement's end: to see its text
	 * takes more rights than this column checks.
	 */
	if (row->is_session && (statement->counts & PFS_IS_NESTED))
		return;
	row->statement = pfs_text_of_statement(pfs_statement_text(statement), statement->text_len,
										   pfs_database_encoding(statement->database));
}

/* Makes the row of a thread from its record. */
static void
add_thread_cb(const PfsThread *thread, uint64 word, void *arg)
{
	CopyState  *state = arg;
	ThreadRow  *row = pfs_scan_add(state->scan);

	row->thread_id = thread->thread_id;
	row->parent_thread_id = thread->parent_thread_id;
	row->index = thread->index;
	row->word = word;
	row->pid = thread->pid;
	row->role = thread->role;
	row->foreground = thread->foreground;
	row->is_walsender = thread->kind == B_WAL_SENDER;
	row->is_session = thread->kind == B_BACKEND || row->is_walsender;
	row->instrumented = thread->instrumented & PFS_SWITCH_ON;
	row->history = thread->history & PFS_SWITCH_ON;
	row->memory_is_counted = thread->memory.is_counted;
	pfs_memory_total_read(thread, word, &row->current_memory, &row->high_memory, &state->patience);
	strlcpy(row->name, thread->name, sizeof(row->name));
	if (state->with_status)
		row->has_status = pfs_backend_status_read(thread->status, thread->pid, &row->status, &state->patience);
}

/*
 * Returns what a thread is doing, in the words of MySQL's process list.  Background
 * processes and walsenders have no state of their own there.
 */
static const char *
command(const ThreadRow *row)
{
	if (!row->foreground)
		return "Daemon";
	if (row->is_walsender)
		return "Replication";
	if (row->has_status)
	{
		switch (row->status.state)
		{
			case STATE_IDLE:
				return "Sleep";
			case STATE_IDLEINTRANSACTION:
			case STATE_IDLEINTRANSACTION_ABORTED:
				return "Sleep in transaction";
			case STATE_RUNNING:
			case STATE_FASTPATH:
				return "Query";
			default:
				break;
		}
	}
	/* track_activities is off, or the session is just starting. */
	return row->is_idle ? "Sleep" : row->is_idle_in_transaction ? "Sleep in transaction" : "Query";
}

/* What the server's status entry says, if there is one. */
#define STATUS(value) (row->has_status ? (value) : NULL)

/*
 * The server's own text stands in where the statement is not instrumented.  A parallel worker's
 * can be that of a nested statement, which takes more rights than this column checks.
 */
static const char *
info_of(const ThreadRow *row)
{
	if (row->statement != NULL || (row->foreground && !row->is_session))
		return row->statement;
	return STATUS(row->status.activity);
}

#define COLUMNS(X, t) \
	X(t, thread_id, bigint, none, row->thread_id, \
	  "Number of the thread, from 1; never used again while the server runs.", .key = PFS_KEY_THREAD_ID) \
	X(t, name, text, none, row->name, \
	  "thread/client_backend, thread/checkpointer, thread/worker/... and so on: the kind of process.", \
	  .width = 24) \
	X(t, type, text, none, row->foreground ? "FOREGROUND" : "BACKGROUND", \
	  "FOREGROUND: client backends, walsenders, and the parallel workers of both. BACKGROUND: all others.", .width = 11) \
	X(t, processlist_id, integer, none, PFS_NULL_IF(!row->is_session, row->pid), \
	  "Process id of client backends and walsenders, else NULL.") \
	X(t, processlist_user, text, none, OidIsValid(row->role) ? pfs_role_name(row->role) : NULL, \
	  "The authenticated role; NULL before authentication and for processes without one.", .width = 12) \
	X(t, processlist_host, text, none, STATUS(pfs_backend_status_host(&row->status)), \
	  "Numeric client address, [local] for a Unix socket, NULL without client." PFS_OWN_ROLE, \
	  .width = 12, .hidden = true) \
	X(t, processlist_db, text, none, STATUS(pfs_rel_database(row->status.database)), "Database of the session.", .width = 12) \
	X(t, processlist_command, text, none, command(row), \
	  "Query, Sleep, Sleep in transaction, Replication or Daemon.", .width = 8) \
	X(t, processlist_time, bigint, seconds, \
	  PFS_NULL_IF(!row->has_status || row->status.state_start == 0, \
				  Max(*(const TimestampTz *) scan->table_private - row->status.state_start, 0) / USECS_PER_SEC), \
	  "Seconds in this command.") \
	X(t, processlist_state, text, none, \
	  pfs_event_name(row->stage_event_id != 0 ? row->stage : row->wait_event_id != 0 ? row->wait : PFS_NO_INSTRUMENT), \
	  "The current stage, else the wait that is running now, idle apart." PFS_OWN_ROLE, \
	  .width = 30, .hidden = true) \
	X(t, processlist_info, text, none, info_of(row), \
	  "Text of the statement that is running at top level; from pg_stat_activity where the statement is not " \
	  "instrumented, but NULL of parallel workers. What follows PASSWORD, OPTIONS or CONNECTION in commands that can " \
	  "hold passwords is hidden." \
	  PFS_OWN_ROLE, .width = 128, .hidden = true) \
	X(t, parent_thread_id, bigint, none, PFS_NULL_IF_0(row->parent_thread_id), \
	  "Of a parallel worker the leader's thread, of the worker of REPACK the one that executes it; else NULL.") \
	X(t, role, text, none, NULL, PFS_RESERVED, .width = 1) \
	X(t, instrumented, text, none, pfs_yes_or_no(row->instrumented), \
	  "Are events of this thread collected?" PFS_YES_OR_NO, .width = 4, .check = pfs_check_switch) \
	X(t, history, text, none, pfs_yes_or_no(row->history), \
	  "Do its events go to the histories?" PFS_YES_OR_NO, .width = 4, .check = pfs_check_switch) \
	X(t, connection_type, text, none, STATUS(pfs_backend_status_connection(&row->status)), \
	  "Socket, TCP/IP, SSL/TLS or GSS; NULL without client.", .width = 7) \
	X(t, thread_os_id, integer, none, row->pid, "Process id, of every thread: pg_stat_activity.pid.") \
	X(t, application_name, text, none, STATUS(row->status.application_name), \
	  "As in pg_stat_activity." PFS_OWN_ROLE, .width = 12, .hidden = true) \
	X(t, current_memory, bigint, bytes, PFS_NULL_IF(!row->memory_is_counted, row->current_memory), \
	  "Bytes of memory contexts in use, of those that are counted; NULL where none are.") \
	X(t, high_memory, bigint, bytes, PFS_NULL_IF(!row->memory_is_counted, row->high_memory), \
	  "The most that it was, in bytes; NULL where none are counted.")

PFS_COLUMNS(threads, ThreadRow, COLUMNS)

/* Columns that are read from the server's status entry. */
static const int status_columns[] = {
	PFS_COLUMN(threads, processlist_host),
	PFS_COLUMN(threads, processlist_db),
	PFS_COLUMN(threads, processlist_command),
	PFS_COLUMN(threads, processlist_time),
	PFS_COLUMN(threads, processlist_info),
	PFS_COLUMN(threads, connection_type),
	PFS_COLUMN(threads, application_name),
};

/*
 * Copies the threads, and what only serves some columns if these are needed: the
 * status entries, and the events that are running.  The scan keeps when that was.
 */
static void
copy(PfsScan *scan)
{
	TimestampTz *now = palloc(sizeof(TimestampTz));
	CopyState	state = {.scan = scan};

	*now = GetCurrentTimestamp();
	scan->table_private = now;
	for (int i = 0; i < lengthof(status_columns); i++)
		state.with_status |= scan->needed[status_columns[i]];
	pfs_threads_each(scan->thread_id, add_thread_cb, &state);
	pfs_patience_end(&state.patience);
	if (scan->needed[PFS_COLUMN(threads, processlist_state)] || scan->needed[PFS_COLUMN(threads, processlist_command)])
		pfs_events_current(PFS_WAITS, scan->thread_id, add_wait_cb, &state);
	if (scan->needed[PFS_COLUMN(threads, processlist_state)])
		pfs_events_current(PFS_STAGES, scan->thread_id, add_stage_cb, &state);
	if (scan->needed[PFS_COLUMN(threads, processlist_info)])
		pfs_events_current(PFS_STATEMENTS, scan->thread_id, add_statement_cb, &state);
}

/* A background process belongs to nobody, whatever role it runs as. */
static Oid
role(const void *row)
{
	const ThreadRow *thread = row;

	return thread->foreground ? thread->role : InvalidOid;
}

static PfsRowId
identity(const void *row)
{
	const ThreadRow *thread = row;
	PfsRowId	id = {thread->index, pfs_row_version(thread->word / PFS_VERSION_INC)};

	return id;
}

/* Changes the switches of a thread, unless it has ended since the scan read it. */
static void
update(const PfsTable *table, PfsRowId row, const PfsNewRow *values)
{
	uint64		word;

	if (pfs_threads == NULL || row.slot >= pfs_threads->records_max)
		return;
	word = pfs_pages_word(pfs_threads, row.slot);
	if ((word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED ||
		pfs_row_version(word / PFS_VERSION_INC) != row.version)
		return;					/* the thread has ended */
	pfs_thread_set(row.slot, word, pfs_new_switch(values, PFS_COLUMN(threads, instrumented)),
				   pfs_new_switch(values, PFS_COLUMN(threads, history)));
}

const PfsTable pfs_table_threads = {
	PFS_TABLE("threads", threads, "MySQL",
			  "one living process of the server that has had an event",
			  "refused",
			  "Threads: one row per living process of the server that has had an event. UPDATE of instrumented and "
			  "history takes effect with the thread's next event."),
	.containers = {&pfs_threads},
	.copy = copy,
	.role = role,
	.identity = identity,
	.update = update,
};
