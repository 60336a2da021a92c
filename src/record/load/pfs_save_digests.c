/*
 * pfs_save_digests.c
 *	  Sections of the file: digests with their texts and histograms, their waits, their rows of
 *	  tables, and since when they count.
 *
 * What sessions have counted and not added to their digests is in, as readers see it, too.
 *
 * Separate from the bytes, which a program without a server reads.
 */
#include "postgres.h"

#include "pfs_digest_restore.h"
#include "pfs_digest_rows_read.h"
#include "pfs_save.h"
#include "pfs_save_digest_bytes.h"
#include "pfs_save_names.h"
#include "pfs_secret.h"
#include "pfs_shared.h"

/* Tables whose rows go on after a restart, TRUNCATE of each of which has its own time. */
static const char *const tables[] = {
	"events_statements_summary_by_digest", "events_statements_histogram_by_digest",
	"events_waits_summary_by_digest", "table_io_waits_summary_by_digest",
	"load_history",
};

/* Has this server such rows? */
static bool
are_kept(const char *table)
{
	return strcmp(table, "load_history") == 0 || pfs_sizes.digests > 0;
}

/* ---- since when ---- */

void
pfs_save_put_reset(PfsSaveWriter *w, const PfsSaveFormat *format, int kind, const char *table)
{
	PfsSavedReset reset = {{table, strlen(table)}, pfs_reset_time(table)};

	if (are_kept(table))
		pfs_save_put_record(w, format, kind, &reset);
}

/* Only of the tables whose rows are kept, and no time after the start, whatever the file says. */
void
pfs_save_use_resets(const PfsSaveRecords *records, int kind)
{
	PfsSaveRecords r = *records;
	PfsSavedAny record;
	const PfsSavedReset *reset = (const PfsSavedReset *) &record;

	while (pfs_save_get_kind(&r, kind, &record))
	{
		for (int i = 0; i < lengthof(tables); i++)
		{
			if (are_kept(tables[i]) && strlen(tables[i]) == reset->table.len &&
				memcmp(tables[i], reset->table.text, reset->table.len) == 0)
				pfs_reset_time_set(tables[i], Min(reset->time, pfs_clock->start_time));
		}
	}
}

/* ---- units ---- */

static unsigned __int128
ps_of(unsigned __int128 ticks)
{
	return pfs_ticks_to_ps(pfs_timer_default(), ticks);
}

static unsigned __int128
ticks_of(unsigned __int128 ps)
{
	return pfs_ps_to_ticks(pfs_timer_default(), ps);
}

/* Of one event: a word. */
static uint64
ticks_of_one(unsigned __int128 ps)
{
	unsigned	__int128 ticks = ticks_of(ps);

	return ticks > PG_UINT64_MAX ? PG_UINT64_MAX : (uint64) ticks;
}

static PfsSavedTotals
totals_to_save(const PfsTotals *totals)
{
	PfsSavedTotals saved = {.count_timed = totals->count_timed, .count_untimed = totals->count_untimed};

	if (totals->count_timed > 0)
	{
		saved.sum = ps_of(totals->sum);
		saved.min = ps_of(totals->min);
		saved.max = ps_of(totals->max);
	}
	return saved;
}

static PfsTotals
totals_of(const PfsSavedTotals *saved)
{
	PfsTotals	totals = {.count_timed = saved->count_timed, .count_untimed = saved->count_untimed};

	totals.sum = ticks_of(saved->sum);
	totals.max = ticks_of_one(saved->max);
	totals.min = Min(ticks_of_one(saved->min), totals.max);
	return totals;
}

static PfsSavedKey
key_to_save(const PfsDigestKey *key)
{
	return (PfsSavedKey)
	{
		PFS_DIGEST_DATABASE(key->db_user), PFS_DIGEST_USER(key->db_user), key->query_id
	};
}

static PfsDigestKey
key_of(const PfsSavedKey *saved)
{
	return pfs_digest_key(saved->database, saved->user, saved->query_id);
}

/* ---- digests ---- */

/* Is a counter of statements a time, in ticks? */
#define IN_TICKS(counter, name, unit) [counter] = unit == PFS_UNIT_TICKS,

static const bool in_ticks[PFS_NUM_COUNTERS] = {PFS_COUNTERS(IN_TICKS)};

/* Puts a text without its secret, which nobody may find in a file; palloc'd if it has one. */
void
pfs_save_hide_secret(PfsSavedString *string)
{
	int			visible = string->text == NULL ? -1 : pfs_find_secret(string->text, string->len);

	if (visible < 0)
		return;
	string->text = psprintf("%.*s " PFS_SECRET_TEXT, visible, string->text);
	string->len = strlen(string->text);
}

/* Puts a row as readers get it, in picoseconds, its texts without secrets. */
static void
put_digest_cb(const PfsDigestRow *row, void *arg)
{
	PfsSavedDigest d = {
		.key = key_to_save(&row->key),
		.time = totals_to_save(&row->totals.time),
		.memory = row->totals.memory,
		.generic_plans = row->totals.plans.generic,
		.custom_plans = row->totals.plans.custom,
		.first_seen = row->first_seen,
		.last_seen = row->last_seen,
		.text = {row->text, row->text_len},
		.sample = {row->sample, row->sample_len},
		.sample_seen = row->sample_seen,
		.sample_time = ps_of(row->sample_ticks),
	};

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		d.n[i] = in_ticks[i] ? ps_of(row->totals.n[i]) : row->totals.n[i];
	memcpy(d.buckets, row->buckets, sizeof(d.buckets));
	pfs_save_hide_secret(&d.text);
	pfs_save_hide_secret(&d.sample);
	pfs_save_put_record(arg, &pfs_save_digests_format, PFS_SAVED_DIGESTS_DIGEST, &d);
}

static void
digests_write(PfsSaveWriter *w)
{
	PfsSavedTimer timer = {pfs_clock->frequency[pfs_timer_default()]};

	pfs_save_put_reset(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_RESET,
					   "events_statements_summary_by_digest");
	pfs_save_put_reset(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_RESET,
					   "events_statements_histogram_by_digest");
	pfs_save_put_record(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_TIMER, &timer);
	pfs_digests_read(PFS_DIGEST_BUCKETS | PFS_DIGEST_TEXT | PFS_DIGEST_SAMPLE, put_digest_cb, w);
}

/* Frequencies that differ by less than one part in so many are one frequency, measured twice. */
#define SAME_FREQUENCY 100

/*
 * Moves buckets to where their values lie by this server's timer: ranges are in ticks.  A
 * value may get into a neighbour of its range then.
 */
static void
convert_buckets(uint64 *buckets, uint64 from, uint64 to)
{
	uint64		old[PFS_HISTOGRAM_BUCKETS];

	if (from == 0 || Max(from, to) - Min(from, to) < to / SAME_FREQUENCY)
		return;
	memcpy(old, buckets, sizeof(old));
	memset(buckets, 0, sizeof(old));
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		unsigned	__int128 middle = pfs_histogram_low(b);

		if (b < PFS_HISTOGRAM_BUCKETS - 1)
			middle = (middle + pfs_histogram_high(b)) / 2;
		middle = middle * to / from;
		buckets[pfs_histogram_bucket(middle > PG_UINT64_MAX ? PG_UINT64_MAX : (uint64) middle)] += old[b];
	}
}

/* Makes a digest of what the file has of it, in ticks of this server's clock. */
static void
use_digest(PfsSavedDigest *d)
{
	PfsDigestRow row = {
		.key = key_of(&d->key),
		.totals = {
			.time = totals_of(&d->time),
			.memory = d->memory,
			.plans = {d->generic_plans, d->custom_plans},
		},
		.first_seen = d->first_seen,
		.last_seen = Max(d->last_seen, d->first_seen),
		.buckets = d->buckets,
		.text = d->text.text,
		.text_len = d->text.len,
		.sample = d->sample.text,
		.sample_len = d->sample.len,
		.sample_seen = d->sample_seen,
		.sample_ticks = ticks_of_one(d->sample_time),
	};

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		row.totals.n[i] = in_ticks[i] ? ticks_of(d->n[i]) : d->n[i];
	pfs_digest_restore(&row);
}

/* Where a digest lies in the section. */
typedef struct Place
{
	const char *at;
	TimestampTz last_seen;
} Place;

/* The latest first: those behind may find no room. */
static int
compare_places(const void *a, const void *b)
{
	const Place *x = a;
	const Place *y = b;

	return (x->last_seen < y->last_seen) - (x->last_seen > y->last_seen);
}

/*
 * Makes all digests.  Where there are more than places, those seen last come first, and the
 * others are added to all others.
 */
static void
digests_use(PfsSaveRecords *r, const PfsSaveHead *head)
{
	PfsSaveRecords again = *r;
	PfsSavedAny *record = palloc(sizeof(PfsSavedAny));
	PfsSavedDigest *d = (PfsSavedDigest *) record;
	uint64		frequency = 0;
	Place	   *places;
	uint32		n = 0;
	uint32		ndigests;
	int			kind;

	pfs_save_use_resets(r, PFS_SAVED_DIGESTS_RESET);
	if (pfs_sizes.digests == 0)
		return;
	while (pfs_save_get_record(&again, record) >= 0)
		;
	ndigests = again.nread[PFS_SAVED_DIGESTS_DIGEST];
	places = MemoryContextAllocHuge(CurrentMemoryContext, (Size) Max(ndigests, 1) * sizeof(Place));
	again = *r;
	for (const char *at = again.bytes.at; (kind = pfs_save_get_record(&again, record)) >= 0; at = again.bytes.at)
	{
		if (kind == PFS_SAVED_DIGESTS_TIMER)
			frequency = ((const PfsSavedTimer *) record)->frequency;
		if (kind == PFS_SAVED_DIGESTS_DIGEST)
			places[n++] = (Place)
		{
			at, d->last_seen
		};
	}
	if (n > pfs_sizes.digests)
		qsort(places, n, sizeof(Place), compare_places);
	for (uint32 i = 0; i < n; i++)
	{
		r->bytes.at = places[i].at;
		if (pfs_save_get_record(r, record) != PFS_SAVED_DIGESTS_DIGEST)
			continue;
		convert_buckets(d->buckets, frequency, pfs_clock->frequency[pfs_timer_default()]);
		use_digest(d);
	}
}

const PfsSaveSection pfs_save_digests = {
	.format = &pfs_save_digests_format,
	.write = digests_write,
	.use = digests_use,
};

/* ---- waits ---- */

typedef struct PutWaits
{
	PfsSaveWriter *w;
	uint32		nnames;
} PutWaits;

/* An instrument that has come since the names were written is in the next file. */
static void
put_wait_cb(const PfsDigestWaitRow *row, void *arg)
{
	PutWaits   *put = arg;
	PfsSavedWait wait = {key_to_save(&row->key), row->instrument, totals_to_save(&row->totals)};

	if (row->instrument < put->nnames)
		pfs_save_put_record(put->w, &pfs_save_waits_format, PFS_SAVED_WAITS_WAIT, &wait);
}

static void
digest_waits_write(PfsSaveWriter *w)
{
	PutWaits	put = {.w = w};

	pfs_save_put_reset(w, &pfs_save_waits_format, PFS_SAVED_WAITS_RESET,
					   "events_waits_summary_by_digest");
	put.nnames = pfs_save_put_names(w, &pfs_save_waits_format, PFS_SAVED_WAITS_EVENT);
	pfs_digest_waits_read(PFS_NO_INSTRUMENT, put_wait_cb, &put);
}

/* Adds waits to their digests.  Those of a name that no instrument has are left out. */
static void
digest_waits_use(PfsSaveRecords *r, const PfsSaveHead *head)
{
	PfsSavedName *names = pfs_save_take_names(r, PFS_SAVED_WAITS_EVENT);
	PfsSavedAny record;
	const PfsSavedWait *wait = (const PfsSavedWait *) &record;

	pfs_save_use_resets(r, PFS_SAVED_WAITS_RESET);
	while (pfs_sizes.digests > 0 && pfs_save_get_kind(r, PFS_SAVED_WAITS_WAIT, &record))
	{
		PfsInstrumentId instrument = pfs_saved_instrument(&names[wait->event]);
		PfsDigestWaitRow row = {key_of(&wait->key), instrument, totals_of(&wait->time)};

		if (instrument != PFS_NO_INSTRUMENT)
			pfs_digest_wait_restore(&row);
	}
}

const PfsSaveSection pfs_save_digest_waits = {
	.format = &pfs_save_waits_format,
	.write = digest_waits_write,
	.use = digest_waits_use,
};

/* ---- rows of tables ---- */

/* Puts rows of a table or an index as readers get them, in picoseconds. */
static void
put_rows_cb(const PfsDigestRowsRow *row, void *arg)
{
	PfsSavedRows saved = {
		.key = key_to_save(&row->key),
		.relation_database = row->database,
		.relation = row->relation,
		.index = row->index,
		.time = totals_to_save(&row->all),
	};

	/* A run can have had its time, and not have found a row. */
	saved.time.sum = ps_of(row->all.sum);
	memcpy(saved.counts, row->counts, sizeof(saved.counts));
	pfs_save_put_record(arg, &pfs_save_rows_format, PFS_SAVED_ROWS_ROWS, &saved);
}

static void
digest_rows_write(PfsSaveWriter *w)
{
	pfs_save_put_reset(w, &pfs_save_rows_format, PFS_SAVED_ROWS_RESET,
					   "table_io_waits_summary_by_digest");
	pfs_digest_rows_read(put_rows_cb, w);
}

/*
 * Adds rows to their digests.  A table that has been dropped since is one that no database
 * shows; where pfs was not there to see the drop, its numbers stay until the database goes.
 */
static void
digest_rows_use(PfsSaveRecords *r, const PfsSaveHead *head)
{
	PfsSavedAny record;
	const PfsSavedRows *saved = (const PfsSavedRows *) &record;

	pfs_save_use_resets(r, PFS_SAVED_ROWS_RESET);
	if (pfs_sizes.digests == 0 || pfs_sizes.tables == 0)
		return;
	while (pfs_save_get_kind(r, PFS_SAVED_ROWS_ROWS, &record))
	{
		PfsDigestRowsRow row = {
			.key = key_of(&saved->key),
			.database = saved->relation_database,
			.relation = saved->relation,
			.index = saved->index,
			.all = totals_of(&saved->time),
		};

		memcpy(row.counts, saved->counts, sizeof(row.counts));
		pfs_digest_rows_restore(&row);
	}
}

const PfsSaveSection pfs_save_digest_rows = {
	.format = &pfs_save_rows_format,
	.write = digest_rows_write,
	.use = digest_rows_use,
};
