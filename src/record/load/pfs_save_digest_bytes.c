/*
 * pfs_save_digest_bytes.c
 *	  How digests, their waits and their rows of tables, and nodes of plans lie in the file: the lists
 *	  of their fields.
 *
 * The name of a field never changes and is given to no other.  What is left out here is passed over
 * in files that have it; what is new is zero in files that have it not.
 */
#include "postgres.h"

#include "pfs_save_digest_bytes.h"
#include "pfs_sizes.h"

StaticAssertDecl(sizeof(PfsSavedDigest) <= PFS_SAVE_RECORD_SIZE, "room for any record");

/* ---- fields of several records ---- */

/* Database and user are the halves of one word (PFS_DIGEST_DATABASE, PFS_DIGEST_USER). */
#define KEY_FIELDS(type, key) \
	{"database", PFS_SAVE_NUMBER, offsetof(type, key.db_user) + sizeof(Oid), sizeof(Oid)}, \
	{"user", PFS_SAVE_NUMBER, offsetof(type, key.db_user), sizeof(Oid)}, \
	PFS_SAVE_AS("query_id", type, key.query_id, PFS_SAVE_NUMBER)

/* They are read while sessions add to them: neither has to fit the others. */
#define TOTALS_FIELDS(type, totals) \
	PFS_SAVE_AS("count_timed", type, totals.count_timed, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("count_untimed", type, totals.count_untimed, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("time", type, totals.sum, PFS_SAVE_TICKS), \
	PFS_SAVE_AS("shortest", type, totals.min, PFS_SAVE_TICKS), \
	PFS_SAVE_AS("longest", type, totals.max, PFS_SAVE_TICKS)

/* Of all others nothing is set. */
static bool
is_key(const PfsDigestKey *key)
{
	return key->query_id != 0 || key->db_user == 0;
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

#define COUNTER_FIELD(counter, name, unit) \
	PFS_SAVE_AS(name, PfsSavedDigest, row.totals.n[counter], unit == PFS_UNIT_TICKS ? PFS_SAVE_TICKS : PFS_SAVE_SUM),

#define STATEMENTS_FIELDS \
	KEY_FIELDS(PfsSavedDigest, row.key), \
	TOTALS_FIELDS(PfsSavedDigest, row.totals.time), \
	PFS_COUNTERS(COUNTER_FIELD) \
	PFS_SAVE_AS("memory", PfsSavedDigest, row.totals.memory, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("generic_plans", PfsSavedDigest, row.totals.plans.generic, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("custom_plans", PfsSavedDigest, row.totals.plans.custom, PFS_SAVE_COUNT), \
	PFS_SAVE_AS("first_seen", PfsSavedDigest, row.first_seen, PFS_SAVE_TIME), \
	PFS_SAVE_AS("last_seen", PfsSavedDigest, row.last_seen, PFS_SAVE_TIME), \
	PFS_SAVE_MEMBER(PfsSavedDigest, buckets, PFS_SAVE_BUCKETS), \
	PFS_SAVE_AS("text", PfsSavedDigest, row.text, PFS_SAVE_TEXT)

static const PfsSaveField digest_fields[] = {
	STATEMENTS_FIELDS,
	PFS_SAVE_AS("sample", PfsSavedDigest, row.sample, PFS_SAVE_TEXT),
	PFS_SAVE_AS("sample_seen", PfsSavedDigest, row.sample_seen, PFS_SAVE_TIME),
	PFS_SAVE_AS("sample_time", PfsSavedDigest, row.sample_ticks, PFS_SAVE_TICKS),
};

/* Estimates are the bits of a double. */
static const PfsSaveField plan_fields[] = {
	STATEMENTS_FIELDS,
	PFS_SAVE_AS("plan_id", PfsSavedDigest, row.plan_id, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("cost", PfsSavedDigest, row.plan.cost, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("rows", PfsSavedDigest, row.plan.rows, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("server_plan_id", PfsSavedDigest, row.plan.server_plan_id, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("nodes", PfsSavedDigest, row.plan.nodes, PFS_SAVE_NUMBER),
};

static bool
digest_is_possible(const void *record, const PfsSaveRecords *r)
{
	return is_key(&((const PfsSavedDigest *) record)->row.key);
}

static bool
plan_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsDigestRow *row = &((const PfsSavedDigest *) record)->row;

	return is_key(&row->key) && (row->key.query_id != 0) == (row->plan_id != 0);
}

static const PfsSaveRecord timer_record =
PFS_SAVE_RECORD("timer", timer_fields, PfsSavedTimer, .is_possible = timer_is_possible);
static const PfsSaveRecord digest_record =
PFS_SAVE_RECORD("digest", digest_fields, PfsSavedDigest, .is_possible = digest_is_possible);
static const PfsSaveRecord plan_record =
PFS_SAVE_RECORD("plan", plan_fields, PfsSavedDigest, .is_possible = plan_is_possible);

static const PfsSaveRecord *const digests_records[] = {
	[PFS_SAVED_DIGESTS_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_DIGESTS_TIMER] = &timer_record,
	[PFS_SAVED_DIGESTS_DIGEST] = &digest_record,
	[PFS_SAVED_DIGESTS_PLAN] = &plan_record,
};

const PfsSaveFormat pfs_save_digests_format = {
	"digests", digests_records, lengthof(digests_records)
};

/* ---- waits ---- */

static const PfsSaveField wait_fields[] = {
	KEY_FIELDS(PfsDigestWaitRow, key),
	PFS_SAVE_AS("event", PfsDigestWaitRow, instrument, PFS_SAVE_NUMBER),
	TOTALS_FIELDS(PfsDigestWaitRow, totals),
};

static bool
wait_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsDigestWaitRow *wait = record;

	return is_key(&wait->key) && wait->instrument < r->nread[PFS_SAVED_WAITS_EVENT];
}

static const PfsSaveRecord wait_record =
PFS_SAVE_RECORD("wait", wait_fields, PfsDigestWaitRow, .is_possible = wait_is_possible);

static const PfsSaveRecord *const waits_records[] = {
	[PFS_SAVED_WAITS_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_WAITS_EVENT] = &pfs_save_event_record,
	[PFS_SAVED_WAITS_WAIT] = &wait_record,
};

const PfsSaveFormat pfs_save_waits_format = {
	"digest_waits", waits_records, lengthof(waits_records)
};

/* ---- rows ---- */

#define ROW_COUNT_FIELD(part, name) PFS_SAVE_AS(name, PfsDigestRowsRow, counts[part], PFS_SAVE_COUNT),

static const PfsSaveField rows_fields[] = {
	KEY_FIELDS(PfsDigestRowsRow, key),
	PFS_SAVE_AS("relation_database", PfsDigestRowsRow, database, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsDigestRowsRow, relation, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsDigestRowsRow, index, PFS_SAVE_NUMBER),
	TOTALS_FIELDS(PfsDigestRowsRow, all),
	PFS_ROW_COUNTS(ROW_COUNT_FIELD)
};

/* There is no index without its table. */
static bool
rows_are_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsDigestRowsRow *rows = record;

	return is_key(&rows->key) && OidIsValid(rows->relation);
}

static const PfsSaveRecord rows_record =
PFS_SAVE_RECORD("rows", rows_fields, PfsDigestRowsRow, .is_possible = rows_are_possible);

static const PfsSaveRecord *const rows_records[] = {
	[PFS_SAVED_ROWS_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_ROWS_ROWS] = &rows_record,
};

const PfsSaveFormat pfs_save_rows_format = {
	"digest_rows", rows_records, lengthof(rows_records)
};

/* ---- nodes of plans ---- */

#define NODE_KEY_FIELDS(type) \
	KEY_FIELDS(type, key.digest), \
	PFS_SAVE_AS("plan_id", type, key.plan_id, PFS_SAVE_NUMBER), \
	PFS_SAVE_AS("node", type, key.number, PFS_SAVE_NUMBER)

/* The type is PfsNodeType; the estimate has the bits of a double. */
static const PfsSaveField node_fields[] = {
	NODE_KEY_FIELDS(PfsNodeRow),
	PFS_SAVE_AS("parent", PfsNodeRow, facts.parent, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("type", PfsNodeRow, facts.type, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("relation", PfsNodeRow, facts.relation, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("index", PfsNodeRow, facts.index, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("estimated_rows", PfsNodeRow, facts.rows, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("executions", PfsNodeRow, sums.executions, PFS_SAVE_COUNT),
	PFS_SAVE_AS("loops", PfsNodeRow, sums.loops, PFS_SAVE_COUNT),
	PFS_SAVE_AS("rows", PfsNodeRow, sums.rows, PFS_SAVE_COUNT),
	PFS_SAVE_AS("calls", PfsNodeRow, sums.calls, PFS_SAVE_COUNT),
	PFS_SAVE_AS("timed", PfsNodeRow, sums.timed, PFS_SAVE_COUNT),
	PFS_SAVE_AS("total", PfsNodeRow, sums.total, PFS_SAVE_TICKS),
	PFS_SAVE_AS("self", PfsNodeRow, sums.self, PFS_SAVE_TICKS),
	PFS_SAVE_AS("longest", PfsNodeRow, sums.max_total, PFS_SAVE_TICKS),
};

static const PfsSaveField node_wait_fields[] = {
	NODE_KEY_FIELDS(PfsNodeWaitRow),
	PFS_SAVE_AS("event", PfsNodeWaitRow, instrument, PFS_SAVE_NUMBER),
	TOTALS_FIELDS(PfsNodeWaitRow, totals),
};

/* Of all others there is one node. */
static bool
is_node_key(const PfsNodeKey *key)
{
	return is_key(&key->digest) && (key->digest.query_id != 0) == (key->plan_id != 0) && key->number < PFS_NODES_MAX &&
		(key->plan_id != 0 || key->number == 0);
}

static bool
node_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsNodeRow *node = record;

	return is_node_key(&node->key) && node->facts.type < PFS_NUM_NODE_TYPES && node->facts.parent < PFS_NODES_MAX;
}

static bool
node_wait_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsNodeWaitRow *wait = record;

	return is_node_key(&wait->key) && wait->instrument < r->nread[PFS_SAVED_NODES_EVENT];
}

static const PfsSaveRecord node_record =
PFS_SAVE_RECORD("node", node_fields, PfsNodeRow, .is_possible = node_is_possible);
static const PfsSaveRecord node_wait_record =
PFS_SAVE_RECORD("wait", node_wait_fields, PfsNodeWaitRow, .is_possible = node_wait_is_possible);

static const PfsSaveRecord *const nodes_records[] = {
	[PFS_SAVED_NODES_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_NODES_EVENT] = &pfs_save_event_record,
	[PFS_SAVED_NODES_NODE] = &node_record,
	[PFS_SAVED_NODES_WAIT] = &node_wait_record,
};

const PfsSaveFormat pfs_save_nodes_format = {
	"plan_nodes", nodes_records, lengthof(nodes_records)
};
