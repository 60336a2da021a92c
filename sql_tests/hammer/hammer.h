/*
 * hammer.h
 *	  What the tests of the containers share: starting workers (processes, or
 *	  threads for ThreadSanitizer), failing, random numbers, TAP output.
 */
#ifndef HAMMER_H
#define HAMMER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pfs_pages.h"
#include "pfs_seqlock.h"

#define HAMMER_WORKERS_MAX 64

typedef struct HammerOptions
{
	double		seconds;		/* for everything */
	int			processes;
	bool		kill;			/* SIGKILL random workers and replace them */
	bool		threads;		/* threads instead of processes; excludes kill */
	double		share;			/* seconds of one test run */
} HammerOptions;

extern HammerOptions hammer_options;

typedef struct HammerRng
{
	uint64_t	state;
} HammerRng;

static inline uint32_t
hammer_random(HammerRng *rng, uint32_t below)
{
	rng->state = rng->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t) (((rng->state >> 32) * below) >> 32);
}

/* Now and then, give others the time to see a state that passes quickly. */
static inline void
hammer_pause(HammerRng *rng)
{
	if (hammer_random(rng, 2) == 0)
		usleep(hammer_random(rng, 500));
}

/* The cycle counter. */
static inline uint64_t
hammer_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t	t;

__asm__ __volatile__("mrs %0, cntvct_el0":"=r"(t));
	return t;
#endif
}

/*
 * A worker runs until hammer_going() is false and leaves nothing allocated.
 * id is below 2^20 and never used twice in a test, place is below the number of
 * workers: a replacement of a killed worker has its place and a new id.
 */
typedef void (*HammerWorker) (void *context, uint32_t id, uint32_t place, HammerRng *rng);

/* Runs workers for one share of the time; returns how many were killed. */
extern uint32_t hammer_run(HammerWorker worker, void *context);

/*
 * The same, and longer if this has not seen what the test is about: on a busy
 * machine a short share can pass before some worker had a turn.
 */
typedef bool (*HammerEnough) (const void *context);
extern uint32_t hammer_run_until(HammerWorker worker, void *context, HammerEnough enough);
extern bool hammer_going(void);

/* Ends the test; only the first call's message is kept. */
extern void hammer_fail(const char *format,...) __attribute__((format(printf, 1, 2)));
extern bool hammer_failed(void);

#define HAMMER_CHECK(condition, ...) \
	do { if (!(condition)) { hammer_fail(__VA_ARGS__); return; } } while (0)

/* One test ends: prints its line.  The figures are for the reader's eye. */
extern void hammer_done(const char *name, const char *format,...) __attribute__((format(printf, 2, 3)));

/* Zeroed shared memory. */
extern void *hammer_share(size_t size);
extern void hammer_unshare(void *memory, size_t size);

/*
 * A segment in shared memory of the size that a sizing pass found:
 * for (hammer_segment_begin(&s); hammer_segment_pass(&s);) lay out in s.seg.
 */
typedef struct HammerSegment
{
	PfsSegment	seg;
	size_t		size;
	int			pass;
} HammerSegment;

extern void hammer_segment_begin(HammerSegment *s);
extern bool hammer_segment_pass(HammerSegment *s);
extern void hammer_segment_end(HammerSegment *s);

/*
 * For ThreadSanitizer, which judges plain memory only, while what containers hold
 * is copied by atomic words: a plain word beside each thing that is published.  It is
 * written once, before that, and read by whoever got the thing.  So an edge of
 * src/container/README.md that is missing is a race of two plain accesses.  With
 * threads only; the first `n` things have such a word.
 */
typedef struct HammerWitness
{
	uint64_t   *words;			/* NULL: processes */
	uint64_t	n;
} HammerWitness;

extern void hammer_witness_begin(HammerWitness *w);
extern void hammer_witness_end(HammerWitness *w);

static inline void
hammer_bear(const HammerWitness *w, uint64_t thing, uint64_t value)
{
	if (thing < w->n)
		w->words[thing] = value;
}

static inline bool
hammer_borne(const HammerWitness *w, uint64_t thing, uint64_t value)
{
	return thing >= w->n || w->words[thing] == value;
}

extern uint64_t hammer_count_resident(const void *memory, size_t size);
extern bool hammer_takes_back(void);

/* Pattern that fills words 1.. of an item led by a word 0. */
static inline void
hammer_fill(uint64_t *words, uint32_t from, uint32_t n, uint64_t base)
{
	for (uint32_t i = from; i < n; i++)
		pfs_store_relaxed(&words[i], base + i * UINT64_C(0x9E3779B97F4A7C15));
}

static inline bool
hammer_whole(const uint64_t *words, uint32_t from, uint32_t n, uint64_t base)
{
	for (uint32_t i = from; i < n; i++)
		if (pfs_load_relaxed(&words[i]) != base + i * UINT64_C(0x9E3779B97F4A7C15))
			return false;
	return true;
}

extern void hammer_segment(void);
extern void hammer_pages(void);
extern void hammer_scenario(void);
extern void hammer_blocks(void);
extern void hammer_hash(void);
extern void hammer_cell(void);
extern void hammer_shared(void);
extern void hammer_sparse(void);
extern void hammer_items(void);
extern void hammer_private(void);
extern void hammer_cost(void);
extern void hammer_bench(void);

/* Only in a program that is linked with the library's own code, see record/. */
extern void hammer_lwlock(void) __attribute__((weak));
extern void hammer_pending(void) __attribute__((weak));
extern void hammer_levels(void) __attribute__((weak));
extern void hammer_digests(void) __attribute__((weak));

#endif							/* HAMMER_H */
