/*
 * pfs_table_events_statements.c
 *	  events_statements_current, _history, _history_long.
 */
#include "postgres.h"

#include "pfs_digest.h"
#include "pfs_ev.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_statement.h"
#include "pfs_statement_numbers.h"
#include "pfs_value.h"

enum
{
	LOCK_TIME = PFS_EV_FIRST_OWN,
	SQL_TEXT,
	QUERY_ID,
	DIGEST_TEXT,
	DATABASE_NAME,
	SCHEMA_NAME,
	OBJECT_TYPE,
	OBJECT_SCHEMA,
	OBJECT_NAME,
	RETURNED_SQLSTATE,
	MESSAGE_TEXT,
	ERRORS,
	WARNINGS,
	ROWS_AFFECTED,
	ROWS_SENT,
	SHARED_BLKS_HIT,
	SHARED_BLKS_READ,
	SHARED_BLKS_DIRTIED,
	SHARED_BLKS_WRITTEN,
	LOCAL_BLKS_READ,
	LOCAL_BLKS_WRITTEN,
	TEMP_BLKS_READ,
	TEMP_BLKS_WRITTEN,
	WAL_RECORDS,
	WAL_FPI,
	WAL_BYTES,
	PLAN_TIME,
	EXEC_TIME,
	CPU_TIME,
	MAX_TOTAL_MEMORY,
	PARALLEL_WORKERS,
	NESTING_EVENT_LEVEL,
	STATEMENT_ID,
	NESTING_EVENT_ID,
	NESTING_EVENT_TYPE,
};

static const PfsColumn columns[] = {
	PFS_EV_COLUMNS,
	[LOCK_TIME] = {"lock_time", NUMERICOID, .width = 6},
	[SQL_TEXT] = {"sql_text", TEXTOID, .width = 100, .hidden = true},
	[QUERY_ID] = {"query_id", INT8OID, .hidden = true},
	[DIGEST_TEXT] = {"digest_text", TEXTOID, .width = 100, .hidden = true},
	[DATABASE_NAME] = {"database_name", TEXTOID, .width = 12},
	[SCHEMA_NAME] = {"schema_name", TEXTOID, .width = 8},
	[OBJECT_TYPE] = {"object_type", TEXTOID, .width = 8},
	[OBJECT_SCHEMA] = {"object_schema", TEXTOID, .width = 8, .hidden = true},
	[OBJECT_NAME] = {"object_name", TEXTOID, .width = 12, .hidden = true},
	[RETURNED_SQLSTATE] = {"returned_sqlstate", TEXTOID, .width = 5},
	[MESSAGE_TEXT] = {"message_text", TEXTOID, .width = 32, .hidden = true},
	[ERRORS] = {"errors", INT8OID},
	[WARNINGS] = {"warnings", INT8OID},
	[ROWS_AFFECTED] = {"rows_affected", INT8OID},
	[ROWS_SENT] = {"rows_sent", INT8OID},
	[SHARED_BLKS_HIT] = {"shared_blks_hit", INT8OID},
	[SHARED_BLKS_READ] = {"shared_blks_read", INT8OID},
	[SHARED_BLKS_DIRTIED] = {"shared_blks_dirtied", INT8OID},
	[SHARED_BLKS_WRITTEN] = {"shared_blks_written", INT8OID},
	[LOCAL_BLKS_READ] = {"local_blks_read", INT8OID},
	[LOCAL_BLKS_WRITTEN] = {"local_blks_written", INT8OID},
	[TEMP_BLKS_READ] = {"temp_blks_read", INT8OID},
	[TEMP_BLKS_WRITTEN] = {"temp_blks_written", INT8OID},
	[WAL_RECORDS] = {"wal_records", INT8OID},
	[WAL_FPI] = {"wal_fpi", INT8OID},
	[WAL_BYTES] = {"wal_bytes", NUMERICOID, .width = 6},
	[PLAN_TIME] = {"plan_time", NUMERICOID, .width = 10},
	[EXEC_TIME] = {"exec_time", NUMERICOID, .width = 10},
	[CPU_TIME] = {"cpu_time", NUMERICOID, .width = 10},
	[MAX_TOTAL_MEMORY] = {"max_total_memory", INT8OID},
	[PARALLEL_WORKERS] = {"parallel_workers", INT8OID},
	[NESTING_EVENT_LEVEL] = {"nesting_event_level", INT4OID},
	[STATEMENT_ID] = {"statement_id", INT8OID},
	PFS_EV_NESTING_COLUMNS(NESTING_EVENT_ID),
};

/* Somebody else's text, in this database's encoding; hide: without secrets. */
static Datum
text_of(const PfsStatementEvent *event, const char *str, int len, bool hide, bool *isnull)
{
	int			encoding;

	if (len == 0)
		return pfs_null(isnull);
	encoding = pfs_database_encoding(event->database);
	return pfs_text_datum(hide ? pfs_text_of_statement(str, len, encoding) : pfs_text_convert(str, len, encoding));
}

/* Its shape's text, if that is remembered. */
static Datum
digest_text_of(const PfsStatementEvent *event, bool *isnull)
{
	PfsDigestKey key = pfs_digest_key(event->database, event->user, event->query_id);
	uint32		len = 0;
	const char *text = pfs_digest_text_of(&key, &len);

	return text == NULL ? pfs_null(isnull) : text_of(event, text, len, true, isnull);
}

static Datum
sqlstate_of(int32 sqlstate, bool *isnull)
{
	char		buf[6];

	if (sqlstate == 0)
		return pfs_null(isnull);
	for (int i = 0; i < 5; i++, sqlstate >>= 6)
		buf[i] = PGUNSIXBIT(sqlstate);
	buf[5] = '\0';
	return CStringGetTextDatum(buf);
}

/* Up to the pages of shared buffers, columns and numbers are in the same order. */
static PfsNumber
number_of(int column)
{
	switch (column)
	{
		case LOCAL_BLKS_READ:
			return PFS_N_LOCAL_BLKS_READ;
		case LOCAL_BLKS_WRITTEN:
			return PFS_N_LOCAL_BLKS_WRITTEN;
		case TEMP_BLKS_READ:
		case TEMP_BLKS_WRITTEN:
		case WAL_RECORDS:
		case WAL_FPI:
		case WAL_BYTES:
			return PFS_N_TEMP_BLKS_READ + (column - TEMP_BLKS_READ);
		case LOCK_TIME:
			return PFS_N_LOCK_TIME;
		case PLAN_TIME:
			return PFS_N_PLAN_TIME;
		case EXEC_TIME:
			return PFS_N_EXEC_TIME;
		case CPU_TIME:
			return PFS_N_CPU_TIME;
		case PARALLEL_WORKERS:
			return PFS_N_PARALLEL_WORKERS;
		default:
			return PFS_N_ERRORS + (column - ERRORS);
	}
}

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsStatementEvent *event = row;
	PfsNumber	number;

	switch (column)
	{
		case SQL_TEXT:
			return text_of(event, pfs_statement_text(event), event->text_len, true, isnull);
		case QUERY_ID:
			return pfs_int64_or_null(event->query_id, isnull);
		case DATABASE_NAME:
			return OidIsValid(event->database) ? pfs_text_datum(pfs_database_name(event->database))
				: pfs_null(isnull);
		case SCHEMA_NAME:
			return text_of(event, event->texts, event->schema_len, false, isnull);
		case RETURNED_SQLSTATE:
			return sqlstate_of(event->sqlstate, isnull);
		case MESSAGE_TEXT:
			return text_of(event, pfs_statement_message(event), event->message_len, false, isnull);
		case NESTING_EVENT_LEVEL:
			return Int32GetDatum((int32) event->level);
		case STATEMENT_ID:
			return Int64GetDatum((int64) event->statement_id);
		case NESTING_EVENT_ID:
		case NESTING_EVENT_TYPE:
			return pfs_ev_nesting(row, column - NESTING_EVENT_ID, isnull);
		case DIGEST_TEXT:
			return digest_text_of(event, isnull);
		case OBJECT_TYPE:
		case OBJECT_SCHEMA:
		case OBJECT_NAME:
			return pfs_null(isnull);
		case MAX_TOTAL_MEMORY:
			return pfs_statement_memory_datum((event->counts & PFS_COUNTS_MEMORY) ? event->memory : 0, isnull);
		default:
			if (column < PFS_EV_FIRST_OWN)
				return pfs_ev_get(row, column, isnull);
			number = number_of(column);
			if (number == PFS_N_CPU_TIME && (event->counts & PFS_COUNTS_CPU) == 0)
				return pfs_null(isnull);
			return pfs_statement_number_datum(number, event->n[number]);
	}
}

/* What a SECURITY DEFINER function executes is its owner's, whoever calls it. */
static Oid
nested_role(const void *row)
{
	const PfsStatementEvent *event = row;

	return (event->counts & PFS_IS_NESTED) ? event->user : InvalidOid;
}

PFS_EV_TABLES(PFS_STATEMENTS, statements, "statement", columns, get, nested_role);
