/*
 * pfs_recorder_sum.c
 *	  The sums of one period, and the rows that are made of them.
 *
 * Sources (threads, digests, what has left threads) give numbers that only grow, and the
 * recorder adds what each has more than at its last reading.  Three sums are exact: what
 * an instrument has waited, what of it was inside statements, and what statements took.  They
 * come from the threads alone, each of which is read as of one moment, and no reset,
 * eviction or move takes anything from them.  So are the rows' totals:
 *
 *	  outside of statements			waits less those inside
 *	  waits inside of statements	those inside
 *	  processor						statements less the waits inside
 *
 * Which digest a part of them belongs to is read where digests lie, too, while counters move
 * from threads to digests and away from there.  A move that is seen half makes a digest's
 * part too large or too small for that period.  What is missing is in the row without a
 * digest; where the parts are more than the whole, the largest are cut.
 *
 * A difference below zero (a running event that was charged and then dropped, a counter of
 * another processor) makes no row, and is carried to the next period.
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "pfs_instrument.h"
#include "pfs_load_code.h"
#include "pfs_recorder_own.h"
#include "pfs_wait_class.h"

/* One sum of a period, and what earlier ones have left. */
typedef struct Sum
{
	int64		count;
	int64		ticks;
	uint64		longest;
} Sum;

typedef struct Carried
{
	int64		count;
	int64		ticks;
} Carried;

/* The kinds of rows without a digest, each with its sum and what it carries. */
typedef struct Whole
{
	Sum			waits;
	Sum			inside;
	Carried		carried[PFS_NUM_LOAD_TYPES];
	int16		class;			/* PfsLoadClass; -1: shown nowhere; -2: not
								 * looked up yet */
	bool		outside;		/* shown outside of statements */
} Whole;

typedef struct PartKey
{
	PfsDigestKey digest;
	uint64		instrument;		/* PFS_LOAD_CPU_NAME: statements */
} PartKey;

typedef struct Part
{
	PartKey		key;
	Sum			sum;
} Part;

static struct
{
	Whole	   *wholes;			/* by instrument */
	uint32		n;
	Sum			statements;
	Carried		carried;		/* of the processor */

	/* Of the period, in the context of the tick. */
	HTAB	   *parts;
	PfsLoadRow *rows;
	int			nrows;
}			sums;

void
pfs_sums_start(void)
{
	sums.n = pfs_instruments->max;
	sums.wholes = MemoryContextAllocZero(TopMemoryContext, sums.n * sizeof(Whole));
	for (uint32 i = 0; i < sums.n; i++)
		sums.wholes[i].class = -2;
}

/* Forgets the sums of the period before, but for what is carried. */
void
pfs_sums_begin(void)
{
	HASHCTL		info = {.keysize = sizeof(PartKey), .entrysize = sizeof(Part), .hcxt = CurrentMemoryContext};

	sums.parts = hash_create("pfs recorder's digests", 256, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (uint32 i = 0; i < sums.n; i++)
	{
		memset(&sums.wholes[i].waits, 0, sizeof(Sum));
		memset(&sums.wholes[i].inside, 0, sizeof(Sum));
	}
	memset(&sums.statements, 0, sizeof(Sum));
}

static Sum *
part_of(const PfsDigestKey *digest, uint64 instrument)
{
	PartKey		key = {*digest, instrument};
	bool		found;
	Part	   *part = hash_search(sums.parts, &key, HASH_ENTER, &found);

	if (!found)
		memset(&part->sum, 0, sizeof(Sum));
	return &part->sum;
}

/* The sum that an item is added to. */
static Sum *
sum_of(const PfsSumItem *item)
{
	switch ((PfsSum) item->sum)
	{
		case PFS_SUM_WAITS:
			return &sums.wholes[item->instrument].waits;
		case PFS_SUM_INSIDE:
			return item->instrument == PFS_LOAD_CPU_NAME ? &sums.statements : &sums.wholes[item->instrument].inside;
		case PFS_SUM_OF_DIGEST:
			return part_of(&item->key, item->instrument);
	}
	pg_unreachable();
}

/* Is an item of those inside also in the part of a digest? */
static inline bool
has_part(const PfsSumItem *item)
{
	return item->sum == PFS_SUM_INSIDE && pfs_digest_is_key(&item->key);
}

/* Numbers may have wrapped; their differences have not. */
static void
add_item(Sum *to, const PfsSumItem *item, bool minus)
{
	to->count += (int64) (minus ? -item->count : item->count);
	to->ticks += (int64) (minus ? -item->ticks : item->ticks);
}

static void
add(const PfsSumItems *items, bool minus)
{
	for (uint32 i = 0; i < items->n; i++)
	{
		const PfsSumItem *item = &items->items[i];

		add_item(sum_of(item), item, minus != item->minus);
		if (has_part(item))
			add_item(part_of(&item->key, item->instrument), item, minus != item->minus);
	}
}

void
pfs_sums_add(const PfsSumItems *items)
{
	add(items, false);
}

void
pfs_sums_subtract(const PfsSumItems *items)
{
	add(items, true);
}

void
pfs_sums_running(const PfsSumItem *item, uint64 length)
{
	Sum		   *sum = has_part(item) ? part_of(&item->key, item->instrument) : sum_of(item);

	sum->longest = Max(sum->longest, length);
}

/* Appends an item to a source's numbers, and returns it until the next one comes. */
PfsSumItem *
pfs_sum_items_add(PfsSumItems *to, PfsSum sum, uint32 instrument, const PfsDigestKey *key)
{
	PfsSumItem *item;

	if (to->n == to->max)
	{
		to->max = Max(2 * to->max, 16);
		to->items = to->items == NULL ? MemoryContextAlloc(TopMemoryContext, to->max * sizeof(PfsSumItem))
			: repalloc(to->items, to->max * sizeof(PfsSumItem));
	}
	item = &to->items[to->n++];
	memset(item, 0, sizeof(*item));
	item->sum = sum;
	item->instrument = instrument;
	if (key != NULL)
		item->key = *key;
	return item;
}

/* Memory that is large enough stays; else it becomes as large as what is copied. */
void
pfs_sum_items_copy(PfsSumItems *to, const PfsSumItems *from)
{
	if (to->max < from->n)
	{
		if (to->items != NULL)
			pfree(to->items);
		to->items = MemoryContextAlloc(TopMemoryContext, from->n * sizeof(PfsSumItem));
		to->max = from->n;
	}
	if (from->n > 0)
		memcpy(to->items, from->items, from->n * sizeof(PfsSumItem));
	to->n = from->n;
}

/* ---- what is shown as what ---- */

/* Which classes are shown outside of statements, too. */
static const bool shown_outside[PFS_NUM_LOAD_CLASSES] = {
	[PFS_LOAD_LWLOCK] = true,
	[PFS_LOAD_LOCK] = true,
	[PFS_LOAD_IO] = true,
	[PFS_LOAD_IPC] = true,
	[PFS_LOAD_BUFFER_PIN] = true,
	[PFS_LOAD_BUFFER] = true,
	[PFS_LOAD_SPIN] = true,
};

/* The sums of an instrument, with what it is shown as. */
static Whole *
whole_of(uint32 i)
{
	Whole	   *whole = &sums.wholes[i];
	PfsInstrument *ins;
	const char *name;
	uint8		class;

	if (likely(whole->class != -2))
		return whole;
	ins = pfs_instrument_at(i);
	if (ins == NULL)
		return whole;
	name = pfs_wait_class_name(ins);
	whole->class = -1;
	if (name != NULL && pfs_load_class_by_name(name, &class))
	{
		whole->class = class;
		whole->outside = shown_outside[class] && (ins->properties & PFS_PROPERTY_IDLE) == 0;
	}
	return whole;
}

/* Is time inside this wait no processor time? */
static inline bool
is_off_processor(uint32 i)
{
	int			class = whole_of(i)->class;

	return class >= 0 && class != PFS_LOAD_IDLE_TRANSACTION;
}

/* ---- rows ---- */

uint64
pfs_sums_ps(uint64 ticks)
{
	PfsPicoseconds ps = pfs_ticks_to_ps(pfs_timer_default(), ticks);

	/* 213 days fit. */
	return ps < (PfsPicoseconds) PG_UINT64_MAX ? (uint64) ps : PG_UINT64_MAX;
}

/* Appends a row, unless it has nothing. */
static void
add_row(PfsLoadType type, PfsLoadClass class, uint32 instrument, const PfsDigestKey *digest, const Sum *sum)
{
	PfsLoadRow *row = &sums.rows[sums.nrows];

	if (sum->count <= 0 && sum->ticks <= 0 && sum->longest == 0)
		return;
	memset(row, 0, sizeof(*row));
	row->key.type = type;
	row->key.class = class;
	row->key.instrument = instrument;
	if (digest != NULL)
	{
		row->key.statement = PFS_LOAD_STATEMENT;
		row->key.database = PFS_DIGEST_DATABASE(digest->db_user);
		row->key.user = PFS_DIGEST_USER(digest->db_user);
		row->key.query_id = digest->query_id;
	}
	row->count = Max(sum->count, 0);
	row->time = sum->ticks > 0 ? pfs_sums_ps(sum->ticks) : 0;
	row->longest = pfs_sums_ps(sum->longest);
	if (row->count != 0 || row->time != 0 || row->longest != 0)
		sums.nrows++;
}

/* Takes what earlier periods have left off a number, and leaves what is below zero to the next one. */
static void
settle(int64 *number, int64 *carried)
{
	*number += *carried;
	*carried = Min(*number, 0);
	*number = Max(*number, 0);
}

/*
 * Takes off the parts (the largest first) what they have more than the whole, and returns
 * what the whole has more than they.
 */
static int64
fit(Part **parts, int n, size_t field, int64 whole)
{
	int64		rest = whole;

	for (int i = 0; i < n; i++)
	{
		int64	   *number = (int64 *) ((char *) &parts[i]->sum + field);

		*number = Max(*number, 0);
		rest -= *number;
	}
	while (rest < 0)
	{
		int64	   *largest = NULL;
		int64		cut;

		for (int i = 0; i < n; i++)
		{
			int64	   *number = (int64 *) ((char *) &parts[i]->sum + field);

			if (largest == NULL || *number > *largest)
				largest = number;
		}
		cut = Min(-rest, *largest);
		*largest -= cut;
		rest += cut;
	}
	return rest;
}

/* Makes the rows of what a whole and its parts have inside statements. */
static void
add_rows(PfsLoadClass class, uint32 instrument, Sum *whole, Carried *carried, Part **parts, int n)
{
	Sum			rest = {.longest = whole->longest};

	settle(&whole->count, &carried->count);
	settle(&whole->ticks, &carried->ticks);
	rest.count = fit(parts, n, offsetof(Sum, count), whole->count);
	rest.ticks = fit(parts, n, offsetof(Sum, ticks), whole->ticks);
	for (int i = 0; i < n; i++)
		add_row(PFS_LOAD_FOREGROUND, class, instrument, &parts[i]->key.digest, &parts[i]->sum);
	add_row(PFS_LOAD_FOREGROUND, class, instrument, NULL, &rest);
}

/* By instrument. */
static int
compare_parts(const void *a, const void *b)
{
	const Part *x = *(Part *const *) a;
	const Part *y = *(Part *const *) b;

	return (x->key.instrument > y->key.instrument) - (x->key.instrument < y->key.instrument);
}

/*
 * Takes the waits inside statements off the processor's time, that of each digest and the
 * whole.
 */
static void
take_waits_off_processor(void)
{
	HASH_SEQ_STATUS all;
	Part	   *part;

	for (uint32 i = 0; i < sums.n; i++)
	{
		if (sums.wholes[i].inside.ticks != 0 && is_off_processor(i))
			sums.statements.ticks -= sums.wholes[i].inside.ticks;
	}
	hash_seq_init(&all, sums.parts);

	/*
	 * The part of a digest's statements may come in here, as the scan allows;
	 * it is passed over.
	 */
	while ((part = hash_seq_search(&all)) != NULL)
	{
		if (part->key.instrument != PFS_LOAD_CPU_NAME && is_off_processor(part->key.instrument))
			part_of(&part->key.digest, PFS_LOAD_CPU_NAME)->ticks -= part->sum.ticks;
	}
}

/* Makes the rows of the period, of each instrument and of the processor. */
PfsLoadRow *
pfs_sums_rows(int *nrows)
{
	Part	  **parts;
	HASH_SEQ_STATUS all;
	int			n = 0;
	int			at = 0;

	take_waits_off_processor();
	parts = palloc((hash_get_num_entries(sums.parts) + 1) * sizeof(Part *));
	hash_seq_init(&all, sums.parts);
	while ((parts[n] = hash_seq_search(&all)) != NULL)
		n++;
	qsort(parts, n, sizeof(Part *), compare_parts);

	/*
	 * A row of each part, and those without a digest: of an instrument one
	 * outside of statements and one inside, and the processor's.
	 */
	sums.rows = palloc((n + 2 * sums.n + 1) * sizeof(PfsLoadRow));
	sums.nrows = 0;

	for (uint32 i = 0; i < sums.n; i++)
	{
		Whole	   *whole = whole_of(i);
		int			first = at;

		while (at < n && parts[at]->key.instrument == i)
			at++;
		if (whole->class < 0)
			continue;
		if (whole->class == PFS_LOAD_IDLE_TRANSACTION)
		{
			add_rows(whole->class, i, &whole->waits, &whole->carried[PFS_LOAD_FOREGROUND], NULL, 0);
			continue;
		}
		if (whole->outside)
		{
			Sum			outside = {whole->waits.count - whole->inside.count, whole->waits.ticks - whole->inside.ticks,
			whole->waits.longest};

			settle(&outside.count, &whole->carried[PFS_LOAD_BACKGROUND].count);
			settle(&outside.ticks, &whole->carried[PFS_LOAD_BACKGROUND].ticks);
			add_row(PFS_LOAD_BACKGROUND, whole->class, i, NULL, &outside);
		}
		add_rows(whole->class, i, &whole->inside, &whole->carried[PFS_LOAD_FOREGROUND], &parts[first], at - first);
	}
	add_rows(PFS_LOAD_CPU, PFS_LOAD_CPU_NAME, &sums.statements, &sums.carried, &parts[at], n - at);
	*nrows = sums.nrows;
	return sums.rows;
}
