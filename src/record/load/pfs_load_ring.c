/*
 * pfs_load_ring.c
 *	  The rings of the load history: storing and reading periods.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_guc.h"
#include "pfs_load_ring.h"
#include "pfs_shared.h"

PfsSharedLoad *pfs_shared_load = NULL;

static PfsItems *rings[PFS_NUM_LOAD_RESOLUTIONS];

static const char *const ring_names[PFS_NUM_LOAD_RESOLUTIONS] = {
	[PFS_LOAD_INTERVAL] = "load_history_seconds",
	[PFS_LOAD_MINUTE] = "load_history_minutes",
	[PFS_LOAD_TEN_MINUTES] = "load_history_ten_minutes",
};

/* Takes the containers; a resolution that is off has none. */
void
pfs_load_rings_lay_out(PfsSegment *seg)
{
	for (int r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		uint32		n = pfs_load_history_size[r];

		/* The largest period fits in, however few there are. */
		rings[r] = n == 0 ? NULL
			: pfs_items_create(seg, ring_names[r], n,
							   Max(n * PFS_LOAD_CHUNKS_PER_PERIOD, pfs_item_chunks(PFS_LOAD_BYTES_MAX)));
	}
}

bool
pfs_load_ring_is_on(PfsLoadResolution resolution)
{
	return rings[resolution] != NULL;
}

uint32
pfs_load_generation(void)
{
	return pfs_load_acquire(&pfs_shared_load->generation);
}

/* ---- the writer ---- */

/* Removes the oldest period. */
static void
drop_oldest(PfsItems *items, PfsSharedLoadRing *ring)
{
	uint32		place = ring->first % items->nplaces;
	PfsLoadHead head;

	if (pfs_items_copy(items, place, &head, sizeof(head)) > 0)
		pfs_store_relaxed(&ring->rows, ring->rows - head.nrows);
	pfs_items_drop(items, place);
	ring->first++;
}

/*
 * Removes what a TRUNCATE has hidden, and periods of another length than what comes now: of the
 * finest resolution, when its setting has changed.
 */
static void
drop_others(PfsItems *items, PfsSharedLoadRing *ring, uint32 generation, uint16 seconds)
{
	PfsLoadHead head;

	while (ring->first < ring->next &&
		   pfs_items_copy(items, ring->first % items->nplaces, &head, sizeof(head)) > 0 &&
		   (head.generation != generation || head.resolution != seconds))
		drop_oldest(items, ring);
}

void
pfs_load_drop(PfsLoadResolution resolution)
{
	PfsSharedLoadRing *ring = &pfs_shared_load->rings[resolution];

	while (rings[resolution] != NULL && ring->first < ring->next)
		drop_oldest(rings[resolution], ring);
}

/* Stores a period behind all others; the number is what a reader finds it by, so it comes last. */
void
pfs_load_put(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, int nrows)
{
	PfsItems   *items = rings[resolution];
	PfsSharedLoadRing *ring = &pfs_shared_load->rings[resolution];
	PfsLoadHead numbered = *head;
	PfsLoadBytes bytes;
	uint32		nbytes;

	if (items == NULL)
		return;
	drop_others(items, ring, pfs_load_generation(), head->resolution);
	while (ring->next - ring->first >= items->nplaces)
		drop_oldest(items, ring);
	numbered.number = ring->next;
	nbytes = pfs_load_encode(&bytes, &numbered, rows, nrows);
	memset(bytes.bytes + nbytes, 0, TYPEALIGN(8, nbytes) - nbytes);
	while (!pfs_items_put(items, ring->next % items->nplaces, bytes.words, nbytes) && ring->first < ring->next)
	{
		drop_oldest(items, ring);
		items->lost++;
	}
	pfs_store_relaxed(&ring->rows, ring->rows + nrows);
	pfs_store_release(&ring->next, ring->next + 1);
}

/* ---- readers ---- */

static bool
is_wanted(const PfsLoadHead *head, const PfsLoadRange *range)
{
	return head->begin >= range->begin_min && head->begin <= range->begin_max &&
		head->end >= range->end_min && head->end <= range->end_max;
}

/*
 * Goes through the periods of a ring.  One that is overwritten meanwhile was the oldest one:
 * its place then has no period, or one with another number.
 */
void
pfs_load_read(PfsLoadResolution resolution, const PfsLoadRange *range, PfsLoadEmit emit, void *arg)
{
	const PfsItems *items = rings[resolution];
	uint32		generation;
	uint64		next;
	PfsLoadBytes bytes;
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];

	if (items == NULL)
		return;
	generation = pfs_load_generation();
	next = pfs_load_acquire(&pfs_shared_load->rings[resolution].next);
	for (uint64 number = next < items->nplaces ? 0 : next - items->nplaces; number < next; number++)
	{
		uint32		place = number % items->nplaces;
		uint32		nbytes;

		if (pfs_items_copy(items, place, &bytes, sizeof(PfsLoadHead)) == 0 || bytes.head.number != number ||
			bytes.head.generation != generation || !is_wanted(&bytes.head, range))
			continue;
		nbytes = pfs_items_copy(items, place, &bytes, sizeof(bytes));
		if (nbytes == 0 || bytes.head.number != number)
			continue;
		pfs_load_decode(&bytes, rows);
		emit(resolution, &bytes.head, rows, arg);
	}
}

/*
 * Where a resolution begins: with its oldest period.  One that came later and begins earlier is of a clock
 * that was set back.
 */
static void
begin_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	TimestampTz *begin = arg;

	if (*begin == DT_NOEND)
		*begin = head->begin;
}

/* Who is given the periods of a time, and the latest end of one that was emitted. */
typedef struct Best
{
	PfsLoadEmit emit;
	void	   *arg;
	TimestampTz end;
} Best;

static void
best_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	Best	   *to = arg;

	to->end = Max(to->end, head->end);
	to->emit(resolution, head, rows, to->arg);
}

/*
 * Chooses the resolution, which is the finest that goes back to the begin of the time, or as
 * far as any does; then the next finer one, from where that ends, and so on.  That is where the last
 * period ended that was emitted: one may have come since the resolution was looked at, and one of a clock
 * that was wrong for a while can end years later.
 */
void
pfs_load_read_best(TimestampTz since, TimestampTz till, PfsLoadEmit emit, void *arg)
{
	TimestampTz begins[PFS_NUM_LOAD_RESOLUTIONS];
	TimestampTz oldest = DT_NOEND;
	PfsLoadRange range = PFS_LOAD_EVERYTHING;
	int			best = -1;

	if (since >= till)
		return;
	for (int r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		begins[r] = DT_NOEND;
		pfs_load_read(r, &PFS_LOAD_EVERYTHING, begin_cb, &begins[r]);
		oldest = Min(oldest, begins[r]);
	}
	for (int r = PFS_NUM_LOAD_RESOLUTIONS - 1; r >= 0; r--)
	{
		if (begins[r] <= Max(since, oldest))
			best = r;
	}

	/* Both bounds are of the range, but neither touches a period. */
	range.begin_max = till - 1;
	range.end_min = since + 1;
	for (int r = best; r >= 0; r--)
	{
		Best		to = {emit, arg, range.begin_min};

		pfs_load_read(r, &range, best_cb, &to);
		range.begin_min = to.end;
	}
}

static void
count_rows_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	*(int64 *) arg += head->nrows;
}

int64
pfs_load_truncate(void)
{
	int64		n = 0;

	for (int r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
		pfs_load_read(r, &PFS_LOAD_EVERYTHING, count_rows_cb, &n);
	pfs_add_seqcst(&pfs_shared_load->generation, 1);
	return n;
}

double
pfs_load_estimate(void)
{
	double		n = 0;

	for (int r = 0; pfs_shared_load != NULL && r < PFS_NUM_LOAD_RESOLUTIONS; r++)
		n += pfs_load_relaxed(&pfs_shared_load->rings[r].rows);
	return n;
}

/* ---- containers ---- */

/*
 * Fills the row of a container of items: a record is a chunk, and the pages are those of the
 * system.
 */
void
pfs_load_items_row(const PfsItems *items, const char *name, PfsContainerRow *row)
{
	memset(row, 0, sizeof(*row));
	row->name = name;
	row->record_size = PFS_ITEM_CHUNK;
	if (items == NULL)
		return;
	row->stats.records_max = items->nchunks;
	row->stats.records_used = pfs_load_relaxed(&items->used);
	row->stats.records_high_water = pfs_load_relaxed(&items->opened);
	row->stats.records_lost = pfs_load_relaxed(&items->lost);
	row->stats.pages_max = 1;
	row->stats.pages_resident = 1;
	row->stats.bytes_reserved = items->bytes_reserved;
	row->stats.bytes_resident = Min(pfs_items_resident(items), items->bytes_reserved);
}

void
pfs_load_container_row(int i, PfsContainerRow *row)
{
	pfs_load_items_row(rings[i], ring_names[i], row);
}

void
pfs_load_rings_reset_lost(void)
{
	for (int r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		if (rings[r] != NULL)
			pfs_store_relaxed(&rings[r]->lost, 0);
	}
}
