/*
 * pfs_event.c
 *	  Wait events at rest: from a thread's history to the long history, and the
 *	  readers of all three tables.
 *
 * An event that goes to both histories is written once, into its thread's
 * ring, and copied to the long history by the handful (pfs_history_flush): one
 * compare-and-swap for up to PFS_LOG_GROUP events.  Until then a reader of the
 * long history finds it in the ring, between `flushed` and the head.  The log
 * has room for the events that all threads hold back, so that none of the
 * newest ones is displaced by older ones that arrive late.
 */
#include "postgres.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "pfs_event_write.h"
#include "pfs_memory.h"
#include "pfs_file.h"
#include "pfs_lane.h"
#include "pfs_lwlock.h"
#include "pfs_shared.h"
#include "pfs_wait_class.h"

/* Copies of an event that changes under the reader's hands before it is skipped. */
#define READ_TRIES 1000

PfsLog	   *pfs_history_long = NULL;

static const char *const operation_names[] = {
	[PFS_OP_OPEN] = "open",[PFS_OP_CREATE] = "create",[PFS_OP_CLOSE] = "close",
	[PFS_OP_READ] = "read",[PFS_OP_WRITE] = "write",[PFS_OP_SYNC] = "sync",
	[PFS_OP_FLUSH] = "flush",[PFS_OP_STAT] = "stat",[PFS_OP_SEEK] = "seek",
	[PFS_OP_CHSIZE] = "chsize",[PFS_OP_DELETE] = "delete",[PFS_OP_RENAME] = "rename",
	[PFS_OP_LINK] = "link",[PFS_OP_PREFETCH] = "prefetch",[PFS_OP_ALLOCATE] = "allocate",
	[PFS_OP_COPY] = "copy",[PFS_OP_DIR] = "dir",
	[PFS_OP_RECV] = "recv",[PFS_OP_SEND] = "send",[PFS_OP_WAIT] = "wait",
	[PFS_OP_LOCK + 1] = "AccessShareLock",[PFS_OP_LOCK + 2] = "RowShareLock",
	[PFS_OP_LOCK + 3] = "RowExclusiveLock",[PFS_OP_LOCK + 4] = "ShareUpdateExclusiveLock",
	[PFS_OP_LOCK + 5] = "ShareLock",[PFS_OP_LOCK + 6] = "ShareRowExclusiveLock",
	[PFS_OP_LOCK + 7] = "ExclusiveLock",[PFS_OP_LOCK + 8] = "AccessExclusiveLock",
	[PFS_OP_SHARED_LOCK] = "shared_lock",[PFS_OP_EXCLUSIVE_LOCK] = "exclusive_lock",
	[PFS_OP_TRY_SHARED_LOCK] = "try_shared_lock",[PFS_OP_TRY_EXCLUSIVE_LOCK] = "try_exclusive_lock",
};

static const char *const nesting_names[] = {
	[PFS_NESTING_TRANSACTION] = "TRANSACTION",[PFS_NESTING_STATEMENT] = "STATEMENT",
	[PFS_NESTING_STAGE] = "STAGE",[PFS_NESTING_WAIT] = "WAIT",
};

const char *
pfs_operation_name(PfsOperation op)
{
	return op < lengthof(operation_names) ? operation_names[op] : NULL;
}

const char *
pfs_nesting_name(PfsNesting n)
{
	return n < lengthof(nesting_names) ? nesting_names[n] : NULL;
}

/*
 * The sort key of untimed events: the last reading of the default timer that
 * this thread made.  That is in its newest timed event; a thread whose events
 * are all untimed, or of another timer, reads the clock for one in this many.
 */
#define SORT_KEY_EVENTS 16

static uint64
sort_key(PfsThread *t)
{
	if (t->waits.head > 0)
	{
		const PfsWaitEvent *newest = pfs_ring_item(&t->waits, t->waits.head - 1);

		if ((newest->flags & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK)) ==
			(pfs_local.usual & ~(PFS_FLAG_THREAD | PFS_FLAG_MEMORY)))
			t->last_reading = newest->timer_end;
	}
	if (t->last_event_id % SORT_KEY_EVENTS == 1 || t->last_reading == 0)
		t->last_reading = pfs_timer_read(pfs_timer_default());
	return t->last_reading;
}

uint64
pfs_wait_read_end_unusual(PfsThread *t, uint32 flags)
{
	return (flags & PFS_FLAG_TIMED) ? pfs_wait_clock(flags) : sort_key(t);
}

void
pfs_wait_count_unusual(PfsThread *t, const PfsWaitEvent *e, uint64 end)
{
	bool		timed = (e->flags & PFS_FLAG_TIMED) != 0;
	uint64		ticks = timed ? pfs_ticks_of_default(PFS_FLAGS_TIMER(e->flags), end - e->timer_start) : 0;

	if (((e->flags ^ pfs_local.usual) & PFS_FLAG_MEMORY) != 0)
		pfs_memory_sync(t);
	if ((e->flags & PFS_FLAG_THREAD) == 0)
		pfs_summary_count_global(e->instrument, timed, ticks);
	else if (timed)
		pfs_summary_add(t, e->instrument, ticks);
	else
	{
		pfs_summary_look(t);
		pfs_cells_add_untimed(&t->summary[PFS_FAMILY_WAITS].cells, e->instrument);
	}
}

void
pfs_history_long_add(PfsThread *t, const PfsWaitEvent *event)
{
	PfsLogClaim claim;

	if (pfs_log_claim(pfs_history_long, pfs_lane(t->index, pfs_log_lanes(pfs_history_long)), 1, &claim))
		pfs_log_store_sized(&claim, 0, event, sizeof(PfsWaitEvent));
}

/*
 * Who truncates may store into a record that has just changed hands; what a
 * thread has not reached yet was not meant for it.
 */
static inline uint64
tail_of(uint64 tail, uint64 head)
{
	return tail > head ? 0 : tail;
}

/*
 * All of a claim.  The copies are most of what the long history costs, and
 * halve with registers that are twice as wide.
 */
static pg_attribute_always_inline void
store_events_inline(const PfsLogClaim *claim, const PfsWaitEvent *const *pick)
{
	for (uint32 i = 0; i < claim->count; i++)
		pfs_log_store_sized(claim, i, pick[i], sizeof(PfsWaitEvent));
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
static void
__attribute__((target("avx")))
store_events_avx(const PfsLogClaim *claim, const PfsWaitEvent *const *pick)
{
	for (uint32 i = 0; i < claim->count; i++)
	{
		const __m256i *from = (const __m256i *) pick[i];
		__m256i    *to = pfs_log_slot(claim, i, sizeof(PfsWaitEvent));

		/* The leading word of an event is odd: pfs_event.h. */
		pfs_log_slot_begin(claim, i, to);
		_mm256_storeu_si256(to, _mm256_loadu_si256(from));
		_mm256_storeu_si256(to + 1, _mm256_loadu_si256(from + 1));
		_mm256_storeu_si256(to + 2, _mm256_loadu_si256(from + 2));
		_mm256_storeu_si256(to + 3, _mm256_loadu_si256(from + 3));
		pfs_log_slot_end(claim, i, to);
	}
}
#endif

static inline void
store_events(const PfsLogClaim *claim, const PfsWaitEvent *const *pick)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	if (pfs_local.avx)
	{
		store_events_avx(claim, pick);
		return;
	}
#endif
	store_events_inline(claim, pick);
}

/*
 * Copy held-back events that are meant for the long history: all of them, or those that
 * the log's group has room for; the next copies begin with a group of their own
 * then, and need one claim each.  Owner only.  `flushed` is raised last (A, pairs
 * with the reader's acquire): a reader that sees it finds the events in the log.
 */
void
pfs_history_flush(PfsThread *t)
{
	const PfsRing ring = t->waits;	/* as nobody else writes it */
	const PfsWaitEvent *pick[PFS_LOG_GROUP];
	uint64		head = ring.head;
	uint64		from = Max(t->flushed, tail_of(pfs_load_relaxed(&t->history_long_tail), head));
	uint32		wanted = PFS_FLAG_HISTORY_LONG;
	uint32		n = 0;
	uint32		done = 0;

	if (pfs_history_long == NULL || from >= head)
	{
		pfs_store_release(&t->flushed, head);
		return;
	}
	for (uint64 pos = from; pos < head; pos++)
	{
		pick[n] = pfs_ring_item(&ring, pos);
		wanted &= pick[n++]->flags;
	}
	if (unlikely(wanted == 0))
	{
		uint32		all = n;

		n = 0;
		for (uint32 i = 0; i < all; i++)
		{
			if (pick[i]->flags & PFS_FLAG_HISTORY_LONG)
				pick[n++] = pick[i];
		}
	}
	while (done < n)
	{
		PfsLogClaim claim;

		if (!pfs_log_claim(pfs_history_long, pfs_lane(t->index, pfs_log_lanes(pfs_history_long)),
						   n - done, &claim))
			break;				/* the losses are counted there */
		store_events(&claim, pick + done);
		pfs_local.log_next = claim.next;
		done += claim.count;
		if (likely(wanted != 0))
		{
			head = from + done;
			break;
		}
	}
	pfs_store_release(&t->flushed, head);	/* A */
}

void
pfs_history_flush_all(PfsThread *t)
{
	/* Each goes some way, or to the head. */
	while (t->flushed != t->waits.head)
		pfs_history_flush(t);
}

typedef struct PfsEventReader
{
	PfsEventEmit emit;
	void	   *arg;
} PfsEventReader;

/*
 * What is not stored because only readers need it: the address of a file's
 * record, NULLs of columns that the kind of event does not have, and that a
 * running event has no end.
 */
static void
complete_copy(PfsWaitEvent *e, bool running)
{
	if (running)
	{
		e->timer_end = 0;
		e->end_event_id = 0;
		e->number_of_bytes = PFS_EVENT_NO_BYTES;
	}
	if (e->nesting_type == PFS_NESTING_NONE)
		e->nesting_event_id = 0;
	if (e->object_type != PFS_OBJECT_LOCK && e->object_type != PFS_OBJECT_SOCKET &&
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
	if (e->object_type != PFS_OBJECT_LWLOCK &&
		e->instrument != pfs_fixed_instrument[PFS_INS_SPIN_DELAY])
		e->spins = PFS_EVENT_NO_SPINS;
}

/*
 * A stable copy of the running event at a level.  False if there is none, or if
 * the thread is so busy that it changes under every try.
 */
static bool
copy_running_event(const PfsThread *t, uint32 level, PfsWaitEvent *copy)
{
	for (int i = 0; i < READ_TRIES; i++)
	{
		uint64		before = pfs_seqlock_read_begin(&t->seq);
		uint32		depth = pfs_load_acquire(&t->wait_depth);	/* C */
		const void *slot;

		if (depth <= level)
			return false;
		slot = pfs_ring_look(&t->waits, level);
		if (slot == NULL)
			return false;
		pfs_racy_copy(copy, slot, sizeof(*copy));
		if (pfs_seqlock_read_valid(&t->seq, before))
			return true;
		pfs_pause();
	}
	return false;
}

static void
emit_current_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	PfsWaitEvent events[PFS_WAIT_DEPTH];
	uint32		n = 0;

	for (uint32 level = 0; level < PFS_WAIT_DEPTH && copy_running_event(t, level, &events[n]); level++)
	{
		if (events[n].flags & PFS_FLAG_CURRENT)
			n++;
	}
	if (pfs_pages_word(pfs_threads, copy->index) != word)
		return;					/* the slot has changed hands */
	for (uint32 i = 0; i < n; i++)
	{
		complete_copy(&events[i], true);
		reader->emit(&events[i], reader->arg);
	}
}

void
pfs_events_current(uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsEventReader reader = {emit, arg};

	pfs_instrument_name_late();
	pfs_threads_each(thread_id, emit_current_cb, &reader);
}

/*
 * Hand the ring's events of the positions from `from` below `head` to emit, unless the thread
 * has gone meanwhile.  Only events that carry the flag.
 */
static void
emit_ring(const PfsThread *copy, uint64 word, uint64 from, uint64 head, uint32 flag,
		  PfsEventReader *reader)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	uint32		capacity = copy->waits.capacity;
	PfsWaitEvent *events;
	uint32		n = 0;

	if (capacity == 0)
		return;
	if (head > capacity && from < head - capacity)
		from = head - capacity;
	if (from >= head)
		return;
	events = palloc((Size) (head - from) * sizeof(PfsWaitEvent));
	for (uint64 pos = from; pos < head; pos++)
	{
		if (pfs_ring_read(&t->waits, pos, &events[n]) && (events[n].flags & flag))
			n++;
	}
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		for (uint32 i = 0; i < n; i++)
		{
			complete_copy(&events[i], false);
			reader->emit(&events[i], reader->arg);
		}
	}
	pfree(events);
}

/* The ring may keep more than the table shows. */
static void
emit_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	uint64		rows = pfs_sizes.waits_history;
	uint64		head = copy->waits.head;

	emit_ring(copy, word, Max(tail_of(copy->history_tail, head), head > rows ? head - rows : 0),
			  head, PFS_FLAG_HISTORY, arg);
}

void
pfs_events_history(uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsEventReader reader = {emit, arg};

	pfs_instrument_name_late();
	pfs_threads_each(thread_id, emit_history_cb, &reader);
}

/* Events of several timers are put in one order by picoseconds. */
static PfsPicoseconds
end_of(const PfsWaitEvent *e)
{
	return pfs_timer_to_ps(PFS_FLAGS_TIMER(e->flags), e->timer_end);
}

static int
by_end_newest_first(const void *a, const void *b)
{
	const PfsWaitEvent *x = a;
	const PfsWaitEvent *y = b;
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
 * as many.
 */
typedef struct PfsEventList
{
	PfsWaitEvent *events;
	Size		n;
	Size		size;
} PfsEventList;

/* Sort, drop the second copies, keep the newest. */
static void
prune(PfsEventList *list)
{
	Size		kept = 0;

	qsort(list->events, list->n, sizeof(PfsWaitEvent), by_end_newest_first);
	for (Size i = 0; i < list->n && kept < pfs_sizes.waits_history_long; i++)
	{
		if (i == 0 || by_end_newest_first(&list->events[kept - 1], &list->events[i]) != 0)
			list->events[kept++] = list->events[i];
	}
	list->n = kept;
}

static void
append_cb(const PfsWaitEvent *event, void *arg)
{
	PfsEventList *list = arg;

	if (list->n == list->size)
		prune(list);
	list->events[list->n++] = *event;
}

static void
held_back_cb(const PfsThread *copy, uint64 word, void *arg)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	uint64		flushed = pfs_load_acquire(&t->flushed);
	uint64		head = pfs_load_acquire(&t->waits.head);

	emit_ring(copy, word, Max(flushed, tail_of(pfs_load_relaxed(&t->history_long_tail), head)),
			  head, PFS_FLAG_HISTORY_LONG, arg);
}

/*
 * Threads first, then the log: an event that is flushed in between is seen
 * twice, never not at all; the copies are neighbours after sorting.
 */
void
pfs_events_history_long(uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsEventList list = {0};
	PfsEventReader held_back = {append_cb, &list};

	if (pfs_history_long == NULL)
		return;
	pfs_instrument_name_late();
	list.size = 2 * (Size) pfs_sizes.waits_history_long;
	list.events = MemoryContextAllocHuge(CurrentMemoryContext, list.size * sizeof(PfsWaitEvent));
	pfs_threads_each(0, held_back_cb, &held_back);
	for (uint32 lane = 0; lane < pfs_log_lanes(pfs_history_long); lane++)
	{
		for (uint32 slot = 0; slot < pfs_log_slots(pfs_history_long); slot++)
		{
			PfsWaitEvent copy;

			if (pfs_log_read(pfs_history_long, lane, slot, &copy))
				append_cb(&copy, &list);
		}
		CHECK_FOR_INTERRUPTS();
	}
	prune(&list);

	/* The newest of the server were chosen before a thread's are. */
	for (Size i = 0; i < list.n; i++)
	{
		if (thread_id != 0 && list.events[i].thread_id != thread_id)
			continue;
		complete_copy(&list.events[i], false);
		emit(&list.events[i], arg);
	}
	pfree(list.events);
}

static void
count_cb(const PfsWaitEvent *event, void *arg)
{
	(*(int64 *) arg)++;
}

static void
hide_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsThread  *t = pfs_pages_record(pfs_threads, copy->index);

	pfs_store_relaxed(&t->history_tail, pfs_load_acquire(&t->waits.head));
}

int64
pfs_events_history_truncate(void)
{
	int64		n = 0;

	pfs_events_history(0, count_cb, &n);
	pfs_threads_each(0, hide_history_cb, NULL);
	pfs_reset_time_note("events_waits_history");
	return n;
}

static void
hide_held_back_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsThread  *t = pfs_pages_record(pfs_threads, copy->index);

	pfs_store_relaxed(&t->history_long_tail, pfs_load_acquire(&t->waits.head));
}

int64
pfs_events_history_long_truncate(void)
{
	int64		n = 0;

	if (pfs_history_long == NULL)
		return 0;
	pfs_events_history_long(0, count_cb, &n);

	/*
	 * The threads first: what they flush from now on is newer, what they have
	 * flushed before is hidden by the log's own tails.
	 */
	pfs_threads_each(0, hide_held_back_cb, NULL);
	pfs_log_truncate(pfs_history_long);
	pfs_reset_time_note("events_waits_history_long");
	return n;
}

double
pfs_events_current_estimate(void)
{
	return pfs_threads_estimate();
}

double
pfs_events_history_estimate(void)
{
	return pfs_threads_estimate() * pfs_sizes.waits_history;
}

double
pfs_events_history_long_estimate(void)
{
	return pfs_sizes.waits_history_long;
}
