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
#include "pfs_wait_class.h"

/* A row has the number of its object; the object's switches are read in place. */
typedef struct NumberRow
{
	uint32		number;
} NumberRow;

static void
add_number(PfsScan *scan, uint32 number)
{
	((NumberRow *) pfs_scan_add(scan))->number = number;
}

/* Of objects that are always there, as many as the planner expects. */
static void
numbers_copy(PfsScan *scan)
{
	for (int i = 0; i < scan->table->usual_rows; i++)
		add_number(scan, i);
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
static const PfsInstrument *
instrument_of(const NumberRow *row)
{
	return pfs_instrument_at(row->number);
}

static const char *
properties_of(const PfsInstrument *ins)
{
	return ins->properties & PFS_PROPERTY_IDLE ? "idle" :
		ins->properties & PFS_PROPERTY_CONTAINS_WAITS ? "contains_waits" :
		ins->properties & PFS_PROPERTY_BUILT_IN ? "global_statistics" : "";
}

#define INSTRUMENTS_COLUMNS(X, t) \
	X(t, name, text, none, pfs_instrument_name(instrument_of(row)), \
	  "Path from coarse to fine: class / order / family / the word that PostgreSQL itself uses.", .width = 36) \
	X(t, enabled, text, none, pfs_yes_or_no(instrument_of(row)->enabled), \
	  "Is it collected?" PFS_YES_OR_NO, .width = 4, .check = pfs_check_switch) \
	X(t, timed, text, none, \
	  instrument_of(row)->class < PFS_NUM_TIMED_CLASSES ? pfs_yes_or_no(instrument_of(row)->timed) : NULL, \
	  "Is it timed, too?" PFS_YES_OR_NO " Events that are not timed have NULL times.", \
	  .width = 4, .check = pfs_check_switch) \
	X(t, properties, text, none, properties_of(instrument_of(row)), \
	  "idle: it waits for work, not for a resource; contains_waits: its times contain those of other waits; " \
	  "global_statistics: it cannot be switched. Empty otherwise.", .width = 4) \
	X(t, documentation, text, none, instrument_of(row)->documentation, \
	  "What is measured, where the name alone does not say it.", .width = 64) \
	X(t, wait_event_type, text, none, instrument_of(row)->wait_event_type, \
	  "The word of pg_stat_activity.wait_event_type for the same wait; NULL if there is none. No key, as " \
	  "wait_event.", .width = 8) \
	X(t, wait_event, text, none, \
	  instrument_of(row)->wait_event[0] ? pfs_instrument_wait_event(instrument_of(row)) : NULL, \
	  "The word of pg_stat_activity.wait_event for the same wait; NULL if there is none. No key: some words name " \
	  "several instruments, ClientRead three. What a session waits for is the row of events_waits_current with " \
	  "its thread_id and the highest event_id.", .width = 20) \
	X(t, wait_class, text, none, pfs_wait_class_name(instrument_of(row)), \
	  "The kind of wait, as wait_event_type of load_history has it; also Activity. NULL: no wait, or one that contains " \
	  "others.", .width = 8, .since = PFS_SINCE_1_2)

PFS_COLUMNS(instruments, NumberRow, INSTRUMENTS_COLUMNS)

static double
instruments_estimate(const PfsTable *table)
{
	return pfs_instrument_count();
}

/* Registers the instruments of shared memory's areas first, then adds all instruments. */
static void
instruments_copy(PfsScan *scan)
{
	pfs_shared_areas_register();
	pfs_instrument_name_late();
	pfs_each_instrument(ins)
		add_number(scan, pfs_instrument_id(ins));
}

/* UPDATE ignores `timed` of memory and error instruments, which are never timed. */
static bool
instruments_ignores(PfsRowId row, int column)
{
	const PfsInstrument *ins = pfs_instrument_at(row.slot);

	return column == PFS_COLUMN(instruments, timed) && ins != NULL && ins->class >= PFS_NUM_TIMED_CLASSES;
}

static void
instruments_update(const PfsTable *table, PfsRowId row, const PfsNewRow *values)
{
	pfs_setup_set_instrument(row.slot, pfs_new_switch(values, PFS_COLUMN(instruments, enabled)),
							 pfs_new_switch(values, PFS_COLUMN(instruments, timed)));
}

const PfsTable pfs_table_setup_instruments = {
	PFS_TABLE("setup_instruments", instruments, "MySQL",
			  "one instrument: something that can be measured",
			  "refused",
			  "Instruments: what can be measured, and whether it is. One row per instrument. UPDATE of enabled and "
			  "timed takes effect with other sessions' next event and lasts until the server restarts."),
	.estimate = instruments_estimate,
	.copy = instruments_copy,
	.identity = number_identity,
	.ignores = instruments_ignores,
	.update = instruments_update,
};

/*
 * setup_consumers
 */
#define CONSUMERS_COLUMNS(X, t) \
	X(t, name, text, none, pfs_consumer_name(row->number), \
	  "global_instrumentation, below it statements_digest, with plans below that, and thread_instrumentation, below the latter " \
	  "events_X_current, below that events_X_history and events_X_history_long, X being waits, stages, statements " \
	  "and transactions; below events_statements_current also events_statements_cpu.", .width = 24) \
	X(t, enabled, text, none, pfs_yes_or_no(pfs_setup->consumer[row->number]), \
	  "The consumer's own switch." PFS_YES_OR_NO, .width = 4, .check = pfs_check_switch)

PFS_COLUMNS(consumers, NumberRow, CONSUMERS_COLUMNS)

static void
consumers_update(const PfsTable *table, PfsRowId row, const PfsNewRow *values)
{
	int			enabled = pfs_new_switch(values, PFS_COLUMN(consumers, enabled));

	if (enabled >= 0)
		pfs_setup_set_consumer(row.slot, enabled);
}

const PfsTable pfs_table_setup_consumers = {
	PFS_TABLE("setup_consumers", consumers, "MySQL",
			  "one consumer: a place where events are kept, on only while all above it are",
			  "refused",
			  "Consumers: where events are kept. One row per consumer; each collects only while all above it are "
			  "on. Off means frozen, not emptied."),
	.usual_rows = PFS_NUM_CONSUMERS,
	.copy = numbers_copy,
	.identity = number_identity,
	.update = consumers_update,
};

/*
 * setup_timers
 */
/* Accepts the name of a timer that this machine offers, and raises an error for others. */
static Datum
check_timer_name(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	return CStringGetTextDatum(pfs_timer_names[pfs_require_timer(isnull ? NULL : TextDatumGetCString(value))]);
}

#define TIMERS_COLUMNS(X, t) \
	X(t, name, text, none, pfs_class_names[row->number], \
	  "idle, wait, stage, statement or transaction.", .width = 10) \
	X(t, timer_name, text, none, pfs_timer_names[pfs_setup->timer[row->number]], \
	  "One of performance_timers that this machine has.", .width = 10, .check = check_timer_name)

PFS_COLUMNS(timers, NumberRow, TIMERS_COLUMNS)

static void
timers_update(const PfsTable *table, PfsRowId row, const PfsNewRow *values)
{
	if (values->set[PFS_COLUMN(timers, timer_name)])
		pfs_setup_set_timer(row.slot,
							pfs_timer_by_name(TextDatumGetCString(values->values[PFS_COLUMN(timers, timer_name)])));
}

const PfsTable pfs_table_setup_timers = {
	PFS_TABLE("setup_timers", timers, "MySQL",
			  "one class of events and the timer that measures it",
			  "refused",
			  "The timer of each class of events. A change takes effect with events that begin afterwards; each "
			  "event is shown by the timer that it was taken with."),
	.usual_rows = PFS_NUM_TIMED_CLASSES,
	.copy = numbers_copy,
	.identity = number_identity,
	.update = timers_update,
};

/*
 * setup_threads
 */
#define THREADS_COLUMNS(X, t) \
	X(t, name, text, none, pfs_thread_kinds[row->number].name, \
	  "As threads.name of such a thread.", .width = 24) \
	X(t, enabled, text, none, pfs_yes_or_no(pfs_setup->kind_enabled[row->number]), \
	  "threads.instrumented of threads that start afterwards." PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch) \
	X(t, history, text, none, pfs_yes_or_no(pfs_setup->kind_history[row->number]), \
	  "threads.history of threads that start afterwards." PFS_YES_OR_NO, .width = 4, .check = pfs_check_switch) \
	X(t, properties, text, none, "", "Reserved; empty.", .width = 4) \
	X(t, documentation, text, none, pfs_thread_kinds[row->number].documentation, \
	  "PostgreSQL's own words for this kind of process.", .width = 32)

PFS_COLUMNS(threads, NumberRow, THREADS_COLUMNS)

static void
threads_copy(PfsScan *scan)
{
	for (int kind = 0; kind < PFS_NUM_BACKEND_TYPES; kind++)
	{
		if (pfs_thread_kinds[kind].background)
			add_number(scan, kind);
	}
}

static void
threads_update(const PfsTable *table, PfsRowId row, const PfsNewRow *values)
{
	pfs_setup_set_thread_kind(row.slot, pfs_new_switch(values, PFS_COLUMN(threads, enabled)),
							  pfs_new_switch(values, PFS_COLUMN(threads, history)));
}

const PfsTable pfs_table_setup_threads = {
	PFS_TABLE("setup_threads", threads, "MySQL",
			  "one kind of background process, and the switches that its threads start with",
			  "refused",
			  "Kinds of background processes and the switches that their threads start with. One row per kind."),
	.usual_rows = PFS_NUM_BACKEND_TYPES,
	.copy = threads_copy,
	.identity = number_identity,
	.update = threads_update,
};
