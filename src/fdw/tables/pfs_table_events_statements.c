/*
 * pfs_table_events_statements.c
 *	  events_statements_current, _history, _history_long: the columns that
 *	  statements have besides those of all events.
 */
#include "postgres.h"

#include "pfs_digest.h"
#include "pfs_ev.h"
#include "pfs_object_name.h"
#include "pfs_setup.h"
#include "pfs_statement.h"
#include "pfs_statement_counters.h"

/* Converts another session's text to this database's encoding; hide: without secrets. */
static char *
text_of(const PfsStatementEvent *event, const char *str, int len, bool hide)
{
	int			encoding;

	if (len == 0)
		return NULL;
	encoding = pfs_database_encoding(event->database);
	return hide ? pfs_text_of_statement(str, len, encoding) : pfs_text_convert(str, len, encoding);
}

/* Returns the text of the statement's digest, if the digest has a record with a text. */
static char *
digest_text_of(const PfsStatementEvent *event)
{
	PfsDigestKey key = pfs_digest_key(event->database, event->user, event->query_id);
	uint32		len = 0;
	const char *text = pfs_digest_text_of(&key, &len);

	return text != NULL ? text_of(event, text, len, true) : NULL;
}

/* A number that this library does not know gives a null. */
static const char *const plan_origins[] = {
	[PFS_PLAN_UNKNOWN] = NULL,[PFS_PLAN_INTERNAL] = "INTERNAL",[PFS_PLAN_STANDARD] = "STANDARD",
	[PFS_PLAN_GENERIC] = "GENERIC",[PFS_PLAN_CUSTOM] = "CUSTOM",
};

#define IN_PROGRAM(value) (row->counts & PFS_IN_PROGRAM ? (value) : NULL)

#define STATEMENTS_COLUMNS(X, t) \
	PFS_EV_COLUMNS(X, t, "The thread that executes or executed it: threads.thread_id.", PFS_EV_NO_MORE, PFS_RESERVED, \
	               ": when the client's message had arrived, of a nested statement its planning or execution. NULL if " \
	               "not timed.") \
	X(t, lock_time, numeric, picoseconds, PFS_STATEMENT_COUNTER(row, LOCK_TIME), \
	  "Time of the process itself, without its parallel workers, in waits for heavyweight and lightweight locks, in " \
	  "picoseconds.", .width = 6) \
	X(t, sql_text, text, none, text_of(row, pfs_statement_text(row), row->text_len, true), \
	  "The text, as far as pfs.max_sql_text_length bytes go, without what follows a PASSWORD, OPTIONS or " \
	  "CONNECTION word of a command that can hold secrets." PFS_OWN_ROLE, .width = 100, .hidden = true) \
	X(t, query_id, bigint, none, PFS_NULL_IF_0(row->query_id), \
	  "PostgreSQL's own number of the statement's shape; NULL with compute_query_id = off." PFS_OWN_ROLE, \
	  .hidden = true) \
	X(t, digest_text, text, none, digest_text_of(row), \
	  "The text of its shape, constants replaced: events_statements_summary_by_digest.digest_text. NULL: that " \
	  "has none, or is no row any more; or without the rights of the thread's role or pg_read_all_stats.", \
	  .width = 100, .hidden = true) \
	X(t, database_name, text, none, pfs_rel_database(row->database), "Database of the session.", .width = 12) \
	X(t, schema_name, text, none, text_of(row, row->texts, row->schema_len, false), \
	  "First element of search_path, as written.", .width = 8) \
	X(t, object_type, text, none, IN_PROGRAM(pfs_program_type_name(row->program)), \
	  "What it runs in: FUNCTION, PROCEDURE, or TRIGGER for a trigger function. NULL at top level, and where that is " \
	  "not known.", .width = 8) \
	X(t, object_schema, text, none, IN_PROGRAM(pfs_program_schema(row->database, row->program)), \
	  "Schema of that program; NULL in another database." PFS_OWN_ROLE, .width = 8, .hidden = true) \
	X(t, object_name, text, none, IN_PROGRAM(pfs_program_name(row->database, row->program)), \
	  "Its name; the OID of one that is gone, or of another database." PFS_OWN_ROLE, .width = 12, .hidden = true) \
	X(t, returned_sqlstate, text, none, row->sqlstate != 0 ? unpack_sql_state(row->sqlstate) : NULL, \
	  "SQLSTATE of the error that it failed with; NULL if it did not.", .width = 5) \
	X(t, message_text, text, none, text_of(row, pfs_statement_message(row), row->message_len, false), \
	  "The error's message, where the server logged it: see log_min_messages." PFS_OWN_ROLE, \
	  .width = 32, .hidden = true) \
	PFS_STATEMENT_COUNTER_COLUMNS(X, t, , row) \
	PFS_STATEMENT_TIME_COLUMNS(X, t, , row) \
	X(t, cpu_time, numeric, picoseconds, PFS_NULL_IF((row->counts & PFS_COUNTS_CPU) == 0, PFS_STATEMENT_COUNTER(row, CPU_TIME)), \
	  "Processor time of the process, without that of its parallel workers, in picoseconds; NULL unless consumer " \
	  "events_statements_cpu was on.", \
	  .width = 10) \
	X(t, max_total_memory, bigint, bytes, \
	  PFS_NULL_IF((row->counts & PFS_COUNTS_MEMORY) == 0 || row->memory == 0, row->memory - 1), \
	  "The most that the session had in use while it was open, without its parallel workers, in bytes, of what " \
	  "memory instruments count; NULL while it runs, and if none was on when it began.") \
	X(t, parallel_workers, bigint, count, PFS_STATEMENT_COUNTER(row, PARALLEL_WORKERS), "Parallel workers that worked for it.") \
	X(t, nesting_event_level, integer, none, row->level, "0 at top level, one more inside each statement.") \
	X(t, statement_id, bigint, none, row->statement_id, \
	  "Number of the statement, unique in the server since its start.") \
	PFS_EV_NESTING_COLUMNS(X, t, \
	                       "event_id of the enclosing statement, at top level of the transaction that was open before " \
	                       "it; NULL if there is none.", "TRANSACTION or STATEMENT; NULL if nesting_event_id is.") \
	X(t, plan_origin, text, none, row->plan_origin < lengthof(plan_origins) ? plan_origins[row->plan_origin] : NULL, \
	  "Where its plan comes from: STANDARD (planned for it), GENERIC or CUSTOM (of a prepared statement), INTERNAL. NULL " \
	  "for what has no plan, and before PostgreSQL 19.", .width = 8, .since = PFS_SINCE_1_1) \
	PFS_STATEMENT_LATER_COLUMNS(X, t, , row) \
	X(t, plan_id, bigint, none, PFS_NULL_IF_0(row->plan_id), \
	  "Which plan it had, as in plans_summary_by_digest. NULL before the executor starts, for what has no plan, and while " \
	  "the consumer plans is off.", .width = 20, .hidden = true, .since = PFS_SINCE_1_2)

PFS_COLUMNS(statements, PfsStatementEvent, STATEMENTS_COLUMNS)

/* A statement that a SECURITY DEFINER function executes belongs to the function's owner. */
static Oid
nested_role(const void *row)
{
	const PfsStatementEvent *event = row;

	return (event->counts & PFS_IS_NESTED) ? event->user : InvalidOid;
}

PFS_EV_TABLES(PFS_STATEMENTS, statements, "statement", nested_role,
			  "Statements that are running now, one row per nesting level, and the queries of open cursors, from "
			  "DECLARE to CLOSE: at level 1 or deeper, in nothing once DECLARE has ended. A thread shows ten at a "
			  "time; cursors that nobody reads are left out first. Numbers are filled in at the end. A finished "
			  "statement is removed. TRUNCATE is accepted and does nothing.");
