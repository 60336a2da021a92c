/*
 * hammer_bench.c
 *	  What the end of a wait costs when many processes have waits: an item into
 *	  the writer's ring, its numbers into one of the writer's cells, and one item
 *	  in PFS_LOG_GROUP with those before it into the log of all.  Figures, not a
 *	  test: items per second of all processes, and cycles of processor time of one.
 *
 * More processes than processors take turns, so it is the processor time that
 * counts, not the time that passes.
 */
#include <time.h>

#include "hammer.h"
#include "pfs_cell.h"
#include "pfs_log.h"
#include "pfs_ring.h"

#define ITEM_SIZE	(16 * sizeof(uint64_t))
#define LANES_MAX	8
#define CELLS		300
#define BATCH		(64 * PFS_LOG_GROUP)

typedef struct BenchWriter
{
	PfsSeqlock	lock;
	PfsRing		ring;
	PfsBlock	cells;
	uint64_t	items;
	uint64_t	nanoseconds;	/* of the processor, for these */
} __attribute__((aligned(2 * PFS_CACHE_LINE))) BenchWriter;

typedef struct BenchContext
{
	PfsLog	   *log;
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
end_of_wait(BenchWriter *w, uint64_t *item, uint64_t n)
{
	item[1] = n;
	pfs_seqlock_write_begin(&w->lock);
	memcpy(pfs_ring_spare(&w->ring, 0), item, ITEM_SIZE);
	pfs_ring_push(&w->ring, 0);
	pfs_cells_add(&w->cells, n % 16, n & 0xFFFF);
	pfs_seqlock_write_end(&w->lock);
}

static void
log_group(PfsLog *log, uint32_t lane, const uint64_t *item)
{
	PfsLogClaim claim;

	for (uint32_t done = 0; done < PFS_LOG_GROUP; done += claim.count)
	{
		if (!pfs_log_claim(log, lane, PFS_LOG_GROUP - done, &claim))
			return;				/* counted as lost */
		for (uint32_t i = 0; i < claim.count; i++)
			pfs_log_store_sized(&claim, i, item, ITEM_SIZE);
	}
}

static void
write_items(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	BenchContext *x = context;
	BenchWriter *w = &x->writers[place];
	uint32_t	lane = place % pfs_log_lanes(x->log);
	uint64_t	item[16] = {0};
	uint64_t	n = 0;
	uint64_t	start = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);

	(void) id;
	(void) rng;
	while (hammer_going())
	{
		for (uint64_t end = n + BATCH; n < end; n += PFS_LOG_GROUP)
		{
			for (uint32_t i = 0; i < PFS_LOG_GROUP; i++)
				end_of_wait(w, item, n + i);
			log_group(x->log, lane, item);
		}
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
	char	   *rings[HAMMER_WORKERS_MAX];
	char	   *cells[HAMMER_WORKERS_MAX];
	uint64_t	items = 0;
	uint64_t	ns = 0;
	uint64_t	elapsed;
	long		processors = sysconf(_SC_NPROCESSORS_ONLN);

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x->log = pfs_log_create(&s.seg, processors < LANES_MAX ? processors : LANES_MAX, 10000, ITEM_SIZE);
		for (int i = 0; i < hammer_options.processes; i++)
		{
			rings[i] = pfs_segment_take(&s.seg, pfs_ring_size(10, 1, ITEM_SIZE), PFS_CACHE_LINE);
			cells[i] = pfs_segment_take(&s.seg, pfs_block_size(CELLS, sizeof(PfsCell)), PFS_CACHE_LINE);
		}
	}
	for (int i = 0; i < hammer_options.processes; i++)
	{
		pfs_ring_init(&x->writers[i].ring, rings[i], 10, 1, ITEM_SIZE);
		pfs_block_init(&x->writers[i].cells, cells[i], CELLS, sizeof(PfsCell));
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
				(unsigned long) pfs_log_lost(x->log));
	hammer_segment_end(&s);
	hammer_unshare(x, sizeof(BenchContext));
}
