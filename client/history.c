/*
 * history.c
 *	  What chosen sessions did, read from the tables of events.
 *
 * An event moves from _current to _history and _history_long, and may be in all of them.  The running ones are
 * read first and the finished ones last, and waits before what they are in: so an event that
 * ends meanwhile is met again, finished, and its parent is there.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "sorted.h"

static const struct
{
	HistoryFamily family;
	const char *table;
	const char *details;
}			families[NUM_FAMILIES] =

{
	{FAMILY_WAIT, "waits", "operation, object_type, object_schema, object_name, index_name, number_of_bytes, source"},
	{FAMILY_STAGE, "stages", "work_completed, work_estimated"},
	{FAMILY_STATEMENT, "statements", "sql_text, digest_text, query_id, database_name, object_name, returned_sqlstate, message_text,"
		" rows_affected, rows_sent, shared_blks_hit, shared_blks_read, temp_blks_written, wal_bytes, lock_time, plan_time,"
	" parallel_workers, nesting_event_level"},
	{FAMILY_TRANSACTION, "transactions", "state, trx_id, gid, access_mode, isolation_level"},
};

/* ---- events by thread and id ---- */

static uint32_t
hash_event(int64_t thread, int64_t id)
{
	uint64_t	hash = (uint64_t) thread * 0x9E3779B97F4A7C15u + (uint64_t) id;

	hash ^= hash >> 31;
	hash *= 0xD6E8FEB86659FD93u;
	return (uint32_t) (hash >> 32);
}

/* The slot of an event: the one that has it, or a free one. */
static int *
find_slot(const History *history, int64_t thread, int64_t id)
{
	for (uint32_t at = hash_event(thread, id);; at++)
	{
		int		   *slot = &history->slots[at & history->mask];

		if (*slot == 0 || (history->events[*slot - 1].thread == thread && history->events[*slot - 1].id == id))
			return slot;
	}
}

/* Makes the index anew, for at least twice as many events as there are. */
static void
make_index(History *history)
{
	uint32_t	size = 1024;

	while (size < 4 * (uint32_t) history->num_events)
		size *= 2;
	free(history->slots);
	history->mask = size - 1;
	history->slots = allocate(sizeof(int) * size);
	for (int i = 0; i < history->num_events; i++)
		*find_slot(history, history->events[i].thread, history->events[i].id) = i + 1;
}

HistoryEvent *
history_find(const History *history, int64_t thread, int64_t id)
{
	int		   *slot = id ? find_slot(history, thread, id) : NULL;

	return slot && *slot ? &history->events[*slot - 1] : NULL;
}

/* By thread; then what began first; of what began together the longest, which holds the others. */
static int
compare_events(const void *a, const void *b)
{
	const HistoryEvent *x = a;
	const HistoryEvent *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int
history_first_since(const History *history, int64_t thread, int64_t start)
{
	const HistoryEvent key = {.thread = thread, .start = start, .end = INT64_MAX, .id = INT64_MIN};

	return lower_bound(history->events, history->num_events, sizeof(HistoryEvent), &key, compare_events);
}

/* The event's column of that name, or NULL. */
static const char *
event_detail(const HistoryEvent *event, const char *column)
{
	int			number = PQfnumber(event->result, column);

	return number < 0 ? NULL : field(event->result, event->row, number);
}

/* A statement by its text, the normalised one first; all else by the event's name. */
const char *
event_title(const HistoryEvent *event)
{
	const char *text = NULL;

	if (event->family == FAMILY_STATEMENT)
	{
		text = event_detail(event, "digest_text");

		if (text == NULL)
			text = event_detail(event, "sql_text");
	}
	return text ? text : event->name;
}

/* ---- reading ---- */

/* Picoseconds of the server as nanoseconds; rounding down keeps one event inside another. */
static bool
read_nanoseconds(const PGresult *result, int row, int column, int64_t *nanoseconds)
{
	Number		number;

	if (PQgetisnull(result, row, column) || !parse_number(PQgetvalue(result, row, column), &number))
		return false;
	*nanoseconds = (int64_t) (number / 1000);
	return true;
}

/* Grows an array of events where it is full. */
static void
grow_events(HistoryEvent **events, int count, int *size)
{
	if (count < *size)
		return;
	*size = *size ? 2 * *size : 4096;
	*events = reallocate(*events, sizeof(HistoryEvent) * *size);
}

/* Adds the events of one table; one that is there already is replaced if it was running. */
static void
add_events(History *history, HistoryFamily family, const PGresult *result)
{
	for (int row = 0; row < PQntuples(result); row++)
	{
		HistoryEvent event = {.family = family, .result = result, .row = row};
		HistoryEvent *there;

		event.thread = atoll(PQgetvalue(result, row, 0));
		event.id = atoll(PQgetvalue(result, row, 1));
		event.name = PQgetvalue(result, row, 2);
		event.parent = PQgetisnull(result, row, 6) ? 0 : atoll(PQgetvalue(result, row, 6));
		if (!read_nanoseconds(result, row, 3, &event.start))
		{
			grow_events(&history->untimed, history->num_untimed, &history->max_untimed);
			history->untimed[history->num_untimed++] = event;
			continue;
		}
		event.running = !read_nanoseconds(result, row, 4, &event.end);
		if (!event.running)
			parse_number(PQgetvalue(result, row, 5), &event.time);
		there = history_find(history, event.thread, event.id);
		if (there)
		{
			if (there->running)
				*there = event;
			continue;
		}
		grow_events(&history->events, history->num_events, &history->max_events);
		history->events[history->num_events++] = event;
		if (2 * (uint32_t) history->num_events > history->mask)
			make_index(history);
		else
			*find_slot(history, event.thread, event.id) = history->num_events;
	}
}

/* A long history that is full has lost what ended before its oldest event. */
static void
note_size(History *history, Server *server, const char *family, const PGresult *events)
{
	char	   *sql = format_string("SELECT CASE WHEN setting = '-1' THEN boot_default ELSE setting END::bigint FROM"
									" (SELECT setting, '10000' FROM pg_settings WHERE name = 'pfs.events_%s_history_long_size')"
									" AS s (setting, boot_default)", family);
	PGresult   *result = server_query_or_die(server, sql, 0, NULL);
	int64_t		size = PQntuples(result) ? atoll(PQgetvalue(result, 0, 0)) : 0;
	int64_t		oldest = INT64_MAX;
	int64_t		end;

	free(sql);
	PQclear(result);
	/* Some places belong to blocks that sessions are filling. */
	if (size == 0 || PQntuples(events) < size * 8 / 10)
		return;
	for (int row = 0; row < PQntuples(events); row++)
	{
		if (read_nanoseconds(events, row, 4, &end) && end < oldest)
			oldest = end;
	}
	if (oldest != INT64_MAX && oldest > history->complete)
		history->complete = oldest;
}

/* Reads one kind of table of a family; its rows have to stay. */
static void
read_events(History *history, Server *server, int number, const char *kind)
{
	char	   *sql = format_string("SELECT thread_id, event_id, event_name, timer_start, timer_end, timer_wait, nesting_event_id, %s"
									" FROM pfs.events_%s_%s", families[number].details, families[number].table, kind);

	PGresult   *result = server_query_or_die(server, sql, 0, NULL);

	free(sql);
	add_events(history, families[number].family, result);
	if (strcmp(kind, "history_long") == 0)
		note_size(history, server, families[number].table, result);
}

/* Is a number among the values of an option that may be repeated? */
static bool
is_among(const Options *options, const char *name, int64_t number)
{
	const char *value;

	for (int i = 0; (value = option_nth(options, name, i)) != NULL; i++)
	{
		if (atoll(value) == number)
			return true;
	}
	return false;
}

/* Who the threads are, and which the options choose; one that has ended is known by its number only. */
static void
read_threads(History *history, Server *server, const Options *options)
{
	const char *role = option_value(options, "role");
	PGresult   *result;

	result = server_query_or_die(server,
								 "SELECT t.thread_id, concat_ws(' ', coalesce(nullif(t.processlist_user, '') || '@' || t.processlist_db,"
								 " t.processlist_user, replace(replace(t.name, 'thread/', ''), '_', ' ')), t.application_name,"
								 " '[' || t.thread_os_id || ']',"
								 " CASE WHEN p.thread_id IS NOT NULL THEN 'worker of [' || p.thread_os_id || ']' END),"
								 " t.thread_os_id, t.processlist_user IS NOT DISTINCT FROM $1"
								 " FROM pfs.threads t LEFT JOIN pfs.threads p ON p.thread_id = t.parent_thread_id",
								 1, &role);
	history->num_threads = PQntuples(result);
	history->threads = allocate(sizeof(HistoryThread) * (history->num_threads + 1));
	for (int row = 0; row < history->num_threads; row++)
	{
		HistoryThread *thread = &history->threads[row];

		thread->id = atoll(PQgetvalue(result, row, 0));
		thread->title = copy_string(PQgetvalue(result, row, 1));
		thread->chosen = (role && PQgetvalue(result, row, 3)[0] == 't') ||
			(!PQgetisnull(result, row, 2) && is_among(options, "session", atoll(PQgetvalue(result, row, 2))));
	}
	PQclear(result);
}

/* ---- who blocks whom ---- */

static int
compare_blocks(const void *a, const void *b)
{
	const HistoryBlock *x = a;
	const HistoryBlock *y = b;

	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	return (x->blocker > y->blocker) - (x->blocker < y->blocker);
}

/* Puts the blocks in order, and leaves each of them once. */
static void
order_blocks(History *history)
{
	int			count = 0;

	/* Without any there is no array. */
	if (history->num_blocks > 0)
		qsort(history->blocks, history->num_blocks, sizeof(HistoryBlock), compare_blocks);
	for (int i = 0; i < history->num_blocks; i++)
	{
		if (count == 0 || compare_blocks(&history->blocks[count - 1], &history->blocks[i]) != 0)
			history->blocks[count++] = history->blocks[i];
	}
	history->num_blocks = count;
}

/* Adds a block, which can be there already: one that lasts is seen again and again. */
static void
add_block(History *history, int64_t waiter, int64_t wait, int64_t blocker)
{
	if (history->num_blocks == history->max_blocks)
	{
		order_blocks(history);
		if (history->num_blocks >= history->max_blocks / 2)
		{
			history->max_blocks = history->max_blocks ? 2 * history->max_blocks : 1024;
			history->blocks = reallocate(history->blocks, sizeof(HistoryBlock) * history->max_blocks);
		}
	}
	history->blocks[history->num_blocks++] = (HistoryBlock)
	{
		waiter, wait, blocker
	};
}

/* Returns the number of a wait's first block; if it has none, that of the next wait's: blocks are sorted by waiter and wait. */
int
history_first_block(const History *history, int64_t waiter, int64_t wait)
{
	const HistoryBlock first = {waiter, wait, INT64_MIN};

	return lower_bound(history->blocks, history->num_blocks, sizeof(HistoryBlock), &first, compare_blocks);
}

/* What blocking_tree says now. */
static void
read_blocks(History *history, Server *server)
{
	PGresult   *result;

	result = server_query_until_signal(server,
									   "SELECT DISTINCT b.waiting_thread_id, w.event_id, b.blocking_thread_id FROM pfs.blocking_tree b"
									   " JOIN pfs.events_waits_current w ON w.thread_id = b.waiting_thread_id"
									   " AND (w.event_name LIKE 'wait/lock/%' OR w.event_name LIKE 'wait/synch/lwlock/%')"
									   " WHERE b.blocking_thread_id IS NOT NULL", 0, NULL);
	for (int row = 0; row < PQntuples(result); row++)
		add_block(history, atoll(PQgetvalue(result, row, 0)), atoll(PQgetvalue(result, row, 1)),
				  atoll(PQgetvalue(result, row, 2)));
	PQclear(result);
}

/* The lock has 32 bits of a transaction's id, so two transactions may share them. */
typedef struct LockedTransaction
{
	uint32_t	id;
	const HistoryEvent *event;
} LockedTransaction;

static int
compare_transactions(const void *a, const void *b)
{
	const LockedTransaction *x = a;
	const LockedTransaction *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * A wait for a transaction names it, so who had that transaction blocked it, also where
 * nobody looked at the time.
 */
static void
find_transactions(History *history)
{
	LockedTransaction *transactions = allocate(sizeof(LockedTransaction) * (history->num_events + 1));
	int			count = 0;

	for (int i = 0; i < history->num_events; i++)
	{
		const HistoryEvent *event = &history->events[i];
		const char *id = event->family == FAMILY_TRANSACTION ? event_detail(event, "trx_id") : NULL;

		if (id)
			transactions[count++] = (LockedTransaction)
		{
			(uint32_t) strtoull(id, NULL, 10), event
		};
	}
	qsort(transactions, count, sizeof(LockedTransaction), compare_transactions);
	for (int i = 0; i < history->num_events; i++)
	{
		const HistoryEvent *wait = &history->events[i];
		const char *name = wait->family == FAMILY_WAIT ? event_detail(wait, "object_name") : NULL;
		LockedTransaction wanted;

		if (name == NULL || strcmp(wait->name, "wait/lock/transactionid") != 0)
			continue;
		wanted.id = (uint32_t) strtoull(name, NULL, 10);
		for (int k = lower_bound(transactions, count, sizeof(LockedTransaction), &wanted, compare_transactions);
			 k < count && transactions[k].id == wanted.id; k++)
		{
			const HistoryEvent *holder = transactions[k].event;

			if (holder->thread != wait->thread && holder->start <= wait->start && holder->end >= wait->start)
				add_block(history, wait->thread, wait->id, holder->thread);
		}
	}
	free(transactions);
}

/* ---- what is chosen ---- */

static void
check_number(const Options *options, const char *name)
{
	const char *value;
	Number		number;

	for (int i = 0; (value = option_nth(options, name, i)) != NULL; i++)
	{
		if (!parse_number(value, &number) || number > INT64_MAX || number < INT64_MIN)
			die(STATUS_UNUSABLE, "option --%s takes a whole number, not \"%s\"", name, quote(value));
	}
}

/* A time that an option gives, on the events' scale; missing where it is not given. */
static int64_t
read_time(Server *server, const Options *options, const char *name, int64_t missing)
{
	const char *value = option_value(options, name);
	PGresult   *result;
	Number		number;

	if (value == NULL)
		return missing;
	result = server_query_time(server, "trunc(pfs.timer_now() - extract(epoch FROM clock_timestamp() - t)::numeric * 1e12)", value);
	if (result && parse_number(PQgetvalue(result, 0, 0), &number))
	{
		PQclear(result);
		return (int64_t) (number / 1000);
	}
	PQclear(result);
	if (server->conn == NULL)
		die(STATUS_FAILED, "%s", buffer_text(&server->message));
	die(STATUS_UNUSABLE, "option --%s takes a time, such as '10:29' or 'yesterday 3:00', or an interval before now, such as '10 s', not \"%s\"",
		name, quote(value));
}

/* Is the event, or one that it is in, a statement with this id? */
static bool
is_in_query(const History *history, const HistoryEvent *event, int64_t query)
{
	/* A chain of parents is short; a broken one must not hold us. */
	for (int depth = 0; event && depth < 1000; depth++)
	{
		if (event->family == FAMILY_STATEMENT)
		{
			const char *id = event_detail(event, "query_id");

			if (id && atoll(id) == query)
				return true;
		}
		event = history_find(history, event->thread, event->parent);
	}
	return false;
}

/* Is it an event of a session and of a statement that the options choose, whenever it was? */
static bool
is_of_chosen(const History *history, const Options *options, const HistoryEvent *event)
{
	bool		all = !option_given(options, "role") && !option_given(options, "session") && !option_given(options, "thread");
	const char *query = option_value(options, "query-id");
	bool		chosen = all ? event->thread != history->own : is_among(options, "thread", event->thread);

	for (int i = 0; !all && !chosen && i < history->num_threads; i++)
		chosen = history->threads[i].chosen && history->threads[i].id == event->thread;
	return chosen && (query == NULL || is_in_query(history, event, atoll(query)));
}

/* Marks the events that the options choose; returns how many. */
static int
choose_events(History *history, const Options *options)
{
	int			count = 0;

	for (int i = 0; i < history->num_events; i++)
	{
		HistoryEvent *event = &history->events[i];

		event->chosen = event->end >= history->since && event->start <= history->till && is_of_chosen(history, options, event);
		count += event->chosen;
	}
	return count;
}

/* How many events without times the options choose, each counted once: one can be in several tables. */
static int
count_untimed(History *history, const Options *options)
{
	int			count = 0;

	if (history->num_untimed > 0)
		qsort(history->untimed, history->num_untimed, sizeof(HistoryEvent), compare_events);
	for (int i = 0; i < history->num_untimed; i++)
	{
		const HistoryEvent *event = &history->untimed[i];

		if (i > 0 && compare_events(event - 1, event) == 0)
			continue;
		count += is_of_chosen(history, options, event);
	}
	return count;
}

/* ---- all of it ---- */

static int64_t
read_now(Server *server, int64_t *clock, int64_t *own)
{
	PGresult   *result = server_query_or_die(server,
											 "SELECT pfs.timer_now(), (extract(epoch FROM clock_timestamp()) * 1e9)::bigint,"
											 " coalesce(pfs.thread_id(), 0)", 0, NULL);
	int64_t		now = 0;

	read_nanoseconds(result, 0, 0, &now);
	*clock = atoll(PQgetvalue(result, 0, 1));
	*own = atoll(PQgetvalue(result, 0, 2));
	PQclear(result);
	return now;
}

/* Watches who blocks whom until the time is over or a signal comes; then all is read. */
static void
watch(History *history, Server *server, int seconds)
{
	long		begin = clock_ms();
	long		moment = begin;

	do
	{
		progress("watching the server, seconds", (moment - begin) / 1000, seconds);
		read_blocks(history, server);
	} while (wait_for_next(&moment, 200, begin + seconds * 1000L));
	progress_end();
	server_forget_signal(server);
}

/* Reads all events and chooses of them; the others serve to find parents and blockers. */
History *
history_read(Server *server, const Options *options)
{
	History    *history = allocate(sizeof(History));
	int			seconds = option_integer(options, "seconds", 1, 86400, 0);
	int			untimed;

	check_number(options, "session");
	check_number(options, "thread");
	check_number(options, "query-id");
	if (seconds && (option_given(options, "since") || option_given(options, "till")))
		die(STATUS_UNUSABLE, "give either --seconds or --since and --till");
	history->since = seconds ? read_now(server, &history->clock, &history->own) : read_time(server, options, "since", 0);
	history->till = read_time(server, options, "till", INT64_MAX);
	if (history->since > history->till)
		die(STATUS_UNUSABLE, "the time is empty: --till is not behind --since");
	make_index(history);
	if (seconds)
		watch(history, server, seconds);

	read_threads(history, server, options);
	read_blocks(history, server);
	for (int i = 0; i < NUM_FAMILIES; i++)
		read_events(history, server, i, "current");
	for (int i = 0; i < NUM_FAMILIES; i++)
	{
		read_events(history, server, i, "history");
		read_events(history, server, i, "history_long");
	}
	history->now = read_now(server, &history->clock, &history->own);
	for (int i = 0; i < history->num_events; i++)
	{
		HistoryEvent *event = &history->events[i];

		if (event->running)
		{
			event->end = event->start > history->now ? event->start : history->now;
			event->time = (Number) (event->end - event->start) * 1000;
		}
	}
	qsort(history->events, history->num_events, sizeof(HistoryEvent), compare_events);
	make_index(history);
	find_transactions(history);
	order_blocks(history);
	if (choose_events(history, options) == 0)
		die(STATUS_FAILED, "no event was chosen: the sessions have none, they have left the histories "
			"(pfs.events_*_history_long_size), or their instruments or consumers are off");
	untimed = count_untimed(history, options);
	if (untimed)
		warn("%d events have no times, as their instruments are not timed, and are left out", untimed);
	return history;
}
