/*
 * pfs_table_load.c
 *	  load_history: what the load of the server was, in three resolutions.
 *
 * Separate from the tables by digest, whose keys it has in common: its rows are of the past,
 * and most of their statements and users may be gone.
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "pfs_load_ring.h"
#include "pfs_load_text.h"
#include "pfs_recorder.h"
#include "pfs_tables.h"

/* A row, with what its period has. */
typedef struct LoadRow
{
	PfsLoadRow	row;
	TimestampTz begin;
	TimestampTz end;
	uint64		length;			/* picoseconds */
	int			resolution;		/* seconds */
} LoadRow;

/* ---- texts, each looked up once as far as there is room ---- */

typedef struct Text
{
	PfsLoadTextKey key;
	char	   *text;			/* in this database's encoding; NULL: none */
} Text;

/* So many statements are looked up once; a history can have millions, and those behind are looked up at each row. */
#define TEXTS_CACHED 4096

typedef struct LoadScan
{
	HTAB	   *texts;
	HTAB	   *kept;			/* which texts are */
} LoadScan;

/* What a scan keeps from row to row, made at the first row that asks. */
static LoadScan *
load_scan(PfsScan *scan)
{
	LoadScan   *own = scan->table_private;
	HASHCTL		texts = {.keysize = sizeof(PfsLoadTextKey), .entrysize = sizeof(Text), .hcxt = scan->rows_context};

	if (own == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(scan->rows_context);

		own = scan->table_private = palloc0(sizeof(LoadScan));
		own->texts = hash_create("pfs load statements", 256, &texts, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		own->kept = pfs_load_texts_index();
		MemoryContextSwitchTo(old);
	}
	return own;
}

/* Finds a statement's text, converts it to this database's encoding, and leaves out secrets. */
static const char *
text_of(PfsScan *scan, const PfsLoadKey *key)
{
	LoadScan   *own = load_scan(scan);
	PfsLoadTextKey wanted = {key->query_id, key->database, key->user};
	Text	   *entry;
	char	   *text;
	uint32		len;

	if (key->statement != PFS_LOAD_STATEMENT)
		return NULL;
	entry = hash_search(own->texts, &wanted, HASH_FIND, NULL);
	if (entry == NULL)
	{
		text = pfs_load_text_find(own->kept, &wanted, &len);

		if (text != NULL)
			text = pfs_text_of_statement(text, len, pfs_database_encoding(key->database));
		if (hash_get_num_entries(own->texts) >= TEXTS_CACHED)
			return text;
		if (text != NULL)
			text = MemoryContextStrdup(scan->rows_context, text);
		entry = hash_search(own->texts, &wanted, HASH_ENTER, NULL);
		entry->text = text;
	}
	return entry->text;
}

/* ---- columns ---- */

static const char *const type_names[PFS_NUM_LOAD_TYPES] = {
	[PFS_LOAD_FOREGROUND] = "FOREGROUND",
	[PFS_LOAD_BACKGROUND] = "BACKGROUND",
};

static Interval
interval_of(int seconds)
{
	return (Interval)
	{
		.time = seconds * USECS_PER_SEC
	};
}

static Datum
resolution_datum(int seconds)
{
	Interval   *interval = palloc(sizeof(Interval));

	*interval = interval_of(seconds);
	return IntervalPGetDatum(interval);
}

static const char *
event_name_of(const PfsLoadKey *key)
{
	if (pfs_load_is_remainder(key))
		return NULL;
	return key->instrument == PFS_LOAD_CPU_NAME ? "cpu" : pfs_event_name(key->instrument);
}

#define RIGHTS_OF_USER "NULL without the rights of user_name or pg_read_all_stats."

#define LOAD_COLUMNS(X, t) \
	X(t, period_start, timestamptz, none, row->begin, \
	  "When the period began, by the wall clock.", .key = PFS_KEY_PERIOD_START, .since = PFS_SINCE_1_1) \
	X(t, period_end, timestamptz, none, row->end, \
	  "When it ended. The next one of the same resolution begins here, unless the recorder did not run, or the " \
	  "clock was set.", .key = PFS_KEY_PERIOD_END, .since = PFS_SINCE_1_1) \
	X(t, resolution, interval, none, resolution_datum(row->resolution), \
	  "How long a period should be: a second, or what the recorder is set to; a minute; ten minutes. The same load is in each " \
	  "resolution: ask for one of them.", .key = PFS_KEY_RESOLUTION, .since = PFS_SINCE_1_1) \
	X(t, type, text, none, type_names[row->row.key.type], \
	  "FOREGROUND: inside statements, those of parallel workers too; BACKGROUND: waits for a resource outside of " \
	  "statements.", .width = 10, .since = PFS_SINCE_1_1) \
	X(t, wait_event_type, text, none, pfs_load_class_name(row->row.key.class), \
	  "As in pg_stat_activity; also Spin; CPU: time of statements less the waits in them; Idle in transaction, " \
	  "which is no active session.", .width = 10, .since = PFS_SINCE_1_1) \
	X(t, event_name, text, none, event_name_of(&row->row.key), \
	  "Name of the instrument, as in setup_instruments; cpu. NULL, with all up to digest_text: the remainder of " \
	  "this type and wait_event_type, all but the period's 32 largest rows. That of CPU is always there.", \
	  .width = 30, .since = PFS_SINCE_1_1) \
	X(t, database_name, text, none, \
	  OidIsValid(row->row.key.database) ? pfs_scan_database_name(scan, row->row.key.database) : NULL, \
	  "Database of the statement.", .width = 12, .since = PFS_SINCE_1_1) \
	X(t, user_name, text, none, \
	  OidIsValid(row->row.key.user) ? pfs_scan_role_name(scan, row->row.key.user) : NULL, \
	  "Role in effect when the statement started.", .width = 12, .since = PFS_SINCE_1_1) \
	X(t, query_id, bigint, none, \
	  PFS_NULL_IF(row->row.key.statement != PFS_LOAD_STATEMENT, row->row.key.query_id), \
	  "The server's query identifier, as in events_statements_summary_by_digest. NULL: of no statement, or of those " \
	  "that are not counted apart. " RIGHTS_OF_USER, .hidden = true, .since = PFS_SINCE_1_1) \
	X(t, digest_text, text, none, text_of(scan, &row->row.key), \
	  "Text with parameters for its constants, without secrets. NULL: not known, or 4,096 others were named by " \
	  "the history since. " RIGHTS_OF_USER, .width = 100, .hidden = true, .since = PFS_SINCE_1_1) \
	X(t, count_star, bigint, count, row->row.count, \
	  "Events that ended in the period; of CPU: statements.", .since = PFS_SINCE_1_1) \
	X(t, sum_timer_wait, numeric, picoseconds, row->row.time, \
	  "Time spent in the period, that of events which go on included, in picoseconds.", .width = 10, .since = PFS_SINCE_1_1) \
	X(t, active_sessions, float8, none, row->length == 0 ? 0.0 : (double) row->row.time / row->length, \
	  "Sessions that spent their time so, as a mean over the period: sum_timer_wait by the period's length.", \
	  .since = PFS_SINCE_1_1) \
	X(t, max_timer_wait, numeric, picoseconds, row->row.longest, \
	  "The longest of these events that was going on when the period ended, its length until then, in picoseconds; " \
	  "0: none. Of CPU it is a statement, with the waits in it.", .width = 10, .since = PFS_SINCE_1_1)

PFS_COLUMNS(load, LoadRow, LOAD_COLUMNS)

/* Adds the rows of a period. */
static void
add_period_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	PfsScan    *scan = arg;
	Interval	length = interval_of(head->resolution);

	if (scan->resolution != NULL &&
		!DatumGetBool(DirectFunctionCall2(interval_eq, IntervalPGetDatum(scan->resolution),
										  IntervalPGetDatum(&length))))
		return;
	for (int i = 0; i < head->nrows; i++)
	{
		LoadRow    *row = pfs_scan_add(scan);

		row->row = rows[i];
		row->begin = head->begin;
		row->end = head->end;
		row->length = head->length;
		row->resolution = head->resolution;
	}
}

static void
load_copy(PfsScan *scan)
{
	PfsLoadRange range = {
		scan->period_start.min, scan->period_start.max, scan->period_end.min, scan->period_end.max
	};

	for (int r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
		pfs_load_read(r, &range, add_period_cb, scan);
}

static double
load_estimate(const PfsTable *table)
{
	return pfs_load_estimate();
}

static Oid
load_role(const void *row)
{
	return ((const LoadRow *) row)->row.key.user;
}

const PfsTable pfs_table_load_history = {
	PFS_TABLE("load_history", load, "own",
			  "one kind of wait, or CPU, of one statement in one period, or all others of the period",
			  "removes all periods; pfs.reset() without a name does not",
			  "The load of the server over time, exact, in three resolutions: what time statements spent in each "
			  "kind of wait, or on the processor, in each period, those that were running included. The 32 largest "
			  "rows of each period, and what is left of each type. TRUNCATE removes all periods."),
	.spills = true,
	.estimate = load_estimate,
	.copy = load_copy,
	.role = load_role,
	.truncate = pfs_load_truncate,
	.truncated = pfs_recorder_ask_to_save,
};
