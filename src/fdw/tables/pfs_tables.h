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

/* The three tables of a family of events; those of a family of summaries, by level. */
#define PFS_EV_LIST(X, stem) \
	X(pfs_table_events_##stem##_current) \
	X(pfs_table_events_##stem##_history) \
	X(pfs_table_events_##stem##_history_long)
#define PFS_LEVEL_LIST(X, stem) \
	X(pfs_table_##stem##_global) \
	X(pfs_table_##stem##_by_thread) \
	X(pfs_table_##stem##_by_account) \
	X(pfs_table_##stem##_by_user) \
	X(pfs_table_##stem##_by_host)

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
	PFS_EV_LIST(X, waits) \
	PFS_EV_LIST(X, stages) \
	PFS_EV_LIST(X, statements) \
	PFS_EV_LIST(X, transactions) \
	PFS_LEVEL_LIST(X, waits) \
	X(pfs_table_waits_histogram) \
	PFS_LEVEL_LIST(X, stages) \
	PFS_LEVEL_LIST(X, statements) \
	X(pfs_table_statements_histogram) \
	X(pfs_table_statements_by_digest) \
	X(pfs_table_plans_by_digest) \
	X(pfs_table_nodes_by_plan) \
	X(pfs_table_waits_by_plan_node) \
	X(pfs_table_plan_nodes_current) \
	X(pfs_table_statements_histogram_by_digest) \
	X(pfs_table_waits_by_digest) \
	X(pfs_table_io_by_digest) \
	X(pfs_table_statements_by_program) \
	PFS_LEVEL_LIST(X, transactions) \
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
	PFS_LEVEL_LIST(X, memory) \
	X(pfs_table_lwlock_instances) \
	PFS_LEVEL_LIST(X, errors) \
	X(pfs_table_prepared_statements_instances) \
	X(pfs_table_load_history)

#define PFS_TABLE_EXTERN(table) extern const PfsTable table;
PFS_TABLES(PFS_TABLE_EXTERN)

/* TRUNCATE of a table of waits or calls by instance, which is one of all of them: pfs_table_waits_by_instance.c. */
extern int64 pfs_instances_push(const PfsTable *table);

/* When the library is loaded: hands the list to the plumbing. */
extern void pfs_tables_register(void);

#endif							/* PFS_TABLES_H */
