/*
 * hammer_ring.c
 *	  The ring of one writer: the newest items are there, none is torn, none is
 *	  another one than asked for; items in the making can be looked at.
 *
 * The writer lives as a thread record's owner does: a stack of running items,
 * filled before the depth shows them, finished and dropped under its sequence
 * lock, and another owner of the same memory now and then.
 */
#include "hammer.h"
#include "pfs_ring.h"

#define ITEM_WORDS	16
#define LEVELS		3

/* In word 1: owner, whether it is finished, position or number. */
#define FINISHED	(UINT64_C(1) << 43)
#define OWNER(base)	((base) >> 44)
#define NUMBER(base) ((base) & (FINISHED - 1))

typedef struct RingContext
{
	/* odd while a new owner sets up: stands for the thread record's word */
	uint64_t	owner;
	PfsSeqlock	lock;			/* of the owner */
	uint32_t	depth;			/* items in the making */
	PfsRing		ring;
	void	   *memory;
	uint32_t	capacity;
	uint64_t	owners;
	uint64_t	written;
	uint64_t	read;
	uint64_t	gone;
	uint64_t	running;
	uint64_t	missed;
	HammerWitness finished;		/* by position */
	HammerWitness shown;		/* in the making, by number */
} RingContext;

static uint64_t
base_of(uint64_t owner, uint64_t pos)
{
	return owner << 44 ^ FINISHED ^ pos;
}

static void
check_item(const uint64_t *item, uint64_t owner, uint64_t pos)
{
	HAMMER_CHECK(item[1] == base_of(owner, pos) && hammer_whole(item, 2, ITEM_WORDS, item[1]),
				 "item %lu of owner %lx is torn or another: base %lx", pos, owner, item[1]);
}

/* Inside a write section, or at a level that the depth does not show yet. */
static void
write_item(PfsRing *r, uint32_t level, uint64_t base)
{
	uint64_t   *item = pfs_ring_spare(r, level);

	pfs_store_relaxed(&item[1], base);
	hammer_fill(item, 2, ITEM_WORDS, base);
}

/* The newest capacity items, and no other, are there. */
static void
check_newest(RingContext *x, uint64_t owner, uint64_t head, HammerRng *rng)
{
	const PfsRing *r = &x->ring;
	uint64_t	item[ITEM_WORDS];
	uint64_t	back = 1 + hammer_random(rng, x->capacity);

	HAMMER_CHECK(r->head == head, "head %lu at position %lu", r->head, head);
	HAMMER_CHECK(!pfs_ring_read(r, head, item), "item %lu is there before it is finished", head);
	if (back <= head)
	{
		HAMMER_CHECK(pfs_ring_read(r, head - back, item), "item %lu of %lu is gone", head - back, head);
		check_item(item, owner, head - back);
		check_item(pfs_ring_item(r, head - back), owner, head - back);
	}
	if (head > x->capacity)
		HAMMER_CHECK(!pfs_ring_read(r, head - x->capacity - 1, item), "overwritten item was read");
}

/* What is in the slots, from the last owner or a victim, is anybody's guess. */
static void
begin_ownership(RingContext *x, uint64_t owner, HammerRng *rng)
{
	pfs_store_relaxed(&x->owner, owner - 1);
	pfs_fence_release();
	/* Threads share what ThreadSanitizer would call a race. */
	if (!hammer_options.threads)
	{
		memset(&x->ring, 0, sizeof(x->ring));
		hammer_pause(rng);
	}
	pfs_store_relaxed(&x->lock.word, 0);
	pfs_store_relaxed(&x->depth, 0);
	if (!hammer_options.threads)
		pfs_ring_init(&x->ring, x->memory, x->capacity, LEVELS, ITEM_WORDS * 8);
	pfs_store_release(&x->owner, owner);
	pfs_add_relaxed(&x->owners, 1);
}

static void
own_ring(RingContext *x, HammerRng *rng, uint32_t writes)
{
	PfsRing    *r = &x->ring;
	uint64_t	owner = (pfs_load_relaxed(&x->owner) | 1) + 1;
	uint64_t	head = 0;
	uint64_t	number = 0;
	uint32_t	depth = 0;

	begin_ownership(x, owner, rng);
	for (; writes > 0 && hammer_going(); writes--)
	{
		uint32_t	dice = hammer_random(rng, 8);
		uint64_t	before = head;

		if (dice < 3 && depth < LEVELS)
		{
			write_item(r, depth, owner << 44 ^ ++number);
			hammer_bear(&x->shown, number, owner);
			pfs_store_release(&x->depth, ++depth);
			continue;
		}
		if (dice < 5 && depth < LEVELS)
		{
			/* Nobody sees it running. */
			write_item(r, depth, base_of(owner, head));
			hammer_bear(&x->finished, head, owner);
			pfs_seqlock_write_begin(&x->lock);
			pfs_ring_push(r, depth);
			head++;
		}
		else
		{
			/* One, or all that are running; finished, or dropped. */
			uint32_t	left = dice == 7 ? 0 : depth > 0 ? depth - 1 : 0;

			pfs_seqlock_write_begin(&x->lock);
			while (depth > left)
			{
				pfs_store_relaxed(&x->depth, --depth);
				if (hammer_random(rng, 8) == 0)
					continue;
				write_item(r, depth, base_of(owner, head));
				hammer_bear(&x->finished, head, owner);
				pfs_ring_push(r, depth);
				head++;
			}
		}
		pfs_seqlock_write_end(&x->lock);
		pfs_add_relaxed(&x->written, head - before);
		check_newest(x, owner, head, rng);
	}
}

/* As a reader of running events does. */
static bool
copy_running(RingContext *x, uint32_t level, uint64_t *item)
{
	uint64_t	before = pfs_seqlock_read_begin(&x->lock);
	const void *slot;

	if (pfs_load_acquire(&x->depth) <= level)
		return false;
	slot = pfs_ring_look(&x->ring, level);
	if (slot == NULL)
		return false;
	pfs_racy_copy(item, slot, ITEM_WORDS * 8);
	return pfs_seqlock_read_valid(&x->lock, before);
}

static void
ring_reader(RingContext *x, HammerRng *rng)
{
	uint64_t	item[ITEM_WORDS];
	uint64_t	seen_owner = 0;
	uint64_t	seen[LEVELS] = {0};

	while (hammer_going())
	{
		uint64_t	owner = pfs_load_acquire(&x->owner);
		uint64_t	head = pfs_load_acquire(&x->ring.head);
		uint64_t	pos = head + 1 - hammer_random(rng, x->capacity + 3);
		uint32_t	level = hammer_random(rng, LEVELS);
		bool		running = hammer_random(rng, 4) == 0;
		bool		got;

		if ((owner & 1) != 0 || owner == 0)
			continue;
		/* The memory may change hands now. */
		if (hammer_random(rng, 10000) == 0)
			hammer_pause(rng);
		got = running ? copy_running(x, level, item) : pfs_ring_read(&x->ring, pos, item);
		pfs_fence_acquire();
		if (pfs_load_relaxed(&x->owner) != owner)
			continue;
		if (!got)
		{
			pfs_add_relaxed(running ? &x->missed : &x->gone, 1);
			continue;
		}
		if (!running)
		{
			check_item(item, owner, pos);
			HAMMER_CHECK(hammer_borne(&x->finished, pos, owner), "item %lu has no witness", pos);
			pfs_add_relaxed(&x->read, 1);
			continue;
		}
		HAMMER_CHECK(OWNER(item[1]) == owner && (item[1] & FINISHED) == 0 &&
					 hammer_whole(item, 2, ITEM_WORDS, item[1]),
					 "item in the making is torn or another: base %lx of owner %lx", item[1], owner);
		HAMMER_CHECK(hammer_borne(&x->shown, NUMBER(item[1]), owner),
					 "item in the making, number %lu, has no witness", NUMBER(item[1]));
		if (seen_owner != owner)
			memset(seen, 0, sizeof(seen));
		seen_owner = owner;
		HAMMER_CHECK(NUMBER(item[1]) >= seen[level], "item in the making: %lu after %lu",
					 NUMBER(item[1]), seen[level]);
		seen[level] = NUMBER(item[1]);
		pfs_add_relaxed(&x->running, 1);
	}
}

static void
ring_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	RingContext *x = context;

	if (place != 0)
	{
		ring_reader(x, rng);
		return;
	}
	do
		own_ring(x, rng, hammer_options.threads ? UINT32_MAX : hammer_random(rng, 5000));
	while (hammer_going());
}

static bool
seen_all(const void *context)
{
	const RingContext *x = context;

	return pfs_load_relaxed(&x->written) > 0 && pfs_load_relaxed(&x->read) > 0 &&
		pfs_load_relaxed(&x->running) > 0;
}

static void
run_ring(uint32_t capacity)
{
	HammerSegment s;
	RingContext *x = NULL;
	void	   *memory = NULL;
	uint32_t	kills;
	char		name[100];

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		memory = pfs_segment_take(&s.seg, pfs_ring_size(capacity, LEVELS, ITEM_WORDS * 8), PFS_CACHE_LINE);
	}
	x->memory = memory;
	x->capacity = capacity;
	pfs_ring_init(&x->ring, memory, capacity, LEVELS, ITEM_WORDS * 8);
	hammer_witness_begin(&x->finished);
	hammer_witness_begin(&x->shown);
	kills = hammer_run_until(ring_worker, x, seen_all);
	hammer_witness_end(&x->finished);
	hammer_witness_end(&x->shown);
	snprintf(name, sizeof(name), "ring, %u items%s", capacity, hammer_options.kill ? ", killing" : "");
	if (x->written == 0 || x->read == 0 || x->running == 0)
		hammer_fail("%lu written, %lu read, %lu in the making", x->written, x->read, x->running);
	hammer_done(name, "%lu owners, %lu written, %lu read, %lu gone, %lu in the making, %lu missed, %u kills",
				x->owners, x->written, x->read, x->gone, x->running, x->missed, kills);
	hammer_segment_end(&s);
}

void
hammer_ring(void)
{
	run_ring(1);
	run_ring(2);
	run_ring(5);
	run_ring(1021);
}
