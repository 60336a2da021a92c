/*
 * pfs_table_setup.c
 *	  setup_instruments, setup_consumers, setup_timers, setup_threads: the
 *	  switches as rows, changed by UPDATE.
 *
 * The objects behind the rows never go away, so a row is identified by its
 * number alone.
 */
#include "postgres.h"

#include "pfs_setup.h"
#include "pfs_shared_areas.h"
#include "pfs_tables.h"
#include "pfs_value.h"

/* A row is a number; the rest is read in place. */
typedef struct NumberRow
{
	uint32		number;
} NumberRow;

static void
add_number(PfsScan *scan, uint32 number)
{
	NumberRow  *row = pfs_scan_add(scan);

	row->number = number;
}

static PfsRowId
number_identity(const void *row)
{
	PfsRowId	id = {((const NumberRow *) row)->number, pfs_row_version(0)};

	return id;
}

/*
 * setup_instruments
 */
enum
{
	INSTRUMENTS_NAME,
	INSTRUMENTS_ENABLED,
	INSTRUMENTS_TIMED,
	INSTRUMENTS_PROPERTIES,
	INSTRUMENTS_DOCUMENTATION,
	INSTRUMENTS_WAIT_EVENT_TYPE,
	INSTRUMENTS_WAIT_EVENT,
};

static const PfsColumn instruments_columns[] = {
	[INSTRUMENTS_NAME] = {"name", TEXTOID, .width = 36},
	[INSTRUMENTS_ENABLED] = {"enabled", TEXTOID, .width = 4, .check = pfs_check_switch},
	[INSTRUMENTS_TIMED] = {"timed", TEXTOID, .width = 4, .check = pfs_check_switch},
	[INSTRUMENTS_PROPERTIES] = {"properties", TEXTOID, .width = 4},
	[INSTRUMENTS_DOCUMENTATION] = {"documentation", TEXTOID, .width = 64},
	[INSTRUMENTS_WAIT_EVENT_TYPE] = {"wait_event_type", TEXTOID, .width = 8},
	[INSTRUMENTS_WAIT_EVENT] = {"wait_event", TEXTOID, .width = 20},
};

static double
instruments_estimate(void)
{
	return pfs_instrument_count();
}

static void
instruments_copy(PfsScan *scan)
{
	uint32		n;

	pfs_shared_areas_register();
	n = pfs_instrument_count();
	for (uint32 i = 0; i < n; i++)
	{
		if (pfs_instrument_at(i) != NULL)
			add_number(scan, i);
	}
}

static Datum
instruments_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsInstrument *ins = pfs_instrument_at(((const NumberRow *) row)->number);

	switch (column)
	{
		case INSTRUMENTS_NAME:
			return pfs_text_datum(pfs_instrument_name(ins));
		case INSTRUMENTS_ENABLED:
			return pfs_switch_datum(ins->enabled);
		case INSTRUMENTS_TIMED:
			return ins->class >= PFS_NUM_TIMED_CLASSES ? pfs_null(isnull) : pfs_switch_datum(ins->timed);
		case INSTRUMENTS_PROPERTIES:
			return CStringGetTextDatum(ins->properties & PFS_PROPERTY_IDLE ? "idle" :
									   ins->properties & PFS_PROPERTY_BUILT_IN ? "global_statistics" : "");
		case INSTRUMENTS_DOCUMENTATION:
			return pfs_text_or_null(ins->documentation, isnull);
		case INSTRUMENTS_WAIT_EVENT_TYPE:
			return pfs_text_or_null(ins->wait_event_type, isnull);
		case INSTRUMENTS_WAIT_EVENT:
			return ins->wait_event[0] ? pfs_text_datum(pfs_instrument_wait_event(ins)) : pfs_null(isnull);
	}
	return pfs_null(isnull);
}

/* Memory operations and errors are not timed. */
static bool
instruments_ignores(PfsRowId row, int column)
{
	const PfsInstrument *ins = pfs_instrument_at(row.slot);

	return column == INSTRUMENTS_TIMED && ins != NULL && ins->class >= PFS_NUM_TIMED_CLASSES;
}

static void
instruments_update(PfsRowId row, const PfsNewRow *values)
{
	pfs_setup_set_instrument(row.slot, pfs_new_switch(values, INSTRUMENTS_ENABLED),
							 pfs_new_switch(values, INSTRUMENTS_TIMED));
}

const PfsTable pfs_table_setup_instruments = {
	.name = "setup_instruments",
	.row_is = "one instrument: something that can be measured",
	.truncate_effect = "refused",
	.columns = instruments_columns,
	.ncolumns = lengthof(instruments_columns),
	.row_size = sizeof(NumberRow),
	.estimate = instruments_estimate,
	.copy = instruments_copy,
	.get = instruments_get,
	.identity = number_identity,
	.ignores = instruments_ignores,
	.update = instruments_update,
};

/*
 * setup_consumers
 */
enum
{
	CONSUMERS_NAME,
	CONSUMERS_ENABLED,
};

static const PfsColumn consumers_columns[] = {
	[CONSUMERS_NAME] = {"name", TEXTOID, .width = 24},
	[CONSUMERS_ENABLED] = {"enabled", TEXTOID, .width = 4, .check = pfs_check_switch},
};

static double
consumers_estimate(void)
{
	return PFS_NUM_CONSUMERS;
}

static void
consumers_copy(PfsScan *scan)
{
	for (int c = 0; c < PFS_NUM_CONSUMERS; c++)
		add_number(scan, c);
}

static Datum
consumers_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	uint32		number = ((const NumberRow *) row)->number;

	switch (column)
	{
		case CONSUMERS_NAME:
			return CStringGetTextDatum(pfs_consumer_name(number));
		case CONSUMERS_ENABLED:
			return pfs_switch_datum(pfs_setup->consumer[number]);
	}
	return pfs_null(isnull);
}

static void
consumers_update(PfsRowId row, const PfsNewRow *values)
{
	int			enabled = pfs_new_switch(values, CONSUMERS_ENABLED);

	if (enabled >= 0)
		pfs_setup_set_consumer(row.slot, enabled);
}

const PfsTable pfs_table_setup_consumers = {
	.name = "setup_consumers",
	.row_is = "one consumer: a place where events are kept, on only while all above it are",
	.truncate_effect = "refused",
	.columns = consumers_columns,
	.ncolumns = lengthof(consumers_columns),
	.row_size = sizeof(NumberRow),
	.estimate = consumers_estimate,
	.copy = consumers_copy,
	.get = consumers_get,
	.identity = number_identity,
	.update = consumers_update,
};

/*
 * setup_timers
 */
enum
{
	TIMERS_NAME,
	TIMERS_TIMER_NAME,
};

/* Takes the timers that this machine offers. */
static Datum
check_timer_name(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	return CStringGetTextDatum(pfs_timer_name(pfs_require_timer(isnull ? NULL : TextDatumGetCString(value))));
}

static const PfsColumn timers_columns[] = {
	[TIMERS_NAME] = {"name", TEXTOID, .width = 10},
	[TIMERS_TIMER_NAME] = {"timer_name", TEXTOID, .width = 10, .check = check_timer_name},
};

static double
timers_estimate(void)
{
	return PFS_NUM_TIMED_CLASSES;
}

static void
timers_copy(PfsScan *scan)
{
	for (int c = 0; c < PFS_NUM_TIMED_CLASSES; c++)
		add_number(scan, c);
}

static Datum
timers_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	uint32		number = ((const NumberRow *) row)->number;

	switch (column)
	{
		case TIMERS_NAME:
			return CStringGetTextDatum(pfs_class_name(number));
		case TIMERS_TIMER_NAME:
			return CStringGetTextDatum(pfs_timer_name(pfs_setup->timer[number]));
	}
	return pfs_null(isnull);
}

static void
timers_update(PfsRowId row, const PfsNewRow *values)
{
	if (values->set[TIMERS_TIMER_NAME])
		pfs_setup_set_timer(row.slot,
							pfs_timer_by_name(TextDatumGetCString(values->values[TIMERS_TIMER_NAME])));
}

const PfsTable pfs_table_setup_timers = {
	.name = "setup_timers",
	.row_is = "one class of events and the timer that measures it",
	.truncate_effect = "refused",
	.columns = timers_columns,
	.ncolumns = lengthof(timers_columns),
	.row_size = sizeof(NumberRow),
	.estimate = timers_estimate,
	.copy = timers_copy,
	.get = timers_get,
	.identity = number_identity,
	.update = timers_update,
};

/*
 * setup_threads
 */
enum
{
	THREADS_NAME,
	THREADS_ENABLED,
	THREADS_HISTORY,
	THREADS_PROPERTIES,
	THREADS_DOCUMENTATION,
};

static const PfsColumn threads_columns[] = {
	[THREADS_NAME] = {"name", TEXTOID, .width = 24},
	[THREADS_ENABLED] = {"enabled", TEXTOID, .width = 4, .check = pfs_check_switch},
	[THREADS_HISTORY] = {"history", TEXTOID, .width = 4, .check = pfs_check_switch},
	[THREADS_PROPERTIES] = {"properties", TEXTOID, .width = 4},
	[THREADS_DOCUMENTATION] = {"documentation", TEXTOID, .width = 32},
};

static double
threads_estimate(void)
{
	return pfs_thread_kind_count();
}

static void
threads_copy(PfsScan *scan)
{
	int			n = pfs_thread_kind_count();

	for (int kind = 0; kind < n; kind++)
	{
		if (pfs_thread_kind(kind)->background)
			add_number(scan, kind);
	}
}

static Datum
threads_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	uint32		number = ((const NumberRow *) row)->number;
	const PfsThreadKind *kind = pfs_thread_kind(number);

	switch (column)
	{
		case THREADS_NAME:
			return CStringGetTextDatum(kind->name);
		case THREADS_ENABLED:
			return pfs_switch_datum(pfs_setup->kind_enabled[number]);
		case THREADS_HISTORY:
			return pfs_switch_datum(pfs_setup->kind_history[number]);
		case THREADS_PROPERTIES:
			return CStringGetTextDatum("");
		case THREADS_DOCUMENTATION:
			return pfs_text_or_null(kind->documentation, isnull);
	}
	return pfs_null(isnull);
}

static void
threads_update(PfsRowId row, const PfsNewRow *values)
{
	pfs_setup_set_thread_kind(row.slot, pfs_new_switch(values, THREADS_ENABLED),
							  pfs_new_switch(values, THREADS_HISTORY));
}

const PfsTable pfs_table_setup_threads = {
	.name = "setup_threads",
	.row_is = "one kind of background process, and the switches that its threads start with",
	.truncate_effect = "refused",
	.columns = threads_columns,
	.ncolumns = lengthof(threads_columns),
	.row_size = sizeof(NumberRow),
	.estimate = threads_estimate,
	.copy = threads_copy,
	.get = threads_get,
	.identity = number_identity,
	.update = threads_update,
};
