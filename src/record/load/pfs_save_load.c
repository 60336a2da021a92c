/*
 * pfs_save_load.c
 *	  Sections of the file: the load history, and the texts of the statements that it names.
 *
 * The minute and the ten minutes under way are in as they would be kept if they ended now:
 * after a crash nobody else has them.
 */
#include "postgres.h"

#include "pfs_instrument.h"
#include "pfs_load_keep.h"
#include "pfs_load_text.h"
#include "pfs_save.h"
#include "pfs_save_load_bytes.h"
#include "pfs_save_names.h"
#include "pfs_shared.h"

/* ---- periods ---- */

typedef struct PutPeriods
{
	PfsSaveWriter *w;
	uint32		nevents;		/* names that are in the file */
} PutPeriods;

/* Puts a period, then its rows.  Those of an instrument that has come since are in the remainder. */
static void
put_period_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	const PutPeriods *put = arg;
	PfsSavedPeriod period = {resolution, head->resolution, head->begin, head->end, head->length};

	pfs_save_put_record(put->w, &pfs_save_load_format, PFS_SAVED_LOAD_PERIOD, &period);
	for (int i = 0; i < head->nrows; i++)
	{
		PfsLoadRow	row = rows[i];

		if (row.key.instrument >= put->nevents && row.key.instrument < PFS_LOAD_REMAINDER)
			row.key = pfs_load_remainder_of(&row.key);
		row.key.instrument += PFS_SAVED_EVENTS;
		pfs_save_put_record(put->w, &pfs_save_load_format, PFS_SAVED_LOAD_ROW, &row);
	}
}

/* Puts the names of classes and events, then all periods, of which each resolution's one under way is the last. */
static void
load_write(PfsSaveWriter *w)
{
	PutPeriods	put = {.w = w};

	pfs_save_put_reset(w, &pfs_save_load_format, PFS_SAVED_LOAD_RESET, "load_history");
	for (int i = 0; i < PFS_NUM_LOAD_CLASSES; i++)
	{
		PfsSavedClass class = {{pfs_load_class_name(i), strlen(pfs_load_class_name(i))}};

		pfs_save_put_record(w, &pfs_save_load_format, PFS_SAVED_LOAD_CLASS, &class);
	}
	put.nevents = pfs_save_put_names(w, &pfs_save_load_format, PFS_SAVED_LOAD_EVENT);
	for (PfsLoadResolution r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		pfs_load_read(r, &PFS_LOAD_EVERYTHING, put_period_cb, &put);
		pfs_load_under_way(r, put_period_cb, &put);
	}
}

/* What is read: the names so far, and the period whose rows come. */
typedef struct TakePeriods
{
	PfsSavedName *events;
	uint32		nclasses;
	uint8		classes[PFS_SAVE_CLASSES_MAX];	/* here; PG_UINT8_MAX: not
												 * known */
	PfsSavedPeriod period;		/* resolution 0: none yet */
	int			nrows;
	PfsLoadRow	rows[PFS_LOAD_LARGEST];
	PfsLoadRow	rest[PFS_LOAD_REMAINDERS];
} TakePeriods;

static void
take_class(TakePeriods *take, const PfsSavedClass *class)
{
	char		name[NAMEDATALEN] = {0};
	uint8	   *number = &take->classes[take->nclasses];

	if (take->nclasses == PFS_SAVE_CLASSES_MAX)
		return;
	take->nclasses++;
	if (class->name.len > 0)
		memcpy(name, class->name.text, Min(class->name.len, NAMEDATALEN - 1));
	if (!pfs_load_class_by_name(name, number))
		*number = PG_UINT8_MAX;
}

/*
 * Makes the numbers of a row this server's.  One without an event here, and what another version keeps apart beyond
 * PFS_LOAD_LARGEST, is in the remainder; one of a type or a class that is not known here is passed over.
 */
static void
take_row(TakePeriods *take, PfsLoadRow *row)
{
	PfsLoadKey *key = &row->key;

	key->class = key->class < take->nclasses ? take->classes[key->class] : PG_UINT8_MAX;
	if (key->class == PG_UINT8_MAX || key->type >= PFS_NUM_LOAD_TYPES)
		return;
	key->statement = key->statement != PFS_LOAD_NO_STATEMENT ? PFS_LOAD_STATEMENT : PFS_LOAD_NO_STATEMENT;
	key->instrument -= PFS_SAVED_EVENTS;
	if (key->instrument < PFS_LOAD_REMAINDER)
	{
		key->instrument = pfs_saved_instrument(&take->events[key->instrument]);
		if (key->instrument == PFS_NO_INSTRUMENT)
			key->instrument = PFS_LOAD_REMAINDER;
	}
	if (pfs_load_is_remainder(key) || take->nrows == PFS_LOAD_LARGEST)
		pfs_load_add_to_rest(take->rest, row);
	else
		take->rows[take->nrows++] = *row;
}

/* Puts the period that is whole, if its ring is known here, behind those that are there: at a start, none. */
static void
take_period(TakePeriods *take, const PfsSavedPeriod *next)
{
	const PfsSavedPeriod *period = &take->period;
	PfsLoadHead head = {.begin = period->begin, .end = period->end, .length = period->length, .resolution = period->resolution};
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];

	if (period->resolution > 0 && period->ring < PFS_NUM_LOAD_RESOLUTIONS)
	{
		head.generation = pfs_load_generation();
		pfs_load_put(period->ring, &head, rows, pfs_load_rows_to_keep(take->rows, take->nrows, take->rest, rows));
	}
	if (next != NULL)
		take->period = *next;
	take->nrows = 0;
	memset(take->rest, 0, sizeof(take->rest));
}

/* Takes all periods; the last one is whole when there are no more records. */
static void
load_use(PfsSaveRecords *r)
{
	TakePeriods take = {.events = pfs_save_take_names(r, PFS_SAVED_LOAD_EVENT)};
	PfsSavedAny record;
	int			kind;

	pfs_save_use_resets(r, PFS_SAVED_LOAD_RESET);
	while ((kind = pfs_save_get_record(r, &record)) >= 0)
	{
		if (kind == PFS_SAVED_LOAD_CLASS)
			take_class(&take, (const PfsSavedClass *) &record);
		else if (kind == PFS_SAVED_LOAD_PERIOD)
			take_period(&take, (const PfsSavedPeriod *) &record);
		else if (kind == PFS_SAVED_LOAD_ROW)
			take_row(&take, (PfsLoadRow *) &record);
	}
	take_period(&take, NULL);
}

const PfsSaveSection pfs_save_load = {
	.format = &pfs_save_load_format,
	.write = load_write,
	.use = load_use,
};

/* ---- texts ---- */

/* A place of the container, and when its text was named. */
typedef struct NamedPlace
{
	uint64		named;
	uint32		place;
} NamedPlace;

static int
compare_named(const void *a, const void *b)
{
	const NamedPlace *x = a;
	const NamedPlace *y = b;

	return (x->named > y->named) - (x->named < y->named);
}

/* The one that was named longest ago first, so that a smaller container keeps the latest. */
static void
load_texts_write(PfsSaveWriter *w)
{
	NamedPlace *places = palloc(PFS_LOAD_TEXTS * sizeof(NamedPlace));
	uint32		room = TYPEALIGN(8, pfs_sizes.digest_text);
	char	   *copy = palloc(room + 1);

	if (pfs_shared_load_texts == NULL)
		return;
	for (uint32 i = 0; i < PFS_LOAD_TEXTS; i++)
	{
		places[i].place = i;
		places[i].named = pfs_load_relaxed(&pfs_shared_load_texts->named[i]);
	}
	qsort(places, PFS_LOAD_TEXTS, sizeof(NamedPlace), compare_named);
	for (uint32 i = 0; i < PFS_LOAD_TEXTS; i++)
	{
		PfsSavedLoadText saved;
		PfsLoadTextKey key;
		int			len = pfs_load_text_copy(places[i].place, &key, copy, room);

		if (len <= 0)
			continue;
		saved = (PfsSavedLoadText)
		{
			key,
			{
				copy, Min((uint32) len, room)
			}
		};
		pfs_save_hide_secret(&saved.text);
		pfs_save_put_record(w, &pfs_save_load_texts_format, PFS_SAVED_LOAD_TEXTS_TEXT, &saved);
	}
}

static void
load_texts_use(PfsSaveRecords *r)
{
	PfsSavedAny record;

	while (pfs_save_get_record(r, &record) >= 0)
	{
		const PfsSavedLoadText *saved = (const PfsSavedLoadText *) &record;

		if (saved->text.len > 0)
			pfs_load_text_put(&saved->key, saved->text.text, saved->text.len);
	}
}

const PfsSaveSection pfs_save_load_texts = {
	.format = &pfs_save_load_texts_format,
	.write = load_texts_write,
	.use = load_texts_use,
};
