/*
 * pfs_sizes.h
 *	  How many records the containers have: the list of their settings, and the sizes
 *	  in effect; and which of them are kinds of counted objects.
 *
 * A size stands once, here.  pfs_guc.c defines its setting, pfs_module.c works out the
 * default, and the container's part reads pfs_sizes when the segment is laid out.
 */
#ifndef PFS_SIZES_H
#define PFS_SIZES_H

#include "pfs.h"

/* Largest values. */
#define PFS_INSTANCES_MAX		1048576
#define PFS_ACCOUNTS_MAX		65536
/* Numbers are 16 bits wide. */
#define PFS_INSTRUMENTS_MAX		16384
/* Each new session looks through all of them. */
#define PFS_ACTORS_MAX			16384
/* A session looks through all of them for each object that it has not looked up before. */
#define PFS_OBJECT_RULES_MAX	16384

/* Periods of the load history: of seconds two weeks. */
#define PFS_LOAD_HISTORY_MAX	1209600

/* An hour of seconds, two days of minutes, five weeks of ten minutes. */
#define PFS_LOAD_SECONDS_DEFAULT	3600
#define PFS_LOAD_MINUTES_DEFAULT	2880
#define PFS_LOAD_TEN_MINUTES_DEFAULT	5040

/* What the defaults are made of. */
#define PFS_INSTRUMENTS_DEFAULT	1024
#define PFS_ACTORS_DEFAULT		128
#define PFS_OBJECT_RULES_DEFAULT	128
/* A server has some files whatever its size, and each session opens more. */
#define PFS_FILES_FOR_SERVER	8192
#define PFS_FILES_PER_CONNECTION 64
/* As many as there can be connections, within reason. */
#define PFS_ACCOUNTS_DEFAULT	Min(32 + MaxConnections, 512)
/*
 * Most counters lie with accounts: users and hosts have some of their own after a
 * TRUNCATE, or where an account had no room.  The first ones are for a few accounts
 * that do everything.
 */
#define PFS_ACCOUNT_COUNTERS_AT_LEAST	4096
#define PFS_ACCOUNT_COUNTERS_EACH		32
#define PFS_ACCOUNT_COUNTERS_DEFAULT(records) \
	((records) == 0 ? 0 : Min(PFS_ACCOUNT_COUNTERS_AT_LEAST + PFS_ACCOUNT_COUNTERS_EACH * (records), PFS_INSTANCES_MAX))
/*
 * A kind of statement takes a group of counters, and so do ten errors.  Most threads need
 * a handful; what they leave is there for those that do a hundred kinds.
 */
#define PFS_COUNTERS_PER_THREAD			64
/* Kinds of waits that a thread meets, as a mean over all. */
#define PFS_WAITS_PER_THREAD			64
/* Applications prepare a handful of statements, some of them hundreds. */
#define PFS_PREPARED_PER_THREAD	16
/* A schema has its tables whatever the number of sessions, and each table some indexes. */
#define PFS_TABLES_DEFAULT		4096
#define PFS_INDEXES_PER_TABLE	2
/* An application has its functions and shapes whatever the number of its sessions. */
#define PFS_PROGRAMS_DEFAULT	2048
#define PFS_DIGESTS_AT_LEAST	1000
#define PFS_DIGESTS_PER_CONNECTION 40
#define PFS_DIGESTS_AT_MOST		10000
/* Nodes that a plan has on average, of those that are worth measuring; many are cheap. */
#define PFS_NODES_PER_PLAN		4

/*
 * The settings of sizes: field of PfsSizes, name, largest value, what -1 stands for, a
 * function that checks a value, description, detail.  Defaults are worked out in this
 * order when the server's own sizes are known, so one may use a size above it.
 */
#define PFS_SIZE_SETTINGS(X) \
	X(threads, "pfs.max_thread_instances", PFS_INSTANCES_MAX, pfs_compat_max_processes(), NULL, \
	  "Processes that can be watched at a time.", \
	  "-1 is every process that the server can have; 0 watches none.") \
	X(files, "pfs.max_file_instances", PFS_INSTANCES_MAX, \
	  PFS_FILES_FOR_SERVER + PFS_FILES_PER_CONNECTION * MaxConnections, NULL, \
	  "Files that can be known by name at a time.", \
	  "-1 is sized from max_connections; 0 knows none.") \
	X(instruments, "pfs.max_instruments", PFS_INSTRUMENTS_MAX, PFS_INSTRUMENTS_DEFAULT, check_max_instruments, \
	  "Instruments, those of extensions included.", \
	  "-1 is 1,024.") \
	X(accounts, "pfs.accounts_size", PFS_ACCOUNTS_MAX, PFS_ACCOUNTS_DEFAULT, NULL, \
	  "Users on hosts whose numbers are kept apart.", \
	  "-1 is sized from max_connections; 0: the numbers go to users and hosts.") \
	X(users, "pfs.users_size", PFS_ACCOUNTS_MAX, PFS_ACCOUNTS_DEFAULT, NULL, \
	  "Users whose numbers are kept apart.", \
	  "-1 is sized from max_connections; 0: none.") \
	X(hosts, "pfs.hosts_size", PFS_ACCOUNTS_MAX, PFS_ACCOUNTS_DEFAULT, NULL, \
	  "Client addresses whose numbers are kept apart.", \
	  "-1 is sized from max_connections; 0: none.") \
	X(account_counters, "pfs.account_counters_size", PFS_INSTANCES_MAX, \
	  PFS_ACCOUNT_COUNTERS_DEFAULT(pfs_sizes.accounts + pfs_sizes.users + pfs_sizes.hosts), NULL, \
	  "Groups of counters that accounts, users and hosts can have together.", \
	  "-1 is sized from how many of these there can be; 0: their numbers go to the server.") \
	X(thread_counters, "pfs.thread_counters_size", PFS_INSTANCES_MAX, \
	  Min(pfs_sizes.threads * PFS_COUNTERS_PER_THREAD, PFS_INSTANCES_MAX), NULL, \
	  "Groups of counters that threads can have together, of statements and errors.", \
	  "-1 is 64 for each process that can be watched; 0: the numbers go to the server.") \
	X(thread_waits, "pfs.thread_waits_size", PFS_INSTANCES_MAX, \
	  Min(pfs_sizes.threads * PFS_WAITS_PER_THREAD, PFS_INSTANCES_MAX), NULL, \
	  "Kinds of waits that threads can have numbers of, all together.", \
	  "-1 is 64 for each process that can be watched; 0: the numbers go to the server.") \
	X(actors, "pfs.setup_actors_size", PFS_ACTORS_MAX, PFS_ACTORS_DEFAULT, NULL, \
	  "Rules for new sessions in setup_actors.", \
	  "-1 is 128; 0 has no rule, so no session is instrumented from its start.") \
	X(object_rules, "pfs.setup_objects_size", PFS_OBJECT_RULES_MAX, PFS_OBJECT_RULES_DEFAULT, NULL, \
	  "Rules for tables, functions, procedures and triggers in setup_objects.", \
	  "-1 is 128; 0 has no rule, so no such object is instrumented.") \
	X(sockets, "pfs.max_socket_instances", PFS_INSTANCES_MAX, pfs_sizes.threads, NULL, \
	  "Sockets of clients that can be known at a time.", \
	  "-1 is one for each process that can be watched; 0 knows none.") \
	X(prepared, "pfs.max_prepared_statements_instances", PFS_INSTANCES_MAX, \
	  pfs_sizes.threads * PFS_PREPARED_PER_THREAD, NULL, \
	  "Prepared statements that can be known at a time.", \
	  "-1 is sized from max_connections; 0 knows none.") \
	X(tables, "pfs.max_table_instances", PFS_INSTANCES_MAX, PFS_TABLES_DEFAULT, NULL, \
	  "Tables whose rows and locks are counted apart.", \
	  "-1 is 4,096; 0: none.") \
	X(indexes, "pfs.max_index_stat", PFS_INSTANCES_MAX, \
	  Min(pfs_sizes.tables * PFS_INDEXES_PER_TABLE, PFS_INSTANCES_MAX), NULL, \
	  "Indexes by which rows are counted.", \
	  "-1 is twice pfs.max_table_instances; 0: none, and their rows are not counted.") \
	X(programs, "pfs.max_program_instances", PFS_INSTANCES_MAX, PFS_PROGRAMS_DEFAULT, NULL, \
	  "Functions, procedures and trigger functions that can be known at a time.", \
	  "-1 is 2,048; 0 knows none, and statements do not say which program they are in.") \
	X(digests, "pfs.digests_size", PFS_INSTANCES_MAX, \
	  Min(PFS_DIGESTS_AT_LEAST + PFS_DIGESTS_PER_CONNECTION * MaxConnections, PFS_DIGESTS_AT_MOST), NULL, \
	  "Statement shapes whose numbers are kept apart, by database, user and query identifier.", \
	  "-1 is sized from max_connections; 0: none.") \
	X(plans, "pfs.plans_size", PFS_INSTANCES_MAX, pfs_sizes.digests, NULL, \
	  "Plans of statements whose numbers are kept apart.", \
	  "-1 is as many as pfs.digests_size; 0: none.") \
	X(plan_nodes, "pfs.plan_nodes_size", PFS_INSTANCES_MAX, \
	  Min(pfs_sizes.plans * PFS_NODES_PER_PLAN, PFS_INSTANCES_MAX), NULL, \
	  "Nodes of plans whose numbers are kept apart.", \
	  "-1 is four for each of pfs.plans_size; 0: none, and no plan is measured.")

#define PFS_SIZE_FIELD(field, ...) uint32 field;

/*
 * The kinds of counted objects, each with its size: objects that processes share, and that each process counts for by
 * itself (ledger/pfs_pending.h).  Of this list is made whatever is there for each kind: its descriptor and its part are
 * pfs_counted_SIZE and pfs_part_SIZE, which the kind's own file defines.  Its number says also whose turn it is
 * (pfs_patience.h), and the order is that of the kinds among the parts (pfs_parts.c).
 */
#define PFS_COUNTED_KINDS(X) \
	X(PFS_COUNTED_DIGESTS, digests) \
	X(PFS_COUNTED_PREPARED, prepared) \
	X(PFS_COUNTED_FILES, files) \
	X(PFS_COUNTED_TABLES, tables) \
	X(PFS_COUNTED_INDEXES, indexes) \
	X(PFS_COUNTED_SOCKETS, sockets) \
	X(PFS_COUNTED_PROGRAMS, programs)

typedef enum PfsCountedObjects
{
	PFS_COUNTED_KINDS(PFS_ENUMERATOR)
	PFS_NUM_COUNTED_OBJECTS
} PfsCountedObjects;

/* Sizes in effect, -1 resolved.  Filled when the server asks for memory. */
typedef struct PfsSizes
{
	PFS_SIZE_SETTINGS(PFS_SIZE_FIELD)
	uint32		cells[PFS_NUM_FAMILIES];	/* of each block of a family */
	uint32		history[PFS_NUM_EVENT_FAMILIES];	/* rows per thread */
	uint32		history_long[PFS_NUM_EVENT_FAMILIES];	/* rows in all */
	uint32		event_size[PFS_NUM_EVENT_FAMILIES]; /* bytes */
	uint32		sql_text;		/* bytes of a statement's text that are kept */
	uint32		digest_text;	/* bytes of a digest's text that are kept */
	uint32		plan_text;		/* bytes of a plan's text that are kept */
} PfsSizes;

#endif							/* PFS_SIZES_H */
