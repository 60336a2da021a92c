/*
 * hammer_lwlock.c
 *	  Records of LWLock acquisitions in blocks (pfs_lwlock_event.h).  The code is the library's; what it
 *	  needs besides is at the end of this file, and in hammer_server.c.
 *
 * All that a record says follows from its thread's number and its own, so each copy that
 * a reader is given shows whether it is whole, and whose it is.  Threads come and go in the
 * same memory, and are killed; one worker hides what there is, as TRUNCATE does.
 */
#include "postgres.h"

#include "../hammer.h"
#include "miscadmin.h"

/* Not the server's. */
#undef qsort
#undef sprintf

#include "pfs_lwlock_event.h"
#include "pfs_shared.h"

#define FLAGS		(PFS_FLAG_THREAD | PFS_FLAG_TIMED | PFS_FLAG_ENABLED | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY | \
					 PFS_FLAG_HISTORY_LONG)
#define HISTORY		90
#define WRITERS		(HAMMER_WORKERS_MAX / 2)
#define RECORDS		(2 * HAMMER_WORKERS_MAX)
#define BLOCKS		2048
#define LAP			(BLOCKS / 2)	/* far fewer than are kept */
#define RECENT		40			/* events that are looked for; a block has 31 */
#define COLLECTED	4096

typedef struct LwlockContext
{
	PfsWaitCell cells[WRITERS];
	PfsSharedSummary summary[PFS_NUM_FAMILIES];
	uint32		mine[WRITERS];	/* 1 + the record of a writer, for who comes
								 * after a victim */
	uint64		heads[RECORDS]; /* events that are recorded */
	uint64		hidden_long[RECORDS];	/* what is above is not; UINT64_MAX:
										 * is not known */
	uint64		flushed_at[RECORDS];	/* `blocks` before it last flushed */
	bool		fast;			/* owners wait for nobody */
	uint64		blocks;
	uint64		threads;
	uint64		recorded;
	uint64		read;
	uint64		complete;		/* looks that found all that there had to be */
	uint64		from_blocks;
	uint64		hidden;
} LwlockContext;

/* What a reader was given of one thread, from an event on. */
typedef struct Collected
{
	uint64		thread_id;
	uint64		from;
	uint32		n;
	bool		overflow;
	uint64		ids[COLLECTED];
} Collected;

static LwlockContext *x;

/* ---- what a record says ---- */

static uint64
mix(uint64 thread_id, uint64 id, uint64 which)
{
	uint64		h = thread_id * UINT64_C(0x9E3779B97F4A7C15) ^ id * UINT64_C(0xC2B2AE3D27D4EB4F) ^ which;

	h = (h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
	return h ^ h >> 32;
}

static uint64
start_of(uint64 thread_id, uint64 id)
{
	return mix(thread_id, id, 1) >> 1;
}

/* Most are short. */
static uint32
ticks_of(uint64 thread_id, uint64 id)
{
	uint32		h = (uint32) mix(thread_id, id, 2);

	return h % 8 == 0 ? h : h % PFS_HISTOGRAM_SHORT;
}

static uint64
held_of(uint64 thread_id, uint64 id)
{
	return (mix(thread_id, id, 3) & UINT64_C(0x7FFFFFFFFFF0)) | (mix(thread_id, id, 4) & PFS_LWLOCK_SHARED);
}

static uint32
source_of(uint64 thread_id, uint64 id)
{
	return (uint32) mix(thread_id, id, 5);
}

static bool
tries(uint64 thread_id, uint64 id)
{
	return mix(thread_id, id, 6) % 2 != 0;
}

static PfsParent
parent_of(uint64 thread_id, uint64 id)
{
	PfsParent	parent = {mix(thread_id, id, 7), mix(thread_id, id, 8) % 4};

	return parent;
}

static PfsInstrumentId
instrument_of(uint64 thread_id)
{
	return thread_id % 1000;
}

static void
check_event(const PfsEvent *event)
{
	const PfsWaitEvent *e = (const PfsWaitEvent *) event;
	uint64		thread_id = e->thread_id;
	uint64		id = e->event_id;
	uint64		held = held_of(thread_id, id);
	bool		shared = (held & PFS_LWLOCK_SHARED) != 0;
	PfsParent	parent = parent_of(thread_id, id);
	PfsOperation operation = tries(thread_id, id) ?
	(shared ? PFS_OP_TRY_SHARED_LOCK : PFS_OP_TRY_EXCLUSIVE_LOCK)
	: (shared ? PFS_OP_SHARED_LOCK : PFS_OP_EXCLUSIVE_LOCK);

	HAMMER_CHECK(e->timer_start == start_of(thread_id, id) &&
				 e->timer_end == e->timer_start + ticks_of(thread_id, id) &&
				 e->object_instance == (held & ~PFS_LWLOCK_SHARED) &&
				 e->source == source_of(thread_id, id) &&
				 e->nesting_event_id == parent.event_id && e->nesting_type == parent.type &&
				 e->instrument == instrument_of(thread_id) && e->operation == operation &&
				 e->flags == FLAGS && e->role == (Oid) thread_id,
				 "event %lu of thread %lu is torn, or another's", id, thread_id);
}

static void
collect_cb(const PfsEvent *event, void *arg)
{
	Collected  *c = arg;

	check_event(event);
	if (event->thread_id != c->thread_id || event->event_id < c->from)
		return;
	if (c->n < COLLECTED)
		c->ids[c->n++] = event->event_id;
	else
		c->overflow = true;
}

static void
collect(Collected *c, uint64 thread_id, uint64 from)
{
	c->thread_id = thread_id;
	c->from = from;
	c->n = 0;
	c->overflow = false;
}

/* ---- owners ---- */

static PfsThread *
begin_thread(uint32 place, uint32 *index)
{
	static uint32_t hint = 0;
	PfsThread  *t;

	if (x->mine[place] != 0)
	{
		/* The victim's. */
		uint64		word = pfs_pages_word(pfs_threads, x->mine[place] - 1);

		if (pfs_pages_claim(pfs_threads, x->mine[place] - 1, word))
			pfs_pages_free(pfs_threads, x->mine[place] - 1);
		x->mine[place] = 0;
	}
	*index = pfs_pages_allocate(pfs_threads, &hint);
	if (*index == PFS_NO_RECORD)
		return NULL;
	t = pfs_pages_record(pfs_threads, *index);
	t->seq.word = 0;
	t->thread_id = pfs_add_relaxed(&x->threads, 1) + 1;
	t->index = *index;
	t->foreground = true;
	t->role = (Oid) t->thread_id;
	t->last_event_id = 0;
	t->generation[PFS_FAMILY_WAITS] = 0;
	t->events[PFS_WAITS].depth = 0;
	x->flushed_at[*index] = pfs_load_relaxed(&x->blocks);
	pfs_store_relaxed(&x->heads[*index], 0);
	pfs_store_relaxed(&x->hidden_long[*index], 0);
	pfs_lwlock_records_begin(t, pfs_lwlock_holder(*index));
	pfs_pages_publish(pfs_threads, *index);
	x->mine[place] = *index + 1;
	return t;
}

static void
end_thread(PfsThread *t, uint32 place)
{
	pfs_write_begin(t);
	pfs_lwlock_records_end(t, pfs_lwlock_holder(t->index));
	pfs_write_end(t);
	if (pfs_pages_claim(pfs_threads, t->index, pfs_pages_word(pfs_threads, t->index)))
		pfs_pages_free(pfs_threads, t->index);
	x->mine[place] = 0;
}

static void
own_records(uint32 place, HammerRng *rng, uint32 events)
{
	uint32		index;
	PfsThread  *t = begin_thread(place, &index);
	PfsLwlockHolder *mine;
	PfsWaitLookup lookup = {.usual = FLAGS, .cell = &x->cells[place]};

	/* A victim can take a record with it, before it says which. */
	HAMMER_CHECK(t != NULL || hammer_options.kill, "no record is free");
	if (t == NULL)
		return;
	mine = pfs_lwlock_holder(index);
	lookup.bits = (uint64) instrument_of(t->thread_id) << PFS_LWLOCK_INSTRUMENT_SHIFT;
	for (uint64 id = 1; id <= events && hammer_going(); id++)
	{
		uint64		ticks = ticks_of(t->thread_id, id);
		PfsLwlockEvent *e = pfs_lwlock_next(mine);
		uint64		before;

		pfs_local.parent = parent_of(t->thread_id, id);
		pfs_lwlock_fill(e, &lookup, held_of(t->thread_id, id), tries(t->thread_id, id) ? PFS_LWLOCK_TRY : 0,
						start_of(t->thread_id, id), ticks);
		e->source = source_of(t->thread_id, id);
		switch (pfs_lwlock_record(t, mine, e, &lookup, ticks))
		{
			case PFS_LWLOCK_UNUSUAL:
				hammer_fail("something is in the way of event %lu", id);
				return;
			case PFS_LWLOCK_RECORDED:
				break;
			case PFS_LWLOCK_BLOCK_FULL:
				/* Others may fill all blocks before this process goes on. */
				before = pfs_load_relaxed(&x->blocks);
				pfs_lwlock_flush(t, mine);
				pfs_add_relaxed(&x->blocks, 1);
				pfs_store_release(&x->flushed_at[index], before);	/* E */
				/* Or they would have passed before anybody has read it. */
				if (!x->fast)
					hammer_pause(rng);
				break;
		}
		pfs_store_release(&x->heads[index], id);
		pfs_add_relaxed(&x->recorded, 1);
	}
	if (hammer_going())
		end_thread(t, place);
}

/* ---- readers ---- */

/* Events of one thread, from old to new without a gap. */
static void
check_order(const Collected *c, uint64 newest)
{
	for (uint32 i = 1; i < c->n; i++)
		HAMMER_CHECK(c->ids[i] == c->ids[i - 1] + 1, "event %lu behind %lu", c->ids[i], c->ids[i - 1]);
	if (c->n > 0)
		HAMMER_CHECK(c->ids[c->n - 1] >= newest, "event %lu is the newest, not %lu", c->ids[c->n - 1], newest);
}

/* The newest of a thread; all that were there before are, unless a TRUNCATE has hidden some. */
static void
read_thread(const PfsThread *copy, uint64 word, bool current)
{
	PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	uint64		head = pfs_load_acquire(&x->heads[copy->index]);
	Collected	c;

	collect(&c, copy->thread_id, 0);
	if (current)
		pfs_lwlock_records_current(copy, word, collect_cb, &c);
	else
		pfs_lwlock_records_history(copy, word, collect_cb, &c);
	pfs_add_relaxed(&x->read, c.n);
	if (pfs_pages_word(pfs_threads, copy->index) != word)
		return;
	check_order(&c, head);

	/*
	 * An owner that is fast gives blocks away while they are read: those are
	 * gone.  One that ends gives all of them away before it leaves its
	 * record.
	 */
	if (!current && pfs_load_relaxed(&holder->history_tail) == 0 && pfs_load_acquire(&x->heads[copy->index]) == head &&
		pfs_load_acquire(&holder->recorded.own) != NULL && pfs_pages_word(pfs_threads, copy->index) == word)
	{
		HAMMER_CHECK(c.n >= Min(HISTORY, head), "%u events, not %lu", c.n, Min(HISTORY, head));
		pfs_add_relaxed(&x->complete, 1);
	}
}

static int
compare_ids(const void *a, const void *b)
{
	uint64		i = *(const uint64 *) a;
	uint64		j = *(const uint64 *) b;

	return i < j ? -1 : i > j;
}

/*
 * The thread first, all blocks second: nothing that was there is missed, and nothing is seen
 * more than twice.
 */
static void
read_all(const PfsThread *copy, uint64 word)
{
	static Collected c;

	/* In this order: the newest block of the head was not written before. */
	uint64		flushed_at = pfs_load_acquire(&x->flushed_at[copy->index]); /* E */
	uint64		head = pfs_load_acquire(&x->heads[copy->index]);
	uint64		first = head < RECENT ? 1 : head - RECENT + 1;
	uint64		hidden;
	uint32		current;

	collect(&c, copy->thread_id, first);
	pfs_lwlock_records_current(copy, word, collect_cb, &c);
	current = c.n;
	pfs_lwlock_records_each(collect_cb, &c);
	pfs_add_relaxed(&x->from_blocks, c.n - current);
	hidden = pfs_load_acquire(&x->hidden_long[copy->index]);
	if (hammer_options.kill || pfs_pages_word(pfs_threads, copy->index) != word ||
		pfs_load_relaxed(&x->blocks) - flushed_at > LAP || c.overflow || hidden == UINT64_MAX)
		return;
	qsort(c.ids, c.n, sizeof(uint64), compare_ids);
	for (uint64 id = Max(first, hidden + 1), i = 0; id <= head; id++)
	{
		uint32		times = 0;

		while (i < c.n && c.ids[i] < id)
			i++;
		for (; i < c.n && c.ids[i] == id; i++)
			times++;
		HAMMER_CHECK(times == 1 || times == 2, "event %lu of thread %lu, which has %lu, is seen %u times", id, copy->thread_id, head, times);
	}
	pfs_add_relaxed(&x->complete, 1);
}

/*
 * Nothing that was there is seen any more.  An event can be shown and not yet be counted in
 * the head.
 */
static void
hide(const PfsThread *copy, uint64 word, bool history_long)
{
	static Collected c;
	uint64		head = pfs_load_acquire(&x->heads[copy->index]);

	if (pfs_pages_word(pfs_threads, copy->index) != word)
		return;
	collect(&c, copy->thread_id, 0);
	if (history_long)
	{
		for (uint32 i = 0; i < RECORDS; i++)
			pfs_store_relaxed(&x->hidden_long[i], UINT64_MAX);
		pfs_fence_seqcst();
		pfs_lwlock_records_hide(copy->index, word, true);
		pfs_blocks_hide(pfs_lwlock_blocks);
		for (uint32 i = 0; i < RECORDS; i++)
			pfs_store_release(&x->hidden_long[i], pfs_load_acquire(&x->heads[i]) + 1);
		pfs_lwlock_records_current(copy, word, collect_cb, &c);
		pfs_lwlock_records_each(collect_cb, &c);
	}
	else
	{
		pfs_lwlock_records_hide(copy->index, word, false);
		pfs_lwlock_records_history(copy, word, collect_cb, &c);
	}
	pfs_add_relaxed(&x->hidden, 1);
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		for (uint32 i = 0; i < c.n; i++)
			HAMMER_CHECK(c.ids[i] > head, "event %lu was hidden at %lu", c.ids[i], head);
	}
}

static void
read_threads(bool hides, HammerRng *rng)
{
	while (hammer_going())
	{
		uint32_t	pos = hammer_random(rng, RECORDS);
		uint64		word;
		uint32		index = pfs_pages_next(pfs_threads, &pos, &word);
		PfsThread	copy;
		uint32		dice = hammer_random(rng, 64);

		if (index == PFS_NO_RECORD || !pfs_pages_copy(pfs_threads, index, 0, &copy, sizeof(copy), &word))
			continue;
		if (hides && dice < 4)
			hide(&copy, word, dice % 2 == 0);
		else if (dice == 4)
			read_all(&copy, word);
		else
			read_thread(&copy, word, dice % 2 == 0);
		/* The memory may change hands now. */
		if (hammer_random(rng, 1000) == 0)
			hammer_pause(rng);
	}
}

static void
lwlock_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	uint32		writers = Min((uint32) hammer_options.processes / 2, WRITERS);

	if (place >= writers)
	{
		/* One hides: a TRUNCATE excludes others. */
		read_threads(place == writers, rng);
		return;
	}
	do
		own_records(place, rng, 1 + hammer_random(rng, hammer_random(rng, 4) == 0 ? 100 : 20000));
	while (hammer_going());
}

/* When all is over, what threads have is still there. */
static void
check_rest(void)
{
	uint32_t	pos = 0;
	uint64		word;
	uint32		index;

	while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsThread	copy;

		if (!pfs_pages_copy(pfs_threads, index, 0, &copy, sizeof(copy), &word))
			continue;
		read_thread(&copy, word, false);
		read_thread(&copy, word, true);
	}
}

static bool
has_seen_all(const void *context)
{
	return pfs_load_relaxed(&x->recorded) > 0 && pfs_load_relaxed(&x->read) > 0 && pfs_load_relaxed(&x->complete) > 0 &&
		pfs_load_relaxed(&x->from_blocks) > 0 && pfs_load_relaxed(&x->hidden) > 0;
}

static void
run_lwlock(bool fast)
{
	HammerSegment s;
	void	   *holders = NULL;
	uint32		kills;
	char		name[100];

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		pfs_threads = pfs_pages_create(&s.seg, "thread_instances", TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsThread)),
									   RECORDS, 4);
		holders = pfs_segment_take(&s.seg, RECORDS * pfs_lwlock_holder_size(), PFS_CACHE_LINE);
		pfs_lwlock_blocks_lay_out(&s.seg);
	}
	x->fast = fast;
	pfs_lwlock_holders = holders;
	pfs_summary = x->summary;
	kills = hammer_run_until(lwlock_worker, NULL, has_seen_all);
	check_rest();
	if (!has_seen_all(NULL))
		hammer_fail("%lu recorded, %lu read, %lu complete, %lu from blocks, %lu hidden", x->recorded, x->read, x->complete, x->from_blocks, x->hidden);
	sprintf(name, "lwlock, %s%s", fast ? "owners that pass readers" : "owners that wait", hammer_options.kill ? ", killing" : "");
	hammer_done(name, "%lu threads, %lu records, %lu blocks; %lu read, %lu from blocks, %lu complete looks, %lu hidden, %lu blocks missing, %u kills",
				x->threads, x->recorded, x->blocks, x->read, x->from_blocks, x->complete, x->hidden, pfs_blocks_lost(pfs_lwlock_blocks), kills);
	/* Victims take blocks with them. */
	if (pfs_blocks_lost(pfs_lwlock_blocks) > 0)
		hammer_fail("%lu times there was no block", pfs_blocks_lost(pfs_lwlock_blocks));
	hammer_segment_end(&s);
}

void
hammer_lwlock(void)
{
	/* Owners store with plain instructions what readers copy. */
	if (hammer_options.threads)
	{
		hammer_done("lwlock", "not with threads");
		return;
	}
	pfs_sizes.history[PFS_WAITS] = HISTORY;
	pfs_sizes.history_long[PFS_WAITS] = BLOCKS * 16;
	pfs_local_set_usual(PFS_FLAG_THREAD | PFS_FLAG_TIMED);
	run_lwlock(false);
	run_lwlock(true);
}

/* ---- what the library's code needs of the rest ---- */

void	   *pfs_lwlock_holders = NULL;

/* Victims take blocks with them. */
uint32
pfs_lwlock_holders_max(void)
{
	return hammer_options.kill ? 4000 : RECORDS;
}
PfsLwlockHolder *pfs_my_lwlocks = NULL;
PfsLwlockEvents pfs_lwlock_events_now = PFS_LWLOCK_ALL;

uint32
pfs_history_lanes(void)
{
	return 1;
}
