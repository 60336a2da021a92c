/*
 * pfs_table_digests.c
 *	  events_statements_summary_by_digest, events_statements_histogram_by_digest,
 *	  events_waits_summary_by_digest.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_buckets.h"
#include "pfs_digest.h"
#include "pfs_statement_numbers.h"
#include "pfs_tables.h"
#include "pfs_tw.h"
#include "pfs_value.h"

/* ---- keys ---- */

enum
{
	DATABASE_NAME,
	USER_NAME,
	QUERY_ID,
	NUM_KEYS,
};

#define KEY_COLUMNS \
	[DATABASE_NAME] = {"database_name", TEXTOID, .width = 12}, \
	[USER_NAME] = {"user_name", TEXTOID, .width = 12}, \
	[QUERY_ID] = {"query_id", INT8OID, .hidden = true}

/* Neighbours are often of one database and one user. */
typedef struct Names
{
	uint64		who;
	char	   *database;
	char	   *user;
} Names;

static Names *
names_of(PfsScan *scan, uint64 who)
{
	Names	   *names = scan->table_private;
	MemoryContext old;

	if (names != NULL && names->who == who && names->database != NULL)
		return names;
	old = MemoryContextSwitchTo(scan->rows_context);
	if (names == NULL)
		names = scan->table_private = palloc0(sizeof(Names));
	names->who = who;
	names->database = pfs_database_name(PFS_DIGEST_DATABASE(who));
	names->user = pfs_role_name(PFS_DIGEST_USER(who));
	MemoryContextSwitchTo(old);
	return names;
}

static Datum
key_get(PfsScan *scan, const PfsDigestKey *key, int column, bool *isnull)
{
	if (key->query_id == 0)
		return pfs_null(isnull);	/* all others */
	if (column == QUERY_ID)
		return Int64GetDatum((int64) key->query_id);
	return pfs_text_datum(column == DATABASE_NAME ? names_of(scan, key->who)->database
						  : names_of(scan, key->who)->user);
}

/* Every row begins with its key. */
static Oid
key_role(const void *row)
{
	const PfsDigestKey *key = row;

	return key->query_id == 0 ? InvalidOid : PFS_DIGEST_USER(key->who);
}

/* ---- events_statements_summary_by_digest ---- */

enum
{
	DIGEST_TEXT = NUM_KEYS,
	TW,
	SUMS = TW + PFS_TW_NCOLUMNS,
	FIRST_SEEN = SUMS + PFS_STATEMENT_SUM_NCOLUMNS,
	LAST_SEEN,
	QUANTILE_95,
	QUANTILE_99,
	QUANTILE_999,
	QUERY_SAMPLE_TEXT,
	QUERY_SAMPLE_SEEN,
	QUERY_SAMPLE_TIMER_WAIT,
};

static const PfsColumn summary_columns[] = {
	KEY_COLUMNS,
	[DIGEST_TEXT] = {"digest_text", TEXTOID, .width = 100, .hidden = true},
	PFS_TW_COLUMNS(TW),
	PFS_STATEMENT_SUM_COLUMNS(SUMS),
	[FIRST_SEEN] = {"first_seen", TIMESTAMPTZOID},
	[LAST_SEEN] = {"last_seen", TIMESTAMPTZOID},
	[QUANTILE_95] = {"quantile_95", NUMERICOID, .width = 10},
	[QUANTILE_99] = {"quantile_99", NUMERICOID, .width = 10},
	[QUANTILE_999] = {"quantile_999", NUMERICOID, .width = 10},
	[QUERY_SAMPLE_TEXT] = {"query_sample_text", TEXTOID, .width = 100, .hidden = true},
	[QUERY_SAMPLE_SEEN] = {"query_sample_seen", TIMESTAMPTZOID},
	[QUERY_SAMPLE_TIMER_WAIT] = {"query_sample_timer_wait", NUMERICOID, .width = 10},
};

typedef struct SummaryRow
{
	PfsDigestKey key;
	PfsDigestRow digest;
	uint64		quantile[PFS_NUM_QUANTILES];	/* ticks */
} SummaryRow;

static void
add_summary_cb(const PfsDigestRow *digest, void *arg)
{
	SummaryRow *row = pfs_scan_add(arg);

	row->key = digest->key;
	row->digest = *digest;
	if (digest->buckets != NULL)
		pfs_buckets_quantiles(digest->buckets, digest->totals.time.max, row->quantile);
}

/* What only serves columns that nobody asked for is not copied. */
static void
summary_copy(PfsScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->rows_context);
	int			parts = 0;

	if (scan->needed[DIGEST_TEXT])
		parts |= PFS_DIGEST_TEXT;
	if (scan->needed[QUANTILE_95] || scan->needed[QUANTILE_99] || scan->needed[QUANTILE_999])
		parts |= PFS_DIGEST_BUCKETS;
	if (scan->needed[QUERY_SAMPLE_TEXT] || scan->needed[QUERY_SAMPLE_SEEN] || scan->needed[QUERY_SAMPLE_TIMER_WAIT])
		parts |= PFS_DIGEST_SAMPLE;
	pfs_digests_read(parts, add_summary_cb, scan);
	MemoryContextSwitchTo(old);
}

static Datum
time_datum(uint64 ticks)
{
	return NumericGetDatum(pfs_ps_to_numeric(pfs_ticks_to_ps(pfs_timer_default(), ticks)));
}

/* Somebody else's text, in this database's encoding, and without secrets. */
static Datum
text_of(const SummaryRow *row, const char *str, uint32 len, bool *isnull)
{
	if (str == NULL || len == 0)
		return pfs_null(isnull);
	return pfs_text_datum(pfs_text_of_statement(str, len, pfs_database_encoding(PFS_DIGEST_DATABASE(row->key.who))));
}

static Datum
summary_get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const SummaryRow *row = copied;
	const PfsDigestRow *digest = &row->digest;

	if (column < NUM_KEYS)
		return key_get(scan, &row->key, column, isnull);
	if (column >= TW && column < SUMS)
		return pfs_tw_get(&digest->totals.time, column - TW);
	if (column >= SUMS && column < FIRST_SEEN)
		return pfs_statement_sum_get(&digest->totals, column - SUMS, isnull);
	switch (column)
	{
		case DIGEST_TEXT:
			return text_of(row, digest->text, digest->text_len, isnull);
		case FIRST_SEEN:
			return TimestampTzGetDatum(digest->first_seen);
		case LAST_SEEN:
			return TimestampTzGetDatum(digest->last_seen);
		case QUERY_SAMPLE_TEXT:
			return text_of(row, digest->sample, digest->sample_len, isnull);
		case QUERY_SAMPLE_SEEN:
			return digest->sample == NULL ? pfs_null(isnull) : TimestampTzGetDatum(digest->sample_seen);
		case QUERY_SAMPLE_TIMER_WAIT:
			return digest->sample == NULL ? pfs_null(isnull) : time_datum(digest->sample_ticks);
		default:
			return time_datum(row->quantile[column - QUANTILE_95]);
	}
}

const PfsTable pfs_table_statements_by_digest = {
	.name = "events_statements_summary_by_digest",
	.row_is = "one shape of statements of one user in one database, or all others",
	.truncate_effect = "removes the rows, also of the histogram and the waits by digest",
	.columns = summary_columns,
	.ncolumns = lengthof(summary_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = pfs_digests_estimate,
	.copy = summary_copy,
	.get = summary_get,
	.role = key_role,
	.truncate = pfs_digests_truncate,
	.in_reset_all = true,
};

/* ---- events_statements_histogram_by_digest ---- */

static const PfsColumn histogram_columns[] = {
	KEY_COLUMNS,
	PFS_BUCKET_COLUMNS(NUM_KEYS),
};

typedef struct HistogramRow
{
	PfsDigestKey key;
	PfsBucketRow bucket;
} HistogramRow;

static void
add_histogram_cb(const PfsDigestRow *digest, void *arg)
{
	PfsBucketRow buckets[PFS_HISTOGRAM_BUCKETS];
	int			n = pfs_buckets_rows(digest->buckets, buckets);

	for (int i = 0; i < n; i++)
	{
		HistogramRow *row = pfs_scan_add(arg);

		row->key = digest->key;
		row->bucket = buckets[i];
	}
}

static void
histogram_copy(PfsScan *scan)
{
	pfs_digests_read(PFS_DIGEST_BUCKETS, add_histogram_cb, scan);
}

static Datum
histogram_get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const HistogramRow *row = copied;

	if (column < NUM_KEYS)
		return key_get(scan, &row->key, column, isnull);
	return pfs_bucket_get(&row->bucket, column - NUM_KEYS, isnull);
}

/* A shape's times are alike. */
#define BUCKETS_PER_DIGEST 8

static double
histogram_estimate(void)
{
	return BUCKETS_PER_DIGEST * pfs_digests_estimate();
}

const PfsTable pfs_table_statements_histogram_by_digest = {
	.name = "events_statements_histogram_by_digest",
	.row_is = "one range of lengths of one shape of statements",
	.truncate_effect = "empties it; quantiles become 0",
	.columns = histogram_columns,
	.ncolumns = lengthof(histogram_columns),
	.row_size = sizeof(HistogramRow),
	.estimate = histogram_estimate,
	.copy = histogram_copy,
	.get = histogram_get,
	.role = key_role,
	.truncate = pfs_digest_buckets_truncate,
	.in_reset_all = true,
};

/* ---- events_waits_summary_by_digest ---- */

#define WAITS_EVENT_NAME NUM_KEYS
#define WAITS_TW (WAITS_EVENT_NAME + 1)

static const PfsColumn waits_columns[] = {
	KEY_COLUMNS,
	[WAITS_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	PFS_TW_COLUMNS(WAITS_TW),
};

static void
add_wait_cb(const PfsDigestWaitRow *row, void *arg)
{
	*(PfsDigestWaitRow *) pfs_scan_add(arg) = *row;
}

static void
waits_copy(PfsScan *scan)
{
	pfs_digest_waits_read(scan->instrument, add_wait_cb, scan);
}

static Datum
waits_get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const PfsDigestWaitRow *row = copied;

	if (column < NUM_KEYS)
		return key_get(scan, &row->key, column, isnull);
	if (column == WAITS_EVENT_NAME)
		return pfs_event_name_datum(row->instrument, isnull);
	return pfs_tw_get(&row->totals, column - WAITS_TW);
}

const PfsTable pfs_table_waits_by_digest = {
	.name = "events_waits_summary_by_digest",
	.row_is = "one kind of wait of one shape of statements",
	.truncate_effect = "zeroes it",
	.columns = waits_columns,
	.ncolumns = lengthof(waits_columns),
	.row_size = sizeof(PfsDigestWaitRow),
	.estimate = pfs_digest_waits_estimate,
	.copy = waits_copy,
	.get = waits_get,
	.role = key_role,
	.truncate = pfs_digest_waits_truncate,
	.in_reset_all = true,
};
