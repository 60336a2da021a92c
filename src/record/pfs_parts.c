/*
 * pfs_parts.c
 *	  The list of parts: all that lies in shared memory, and all that has its share in
 *	  a thread record's begin and end.  pfs_part.h says what an entry is.
 *
 * The order is that in which parts are laid out, started, begun, attached, left and
 * detached.  It matters in these places, and among kinds of counted objects it does not.
 *
 * Start.  Setup before instruments, as registering one asks for its switches; instruments
 * before all that register some; containers, whose names become instruments, behind all
 * others that have rows.  Then the catalogue is complete, and all switches take effect; and what the
 * server before this one has saved goes into the containers.
 *
 * Begin.  Memory before summaries: neither looks at the other, and both are there before the
 * record can be seen.
 *
 * Leave.  Statements before errors: ending the open ones may still say what became of the
 * last error; and before programs, whose calls contain them.
 *
 * Detach.  Open waits and runs end first, as they count for the statement's digest, for the histories, for the
 * summaries, and for objects.  Digests take what is still in the table of waits, then what is pending, of
 * which summaries get their share while they have cells; of other objects nothing is counted any more.  Histories
 * give away all blocks.  Memory stops being counted and drops to nothing in use before
 * summaries move all counters up, among them memory's, and give the account back.  Behind them the process forgets its
 * places, and its locks.
 */
#include "postgres.h"

#include "pfs_account_evict.h"
#include "pfs_actor.h"
#include "pfs_clock.h"
#include "pfs_container.h"
#include "pfs_digest.h"
#include "pfs_digest_rows.h"
#include "pfs_error.h"
#include "pfs_event_history.h"
#include "pfs_event_open.h"
#include "pfs_file_sum.h"
#include "pfs_departed.h"
#include "pfs_load_text.h"
#include "pfs_lwlock.h"
#include "pfs_memory.h"
#include "pfs_node_area.h"
#include "pfs_object_rules.h"
#include "pfs_pending.h"
#include "pfs_probe_row.h"
#include "pfs_save.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_statement.h"
#include "pfs_summary.h"
#include "pfs_recorder.h"
#include "pfs_register.h"
#include "pfs_rel_io.h"
#include "pfs_rel_stat.h"

/* A struct in the segment and the pointer to it. */
#define STRUCT(pointer) .size = sizeof(*(pointer)), .address = (void **) &(pointer)

/* A row of status. */
#define COUNTER(i, word, in, field) .counters[i] = {word, offsetof(in, field)}

#define PART(word, ...) &(const PfsPart) {.name = word, __VA_ARGS__}
#define KIND(number, kind) &pfs_part_##kind,

static const PfsPart *const parts[] = {
	PART("clock", STRUCT(pfs_clock), .start = pfs_clock_start),
	PART("setup", STRUCT(pfs_setup), .start = pfs_setup_start),
	PART("resets", STRUCT(pfs_resets)),
	PART("patience", STRUCT(pfs_patience),
		 COUNTER(0, "pfs_reads_inexact", PfsSharedPatience, reads_inexact),
		 COUNTER(1, "pfs_resets_inexact", PfsSharedPatience, resets_inexact),
		 COUNTER(2, "pfs_sequence_words_repaired", PfsSharedPatience, repaired)),
	PART("hooks", STRUCT(pfs_shared_hooks)),
	PART("instruments", STRUCT(pfs_instruments), .lay_out = pfs_instruments_lay_out,
		 .start = pfs_instruments_start, .nrows = 1, .row = pfs_container_of_instruments,
		 .reset = pfs_instruments_reset_lost),
	PART("setup_actors", STRUCT(pfs_actors.shared), .lay_out = pfs_actors_lay_out, .start = pfs_actors_start,
		 .pages = &pfs_actors.pages),
	PART("setup_objects", STRUCT(pfs_object_rules.shared), .lay_out = pfs_object_rules_lay_out,
		 .start = pfs_object_rules_start, .pages = &pfs_object_rules.pages),
	PART("threads", STRUCT(pfs_shared_threads), .lay_out = pfs_threads_lay_out, .detach = pfs_open_finish_all,
		 .pages = &pfs_threads,
		 COUNTER(0, "pfs_signal_handler_events_lost", PfsSharedThreads, reentered)),
	PART("table_runs", .lay_out = pfs_rel_runs_lay_out, .detach = pfs_rel_runs_detach),
	PART("accounts", .lay_out = pfs_accounts_lay_out, .start = pfs_accounts_start,
		 .pages = &pfs_accounts[PFS_ACCOUNTS].pages),
	PART("users", .pages = &pfs_accounts[PFS_USERS].pages),
	PART("hosts", .pages = &pfs_accounts[PFS_HOSTS].pages),
	PART("account_counters", .pages = &pfs_account_counters),
	PART("statements", .leave = pfs_statement_detach),
	PART("errors", STRUCT(pfs_errors), .leave = pfs_error_flush),
	PFS_COUNTED_KINDS(KIND)
	PART("plans", .pages = &pfs_plans.pages),
	PART("plan_nodes", STRUCT(pfs_other_nodes), .lay_out = pfs_node_areas_lay_out, .detach = pfs_node_area_detach,
		 .pages = &pfs_nodes, .sets = &pfs_node_areas),
	PART("plan_node_waits", .pages = &pfs_node_waits, .beside = pfs_node_other_waits_size),
	PART("digest_waits", .pages = &pfs_digest_waits),
	PART("digest_rows", .lay_out = pfs_digest_rows_lay_out, .pages = &pfs_digest_rows),
	PART("file_names", .pages = &pfs_file_names),
	PART("file_sums", .lay_out = pfs_file_sums_lay_out, .pages = &pfs_file_sums,
		 .beside = pfs_calls_totals_size, .sets = &pfs_pending_sets[PFS_COUNTED_FILES]),
	PART("table_locks", .pages = &pfs_rel_locks),
	PART("histories", .lay_out = pfs_histories_lay_out, .detach = pfs_histories_leave,
		 .nrows = 3 * PFS_NUM_EVENT_FAMILIES, .row = pfs_container_of_events,
		 .count_used = pfs_container_count_events, .reset = pfs_histories_reset_lost),
	PART("memory", STRUCT(pfs_memory), .switched = pfs_memory_look_again,
		 .begin = pfs_memory_total_begin, .detach = pfs_memory_end),
	PART("departed", STRUCT(pfs_departed), .lay_out = pfs_departed_lay_out, .repair = pfs_departed_repair),
	PART("summaries", .size = PFS_NUM_FAMILIES * sizeof(PfsSharedSummary), .address = (void **) &pfs_summary,
		 .lay_out = pfs_summary_lay_out, .start = pfs_families_start, .begin = pfs_summary_begin,
		 .detach = pfs_summary_end, .pages = &pfs_thread_waits, .nrows = PFS_NUM_FAMILIES,
		 .row = pfs_container_of_family, .reset = pfs_families_reset_lost),
	PART("thread_counters", .pages = &pfs_thread_counters),
	PART("pending", .size = PFS_NUM_COUNTED_OBJECTS * sizeof(PfsSharedPending),
		 .address = (void **) &pfs_shared_pending, .lay_out = pfs_pending_lay_out, .start = pfs_pending_start,
		 .detach = pfs_pending_detach),
	PART("lwlocks", .lay_out = pfs_lwlocks_lay_out, .begin = pfs_lwlock_attach, .detach = pfs_lwlock_detach,
		 .forget = (void **) &pfs_my_lwlocks, .pages = &pfs_lwlocks, .beside = pfs_lwlock_holders_size,
		 .reset = pfs_lwlocks_reset_lost),
	PART("load_history", STRUCT(pfs_shared_load), .lay_out = pfs_load_rings_lay_out,
		 .nrows = PFS_NUM_LOAD_RESOLUTIONS, .row = pfs_load_container_row, .reset = pfs_load_rings_reset_lost),
	PART("recorder", STRUCT(pfs_shared_recorder),
		 COUNTER(0, "pfs_load_history_lost", PfsSharedRecorder, lost),
		 COUNTER(1, "pfs_load_history_late", PfsSharedRecorder, late)),
	PART("load_texts", .lay_out = pfs_load_texts_lay_out, .nrows = 1,
		 .row = pfs_load_texts_row, .reset = pfs_load_texts_reset_lost),
	PART("containers", .start = pfs_containers_register),
	PART("catalogue", .start = pfs_instruments_end_start),
	PART("switches", .start = pfs_setup_refresh),
	PART("saved_file", .start = pfs_save_start),
};

void
pfs_parts_register(void)
{
	pfs_parts = parts;
	pfs_num_parts = lengthof(parts);
}
