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

#include "pfs_event_write.h"
#include "pfs_file.h"
#include "pfs_lwlock_event.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_stage.h"
#include "pfs_wait_class.h"

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
	switch (family)
	{
		case PFS_STATEMENTS:
			return pfs_statement_event_bytes((const PfsStatementEvent *) event);
		case PFS_STAGES:
			return sizeof(PfsStageEvent);
		default:
			return pfs_sizes.event_size[family];
	}
}

/*
 * Completes the copy of a wait: clears what the columns of its kind of object do not
 * have, and finds the address of a file's record, which is that of its index.  Only
 * locks, sockets, buffers and LWLocks have stored an address; for LWLocks it is shown if
 * acquisitions are recorded, not waits alone.
 */
static void
complete_wait(PfsWaitEvent *e, bool running)
{
	if (running)
		e->number_of_bytes = PFS_EVENT_NO_BYTES;
	if (e->object_type != PFS_OBJECT_LOCK && e->object_type != PFS_OBJECT_SOCKET && e->object_type != PFS_OBJECT_BUFFER &&
		(e->object_type != PFS_OBJECT_LWLOCK || pfs_lwlock_events_now == PFS_LWLOCK_WAITS))
		e->object_instance = 0;
	if (e->object_type == PFS_OBJECT_LWLOCK)
	{
		e->number_of_bytes = PFS_EVENT_NO_BYTES;
		e->file_offset = PFS_EVENT_NO_OFFSET;
	}
	if (e->object_type == PFS_OBJECT_FILE && e->object.file.word != 0 &&
		e->object.file.index < pfs_files->records_max)
		e->object_instance = (uintptr_t) pfs_pages_record(pfs_files, e->object.file.index);
	if (e->object_type != PFS_OBJECT_LWLOCK && e->object_type != PFS_OBJECT_BUFFER &&
		e->instrument != pfs_fixed_instrument[PFS_INS_SPIN_DELAY])
		e->spins = PFS_EVENT_NO_SPINS;
}

/*
 * Fills in what is not stored because only readers need it: the address of a file's
 * record, NULLs of columns that the kind of event does not have, and that a running
 * event has no end.
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
	if (family == PFS_WAITS)
		complete_wait((PfsWaitEvent *) e, running);
	else if (family == PFS_STATEMENTS && running)
	{
		PfsStatementEvent *s = (PfsStatementEvent *) e;

		s->sqlstate = 0;
		s->message_len = 0;
		s->counts &= ~PFS_COUNTS_MEMORY;
		memset(s->n, 0, sizeof(s->n));
	}
}

/*
 * Makes a stable copy of the running event at a level.  Returns false if there is none,
 * or if the thread is so busy that the event changes during each try.
 */
static bool
copy_running_event(const PfsThread *t, PfsEventFamily family, uint32 level, PfsEvent *copy)
{
	const PfsEvents *events = &t->events[family];

	for (int i = 0; i < READ_TRIES; i++)
	{
		uint64		before = pfs_seqlock_read_begin(&t->seq);
		uint32		depth = pfs_load_acquire(&events->depth);	/* C */
		const void *slot;
		uint8		more = 0;

		if (depth <= level)
			return false;
		slot = pfs_ring_look(&events->ring, level);
		if (slot == NULL)
			return false;

		/*
		 * A run gets marks without a write section (A, pairs with
		 * pfs_stage_mark).
		 */
		if (family == PFS_STAGES)
			more = pfs_load_acquire(&((const PfsStageRun *) slot)->first.more);
		pfs_racy_copy(copy, slot, pfs_sizes.event_size[family]);
		if (pfs_seqlock_read_valid(&t->seq, before))
		{
			if (family == PFS_STAGES)
				((PfsStageRun *) copy)->first.more = Min(more, PFS_STAGE_MARKS);
			return true;
		}
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

/*
 * Hands on the copy of a running event.  What lies in a slot is an event in all
 * families but stages: there it is a run of stages, of which only the last one is
 * running.
 */
static void
emit_running(const PfsThread *thread, PfsEvent *e, PfsEventReader *reader)
{
	PfsStageEvent stage;

	if (reader->family == PFS_STAGES)
	{
		pfs_stage_of_run((const PfsStageRun *) e, ((const PfsStageRun *) e)->first.more, true, &stage);
		pfs_stage_read_work(thread->status, thread->pid, &stage);
		e = (PfsEvent *) &stage;
	}
	complete_copy(reader->family, e, true);
	reader->emit(e, reader->arg);
}

/*
 * Hands on the copy of an event from a history, and returns how many rows that were.
 * A run of stages gives a row for each finished stage, the newest first, `max` at
 * most, without the first `hidden` ones, which TRUNCATE has hidden. running: the run
 * itself has not ended, so its last stage has not.
 */
static uint64
emit_finished(PfsEvent *e, uint32 hidden, bool running, uint64 max, PfsEventReader *reader)
{
	const PfsStageRun *run = (const PfsStageRun *) e;
	uint64		n = 0;

	if (reader->family != PFS_STAGES)
	{
		complete_copy(reader->family, e, false);
		reader->emit(e, reader->arg);
		return 1;
	}
	for (uint32 i = run->first.more + (running ? 0 : 1); i > hidden && n < max; i--, n++)
	{
		PfsStageEvent stage;

		pfs_stage_of_run(run, i - 1, false, &stage);
		complete_copy(PFS_STAGES, (PfsEvent *) &stage, false);
		reader->emit((const PfsEvent *) &stage, reader->arg);
	}
	return n;
}

static inline uint32
hidden_stages(const PfsEvent *e, uint32 flag)
{
	const PfsStageEvent *first = &((const PfsStageRun *) e)->first;

	return flag == PFS_FLAG_HISTORY ? first->hidden : first->hidden_long;
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
				emit_running(copy, event_at(events, family, i), reader);
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
 * Hands on the finished stages of runs that have not ended, which the histories show
 * already; returns how many.  A run that ends between the copy of the running events
 * and that of the ring is in both: it is taken from the ring.
 */
static uint64
emit_stages_of_running(void *running, uint32 nrunning, void *events, uint32 n, uint32 flag,
					   uint64 hidden_id, uint64 last_id, uint64 max, PfsEventReader *reader)
{
	uint64		done = 0;

	for (uint32 i = nrunning; i > 0 && done < max; i--)
	{
		PfsStageRun *run = (PfsStageRun *) event_at(running, PFS_STAGES, i - 1);
		bool		is_in_ring = false;

		for (uint32 j = 0; j < n && !is_in_ring; j++)
			is_in_ring = event_at(events, PFS_STAGES, j)->event_id == run->first.event_id;
		if (is_in_ring || (run->first.flags & flag) == 0)
			continue;
		done += emit_finished((PfsEvent *) run, pfs_stages_hidden(run, hidden_id, last_id), true, max - done, reader);
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
	uint32		depth = family == PFS_STAGES ? PFS_STAGE_DEPTH : 0;
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
		uint64		done = emit_stages_of_running(running, nrunning, events, n, flag, hidden_id,
												  copy->last_event_id, max, reader);

		for (uint32 i = n; i > 0 && done < max; i--)
		{
			PfsEvent   *e = event_at(events, family, i - 1);

			done += emit_finished(e, family == PFS_STAGES ? hidden_stages(e, flag) : 0, false, max - done,
								  reader);
		}
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
 * log; of waits also the buffered acquisitions of LWLocks.
 */
static void
buffered_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	const PfsEvents *events = &t->events[reader->family];
	uint64		flushed = pfs_load_acquire(&events->flushed);
	uint64		head = pfs_load_acquire(&events->ring.head);

	emit_ring(copy, word,
			  Max(flushed, pfs_history_tail(pfs_load_relaxed(&events->history_long_tail), head)),
			  head, PFS_FLAG_HISTORY_LONG, pfs_load_relaxed(&events->history_long_hidden), PG_UINT64_MAX,
			  reader);
	if (reader->family == PFS_WAITS && pfs_lwlock_holders != NULL)
		pfs_lwlock_ring_buffered(copy, word, append_cb, reader->arg);
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
 * Hands on the history of one thread.  Of waits that is the newest of two rings, as
 * acquisitions of LWLocks are recorded in a ring of their own.
 */
static void
emit_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	uint32		rows = pfs_sizes.history[reader->family];
	PfsEventList list;
	PfsEventReader into = {reader->family, append_cb, &list};

	if (reader->family != PFS_WAITS || pfs_lwlock_holders == NULL || rows == 0)
	{
		emit_ring_history(copy, word, reader);
		return;
	}
	/* The newest of two rings. */
	list_start(&list, PFS_WAITS, rows);
	emit_ring_history(copy, word, &into);
	pfs_lwlock_ring_history(copy, word, rows, append_cb, &list);
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
	PfsLog	   *log = pfs_history_long[family];
	PfsEventList list;
	PfsEventReader buffered = {family, append_cb, &list};
	PfsEvent   *copy;

	if (log == NULL)
		return;
	pfs_instrument_name_late();
	list_start(&list, family, pfs_sizes.history_long[family]);
	copy = palloc(pfs_sizes.event_size[family]);
	pfs_threads_each(0, buffered_cb, &buffered);
	for (uint32 lane = 0; lane < pfs_log_lanes(log); lane++)
	{
		uint32		used = pfs_log_used_slots(log, lane);

		for (uint32 slot = 0; slot < used; slot++)
		{
			if (slot % READS_AT_ONCE == 0)
				CHECK_FOR_INTERRUPTS();
			if (!pfs_log_read(log, lane, slot, copy))
				continue;
			if (family == PFS_STAGES)
				emit_finished(copy, hidden_stages(copy, PFS_FLAG_HISTORY_LONG), false, PG_UINT64_MAX, &buffered);
			else
				append_cb(copy, &list);
		}
	}
	if (family == PFS_WAITS)
		pfs_lwlock_log_each(append_cb, &list);
	pfree(copy);
	/* The newest of the server are chosen before a thread's are. */
	list_end(&list, thread_id, emit, arg);
}

static void
count_cb(const PfsEvent *event, void *arg)
{
	(*(int64 *) arg)++;
}

static void
hide_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsThread  *t = pfs_pages_record(pfs_threads, copy->index);
	PfsEvents  *events = &t->events[*(PfsEventFamily *) arg];

	pfs_store_relaxed(&events->history_hidden, pfs_load_relaxed(&t->last_event_id));
	pfs_store_relaxed(&events->history_tail, pfs_load_acquire(&events->ring.head));
	if (*(PfsEventFamily *) arg == PFS_WAITS && pfs_lwlock_holders != NULL)
		pfs_lwlock_ring_hide(copy->index, false);
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
	PfsThread  *t = pfs_pages_record(pfs_threads, copy->index);
	PfsEvents  *events = &t->events[*(PfsEventFamily *) arg];

	pfs_store_relaxed(&events->history_long_hidden, pfs_load_relaxed(&t->last_event_id));
	pfs_store_relaxed(&events->history_long_tail, pfs_load_acquire(&events->ring.head));
	if (*(PfsEventFamily *) arg == PFS_WAITS && pfs_lwlock_holders != NULL)
		pfs_lwlock_ring_hide(copy->index, true);
}

/*
 * Hides all events that the long history shows now; returns how many those were.
 * Nothing is erased: tails say what is older, in each thread and in the log.
 */
int64
pfs_events_history_long_truncate(PfsEventFamily family)
{
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
	if (family == PFS_WAITS && pfs_lwlock_log != NULL)
		pfs_log_truncate(pfs_lwlock_log);
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
