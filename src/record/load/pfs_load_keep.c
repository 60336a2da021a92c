/*
 * pfs_load_keep.c
 *	  What is kept of each period: the largest rows and the remainders; and the sums of
 *	  minutes and ten minutes, made of all rows of each period.
 *
 * The sums lie in private memory of the recorder, as nobody else needs them: when it ends,
 * what is under way ends with it.
 */
#include "postgres.h"

#include "storage/ipc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "pfs_guc.h"
#include "pfs_load_keep.h"
#include "pfs_load_text.h"

/* ---- the largest of many ---- */

/* Rows with the most time, as a heap with the smallest first, and the sums of the others. */
typedef struct Picked
{
	int			n;
	PfsLoadRow	largest[PFS_LOAD_LARGEST];
	PfsLoadRow	rest[PFS_NUM_LOAD_TYPES][PFS_NUM_LOAD_CLASSES];
} Picked;

/* Is a to be kept rather than b?  Of rows with the same time, the one with more events. */
static bool
is_larger(const PfsLoadRow *a, const PfsLoadRow *b)
{
	if (a->time != b->time)
		return a->time > b->time;
	if (a->count != b->count)
		return a->count > b->count;
	return pfs_load_compare_keys(&a->key, &b->key) < 0;
}

/* Adds what a row has to another one, which stands for several. */
static void
add_row(PfsLoadRow *sum, const PfsLoadRow *row)
{
	sum->time += row->time;
	sum->count += row->count;
	sum->longest = Max(sum->longest, row->longest);
}

/* Moves a row down the heap, from a place whose row is to go, to where it belongs. */
static void
sift_down(Picked *picked, int at, const PfsLoadRow *row)
{
	for (;;)
	{
		int			child = 2 * at + 1;

		if (child + 1 < picked->n && is_larger(&picked->largest[child], &picked->largest[child + 1]))
			child++;
		if (child >= picked->n || !is_larger(row, &picked->largest[child]))
			break;
		picked->largest[at] = picked->largest[child];
		at = child;
	}
	picked->largest[at] = *row;
}

/* Adds a row: it is among the largest, or it or the smallest of these goes to the others. */
static void
pick(Picked *picked, const PfsLoadRow *row)
{
	if (pfs_load_is_remainder(&row->key))
		add_row(&picked->rest[row->key.type][row->key.class], row);
	else if (picked->n < PFS_LOAD_LARGEST)
	{
		picked->largest[picked->n++] = *row;
		if (picked->n == PFS_LOAD_LARGEST)
		{
			for (int i = PFS_LOAD_LARGEST / 2 - 1; i >= 0; i--)
			{
				PfsLoadRow	moved = picked->largest[i];

				sift_down(picked, i, &moved);
			}
		}
	}
	else if (is_larger(row, &picked->largest[0]))
	{
		PfsLoadRow	smallest = picked->largest[0];

		add_row(&picked->rest[smallest.key.type][smallest.key.class], &smallest);
		sift_down(picked, 0, row);
	}
	else
		add_row(&picked->rest[row->key.type][row->key.class], row);
}

static int
compare_rows(const void *a, const void *b)
{
	return pfs_load_compare_keys(&((const PfsLoadRow *) a)->key, &((const PfsLoadRow *) b)->key);
}

/*
 * Makes the rows of a period of what was picked: the largest by key, then the remainders
 * that have something.  That of CPU is always there, so that a period without load can be
 * told from one that was not recorded.  Returns how many.
 */
static int
picked_rows(Picked *picked, PfsLoadRow *rows)
{
	int			n = picked->n;

	memcpy(rows, picked->largest, n * sizeof(PfsLoadRow));
	qsort(rows, n, sizeof(PfsLoadRow), compare_rows);
	for (int type = 0; type < PFS_NUM_LOAD_TYPES; type++)
	{
		for (int class = 0; class < PFS_NUM_LOAD_CLASSES; class++)
		{
			PfsLoadRow *row = &picked->rest[type][class];

			if (row->time == 0 && row->count == 0 && row->longest == 0 &&
				(type != PFS_LOAD_FOREGROUND || class != PFS_LOAD_CPU))
				continue;
			row->key = (PfsLoadKey)
			{
				.type = type, .class = class, .instrument = PFS_LOAD_REMAINDER
			};
			rows[n++] = *row;
		}
	}
	return n;
}

/* ---- sums of longer periods ---- */

/* The sum of one key.  longest is that of the last period. */
typedef struct Sum
{
	PfsLoadRow	row;			/* begins with the key */
	uint64		tick;			/* the period that longest is of */
} Sum;

/*
 * Rows that the sums of a period have at most.  When there are more, the smaller half goes
 * to the remainders: what is among the largest in the end has hardly been among these, but
 * where it was, it lacks what it had until then.
 */
#define SUMS_MAX	65536

/* A minute or ten minutes under way. */
typedef struct UnderWay
{
	HTAB	   *sums;			/* of Sum; NULL: none is under way */
	MemoryContext context;
	PfsLoadHead head;			/* end and length so far */
	uint64		tick;			/* periods that were added, to any */
	Sum			rest[PFS_NUM_LOAD_TYPES][PFS_NUM_LOAD_CLASSES];
} UnderWay;

static UnderWay under_way[PFS_NUM_LOAD_RESOLUTIONS];

/* Seconds of a period. */
static const int resolution_seconds[PFS_NUM_LOAD_RESOLUTIONS] = {
	[PFS_LOAD_MINUTE] = 60,
	[PFS_LOAD_TEN_MINUTES] = 600,
};

static void
add_to_sum(Sum *sum, const PfsLoadRow *row, uint64 tick)
{
	if (sum->tick != tick)
		sum->row.longest = 0;
	sum->tick = tick;
	add_row(&sum->row, row);
}

static int
compare_sums(const void *a, const void *b)
{
	const PfsLoadRow *x = &((const Sum *) a)->row;
	const PfsLoadRow *y = &((const Sum *) b)->row;

	return is_larger(x, y) ? -1 : is_larger(y, x) ? 1 : 0;
}

/* Moves the smaller half of the sums to the remainders. */
static void
evict_smaller_half(UnderWay *u)
{
	long		n = hash_get_num_entries(u->sums);
	Sum		   *all = MemoryContextAlloc(u->context, n * sizeof(Sum));
	long		i = 0;
	HASH_SEQ_STATUS status;
	Sum		   *sum;

	hash_seq_init(&status, u->sums);
	while ((sum = hash_seq_search(&status)) != NULL)
		all[i++] = *sum;
	qsort(all, n, sizeof(Sum), compare_sums);
	for (i = n / 2; i < n; i++)
	{
		Sum		   *rest = &u->rest[all[i].row.key.type][all[i].row.key.class];

		if (all[i].tick != u->tick)
			all[i].row.longest = 0;
		add_to_sum(rest, &all[i].row, u->tick);
		(void) hash_search(u->sums, &all[i].row.key, HASH_REMOVE, NULL);
	}
	pfree(all);
}

/* Begins a longer period with this one. */
static void
begin(UnderWay *u, PfsLoadResolution resolution, const PfsLoadPeriod *period, uint32 generation)
{
	HASHCTL		ctl = {.keysize = sizeof(PfsLoadKey), .entrysize = sizeof(Sum)};

	u->context = AllocSetContextCreate(TopMemoryContext, "pfs load sums", ALLOCSET_DEFAULT_SIZES);
	ctl.hcxt = u->context;
	u->sums = hash_create("pfs load sums", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memset(u->rest, 0, sizeof(u->rest));
	u->head = (PfsLoadHead)
	{
		.begin = period->begin, .generation = generation, .resolution = resolution_seconds[resolution]
	};
}

static void
forget(UnderWay *u)
{
	if (u->sums != NULL)
		MemoryContextDelete(u->context);
	u->sums = NULL;
}

/* Makes the rows of a longer period as it is now.  Returns how many. */
static int
rows_of(UnderWay *u, PfsLoadRow *rows)
{
	Picked		picked = {0};
	HASH_SEQ_STATUS status;
	Sum		   *sum;

	for (int type = 0; type < PFS_NUM_LOAD_TYPES; type++)
	{
		for (int class = 0; class < PFS_NUM_LOAD_CLASSES; class++)
		{
			picked.rest[type][class] = u->rest[type][class].row;
			if (u->rest[type][class].tick != u->tick)
				picked.rest[type][class].longest = 0;
		}
	}
	hash_seq_init(&status, u->sums);
	while ((sum = hash_seq_search(&status)) != NULL)
	{
		PfsLoadRow	row = sum->row;

		/*
		 * What ran at the end of an earlier period is not running at this
		 * one's.
		 */
		if (sum->tick != u->tick)
			row.longest = 0;
		pick(&picked, &row);
	}
	return picked_rows(&picked, rows);
}

/* Ends a longer period: it is kept, unless a TRUNCATE came in between. */
static void
end(UnderWay *u, PfsLoadResolution resolution)
{
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];
	int			n;

	if (u->sums != NULL && u->head.generation == pfs_load_generation())
	{
		n = rows_of(u, rows);
		pfs_load_put(resolution, &u->head, rows, n);
		pfs_load_texts_name(rows, n);
	}
	forget(u);
}

/* Adds a period to a longer one. */
static void
add(UnderWay *u, const PfsLoadPeriod *period, const PfsLoadRow *rows, int nrows)
{
	u->tick++;
	u->head.end = period->end;
	u->head.length += period->length;
	for (int i = 0; i < nrows; i++)
	{
		Sum		   *sum;
		bool		found;

		if (hash_get_num_entries(u->sums) >= SUMS_MAX)
			evict_smaller_half(u);
		sum = hash_search(u->sums, &rows[i].key, HASH_ENTER, &found);
		if (!found)
		{
			sum->row = (PfsLoadRow)
			{
				.key = rows[i].key
			};
			sum->tick = u->tick;
		}
		add_to_sum(sum, &rows[i], u->tick);
	}
}

/*
 * The number of the minute, or ten minutes, that a time is in.  Ticks come at whole seconds,
 * a little late: one that came too early would be in the minute before.
 */
static int64
number_of(TimestampTz time, PfsLoadResolution resolution)
{
	return (time + USECS_PER_SEC / 2) / (resolution_seconds[resolution] * USECS_PER_SEC);
}

/* ---- the recorder ---- */

/* The process ends, in whichever way but by a crash. */
static void
end_cb(int code, Datum arg)
{
	pfs_load_keep_end();
}

/*
 * Keeps a period, and adds it to those that are longer.  Where it does not follow on the last
 * one, these end with that.
 */
void
pfs_load_keep(const PfsLoadPeriod *period, PfsLoadRow *rows, int nrows)
{
	uint32		generation = pfs_load_generation();
	int			seconds = Max(pfs_load_interval, 1);
	PfsLoadHead head = {period->begin, period->end, period->length, 0, generation, seconds, 0};
	PfsLoadRow	largest[PFS_LOAD_ROWS_MAX];
	Picked		picked = {0};
	static bool watched = false;
	int			n;

	if (!watched)
		before_shmem_exit(end_cb, 0);
	watched = true;
	for (int i = 0; i < nrows; i++)
		pick(&picked, &rows[i]);
	n = picked_rows(&picked, largest);

	/* With an interval of a minute, that is what there is of each minute. */
	if (seconds < resolution_seconds[PFS_LOAD_MINUTE] || !pfs_load_ring_is_on(PFS_LOAD_MINUTE))
		pfs_load_put(PFS_LOAD_INTERVAL, &head, largest, n);
	else
		pfs_load_drop(PFS_LOAD_INTERVAL);
	pfs_load_texts_name(largest, n);

	for (PfsLoadResolution r = PFS_LOAD_MINUTE; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		UnderWay   *u = &under_way[r];

		if (!pfs_load_ring_is_on(r))
			continue;
		if (u->sums != NULL && (!period->follows || u->head.end != period->begin || u->head.generation != generation))
			end(u, r);
		if (u->sums == NULL)
			begin(u, r, period, generation);
		add(u, period, rows, nrows);
		if (number_of(period->end, r) > number_of(u->head.begin, r))
			end(u, r);
	}
}

void
pfs_load_keep_end(void)
{
	for (PfsLoadResolution r = PFS_LOAD_MINUTE; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
		end(&under_way[r], r);
}

void
pfs_load_under_way(PfsLoadResolution resolution, PfsLoadEmit emit, void *arg)
{
	UnderWay   *u = &under_way[resolution];
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];
	PfsLoadHead head;

	if (u->sums == NULL || u->head.generation != pfs_load_generation())
		return;
	head = u->head;
	head.nrows = rows_of(u, rows);
	emit(resolution, &head, rows, arg);
}
