/*
 * pfs_table_status.c
 *	  probes, containers, status, and the definitions of the tables themselves:
 *	  what pfs says about itself.
 */
#include "postgres.h"

#include "pfs_shared_areas.h"
#include "pfs_status.h"
#include "pfs_tables.h"

#define VARIABLE_VALUE_SIZE 128

/* Guesses for the planner: these lists are short and end by themselves. */
#define USUAL_PROBES 60
#define USUAL_CONTAINERS 8
#define USUAL_VARIABLES 24

#define PROBES_COLUMNS(X, t) \
	X(t, probe_name, text, none, row->name, "Name of the probe.", .width = 16) \
	X(t, mechanism, text, none, row->mechanism, \
	  "How pfs gets called. got: by an address in the server's table of external functions; method_table: by a " \
	  "function in one of the server's tables of functions; hook: by a variable that the server has for " \
	  "extensions; detour: by a jump that was written over the first instructions of a function. NULL: no call, " \
	  "but something that pfs relies on.", .width = 6) \
	X(t, target, text, none, row->target, "What was replaced or hooked.", .width = 16) \
	X(t, status, text, none, row->status, \
	  "active, unavailable (something is missing) or off. A hook is active when a call of it was seen.", \
	  .width = 8) \
	X(t, detail, text, none, row->detail[0] ? row->detail : NULL, \
	  "Why it is not active, or what is special about it; of a hook the library that is called before pfs; else " \
	  "NULL.", .width = 48)

PFS_COLUMNS(probes, PfsProbeRow, PROBES_COLUMNS)

static void
probes_copy(PfsScan *scan)
{
	PfsProbeRow probe;

	for (int i = 0; pfs_probe_row(i, &probe); i++)
		*(PfsProbeRow *) pfs_scan_add(scan) = probe;
}

const PfsTable pfs_table_probes = {
	PFS_TABLE("probes", probes, "own",
			  "one place where the server calls pfs, and whether it works",
			  "refused",
			  "Probes: the places where the server calls pfs, and whether each works or why not."),
	.without_memory = true,
	.usual_rows = USUAL_PROBES,
	.copy = probes_copy,
};

/*
 * containers
 */
#define CONTAINERS_COLUMNS(X, t) \
	X(t, name, text, none, row->name, "Name of the container, as in the settings.", .width = 24) \
	X(t, record_size, bigint, bytes, row->record_size, "Bytes of one record.") \
	X(t, records_max, bigint, count, row->stats.records_max, "Records that fit.") \
	X(t, records_used, bigint, count, row->stats.records_used, "Records in use now.") \
	X(t, records_high_water, bigint, count, row->stats.records_high_water, \
	  "Most records in use at a time since the last TRUNCATE.") \
	X(t, records_lost, bigint, count, row->stats.records_lost, \
	  "Records that were wanted while it was full, since the last TRUNCATE.") \
	X(t, pages_max, bigint, pages, row->stats.pages_max, "Pages that it can have.") \
	X(t, pages_resident, bigint, pages, row->stats.pages_resident, "Pages that take memory now.") \
	X(t, pages_reclaimed, bigint, pages, row->stats.pages_reclaimed, \
	  "Pages given back to the system since the last TRUNCATE.") \
	X(t, bytes_reserved, bigint, bytes, row->stats.bytes_reserved, \
	  "Bytes of shared memory set aside at the server's start.") \
	X(t, bytes_resident, bigint, bytes, row->stats.bytes_resident, "Bytes that take memory now.")

PFS_COLUMNS(containers, PfsContainerRow, CONTAINERS_COLUMNS)

static void
containers_copy(PfsScan *scan)
{
	PfsContainerRow container;

	/* As many instruments as setup_instruments lists. */
	pfs_shared_areas_register();
	for (int i = 0; pfs_container_row(i, true, &container); i++)
		*(PfsContainerRow *) pfs_scan_add(scan) = container;
}

const PfsTable pfs_table_containers = {
	PFS_TABLE("containers", containers, "own",
			  "one container: a part of pfs's memory with records of one kind",
			  "losses and reclaims to zero, high water to now",
			  "Containers: the parts of pfs's shared memory. TRUNCATE sets losses and reclaims to zero and the "
			  "high water mark to now."),
	.usual_rows = USUAL_CONTAINERS,
	.copy = containers_copy,
	.truncate = pfs_containers_reset,
};

/*
 * status
 */
typedef struct StatusRow
{
	char		name[PFS_NAME_SIZE];
	char		value[VARIABLE_VALUE_SIZE];
} StatusRow;

#define STATUS_COLUMNS(X, t) \
	X(t, variable_name, text, none, row->name, \
	  "pfs_start_time, footprint totals, what was kept over a restart, or pfs_<container>_lost.", .width = 28) \
	X(t, variable_value, text, none, row->value[0] ? row->value : NULL, "Its value as text; NULL: there is none.", .width = 8)

PFS_COLUMNS(status, StatusRow, STATUS_COLUMNS)

static void
add_variable_cb(const char *name, const char *value, void *arg)
{
	StatusRow  *row = pfs_scan_add(arg);

	strlcpy(row->name, name, sizeof(row->name));
	strlcpy(row->value, value, sizeof(row->value));
}

static void
status_copy(PfsScan *scan)
{
	pfs_status_each(add_variable_cb, scan);
}

const PfsTable pfs_table_status = {
	PFS_TABLE("status", status, "own",
			  "one fact about pfs itself, or one counter of what it lost",
			  "loss counters to zero, as TRUNCATE of containers",
			  "Facts about pfs and counters of what it lost, all zero on a healthy server. TRUNCATE sets the "
			  "counters to zero."),
	.usual_rows = USUAL_VARIABLES,
	.copy = status_copy,
	.truncate = pfs_containers_reset,
};

/*
 * table_definitions, which the view pfs.tables shows
 */
typedef struct DefinitionRow
{
	const PfsTable *table;		/* either */
	const PfsView *view;		/* or */
} DefinitionRow;

#define DEFINITIONS_COLUMNS(X, t) \
	X(t, table_name, text, none, row->table ? row->table->name : row->view->name, "Name of the table or view in schema pfs.", .width = 24) \
	X(t, a_row_is, text, none, row->table ? row->table->row_is : row->view->row_is, "What one row stands for.", .width = 48) \
	X(t, truncate_effect, text, none, row->table ? row->table->truncate_effect : "refused: it is a view", \
	  "What TRUNCATE and pfs.reset() do to it.", .width = 24) \
	X(t, writable_columns, text, none, row->table ? pfs_writable_columns(row->table) : NULL, \
	  "Columns that UPDATE can change; NULL: none.", .width = 16)

PFS_COLUMNS(definitions, DefinitionRow, DEFINITIONS_COLUMNS)

static double
definitions_estimate(const PfsTable *table)
{
	return pfs_num_tables + pfs_num_views;
}

static void
definitions_copy(PfsScan *scan)
{
	for (int i = 0; i < pfs_num_tables; i++)
		((DefinitionRow *) pfs_scan_add(scan))->table = pfs_tables[i];
	for (int i = 0; i < pfs_num_views; i++)
		((DefinitionRow *) pfs_scan_add(scan))->view = &pfs_views[i];
}

const PfsTable pfs_table_table_definitions = {
	PFS_TABLE("table_definitions", definitions, "own",
			  "one table or view of pfs, as the library defines it",
			  "refused",
			  "What the library knows of its tables and views; the view pfs.tables shows it."),
	.estimate = definitions_estimate,
	.copy = definitions_copy,
};
