/*
 * pfs_pages.h
 *	  Record pages: fixed-size records that many processes allocate, publish,
 *	  read and free without locks, on pages that become resident when first
 *	  used and go back to the system when empty.
 *
 * Every record has one 64-bit state word outside the page memory: the low two
 * bits are FREE, DIRTY or ALLOCATED, the rest is a version that is raised at
 * DIRTY -> ALLOCATED.  README.md has the protocol and the proof.
 */
#ifndef PFS_PAGES_H
#define PFS_PAGES_H

#include "pfs_atomic.h"
#include "pfs_segment.h"

#define PFS_STATE_MASK		UINT64_C(3)
#define PFS_STATE_FREE		UINT64_C(0)
#define PFS_STATE_DIRTY		UINT64_C(1)
#define PFS_STATE_ALLOCATED UINT64_C(2)
#define PFS_VERSION_INC		UINT64_C(4)

#define PFS_NO_RECORD		UINT32_MAX

/*
 * States of a page that was opened before (page number below the high half of
 * available).  Allocators search all but the RETIRED ones.
 */
#define PFS_PAGE_PRESENT	0	/* in use or empty */
#define PFS_PAGE_OPENING	1	/* RETIRED before; one process frees its
								 * records */
#define PFS_PAGE_RETIRING	2	/* one process tries to give it back */
#define PFS_PAGE_RETIRED	3	/* not resident, all records DIRTY */

typedef struct PfsPages PfsPages;

/* What pfs.containers shows of one container. */
typedef struct PfsPagesStats
{
	uint64_t	records_max;
	uint64_t	records_used;
	uint64_t	records_high_water;
	uint64_t	records_lost;
	uint64_t	pages_max;
	uint64_t	pages_resident;
	uint64_t	pages_reclaimed;
	uint64_t	bytes_reserved; /* pages plus words */
	uint64_t	bytes_resident; /* of pages */
} PfsPagesStats;

/*
 * Lay out a container in seg; returns NULL in the sizing pass.  Call once per
 * fresh segment, in the process that creates it, before anyone else can see it.
 * name: a static string, as users see it.  record_size: bytes, a multiple of 8.
 * records_max 0: the container is off, allocation always fails and counts no loss.
 * per_page: records of a page, a wish; raised to what fills the os pages, lowered to
 * records_max.
 */
extern PfsPages *pfs_pages_create(PfsSegment *seg, const char *name, size_t record_size,
								  uint32_t records_max, uint32_t per_page);

/*
 * Allocate: the record comes back DIRTY (ours alone, invisible), its content
 * is whatever the last owner left, or zero.  Returns PFS_NO_RECORD, and counts
 * one loss, only if at some moment during the call no unreserved free record
 * existed and no page could be opened; a page that another process is just
 * giving back or reopening is waited for briefly, then counts as not openable.
 * *hint is the caller's process-local start position (0 at first).  Never
 * blocks on a sleeping process.
 */
extern uint32_t pfs_pages_allocate(PfsPages *c, uint32_t *hint);

/* DIRTY -> ALLOCATED by its owner; returns the new state word. */
extern uint64_t pfs_pages_publish(PfsPages *c, uint32_t index);

/*
 * ALLOCATED with exactly this word -> DIRTY.  True for one caller only: the
 * one that may now change or free the record.
 */
extern bool pfs_pages_claim(PfsPages *c, uint32_t index, uint64_t word);

/* DIRTY -> FREE by its owner; may retire the page (madvise). */
extern void pfs_pages_free(PfsPages *c, uint32_t index);

/*
 * The way of a record that is zero at first and never changes hands: allocates, zeroes
 * and publishes one, and returns its memory, or NULL for PFS_NO_RECORD; claims and frees
 * it.  It is reached by its address, which lies elsewhere: nobody else may claim it.
 */
extern void *pfs_pages_make(PfsPages *c, uint32_t *hint);
extern void pfs_pages_discard(PfsPages *c, const void *record);

/*
 * Copy len bytes at offset off of an ALLOCATED record; *word gets its state
 * word.  False if the record is not allocated or changed hands meanwhile.
 * Content that the owner changes in place is the owner's affair (seqlock).
 */
extern bool pfs_pages_copy(PfsPages *c, uint32_t index, size_t off,
						   void *dst, size_t len, uint64_t *word);

/*
 * Iterate over ALLOCATED records: start with *pos 0; returns the index or
 * PFS_NO_RECORD at the end.  Skips absent pages.  *word gets the state word.
 */
extern uint32_t pfs_pages_next(PfsPages *c, uint32_t *pos, uint64_t *word);

/*
 * The same as a loop's variable; of NULL there are no records:
 *
 *	  for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(c, &at);)
 *		  at.index and at.word are of one record
 */
typedef struct PfsPagesAt
{
	uint32_t	pos;
	uint32_t	index;
	uint64_t	word;
} PfsPagesAt;

#define PFS_PAGES_BEGIN ((PfsPagesAt) {0})

static inline bool
pfs_pages_each(PfsPages *c, PfsPagesAt *at)
{
	at->index = c == NULL ? PFS_NO_RECORD : pfs_pages_next(c, &at->pos, &at->word);
	return at->index != PFS_NO_RECORD;
}

extern void pfs_pages_stats(PfsPages *c, PfsPagesStats *stats);

/* TRUNCATE of containers: losses and reclaims to 0, high water to now. */
extern void pfs_pages_reset_stats(PfsPages *c);

/* A loss that the container's user noticed by itself. */
extern void pfs_pages_count_lost(PfsPages *c);
extern const char *pfs_pages_name(const PfsPages *c);
extern size_t pfs_pages_record_size(const PfsPages *c);

/* The system said that it took a page back, and its bytes were still there. */
#define PFS_PAGES_KEPT (-1)

/* It was not asked: who gives a huge page back loses its reservation, and may get none again. */
#define PFS_PAGES_HUGE (-2)

/* Nor was it where nobody knows whether the pages are huge. */
#define PFS_PAGES_UNKNOWN (-3)

/*
 * What madvise(MADV_REMOVE) did to a page at creation: 0, the errno with which the
 * system refuses, or one of the above; then pages are kept when empty.
 */
extern int	pfs_pages_reclaim_errno(const PfsPages *c);

/*
 * The struct is visible for the inline accessors only; everything else belongs to
 * pfs_pages.c.
 */
struct PfsPages
{
	/* set at creation, never changes */
	const char *name;
	size_t		record_size;
	size_t		page_bytes;		/* multiple of the os page */
	uint32_t	records_max;
	uint32_t	records_per_page;
	uint32_t	pages_max;
	int			reclaim_errno;
	size_t		bytes_reserved;
	char	   *memory;			/* pages_max * page_bytes, os-page aligned */
	uint64_t   *state;			/* [records_max] state words */
	uint32_t   *page_state;		/* [pages_max] PFS_PAGE_xxx */
	uint32_t   *page_used;		/* [pages_max] records owned, never more than
								 * are not FREE */

	/*
	 * Written by everyone, each group on a line of its own.  available: low
	 * half, the free records that nobody has reserved; high half, how many
	 * pages were ever opened, so that opening a new one is one step.
	 */
	uint64_t	available __attribute__((aligned(PFS_CACHE_LINE)));
	uint32_t	hint;			/* page of the last success; stored to only */
	uint64_t	retirals;		/* raised before a page becomes RETIRED */
	uint64_t	used __attribute__((aligned(PFS_CACHE_LINE)));
	uint64_t	high_water;
	uint64_t	lost;
	uint64_t	pages_reclaimed;
};

/* The record's memory.  Valid address for any index below records_max. */
static inline void *
pfs_pages_record(const PfsPages *c, uint32_t index)
{
	uint32_t	page = index / c->records_per_page;

	return c->memory + page * c->page_bytes +
		(index - page * c->records_per_page) * c->record_size;
}

/* The number of a record, from its memory. */
static inline uint32_t
pfs_pages_index(const PfsPages *c, const void *record)
{
	size_t		offset = (const char *) record - c->memory;
	uint32_t	page = offset / c->page_bytes;

	return page * c->records_per_page + (offset - page * c->page_bytes) / c->record_size;
}

/* The state word now; to be compared with one kept earlier. */
static inline uint64_t
pfs_pages_word(const PfsPages *c, uint32_t index)
{
	return pfs_load_acquire(&c->state[index]);
}

/* Records that have an owner now, as an estimate; of NULL, none. */
static inline uint64_t
pfs_pages_used(const PfsPages *c)
{
	return c == NULL ? 0 : pfs_load_relaxed(&c->used);
}

/* Is there any use in an allocation?  At this moment, without a promise. */
static inline bool
pfs_pages_is_full(const PfsPages *c)
{
	return pfs_load_relaxed(&c->used) >= c->records_max;
}

#endif							/* PFS_PAGES_H */
