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

#include "pfs_guc.h"
#include "pfs_load_keep.h"
#include "pfs_load_text.h"

/* ---- the largest of many ---- */

/* By their bytes: so those of one user in one database lie side by side. */
static int
compare_keys(const void *a, const void *b)
{
	return memcmp(&((const PfsLoadRow *) a)->key, &((const PfsLoadRow *) b)->key, sizeof(PfsLoadKey));
}

/* The largest, which is to be kept rather, first.  Of rows with the same time, the one with more events. */
static int
compare_sizes(const void *a, const void *b)
{
	const PfsLoadRow *x = a;
	const PfsLoadRow *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return compare_keys(x, y);
}

/* Adds what a row has to another one, which stands for several. */
static void
add_row(PfsLoadRow *sum, const PfsLoadRow *row)
{
	sum->time += row->time;
	sum->count += row->count;
	sum->longest = Max(sum->longest, row->longest);
}

void
pfs_load_add_to_rest(PfsLoadRow *rest, const PfsLoadRow *row)
{
	add_row(&rest[row->key.type * PFS_NUM_LOAD_CLASSES + row->key.class], row);
}

/*
 * PFS_LOAD_LARGEST of all rows stay, by key; the others go to the remainders in rest, of which those follow that have
 * something.  That of CPU is always there, so that a period without load can be told from one that was not recorded.
 */
int
pfs_load_rows_to_keep(const PfsLoadRow *all, int nall, PfsLoadRow *rest, PfsLoadRow *rows)
{
	int			n = Min(nall, PFS_LOAD_LARGEST);

	for (int i = 0; i < n; i++)
		rows[i] = all[i];
	qsort(rows, n, sizeof(PfsLoadRow), compare_keys);
	for (int i = n; i < nall; i++)
		pfs_load_add_to_rest(rest, &all[i]);
	for (int i = 0; i < PFS_LOAD_REMAINDERS; i++)
	{
		PfsLoadRow *row = &rest[i];

		row->key = (PfsLoadKey)
		{
			.type = i / PFS_NUM_LOAD_CLASSES, .class = i % PFS_NUM_LOAD_CLASSES, .instrument = PFS_LOAD_REMAINDER
		};
		if (row->time > 0 || row->count > 0 || row->longest > 0 ||
			(row->key.type == PFS_LOAD_FOREGROUND && row->key.class == PFS_LOAD_CPU))
			rows[n++] = *row;
	}
	return n;
}

/* ---- sums of longer periods ---- */

/*
 * Rows that the sums of a period have at most.  When there are more, the smaller half goes
 * to the remainders: what is among the largest in the end has hardly been among these, but
 * where it was, it lacks what it had until then.
 */
#define SUMS_MAX	65536

/* A minute or ten minutes under way. */
typedef struct UnderWay
{
	/*
	 * Of PfsLoadRow, by key, in which longest is that of the last period;
	 * NULL: none is under way.
	 */
	HTAB	   *sums;
	PfsLoadHead head;			/* end and length so far */
	PfsLoadRow	rest[PFS_LOAD_REMAINDERS];
} UnderWay;

static UnderWay under_way[PFS_NUM_LOAD_RESOLUTIONS];

/* Seconds of a period. */
static const int resolution_seconds[PFS_NUM_LOAD_RESOLUTIONS] = {
	[PFS_LOAD_MINUTE] = 60,
	[PFS_LOAD_TEN_MINUTES] = 600,
};

/* Copies all sums, the largest first; palloc'd. */
static PfsLoadRow *
sorted_sums(const UnderWay *u, int *n)
{
	PfsLoadRow *all = palloc(hash_get_num_entries(u->sums) * sizeof(PfsLoadRow));
	HASH_SEQ_STATUS status;
	PfsLoadRow *sum;

	*n = 0;
	hash_seq_init(&status, u->sums);
	while ((sum = hash_seq_search(&status)) != NULL)
		all[(*n)++] = *sum;
	qsort(all, *n, sizeof(PfsLoadRow), compare_sizes);
	return all;
}

/* Moves the smaller half of the sums to the remainders. */
static void
evict_smaller_half(UnderWay *u)
{
	int			n;
	PfsLoadRow *all = sorted_sums(u, &n);

	for (int i = n / 2; i < n; i++)
	{
		pfs_load_add_to_rest(u->rest, &all[i]);
		(void) hash_search(u->sums, &all[i].key, HASH_REMOVE, NULL);
	}
	pfree(all);
}

/* Begins a longer period with this one. */
static void
begin(UnderWay *u, PfsLoadResolution resolution, const PfsLoadPeriod *period, uint32 generation)
{
	HASHCTL		ctl = {.keysize = sizeof(PfsLoadKey), .entrysize = sizeof(PfsLoadRow)};

	u->sums = hash_create("pfs load sums", 256, &ctl, HASH_ELEM | HASH_BLOBS);
	memset(u->rest, 0, sizeof(u->rest));
	u->head = (PfsLoadHead)
	{
		.begin = period->begin, .generation = generation, .resolution = resolution_seconds[resolution]
	};
}

/* Makes the rows of a longer period as it is now.  Returns how many. */
static int
rows_of(const UnderWay *u, PfsLoadRow *rows)
{
	PfsLoadRow	rest[PFS_LOAD_REMAINDERS];
	int			n;
	PfsLoadRow *all = sorted_sums(u, &n);

	memcpy(rest, u->rest, sizeof(rest));
	n = pfs_load_rows_to_keep(all, n, rest, rows);
	pfree(all);
	return n;
}

/* Ends a longer period: it is kept, unless a TRUNCATE came in between. */
static void
end(UnderWay *u, PfsLoadResolution resolution)
{
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];
	int			n;

	if (u->sums == NULL)
		return;
	if (u->head.generation == pfs_load_generation())
	{
		n = rows_of(u, rows);
		pfs_load_put(resolution, &u->head, rows, n);
		pfs_load_texts_name(rows, n);
	}
	hash_destroy(u->sums);
	u->sums = NULL;
}

/* What ran at the end of the period before is not what runs at the end of this one. */
static void
forget_longest(UnderWay *u)
{
	HASH_SEQ_STATUS status;
	PfsLoadRow *sum;

	for (int i = 0; i < PFS_LOAD_REMAINDERS; i++)
		u->rest[i].longest = 0;
	hash_seq_init(&status, u->sums);
	while ((sum = hash_seq_search(&status)) != NULL)
		sum->longest = 0;
}

/* Adds a period to a longer one. */
static void
add(UnderWay *u, const PfsLoadPeriod *period, const PfsLoadRow *rows, int nrows)
{
	u->head.end = period->end;
	u->head.length += period->length;
	forget_longest(u);
	for (int i = 0; i < nrows; i++)
	{
		PfsLoadRow *sum;
		bool		found;

		if (hash_get_num_entries(u->sums) >= SUMS_MAX)
			evict_smaller_half(u);
		sum = hash_search(u->sums, &rows[i].key, HASH_ENTER, &found);
		if (found)
			add_row(sum, &rows[i]);
		else
			*sum = rows[i];
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
	PfsLoadRow	rest[PFS_LOAD_REMAINDERS] = {0};
	static bool watched = false;
	int			n;

	if (!watched)
		before_shmem_exit(end_cb, 0);
	watched = true;
	qsort(rows, nrows, sizeof(PfsLoadRow), compare_sizes);
	n = pfs_load_rows_to_keep(rows, nrows, rest, largest);

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
