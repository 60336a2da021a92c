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

StaticAssertDecl(PFS_SAVE_RINGS == PFS_NUM_LOAD_RESOLUTIONS, "a file with other rings has another version");

/* ---- periods ---- */

typedef struct PutPeriods
{
	PfsSaveWriter *w;
	uint32		nevents;		/* names that are in the file */
} PutPeriods;

/* Makes a row's key that of the remainder it belongs to. */
static void
make_remainder(PfsLoadKey *key)
{
	PfsLoadKey	remainder = {.type = key->type, .class = key->class, .instrument = PFS_LOAD_REMAINDER};

	*key = remainder;
}

/* Puts a period as it lies in memory. */
static void
put_period_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	PutPeriods *put = arg;
	PfsLoadRow	known[PFS_LOAD_ROWS_MAX];
	PfsLoadBytes bytes;

	memcpy(known, rows, head->nrows * sizeof(PfsLoadRow));

	/*
	 * An instrument that has come since the names were written has none
	 * there.
	 */
	for (int i = 0; i < head->nrows; i++)
	{
		PfsLoadKey *key = &known[i].key;

		if (key->instrument < PFS_LOAD_REMAINDER && key->instrument >= put->nevents)
			make_remainder(key);
	}
	pfs_save_put_period(put->w, resolution, &bytes, pfs_load_encode(&bytes, head, known, head->nrows));
}

static void
load_write(PfsSaveWriter *w)
{
	PutPeriods	put = {.w = w};

	pfs_save_put_classes(w);
	put.nevents = pfs_save_put_names(w);
	for (PfsLoadResolution r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
	{
		pfs_load_read(r, &PFS_LOAD_EVERYTHING, put_period_cb, &put);
		pfs_load_under_way(r, put_period_cb, &put);
	}
}

/* Makes the numbers of events this server's; a row without one joins its remainder.  Returns how many rows are left. */
static int
take_rows(PfsLoadRow *rows, int nrows, PfsSavedName *events)
{
	int			n = 0;

	for (int i = 0; i < nrows; i++)
	{
		PfsLoadRow	row = rows[i];
		int			same = n;

		if (row.key.instrument < PFS_LOAD_REMAINDER)
		{
			row.key.instrument = pfs_saved_instrument(&events[row.key.instrument]);
			/* There is no room for it, or it has no name. */
			if (row.key.instrument == PFS_NO_INSTRUMENT)
				row.key.instrument = PFS_LOAD_REMAINDER;
		}
		if (row.key.instrument == PFS_LOAD_REMAINDER)
		{
			make_remainder(&row.key);
			same = 0;
			while (same < n && memcmp(&rows[same].key, &row.key, sizeof(row.key)) != 0)
				same++;
		}
		if (same == n)
			rows[n++] = row;
		else
		{
			rows[same].count += row.count;
			rows[same].time += row.time;
			rows[same].longest = Max(rows[same].longest, row.longest);
		}
	}
	return n;
}

/* Puts all periods behind those that are there: at a start, none. */
static void
load_use(PfsSaveReader *r, const PfsSaveHead *saved)
{
	PfsSavedClasses classes;
	PfsSavedName *events;
	uint8		ring;
	PfsLoadHead head;
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];

	if (!pfs_save_get_load_names(r, &classes))
		return;
	events = pfs_save_take_names(r);
	while (pfs_save_get_period(r, &classes, &ring, &head, rows))
	{
		head.generation = pfs_load_generation();
		pfs_load_put(ring, &head, rows, take_rows(rows, head.nrows, events));
	}
}

const PfsSaveSection pfs_save_load = {
	.name = "load_history",
	.version = PFS_SAVE_LOAD_VERSION,
	.write = load_write,
	.check = pfs_save_check_load,
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
		PfsSavedText saved;
		int			len = pfs_load_text_copy(places[i].place, &saved.key, copy, room);

		if (len <= 0)
			continue;
		saved.text = copy;
		saved.len = Min((uint32) len, room);
		pfs_save_hide_secret(&saved.text, &saved.len);
		pfs_save_put_record(w, pfs_save_load_text_fields, &saved);
	}
}

static void
load_texts_use(PfsSaveReader *r, const PfsSaveHead *head)
{
	PfsSavedText saved;

	while (pfs_save_get_record(r, pfs_save_load_text_fields, &saved))
		pfs_load_text_put(&saved.key, saved.text, saved.len);
}

const PfsSaveSection pfs_save_load_texts = {
	.name = "load_texts",
	.version = PFS_SAVE_TEXTS_VERSION,
	.write = load_texts_write,
	.check = pfs_save_check_load_texts,
	.use = load_texts_use,
};
