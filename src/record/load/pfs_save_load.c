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

StaticAssertDecl(PFS_SAVE_RINGS == PFS_NUM_LOAD_RESOLUTIONS, "others are passed over");

/* ---- periods ---- */

typedef struct PutPeriods
{
	PfsSaveWriter *w;
	uint32		nevents;		/* names that are in the file */
} PutPeriods;

static void
put_period_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	PutPeriods *put = arg;

	pfs_save_put_period(put->w, resolution, head, rows, put->nevents);
}

static void
load_write(PfsSaveWriter *w)
{
	PutPeriods	put = {.w = w};

	pfs_save_put_reset(w, &pfs_save_load_format, PFS_SAVED_LOAD_RESET, "load_history");
	pfs_save_put_classes(w);
	put.nevents = pfs_save_put_names(w, &pfs_save_load_format, PFS_SAVED_LOAD_EVENT);
	for (PfsLoadResolution r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		pfs_load_read(r, &PFS_LOAD_EVERYTHING, put_period_cb, &put);
		pfs_load_under_way(r, put_period_cb, &put);
	}
}

/*
 * Makes the numbers of events this server's; a row without one joins its remainder.  Returns how
 * many rows are left.
 */
static int
take_rows(PfsLoadRow *rows, int nrows, PfsSavedName *events)
{
	int			n = 0;

	for (int i = 0; i < nrows; i++)
	{
		PfsLoadRow	row = rows[i];

		if (row.key.instrument < PFS_LOAD_REMAINDER)
		{
			row.key.instrument = pfs_saved_instrument(&events[row.key.instrument]);
			/* There is no room for it, or it has no name. */
			if (row.key.instrument == PFS_NO_INSTRUMENT)
				row.key.instrument = PFS_LOAD_REMAINDER;
		}
		if (row.key.instrument != PFS_LOAD_REMAINDER)
			rows[n++] = row;
		else
		{
			pfs_save_make_remainder(&row.key);
			n = pfs_save_add_remainder(rows, n, &row);
		}
	}
	return n;
}

/* Puts all periods behind those that are there: at a start, none. */
static void
load_use(PfsSaveRecords *r, const PfsSaveHead *saved)
{
	PfsSavedPeriods periods = {.records = r};
	PfsSavedName *events = pfs_save_take_names(r, PFS_SAVED_LOAD_EVENT);
	uint8		ring;
	PfsLoadHead head;
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];

	pfs_save_use_resets(r, PFS_SAVED_LOAD_RESET);
	while (pfs_save_get_period(&periods, &ring, &head, rows))
	{
		head.generation = pfs_load_generation();
		pfs_load_put(ring, &head, rows, take_rows(rows, head.nrows, events));
	}
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
			key.query_id, key.database, key.user,
			{
				copy, Min((uint32) len, room)
			}
		};
		pfs_save_hide_secret(&saved.text);
		pfs_save_put_record(w, &pfs_save_load_texts_format, PFS_SAVED_LOAD_TEXTS_TEXT, &saved);
	}
}

static void
load_texts_use(PfsSaveRecords *r, const PfsSaveHead *head)
{
	PfsSavedAny record;

	while (pfs_save_get_record(r, &record) >= 0)
	{
		const PfsSavedLoadText *saved = (const PfsSavedLoadText *) &record;
		PfsLoadTextKey key = {.query_id = saved->query_id, .database = saved->database, .user = saved->user};

		if (saved->text.text != NULL)
			pfs_load_text_put(&key, saved->text.text, saved->text.len);
	}
}

const PfsSaveSection pfs_save_load_texts = {
	.format = &pfs_save_load_texts_format,
	.write = load_texts_write,
	.use = load_texts_use,
};
