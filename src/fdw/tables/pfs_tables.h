/*
 * pfs_tables.h
 *	  The list of all foreign tables.  A new table is one line here.
 *
 * IMPORT FOREIGN SCHEMA and pfs.tables show them in this order.
 */
#ifndef PFS_TABLES_H
#define PFS_TABLES_H

#include "pfs_columns.h"
#include "pfs_table.h"

#define PFS_TABLES(X) \
	X(pfs_table_setup_instruments) \
	X(pfs_table_setup_consumers) \
	X(pfs_table_setup_timers) \
	X(pfs_table_setup_actors) \
	X(pfs_table_setup_objects) \
	X(pfs_table_setup_threads) \
	X(pfs_table_performance_timers) \
	X(pfs_table_threads) \
	X(pfs_table_probes) \
	X(pfs_table_containers) \
	X(pfs_table_status) \
	X(pfs_table_table_definitions) \
	X(pfs_table_events_waits_current) \
	X(pfs_table_events_waits_history) \
	X(pfs_table_events_waits_history_long) \
	X(pfs_table_events_stages_current) \
	X(pfs_table_events_stages_history) \
	X(pfs_table_events_stages_history_long) \
	X(pfs_table_events_statements_current) \
	X(pfs_table_events_statements_history) \
	X(pfs_table_events_statements_history_long) \
	X(pfs_table_events_transactions_current) \
	X(pfs_table_events_transactions_history) \
	X(pfs_table_events_transactions_history_long) \
	X(pfs_table_waits_global) \
	X(pfs_table_waits_by_thread) \
	X(pfs_table_waits_by_account) \
	X(pfs_table_waits_by_user) \
	X(pfs_table_waits_by_host) \
	X(pfs_table_waits_histogram) \
	X(pfs_table_stages_global) \
	X(pfs_table_stages_by_thread) \
	X(pfs_table_stages_by_account) \
	X(pfs_table_stages_by_user) \
	X(pfs_table_stages_by_host) \
	X(pfs_table_statements_global) \
	X(pfs_table_statements_by_thread) \
	X(pfs_table_statements_by_account) \
	X(pfs_table_statements_by_user) \
	X(pfs_table_statements_by_host) \
	X(pfs_table_statements_histogram) \
	X(pfs_table_statements_by_digest) \
	X(pfs_table_statements_histogram_by_digest) \
	X(pfs_table_waits_by_digest) \
	X(pfs_table_io_by_digest) \
	X(pfs_table_statements_by_program) \
	X(pfs_table_transactions_global) \
	X(pfs_table_transactions_by_thread) \
	X(pfs_table_transactions_by_account) \
	X(pfs_table_transactions_by_user) \
	X(pfs_table_transactions_by_host) \
	X(pfs_table_accounts) \
	X(pfs_table_users) \
	X(pfs_table_hosts) \
	X(pfs_table_file_instances) \
	X(pfs_table_file_summary_by_event_name) \
	X(pfs_table_file_summary_by_instance) \
	X(pfs_table_file_summary_by_kind) \
	X(pfs_table_events_waits_summary_by_instance) \
	X(pfs_table_io_by_table) \
	X(pfs_table_io_by_index_usage) \
	X(pfs_table_lock_waits_by_table) \
	X(pfs_table_objects_summary) \
	X(pfs_table_socket_instances) \
	X(pfs_table_socket_summary_by_event_name) \
	X(pfs_table_socket_summary_by_instance) \
	X(pfs_table_memory_global) \
	X(pfs_table_memory_by_thread) \
	X(pfs_table_memory_by_account) \
	X(pfs_table_memory_by_user) \
	X(pfs_table_memory_by_host) \
	X(pfs_table_lwlock_instances) \
	X(pfs_table_errors_global) \
	X(pfs_table_errors_by_thread) \
	X(pfs_table_errors_by_account) \
	X(pfs_table_errors_by_user) \
	X(pfs_table_errors_by_host) \
	X(pfs_table_prepared_statements_instances) \
	X(pfs_table_load_history)

#define PFS_TABLE_EXTERN(table) extern const PfsTable table;
PFS_TABLES(PFS_TABLE_EXTERN)

/* When the library is loaded: hands the list to the plumbing. */
extern void pfs_tables_register(void);

#endif							/* PFS_TABLES_H */
