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
are_kept(int table)
{
	return strcmp(tables[table], "load_history") == 0 || pfs_sizes.digests > 0;
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

/* ---- digests ---- */

/* Puts a text without its secret, which nobody may find in a file; palloc'd if it has one. */
void
pfs_save_hide_secret(const char **text, uint32 *len)
{
	int			visible = *text == NULL ? -1 : pfs_find_secret(*text, *len);
	char	   *hidden;

	if (visible < 0)
		return;
	hidden = psprintf("%.*s " PFS_SECRET_TEXT, visible, *text);
	*text = hidden;
	*len = strlen(hidden);
}

/* Puts a row as readers get it, in picoseconds, its texts without secrets. */
static void
put_digest_cb(const PfsDigestRow *row, void *arg)
{
	PfsSavedDigest d = {
		.key = row->key,
		.time = totals_to_save(&row->totals.time),
		.memory = row->totals.memory,
		.plans = row->totals.plans,
		.first_seen = row->first_seen,
		.last_seen = row->last_seen,
		.text = row->text,
		.text_len = row->text_len,
		.sample = row->sample,
		.sample_len = row->sample_len,
		.sample_seen = row->sample_seen,
		.sample_time = ps_of(row->sample_ticks),
	};

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		d.n[i] = pfs_save_is_time(i) ? ps_of(row->totals.n[i]) : row->totals.n[i];
	memcpy(d.buckets, row->buckets, sizeof(d.buckets));
	pfs_save_hide_secret(&d.text, &d.text_len);
	pfs_save_hide_secret(&d.sample, &d.sample_len);
	pfs_save_put_record(arg, pfs_save_digest_fields, &d);
}

static void
digests_write(PfsSaveWriter *w)
{
	pfs_save_put(w, &pfs_clock->frequency[pfs_timer_default()], sizeof(uint64));
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

	if (Max(from, to) - Min(from, to) < to / SAME_FREQUENCY)
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
		.key = d->key,
		.totals = {.time = totals_of(&d->time), .memory = d->memory, .plans = d->plans},
		.first_seen = d->first_seen,
		.last_seen = Max(d->last_seen, d->first_seen),
		.buckets = d->buckets,
		.text = d->text,
		.text_len = d->text_len,
		.sample = d->sample,
		.sample_len = d->sample_len,
		.sample_seen = d->sample_seen,
		.sample_ticks = ticks_of_one(d->sample_time),
	};

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		row.totals.n[i] = pfs_save_is_time(i) ? ticks_of(d->n[i]) : d->n[i];
	pfs_digest_restore(&row);
}

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
digests_use(PfsSaveReader *r, const PfsSaveHead *head)
{
	uint64		frequency = pfs_save_get_frequency(r);
	PfsSaveReader again = *r;
	PfsSavedDigest *d = palloc(sizeof(PfsSavedDigest));
	Place	   *places;
	uint32		n = 0;

	if (pfs_sizes.digests == 0)
		return;
	while (pfs_save_get_record(&again, pfs_save_digest_fields, d))
		n++;
	places = MemoryContextAllocHuge(CurrentMemoryContext, (Size) Max(n, 1) * sizeof(Place));
	for (uint32 i = 0; i < n; i++)
	{
		places[i].at = r->at;
		(void) pfs_save_get_record(r, pfs_save_digest_fields, d);
		places[i].last_seen = d->last_seen;
	}
	if (n > pfs_sizes.digests)
		qsort(places, n, sizeof(Place), compare_places);
	for (uint32 i = 0; i < n; i++)
	{
		again = (PfsSaveReader)
		{
			.at = places[i].at, .end = r->end
		};
		if (!pfs_save_get_record(&again, pfs_save_digest_fields, d))
			continue;
		convert_buckets(d->buckets, frequency, pfs_clock->frequency[pfs_timer_default()]);
		use_digest(d);
	}
}

const PfsSaveSection pfs_save_digests = {
	.name = "digests",
	.version = PFS_SAVE_DIGESTS_VERSION,
	.write = digests_write,
	.check = pfs_save_check_digests,
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
	PfsSavedWait wait = {row->key, row->instrument, totals_to_save(&row->totals)};

	if (row->instrument < put->nnames)
		pfs_save_put_record(put->w, pfs_save_wait_fields, &wait);
}

static void
digest_waits_write(PfsSaveWriter *w)
{
	PutWaits	put = {w, pfs_save_put_names(w)};

	pfs_digest_waits_read(PFS_NO_INSTRUMENT, put_wait_cb, &put);
}

/* Adds waits to their digests.  Those of a name that no instrument has are left out. */
static void
digest_waits_use(PfsSaveReader *r, const PfsSaveHead *head)
{
	PfsSavedName *names;
	PfsSavedWait wait;

	pfs_save_skip_names(r);
	names = pfs_save_take_names(r);
	if (pfs_sizes.digests == 0)
		return;
	while (pfs_save_get_record(r, pfs_save_wait_fields, &wait))
	{
		PfsDigestWaitRow row = {wait.key, pfs_saved_instrument(&names[wait.instrument]), totals_of(&wait.totals)};

		if (row.instrument != PFS_NO_INSTRUMENT)
			pfs_digest_wait_restore(&row);
	}
}

const PfsSaveSection pfs_save_digest_waits = {
	.name = "digest_waits",
	.version = PFS_SAVE_WAITS_VERSION,
	.write = digest_waits_write,
	.check = pfs_save_check_waits,
	.use = digest_waits_use,
};

/* ---- rows of tables ---- */

/* Puts rows of a table or an index as readers get them, in picoseconds. */
static void
put_rows_cb(const PfsDigestRowsRow *row, void *arg)
{
	PfsSavedRows saved = {
		.key = row->key,
		.database = row->database,
		.relation = row->relation,
		.index = row->index,
		.all = totals_to_save(&row->all),
	};

	/* A run can have had its time, and not have found a row. */
	saved.all.sum = ps_of(row->all.sum);
	memcpy(saved.counts, row->counts, sizeof(saved.counts));
	pfs_save_put_record(arg, pfs_save_rows_fields, &saved);
}

static void
digest_rows_write(PfsSaveWriter *w)
{
	pfs_digest_rows_read(put_rows_cb, w);
}

/*
 * Adds rows to their digests.  A table that has been dropped since is one that no database
 * shows; where pfs was not there to see the drop, its numbers stay until the database goes.
 */
static void
digest_rows_use(PfsSaveReader *r, const PfsSaveHead *head)
{
	PfsSavedRows saved;

	if (pfs_sizes.digests == 0 || pfs_sizes.tables == 0)
		return;
	while (pfs_save_get_record(r, pfs_save_rows_fields, &saved))
	{
		PfsDigestRowsRow row = {
			.key = saved.key,
			.database = saved.database,
			.relation = saved.relation,
			.index = saved.index,
			.all = totals_of(&saved.all),
		};

		memcpy(row.counts, saved.counts, sizeof(row.counts));
		pfs_digest_rows_restore(&row);
	}
}

const PfsSaveSection pfs_save_digest_rows = {
	.name = "digest_rows",
	.version = PFS_SAVE_ROWS_VERSION,
	.write = digest_rows_write,
	.check = pfs_save_check_rows,
	.use = digest_rows_use,
};

/* ---- since when ---- */

static void
resets_write(PfsSaveWriter *w)
{
	for (int i = 0; i < lengthof(tables); i++)
	{
		if (are_kept(i))
		{
			PfsSavedReset reset = {tables[i], strlen(tables[i]), pfs_reset_time(tables[i])};

			pfs_save_put_record(w, pfs_save_reset_fields, &reset);
		}
	}
}

/* Only of the tables whose rows are kept, and no time after the start, whatever the file says. */
static void
resets_use(PfsSaveReader *r, const PfsSaveHead *head)
{
	PfsSavedReset reset;

	while (pfs_save_get_record(r, pfs_save_reset_fields, &reset))
	{
		for (int i = 0; i < lengthof(tables); i++)
		{
			if (are_kept(i) && strlen(tables[i]) == reset.len && memcmp(tables[i], reset.table, reset.len) == 0)
				pfs_reset_time_set(tables[i], Min(reset.time, pfs_clock->start_time));
		}
	}
}

const PfsSaveSection pfs_save_resets = {
	.name = "resets",
	.version = PFS_SAVE_RESETS_VERSION,
	.write = resets_write,
	.check = pfs_save_check_resets,
	.use = resets_use,
};
