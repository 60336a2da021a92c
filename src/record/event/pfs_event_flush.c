/*
 * pfs_event_flush.c
 *	  Events at rest: from a thread's history to the long history.
 *
 * An event that goes to both histories is written once, into its thread's
 * ring, and copied to the long history in batches (pfs_events_flush): one
 * compare-and-swap for up to PFS_LOG_GROUP events.  Until then a reader of the
 * long history finds it in the ring, between `flushed` and the head.  The log
 * has room for the events that all threads buffer, so that none of the
 * newest ones is displaced by older ones that arrive late.
 *
 * Waits begin and end inline (pfs_event_write.h), as they are most of what
 * happens; the other families' events as inline (pfs_event_own.h).
 */
#include "postgres.h"

#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "pfs_event_own.h"
#include "pfs_lane.h"
#include "pfs_memory_counted.h"
#include "pfs_shared.h"

PFS_HOT PfsLog *pfs_history_long[PFS_NUM_EVENT_FAMILIES];

/* More lanes than this cost memory that the fewer collisions do not repay. */
#define LANES_MAX 16

/*
 * Returns how many lanes a log of frequent events has: a power of two, at least the
 * number of processors if that is not too many.  It is worked out once: a restart after
 * a crash has to lay out what was requested.
 */
uint32
pfs_history_lanes(void)
{
	static uint32 lanes = 0;

	if (lanes == 0)
	{
		long		processors = sysconf(_SC_NPROCESSORS_CONF);

		for (lanes = 1; lanes < processors && lanes < LANES_MAX;)
			lanes *= 2;
	}
	return lanes;
}

/*
 * Takes the logs of the long histories.  Each has place for its rows and for what all
 * threads may buffer.
 */
void
pfs_histories_lay_out(PfsSegment *seg)
{
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		uint32		rows = pfs_sizes.history_long[f];

		pfs_history_long[f] = pfs_log_create(seg, pfs_event_families[f].many_lanes ? pfs_history_lanes() : 1,
											 rows == 0 ? 0 : rows + pfs_sizes.threads * PFS_LOG_GROUP,
											 pfs_sizes.event_size[f]);
	}
}

/*
 * A thread whose events are all untimed, or of another timer, reads the clock for a
 * sort key at one event in this many.
 */
#define SORT_KEY_EVENTS 16

/*
 * Returns the end of an untimed event, by which it sorts among others: the last reading
 * of the default timer that this thread has made.  That is in its newest timed wait, in
 * what the family keeps elsewhere (last_reading() of LWLocks), or in t->last_reading.
 */
static uint64
sort_key(PfsThread *t)
{
	const PfsRing *waits = &t->events[PFS_WAITS].ring;

	if (waits->head > 0)
	{
		const PfsWaitEvent *newest = pfs_ring_item(waits, waits->head - 1);

		if ((newest->flags & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK)) ==
			(pfs_local.usual & ~(PFS_FLAG_THREAD | PFS_FLAG_MEMORY)))
			t->last_reading = Max(t->last_reading, newest->timer_end);
	}
	if (pfs_event_families[PFS_WAITS].last_reading != NULL)
		t->last_reading = Max(t->last_reading, pfs_event_families[PFS_WAITS].last_reading());
	if (t->last_event_id % SORT_KEY_EVENTS == 1 || t->last_reading == 0)
		t->last_reading = pfs_timer_read(pfs_timer_default());
	return t->last_reading;
}

uint64
pfs_wait_read_end_unusual(PfsThread *t, uint32 flags)
{
	return (flags & PFS_FLAG_TIMED) ? pfs_wait_clock(flags) : sort_key(t);
}

/*
 * Counts a wait whose flags are not pfs_local.usual, for pfs_wait_finish(): one that is
 * untimed, of another timer, or of a thread that is not instrumented, which counts for
 * the server alone.  Its time is converted to the default timer's unit.  If what
 * differs is PFS_FLAG_MEMORY, the switches of memory have changed, and the process
 * follows them here.
 */
void
pfs_event_count_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks)
{
	bool		timed = (flags & PFS_FLAG_TIMED) != 0;

	if (((flags ^ pfs_local.usual) & PFS_FLAG_MEMORY) != 0)
		pfs_memory_sync(t);
	ticks = timed ? pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks) : 0;
	if (pfs_local.waits != NULL)
		pfs_digest_wait_add_slow(instrument, timed, ticks);
	if ((flags & PFS_FLAG_THREAD) == 0)
		pfs_summary_count_global(instrument, timed, ticks);
	else if (timed)
		pfs_summary_add(t, instrument, ticks);
	else
	{
		pfs_summary_look(t);
		pfs_cells_add_untimed(&t->summary[PFS_FAMILY_WAITS].cells, instrument);
	}
}

/* Returns the lane of the family's log that this process writes to now. */
static inline uint32
lane_of(const PfsThread *t, PfsEventFamily family)
{
	return pfs_lane(t->index, pfs_log_lanes(pfs_history_long[family]));
}

/*
 * Copies one event to the long history, if it is meant for that and not for the
 * thread's own.
 */
void
pfs_history_long_add(PfsThread *t, PfsEventFamily family, const PfsEvent *event)
{
	PfsLogClaim claim;

	if (pfs_log_claim(pfs_history_long[family], lane_of(t, family), 1, &claim))
		pfs_log_store_part(&claim, 0, event, pfs_sizes.event_size[family], pfs_event_families[family].bytes(event));
}

/*
 * Copies waits to all slots of a claim.  The copies are most of what the long history
 * costs, and halve with registers that are twice as wide.
 */
static pg_attribute_always_inline void
store_waits_inline(const PfsLogClaim *claim, const PfsEvent *const *pick)
{
	for (uint32 i = 0; i < claim->count; i++)
		pfs_log_store_sized(claim, i, pick[i], sizeof(PfsWaitEvent));
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/*
 * Does what store_waits_inline() does, on processors that have AVX: an event is four
 * registers.
 */
static void
__attribute__((target("avx")))
store_waits_avx(const PfsLogClaim *claim, const PfsEvent *const *pick)
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

size_t
pfs_wait_event_bytes(const PfsEvent *event)
{
	return sizeof(PfsWaitEvent);
}

/*
 * Copies waits to all slots of a claim, by the widest registers that the processor has.
 */
static inline void
store_waits(const PfsLogClaim *claim, const PfsEvent *const *pick)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	if (pfs_local.avx)
	{
		store_waits_avx(claim, pick);
		return;
	}
#endif
	store_waits_inline(claim, pick);
}

/*
 * Copies waits to a claim, and notes where the next flush is going to store
 * (pfs_history_prefetch()).
 */
void
pfs_wait_event_store(const PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size)
{
	store_waits(claim, pick);
	pfs_local.log_next = claim->next;
}

/*
 * Copies buffered events that are meant for the long history: all of them, or those
 * that the log's group has room for; then the next copies begin with a group of their
 * own, and need one claim each.  Who needs all of them copied calls it until `flushed`
 * is the head.  Owner only.  `flushed` is raised last (A, pairs with the reader's
 * acquire): a reader that sees it finds the events in the log.
 */
void
pfs_events_flush(PfsThread *t, PfsEventFamily family)
{
	PfsEvents  *events = &t->events[family];
	const PfsRing ring = events->ring;	/* as nobody else writes it */
	PfsLog	   *log = pfs_history_long[family];
	const PfsEvent *pick[PFS_LOG_GROUP];
	PfsLogClaim claim;
	uint64		head = ring.head;
	uint64		from = Max(events->flushed,
						   pfs_history_tail(pfs_load_relaxed(&events->history_long_tail), head));
	uint32		wanted = PFS_FLAG_HISTORY_LONG;
	uint32		n = 0;
	uint32		done = 0;

	if (log == NULL || from >= head)
	{
		pfs_store_release(&events->flushed, head);
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
	/* The losses are counted there. */
	while (done < n && pfs_log_claim(log, lane_of(t, family), n - done, &claim))
	{
		pfs_event_families[family].store(&claim, pick + done, pfs_sizes.event_size[family]);
		done += claim.count;
		if (likely(wanted != 0))
		{
			head = from + done;
			break;
		}
	}
	pfs_store_release(&events->flushed, head);	/* A */
}

/* Flushes all buffered events of all families, when the thread ends. */
void
pfs_events_flush_all(PfsThread *t)
{
	/* Each flushes some, or all up to the head. */
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		while (t->events[f].flushed != t->events[f].ring.head)
			pfs_events_flush(t, f);
	}
}

void
pfs_event_too_deep(PfsEventFamily family)
{
	pfs_add_relaxed(&pfs_shared_threads->too_deep[family], 1);
}

/*
 * Exchanges the slot of a running event with that of the last one, for an event that
 * ends below others: the slots in use stay together.
 */
void
pfs_event_make_last(PfsEvents *events, const PfsEvent *e)
{
	uint32		last = events->depth - 1;
	uint32		level = last;
	uint32		offset;

	while (level > 0 && pfs_ring_spare(&events->ring, level) != e)
		level--;
	offset = events->ring.spare[level];
	pfs_store_relaxed(&events->ring.spare[level], events->ring.spare[last]);
	pfs_store_relaxed(&events->ring.spare[last], offset);
}

/*
 * Zeroes the counters of events nested too deep and of those lost in the logs, for
 * TRUNCATE of containers.
 */
void
pfs_histories_reset_lost(void)
{
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		pfs_store_relaxed(&pfs_shared_threads->too_deep[f], 0);
		if (pfs_history_long[f] != NULL)
			pfs_log_reset_lost(pfs_history_long[f]);
	}
}
