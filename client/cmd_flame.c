/*
 * cmd_flame.c
 *	  pfs flame: statement, stage and wait by time, as folded stacks or a page.
 *
 * The events of the histories are added up by their path: a statement's text, the statements in it, the stage, the
 * waits. A frame's own time is that of its events less that of the events in them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "embedded.h"
#include "escape.h"
#include "format.h"
#include "history.h"
#include "sorted.h"

/* What lies deeper than this is a broken chain of parents. */
#define MOST_FRAMES 200
#define NAME_LENGTH 300

typedef struct Frame
{
	char	   *name;			/* one line without control characters */
	HistoryFamily family;
	Number		time;			/* picoseconds, with what is inside */
	int64_t		count;
	int			num_children;
	struct Frame **children;
} Frame;

/* ---- adding up ---- */

/* Finds the frame of that name inside another one, or adds it. */
static Frame *
child_of(Frame *parent, const char *name, HistoryFamily family)
{
	Frame	   *child;

	for (int i = 0; i < parent->num_children; i++)
	{
		child = parent->children[i];
		if (child->family == family && strcmp(child->name, name) == 0)
			return child;
	}
	child = allocate(sizeof(Frame));
	child->name = copy_string(name);
	child->family = family;
	parent->children = reallocate(parent->children, sizeof(Frame *) * (parent->num_children + 1));
	parent->children[parent->num_children++] = child;
	return child;
}

/* The name of a frame: of a statement its text on one line, ";" as another character would end the frame. */
static char *
frame_name(const HistoryEvent *event)
{
	char	   *name = short_line(event_title(event), NAME_LENGTH);

	for (char *p = name; *p; p++)
		*p = *p == ';' ? ',' : *p;
	return name;
}

/* A run on a table, which contains waits and may go from one stage of its statement to the next. */
static bool
is_run(const HistoryEvent *event)
{
	return event->family == FAMILY_WAIT && strncmp(event->name, "wait/io/table/", 14) == 0;
}

/* The stages by their statements, to find the one in which something happened. */
typedef struct Stages
{
	int			count;
	const HistoryEvent **events;
} Stages;

static int
compare_stages(const void *a, const void *b)
{
	const HistoryEvent *x = *(HistoryEvent *const *) a;
	const HistoryEvent *y = *(HistoryEvent *const *) b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Collects the stages of all statements. */
static Stages
make_stages(const History *history)
{
	Stages		stages = {0};

	stages.events = allocate(sizeof(HistoryEvent *) * (history->num_events + 1));
	for (int i = 0; i < history->num_events; i++)
	{
		if (history->events[i].family == FAMILY_STAGE)
			stages.events[stages.count++] = &history->events[i];
	}
	qsort(stages.events, stages.count, sizeof(HistoryEvent *), compare_stages);
	return stages;
}

/*
 * The innermost stage of a statement that was under way when the event began; the statement itself if none
 * was. A stage may lie in another one: the planning of an expression in the stage of its utility.
 */
static const HistoryEvent *
stage_at(const Stages *stages, const HistoryEvent *statement, const HistoryEvent *event)
{
	HistoryEvent key = {.thread = statement->thread, .parent = statement->id, .start = event->start + 1};
	const HistoryEvent *later = &key;
	int			i = lower_bound(stages->events, stages->count, sizeof(HistoryEvent *), &later, compare_stages);

	while (--i >= 0)
	{
		const HistoryEvent *stage = stages->events[i];

		if (stage->thread != statement->thread || stage->parent != statement->id)
			break;
		if (stage != event && stage->end >= event->end &&
			(event->family != FAMILY_STAGE || stage->start < event->start || stage->end > event->end))
			return stage;
	}
	return statement;
}

/*
 * What an event stands on. A statement inside another one stands on the stage of that in which it began, and
 * so does a wait in a run on a table, as the run itself belongs to the stage that opened it.
 */
static const HistoryEvent *
base_of(const History *history, const Stages *stages, const HistoryEvent *event)
{
	const HistoryEvent *parent = history_find(history, event->thread, event->parent);
	bool		in_run = parent && is_run(parent);

	while (parent && is_run(parent))
		parent = history_find(history, parent->thread, parent->parent);
	while (in_run && parent && parent->family != FAMILY_STATEMENT)
		parent = history_find(history, parent->thread, parent->parent);
	if (parent && parent->family == FAMILY_STATEMENT)
		return stage_at(stages, parent, event);
	return parent;
}

/* Where the part of an event begins that lies in the time of the options. */
static int64_t
start_inside(const History *history, const HistoryEvent *event)
{
	return event->start > history->since ? event->start : history->since;
}

/* How much of an event's time lies in the time of the options; one that is inside of it has all its picoseconds. */
static Number
time_inside(const History *history, const HistoryEvent *event)
{
	int64_t		start = start_inside(history, event);
	int64_t		end = event->end < history->till ? event->end : history->till;

	if (start == event->start && end == event->end)
		return event->time;
	return end > start ? (Number) (end - start) * 1000 : 0;
}

/*
 * Adds an event to the frame of its path. Returns false if its parents are not all there, and of
 * events that belong to no statement.
 */
static bool
add_event(const History *history, const Stages *stages, Frame *root, const HistoryEvent *event, int *orphans)
{
	const HistoryEvent *path[MOST_FRAMES];
	const HistoryEvent *parent;
	int			depth = 0;
	Frame	   *frame = root;

	if (is_run(event))
		return false;

	/*
	 * A statement that began in a transaction has it as its parent, and
	 * begins a path all the same.
	 */
	for (const HistoryEvent *at = event; at && at->family != FAMILY_TRANSACTION && depth < MOST_FRAMES; at = parent)
	{
		parent = base_of(history, stages, at);
		path[depth++] = at;
		if (at->parent && parent == NULL && at->family != FAMILY_STATEMENT)
		{
			*orphans += 1;
			return false;
		}
	}
	if (depth == 0 || depth == MOST_FRAMES || path[depth - 1]->family != FAMILY_STATEMENT)
		return false;
	while (depth > 0)
	{
		char	   *name = frame_name(path[--depth]);

		frame = child_of(frame, name, path[depth]->family);
		free(name);
	}
	frame->time += time_inside(history, event);
	frame->count++;
	return true;
}

static int
compare_frames(const void *a, const void *b)
{
	const Frame *x = *(Frame *const *) a;
	const Frame *y = *(Frame *const *) b;

	return x->time != y->time ? (x->time < y->time ? 1 : -1) : strcmp(x->name, y->name);
}

/*
 * Brings the largest to the front. A frame whose events are gone, or overlap, has at least the time
 * of what is in it.
 */
static void
finish(Frame *frame)
{
	Number		inside = 0;

	for (int i = 0; i < frame->num_children; i++)
	{
		finish(frame->children[i]);
		inside += frame->children[i]->time;
	}
	if (frame->time < inside)
		frame->time = inside;
	if (frame->num_children > 1)
		qsort(frame->children, frame->num_children, sizeof(Frame *), compare_frames);
}

/* ---- writing ---- */

/* One line for each frame that has time of its own; path is what lies below it. */
static void
write_folded(Sink *sink, const Frame *frame, Buffer *path)
{
	Number		own = frame->time;
	size_t		length = path->length;
	Buffer		line = {0};

	if (frame->name)
	{
		buffer_add_string(path, length ? ";" : "");
		buffer_add_string(path, frame->name);
	}
	for (int i = 0; i < frame->num_children; i++)
		own -= frame->children[i]->time;
	if (frame->name && own >= 1000)
	{
		buffer_add_string(&line, buffer_text(path));
		buffer_add_char(&line, ' ');
		buffer_number(&line, own / 1000);
		buffer_add_char(&line, '\n');
		sink_write(sink, line.data, line.length);
	}
	buffer_free(&line);
	for (int i = 0; i < frame->num_children; i++)
		write_folded(sink, frame->children[i], path);
	if (frame->name)
	{
		path->length = length;
		path->data[length] = '\0';
	}
}

/* The tree as JSON: name, family, nanoseconds, count, children. */
static void
add_json(Buffer *page, const Frame *frame)
{
	buffer_add_char(page, '[');
	add_json_string(page, frame->name ? frame->name : "all");
	buffer_printf(page, ",%d,", frame->name ? (int) frame->family : -1);
	buffer_number(page, frame->time / 1000);
	buffer_printf(page, ",%lld,[", (long long) frame->count);
	for (int i = 0; i < frame->num_children; i++)
	{
		buffer_add_string(page, i ? ",\n" : "");
		add_json(page, frame->children[i]);
	}
	buffer_add_string(page, "]]");
}

/* Writes the page with its tree, styles and script inside. */
static void
write_page(Sink *sink, const Frame *root)
{
	Buffer		page = {0};

	buffer_add_string(&page, PAGE_HEAD("pfs flame"));
	buffer_add_string(&page, page_flame_css);
	buffer_add_string(&page, "</style>\n</head>\n<body>\n<header><h1>Where statements' time went</h1>"
					  "<input id=\"find\" type=\"search\" placeholder=\"mark frames with&hellip;\"><button id=\"reset\">show all</button></header>\n"
					  "<p id=\"detail\">Each bar is a statement, a stage or a wait inside the one above it, as wide as its time. Click one to see it alone.</p>\n"
					  "<div id=\"flame\"></div>\n<footer>Made by pfs " PFS_VERSION ". It holds statements' texts: share it with care.</footer>\n"
					  "<script type=\"application/json\" id=\"tree\">");
	add_json(&page, root);
	buffer_add_string(&page, "</script>\n<script>\n");
	buffer_add_string(&page, page_flame_js);
	buffer_add_string(&page, "</script>\n</body>\n</html>\n");
	sink_write(sink, page.data, page.length);
	buffer_free(&page);
}

/* Reads the events, adds them up and writes them. */
static int
run_flame(const Command *command, Options *options)
{
	const char *format = option_value(options, "format");
	Server	   *server;
	History    *history;
	Sink	   *sink;
	Frame		root = {0};
	Stages		stages;
	Buffer		path = {0};
	int			orphans = 0;
	int			added = 0;
	int			early = 0;

	if (format && strcmp(format, "html") != 0 && strcmp(format, "folded") != 0)
		die(STATUS_UNUSABLE, "option --format takes html or folded, not \"%s\"", quote(format));
	server = server_open_or_die(options, "pfs flame", 0);
	sink = sink_open(option_value(options, "output"));
	catch_signals();
	history = history_read(server, options);
	server_close(server);
	stages = make_stages(history);

	/*
	 * Of a time in which one kind of event has been lost, sums would mean
	 * nothing.  What an event had before the time of the options is not added
	 * up, so there it does no harm.
	 */
	for (int i = 0; i < history->num_events; i++)
	{
		HistoryEvent *event = &history->events[i];

		if (event->chosen && start_inside(history, event) < history->complete)
		{
			event->chosen = false;
			early++;
		}
		if (event->chosen)
			added += add_event(history, &stages, &root, &history->events[i], &orphans);
	}
	if (early)
		warn("the histories have all events of the last %s only: %d older ones are left out "
			 "(pfs.events_*_history_long_size makes them longer)",
			 format_time((double) (history->now - history->complete) * 1000), early);
	if (orphans)
		warn("%d events are left out, as what they were in has left the histories", orphans);
	if (added == 0)
		die(STATUS_FAILED, "no statement was chosen: the sessions have none in the histories, or the instruments statement/%% are off");
	finish(&root);
	if (format && strcmp(format, "folded") == 0)
		write_folded(sink, &root, &path);
	else
		write_page(sink, &root);
	sink_close(sink);
	free(stages.events);
	buffer_free(&path);
	return STATUS_OK;
}

static const Option flame_options[] = {
	HISTORY_OPTIONS,
	{"format", 'f', "FORMAT", "html (default) or folded: a line for each stack, with nanoseconds"},
	OPTION_OUTPUT,
	{NULL}
};

const Command command_flame = {
	.name = "flame",
	.help = "statement, stage and wait by time, as a flame graph",
	.options = flame_options,
	.details = "Without options it adds up all that the histories have. Stages are there where stage/sql/% is on.\n",
	.run = run_flame,
};
