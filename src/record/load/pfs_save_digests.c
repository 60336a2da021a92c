/*
 * pfs_save_digests.c
 *	  Sections of the file: digests and plans with their texts and histograms, their waits, their rows of
 *	  tables, nodes of plans, and since when they count.
 *
 * What sessions have counted and not added to their digests is in, as readers see it, too.
 *
 * Separate from the bytes, which a program without a server reads.
 */
#include "postgres.h"

#include "pfs_digest_restore.h"
#include "pfs_save.h"
#include "pfs_save_digest_bytes.h"
#include "pfs_save_names.h"
#include "pfs_secret.h"
#include "pfs_shared.h"

/* Tables whose rows go on after a restart, TRUNCATE of each of which has its own time. */
static const char *const tables[] = {
	"events_statements_summary_by_digest", "events_statements_histogram_by_digest",
	"events_waits_summary_by_digest", "table_io_waits_summary_by_digest", "plans_summary_by_digest",
	"plan_nodes_summary_by_plan", "events_waits_summary_by_plan_node",
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

/* ---- digests ---- */

/* Puts a text without its secret, which nobody may find in a file; palloc'd if it has one. */
void
pfs_save_hide_secret(PfsText *string)
{
	int			visible = string->text == NULL ? -1 : pfs_find_secret(string->text, string->len);

	if (visible < 0)
		return;
	string->text = psprintf("%.*s " PFS_SECRET_TEXT, visible, string->text);
	string->len = strlen(string->text);
}

/* The sets, and the kinds of records that they are. */
static PfsDigestSet *const sets[] = {&pfs_digests, &pfs_plans};
static const int kinds[] = {PFS_SAVED_DIGESTS_DIGEST, PFS_SAVED_DIGESTS_PLAN};

typedef struct PutDigests
{
	PfsSaveWriter *w;
	int			kind;
} PutDigests;

/* Puts a row as readers get it, its texts without secrets. */
static void
put_digest_cb(const PfsDigestRow *row, void *arg)
{
	const PutDigests *put = arg;
	PfsSavedDigest d = {.row = *row};

	memcpy(d.buckets, row->buckets, sizeof(d.buckets));
	pfs_save_hide_secret(&d.row.text);
	pfs_save_hide_secret(&d.row.sample);
	pfs_save_put_record(put->w, &pfs_save_digests_format, put->kind, &d);
}

/* Writes both sets: since when they count, the timer of their histograms, the rows. */
static void
digests_write(PfsSaveWriter *w)
{
	PfsSavedTimer timer = {w->frequency};

	pfs_save_put_reset(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_RESET,
					   "events_statements_summary_by_digest");
	pfs_save_put_reset(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_RESET,
					   "events_statements_histogram_by_digest");
	pfs_save_put_reset(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_RESET, "plans_summary_by_digest");
	pfs_save_put_record(w, &pfs_save_digests_format, PFS_SAVED_DIGESTS_TIMER, &timer);
	for (int i = 0; i < lengthof(sets); i++)
	{
		PutDigests	put = {w, kinds[i]};

		pfs_digests_read(sets[i], PFS_DIGEST_BUCKETS | PFS_DIGEST_TEXT | (i == 0 ? PFS_DIGEST_SAMPLE : 0), put_digest_cb, &put);
	}
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

/* The file may have anything: no minimum is more than the maximum. */
static void
limit_min(PfsTotals *totals)
{
	totals->min = Min(totals->min, totals->max);
}

/* Makes a digest or a plan of what the file has of it. */
static void
use_digest(PfsDigestSet *set, PfsSavedDigest *d)
{
	d->row.last_seen = Max(d->row.last_seen, d->row.first_seen);
	d->row.buckets = d->buckets;
	limit_min(&d->row.totals.time);
	pfs_digest_restore(set, &d->row);
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
 * Makes all records of a set.  Where there are more than places, those seen last come first, and the
 * others are added to all others.
 */
static void
use_set(const PfsSaveRecords *records, PfsDigestSet *set, int kind_of_set, PfsSavedAny *record)
{
	PfsSaveRecords r = *records;
	PfsSavedDigest *d = (PfsSavedDigest *) record;
	uint64		frequency = 0;
	uint32		most = 0;
	Place	   *places;
	uint32		n = 0;
	int			kind;

	while ((kind = pfs_save_get_record(&r, record)) >= 0)
		most += kind == kind_of_set;
	places = MemoryContextAllocHuge(CurrentMemoryContext, (Size) Max(most, 1) * sizeof(Place));
	r = *records;
	for (const char *at = r.bytes.at; (kind = pfs_save_get_record(&r, record)) >= 0; at = r.bytes.at)
	{
		if (kind == PFS_SAVED_DIGESTS_TIMER)
			frequency = ((const PfsSavedTimer *) record)->frequency;
		if (kind == kind_of_set)
			places[n++] = (Place)
		{
			at, d->row.last_seen
		};
	}
	if (n > set->pages->records_max)
		qsort(places, n, sizeof(Place), compare_places);
	for (uint32 i = 0; i < n; i++)
	{
		r.bytes.at = places[i].at;
		if (pfs_save_get_record(&r, record) != kind_of_set)
			continue;
		convert_buckets(d->buckets, frequency, r.frequency);
		use_digest(set, d);
	}
	pfree(places);
}

static void
digests_use(PfsSaveRecords *r)
{
	PfsSavedAny *record = palloc(sizeof(PfsSavedAny));

	pfs_save_use_resets(r, PFS_SAVED_DIGESTS_RESET);
	for (int i = 0; i < lengthof(sets); i++)
	{
		if (sets[i]->pages->records_max > 0)
			use_set(r, sets[i], kinds[i], record);
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

	if (row->instrument < put->nnames)
		pfs_save_put_record(put->w, &pfs_save_waits_format, PFS_SAVED_WAITS_WAIT, row);
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
digest_waits_use(PfsSaveRecords *r)
{
	PfsSavedName *names = pfs_save_take_names(r, PFS_SAVED_WAITS_EVENT);
	PfsSavedAny record;
	PfsDigestWaitRow *row = (PfsDigestWaitRow *) &record;

	pfs_save_use_resets(r, PFS_SAVED_WAITS_RESET);
	while (pfs_sizes.digests > 0 && pfs_save_get_kind(r, PFS_SAVED_WAITS_WAIT, &record))
	{
		row->instrument = pfs_saved_instrument(&names[row->instrument]);
		limit_min(&row->totals);
		if (row->instrument != PFS_NO_INSTRUMENT)
			pfs_digest_wait_restore(row);
	}
}

const PfsSaveSection pfs_save_digest_waits = {
	.format = &pfs_save_waits_format,
	.write = digest_waits_write,
	.use = digest_waits_use,
};

/* ---- rows of tables ---- */

static void
put_rows_cb(const PfsDigestRowsRow *row, void *arg)
{
	pfs_save_put_record(arg, &pfs_save_rows_format, PFS_SAVED_ROWS_ROWS, row);
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
digest_rows_use(PfsSaveRecords *r)
{
	PfsSavedAny record;
	PfsDigestRowsRow *row = (PfsDigestRowsRow *) &record;

	pfs_save_use_resets(r, PFS_SAVED_ROWS_RESET);
	while (pfs_sizes.digests > 0 && pfs_sizes.tables > 0 && pfs_save_get_kind(r, PFS_SAVED_ROWS_ROWS, &record))
	{
		limit_min(&row->all);
		pfs_digest_rows_restore(row);
	}
}

const PfsSaveSection pfs_save_digest_rows = {
	.format = &pfs_save_rows_format,
	.write = digest_rows_write,
	.use = digest_rows_use,
};

/* ---- nodes of plans ---- */

static void
put_node_cb(const PfsNodeRow *row, void *arg)
{
	PfsNodeRow	node = *row;

	/* What is less than nothing by estimates is nothing. */
	if ((int64) node.sums.self < 0)
		node.sums.self = 0;
	pfs_save_put_record(arg, &pfs_save_nodes_format, PFS_SAVED_NODES_NODE, &node);
}

static void
put_node_wait_cb(const PfsNodeWaitRow *row, void *arg)
{
	PutWaits   *put = arg;

	if (row->instrument < put->nnames)
		pfs_save_put_record(put->w, &pfs_save_nodes_format, PFS_SAVED_NODES_WAIT, row);
}

static void
plan_nodes_write(PfsSaveWriter *w)
{
	PutWaits	put = {.w = w};

	pfs_save_put_reset(w, &pfs_save_nodes_format, PFS_SAVED_NODES_RESET, "plan_nodes_summary_by_plan");
	pfs_save_put_reset(w, &pfs_save_nodes_format, PFS_SAVED_NODES_RESET, "events_waits_summary_by_plan_node");
	put.nnames = pfs_save_put_names(w, &pfs_save_nodes_format, PFS_SAVED_NODES_EVENT);
	pfs_nodes_read(put_node_cb, w);
	pfs_node_waits_read(PFS_NO_INSTRUMENT, put_node_wait_cb, &put);
}

/* The nodes of a plan lie one behind another, from Output on: they are made as a whole. */
static void
plan_nodes_use(PfsSaveRecords *r)
{
	PfsSavedName *names = pfs_save_take_names(r, PFS_SAVED_NODES_EVENT);
	PfsSavedAny record;
	PfsNodeRow *node = (PfsNodeRow *) &record;
	PfsNodeWaitRow *wait = (PfsNodeWaitRow *) &record;
	PfsNodeRow *plan = palloc(PFS_NODES_MAX * sizeof(PfsNodeRow));
	uint32		n = 0;
	int			kind;

	pfs_save_use_resets(r, PFS_SAVED_NODES_RESET);
	while (pfs_sizes.plan_nodes > 0 && pfs_sizes.plans > 0 && (kind = pfs_save_get_record(r, &record)) >= 0)
	{
		if (n > 0 && (kind != PFS_SAVED_NODES_NODE || node->key.number != n))
		{
			pfs_nodes_restore(plan, n);
			n = 0;
		}
		if (kind == PFS_SAVED_NODES_NODE && node->key.number == n)
			plan[n++] = *node;
		if (kind != PFS_SAVED_NODES_WAIT)
			continue;
		wait->instrument = pfs_saved_instrument(&names[wait->instrument]);
		limit_min(&wait->totals);
		if (wait->instrument != PFS_NO_INSTRUMENT)
			pfs_node_wait_restore(wait);
	}
	if (n > 0)
		pfs_nodes_restore(plan, n);
	pfree(plan);
}

const PfsSaveSection pfs_save_plan_nodes = {
	.format = &pfs_save_nodes_format,
	.write = plan_nodes_write,
	.use = plan_nodes_use,
};
