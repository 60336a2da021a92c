/*
 * pfs_table_status.c
 *	  probes, containers, status, and the definitions of the tables themselves:
 *	  what pfs says about itself.
 */
#include "postgres.h"

#include "pfs_shared_areas.h"
#include "pfs_status.h"
#include "pfs_tables.h"
#include "pfs_value.h"

#define VARIABLE_VALUE_SIZE 128

/* Guesses for the planner: these lists are short and end by themselves. */
#define USUAL_PROBES 60
#define USUAL_CONTAINERS 8
#define USUAL_VARIABLES 24

/*
 * probes
 */
enum
{
	PROBES_PROBE_NAME,
	PROBES_MECHANISM,
	PROBES_TARGET,
	PROBES_STATUS,
	PROBES_DETAIL,
};

static const PfsColumn probes_columns[] = {
	[PROBES_PROBE_NAME] = {"probe_name", TEXTOID, .width = 16},
	[PROBES_MECHANISM] = {"mechanism", TEXTOID, .width = 6},
	[PROBES_TARGET] = {"target", TEXTOID, .width = 16},
	[PROBES_STATUS] = {"status", TEXTOID, .width = 8},
	[PROBES_DETAIL] = {"detail", TEXTOID, .width = 48},
};

static double
probes_estimate(void)
{
	return USUAL_PROBES;
}

static void
probes_copy(PfsScan *scan)
{
	PfsProbeRow probe;

	for (int i = 0; pfs_probe_row(i, &probe); i++)
		*(PfsProbeRow *) pfs_scan_add(scan) = probe;
}

static Datum
probes_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsProbeRow *probe = row;

	switch (column)
	{
		case PROBES_PROBE_NAME:
			return pfs_text_datum(probe->name);
		case PROBES_MECHANISM:
			return pfs_text_or_null(probe->mechanism, isnull);
		case PROBES_TARGET:
			return pfs_text_or_null(probe->target, isnull);
		case PROBES_STATUS:
			return pfs_text_or_null(probe->status, isnull);
		case PROBES_DETAIL:
			return probe->detail[0] ? pfs_text_datum(probe->detail) : pfs_null(isnull);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_probes = {
	.name = "probes",
	.row_is = "one place where the server calls pfs, and whether it works",
	.without_memory = true,
	.truncate_effect = "refused",
	.columns = probes_columns,
	.ncolumns = lengthof(probes_columns),
	.row_size = sizeof(PfsProbeRow),
	.estimate = probes_estimate,
	.copy = probes_copy,
	.get = probes_get,
};

/* TRUNCATE of containers and of status, which show the same counters. */
static int64
reset_counters(void)
{
	pfs_containers_reset();
	return 0;
}

/*
 * containers
 */
enum
{
	CONTAINERS_NAME,
	CONTAINERS_RECORD_SIZE,
	CONTAINERS_RECORDS_MAX,
	CONTAINERS_RECORDS_USED,
	CONTAINERS_RECORDS_HIGH_WATER,
	CONTAINERS_RECORDS_LOST,
	CONTAINERS_PAGES_MAX,
	CONTAINERS_PAGES_RESIDENT,
	CONTAINERS_PAGES_RECLAIMED,
	CONTAINERS_BYTES_RESERVED,
	CONTAINERS_BYTES_RESIDENT,
};

static const PfsColumn containers_columns[] = {
	[CONTAINERS_NAME] = {"name", TEXTOID, .width = 24},
	[CONTAINERS_RECORD_SIZE] = {"record_size", INT8OID},
	[CONTAINERS_RECORDS_MAX] = {"records_max", INT8OID},
	[CONTAINERS_RECORDS_USED] = {"records_used", INT8OID},
	[CONTAINERS_RECORDS_HIGH_WATER] = {"records_high_water", INT8OID},
	[CONTAINERS_RECORDS_LOST] = {"records_lost", INT8OID},
	[CONTAINERS_PAGES_MAX] = {"pages_max", INT8OID},
	[CONTAINERS_PAGES_RESIDENT] = {"pages_resident", INT8OID},
	[CONTAINERS_PAGES_RECLAIMED] = {"pages_reclaimed", INT8OID},
	[CONTAINERS_BYTES_RESERVED] = {"bytes_reserved", INT8OID},
	[CONTAINERS_BYTES_RESIDENT] = {"bytes_resident", INT8OID},
};

static double
containers_estimate(void)
{
	return USUAL_CONTAINERS;
}

static void
containers_copy(PfsScan *scan)
{
	PfsContainerRow container;

	/* As many instruments as setup_instruments lists. */
	pfs_shared_areas_register();
	for (int i = 0; pfs_container_row(i, &container); i++)
		*(PfsContainerRow *) pfs_scan_add(scan) = container;
}

static Datum
containers_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsContainerRow *container = row;
	const PfsPagesStats *stats = &container->stats;

	switch (column)
	{
		case CONTAINERS_NAME:
			return CStringGetTextDatum(container->name);
		case CONTAINERS_RECORD_SIZE:
			return Int64GetDatum((int64) container->record_size);
		case CONTAINERS_RECORDS_MAX:
			return Int64GetDatum((int64) stats->records_max);
		case CONTAINERS_RECORDS_USED:
			return Int64GetDatum((int64) stats->records_used);
		case CONTAINERS_RECORDS_HIGH_WATER:
			return Int64GetDatum((int64) stats->records_high_water);
		case CONTAINERS_RECORDS_LOST:
			return Int64GetDatum((int64) stats->records_lost);
		case CONTAINERS_PAGES_MAX:
			return Int64GetDatum((int64) stats->pages_max);
		case CONTAINERS_PAGES_RESIDENT:
			return Int64GetDatum((int64) stats->pages_resident);
		case CONTAINERS_PAGES_RECLAIMED:
			return Int64GetDatum((int64) stats->pages_reclaimed);
		case CONTAINERS_BYTES_RESERVED:
			return Int64GetDatum((int64) stats->bytes_reserved);
		case CONTAINERS_BYTES_RESIDENT:
			return Int64GetDatum((int64) stats->bytes_resident);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_containers = {
	.name = "containers",
	.row_is = "one container: a part of pfs's memory with records of one kind",
	.truncate_effect = "losses and reclaims to zero, high water to now",
	.columns = containers_columns,
	.ncolumns = lengthof(containers_columns),
	.row_size = sizeof(PfsContainerRow),
	.estimate = containers_estimate,
	.copy = containers_copy,
	.get = containers_get,
	.truncate = reset_counters,
};

/*
 * status
 */
typedef struct StatusRow
{
	char		name[PFS_NAME_SIZE];
	char		value[VARIABLE_VALUE_SIZE];
} StatusRow;

enum
{
	STATUS_VARIABLE_NAME,
	STATUS_VARIABLE_VALUE,
};

static const PfsColumn status_columns[] = {
	[STATUS_VARIABLE_NAME] = {"variable_name", TEXTOID, .width = 28},
	[STATUS_VARIABLE_VALUE] = {"variable_value", TEXTOID, .width = 8},
};

static double
status_estimate(void)
{
	return USUAL_VARIABLES;
}

static void
status_copy(PfsScan *scan)
{
	PfsStatus  *status = pfs_status_make();
	StatusRow	row;

	for (int i = 0; pfs_status_row(status, i, row.name, sizeof(row.name), row.value, sizeof(row.value)); i++)
		*(StatusRow *) pfs_scan_add(scan) = row;
	pfree(status);
}

static Datum
status_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const StatusRow *status = row;

	switch (column)
	{
		case STATUS_VARIABLE_NAME:
			return pfs_text_datum(status->name);
		case STATUS_VARIABLE_VALUE:
			return pfs_text_datum(status->value);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_status = {
	.name = "status",
	.row_is = "one fact about pfs itself, or one counter of what it lost",
	.truncate_effect = "loss counters to zero, as TRUNCATE of containers",
	.columns = status_columns,
	.ncolumns = lengthof(status_columns),
	.row_size = sizeof(StatusRow),
	.estimate = status_estimate,
	.copy = status_copy,
	.get = status_get,
	.truncate = reset_counters,
};

/*
 * table_definitions, which the view pfs.tables shows
 */
typedef struct DefinitionRow
{
	const PfsTable *table;		/* either */
	const PfsView *view;		/* or */
} DefinitionRow;

enum
{
	DEFINITIONS_TABLE_NAME,
	DEFINITIONS_A_ROW_IS,
	DEFINITIONS_TRUNCATE_EFFECT,
	DEFINITIONS_WRITABLE_COLUMNS,
};

static const PfsColumn definitions_columns[] = {
	[DEFINITIONS_TABLE_NAME] = {"table_name", TEXTOID, .width = 24},
	[DEFINITIONS_A_ROW_IS] = {"a_row_is", TEXTOID, .width = 48},
	[DEFINITIONS_TRUNCATE_EFFECT] = {"truncate_effect", TEXTOID, .width = 24},
	[DEFINITIONS_WRITABLE_COLUMNS] = {"writable_columns", TEXTOID, .width = 16},
};

static double
definitions_estimate(void)
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

static Datum
definitions_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const DefinitionRow *definition = row;
	const PfsTable *table = definition->table;
	const PfsView *view = definition->view;

	switch (column)
	{
		case DEFINITIONS_TABLE_NAME:
			return CStringGetTextDatum(table ? table->name : view->name);
		case DEFINITIONS_A_ROW_IS:
			return CStringGetTextDatum(table ? table->row_is : view->row_is);
		case DEFINITIONS_TRUNCATE_EFFECT:
			return CStringGetTextDatum(table ? table->truncate_effect : "refused: it is a view");
		case DEFINITIONS_WRITABLE_COLUMNS:
			return pfs_text_or_null(table ? pfs_writable_columns(table) : NULL, isnull);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_table_definitions = {
	.name = "table_definitions",
	.row_is = "one table or view of pfs, as the library defines it",
	.truncate_effect = "refused",
	.columns = definitions_columns,
	.ncolumns = lengthof(definitions_columns),
	.row_size = sizeof(DefinitionRow),
	.estimate = definitions_estimate,
	.copy = definitions_copy,
	.get = definitions_get,
};
