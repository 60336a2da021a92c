/*
 * pfs_event_read.c
 *	  Readers of running and finished events, and TRUNCATE of the histories: the
 *	  same for all families.
 *
 * pfs_event_write.h has the writer's protocol.  This side retries, allocates and sorts,
 * which no instrument point may do.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_event_read.h"
#include "pfs_event_write.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/* How often an event that changes while it is copied is tried before it is skipped. */
#define READ_TRIES 1000

/* How many copies are made from a log between two checks for interrupts. */
#define READS_AT_ONCE 1024

typedef struct PfsEventReader
{
	PfsEventFamily family;
	PfsEventEmit emit;
	void	   *arg;
} PfsEventReader;

Size
pfs_event_bytes(PfsEventFamily family, const PfsEvent *event)
{
	return pfs_event_families[family].bytes(event);
}

const PfsEventSource *
pfs_event_source(PfsEventFamily family)
{
	const PfsEventSource *source = pfs_event_family_reads[family].source;

	return source != NULL && source->is_there() ? source : NULL;
}

/*
 * Fills in what is not stored because only readers need it: that a running event has no
 * end, NULLs of columns that the kind of event does not have, and what the family adds.
 */
static void
complete_copy(PfsEventFamily family, PfsEvent *e, bool running)
{
	if (running)
	{
		e->timer_end = 0;
		e->end_event_id = 0;
	}
	if (e->nesting_type == PFS_NESTING_NONE)
		e->nesting_event_id = 0;
	if (pfs_event_family_reads[family].complete != NULL)
		pfs_event_family_reads[family].complete(e, running);
}

/* Completes a copy and hands it to the reader that asks for it. */
static void
take_cb(PfsEvent *e, bool running, void *arg)
{
	PfsEventReader *reader = arg;

	complete_copy(reader->family, e, running);
	reader->emit(e, reader->arg);
}

/*
 * Makes a stable copy of the slot of the running event at a level.  Returns false if
 * there is none, or if the thread is so busy that the event changes during each try.
 */
static bool
copy_running_event(const PfsThread *t, PfsEventFamily family, uint32 level, PfsEvent *copy)
{
	const PfsEventSlots *slots = pfs_event_family_reads[family].slots;
	const PfsEvents *events = &t->events[family];

	for (int i = 0; i < READ_TRIES; i++)
	{
		uint64		before = pfs_seqlock_read_begin(&t->seq);
		uint32		depth = pfs_load_acquire(&events->depth);	/* C */
		const void *slot;

		if (depth <= level)
			return false;
		slot = pfs_ring_look(&events->ring, level);
		if (slot == NULL)
			return false;
		if (slots != NULL)
			slots->copy(slot, copy);
		else
			pfs_racy_copy(copy, slot, pfs_sizes.event_size[family]);
		if (pfs_seqlock_read_valid(&t->seq, before))
			return true;
		pfs_pause();
	}
	return false;
}

static inline PfsEvent *
event_at(void *events, PfsEventFamily family, Size i)
{
	return (PfsEvent *) ((char *) events + i * pfs_sizes.event_size[family]);
}

/* Copies a thread's running events, outermost first; returns how many. */
static uint32
copy_running_events(const PfsThread *t, PfsEventFamily family, void *events)
{
	uint32		n = 0;

	while (n < pfs_event_families[family].depth &&
		   copy_running_event(t, family, n, event_at(events, family, n)))
		n++;
	return n;
}

/* Hands on the event that is running in the copy of a slot. */
static void
take_running(const PfsThread *thread, PfsEvent *e, PfsEventReader *reader)
{
	const PfsEventSlots *slots = pfs_event_family_reads[reader->family].slots;

	if (slots != NULL)
		slots->take_running(thread, e, take_cb, reader);
	else
		take_cb(e, true, reader);
}

/*
 * Hands on what the copy of a slot in the history or in the long one holds, `max` events
 * at most, and returns how many that were.
 */
static uint64
take_finished(PfsEvent *e, bool history_long, uint64 max, PfsEventReader *reader)
{
	const PfsEventSlots *slots = pfs_event_family_reads[reader->family].slots;

	if (slots != NULL)
		return slots->take_finished(e, false, slots->hidden(e, history_long), max, take_cb, reader);
	take_cb(e, false, reader);
	return 1;
}

/*
 * Copies and hands on the running events of one thread, outermost first; of a thread
 * that has ended since it was listed, nothing.  An event that began while its
 * consumer was off is left out.
 */
static void
emit_current_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	PfsEventFamily family = reader->family;
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	void	   *events = palloc((Size) pfs_event_families[family].depth * pfs_sizes.event_size[family]);
	uint32		n = copy_running_events(t, family, events);

	/* Otherwise the record belongs to another thread by now. */
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		for (uint32 i = 0; i < n; i++)
		{
			if (event_at(events, family, i)->flags & PFS_FLAG_CURRENT)
				take_running(copy, event_at(events, family, i), reader);
		}
	}
	pfree(events);
}

void
pfs_events_current(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsEventReader reader = {family, emit, arg};

	pfs_instrument_name_late();
	pfs_threads_each(thread_id, emit_current_cb, &reader);
}

/*
 * Hands on the finished events of slots whose last one is running, which the histories
 * show already; returns how many.  A slot that ends between the copy of the running
 * events and that of the ring is in both: it is taken from the ring.
 */
static uint64
take_finished_of_running(void *running, uint32 nrunning, void *events, uint32 n, uint32 flag,
						 uint64 hidden_id, uint64 last_id, uint64 max, PfsEventReader *reader)
{
	PfsEventFamily family = reader->family;
	const PfsEventSlots *slots = pfs_event_family_reads[family].slots;
	uint64		done = 0;

	for (uint32 i = nrunning; i > 0 && done < max; i--)
	{
		PfsEvent   *slot = event_at(running, family, i - 1);
		bool		is_in_ring = false;

		for (uint32 j = 0; j < n && !is_in_ring; j++)
			is_in_ring = event_at(events, family, j)->event_id == slot->event_id;
		if (is_in_ring || (slot->flags & flag) == 0)
			continue;
		done += slots->take_finished(slot, true, slots->hidden_of_running(slot, hidden_id, last_id), max - done,
									 take_cb, reader);
	}
	return done;
}

/*
 * Hands the events at the positions from `from` below `head` of a thread's ring to
 * emit, newest first and at most `max` of them; nothing if the thread has ended
 * meanwhile.  Only events that carry the flag of the wanted history are handed on.
 */
static void
emit_ring(const PfsThread *copy, uint64 word, uint64 from, uint64 head, uint32 flag, uint64 hidden_id,
		  uint64 max, PfsEventReader *reader)
{
	PfsEventFamily family = reader->family;
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	uint32		capacity = copy->events[family].ring.capacity;
	uint32		depth = pfs_event_family_reads[family].slots != NULL ? pfs_event_families[family].depth : 0;
	void	   *running;
	void	   *events;
	uint32		nrunning = 0;
	uint32		n = 0;

	if (capacity == 0)
		return;
	if (head > capacity && from < head - capacity)
		from = head - capacity;
	if (from >= head && depth == 0)
		return;
	running = palloc((Size) (Max(head, from) - from + depth) * pfs_sizes.event_size[family]);
	events = event_at(running, family, depth);
	if (depth > 0)
		nrunning = copy_running_events(t, family, running);
	for (uint64 pos = from; pos < head; pos++)
	{
		PfsEvent   *e = event_at(events, family, n);

		if (pfs_ring_read(&t->events[family].ring, pos, e) && (e->flags & flag))
			n++;
	}
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		uint64		done = take_finished_of_running(running, nrunning, events, n, flag, hidden_id,
													copy->last_event_id, max, reader);

		for (uint32 i = n; i > 0 && done < max; i--)
			done += take_finished(event_at(events, family, i - 1), flag == PFS_FLAG_HISTORY_LONG, max - done, reader);
	}
	pfree(running);
}

/* Hands on the newest events of a ring, which may keep more than the table shows. */
static void
emit_ring_history(const PfsThread *copy, uint64 word, PfsEventReader *reader)
{
	const PfsEvents *events = &copy->events[reader->family];
	uint64		rows = pfs_sizes.history[reader->family];
	uint64		head = events->ring.head;

	emit_ring(copy, word,
			  Max(pfs_history_tail(events->history_tail, head), head > rows ? head - rows : 0),
			  head, PFS_FLAG_HISTORY, events->history_hidden, rows, reader);
}

/* Returns an event's end in picoseconds, by which ends of different timers compare. */
static PfsPicoseconds
end_of(const PfsEvent *e)
{
	return pfs_timer_to_ps(PFS_FLAGS_TIMER(e->flags), e->timer_end);
}

/*
 * Orders events for qsort() by their end, then by thread and event ID, newest first.
 * The ends of two events of the same timer are compared as they are, others in
 * picoseconds.  Equal in all three means two copies of one event: prune() goes by
 * that.
 */
static int
by_end_newest_first(const void *a, const void *b)
{
	const PfsEvent *x = *(PfsEvent *const *) a;
	const PfsEvent *y = *(PfsEvent *const *) b;
	bool		same_timer = (x->flags & PFS_FLAG_TIMER_MASK) == (y->flags & PFS_FLAG_TIMER_MASK);
	PfsPicoseconds x_end = same_timer ? x->timer_end : end_of(x);
	PfsPicoseconds y_end = same_timer ? y->timer_end : end_of(y);

	if (x_end != y_end)
		return x_end > y_end ? -1 : 1;
	if (x->thread_id != y->thread_id)
		return x->thread_id > y->thread_id ? -1 : 1;
	if (x->event_id != y->event_id)
		return x->event_id > y->event_id ? -1 : 1;
	return 0;
}

/*
 * The newest events found so far.  The lanes can hold many times what the table
 * shows, so the list is cut to the table's rows whenever it has grown to twice
 * as many.  Sorting moves pointers.  Each event has as much memory as it has bytes
 * that mean something: of statements, whose texts are mostly short, whole copies
 * would be several times as much, and to get memory from the system takes longer
 * than all the rest.
 */
typedef struct PfsEventList
{
	PfsEventFamily family;
	MemoryContext context;		/* of the events */
	PfsEvent  **events;
	Size		rows;			/* that are wanted */
	Size		n;
	Size		size;
} PfsEventList;

/*
 * Sorts the list, drops second copies of the same event, and frees all but the
 * newest rows.
 */
static void
prune(PfsEventList *list)
{
	Size		kept = 0;

	qsort(list->events, list->n, sizeof(PfsEvent *), by_end_newest_first);
	for (Size i = 0; i < list->n && kept < list->rows; i++)
	{
		if (kept > 0 && by_end_newest_first(&list->events[kept - 1], &list->events[i]) == 0)
			continue;
		if (i > kept)
		{
			PfsEvent   *e = list->events[i];

			list->events[i] = list->events[kept];
			list->events[kept] = e;
		}
		kept++;
	}
	for (Size i = kept; i < list->n; i++)
		pfree(list->events[i]);
	list->n = kept;
}

static void
append_cb(const PfsEvent *event, void *arg)
{
	PfsEventList *list = arg;
	Size		bytes = pfs_event_bytes(list->family, event);

	if (list->n == list->size)
		prune(list);
	list->events[list->n] = MemoryContextAlloc(list->context, bytes);
	memcpy(list->events[list->n++], event, bytes);
}

/*
 * Appends what a thread has recorded for the long history but not yet flushed to the
 * log, in its ring and in the family's other source.
 */
static void
buffered_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	const PfsEventSource *source = pfs_event_source(reader->family);
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	const PfsEvents *events = &t->events[reader->family];
	uint64		flushed = pfs_load_acquire(&events->flushed);
	uint64		head = pfs_load_acquire(&events->ring.head);

	emit_ring(copy, word,
			  Max(flushed, pfs_history_tail(pfs_load_relaxed(&events->history_long_tail), head)),
			  head, PFS_FLAG_HISTORY_LONG, pfs_load_relaxed(&events->history_long_hidden), PG_UINT64_MAX,
			  reader);
	if (source != NULL)
		source->buffered(copy, word, append_cb, reader->arg);
}

static void
list_start(PfsEventList *list, PfsEventFamily family, Size rows)
{
	list->family = family;
	list->context = AllocSetContextCreate(CurrentMemoryContext, "pfs events", ALLOCSET_DEFAULT_SIZES);
	list->rows = rows;
	list->n = 0;
	list->size = 2 * rows;
	list->events = MemoryContextAllocHuge(list->context, Max(list->size, 1) * sizeof(PfsEvent *));
}

/*
 * Cuts the list to the rows that are wanted, hands those of one thread (0: of all)
 * to emit, and frees the list.
 */
static void
list_end(PfsEventList *list, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	prune(list);
	for (Size i = 0; i < list->n; i++)
	{
		if (thread_id != 0 && list->events[i]->thread_id != thread_id)
			continue;
		complete_copy(list->family, list->events[i], false);
		emit(list->events[i], arg);
	}
	MemoryContextDelete(list->context);
}

/*
 * Hands on the history of one thread: the newest of its ring and of the family's other
 * source, if there is one.
 */
static void
emit_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	const PfsEventSource *source = pfs_event_source(reader->family);
	uint32		rows = pfs_sizes.history[reader->family];
	PfsEventList list;
	PfsEventReader into = {reader->family, append_cb, &list};

	if (source == NULL || rows == 0)
	{
		emit_ring_history(copy, word, reader);
		return;
	}
	list_start(&list, reader->family, rows);
	emit_ring_history(copy, word, &into);
	source->history(copy, word, rows, append_cb, &list);
	list_end(&list, 0, reader->emit, reader->arg);
}

void
pfs_events_history(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsEventReader reader = {family, emit, arg};

	pfs_instrument_name_late();
	pfs_threads_each(thread_id, emit_history_cb, &reader);
}

/*
 * Hands the newest events of all threads, ended ones too, to emit, for the table
 * events_..._history_long; of one thread those that are among them.
 *
 * The threads' buffered events are read before the log: an event that is flushed in
 * between is seen twice, never not at all; the copies are neighbours after sorting.
 */
void
pfs_events_history_long(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	const PfsEventSource *source = pfs_event_source(family);
	PfsLog	   *log = pfs_history_long[family];
	PfsEventList list;
	PfsEventReader into_list = {family, append_cb, &list};
	PfsEvent   *copy;

	if (log == NULL)
		return;
	pfs_instrument_name_late();
	list_start(&list, family, pfs_sizes.history_long[family]);
	copy = palloc(pfs_sizes.event_size[family]);
	pfs_threads_each(0, buffered_cb, &into_list);
	for (uint32 lane = 0; lane < pfs_log_lanes(log); lane++)
	{
		uint32		used = pfs_log_used_slots(log, lane);

		for (uint32 slot = 0; slot < used; slot++)
		{
			if (slot % READS_AT_ONCE == 0)
				CHECK_FOR_INTERRUPTS();
			if (pfs_log_read(log, lane, slot, copy))
				(void) take_finished(copy, true, PG_UINT64_MAX, &into_list);
		}
	}
	if (source != NULL)
		source->long_history(append_cb, &list);
	pfree(copy);
	/* The newest of the server are chosen before a thread's are. */
	list_end(&list, thread_id, emit, arg);
}

static void
count_cb(const PfsEvent *event, void *arg)
{
	(*(int64 *) arg)++;
}

/*
 * Hides what a thread has recorded so far for the history or the long one: its finished
 * events by a tail, those of slots that go on by the last event_id.
 */
static void
hide_of_thread(PfsEventFamily family, uint32 index, bool history_long)
{
	const PfsEventSource *source = pfs_event_source(family);
	PfsThread  *t = pfs_pages_record(pfs_threads, index);
	PfsEvents  *events = &t->events[family];

	pfs_store_relaxed(history_long ? &events->history_long_hidden : &events->history_hidden,
					  pfs_load_relaxed(&t->last_event_id));
	pfs_store_relaxed(history_long ? &events->history_long_tail : &events->history_tail,
					  pfs_load_acquire(&events->ring.head));
	if (source != NULL)
		source->hide(index, history_long);
}

static void
hide_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	hide_of_thread(*(PfsEventFamily *) arg, copy->index, false);
}

int64
pfs_events_history_truncate(PfsEventFamily family)
{
	int64		n = 0;

	pfs_events_history(family, 0, count_cb, &n);
	pfs_threads_each(0, hide_history_cb, &family);
	pfs_reset_time_note(pfs_event_families[family].history);
	return n;
}

static void
hide_buffered_cb(const PfsThread *copy, uint64 word, void *arg)
{
	hide_of_thread(*(PfsEventFamily *) arg, copy->index, true);
}

/*
 * Hides all events that the long history shows now; returns how many those were.
 * Nothing is erased: tails say what is older, in each thread and in the log.
 */
int64
pfs_events_history_long_truncate(PfsEventFamily family)
{
	const PfsEventSource *source = pfs_event_source(family);
	int64		n = 0;

	if (pfs_history_long[family] == NULL)
		return 0;
	pfs_events_history_long(family, 0, count_cb, &n);

	/*
	 * The threads first: what they flush from now on is newer, what they have
	 * flushed before is hidden by the log's own tails.
	 */
	pfs_threads_each(0, hide_buffered_cb, &family);
	pfs_log_truncate(pfs_history_long[family]);
	if (source != NULL && source->log() != NULL)
		pfs_log_truncate(source->log());
	pfs_reset_time_note(pfs_event_families[family].history_long);
	return n;
}

double
pfs_events_current_estimate(void)
{
	return pfs_threads_estimate();
}

double
pfs_events_history_estimate(PfsEventFamily family)
{
	return pfs_threads_estimate() * pfs_sizes.history[family];
}

double
pfs_events_history_long_estimate(PfsEventFamily family)
{
	return pfs_sizes.history_long[family];
}
