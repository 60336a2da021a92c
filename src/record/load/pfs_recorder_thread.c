/*
 * pfs_recorder_thread.c
 *	  The recorder reads what threads have counted, and what runs in them.
 *
 * A thread whose sequence word and number of running waits are as they were has counted
 * nothing, and nothing of it has begun or ended: then only what runs has become longer.  Any
 * other is copied as of one moment, by its sequence lock: its cells, what its innermost
 * statement has waited for, its places of digests, and what runs.  Of a thread that is so busy
 * that no copy of many is whole, or that is in the middle of its end, nothing is new: it stays
 * as it was read last, and so does what has left threads, which may have its counters
 * already.  Too little is put right by a later tick, in which all of it is; too much would
 * have been shown.  A thread that several ticks have not read, as its process is
 * stopped inside of a write section, is taken as the last copy has it, but for about one
 * event.
 *
 * The places of digests lie beside the record, and what they have counted stays when the process ends; so it
 * belongs to the record's number, all else to the thread that has it.
 *
 * The recorder's own record is read as any other.  Its process is not instrumented, so nothing
 * comes to what it had waited for before the first reading; but that leaves the record, too.
 *
 * Counters that leave threads are added to pfs_departed.  It is read behind the threads, and
 * all of it again if a thread has moved counters meanwhile, or could not be read.  Where that goes on for too
 * long, as with a process that is stopped there, what has left threads is read at a later
 * tick.  Until then a thread that has moved its cells keeps what they had (`left`), so that no sum gets
 * less: of waits less those inside, and of statements less those, a part that is missing
 * would be shown as too much of the other.
 *
 * Events that run count with their time up to the tick, which is taken off again at the
 * next one.  So it does not matter when they began, how many ticks they see, and to whom
 * the time is added at their end.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_digest_pending.h"
#include "pfs_local.h"
#include "pfs_departed.h"
#include "pfs_recorder_own.h"
#include "pfs_shared.h"
#include "pfs_statement.h"

#define COPY_TRIES	64

/* How often a thread in the middle of a write section is looked at. */
#define PAUSES		2000

/* How often all is read while threads move counters; microseconds in between. */
#define LEFT_ROUNDS	5
#define MOVE_NAP	1000

/* How many ticks may leave a thread out. */
#define MISSED_MAX	3

/* What was read of a thread record's number. */
typedef struct Known
{
	uint64		word;			/* of the record; not allocated: nobody had it */
	uint64		seq;
	uint32		depth;
	uint32		missed;			/* ticks since it was read */
	uint64		left;			/* PfsThread.left */
	PfsSumItems cells;			/* of waits */
	PfsSumItems numbers;		/* others */
	PfsSumItems running;
} Known;

/* A running statement, as far as it matters here. */
typedef struct Running
{
	uint64		event_id;
	uint64		outer;			/* event_id of the one around it; 0: none */
	uint32		flags;
	uint8		counts;
	uint64		start;
	PfsDigestKey key;
} Running;

static Known *known;			/* by record */
static Known copy;

/*
 * What of pfs_departed is in the sums: as it was read last, and what has moved there from
 * threads since; and as it is now.
 */
static PfsSumItems left_known;
static PfsSumItems left_now;

void
pfs_recorder_threads_start(void)
{
	known = MemoryContextAllocExtended(TopMemoryContext, Max(pfs_sizes.threads, 1) * sizeof(Known),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Appends a number to those of a source, unless it is 0. */
static void
add_number(PfsSumItems *to, PfsSum sum, uint32 instrument, const PfsDigestKey *key, uint64 count, uint64 ticks)
{
	PfsSumItem *item;

	if (count == 0 && ticks == 0)
		return;
	item = pfs_sum_items_add(to, sum, instrument, key);
	item->count = count;
	item->ticks = ticks;
}

/* Appends an event that runs, or takes one off a sum, to those of the copy. */
static void
add_running(PfsSum sum, uint32 instrument, const PfsDigestKey *key, uint32 flags, uint64 start, bool minus, bool shown)
{
	PfsSumItem *item = pfs_sum_items_add(&copy.running, sum, instrument, key);

	item->start = start;
	item->timer = PFS_FLAGS_TIMER(flags);
	item->minus = minus;
	item->shown = shown;
}

/* ---- a copy of what a thread has ---- */

/* The cells of waits. */
static void
copy_cells(const PfsThread *t)
{
	const PfsBlock *block = &t->cells[PFS_FAMILY_WAITS];

	/* NULL and 0 while the memory changes hands. */
	PfsWaitCell *const *cells = pfs_load_relaxed((PfsWaitCell *const *const *) &block->chunks);
	uint32		ncells = cells == NULL ? 0 : Min(pfs_load_relaxed(&block->ncells), pfs_instruments->max);

	for (uint32 i = pfs_block_next(block, 0); i < ncells; i = pfs_block_next(block, i + 1))
	{
		const PfsWaitCell *cell = pfs_load_acquire(&cells[i]);	/* R */
		const PfsCell *c;

		if (cell == NULL)
			continue;
		c = &cell->time;
		add_number(&copy.cells, PFS_SUM_WAITS, i, NULL,
				   pfs_load_relaxed(&c->count_timed) + pfs_load_relaxed(&c->count_untimed), pfs_load_relaxed(&c->sum));
		add_number(&copy.cells, PFS_SUM_INSIDE, i, NULL,
				   pfs_load_relaxed(&c->handed_count), pfs_load_relaxed(&c->handed_sum));
	}
}

/* Statements, or waits inside of them, that the thread still has by itself, of a digest or of none. */
static void
add_inside(uint32 instrument, const PfsDigestKey *key, uint64 count, uint64 ticks)
{
	add_number(&copy.numbers, PFS_SUM_INSIDE, instrument, key, count, ticks);
}

/* What the innermost statement has waited for so far. */
static void
copy_charged(const PfsThread *t, const PfsDigestKey *key)
{
	for (int i = 0; i < PFS_DIGEST_WAITS; i++)
	{
		const PfsDigestWait *w = &t->digest_waits[i];
		PfsInstrumentId instrument = PFS_DIGEST_WAIT_INSTRUMENT(pfs_load_relaxed(&w->key));

		if (instrument < pfs_instruments->max)
			add_inside(instrument, key, pfs_load_relaxed(&w->counts.timed) + pfs_load_relaxed(&w->counts.untimed),
					   pfs_load_relaxed(&w->counts.sum));
	}
}

/* The places of digests. */
static void
copy_places(uint32 index)
{
	const PfsPendingDigests *set = pfs_pending_digests_get(index);

	if (set == NULL)
		return;
	add_number(&copy.numbers, PFS_SUM_INSIDE, PFS_LOAD_CPU_NAME, NULL, pfs_load_relaxed(&set->handed_statements),
			   pfs_load_relaxed(&set->handed_ticks));
	for (int k = 0; k < PFS_PENDING_DIGESTS; k++)
	{
		const PfsPendingDigest *p = &set->items[k];
		PfsDigestKey key = {pfs_load_relaxed(&p->digest.db_user), pfs_load_relaxed(&p->digest.query_id)};

		if (pfs_load_relaxed(&p->place.generation) == 0)
			continue;
		add_inside(PFS_LOAD_CPU_NAME, &key,
				   pfs_load_relaxed(&p->counters.time.count_timed) + pfs_load_relaxed(&p->counters.time.count_untimed),
				   pfs_load_relaxed(&p->counters.time.sum) + pfs_load_relaxed(&p->extra));
		for (uint32 i = 0; i < Min(pfs_load_relaxed(&p->nwaits), PFS_PENDING_DIGEST_WAITS); i++)
		{
			const PfsPendingWait *w = &p->waits[i];
			uint32		instrument = (uint32) pfs_load_relaxed(&w->instrument);

			if (instrument < pfs_instruments->max)
				add_inside(instrument, &key, pfs_load_relaxed(&w->counts.timed) + pfs_load_relaxed(&w->counts.untimed),
						   pfs_load_relaxed(&w->counts.sum));
		}
	}
}

#define COPY_STATEMENT(to, e) \
do { \
	(to)->event_id = pfs_load_relaxed(&(e)->event_id); \
	(to)->outer = (e)->nesting_type == PFS_NESTING_STATEMENT ? pfs_load_relaxed(&(e)->nesting_event_id) : 0; \
	(to)->flags = pfs_load_relaxed(&(e)->flags); \
	(to)->counts = (e)->counts; \
	(to)->start = pfs_load_relaxed(&(e)->timer_start); \
	(to)->key = pfs_digest_key(pfs_load_relaxed(&(e)->database), pfs_load_relaxed(&(e)->user), \
							   pfs_load_relaxed(&(e)->query_id)); \
} while (0)

/* Copies the running statements; returns how many. */
static int
copy_statements(const PfsThread *t, Running *to)
{
	const PfsEvents *events = &t->events[PFS_STATEMENTS];
	uint32		depth = pfs_load_acquire(&events->depth);	/* C */
	uint32		n;
	const char *slots = pfs_load_relaxed(&events->slots);

	if (slots == NULL)
		return 0;
	n = Min(depth & ~PFS_EVENT_IN_PLACE, PFS_STATEMENT_DEPTH);
	for (uint32 level = 0; level < n; level++)
	{
		const PfsStatementEvent *e = (const PfsStatementEvent *)
		(slots + pfs_load_relaxed(&events->slot[level]) % PFS_EVENT_DEPTH_MAX * (size_t) pfs_sizes.event_size[PFS_STATEMENTS]);

		COPY_STATEMENT(&to[level], e);
	}
	if ((depth & PFS_EVENT_IN_PLACE) != 0 && n < PFS_STATEMENT_DEPTH)
	{
		const PfsStoredStatement *e = (const PfsStoredStatement *) pfs_load_relaxed(&events->finished.next);

		/*
		 * Otherwise the thread is in the middle of something, and is looked
		 * at again.
		 */
		if (pfs_blocks_left(pfs_histories[PFS_STATEMENTS], e) < sizeof(*e))
			return n;
		COPY_STATEMENT(&to[n], e);
		n++;
	}
	return n;
}

#define COUNTED (PFS_FLAG_DIGEST | PFS_FLAG_TIMED | PFS_FLAG_CURRENT)

/*
 * Adds the time so far of running statements, each without those inside it.  One that has
 * left the statement in which it began was given its time then, and one that is
 * planned has none before it is executed.
 */
static void
add_statements(const Running *running, int n)
{
	for (int i = 0; i < n; i++)
	{
		const Running *s = &running[i];
		const Running *outer = NULL;

		if ((s->flags & COUNTED) != COUNTED || (s->counts & (PFS_HAS_LEFT | PFS_ONLY_PLANNED)) != 0)
			continue;
		add_running(PFS_SUM_INSIDE, PFS_LOAD_CPU_NAME, &s->key, s->flags, s->start, false, true);
		if ((s->counts & PFS_IS_NESTED) == 0 || s->outer == 0)
			continue;
		for (int j = 0; j < n; j++)
		{
			if (running[j].event_id == s->outer)
				outer = &running[j];
		}
		add_running(PFS_SUM_INSIDE, PFS_LOAD_CPU_NAME, outer != NULL ? &outer->key : NULL, s->flags, s->start, true, false);
	}
}

/*
 * Finds out whose the thread's waits are, as its process does (pfs_digest_wait.c): false:
 * they are outside of statements.
 */
static bool
find_charged(const PfsThread *t, const Running *running, int n, PfsDigestKey *key)
{
	key->db_user = pfs_load_relaxed(&t->charged.db_user);
	key->query_id = pfs_load_relaxed(&t->charged.query_id);
	if (key->query_id != 0 || pfs_load_relaxed(&t->works_since) != 0)
		return true;
	for (int i = 0; i < n; i++)
	{
		if ((running[i].counts & PFS_IS_NESTED) == 0)
		{
			*key = running[i].key;
			return (running[i].flags & PFS_FLAG_DIGEST) != 0;
		}
	}
	return false;
}

/* Adds a wait that runs. */
static void
copy_wait(const PfsWait *w, const PfsDigestKey *charged)
{
	uint32		flags = pfs_load_relaxed(&w->flags);
	uint32		instrument = w->instrument;
	uint64		start = pfs_load_relaxed(&w->timer_start);

	if ((flags & (PFS_FLAG_TIMED | PFS_FLAG_CURRENT)) != (PFS_FLAG_TIMED | PFS_FLAG_CURRENT) ||
		instrument >= pfs_instruments->max)
		return;
	add_running(PFS_SUM_WAITS, instrument, NULL, flags, start, false, charged == NULL);
	if (charged != NULL)
		add_running(PFS_SUM_INSIDE, instrument, charged, flags, start, false, true);
}

/* Adds all that run.  One in a block that does not fit is looked at again, as copy_statements() says. */
static void
copy_waits(const PfsThread *t, const PfsDigestKey *charged)
{
	if (copy.depth == PFS_EVENT_IN_PLACE)
	{
		const PfsWait *w = (const PfsWait *) pfs_load_relaxed(&t->events[PFS_WAITS].finished.next);

		if (pfs_blocks_left(pfs_histories[PFS_WAITS], w) >= PFS_WAIT_LINE)
			copy_wait(w, charged);
		return;
	}
	for (uint32 level = 0; level < Min(copy.depth, PFS_WAIT_DEPTH); level++)
		copy_wait(&t->waits[level], charged);
}

/* Copies a living thread once; the caller compares its sequence word. */
static void
copy_thread(const PfsThread *t)
{
	Running		running[PFS_STATEMENT_DEPTH];
	int			n = copy_statements(t, running);
	PfsDigestKey key;
	bool		is_charged = find_charged(t, running, n, &key);
	uint64		works_since = pfs_load_relaxed(&t->works_since);

	copy.depth = pfs_load_acquire(&t->events[PFS_WAITS].depth); /* C */
	copy.left = pfs_load_relaxed(&t->left);
	copy_cells(t);
	if (is_charged)
		copy_charged(t, &key);
	copy_waits(t, is_charged ? &key : NULL);
	add_statements(running, n);
	if (works_since != 0)
		add_running(PFS_SUM_INSIDE, PFS_LOAD_CPU_NAME, &key, (uint32) pfs_timer_default() << PFS_FLAG_TIMER_SHIFT, works_since,
					false, true);
}

/* Copies all that a record's number has; false: no copy is of one moment. */
static bool
copy_record(uint32 index)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, index);
	int			pauses = 0;

	for (int tries = 0; tries < COPY_TRIES; tries++)
	{
		bool		living;

		copy.cells.n = copy.numbers.n = copy.running.n = 0;
		copy.depth = 0;
		copy.left = 0;
		copy.word = pfs_pages_word(pfs_threads, index);
		living = (copy.word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED;
		copy.seq = living ? pfs_seqlock_read_begin(&t->seq) : 0;
		while (living && (copy.seq & 1) != 0 && pauses++ < PAUSES)
		{
			pfs_pause();
			copy.seq = pfs_seqlock_read_begin(&t->seq);
		}
		if (living)
			copy_thread(t);
		copy_places(index);
		if (pfs_pages_word(pfs_threads, index) == copy.word && (!living || pfs_seqlock_read_valid(&t->seq, copy.seq)))
			return true;
	}
	/* So that it is read again, whatever its word is then. */
	copy.seq = 1;
	return false;
}

/* ---- differences ---- */

/* Has anything but the time changed? */
static bool
is_same(const Known *k, uint32 index)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, index);
	uint64		word = pfs_pages_word(pfs_threads, index);

	if (k->word != word)
		return false;
	return (word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED ||
		(pfs_load_acquire(&t->seq.word) == k->seq && pfs_load_acquire(&t->events[PFS_WAITS].depth) == k->depth);
}

/* Makes what runs as long as it is at the tick. */
static void
lengthen(PfsSumItems *running, const PfsTick *tick)
{
	for (uint32 i = 0; i < running->n; i++)
	{
		PfsSumItem *item = &running->items[i];
		uint64		now = tick->now[item->timer];

		item->ticks = now > item->start ? pfs_ticks_of_default(item->timer, now - item->start) : 0;
	}
}

/*
 * Takes what cells had off the sums; if they have moved, it stays there until it is seen in
 * pfs_departed.
 */
static void
take_cells(const PfsSumItems *cells, bool have_moved)
{
	if (!have_moved)
	{
		pfs_sums_subtract(cells);
		return;
	}
	for (uint32 i = 0; i < cells->n; i++)
	{
		const PfsSumItem *item = &cells->items[i];

		add_number(&left_known, item->sum, item->instrument, NULL, item->count, item->ticks);
	}
}

/*
 * Adds what a record's number has more than at its last reading.  False: it cannot be read now,
 * and nothing has changed.  is_last: this tick does not come here again, and leaves what cannot be read
 * to later ones.  When MISSED_MAX have left it, or at the first tick, it is taken as the copy has it.
 */
static bool
read_one(uint32 index, const PfsTick *tick, bool is_last, bool first)
{
	Known	   *k = &known[index];

	if (is_same(k, index))
	{
		if (k->running.n == 0)
			return true;
		pfs_sums_subtract(&k->running);
		lengthen(&k->running, tick);
		pfs_sums_add(&k->running);
		return true;
	}
	if (!copy_record(index) && (!is_last || (!first && k->missed++ < MISSED_MAX)))
		return false;
	take_cells(&k->cells, k->word != copy.word || k->left != copy.left);
	pfs_sums_subtract(&k->numbers);
	pfs_sums_subtract(&k->running);
	lengthen(&copy.running, tick);
	pfs_sums_add(&copy.cells);
	pfs_sums_add(&copy.numbers);
	pfs_sums_add(&copy.running);
	k->word = copy.word;
	k->seq = copy.seq;
	k->depth = copy.depth;
	k->missed = 0;
	k->left = copy.left;
	pfs_sum_items_copy(&k->cells, &copy.cells);
	pfs_sum_items_copy(&k->numbers, &copy.numbers);
	pfs_sum_items_copy(&k->running, &copy.running);
	return true;
}

/* Reads what has left the threads. */
static void
read_left(void)
{
	left_now.n = 0;
	add_number(&left_now, PFS_SUM_INSIDE, PFS_LOAD_CPU_NAME, NULL, pfs_load_relaxed(&pfs_departed->statements),
			   pfs_load_relaxed(&pfs_departed->statement_ticks));
	for (uint32 i = 0; i < pfs_sizes.cells[PFS_FAMILY_WAITS]; i++)
	{
		const PfsDeparted *l = &pfs_departed->items[i];

		add_number(&left_now, PFS_SUM_WAITS, i, NULL, pfs_load_relaxed(&l->count), pfs_load_relaxed(&l->sum));
		add_number(&left_now, PFS_SUM_INSIDE, i, NULL, pfs_load_relaxed(&l->handed_count), pfs_load_relaxed(&l->handed_sum));
	}
}

/* Adds what has left the threads, as it was read last, to the sums. */
static void
add_departed(void)
{
	pfs_sums_subtract(&left_known);
	pfs_sums_add(&left_now);
	pfs_sum_items_copy(&left_known, &left_now);
}

/* Tells the sums how long the events are that run. */
static void
note_lengths(void)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		for (uint32 r = 0; r < known[i].running.n; r++)
		{
			const PfsSumItem *item = &known[i].running.items[r];

			if (item->shown)
				pfs_sums_running(item, item->ticks);
		}
	}
}

/*
 * Adds what threads have more than at their last reading, and what runs.  first: no period is made
 * of it, so all has to be read now; what was not would be new in the next one.
 */
void
pfs_recorder_read_threads(const PfsTick *tick, bool first)
{
	for (int round = 0; round < LEFT_ROUNDS; round++)
	{
		uint64		begun = pfs_load_acquire(&pfs_departed->begun);
		uint64		ended = pfs_load_acquire(&pfs_departed->ended);
		bool		is_last = round == LEFT_ROUNDS - 1;
		bool		all = true;

		for (uint32 i = 0; i < pfs_sizes.threads; i++)
		{
			if (!read_one(i, tick, is_last, first))
				all = false;
		}
		pfs_fence_acquire();
		read_left();
		pfs_fence_acquire();
		if ((all && begun == ended && pfs_load_acquire(&pfs_departed->begun) == begun) || (is_last && first))
		{
			add_departed();
			break;
		}
		pg_usleep(MOVE_NAP);
	}
	note_lengths();
}
