/*
 * pfs_save_digest_bytes.c
 *	  How digests, their waits and their rows of tables lie in the file: the lists of their
 *	  fields.
 *
 * The name of a field never changes and is given to no other.  What is left out here is passed over
 * in files that have it; what is new is zero in files that have it not.
 */
#include "postgres.h"

#include "pfs_save_digest_bytes.h"
#include "pfs_sizes.h"

StaticAssertDecl(sizeof(PfsSavedDigest) <= PFS_SAVE_RECORD_SIZE, "room for any record");

/* ---- fields of several records ---- */

#define KEY_FIELDS(type) \
	PFS_SAVE_AS("database", type, key.database, PFS_SAVE_NUMBER), \
	PFS_SAVE_AS("user", type, key.user, PFS_SAVE_NUMBER), \
	PFS_SAVE_AS("query_id", type, key.query_id, PFS_SAVE_NUMBER)

/* They are read while sessions add to them: neither has to fit the others. */
#define TOTALS_FIELDS(type) \
	PFS_SAVE_AS("count_timed", type, time.count_timed, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("count_untimed", type, time.count_untimed, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("time", type, time.sum, PFS_SAVE_SUM), \
	PFS_SAVE_AS("shortest", type, time.min, PFS_SAVE_SUM), \
	PFS_SAVE_AS("longest", type, time.max, PFS_SAVE_SUM)

static bool
is_key(const PfsSavedKey *key)
{
	return key->query_id != 0 || (key->database == InvalidOid && key->user == InvalidOid);
}

/* ---- digests ---- */

static const PfsSaveField timer_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedTimer, frequency, PFS_SAVE_NUMBER),
};

static bool
timer_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsSavedTimer *timer = record;

	return timer->frequency > 0 && timer->frequency <= UINT64CONST(1000000000000);
}

#define COUNTER_FIELD(counter, name, unit) PFS_SAVE_AS(name, PfsSavedDigest, n[counter], PFS_SAVE_SUM),

static const PfsSaveField digest_fields[] = {
	KEY_FIELDS(PfsSavedDigest),
	TOTALS_FIELDS(PfsSavedDigest),
	PFS_COUNTERS(COUNTER_FIELD)
	PFS_SAVE_MEMBER(PfsSavedDigest, memory, PFS_SAVE_COUNT),
	PFS_SAVE_MEMBER(PfsSavedDigest, generic_plans, PFS_SAVE_COUNT),
	PFS_SAVE_MEMBER(PfsSavedDigest, custom_plans, PFS_SAVE_COUNT),
	PFS_SAVE_MEMBER(PfsSavedDigest, first_seen, PFS_SAVE_TIME),
	PFS_SAVE_MEMBER(PfsSavedDigest, last_seen, PFS_SAVE_TIME),
	PFS_SAVE_MEMBER(PfsSavedDigest, buckets, PFS_SAVE_BUCKETS),
	PFS_SAVE_MEMBER(PfsSavedDigest, text, PFS_SAVE_TEXT),
	PFS_SAVE_MEMBER(PfsSavedDigest, sample, PFS_SAVE_TEXT),
	PFS_SAVE_MEMBER(PfsSavedDigest, sample_seen, PFS_SAVE_TIME),
	PFS_SAVE_MEMBER(PfsSavedDigest, sample_time, PFS_SAVE_SUM),
};

static bool
digest_is_possible(const void *record, const PfsSaveRecords *r)
{
	return is_key(&((const PfsSavedDigest *) record)->key);
}

static const PfsSaveRecord timer_record =
PFS_SAVE_RECORD("timer", timer_fields, PfsSavedTimer, .is_possible = timer_is_possible);
static const PfsSaveRecord digest_record =
PFS_SAVE_RECORD("digest", digest_fields, PfsSavedDigest, .is_possible = digest_is_possible);

static const PfsSaveRecord *const digests_records[] = {
	[PFS_SAVED_DIGESTS_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_DIGESTS_TIMER] = &timer_record,
	[PFS_SAVED_DIGESTS_DIGEST] = &digest_record,
};

const PfsSaveFormat pfs_save_digests_format = {
	"digests", digests_records, lengthof(digests_records)
};

/* ---- waits ---- */

static const PfsSaveField wait_fields[] = {
	KEY_FIELDS(PfsSavedWait),
	PFS_SAVE_MEMBER(PfsSavedWait, event, PFS_SAVE_NUMBER),
	TOTALS_FIELDS(PfsSavedWait),
};

static bool
wait_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsSavedWait *wait = record;

	return is_key(&wait->key) && wait->event < r->nread[PFS_SAVED_WAITS_EVENT];
}

static const PfsSaveRecord wait_record =
PFS_SAVE_RECORD("wait", wait_fields, PfsSavedWait, .is_possible = wait_is_possible);

static const PfsSaveRecord *const waits_records[] = {
	[PFS_SAVED_WAITS_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_WAITS_EVENT] = &pfs_save_event_record,
	[PFS_SAVED_WAITS_WAIT] = &wait_record,
};

const PfsSaveFormat pfs_save_waits_format = {
	"digest_waits", waits_records, lengthof(waits_records)
};

/* ---- rows ---- */

#define ROW_COUNT_FIELD(part, name) PFS_SAVE_AS(name, PfsSavedRows, counts[part], PFS_SAVE_COUNT),

static const PfsSaveField rows_fields[] = {
	KEY_FIELDS(PfsSavedRows),
	PFS_SAVE_MEMBER(PfsSavedRows, relation_database, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRows, relation, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRows, index, PFS_SAVE_NUMBER),
	TOTALS_FIELDS(PfsSavedRows),
	PFS_ROW_COUNTS(ROW_COUNT_FIELD)
};

/* There is no index without its table. */
static bool
rows_are_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsSavedRows *rows = record;

	return is_key(&rows->key) && OidIsValid(rows->relation);
}

static const PfsSaveRecord rows_record =
PFS_SAVE_RECORD("rows", rows_fields, PfsSavedRows, .is_possible = rows_are_possible);

static const PfsSaveRecord *const rows_records[] = {
	[PFS_SAVED_ROWS_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_ROWS_ROWS] = &rows_record,
};

const PfsSaveFormat pfs_save_rows_format = {
	"digest_rows", rows_records, lengthof(rows_records)
};
