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
#include "pfs_setup.h"
#include "pfs_statement.h"
#include "pfs_tables.h"
#include "pfs_thread.h"
#include "pfs_value.h"

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
	uint64		wait_event_id;	/* its number; 0: none is running */
	PfsInstrumentId stage;		/* the same of stages */
	uint64		stage_event_id;
	char	   *statement;		/* what runs at top level, or NULL */
	bool		memory_is_told; /* its memory is looked at */
	uint64		current_memory; /* bytes */
	uint64		high_memory;
	bool		has_status;
	PfsBackendStatus status;
	char		name[PFS_NAME_SIZE];
} ThreadRow;

enum
{
	THREAD_ID,
	NAME,
	TYPE,
	PROCESSLIST_ID,
	PROCESSLIST_USER,
	PROCESSLIST_HOST,
	PROCESSLIST_DB,
	PROCESSLIST_COMMAND,
	PROCESSLIST_TIME,
	PROCESSLIST_STATE,
	PROCESSLIST_INFO,
	PARENT_THREAD_ID,
	ROLE,
	INSTRUMENTED,
	HISTORY,
	CONNECTION_TYPE,
	THREAD_OS_ID,
	APPLICATION_NAME,
	CURRENT_MEMORY,
	HIGH_MEMORY,
};

static const PfsColumn columns[] = {
	[THREAD_ID] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID},
	[NAME] = {"name", TEXTOID, .width = 24},
	[TYPE] = {"type", TEXTOID, .width = 11},
	[PROCESSLIST_ID] = {"processlist_id", INT4OID},
	[PROCESSLIST_USER] = {"processlist_user", TEXTOID, .width = 12},
	[PROCESSLIST_HOST] = {"processlist_host", TEXTOID, .width = 12, .hidden = true},
	[PROCESSLIST_DB] = {"processlist_db", TEXTOID, .width = 12},
	[PROCESSLIST_COMMAND] = {"processlist_command", TEXTOID, .width = 8},
	[PROCESSLIST_TIME] = {"processlist_time", INT8OID},
	[PROCESSLIST_STATE] = {"processlist_state", TEXTOID, .width = 30, .hidden = true},
	[PROCESSLIST_INFO] = {"processlist_info", TEXTOID, .width = 128, .hidden = true},
	[PARENT_THREAD_ID] = {"parent_thread_id", INT8OID},
	[ROLE] = {"role", TEXTOID, .width = 1},
	[INSTRUMENTED] = {"instrumented", TEXTOID, .width = 4, .check = pfs_check_switch},
	[HISTORY] = {"history", TEXTOID, .width = 4, .check = pfs_check_switch},
	[CONNECTION_TYPE] = {"connection_type", TEXTOID, .width = 7},
	[THREAD_OS_ID] = {"thread_os_id", INT4OID},
	[APPLICATION_NAME] = {"application_name", TEXTOID, .width = 12, .hidden = true},
	[CURRENT_MEMORY] = {"current_memory", INT8OID},
	[HIGH_MEMORY] = {"high_memory", INT8OID},
};

/* Columns that the status entry gives. */
static const int status_columns[] = {
	PROCESSLIST_HOST, PROCESSLIST_DB, PROCESSLIST_COMMAND, PROCESSLIST_TIME, PROCESSLIST_INFO,
	CONNECTION_TYPE, APPLICATION_NAME,
};

typedef struct CopyState
{
	PfsScan    *scan;
	bool		with_status;
	Size		last;			/* row that the last event belonged to */
} CopyState;

/* The table's part of the scan. */
typedef struct ThreadsScan
{
	TimestampTz now;			/* when the copy was made */
} ThreadsScan;

/*
 * The thread that an event belongs to.  Threads and events come from the same
 * records, so it is nearly always the one found last or the next.
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

static void
add_stage_cb(const PfsEvent *event, void *arg)
{
	ThreadRow  *row = find_thread(arg, event->thread_id);

	if (row == NULL || event->event_id <= row->stage_event_id)
		return;
	row->stage = event->instrument;
	row->stage_event_id = event->event_id;
}

static void
add_statement_cb(const PfsEvent *event, void *arg)
{
	ThreadRow  *row = find_thread(arg, event->thread_id);
	const PfsStatementEvent *statement = (const PfsStatementEvent *) event;

	if (row == NULL || statement->level > 0 || statement->text_len == 0)
		return;

	/*
	 * A deferred trigger's, behind the end of the statement: its text asks
	 * for more rights.
	 */
	if (row->is_session && (statement->counts & PFS_IS_NESTED))
		return;
	row->statement = pfs_text_of_statement(pfs_statement_text(statement), statement->text_len,
										   pfs_database_encoding(statement->database));
}

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
	row->memory_is_told = thread->memory.is_told;
	pfs_memory_total_read(thread, word, &row->current_memory, &row->high_memory);
	strlcpy(row->name, thread->name, sizeof(row->name));
	if (state->with_status)
		row->has_status = pfs_backend_status_read(thread->status, thread->pid, &row->status);
}

static double
estimate(void)
{
	return pfs_threads_estimate();
}

static void
copy(PfsScan *scan)
{
	ThreadsScan *threads = palloc(sizeof(ThreadsScan));
	CopyState	state = {.scan = scan};

	threads->now = GetCurrentTimestamp();
	scan->table_private = threads;
	for (int i = 0; i < lengthof(status_columns); i++)
		state.with_status |= scan->needed[status_columns[i]];
	pfs_threads_each(scan->thread_id, add_thread_cb, &state);
	if (scan->needed[PROCESSLIST_STATE] || scan->needed[PROCESSLIST_COMMAND])
		pfs_events_current(PFS_WAITS, scan->thread_id, add_wait_cb, &state);
	if (scan->needed[PROCESSLIST_STATE])
		pfs_events_current(PFS_STAGES, scan->thread_id, add_stage_cb, &state);
	if (scan->needed[PROCESSLIST_INFO])
		pfs_events_current(PFS_STATEMENTS, scan->thread_id, add_statement_cb, &state);
}

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

static Datum
get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const ThreadRow *row = copied;
	const PfsBackendStatus *status = row->has_status ? &row->status : NULL;

	switch (column)
	{
		case THREAD_ID:
			return Int64GetDatum((int64) row->thread_id);
		case NAME:
			return pfs_text_datum(row->name);
		case TYPE:
			return CStringGetTextDatum(row->foreground ? "FOREGROUND" : "BACKGROUND");
		case PROCESSLIST_ID:
			return row->is_session ? Int32GetDatum(row->pid) : pfs_null(isnull);
		case PROCESSLIST_USER:
			return OidIsValid(row->role) ? pfs_text_datum(pfs_role_name(row->role)) : pfs_null(isnull);
		case PROCESSLIST_HOST:
			return status ? pfs_text_or_null(pfs_backend_status_host(status), isnull) : pfs_null(isnull);
		case PROCESSLIST_DB:
			if (!status || !OidIsValid(status->database))
				return pfs_null(isnull);
			return pfs_text_datum(pfs_database_name(status->database));
		case PROCESSLIST_COMMAND:
			return CStringGetTextDatum(command(row));
		case PROCESSLIST_TIME:
			if (!status || status->state_start == 0)
				return pfs_null(isnull);
			return Int64GetDatum(Max(((ThreadsScan *) scan->table_private)->now - status->state_start, 0)
								 / USECS_PER_SEC);
		case PROCESSLIST_STATE:
			if (row->stage_event_id != 0)
				return pfs_event_name_datum(row->stage, isnull);
			if (row->wait_event_id == 0)
				return pfs_null(isnull);
			return pfs_text_datum(pfs_instrument_name(pfs_instrument_at(row->wait)));
		case PROCESSLIST_INFO:
			/* The server's own text, where the statement is not instrumented. */
			return pfs_text_or_null(row->statement != NULL ? row->statement : status ? status->activity : NULL,
									isnull);
		case PARENT_THREAD_ID:
			return pfs_int64_or_null(row->parent_thread_id, isnull);
		case INSTRUMENTED:
			return pfs_switch_datum(row->instrumented);
		case HISTORY:
			return pfs_switch_datum(row->history);
		case CONNECTION_TYPE:
			return status ? pfs_text_or_null(pfs_backend_status_connection(status), isnull)
				: pfs_null(isnull);
		case THREAD_OS_ID:
			return Int32GetDatum(row->pid);
		case APPLICATION_NAME:
			return status ? pfs_text_datum(status->application_name) : pfs_null(isnull);
		case CURRENT_MEMORY:
			return row->memory_is_told ? Int64GetDatum((int64) row->current_memory) : pfs_null(isnull);
		case HIGH_MEMORY:
			return row->memory_is_told ? Int64GetDatum((int64) row->high_memory) : pfs_null(isnull);
		case ROLE:				/* reserved */
			break;
	}
	return pfs_null(isnull);
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

static void
update(PfsRowId row, const PfsNewRow *values)
{
	uint64		word;

	if (pfs_threads == NULL || row.slot >= pfs_threads->records_max)
		return;
	word = pfs_pages_word(pfs_threads, row.slot);
	if ((word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED ||
		pfs_row_version(word / PFS_VERSION_INC) != row.version)
		return;					/* the thread has ended */
	pfs_thread_set(row.slot, word, pfs_new_switch(values, INSTRUMENTED),
				   pfs_new_switch(values, HISTORY));
}

const PfsTable pfs_table_threads = {
	.name = "threads",
	.row_is = "one living process of the server that has had an event",
	.truncate_effect = "refused",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(ThreadRow),
	.estimate = estimate,
	.copy = copy,
	.get = get,
	.role = role,
	.identity = identity,
	.update = update,
};
