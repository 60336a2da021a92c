/*
 * pfs_families.c
 *	  The families of events, the families of summaries and the kinds of counted
 *	  objects, each with what it differs in.  They are listed here, above the rooms of all
 *	  of them, so that code for all families knows none.
 *
 * Code for all families reads them in its own room, where they are copied to once: an
 * instrument point finds them at an address that the linker knows.
 */
#include "postgres.h"

#include "pfs_digest_pending.h"
#include "pfs_error.h"
#include "pfs_event_cell.h"
#include "pfs_event_read.h"
#include "pfs_lwlock_event.h"
#include "pfs_memory.h"
#include "pfs_register.h"
#include "pfs_stage.h"
#include "pfs_statement.h"
#include "pfs_summary.h"

#define TABLES(family) \
	"events_" family "_current", "events_" family "_history", "events_" family "_history_long"

/*
 * Statements and transactions come a hundred thousand times a second at most, and
 * their blocks change hands once for several of them; lanes for each processor would
 * cost them hundreds of megabytes.
 */
static const PfsEventFamilyInfo event_families[PFS_NUM_EVENT_FAMILIES] = {
	[PFS_WAITS] = {
		PFS_WAIT_DEPTH, true, TABLES("waits"),
		.size = sizeof(PfsWaitEvent),
		.block_size = 4096,
		.item_min = PFS_WAIT_LINE,
		.item_max = sizeof(PfsWait),
		.run_size = PFS_WAIT_LINE,
		.last_reading = pfs_lwlock_last_reading,
	},
	[PFS_STAGES] = {
		PFS_STAGE_DEPTH, true, TABLES("stages"),
		.size = sizeof(PfsStageEvent),
		.block_size = 4096,
		.item_min = PFS_STAGE_STORED_MIN,
		.item_max = PFS_STAGE_STORED,
		.record = pfs_stage_event_record,
	},
	[PFS_STATEMENTS] = {
		PFS_STATEMENT_DEPTH, false, TABLES("statements"),
		.size = offsetof(PfsStatementEvent, texts),
		.more = pfs_statement_texts_size,
		.block_size = 4096,
		.item_min = PFS_STATEMENT_STORED_MIN,
		.record = pfs_statement_event_record,
	},
	[PFS_TRANSACTIONS] = {
		PFS_TRANSACTION_DEPTH, false, TABLES("transactions"),
		.size = sizeof(PfsTransactionEvent),
		.item_min = PFS_TRANSACTION_STORED_MIN,
	},
};

/* Families that are not here have nothing of their own for readers. */
static const PfsEventFamilyRead event_family_reads[PFS_NUM_EVENT_FAMILIES] = {
	[PFS_WAITS] = {
		.unpack = pfs_wait_event_unpack, .source = &pfs_lwlock_event_source, .also_running = pfs_rel_runs_current,
		.complete = pfs_wait_event_complete
	},
	[PFS_STAGES] = {.running = pfs_stage_event_running},
	[PFS_STATEMENTS] = {
		.bytes = pfs_statement_event_used, .unpack = pfs_statement_event_unpack,
		.complete = pfs_statement_event_complete
	},
	[PFS_TRANSACTIONS] = {
		.bytes = pfs_transaction_event_used, .look = pfs_transaction_event_look,
		.complete = pfs_transaction_event_complete
	},
};

#define SUMMARY_KIND(number, family) &pfs_##family##_kind,
#define COUNTED_KIND(number, kind) &pfs_counted_##kind,

static const PfsSummaryKind *const summary_kinds[] = {PFS_FAMILIES(SUMMARY_KIND)};
static const PfsCountedKind *const counted_kinds[] = {PFS_COUNTED_KINDS(COUNTED_KIND)};

StaticAssertDecl(sizeof(PfsTotals) <= PFS_TOTALS_SIZE_MAX && sizeof(PfsMemoryTotals) <= PFS_TOTALS_SIZE_MAX &&
				 sizeof(PfsStatementTotals) <= PFS_TOTALS_SIZE_MAX && sizeof(PfsTransactionTotals) <= PFS_TOTALS_SIZE_MAX &&
				 sizeof(PfsErrorCell) <= PFS_TOTALS_SIZE_MAX, "a private sum of any family has room");

#define FITS(type) (sizeof(type) + sizeof(uint64) <= PFS_ACCOUNT_CHUNK_SIZE)

StaticAssertDecl(FITS(PfsSharedCell) && FITS(PfsSharedStatementCell) && FITS(PfsSharedTransactionCell) &&
				 FITS(PfsSharedMemoryCell) && FITS(PfsErrorCell), "a chunk of an account's counters has room for a cell of any family");
StaticAssertDecl(sizeof(PfsStatementCell) <= PFS_COUNTERS_CHUNK && sizeof(PfsErrorCell) <= PFS_COUNTERS_CHUNK,
				 "a chunk of a thread's cells has room for one");

void
pfs_families_register(void)
{
	memcpy(pfs_event_families, event_families, sizeof(event_families));
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
		pfs_event_records[f] = event_families[f].record;
	memcpy(pfs_summary_kinds, summary_kinds, sizeof(summary_kinds));
	pfs_summary_pending[PFS_FAMILY_STATEMENTS] = &pfs_statement_pending;
	memcpy(pfs_counted_kinds, counted_kinds, sizeof(counted_kinds));
	pfs_event_family_reads = event_family_reads;
}
