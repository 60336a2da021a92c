/*
 * pfs_save_digest_bytes.c
 *	  How digests, their waits and their rows of tables lie in the file: putting them there,
 *	  and reading what may be anything.
 */
#include "postgres.h"

#include "pfs_save_digest_bytes.h"
#include "pfs_sizes.h"

StaticAssertDecl(PFS_NUM_COUNTERS == 24 && PFS_SAVE_DIGESTS_VERSION == 1,
				 "a file with other counters has another version");
StaticAssertDecl(PFS_NUM_ROW_COUNTS == 4 && PFS_SAVE_ROWS_VERSION == 1,
				 "a file with other counts of rows has another version");

/* What stands for a secret may make a text longer. */
#define PFS_SAVE_TEXT_MAX (PFS_TEXT_LENGTH_MAX + 64)

/* ---- fields of several records ---- */

/* A number that SQL can show, with room for more of it. */
static void
count_field(PfsSaveCodec *c, uint64 *count)
{
	if (pfs_save_field(c, count, sizeof(*count)) && *count > PG_INT64_MAX / 2)
		c->from->failed = true;
}

static void
ps_field(PfsSaveCodec *c, PfsTicks *ps)
{
	if (pfs_save_field(c, ps, sizeof(*ps)) && *ps >= PFS_SAVE_PS_MAX)
		c->from->failed = true;
}

/* They are read while sessions add to them: neither has to fit the others. */
static void
totals_fields(PfsSaveCodec *c, PfsSavedTotals *totals)
{
	count_field(c, &totals->count_timed);
	count_field(c, &totals->count_untimed);
	ps_field(c, &totals->sum);
	ps_field(c, &totals->min);
	ps_field(c, &totals->max);
}

/* Keys of all others are 0 altogether. */
static void
key_fields(PfsSaveCodec *c, PfsDigestKey *key)
{
	(void) pfs_save_field(c, &key->db_user, sizeof(key->db_user));
	if (pfs_save_field(c, &key->query_id, sizeof(key->query_id)) && key->query_id == 0 && key->db_user != 0)
		c->from->failed = true;
}

/* ---- digests ---- */

uint64
pfs_save_get_frequency(PfsSaveReader *r)
{
	uint64		frequency;

	pfs_save_get_into(r, &frequency, sizeof(frequency));
	if (frequency == 0 || frequency > UINT64CONST(1000000000000))
		r->failed = true;
	return frequency;
}

StaticAssertDecl(PFS_HISTOGRAM_BUCKETS <= PG_UINT8_MAX, "a bucket's number is a byte");

/* Most buckets are empty: how many are not, then those, each behind its number. */
static void
bucket_fields(PfsSaveCodec *c, uint64 *buckets)
{
	uint8		n = 0;
	uint8		b = 0;

	if (c->from != NULL)
		memset(buckets, 0, PFS_HISTOGRAM_BUCKETS * sizeof(uint64));
	for (int i = 0; i < PFS_HISTOGRAM_BUCKETS; i++)
		n += buckets[i] != 0;
	(void) pfs_save_field(c, &n, sizeof(n));
	for (int i = 0; i < n; i++, b++)
	{
		while (c->to != NULL && buckets[b] == 0)
			b++;
		if (pfs_save_field(c, &b, sizeof(b)) && b >= PFS_HISTOGRAM_BUCKETS)
		{
			c->from->failed = true;
			return;
		}
		count_field(c, &buckets[b]);
	}
}

/* A digest: numbers, then buckets, then texts, which lie in what is read. */
void
pfs_save_digest_fields(PfsSaveCodec *c, void *digest)
{
	PfsSavedDigest *d = digest;

	key_fields(c, &d->key);
	totals_fields(c, &d->time);
	/* Those that are no times have the same limit. */
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		ps_field(c, &d->n[i]);
	count_field(c, &d->memory);
	count_field(c, &d->plans.generic);
	count_field(c, &d->plans.custom);
	pfs_save_time_field(c, &d->first_seen);
	pfs_save_time_field(c, &d->last_seen);
	bucket_fields(c, d->buckets);
	(void) pfs_save_text_field(c, &d->text, &d->text_len, PFS_SAVE_TEXT_MAX);
	(void) pfs_save_text_field(c, &d->sample, &d->sample_len, PFS_SAVE_TEXT_MAX);
	pfs_save_time_field(c, &d->sample_seen);
	ps_field(c, &d->sample_time);
}

bool
pfs_save_check_digests(PfsSaveReader *r)
{
	PfsSavedDigest d;

	(void) pfs_save_get_frequency(r);
	return pfs_save_check_records(r, pfs_save_digest_fields, &d);
}

/* ---- waits ---- */

void
pfs_save_wait_fields(PfsSaveCodec *c, void *wait)
{
	PfsSavedWait *w = wait;

	key_fields(c, &w->key);
	if (pfs_save_field(c, &w->instrument, sizeof(w->instrument)) && w->instrument >= c->from->nnames)
		c->from->failed = true;
	totals_fields(c, &w->totals);
}

/* Reads a whole section of waits: names, then waits that refer to them. */
bool
pfs_save_check_waits(PfsSaveReader *r)
{
	PfsSavedWait wait;

	pfs_save_skip_names(r);
	return pfs_save_check_records(r, pfs_save_wait_fields, &wait);
}

/* ---- rows ---- */

/* Rows of a table or an index; there is no index without its table. */
void
pfs_save_rows_fields(PfsSaveCodec *c, void *rows)
{
	PfsSavedRows *saved = rows;

	key_fields(c, &saved->key);
	(void) pfs_save_field(c, &saved->database, sizeof(saved->database));
	if (pfs_save_field(c, &saved->relation, sizeof(saved->relation)) && saved->relation == InvalidOid)
		c->from->failed = true;
	(void) pfs_save_field(c, &saved->index, sizeof(saved->index));
	totals_fields(c, &saved->all);
	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		count_field(c, &saved->counts[i]);
}

bool
pfs_save_check_rows(PfsSaveReader *r)
{
	PfsSavedRows rows;

	return pfs_save_check_records(r, pfs_save_rows_fields, &rows);
}

/* ---- resets ---- */

void
pfs_save_reset_fields(PfsSaveCodec *c, void *reset)
{
	PfsSavedReset *saved = reset;

	if (pfs_save_text_field(c, &saved->table, &saved->len, NAMEDATALEN - 1) && saved->table == NULL)
		c->from->failed = true;
	pfs_save_time_field(c, &saved->time);
}

bool
pfs_save_check_resets(PfsSaveReader *r)
{
	PfsSavedReset reset;

	return pfs_save_check_records(r, pfs_save_reset_fields, &reset);
}
