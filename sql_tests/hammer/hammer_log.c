/*
 * hammer_log.c
 *	  The log of many writers: no torn item, none lost that was not overwritten
 *	  by a newer one, one writer's items in order, truncation hides the old and
 *	  only the old.
 */
#include "hammer.h"
#include "pfs_log.h"

#define ITEM_WORDS	16
#define LANES		2
#define SLOTS_MAX	2048

typedef struct LogItem
{
	uint64_t	words[ITEM_WORDS];	/* sequence, writer, counter, base,
									 * pattern */
} LogItem;

#define WRITER	1
#define COUNTER 2
#define BASE	3

typedef struct LogContext
{
	PfsLog	   *log;
	uint64_t	stored;
	uint64_t	lost;
	uint64_t	read;
	uint64_t	unseen;			/* own items, behind a writer that sleeps */
	uint64_t	truncations_begun;
	uint64_t	truncations_ended;
	HammerWitness items;		/* by lane and word */
	uint64_t	slot_owner[LANES][SLOTS_MAX];	/* plain, for threads: who
												 * stores there */
} LogContext;

/* As many lanes share the words of a witness. */
static uint64_t
witness_of(uint32_t lane, uint64_t word)
{
	return word / 2 * LANES + lane;
}

static bool
item_whole(const LogItem *item)
{
	return (item->words[0] & 1) == 0 && item->words[0] != 0 &&
		item->words[BASE] == (item->words[WRITER] << 40 ^ item->words[COUNTER]) &&
		hammer_whole(item->words, BASE + 1, ITEM_WORDS, item->words[BASE]);
}

static int
compare_words(const void *a, const void *b)
{
	uint64_t	x = ((const LogItem *) a)->words[0];
	uint64_t	y = ((const LogItem *) b)->words[0];

	return (x > y) - (x < y);
}

/*
 * Everything in a lane.  What was read of one writer must be in the order in
 * which it wrote.  (Only a copy of a moment is complete; this one is taken slot
 * by slot, which cannot exchange two items of a writer.)
 */
static void
read_lane(LogContext *x, uint32_t lane, uint64_t hidden)
{
	static __thread LogItem items[SLOTS_MAX];
	uint32_t	n = 0;

	for (uint32_t slot = 0; slot < pfs_log_slots(x->log); slot++)
	{
		if (!pfs_log_read(x->log, lane, slot, &items[n]))
			continue;
		HAMMER_CHECK(item_whole(&items[n]), "torn item in lane %u slot %u: word %lu writer %lu counter %lu",
					 lane, slot, items[n].words[0], items[n].words[WRITER], items[n].words[COUNTER]);
		HAMMER_CHECK((items[n].words[0] / 2 - 1) % pfs_log_slots(x->log) == slot,
					 "item of another slot in slot %u", slot);
		HAMMER_CHECK(hammer_borne(&x->items, witness_of(lane, items[n].words[0]), items[n].words[BASE]),
					 "item in lane %u slot %u has no witness", lane, slot);
		HAMMER_CHECK(items[n].words[0] > hidden, "truncated item in lane %u slot %u", lane, slot);
		n++;
	}
	pfs_add_relaxed(&x->read, n);
	qsort(items, n, sizeof(LogItem), compare_words);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n && k < i + 40; k++)
			HAMMER_CHECK(items[k].words[WRITER] != items[i].words[WRITER] ||
						 items[k].words[COUNTER] > items[i].words[COUNTER],
						 "lane %u: item %lu of writer %lu stands behind item %lu", lane,
						 items[i].words[COUNTER], items[i].words[WRITER], items[k].words[COUNTER]);
}

/* The item was stored: it is there, or a newer one, or it was truncated. */
static void
check_found(LogContext *x, const PfsLogClaim *claim, uint32_t i, const LogItem *mine,
			uint64_t truncations)
{
	uint64_t	word = claim->done_word + 2 * i;
	LogItem		item;

	for (int tries = 0; tries < 1000; tries++)
	{
		if (pfs_log_read(x->log, claim->lane, claim->first + i, &item))
		{
			if (item.words[0] == word)
				HAMMER_CHECK(item.words[WRITER] == mine->words[WRITER] &&
							 item.words[COUNTER] == mine->words[COUNTER],
							 "another item under the word of mine");
			else
				HAMMER_CHECK(item.words[0] >= word + 2 * pfs_log_slots(x->log),
							 "item %lu was overwritten by %lu", word, item.words[0]);
			return;
		}
		if (pfs_load_acquire(&x->truncations_begun) != truncations)
			return;
	}
	/* In the hands of a writer that sleeps or was killed: it is newer, too. */
	pfs_add_relaxed(&x->unseen, 1);
}

static void
truncate_log(LogContext *x)
{
	uint64_t	hidden[LANES] = {0};
	LogItem		item;

	for (uint32_t lane = 0; lane < LANES; lane++)
		for (uint32_t slot = 0; slot < pfs_log_slots(x->log); slot++)
			if (pfs_log_read(x->log, lane, slot, &item) && item.words[0] > hidden[lane])
				hidden[lane] = item.words[0];
	pfs_add_seqcst(&x->truncations_begun, 1);
	pfs_log_truncate(x->log);
	pfs_add_seqcst(&x->truncations_ended, 1);
	for (uint32_t lane = 0; lane < LANES; lane++)
		read_lane(x, lane, hidden[lane]);
}

/* The ways to store are equal; the last one stores an odd leading word, too. */
static void
store_item(PfsLog *log, const PfsLogClaim *claim, uint32_t i, LogItem *item, uint32_t way)
{
	void	   *slot = pfs_log_slot(claim, i, sizeof(LogItem));

	item->words[0] = 1;
	if (way == 0)
		pfs_log_store(log, claim, i, item);
	else if (way == 1)
		pfs_log_store_sized(claim, i, item, sizeof(LogItem));
	else
	{
		pfs_log_slot_begin(claim, i, slot);
		pfs_racy_copy(slot, item, sizeof(LogItem));
		pfs_log_slot_end(claim, i, slot);
	}
}

static void
log_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	LogContext *x = context;
	uint64_t	counter = 0;

	while (hammer_going())
	{
		uint32_t	dice = hammer_random(rng, 1000);

		if (dice < 950)
		{
			uint32_t	lane = hammer_random(rng, LANES);
			uint32_t	want = 1 + hammer_random(rng, PFS_LOG_GROUP);
			uint64_t	truncations = pfs_load_acquire(&x->truncations_begun);
			bool		alone = truncations == pfs_load_acquire(&x->truncations_ended);
			LogItem		items[PFS_LOG_GROUP];
			PfsLogClaim claim;

			if (!pfs_log_claim(x->log, lane, want, &claim))
			{
				pfs_add_relaxed(&x->lost, want);
				continue;
			}
			HAMMER_CHECK(claim.count >= 1 && claim.count <= want && claim.lane == lane &&
						 claim.first + claim.count <= pfs_log_slots(x->log) &&
						 claim.first / PFS_LOG_GROUP == (claim.first + claim.count - 1) / PFS_LOG_GROUP,
						 "claim of %u gives %u from %u", want, claim.count, claim.first);
			for (uint32_t i = 0; i < claim.count; i++)
			{
				items[i].words[WRITER] = id;
				items[i].words[COUNTER] = ++counter;
				items[i].words[BASE] = (uint64_t) id << 40 ^ counter;
				hammer_fill(items[i].words, BASE + 1, ITEM_WORDS, items[i].words[BASE]);
				hammer_bear(&x->items, witness_of(lane, claim.done_word + 2 * i), items[i].words[BASE]);
				if (hammer_options.threads)
					x->slot_owner[lane][claim.first + i] = id;
				store_item(x->log, &claim, i, &items[i], counter % 3);
			}
			if (alone)
				for (uint32_t i = 0; i < claim.count && !hammer_failed(); i++)
					check_found(x, &claim, i, &items[i], truncations);
			pfs_add_relaxed(&x->stored, claim.count);
		}
		else if (dice < 999)
			read_lane(x, hammer_random(rng, LANES), 0);
		else if (hammer_random(rng, 10) == 0)
			truncate_log(x);
	}
}

/*
 * Alone again: the newest slots' worth of items is there, in order and without
 * a hole, and truncation hides them, and not the next one.
 */
static void
check_quiet(LogContext *x)
{
	uint32_t	slots = pfs_log_slots(x->log);
	PfsLogClaim claim;
	LogItem		item = {{0}};

	for (uint32_t lane = 0; lane < LANES; lane++)
	{
		uint32_t	visible = 0;
		uint64_t	newest = 0;

		for (uint32_t n = 0; n < 3 * slots; n++)
		{
			HAMMER_CHECK(pfs_log_claim(x->log, lane, 1, &claim), "no claim when nobody writes");
			HAMMER_CHECK(claim.done_word > newest, "claims of lane %u go back", lane);
			newest = claim.done_word;
			item.words[WRITER] = 1;
			item.words[COUNTER] = n;
			item.words[BASE] = UINT64_C(1) << 40 ^ n;
			hammer_fill(item.words, BASE + 1, ITEM_WORDS, item.words[BASE]);
			pfs_log_store(x->log, &claim, 0, &item);
		}
		for (uint32_t slot = 0; slot < slots; slot++)
		{
			if (!pfs_log_read(x->log, lane, slot, &item))
				continue;
			HAMMER_CHECK(item_whole(&item), "torn item when nobody writes");
			HAMMER_CHECK(item.words[0] > newest - 2 * slots && item.words[0] <= newest,
						 "an old item outlived newer ones");
			visible++;
		}
		HAMMER_CHECK(visible == slots, "%u items of %u are visible", visible, slots);
	}
	pfs_log_truncate(x->log);
	for (uint32_t lane = 0; lane < LANES; lane++)
	{
		uint32_t	visible = 0;

		HAMMER_CHECK(pfs_log_claim(x->log, lane, 1, &claim), "no claim after truncation");
		pfs_log_store(x->log, &claim, 0, &item);
		for (uint32_t slot = 0; slot < slots; slot++)
			visible += pfs_log_read(x->log, lane, slot, &item);
		HAMMER_CHECK(visible == 1, "%u items are visible after truncation and one store", visible);
	}
	/* More would mean that items vanish. */
	HAMMER_CHECK(x->unseen * 20 <= x->stored, "%lu of %lu items were never seen", x->unseen, x->stored);
	HAMMER_CHECK(pfs_log_lost(x->log) == x->lost, "%lu lost, %lu failed", pfs_log_lost(x->log), x->lost);
	pfs_log_reset_lost(x->log);
	HAMMER_CHECK(pfs_log_lost(x->log) == 0, "losses survive their reset");
}

/*
 * After kills the lane goes on unless every group has a victim in it: at most
 * one group each is out of use.
 */
static void
check_after_kills(LogContext *x, uint32_t kills)
{
	uint32_t	groups = pfs_log_slots(x->log) / PFS_LOG_GROUP;
	LogItem		item = {{0}};
	PfsLogClaim claim;

	for (uint32_t lane = 0; lane < LANES; lane++)
	{
		uint64_t	oldest = 0;
		uint32_t	usable = 0;

		read_lane(x, lane, 0);
		/* One lap and a bit more: each usable group is claimed whole once. */
		for (uint32_t n = 0; n < 2 * groups; n++)
		{
			if (!pfs_log_claim(x->log, lane, PFS_LOG_GROUP, &claim))
				break;
			for (uint32_t i = 0; i < claim.count; i++)
				pfs_log_store(x->log, &claim, i, &item);
			if (n > 0 && oldest == 0)
				oldest = claim.done_word;
			if (n > 0 && claim.done_word < oldest + 2 * pfs_log_slots(x->log))
				usable++;
		}
		HAMMER_CHECK(usable + kills + 1 >= groups, "%u groups of %u are usable after %u kills",
					 usable, groups, kills);
	}
}

static void
run_log(uint32_t capacity)
{
	HammerSegment s;
	LogContext *x = NULL;
	PfsLog	   *log = NULL;
	uint32_t	kills;
	char		name[100];

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		log = pfs_log_create(&s.seg, LANES, capacity, sizeof(LogItem));
	}
	if (pfs_log_slots(log) < capacity || pfs_log_slots(log) > SLOTS_MAX || pfs_log_lanes(log) != LANES)
		hammer_fail("%u slots for %u items", pfs_log_slots(log), capacity);
	x->log = log;
	hammer_witness_begin(&x->items);
	kills = hammer_run(log_worker, x);
	hammer_witness_end(&x->items);
	if (!hammer_failed())
	{
		if (hammer_options.kill)
			check_after_kills(x, kills);
		else
			check_quiet(x);
	}
	snprintf(name, sizeof(name), "log, %u items in %u slots%s", capacity, pfs_log_slots(log),
			 hammer_options.kill ? ", killing" : "");
	hammer_done(name, "%lu stored, %lu lost, %lu read, %lu unseen, %lu truncations, %u kills",
				x->stored, x->lost, x->read, x->unseen, x->truncations_ended, kills);
	hammer_segment_end(&s);
}

/* What a writer that sleeps in its claim does to the others: nothing. */
static void
run_log_sleeper(void)
{
	HammerSegment s;
	PfsLog	   *log = NULL;
	PfsLogClaim sleeper;
	PfsLogClaim claim;
	LogItem		item = {{0}};
	LogItem		got;
	uint64_t	slept_word;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
		log = pfs_log_create(&s.seg, 1, 24, sizeof(LogItem));
	if (!pfs_log_claim(log, 0, 3, &sleeper))
		hammer_fail("no claim in a new log");
	slept_word = sleeper.done_word;
	for (uint32_t n = 0; n < 1000 && !hammer_failed(); n++)
	{
		item.words[COUNTER] = n;
		if (!pfs_log_claim(log, 0, 1 + n % PFS_LOG_GROUP, &claim))
			hammer_fail("one sleeper blocks the lane");
		else
			for (uint32_t i = 0; i < claim.count; i++)
			{
				if (claim.first + i < sleeper.first + sleeper.count && claim.first + i >= sleeper.first)
					hammer_fail("slot %u of the sleeper is claimed again", claim.first + i);
				pfs_log_store(log, &claim, i, &item);
			}
	}
	item.words[COUNTER] = 77777;
	for (uint32_t i = 0; i < sleeper.count; i++)
		pfs_log_store(log, &sleeper, i, &item);
	if (!pfs_log_read(log, 0, sleeper.first, &got) || got.words[0] != slept_word ||
		got.words[COUNTER] != 77777)
		hammer_fail("the sleeper's item is not there");

	/* Others asleep in all the other groups: now nothing can be claimed. */
	for (uint32_t n = 0; n < 100; n++)
		if (!pfs_log_claim(log, 0, PFS_LOG_GROUP, &claim))
			break;
	if (pfs_log_lost(log) != PFS_LOG_GROUP)
		hammer_fail("%lu losses when all groups are held", pfs_log_lost(log));
	hammer_done("log, a sleeping writer", "1000 claims around it");
	hammer_segment_end(&s);
}

void
hammer_log(void)
{
	run_log_sleeper();
	run_log(1);
	run_log(2);
	run_log(7);
	run_log(40);
	run_log(1000);
}
