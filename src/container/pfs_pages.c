/*
 * pfs_pages.c
 *	  Record pages: reservation, search, opening and retiring of pages.
 *
 * The rule everything rests on (README.md has the proof):
 *
 *	  FREE records in pages that are searched >= unreserved units + reservations
 *
 * An allocation first reserves a unit, so a record is certain to exist for it
 * and it searches until it has one.  It thinks of opening a page, or of
 * failing, only when there was no unit to reserve.  Each step below says on
 * which side of the rule it adds or takes away; a process that is killed
 * between two steps leaves the left side too large, which costs records but
 * never stops anyone.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pfs_pages.h"
#include "pfs_seqlock.h"

/*
 * How often an allocation looks again at a page that someone else is opening
 * or retiring.  About the time of one madvise(); a process that sleeps longer
 * there is not waited for.
 */
#define PFS_PAGES_PATIENCE	256

#define UNITS(available)	((uint32_t) (available))
#define OPENED(available)	((uint32_t) ((available) >> 32))
#define ONE_PAGE_OPENED		(UINT64_C(1) << 32)

static uint32_t
page_size(const PfsPages *c, uint32_t page)
{
	uint32_t	first = page * c->records_per_page;
	uint32_t	left = c->records_max - first;

	return left < c->records_per_page ? left : c->records_per_page;
}

static char *
page_memory(const PfsPages *c, uint32_t page)
{
	return c->memory + page * c->page_bytes;
}

static inline bool
page_searched(const PfsPages *c, uint32_t page, uint64_t available)
{
	return page < OPENED(available) &&
		pfs_load_acquire(&c->page_state[page]) != PFS_PAGE_RETIRED;
}

/*
 * Does the system take back a page that has been written to?  0, its error, or
 * PFS_PAGES_KEPT: an emulator that says so and keeps the bytes.  Nobody has used the page yet.
 */
static int
try_removing(char *memory, size_t bytes)
{
	volatile char *first = memory;
	volatile char *last = memory + bytes - 1;

	int			result;

	*first = *last = 1;
	result = madvise(memory, bytes, MADV_REMOVE) == 0 ? 0 : errno;
	if (result == 0 && (*first != 0 || *last != 0))
		result = PFS_PAGES_KEPT;
	if (result != 0)
		*first = *last = 0;
	else
		/* Looking has brought pages of zeros back. */
		(void) madvise(memory, bytes, MADV_REMOVE);
	return result;
}

/*
 * Lays out a container: states outside of the pages that hold the records, since pages
 * can be given back to the system.
 */
PfsPages *
pfs_pages_create(PfsSegment *seg, const char *name, size_t record_size, uint32_t records_max,
				 uint32_t per_page)
{
	size_t		os_page = seg->os_page;
	size_t		start = seg->used;
	uint32_t	pages_max = 0;
	size_t		page_bytes = 0;
	uint64_t   *state;
	uint32_t   *page_state;
	uint32_t   *page_used;
	char	   *memory;
	PfsPages   *c;

	if (per_page == 0)
		per_page = 1;
	if (per_page > records_max)
		per_page = records_max;
	if (per_page > 0)
	{
		size_t		fits;

		page_bytes = (per_page * record_size + os_page - 1) / os_page * os_page;
		/* The rounding is memory that is resident anyway: use it. */
		fits = page_bytes / record_size;
		per_page = fits < records_max ? fits : records_max;
		pages_max = records_max / per_page + (records_max % per_page != 0);
	}

	c = pfs_segment_take(seg, sizeof(PfsPages), PFS_CACHE_LINE);
	state = pfs_segment_take(seg, records_max * sizeof(uint64_t), PFS_CACHE_LINE);
	page_state = pfs_segment_take(seg, pages_max * sizeof(uint32_t), PFS_CACHE_LINE);
	page_used = pfs_segment_take(seg, pages_max * sizeof(uint32_t), PFS_CACHE_LINE);
	memory = pfs_segment_take(seg, pages_max * page_bytes, os_page);
	if (seg->base == NULL)
		return NULL;

	/* Everything that is not set here starts as zero, and is. */
	c->name = name;
	c->record_size = record_size;
	c->page_bytes = page_bytes;
	c->records_max = records_max;
	c->records_per_page = per_page > 0 ? per_page : 1;
	c->pages_max = pages_max;
	c->bytes_reserved = seg->used - start;
	c->memory = memory;
	c->state = state;
	c->page_state = page_state;
	c->page_used = page_used;
	if (pages_max > 0)
		c->reclaim_errno = seg->why_kept != 0 ? seg->why_kept : try_removing(memory, page_bytes);
	return c;
}

/* errno is the caller's: records are freed behind system calls of others. */
static bool
remove_memory(PfsPages *c, uint32_t page)
{
	int			save_errno = errno;
	bool		done = madvise(page_memory(c, page), c->page_bytes, MADV_REMOVE) == 0;

	errno = save_errno;
	return done;
}

/* One unit less, one reservation more. */
static bool
reserve(PfsPages *c)
{
	uint64_t	available = pfs_load_relaxed(&c->available);

	while (UNITS(available) > 0)
	{
		if (pfs_cas(&c->available, &available, available - 1))
			return true;
	}
	return false;
}

/* Set n records from first FREE again, which the caller holds DIRTY. */
static void
give_back(PfsPages *c, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		pfs_store_release(&c->state[i],
						  pfs_load_relaxed(&c->state[i]) & ~PFS_STATE_MASK);
}

/*
 * Make the records of a RETIRED page FREE again.  The caller moved it to
 * OPENING and so owns its DIRTY records.  A searcher that is still here from
 * the page's earlier life may take one at once; it has a reservation, for which
 * a record is left over elsewhere.
 */
static void
reopen_page(PfsPages *c, uint32_t page)
{
	uint32_t	n = page_size(c, page);

	give_back(c, page * c->records_per_page, n);
	/* n records more; n - 1 units and our own reservation */
	pfs_add_seqcst(&c->available, n - 1);
	pfs_store_release(&c->page_state[page], PFS_PAGE_PRESENT);
}

/*
 * There was no unit to reserve.  Open a page and keep one reservation, or take
 * a unit that turned up meanwhile.  False: see pfs_pages_allocate.
 *
 * `used` is raised after a record is taken and lowered before it is freed: where it
 * says that all are in use, none was free at that moment, and no page needs to be
 * looked at.  So a container that stays full costs little.
 */
static bool
open_page(PfsPages *c, uint32_t *hint)
{
	int			patience = PFS_PAGES_PATIENCE;

	if (pfs_pages_is_full(c))
		return false;
	for (;;)
	{
		uint64_t	retirals = pfs_load_acquire(&c->retirals);
		uint64_t	available = pfs_load_acquire(&c->available);
		bool		moving = false;

		for (uint32_t page = 0; page < OPENED(available); page++)
		{
			uint32_t	state = pfs_load_acquire(&c->page_state[page]);

			/* Its opener is about to add units: give it a little time. */
			while (state == PFS_PAGE_OPENING && patience > 0)
			{
				patience--;
				pfs_pause();
				if (reserve(c))
					return true;
				state = pfs_load_acquire(&c->page_state[page]);
			}
			if (state == PFS_PAGE_RETIRED)
			{
				if (reserve(c))
					return true;
				if (pfs_cas(&c->page_state[page], &state, PFS_PAGE_OPENING))
				{
					reopen_page(c, page);
					*hint = page * c->records_per_page + 1;
					return true;
				}
			}
			if (state != PFS_PAGE_PRESENT)
				moving = true;
		}

		available = pfs_load_acquire(&c->available);
		if (UNITS(available) > 0)
		{
			if (reserve(c))
				return true;
			continue;
		}
		if (OPENED(available) < c->pages_max)
		{
			/* n records more; n - 1 units and our own reservation */
			uint32_t	page = OPENED(available);
			uint64_t	opened = available + ONE_PAGE_OPENED + page_size(c, page) - 1;

			if (pfs_cas(&c->available, &available, opened))
			{
				*hint = page * c->records_per_page + 1;
				return true;
			}
			continue;
		}
		if (moving && patience > 0)
		{
			patience--;
			pfs_pause();
			continue;
		}

		/*
		 * No unit when available was read, and the pages were looked at
		 * before. A page that is RETIRED at that moment was so all the time,
		 * and was seen, or began to retire after retirals was read: look
		 * again.
		 */
		if (pfs_load_acquire(&c->retirals) == retirals)
			return false;
	}
}

/*
 * A position of the caller's own.  The first time, the page that served someone
 * last and a record that depends on who we are.
 */
static uint32_t
start_position(PfsPages *c, const uint32_t *hint)
{
	uint32_t	page;
	uint64_t	seed;

	if (*hint != 0)
		return (*hint - 1) < c->records_max ? *hint - 1 : (*hint - 1) % c->records_max;
	page = pfs_load_relaxed(&c->hint);
	seed = ((uint64_t) getpid() + ((uintptr_t) hint >> 3)) * UINT64_C(0x9E3779B97F4A7C15);
	return page * c->records_per_page + (uint32_t) (seed >> 32) % page_size(c, page);
}

/* Find the record that our reservation stands for. */
static uint32_t
take_record(PfsPages *c, uint32_t *hint)
{
	uint32_t	start = start_position(c, hint);
	uint32_t	page = start / c->records_per_page;
	uint32_t	offset = start % c->records_per_page;

	for (;;)
	{
		uint64_t	available = pfs_load_acquire(&c->available);
		uint32_t	n = page_size(c, page);

		/* page_used is never too large, so a page that looks full is. */
		if (page_searched(c, page, available) &&
			pfs_load_acquire(&c->page_used[page]) < n)
		{
			uint32_t	first = page * c->records_per_page;

			for (uint32_t i = 0, at = offset < n ? offset : 0; i < n; i++)
			{
				uint64_t   *word = &c->state[first + at];
				uint64_t	old = pfs_load_relaxed(word);

				if ((old & PFS_STATE_MASK) == PFS_STATE_FREE &&
					pfs_cas(word, &old, old | PFS_STATE_DIRTY))
				{
					pfs_add_seqcst(&c->page_used[page], 1);
					if (pfs_load_relaxed(&c->hint) != page)
						pfs_store_relaxed(&c->hint, page);
					*hint = first + at + 1;
					return first + at;
				}
				if (++at == n)
					at = 0;
			}
		}
		if (++page >= OPENED(available))
			page = 0;
	}
}

/*
 * Reserves a record, opening a page where no free record is left, then searches for one;
 * by the reservation the search ends.  A failure is counted once.
 */
uint32_t
pfs_pages_allocate(PfsPages *c, uint32_t *hint)
{
	uint32_t	index;
	uint64_t	used;
	uint64_t	high;

	if (c->records_max == 0)
		return PFS_NO_RECORD;
	if (!reserve(c) && !open_page(c, hint))
	{
		pfs_pages_count_lost(c);
		return PFS_NO_RECORD;
	}
	index = take_record(c, hint);

	/*
	 * E: the word is no longer the one that readers of the last owner hold,
	 * before any byte of ours can be seen.  Pairs with F in pfs_pages_copy.
	 */
	pfs_fence_release();

	used = pfs_add_relaxed(&c->used, 1) + 1;
	high = pfs_load_relaxed(&c->high_water);
	while (used > high && !pfs_cas(&c->high_water, &high, used))
		;
	return index;
}

uint64_t
pfs_pages_publish(PfsPages *c, uint32_t index)
{
	uint64_t	word = pfs_load_relaxed(&c->state[index]);

	word = (word & ~PFS_STATE_MASK) + PFS_VERSION_INC + PFS_STATE_ALLOCATED;
	/* G: who sees this word sees the whole record.  Pairs with H. */
	pfs_store_release(&c->state[index], word);
	return word;
}

bool
pfs_pages_claim(PfsPages *c, uint32_t index, uint64_t word)
{
	uint64_t	dirty = (word & ~PFS_STATE_MASK) | PFS_STATE_DIRTY;

	if ((word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED ||
		!pfs_cas(&c->state[index], &word, dirty))
		return false;
	/* E': as E, for what the claimer changes in place. */
	pfs_fence_release();
	return true;
}

/*
 * Give an empty page back to the system, if as many units as another page has
 * records remain: so one empty page stays, and a load that goes up and down by
 * a record does not open and retire all the time.
 */
static bool
retire_page(PfsPages *c, uint32_t page)
{
	uint32_t	first = page * c->records_per_page;
	uint32_t	n = page_size(c, page);
	uint32_t	claimed;
	uint32_t	state = PFS_PAGE_PRESENT;
	uint64_t	available = pfs_load_acquire(&c->available);

	if (UNITS(available) < n + c->records_per_page ||
		pfs_load_relaxed(&c->page_used[page]) != 0 ||
		!pfs_cas(&c->page_state[page], &state, PFS_PAGE_RETIRING))
		return false;

	/* Between RETIRING and RETIRED: what open_page's last look relies on. */
	pfs_add_seqcst(&c->retirals, 1);

	/* n units less, n reservations more: ours */
	do
	{
		if (UNITS(available) < n + c->records_per_page)
		{
			pfs_store_release(&c->page_state[page], PFS_PAGE_PRESENT);
			return false;
		}
	} while (!pfs_cas(&c->available, &available, available - n));

	for (claimed = 0; claimed < n; claimed++)
	{
		uint64_t	word = pfs_load_relaxed(&c->state[first + claimed]);

		if ((word & PFS_STATE_MASK) != PFS_STATE_FREE ||
			!pfs_cas(&c->state[first + claimed], &word, word | PFS_STATE_DIRTY))
			break;
	}

	/* All of it is ours, so nobody reads or writes this memory in earnest. */
	if (claimed == n && remove_memory(c, page))
	{
		pfs_store_release(&c->page_state[page], PFS_PAGE_RETIRED);
		pfs_add_relaxed(&c->pages_reclaimed, 1);
		return true;
	}

	/* Someone was faster with a record, or the system refused. */
	give_back(c, first, claimed);
	pfs_add_seqcst(&c->available, n);
	pfs_store_release(&c->page_state[page], PFS_PAGE_PRESENT);
	return false;
}

/*
 * This page became empty.  Others may have been left empty when there was
 * nothing to spare, or when two of us got in each other's way; they are looked
 * at too, as nobody else will.
 */
static void
retire_empty_pages(PfsPages *c, uint32_t page)
{
	uint64_t	available;

	retire_page(c, page);
	available = pfs_load_acquire(&c->available);
	for (page = 0; page < OPENED(available) && UNITS(available) > c->records_per_page; page++)
	{
		if (pfs_load_relaxed(&c->page_used[page]) == 0 &&
			pfs_load_relaxed(&c->page_state[page]) == PFS_PAGE_PRESENT)
		{
			retire_page(c, page);
			available = pfs_load_acquire(&c->available);
		}
	}
}

/*
 * Gives a record back that the caller has claimed.  Whoever frees the last record of a
 * page retires the page.
 */
void
pfs_pages_free(PfsPages *c, uint32_t index)
{
	uint32_t	page = index / c->records_per_page;
	bool		empty;

	/* Counters first: neither may ever say more than what is in use. */
	pfs_sub_seqcst(&c->used, 1);
	empty = pfs_sub_seqcst(&c->page_used[page], 1) == 1;
	/* one record more, then one unit more */
	give_back(c, index, 1);
	pfs_add_seqcst(&c->available, 1);
	if (empty && c->reclaim_errno == 0)
		retire_empty_pages(c, page);
}

void *
pfs_pages_make(PfsPages *c, uint32_t *hint)
{
	uint32_t	index = pfs_pages_allocate(c, hint);
	void	   *record;

	if (index == PFS_NO_RECORD)
		return NULL;
	record = pfs_pages_record(c, index);
	memset(record, 0, c->record_size);
	pfs_pages_publish(c, index);
	return record;
}

void
pfs_pages_discard(PfsPages *c, const void *record)
{
	uint32_t	index = pfs_pages_index(c, record);

	if (pfs_pages_claim(c, index, pfs_pages_word(c, index)))
		pfs_pages_free(c, index);
}

bool
pfs_pages_copy(PfsPages *c, uint32_t index, size_t off, void *dst, size_t len,
			   uint64_t *word)
{
	uint64_t	before = pfs_load_acquire(&c->state[index]);	/* H: pairs with G */

	if ((before & PFS_STATE_MASK) != PFS_STATE_ALLOCATED)
		return false;
	pfs_racy_copy(dst, (char *) pfs_pages_record(c, index) + off, len);
	pfs_fence_acquire();		/* F: pairs with E and E' */
	*word = before;
	return pfs_load_relaxed(&c->state[index]) == before;
}

/* Steps through the ALLOCATED records of the pages that are present. */
uint32_t
pfs_pages_next(PfsPages *c, uint32_t *pos, uint64_t *word)
{
	uint32_t	index = *pos;

	while (index < c->records_max)
	{
		uint32_t	page = index / c->records_per_page;
		uint32_t	end = page * c->records_per_page + page_size(c, page);
		uint64_t	available = pfs_load_acquire(&c->available);

		if (page >= OPENED(available))
			break;
		if (!page_searched(c, page, available))
		{
			index = end;
			continue;
		}
		for (; index < end; index++)
		{
			*word = pfs_load_acquire(&c->state[index]);
			if ((*word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED)
			{
				*pos = index + 1;
				return index;
			}
		}
	}
	*pos = c->records_max;
	return PFS_NO_RECORD;
}

/* Reads the counters one by one: together they need not belong to one moment. */
void
pfs_pages_stats(PfsPages *c, PfsPagesStats *stats)
{
	uint64_t	available = pfs_load_acquire(&c->available);

	stats->records_max = c->records_max;
	stats->records_used = pfs_load_relaxed(&c->used);
	stats->records_high_water = pfs_load_relaxed(&c->high_water);
	stats->records_lost = pfs_load_relaxed(&c->lost);
	stats->pages_max = c->pages_max;
	stats->pages_resident = 0;
	for (uint32_t page = 0; page < OPENED(available); page++)
		stats->pages_resident += page_searched(c, page, available);
	stats->pages_reclaimed = pfs_load_relaxed(&c->pages_reclaimed);
	stats->bytes_reserved = c->bytes_reserved;
	stats->bytes_resident = stats->pages_resident * c->page_bytes;
}

void
pfs_pages_reset_stats(PfsPages *c)
{
	pfs_store_relaxed(&c->lost, 0);
	pfs_store_relaxed(&c->pages_reclaimed, 0);
	/* A peak reached in between is overwritten: it belongs to neither side. */
	pfs_store_relaxed(&c->high_water, pfs_load_relaxed(&c->used));
}

void
pfs_pages_count_lost(PfsPages *c)
{
	pfs_add_relaxed(&c->lost, 1);
}

const char *
pfs_pages_name(const PfsPages *c)
{
	return c->name;
}

size_t
pfs_pages_record_size(const PfsPages *c)
{
	return c->record_size;
}

int
pfs_pages_reclaim_errno(const PfsPages *c)
{
	return c->reclaim_errno;
}
