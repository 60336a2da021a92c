/*
 * hammer_bench.c
 *	  What the end of a wait costs when many processes have waits: an item into
 *	  the writer's block, and its numbers into one of the writer's cells.  Figures, not a
 *	  test: items per second of all processes, and cycles of processor time of one.
 *
 * More processes than processors take turns, so it is the processor time that
 * counts, not the time that passes.
 */
#include <time.h>

#include "hammer.h"
#include "pfs_blocks.h"
#include "pfs_cell.h"

#define ITEM_SIZE	(8 * sizeof(uint64_t))
#define LANES_MAX	8
#define CELLS		300
#define BATCH		1024

typedef struct BenchWriter
{
	PfsSeqlock	lock;
	PfsBlockWriter finished;
	char		own[64] __attribute__((aligned(8)));
	PfsBlock	cells;
	uint64_t	items;
	uint64_t	nanoseconds;	/* of the processor, for these */
} __attribute__((aligned(2 * PFS_CACHE_LINE))) BenchWriter;

typedef struct BenchContext
{
	PfsBlocks  *blocks;
	BenchWriter writers[HAMMER_WORKERS_MAX];
} BenchContext;

static uint64_t
nanoseconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
}

static inline void
end_of_wait(PfsBlocks *blocks, BenchWriter *w, uint32_t lane, uint64_t *item, uint64_t n)
{
	item[1] = n;
	pfs_seqlock_write_begin(&w->lock);
	if (pfs_block_has_room(&w->finished, ITEM_SIZE) || pfs_block_advance(blocks, &w->finished, lane, ITEM_SIZE))
	{
		memcpy(w->finished.next, item, ITEM_SIZE);
		pfs_block_done(&w->finished, ITEM_SIZE, PFS_BLOCK_COUNTS(1, 1));
	}
	pfs_cells_add(&w->cells, n % 16, n & 0xFFFF);
	pfs_seqlock_write_end(&w->lock);
}

static void
write_items(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	BenchContext *x = context;
	BenchWriter *w = &x->writers[place];
	uint32_t	lane = place % pfs_blocks_lanes(x->blocks);
	uint64_t	item[ITEM_SIZE / sizeof(uint64_t)] = {0};
	uint64_t	n = 0;
	uint64_t	start = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);

	(void) id;
	(void) rng;
	while (hammer_going())
	{
		for (uint64_t end = n + BATCH; n < end; n++)
			end_of_wait(x->blocks, w, lane, item, n);
	}
	w->items = n;
	w->nanoseconds = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* Ticks of the cycle counter in a nanosecond. */
static double
ticks_per_nanosecond(void)
{
	uint64_t	ns = nanoseconds_of(CLOCK_MONOTONIC);
	uint64_t	ticks = hammer_ticks();

	usleep(50000);
	ticks = hammer_ticks() - ticks;
	return (double) ticks / (nanoseconds_of(CLOCK_MONOTONIC) - ns);
}

void
hammer_bench(void)
{
	BenchContext *x = hammer_share(sizeof(BenchContext));
	HammerSegment s;
	char	   *cells[HAMMER_WORKERS_MAX];
	uint64_t	items = 0;
	uint64_t	ns = 0;
	uint64_t	elapsed;
	long		processors = sysconf(_SC_NPROCESSORS_ONLN);
	PfsBlocksSpec kept = {processors < LANES_MAX ? processors : LANES_MAX, 10000, 10, ITEM_SIZE, ITEM_SIZE,
	hammer_options.processes, 32 * ITEM_SIZE};

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x->blocks = pfs_blocks_create(&s.seg, &kept);
		for (int i = 0; i < hammer_options.processes; i++)
		{
			cells[i] = pfs_segment_take(&s.seg, pfs_block_size(CELLS, sizeof(PfsCell), 0), PFS_CACHE_LINE);
		}
	}
	for (int i = 0; i < hammer_options.processes; i++)
	{
		pfs_block_writer_init(&x->writers[i].finished, (PfsOwnBlocks *) x->writers[i].own);
		pfs_block_init(&x->writers[i].cells, cells[i], CELLS, sizeof(PfsCell), 0);
	}
	elapsed = nanoseconds_of(CLOCK_MONOTONIC);
	hammer_run(write_items, x);
	elapsed = nanoseconds_of(CLOCK_MONOTONIC) - elapsed;
	for (int i = 0; i < hammer_options.processes; i++)
	{
		items += x->writers[i].items;
		ns += x->writers[i].nanoseconds;
	}
	hammer_done("bench, end of a wait", "%d processes, %.1f cycles, %.0f per second, %lu lost", hammer_options.processes,
				items > 0 ? ns * ticks_per_nanosecond() / items : 0, items * 1e9 / elapsed,
				(unsigned long) pfs_blocks_lost(x->blocks));
	hammer_segment_end(&s);
	hammer_unshare(x, sizeof(BenchContext));
}
