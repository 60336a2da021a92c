/*
 * hammer_cell.c
 *	  Aggregate cells: a reader sees a cell before or after a change of its
 *	  owner, and a new owner's cells start at zero.
 */
#include "hammer.h"
#include "pfs_cell.h"
#include "pfs_histogram.h"

typedef struct CellContext
{
	/* odd while a new owner sets up: stands for the thread record's word */
	uint64_t	owner;
	PfsSeqlock	lock;			/* of the owner */
	PfsBlock	block;
	void	   *memory;
	PfsPages   *chunks;			/* where the cells lie; NULL: in the block */
	uint32_t	per_chunk;
	uint32_t	ncells;
	uint64_t	events;
	uint64_t	owners;
	uint64_t	reads;
	uint64_t	looks;
	uint64_t	missed;
	HammerWitness writes;		/* by the lock's word */
} CellContext;

/*
 * Every second event of a cell is timed: the first, or in the second half of
 * each four cells the second.  Their ticks lie around the middle, further and
 * further: all numbers follow from the count of events.
 */
#define MIDDLE UINT64_C(0x4000000000)

static bool
event_timed(uint32_t cell, uint64_t event)
{
	return (event + (cell & 2) / 2) % 2 == 0;
}

static uint64_t
ticks_of(uint64_t timed)
{
	return timed % 2 == 1 ? MIDDLE + timed : MIDDLE - timed;
}

/* In cells of even number, a change makes this many events. */
static uint32_t
events_per_write(uint32_t cell)
{
	return cell % 2 == 0 ? 3 : 1;
}

static bool
consistent(uint32_t i, const PfsCell *c)
{
	uint64_t	events = c->count_timed + c->count_untimed;
	uint64_t	n = c->count_timed;

	if (events % events_per_write(i) != 0 || n != (events + ((i & 2) == 0)) / 2)
		return false;
	if (n == 0)
		return c->sum == 0 && c->max == 0;
	return c->sum == n * MIDDLE + (n % 2 == 1 ? (n + 1) / 2 : -(n / 2)) &&
		c->max == MIDDLE + (n - 1) / 2 * 2 + 1 &&
		c->min == (n == 1 ? MIDDLE + 1 : MIDDLE - n / 2 * 2);
}

/* Numbers of an owner, perhaps inside a write section; a stranger's are larger. */
static bool
plausible(const PfsCell *c)
{
	return (c->count_timed | c->count_untimed | c->sum | c->max) < UINT64_C(1) << 56;
}

static void
check_zero(CellContext *x)
{
	PfsCell		c;

	HAMMER_CHECK(pfs_block_next(&x->block, 0) == x->ncells, "a new owner's cell is touched");
	for (uint32_t i = 0; i < x->ncells; i++)
	{
		if (x->chunks != NULL && *pfs_block_chunk(&x->block, i) == NULL)
			continue;
		HAMMER_CHECK(pfs_block_read(&x->block, &x->lock, i, &c, sizeof(c)), "the owner cannot read its cell");
		HAMMER_CHECK(c.count_timed == 0 && c.count_untimed == 0 && c.sum == 0 && c.max == 0,
					 "cell %u of a new owner is not zero", i);
	}
}

static void
init_block(CellContext *x)
{
	pfs_block_init(&x->block, x->memory, x->ncells, sizeof(PfsCell), x->per_chunk);
}

/* The word is odd here; it ends as the next even one. */
static void
end_write(CellContext *x)
{
	uint64_t	word = pfs_load_relaxed(&x->lock.word) + 1;

	hammer_bear(&x->writes, word / 2, word);
	pfs_seqlock_write_end(&x->lock);
}

/*
 * Gives the chunks of all touched cells back, as they are; what others make of them no
 * reader may take for a cell.  A victim may have left the block half made: then its chunks
 * are lost.
 */
static void
free_chunks(CellContext *x)
{
	if (x->block.touched != NULL && x->block.chunks != NULL && x->block.cell_size != 0 && x->block.per_chunk != 0 && x->block.ncells != 0)
		pfs_block_free_chunks(&x->block, x->chunks);
}

/*
 * Takes chunks, fills them with what is no cell, and gives them back.  It begins to search
 * anywhere in the pages that were opened, so that it comes to the owner's.
 */
static void
cell_stranger(CellContext *x, HammerRng *rng)
{
	while (hammer_going())
	{
		uint32_t	opened = pfs_load_relaxed(&x->chunks->available) >> 32;
		uint32_t	hint = 1 + hammer_random(rng, (opened + 1) * x->chunks->records_per_page);
		uint32_t	index = pfs_pages_allocate(x->chunks, &hint);

		if (index == PFS_NO_RECORD)
			continue;
		hammer_fill(pfs_pages_record(x->chunks, index), 0, x->per_chunk * sizeof(PfsCell) / sizeof(uint64_t), hammer_random(rng, UINT32_MAX));
		if (hammer_random(rng, 100) == 0)
			hammer_pause(rng);
		pfs_pages_free(x->chunks, index);
	}
}

/* Another owner of the same memory, or only all cells to zero. */
static void
begin_ownership(CellContext *x, HammerRng *rng)
{
	bool		victim = ((x->owner | x->lock.word) & 1) != 0;

	pfs_add_relaxed(&x->owners, 1);
	/* Threads share what ThreadSanitizer would call a race. */
	if (hammer_options.threads || (!victim && hammer_random(rng, 2) == 0))
	{
		pfs_seqlock_write_begin(&x->lock);
		pfs_block_clear(&x->block);
		end_write(x);
		return;
	}
	pfs_store_relaxed(&x->owner, x->owner | 1);
	pfs_fence_release();
	if (x->chunks != NULL)
		free_chunks(x);
	pfs_store_relaxed(&x->lock.word, 0);
	memset(&x->block, 0, sizeof(x->block));
	hammer_pause(rng);
	/* Time for a stranger to fill what a reader is in the middle of. */
	if (x->chunks != NULL && hammer_random(rng, 4) == 0)
		usleep(hammer_random(rng, 5000));
	init_block(x);
	pfs_store_release(&x->owner, x->owner + 1);
}

static void
cell_writer(CellContext *x, HammerRng *rng)
{
	uint32_t	hint = 0;

	while (hammer_going())
	{
		uint32_t	n = 1 + hammer_random(rng, 2000);
		uint64_t	events = 0;

		begin_ownership(x, rng);
		check_zero(x);
		for (; n > 0; n--)
		{
			uint32_t	i = hammer_random(rng, x->ncells);
			PfsCell    *c;

			pfs_seqlock_write_begin(&x->lock);
			c = x->chunks == NULL ? pfs_block_cell(&x->block, i) : pfs_block_make(&x->block, x->chunks, i, &hint);
			if (c == NULL)
			{
				end_write(x);
				hammer_fail("there is no chunk");
				return;
			}
			for (uint32_t k = events_per_write(i); k > 0; k--)
			{
				if (event_timed(i, c->count_timed + c->count_untimed))
				{
					if (c->count_timed == 0)
						pfs_cells_touch(&x->block, i, ticks_of(1));
					pfs_cell_add(c, ticks_of(c->count_timed + 1));
				}
				else
				{
					if (c->count_untimed == 0)
						pfs_cells_touch(&x->block, i, UINT64_MAX);
					pfs_bump(&c->count_untimed, 1);
				}
				events++;
			}
			end_write(x);
			HAMMER_CHECK(pfs_block_next(&x->block, i) == i, "cell %u is not marked", i);
		}
		pfs_add_relaxed(&x->events, events);
	}
}

/*
 * A look takes the words as they are.  While the block has no other owner yet they are
 * the owner's, also behind the moment in which it gives its chunks back.
 */
static void
look(CellContext *x, uint32_t i)
{
	uint64_t	owner = pfs_load_acquire(&x->owner);
	PfsCell		c;

	if (!pfs_block_look(&x->block, i, &c, sizeof(c)))
		return;
	pfs_fence_acquire();
	if ((pfs_load_relaxed(&x->owner) | 1) != (owner | 1))
		return;
	pfs_add_relaxed(&x->looks, 1);
	HAMMER_CHECK(plausible(&c), "a look at cell %u: timed %lu, untimed %lu, sum %lu, max %lu", i,
				 c.count_timed, c.count_untimed, c.sum, c.max);
}

static void
cell_reader(CellContext *x, HammerRng *rng)
{
	PfsCell		c;

	while (hammer_going())
	{
		uint32_t	i = hammer_random(rng, x->ncells);
		uint64_t	owner = pfs_load_acquire(&x->owner);
		uint64_t	word = pfs_seqlock_read_begin(&x->lock);
		uint32_t	next;
		bool		got;

		if (hammer_random(rng, 2) == 0)
		{
			look(x, i);
			continue;
		}
		if ((owner & 1) != 0)
			continue;
		if ((word & 1) == 0 && word != 0)
			HAMMER_CHECK(hammer_borne(&x->writes, word / 2, word), "change %lu has no witness", word / 2);
		/* The memory may change hands now. */
		if (hammer_random(rng, 10000) == 0)
			hammer_pause(rng);
		if (hammer_random(rng, 10) == 0)
			i = pfs_block_next(&x->block, i);
		if (i >= x->ncells)
			continue;
		got = pfs_block_read(&x->block, &x->lock, i, &c, sizeof(c));
		next = pfs_block_next(&x->block, i);
		/* Nothing has changed from the cell to the mark. */
		if (!pfs_seqlock_read_valid(&x->lock, word))
			next = i;
		pfs_fence_acquire();
		if (pfs_load_relaxed(&x->owner) != owner)
			continue;
		if (!got)
		{
			pfs_add_relaxed(&x->missed, 1);
			continue;
		}
		pfs_add_relaxed(&x->reads, 1);
		HAMMER_CHECK(consistent(i, &c), "cell %u: timed %lu, untimed %lu, sum %lu, min %lu, max %lu", i,
					 c.count_timed, c.count_untimed, c.sum, c.min, c.max);
		HAMMER_CHECK((c.count_timed == 0 && c.count_untimed == 0) || next == i,
					 "cell %u has events and no mark", i);
	}
}

static void
cell_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	if (place == 0)
		cell_writer(context, rng);
	else if (place == 1 && ((CellContext *) context)->chunks != NULL)
		cell_stranger(context, rng);
	else
		cell_reader(context, rng);
}

static bool
seen_all(const void *context)
{
	const CellContext *x = context;

	return pfs_load_relaxed(&x->owners) > 0 && pfs_load_relaxed(&x->reads) > 0 && pfs_load_relaxed(&x->looks) > 0;
}

static void
run_cell(uint32_t ncells, uint32_t per_chunk)
{
	PfsPages   *chunks = NULL;
	size_t		size = pfs_block_size(ncells, sizeof(PfsCell), per_chunk);
	HammerSegment s;
	CellContext *x = NULL;
	void	   *memory = NULL;
	uint32_t	kills;
	char		name[100];

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		memory = pfs_segment_take(&s.seg, size, PFS_CACHE_LINE);

		/*
		 * Room for the owner's, and what the kill of an owner or a stranger
		 * costs.
		 */
		if (per_chunk != 0)
			chunks = pfs_pages_create(&s.seg, "chunks", per_chunk * sizeof(PfsCell), 65536, 16);
	}
	x->memory = memory;
	x->ncells = ncells;
	x->chunks = chunks;
	x->per_chunk = per_chunk;
	x->owner = 2;
	init_block(x);
	hammer_witness_begin(&x->writes);
	kills = hammer_run_until(cell_worker, x, seen_all);
	hammer_witness_end(&x->writes);
	snprintf(name, sizeof(name), "cell, %u cells, %u to a chunk%s", ncells, per_chunk, hammer_options.kill ? ", killing" : "");
	if (x->owners == 0 || x->reads == 0 || x->looks == 0)
		hammer_fail("%lu owners, %lu reads, %lu looks", x->owners, x->reads, x->looks);
	hammer_done(name, "%lu owners, %lu events, %lu reads, %lu looks, %lu missed, %u kills",
				x->owners, x->events, x->reads, x->looks, x->missed, kills);
	hammer_segment_end(&s);
}

/* What lies on either side of a bound is in the bucket on that side, and buckets that are looked up are those computed. */
static void
check_histogram(void)
{
	for (uint32_t bucket = 1; bucket < PFS_HISTOGRAM_BUCKETS; bucket++)
	{
		uint64_t	low = pfs_histogram_low(bucket);

		if (pfs_histogram_bucket_computed(low) != bucket || pfs_histogram_bucket_computed(low - 1) != bucket - 1)
			hammer_fail("bucket %u does not begin with %lu", bucket, low);
	}
	for (uint64_t value = 0; value < 2 * PFS_HISTOGRAM_SHORT; value++)
	{
		if (pfs_histogram_bucket(value) != pfs_histogram_bucket_computed(value))
			hammer_fail("value %lu is in bucket %u", value, pfs_histogram_bucket(value));
	}
}

void
hammer_cell(void)
{
	check_histogram();
	run_cell(1, 0);
	run_cell(2, 0);
	run_cell(7, 0);
	run_cell(300, 0);
	run_cell(7, 4);
	run_cell(300, 4);
	run_cell(30, 1);
}
