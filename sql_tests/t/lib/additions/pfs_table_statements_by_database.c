/*
 * pfs_table_statements_by_database.c
 *	  events_statements_summary_by_database: what statements of each database counted, a sum over
 *	  digests.
 */
#include "postgres.h"

#include "pfs_digest.h"
#include "pfs_statement_counters.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

typedef struct DatabaseRow
{
	uint64		database;		/* its OID, or 0: all other digests */
	PfsStatementTotals totals;
} DatabaseRow;

static void
add_digest_cb(const PfsDigestRow *digest, void *arg)
{
	DatabaseRow *row = pfs_scan_add(arg);

	row->database = digest->key.query_id == 0 ? 0 : PFS_DIGEST_DATABASE(digest->key.db_user);
	row->totals = digest->totals;
}

static void
add_row(void *to, const void *row)
{
	PfsStatementTotals *totals = &((DatabaseRow *) to)->totals;
	const PfsStatementTotals *more = &((const DatabaseRow *) row)->totals;

	pfs_totals_add(&totals->time, &more->time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		totals->n[i] += more->n[i];
	totals->memory = Max(totals->memory, more->memory);
}

static void
copy(PfsScan *scan)
{
	pfs_digests_read(&pfs_digests, 0, add_digest_cb, scan);
	pfs_scan_unite(scan, offsetof(DatabaseRow, totals), add_row);
}

#define COLUMNS_OF_DATABASE(X, t) \
	X(t, database_name, text, none, pfs_scan_database_name(scan, row->database), \
	  "Database in which they ran; NULL: all other digests.", .width = 12) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals.time, "Statements counted.") \
	PFS_STATEMENT_SUM_COLUMNS(X, t, &row->totals)

PFS_COLUMNS(statements_by_database, DatabaseRow, COLUMNS_OF_DATABASE)

const PfsTable pfs_table_statements_by_database = {
	PFS_TABLE("events_statements_summary_by_database", statements_by_database, "own", "one database", "refused",
			  "Counts and times of statements by database, as their digests have them."),
	.containers = {&pfs_digests.pages},
	.copy = copy,
};
