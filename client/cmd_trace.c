/*
 * cmd_trace.c
 *	  pfs trace: what chosen sessions did, as a timeline that Perfetto's viewer opens.
 *
 * The output is a trace of Perfetto: packets of track descriptors and track events, as its
 * published schema has them.  A session is a track with tracks below it: statements with
 * their stages and waits, transactions, and runs on tables, which overlap both.  Where two events
 * of one of these cross, the second goes to a further track.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "escape.h"
#include "history.h"
#include "protobuf.h"
#include "sorted.h"

/* Numbers of fields, by message. */
#define TRACE_PACKET 1
#define PACKET_CLOCK_SNAPSHOT 6
#define PACKET_TIMESTAMP 8
#define PACKET_SEQUENCE_ID 10
#define PACKET_TRACK_EVENT 11
#define PACKET_INTERNED_DATA 12
#define PACKET_SEQUENCE_FLAGS 13
#define PACKET_TRACK_DESCRIPTOR 60
#define SNAPSHOT_CLOCK 1
#define SNAPSHOT_PRIMARY 2
#define CLOCK_ID 1
#define CLOCK_TIMESTAMP 2
#define DESCRIPTOR_UUID 1
#define DESCRIPTOR_NAME 2
#define DESCRIPTOR_PARENT 5
#define DESCRIPTOR_CHILD_ORDERING 11
#define DESCRIPTOR_RANK 12
#define INTERNED_CATEGORY 1
#define INTERNED_NAME 2
#define INTERNED_ANNOTATION 3
#define INTERNED_IID 1
#define INTERNED_TEXT 2
#define EVENT_CATEGORY_IID 3
#define EVENT_ANNOTATION 4
#define EVENT_TYPE 9
#define EVENT_NAME_IID 10
#define EVENT_TRACK 11
#define EVENT_FLOW 47
#define EVENT_FLOW_END 48
#define ANNOTATION_NAME_IID 1
#define ANNOTATION_INT 4
#define ANNOTATION_STRING 6

/* Values of fields. */
#define SLICE_BEGIN 1
#define SLICE_END 2
#define INSTANT 3
#define BOOTTIME 6
#define REALTIME 1
#define EXPLICIT_ORDER 3
#define STATE_CLEARED 1
#define NEEDS_STATE 2
#define OUR_SEQUENCE 1

/* Longer names make a timeline slow and are not read; the whole text is a detail. */
#define NAME_LENGTH 200

/* The tracks of a session, from the top. */
typedef enum Group
{
	GROUP_STATEMENTS,
	GROUP_TRANSACTIONS,
	GROUP_TABLES,
	NUM_GROUPS
} Group;

static const char *const group_names[NUM_GROUPS] = {"statements", "transactions", "tables"};

/* A word that was written once and has a number since. */
typedef struct Name
{
	const char *word;
	int			number;
} Name;

typedef struct Names
{
	int			field;			/* of the interned data */
	int			count;
	void	   *tree;			/* of each Name, by its word */
} Names;

typedef struct Trace
{
	const History *history;
	Sink	   *sink;
	Names		categories;
	Names		names;
	Names		annotations;
	Buffer		interned;		/* of the packet in the making */
	bool		started;
	int			slices;
	struct Source *sources;		/* of arrows, one for each block */
} Trace;

/* ---- packets ---- */

/* Ends a packet and writes it. */
static void
write_packet(Trace *trace, Buffer *packet)
{
	Buffer		whole = {0};

	pb_varint(packet, PACKET_SEQUENCE_ID, OUR_SEQUENCE);
	pb_varint(packet, PACKET_SEQUENCE_FLAGS, trace->started ? NEEDS_STATE : STATE_CLEARED);
	trace->started = true;
	pb_message(&whole, TRACE_PACKET, packet);
	sink_write(trace->sink, whole.data, whole.length);
	buffer_free(&whole);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const Name *) a)->word, ((const Name *) b)->word);
}

/* The number of a word, which is added to the packet's interned data when it is new. */
static uint64_t
intern(Trace *trace, Names *names, const char *word)
{
	const Name	wanted = {.word = word};
	Name	  **found = tfind(&wanted, &names->tree, compare_names);
	Name	   *name;
	Buffer		entry = {0};

	if (found)
		return (*found)->number;
	name = allocate(sizeof(Name));
	name->word = copy_string(word);
	name->number = ++names->count;
	check_memory(tsearch(name, &names->tree, compare_names));
	pb_varint(&entry, INTERNED_IID, name->number);
	pb_string(&entry, INTERNED_TEXT, word);
	pb_message(&trace->interned, names->field, &entry);
	buffer_free(&entry);
	return name->number;
}

/* Which moment of the clock the events' times belong to. */
static void
write_clock(Trace *trace)
{
	Buffer		packet = {0};
	Buffer		snapshot = {0};
	Buffer		clock = {0};

	pb_varint(&clock, CLOCK_ID, BOOTTIME);
	pb_varint(&clock, CLOCK_TIMESTAMP, trace->history->now);
	pb_message(&snapshot, SNAPSHOT_CLOCK, &clock);
	pb_varint(&clock, CLOCK_ID, REALTIME);
	pb_varint(&clock, CLOCK_TIMESTAMP, trace->history->clock);
	pb_message(&snapshot, SNAPSHOT_CLOCK, &clock);
	pb_varint(&snapshot, SNAPSHOT_PRIMARY, BOOTTIME);
	pb_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	write_packet(trace, &packet);
	buffer_free(&packet);
	buffer_free(&snapshot);
	buffer_free(&clock);
}

/*
 * Tracks have numbers made of the thread's, the group's and the lane's.  A session's own has group
 * and lane 0.
 */
static uint64_t
track_of(int64_t thread, int group, int lane)
{
	return (uint64_t) thread << 16 | (uint64_t) group << 12 | (uint64_t) lane;
}

/* Describes a track; one without a parent is a session's, and orders those below it. */
static void
write_track(Trace *trace, uint64_t uuid, uint64_t parent, const char *name, int rank)
{
	Buffer		packet = {0};
	Buffer		descriptor = {0};

	pb_varint(&descriptor, DESCRIPTOR_UUID, uuid);
	pb_string(&descriptor, DESCRIPTOR_NAME, name);
	if (parent)
		pb_varint(&descriptor, DESCRIPTOR_PARENT, parent);
	else
		pb_varint(&descriptor, DESCRIPTOR_CHILD_ORDERING, EXPLICIT_ORDER);
	pb_varint(&descriptor, DESCRIPTOR_RANK, rank);
	pb_message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
	write_packet(trace, &packet);
	buffer_free(&packet);
	buffer_free(&descriptor);
}

/* ---- events ---- */

static const char *
category_of(const HistoryEvent *event)
{
	static const char *const categories[NUM_FAMILIES] = {"transaction", "statement", "stage", "wait"};

	return categories[event->family];
}

static Group
group_of(const HistoryEvent *event)
{
	if (event->family == FAMILY_TRANSACTION)
		return GROUP_TRANSACTIONS;
	return strncmp(event->name, "wait/io/table/", 14) == 0 ? GROUP_TABLES : GROUP_STATEMENTS;
}

/* Adds all that the server knows of the event as details of the slice. */
static void
add_details(Trace *trace, Buffer *body, const HistoryEvent *event)
{
	Buffer		annotation = {0};

	pb_varint(&annotation, ANNOTATION_NAME_IID, intern(trace, &trace->annotations, "event_id"));
	pb_varint(&annotation, ANNOTATION_INT, event->id);
	pb_message(body, EVENT_ANNOTATION, &annotation);
	pb_varint(&annotation, ANNOTATION_NAME_IID, intern(trace, &trace->annotations, "event_name"));
	pb_string(&annotation, ANNOTATION_STRING, event->name);
	pb_message(body, EVENT_ANNOTATION, &annotation);
	for (int i = FIRST_DETAIL; i < PQnfields(event->result); i++)
	{
		const char *value = field(event->result, event->row, i);
		Number		number;

		if (value == NULL)
			continue;
		pb_varint(&annotation, ANNOTATION_NAME_IID, intern(trace, &trace->annotations, PQfname(event->result, i)));
		/* Of types without a fraction; a text that is a number stays a text. */
		if (PQftype(event->result, i) != 25 && parse_number(value, &number) && number <= INT64_MAX && number >= INT64_MIN)
			pb_varint(&annotation, ANNOTATION_INT, (uint64_t) (int64_t) number);
		else
		{
			char	   *text = short_line(value, 100000);

			pb_string(&annotation, ANNOTATION_STRING, text);
			free(text);
		}
		pb_message(body, EVENT_ANNOTATION, &annotation);
	}
	buffer_free(&annotation);
}

static void
write_event(Trace *trace, int64_t time, Buffer *body)
{
	Buffer		packet = {0};

	pb_varint(&packet, PACKET_TIMESTAMP, time);
	pb_message(&packet, PACKET_TRACK_EVENT, body);
	if (trace->interned.length > 0)
		pb_message(&packet, PACKET_INTERNED_DATA, &trace->interned);
	write_packet(trace, &packet);
	buffer_free(&packet);
}

/* ---- arrows ---- */

/* Where the arrow of a block begins; the arrow has the block's number. */
typedef struct Source
{
	const HistoryEvent *event;	/* NULL: none of the blocker's events is shown */
	int			block;
} Source;

static int
compare_sources(const void *a, const void *b)
{
	const Source *x = a;
	const Source *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->block - y->block;
}

/* For each event, the latest end of it and those before it of its thread. */
static int64_t *
latest_ends(const History *history)
{
	int64_t    *ends = allocate(sizeof(int64_t) * (history->num_events + 1));

	for (int i = 0; i < history->num_events; i++)
	{
		const HistoryEvent *event = &history->events[i];

		ends[i] = event->end;
		if (i > 0 && event[-1].thread == event->thread && ends[i - 1] > ends[i])
			ends[i] = ends[i - 1];
	}
	return ends;
}

/*
 * The blocker's event from which an arrow goes: its transaction, as that holds locks, else
 * the innermost that was under way when the wait began.
 */
static const HistoryEvent *
blocking_event(const History *history, const int64_t *ends, const HistoryBlock *block, const HistoryEvent *wait)
{
	const HistoryEvent *best = NULL;

	/* Events that begin later cannot, nor those before which all had ended. */
	for (int i = history_first_since(history, block->blocker, wait->start + 1) - 1;
		 i >= 0 && history->events[i].thread == block->blocker && ends[i] >= wait->start; i--)
	{
		const HistoryEvent *event = &history->events[i];

		if (!event->chosen || event->end < wait->start)
			continue;
		if (event->family == FAMILY_TRANSACTION)
			return event;
		if (best == NULL)
			best = event;
	}
	return best;
}

/* Finds where arrows begin, in the order of events. */
static Source *
find_sources(const History *history)
{
	Source	   *sources = allocate(sizeof(Source) * (history->num_blocks + 1));
	int64_t    *ends = latest_ends(history);

	for (int i = 0; i < history->num_blocks; i++)
	{
		const HistoryBlock *block = &history->blocks[i];
		const HistoryEvent *wait = history_find(history, block->waiter, block->wait);

		sources[i] = (Source)
		{
			wait && wait->chosen ? blocking_event(history, ends, block, wait) : NULL, i
		};
	}
	qsort(sources, history->num_blocks, sizeof(Source), compare_sources);
	free(ends);
	return sources;
}

/* Adds the arrows that begin or end at the event. */
static void
add_flows(Trace *trace, Buffer *body, const HistoryEvent *event)
{
	const History *history = trace->history;
	const Source first = {event, -1};

	for (int i = lower_bound(trace->sources, history->num_blocks, sizeof(Source), &first, compare_sources);
		 i < history->num_blocks && trace->sources[i].event == event; i++)
		pb_fixed64(body, EVENT_FLOW, trace->sources[i].block + 1);
	for (int i = history_first_block(history, event->thread, event->id);
		 i < history->num_blocks && history->blocks[i].waiter == event->thread && history->blocks[i].wait == event->id; i++)
		pb_fixed64(body, EVENT_FLOW_END, i + 1);
}

/* Writes the begin of an event, with its name, details and arrows. */
static void
write_begin(Trace *trace, const HistoryEvent *event, uint64_t track)
{
	Buffer		body = {0};
	char	   *title = short_line(event_title(event), NAME_LENGTH);

	pb_varint(&body, EVENT_TYPE, SLICE_BEGIN);
	pb_varint(&body, EVENT_TRACK, track);
	pb_varint(&body, EVENT_CATEGORY_IID, intern(trace, &trace->categories, category_of(event)));
	pb_varint(&body, EVENT_NAME_IID, intern(trace, &trace->names, title));
	add_details(trace, &body, event);
	add_flows(trace, &body, event);
	write_event(trace, event->start, &body);
	trace->slices++;
	buffer_free(&body);
	free(title);
}

/* One that is running has no end: the viewer shows it as unfinished. */
static void
write_end(Trace *trace, const HistoryEvent *event, uint64_t track)
{
	Buffer		body = {0};

	if (event->running)
		return;
	pb_varint(&body, EVENT_TYPE, SLICE_END);
	pb_varint(&body, EVENT_TRACK, track);
	write_event(trace, event->end, &body);
	buffer_free(&body);
}

/* An arrow needs something to come from, also where none of the blocker's events is shown. */
static void
write_instant(Trace *trace, const HistoryBlock *block, int number, const HistoryEvent *wait)
{
	Buffer		body = {0};

	pb_varint(&body, EVENT_TYPE, INSTANT);
	pb_varint(&body, EVENT_TRACK, track_of(block->blocker, 0, 0));
	pb_varint(&body, EVENT_CATEGORY_IID, intern(trace, &trace->categories, "blocker"));
	pb_varint(&body, EVENT_NAME_IID, intern(trace, &trace->names, "blocks another session"));
	pb_fixed64(&body, EVENT_FLOW, number + 1);
	write_event(trace, wait->start, &body);
	buffer_free(&body);
}

/* ---- tracks ---- */

/* A track in the making: the events that are open in it, the innermost last. */
typedef struct Lane
{
	int			depth;
	int			size;
	const HistoryEvent **open;
} Lane;

typedef struct Lanes
{
	int			count;
	Lane	   *lanes;
} Lanes;

#define MOST_LANES 4000

/* Ends what has ended when the next event of the track begins. */
static void
close_until(Trace *trace, Lane *lane, uint64_t track, int64_t time)
{
	while (lane->depth > 0 && lane->open[lane->depth - 1]->end <= time && !lane->open[lane->depth - 1]->running)
		write_end(trace, lane->open[--lane->depth], track);
}

/* Can the event go to the lane: does it lie within what is open there when it begins? */
static bool
fits(const Lane *lane, const HistoryEvent *event)
{
	for (int i = lane->depth - 1; i >= 0; i--)
	{
		const HistoryEvent *open = lane->open[i];

		if (open->running || open->end > event->start)
			return open->running || (!event->running && event->end <= open->end);
	}
	return true;
}

/*
 * Writes the events of one thread and group.  They come in the order of their begins; of the events of
 * one track, each ends before the next one begins, or lies within it.
 */
static void
write_group(Trace *trace, int64_t thread, Group group, int first, int end)
{
	Lanes		lanes = {0};

	for (int i = first; i < end; i++)
	{
		const HistoryEvent *event = &trace->history->events[i];
		int			number = 0;
		Lane	   *lane;

		if (!event->chosen || group_of(event) != group)
			continue;
		while (number < lanes.count && number < MOST_LANES && !fits(&lanes.lanes[number], event))
			number++;
		if (number == lanes.count)
		{
			char	   *name = number == 0 ? copy_string(group_names[group]) : format_string("%s, overlapping", group_names[group]);

			lanes.lanes = reallocate(lanes.lanes, sizeof(Lane) * (lanes.count + 1));
			lanes.lanes[lanes.count++] = (Lane)
			{
				0
			};
			write_track(trace, track_of(thread, group + 1, number), track_of(thread, 0, 0), name, (int) group * MOST_LANES + number);
			free(name);
		}
		lane = &lanes.lanes[number];
		close_until(trace, lane, track_of(thread, group + 1, number), event->start);
		if (lane->depth == lane->size)
		{
			lane->size = lane->size ? 2 * lane->size : 16;
			lane->open = reallocate(lane->open, sizeof(HistoryEvent *) * lane->size);
		}
		write_begin(trace, event, track_of(thread, group + 1, number));
		lane->open[lane->depth++] = event;
	}
	for (int number = 0; number < lanes.count; number++)
	{
		while (lanes.lanes[number].depth > 0)
			write_end(trace, lanes.lanes[number].open[--lanes.lanes[number].depth], track_of(thread, group + 1, number));
		free(lanes.lanes[number].open);
	}
	free(lanes.lanes);
}

/* Describes the track of a session, by its name or the number of its thread. */
static void
write_session(Trace *trace, int64_t thread, int rank)
{
	char	   *title = NULL;

	for (int i = 0; i < trace->history->num_threads; i++)
	{
		if (trace->history->threads[i].id == thread)
			title = short_line(trace->history->threads[i].title, NAME_LENGTH);
	}
	if (title == NULL)
		title = format_string("thread %lld, ended", (long long) thread);
	write_track(trace, track_of(thread, 0, 0), 0, title, rank);
	free(title);
}

/* Writes one session after the other; a viewer sorts packets by time. */
static void
write_sessions(Trace *trace)
{
	const History *history = trace->history;
	int			rank = 0;

	trace->sources = find_sources(history);
	for (int first = 0, end; first < history->num_events; first = end)
	{
		int64_t		thread = history->events[first].thread;
		bool		any = false;

		for (end = first; end < history->num_events && history->events[end].thread == thread; end++)
			any = any || history->events[end].chosen;
		if (!any)
			continue;
		write_session(trace, thread, rank++);
		for (int group = 0; group < NUM_GROUPS; group++)
			write_group(trace, thread, group, first, end);
	}
	/* Those without an event come first. */
	for (int i = 0; i < history->num_blocks && trace->sources[i].event == NULL; i++)
	{
		int			number = trace->sources[i].block;
		const HistoryBlock *block = &history->blocks[number];
		const HistoryEvent *wait = history_find(history, block->waiter, block->wait);

		if (wait && wait->chosen)
		{
			write_session(trace, block->blocker, rank++);
			write_instant(trace, block, number, wait);
		}
	}
	free(trace->sources);
}

/* Reads the events and writes the trace. */
static int
run_trace(const Command *command, Options *options)
{
	Trace		trace = {
		.categories = {.field = INTERNED_CATEGORY},
		.names = {.field = INTERNED_NAME},
		.annotations = {.field = INTERNED_ANNOTATION},
	};
	Server	   *server;

	if (option_value(options, "output") == NULL && isatty(1))
		die(STATUS_UNUSABLE, "a trace is binary data, which a terminal cannot show: name a file with --output");
	server = server_open_or_die(options, "pfs trace", 0);
	trace.sink = sink_open(option_value(options, "output"));
	catch_signals();
	trace.history = history_read(server, options);
	server_close(server);
	write_clock(&trace);
	write_sessions(&trace);
	sink_close(trace.sink);
	if (isatty(2))
		warn("%d slices", trace.slices);
	return STATUS_OK;
}

static const Option trace_options[] = {HISTORY_OPTIONS, OPTION_OUTPUT, {NULL}};

const Command command_trace = {
	.name = "trace",
	.help = "what chosen sessions did, as a timeline for Perfetto's viewer",
	.options = trace_options,
	.details = "Without options it shows all that the histories have. Statements, stages, waits and transactions of each\n"
	"session are nested; an arrow goes from who blocks to who waits. ui.perfetto.dev opens the file, in the\n"
	"browser, without sending it anywhere. It holds statements' texts, and gets mode 0600.\n",
	.run = run_trace,
};
