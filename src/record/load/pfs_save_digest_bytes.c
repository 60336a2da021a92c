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

/* ---- parts of both ---- */

static void
put_totals(PfsSaveWriter *w, const PfsSavedTotals *totals)
{
	pfs_save_put_u64(w, totals->count_timed);
	pfs_save_put_u64(w, totals->count_untimed);
	pfs_save_put_u128(w, totals->sum);
	pfs_save_put_u128(w, totals->min);
	pfs_save_put_u128(w, totals->max);
}

/* A number that SQL can show, with room for more of it. */
static uint64
get_count(PfsSaveReader *r)
{
	uint64		count = pfs_save_get_u64(r);

	if (count > PG_INT64_MAX / 2)
		r->failed = true;
	return count;
}

static unsigned __int128
get_ps(PfsSaveReader *r)
{
	unsigned	__int128 ps = pfs_save_get_u128(r);

	if (ps >= PFS_SAVE_PS_MAX)
		r->failed = true;
	return ps;
}

/* They are read while sessions add to them: neither has to fit the others. */
static void
get_totals(PfsSaveReader *r, PfsSavedTotals *totals)
{
	totals->count_timed = get_count(r);
	totals->count_untimed = get_count(r);
	totals->sum = get_ps(r);
	totals->min = get_ps(r);
	totals->max = get_ps(r);
}

/* Keys of all others are 0 altogether. */
static void
get_key(PfsSaveReader *r, PfsDigestKey *key)
{
	key->db_user = pfs_save_get_u64(r);
	key->query_id = pfs_save_get_u64(r);
	if (key->query_id == 0 && key->db_user != 0)
		r->failed = true;
}

/* ---- digests ---- */

uint64
pfs_save_get_frequency(PfsSaveReader *r)
{
	uint64		frequency = pfs_save_get_u64(r);

	if (frequency == 0 || frequency > UINT64CONST(1000000000000))
		r->failed = true;
	return frequency;
}

/* Writes a digest: numbers, then buckets that are not empty, then texts. */
void
pfs_save_put_digest(PfsSaveWriter *w, const PfsSavedDigest *d)
{
	uint8		nbuckets = 0;

	pfs_save_put_u64(w, d->key.db_user);
	pfs_save_put_u64(w, d->key.query_id);
	put_totals(w, &d->time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		pfs_save_put_u128(w, d->n[i]);
	pfs_save_put_u64(w, d->memory);
	pfs_save_put_u64(w, d->plans.generic);
	pfs_save_put_u64(w, d->plans.custom);
	pfs_save_put_time(w, d->first_seen);
	pfs_save_put_time(w, d->last_seen);
	/* Most are empty. */
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		nbuckets += d->buckets[b] != 0;
	pfs_save_put_u8(w, nbuckets);
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (d->buckets[b] == 0)
			continue;
		pfs_save_put_u8(w, b);
		pfs_save_put_u64(w, d->buckets[b]);
	}
	pfs_save_put_text(w, d->text, d->text_len);
	pfs_save_put_text(w, d->sample, d->sample_len);
	pfs_save_put_time(w, d->sample_seen);
	pfs_save_put_u128(w, d->sample_time);
}

StaticAssertDecl(PFS_HISTOGRAM_BUCKETS <= PG_UINT8_MAX, "a bucket's number is a byte");

/* Reads the buckets that are not empty; all others are 0. */
static void
get_buckets(PfsSaveReader *r, uint64 *buckets)
{
	uint8		n = pfs_save_get_u8(r);

	memset(buckets, 0, PFS_HISTOGRAM_BUCKETS * sizeof(uint64));
	for (int i = 0; i < n && !r->failed; i++)
	{
		uint8		b = pfs_save_get_u8(r);

		if (b >= PFS_HISTOGRAM_BUCKETS)
			r->failed = true;
		else
			buckets[b] = get_count(r);
	}
}

/* Reads a digest.  Its texts lie in what is read. */
bool
pfs_save_get_digest(PfsSaveReader *r, PfsSavedDigest *d)
{
	if (r->at == r->end)
		return false;
	get_key(r, &d->key);
	get_totals(r, &d->time);
	/* Those that are no times have the same limit. */
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		d->n[i] = get_ps(r);
	d->memory = get_count(r);
	d->plans.generic = get_count(r);
	d->plans.custom = get_count(r);
	d->first_seen = pfs_save_get_time(r);
	d->last_seen = pfs_save_get_time(r);
	get_buckets(r, d->buckets);
	d->text = pfs_save_get_text(r, PFS_SAVE_TEXT_MAX, &d->text_len);
	d->sample = pfs_save_get_text(r, PFS_SAVE_TEXT_MAX, &d->sample_len);
	d->sample_seen = pfs_save_get_time(r);
	d->sample_time = get_ps(r);
	return !r->failed;
}

bool
pfs_save_check_digests(PfsSaveReader *r)
{
	PfsSavedDigest d;

	(void) pfs_save_get_frequency(r);
	while (!r->failed && pfs_save_get_digest(r, &d))
		;
	return pfs_save_is_read(r);
}

/* ---- waits ---- */

uint32
pfs_save_get_names(PfsSaveReader *r)
{
	uint32		n = pfs_save_get_u32(r);

	/* Instruments have numbers of 16 bits. */
	if (n > PFS_NO_INSTRUMENT)
		r->failed = true;
	return n;
}

const char *
pfs_save_get_name(PfsSaveReader *r, uint32 *len)
{
	return pfs_save_get_text(r, PFS_NAME_SIZE - 1, len);
}

void
pfs_save_put_wait(PfsSaveWriter *w, const PfsSavedWait *wait)
{
	pfs_save_put_u64(w, wait->key.db_user);
	pfs_save_put_u64(w, wait->key.query_id);
	pfs_save_put_u32(w, wait->instrument);
	put_totals(w, &wait->totals);
}

bool
pfs_save_get_wait(PfsSaveReader *r, uint32 nnames, PfsSavedWait *wait)
{
	if (r->at == r->end)
		return false;
	get_key(r, &wait->key);
	wait->instrument = pfs_save_get_u32(r);
	if (wait->instrument >= nnames)
		r->failed = true;
	get_totals(r, &wait->totals);
	return !r->failed;
}

/* Reads a whole section of waits: names, then waits that refer to them. */
bool
pfs_save_check_waits(PfsSaveReader *r)
{
	uint32		nnames;
	PfsSavedWait wait;
	uint32		len;

	nnames = pfs_save_get_names(r);
	for (uint32 i = 0; i < nnames && !r->failed; i++)
		(void) pfs_save_get_name(r, &len);
	while (!r->failed && pfs_save_get_wait(r, nnames, &wait))
		;
	return pfs_save_is_read(r);
}

/* ---- rows ---- */

void
pfs_save_put_rows(PfsSaveWriter *w, const PfsSavedRows *rows)
{
	pfs_save_put_u64(w, rows->key.db_user);
	pfs_save_put_u64(w, rows->key.query_id);
	pfs_save_put_u32(w, rows->database);
	pfs_save_put_u32(w, rows->relation);
	pfs_save_put_u32(w, rows->index);
	put_totals(w, &rows->all);
	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		pfs_save_put_u64(w, rows->counts[i]);
}

/* Reads rows of a table or an index; there is no index without its table. */
bool
pfs_save_get_rows(PfsSaveReader *r, PfsSavedRows *rows)
{
	if (r->at == r->end)
		return false;
	get_key(r, &rows->key);
	rows->database = pfs_save_get_u32(r);
	rows->relation = pfs_save_get_u32(r);
	rows->index = pfs_save_get_u32(r);
	if (rows->relation == InvalidOid)
		r->failed = true;
	get_totals(r, &rows->all);
	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		rows->counts[i] = get_count(r);
	return !r->failed;
}

bool
pfs_save_check_rows(PfsSaveReader *r)
{
	PfsSavedRows rows;

	while (!r->failed && pfs_save_get_rows(r, &rows))
		;
	return pfs_save_is_read(r);
}

/* ---- resets ---- */

const char *
pfs_save_get_reset(PfsSaveReader *r, uint32 *len, TimestampTz *time)
{
	const char *table = pfs_save_get_text(r, NAMEDATALEN - 1, len);

	*time = pfs_save_get_time(r);
	if (table == NULL)
		r->failed = true;
	return r->failed ? NULL : table;
}

bool
pfs_save_check_resets(PfsSaveReader *r)
{
	uint32		len;
	TimestampTz time;

	while (r->at < r->end && pfs_save_get_reset(r, &len, &time) != NULL)
		;
	return pfs_save_is_read(r);
}
