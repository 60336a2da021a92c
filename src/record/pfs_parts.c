/*
 * pfs_parts.c
 *	  The list of parts: all that lies in shared memory, and all that has its share in
 *	  a thread record's begin and end.  pfs_part.h says what an entry is.
 *
 * The order is that in which parts are laid out, started, begun, attached, left and
 * detached.  It matters in these places:
 *
 * Start.  Setup before instruments, as registering one asks for its switches; instruments
 * before all that register some; containers, whose names become instruments, behind all
 * others that have rows.  Then the catalogue is complete, and all switches take effect.
 *
 * Begin.  Memory before summaries: neither looks at the other, and both are there before the
 * record can be seen.
 *
 * Leave.  Statements before errors: ending the open ones may still say what became of the
 * last error; and before programs, whose calls contain them.
 *
 * Detach.  Open waits end first, as they count for the statement's digest, for the histories
 * and for the summaries.  Digests take what is still in the table of waits, then what is pending, of
 * which summaries get their share while they have cells.  Histories
 * give away all blocks.  Memory stops being counted and drops to nothing in use before
 * summaries move all counters up, among them memory's, and give the account back.  What
 * has a record of its own comes behind: nothing counts for it any more.
 */
#include "postgres.h"

#include "pfs_account_evict.h"
#include "pfs_actor.h"
#include "pfs_clock.h"
#include "pfs_container.h"
#include "pfs_digest.h"
#include "pfs_digest_pending.h"
#include "pfs_digest_rows.h"
#include "pfs_digest_wait.h"
#include "pfs_error.h"
#include "pfs_event_history.h"
#include "pfs_event_open.h"
#include "pfs_fd.h"
#include "pfs_file.h"
#include "pfs_file_sum.h"
#include "pfs_departed.h"
#include "pfs_load_text.h"
#include "pfs_lwlock.h"
#include "pfs_memory.h"
#include "pfs_object_rules.h"
#include "pfs_part.h"
#include "pfs_patience.h"
#include "pfs_pending.h"
#include "pfs_prepared.h"
#include "pfs_probe_row.h"
#include "pfs_program_call.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_socket.h"
#include "pfs_statement.h"
#include "pfs_summary.h"
#include "pfs_recorder.h"
#include "pfs_register.h"
#include "pfs_rel_count.h"
#include "pfs_rel_io.h"

/* A struct in the segment and the pointer to it. */
#define STRUCT(pointer) .size = sizeof(*(pointer)), .address = (void **) &(pointer)

static const PfsPart parts[] = {
	{
		.name = "clock",
		STRUCT(pfs_clock),
		.start = pfs_clock_start,
	},
	{
		.name = "setup",
		STRUCT(pfs_setup),
		.start = pfs_setup_start,
	},
	{
		.name = "resets",
		STRUCT(pfs_resets),
	},
	{
		.name = "patience",
		STRUCT(pfs_patience),
		.counters = {
			{"pfs_reads_inexact", offsetof(PfsSharedPatience, reads_inexact)},
			{"pfs_resets_inexact", offsetof(PfsSharedPatience, resets_inexact)},
			{"pfs_sequence_words_repaired", offsetof(PfsSharedPatience, repaired)},
		},
	},
	{
		.name = "hooks",
		STRUCT(pfs_shared_hooks),
	},
	{
		.name = "instruments",
		STRUCT(pfs_instruments),
		.lay_out = pfs_instruments_lay_out,
		.start = pfs_instruments_start,
		.nrows = 1,
		.row = pfs_container_of_instruments,
		.reset = pfs_instruments_reset_lost,
	},
	{
		.name = "setup_actors",
		STRUCT(pfs_actors.shared),
		.lay_out = pfs_actors_lay_out,
		.start = pfs_actors_start,
		.pages = &pfs_actors.pages,
	},
	{
		.name = "setup_objects",
		STRUCT(pfs_object_rules.shared),
		.lay_out = pfs_object_rules_lay_out,
		.start = pfs_object_rules_start,
		.pages = &pfs_object_rules.pages,
	},
	{
		.name = "threads",
		STRUCT(pfs_shared_threads),
		.lay_out = pfs_threads_lay_out,
		.detach = pfs_open_finish_all,
		.pages = &pfs_threads,
		.counters = {
			{"pfs_signal_handler_events_lost", offsetof(PfsSharedThreads, reentered)},
		},
	},
	{
		.name = "table_runs",
		.lay_out = pfs_rel_runs_lay_out,
		.detach = pfs_rel_runs_detach,
	},
	{
		.name = "accounts",
		.lay_out = pfs_accounts_lay_out,
		.start = pfs_accounts_start,
		.pages = &pfs_accounts[PFS_ACCOUNTS].pages,
	},
	{
		.name = "users",
		.pages = &pfs_accounts[PFS_USERS].pages,
	},
	{
		.name = "hosts",
		.pages = &pfs_accounts[PFS_HOSTS].pages,
	},
	{
		.name = "account_counters",
		.pages = &pfs_account_counters,
	},
	{
		.name = "statements",
		.leave = pfs_statement_detach,
	},
	{
		.name = "errors",
		STRUCT(pfs_errors),
		.start = pfs_errors_start,
		.leave = pfs_error_flush,
	},
	{
		.name = "digests",
		STRUCT(pfs_shared_digests),
		.lay_out = pfs_digests_lay_out,
		.attach = pfs_digest_attach,
		.detach = pfs_digest_detach,
		.repair = pfs_pending_digests_repair,
		.pages = &pfs_digests,
		.beside = pfs_digests_extra_size,
		.sets = &pfs_pending_sets[PFS_COUNTED_DIGESTS],
	},
	{
		.name = "digest_waits",
		.pages = &pfs_digest_waits,
	},
	{
		.name = "digest_rows",
		.lay_out = pfs_digest_rows_lay_out,
		.pages = &pfs_digest_rows,
	},
	{
		.name = "histories",
		.lay_out = pfs_histories_lay_out,
		.detach = pfs_histories_leave,
		.nrows = 3 * PFS_NUM_EVENT_FAMILIES,
		.row = pfs_container_of_events,
		.count_used = pfs_container_count_events,
		.reset = pfs_histories_reset_lost,
	},
	{
		.name = "memory",
		STRUCT(pfs_memory),
		.start = pfs_memory_start,
		.switched = pfs_memory_look_again,
		.begin = pfs_memory_total_begin,
		.detach = pfs_memory_end,
	},
	{
		.name = "departed",
		STRUCT(pfs_departed),
		.lay_out = pfs_departed_lay_out,
		.repair = pfs_departed_repair,
	},
	{
		.name = "summaries",
		.size = PFS_NUM_FAMILIES * sizeof(PfsSharedSummary),
		.address = (void **) &pfs_summary,
		.lay_out = pfs_summary_lay_out,
		.begin = pfs_summary_begin,
		.detach = pfs_summary_end,
		.pages = &pfs_thread_waits,
		.nrows = PFS_NUM_FAMILIES,
		.row = pfs_container_of_family,
		.reset = pfs_families_reset_lost,
	},
	{
		.name = "thread_counters",
		.pages = &pfs_thread_counters,
	},
	{
		.name = "files",
		STRUCT(pfs_shared_files),
		.lay_out = pfs_files_lay_out,
		.start = pfs_file_start,
		.begin = pfs_fd_start,
		.detach = pfs_fd_forget_all,
		.pages = &pfs_files,
	},
	{
		.name = "file_names",
		.pages = &pfs_file_names,
	},
	{
		.name = "file_sums",
		.lay_out = pfs_file_sums_lay_out,
		.pages = &pfs_file_sums,
		.beside = pfs_calls_totals_size,
		.sets = &pfs_pending_sets[PFS_COUNTED_FILES],
	},
	{
		.name = "pending",
		.size = PFS_NUM_COUNTED_OBJECTS * sizeof(PfsSharedPending),
		.address = (void **) &pfs_shared_pending,
		.lay_out = pfs_pending_lay_out,
		.start = pfs_pending_start,
		.detach = pfs_pending_detach,
	},
	{
		.name = "tables",
		.lay_out = pfs_rel_stats_lay_out,
		.detach = pfs_rel_stats_detach,
		.pages = &pfs_rel_stats[PFS_TABLE_STATS].pages,
		.sets = &pfs_pending_sets[PFS_COUNTED_TABLES],
	},
	{
		.name = "indexes",
		.pages = &pfs_rel_stats[PFS_INDEX_STATS].pages,
		.sets = &pfs_pending_sets[PFS_COUNTED_INDEXES],
	},
	{
		.name = "table_locks",
		.pages = &pfs_rel_locks,
	},
	{
		.name = "sockets",
		.lay_out = pfs_sockets_lay_out,
		.attach = pfs_socket_attach,
		.detach = pfs_socket_detach,
		.forget = (void **) &pfs_socket_local.mine,
		.pages = &pfs_sockets,
		.beside = pfs_calls_totals_size,
		.sets = &pfs_pending_sets[PFS_COUNTED_SOCKETS],
	},
	{
		.name = "lwlocks",
		.lay_out = pfs_lwlocks_lay_out,
		.begin = pfs_lwlock_attach,
		.detach = pfs_lwlock_detach,
		.forget = (void **) &pfs_my_lwlocks,
		.pages = &pfs_lwlocks,
		.beside = pfs_lwlock_holders_size,
		.reset = pfs_lwlocks_reset_lost,
	},
	{
		.name = "prepared",
		.lay_out = pfs_prepared_lay_out,
		.start = pfs_prepared_start,
		.detach = pfs_prepared_detach,
		.pages = &pfs_prepared,
	},
	{
		.name = "programs",
		.lay_out = pfs_programs_lay_out,
		.leave = pfs_program_detach,
		.forget = (void **) &pfs_program_innermost,
		.pages = &pfs_programs,
		.sets = &pfs_pending_sets[PFS_COUNTED_PROGRAMS],
	},
	{
		.name = "load_history",
		STRUCT(pfs_shared_load),
		.lay_out = pfs_load_rings_lay_out,
		.nrows = PFS_NUM_LOAD_RESOLUTIONS,
		.row = pfs_load_container_row,
		.reset = pfs_load_rings_reset_lost,
	},
	{
		.name = "recorder",
		STRUCT(pfs_shared_recorder),
		.counters = {
			{"pfs_load_history_lost", offsetof(PfsSharedRecorder, lost)},
			{"pfs_load_history_late", offsetof(PfsSharedRecorder, late)},
		},
	},
	{
		.name = "load_texts",
		.lay_out = pfs_load_texts_lay_out,
		.nrows = 1,
		.row = pfs_load_texts_row,
		.reset = pfs_load_texts_reset_lost,
	},
	{
		.name = "containers",
		.start = pfs_containers_register,
	},
	{
		.name = "catalogue",
		.start = pfs_instruments_end_start,
	},
	{
		.name = "switches",
		.start = pfs_setup_refresh,
	},
};

void
pfs_parts_register(void)
{
	pfs_parts = parts;
	pfs_num_parts = lengthof(parts);
}
