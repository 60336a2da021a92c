/*
 * pfs_save_load_bytes.c
 *	  How the load history lies in the file: the lists of its fields, and periods with their
 *	  rows.
 *
 * As in pfs_save_digest_bytes.c, the name of a field never changes.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_save_load_bytes.h"

/* ---- classes and periods ---- */

static const PfsSaveField class_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedClass, name, PFS_SAVE_TEXT),
};

static const PfsSaveField period_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedPeriod, ring, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedPeriod, resolution, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedPeriod, begin, PFS_SAVE_TIME),
	PFS_SAVE_MEMBER(PfsSavedPeriod, end, PFS_SAVE_TIME),
	PFS_SAVE_MEMBER(PfsSavedPeriod, length, PFS_SAVE_NUMBER),
};

static bool
is_period(TimestampTz begin, TimestampTz end, uint16 resolution)
{
	return IS_VALID_TIMESTAMP(begin) && IS_VALID_TIMESTAMP(end) && begin <= end &&
		resolution > 0 && resolution <= 600;
}

/* Of a ring that is not known here nobody knows what its periods can be. */
static bool
period_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsSavedPeriod *period = record;

	return period->ring >= PFS_SAVE_RINGS || is_period(period->begin, period->end, period->resolution);
}

static const PfsSaveField row_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedRow, type, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, class, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, event, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, statement, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, database, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, user, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, query_id, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, time, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedRow, count, PFS_SAVE_COUNT),
	PFS_SAVE_MEMBER(PfsSavedRow, longest, PFS_SAVE_NUMBER),
};

static bool
row_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsSavedRow *row = record;

	return r->nread[PFS_SAVED_LOAD_PERIOD] > 0 && row->class < r->nread[PFS_SAVED_LOAD_CLASS] &&
		row->event < PFS_SAVED_EVENTS + r->nread[PFS_SAVED_LOAD_EVENT];
}

/* ---- the section ---- */

static const PfsSaveRecord class_record = PFS_SAVE_RECORD("class", class_fields, PfsSavedClass);
static const PfsSaveRecord period_record =
PFS_SAVE_RECORD("period", period_fields, PfsSavedPeriod, .is_possible = period_is_possible);
static const PfsSaveRecord row_record =
PFS_SAVE_RECORD("row", row_fields, PfsSavedRow, .is_possible = row_is_possible);

static const PfsSaveRecord *const load_records[] = {
	[PFS_SAVED_LOAD_RESET] = &pfs_save_reset_record,
	[PFS_SAVED_LOAD_CLASS] = &class_record,
	[PFS_SAVED_LOAD_EVENT] = &pfs_save_event_record,
	[PFS_SAVED_LOAD_PERIOD] = &period_record,
	[PFS_SAVED_LOAD_ROW] = &row_record,
};

const PfsSaveFormat pfs_save_load_format = {
	"load_history", load_records, lengthof(load_records)
};

/* ---- writing ---- */

void
pfs_save_put_classes(PfsSaveWriter *w)
{
	for (int i = 0; i < PFS_NUM_LOAD_CLASSES; i++)
	{
		PfsSavedClass class = {{pfs_load_class_name(i), strlen(pfs_load_class_name(i))}};

		pfs_save_put_record(w, &pfs_save_load_format, PFS_SAVED_LOAD_CLASS, &class);
	}
}

static uint32
event_of(PfsInstrumentId instrument, uint32 nevents)
{
	if (instrument == PFS_LOAD_CPU_NAME)
		return PFS_SAVED_CPU;
	return instrument < nevents ? PFS_SAVED_EVENTS + instrument : PFS_SAVED_REMAINDER;
}

/* Puts a period, then its rows: those of the remainder have no more than type and class. */
void
pfs_save_put_period(PfsSaveWriter *w, uint8 ring, const PfsLoadHead *head, const PfsLoadRow *rows,
					uint32 nevents)
{
	PfsSavedPeriod period = {ring, head->resolution, head->begin, head->end, head->length};

	pfs_save_put_record(w, &pfs_save_load_format, PFS_SAVED_LOAD_PERIOD, &period);
	for (int i = 0; i < head->nrows; i++)
	{
		const PfsLoadKey *key = &rows[i].key;
		PfsSavedRow row = {
			.type = key->type,
			.class = key->class,
			.event = event_of(key->instrument, nevents),
			.count = rows[i].count,
			.time = rows[i].time,
			.longest = rows[i].longest,
		};

		if (row.event != PFS_SAVED_REMAINDER)
		{
			row.statement = key->statement;
			row.database = key->database;
			row.user = key->user;
			row.query_id = key->query_id;
		}
		pfs_save_put_record(w, &pfs_save_load_format, PFS_SAVED_LOAD_ROW, &row);
	}
}

/* ---- reading ---- */

/* Adds up two remainders; a count stays what SQL can show. */
int
pfs_save_add_remainder(PfsLoadRow *rows, int nrows, const PfsLoadRow *row)
{
	int			same = 0;

	while (same < nrows && memcmp(&rows[same].key, &row->key, sizeof(row->key)) != 0)
		same++;
	if (same == nrows)
	{
		rows[same] = *row;
		return nrows + 1;
	}
	rows[same].count = Min(rows[same].count + row->count, PG_INT64_MAX / 2);
	rows[same].time += row->time;
	rows[same].longest = Max(rows[same].longest, row->longest);
	return nrows;
}

/* Notes what a class of the file is here. */
static void
note_class(PfsSavedPeriods *periods, const PfsSavedClass *class)
{
	char		name[NAMEDATALEN] = {0};
	uint8	   *number;

	if (periods->nclasses == PFS_SAVE_CLASSES_MAX)
		return;
	number = &periods->classes[periods->nclasses++];
	memcpy(name, class->name.text != NULL ? class->name.text : "", Min(class->name.len, NAMEDATALEN - 1));
	if (!pfs_load_class_by_name(name, number))
		*number = PG_UINT8_MAX;
}

/*
 * Adds a row of the file to a period that has room for PFS_LOAD_ROWS_MAX.  A version that keeps
 * more apart has the rest in the remainder here; a row of a type or a class that is not known here
 * is passed over.
 */
static int
take_row(const PfsSavedPeriods *periods, PfsLoadRow *row, PfsLoadRow *rows, int nrows, int *nlargest)
{
	PfsLoadKey *key = &row->key;

	key->class = key->class < periods->nclasses ? periods->classes[key->class] : PG_UINT8_MAX;
	if (key->class == PG_UINT8_MAX || key->type >= PFS_NUM_LOAD_TYPES)
		return nrows;
	if (pfs_load_is_remainder(key) || *nlargest == PFS_LOAD_LARGEST)
	{
		pfs_save_make_remainder(key);
		return pfs_save_add_remainder(rows, nrows, row);
	}
	++*nlargest;
	rows[nrows] = *row;
	return nrows + 1;
}

/* Makes a row of a saved one, with class and event by the file's numbers. */
static PfsLoadRow
row_of(const PfsSavedRow *saved)
{
	PfsLoadRow	row = {
		.key = {
			.type = saved->type,
			.class = Min(saved->class, PG_UINT8_MAX),
			.instrument = PFS_LOAD_REMAINDER,
			.statement = saved->statement == PFS_LOAD_NO_STATEMENT ? PFS_LOAD_NO_STATEMENT : PFS_LOAD_STATEMENT,
			.database = saved->database,
			.user = saved->user,
			.query_id = saved->query_id,
		},
		.count = saved->count,
		.time = saved->time,
		.longest = saved->longest,
	};

	if (saved->event == PFS_SAVED_CPU)
		row.key.instrument = PFS_LOAD_CPU_NAME;
	else if (saved->event >= PFS_SAVED_EVENTS && saved->event - PFS_SAVED_EVENTS < PFS_LOAD_REMAINDER)
		row.key.instrument = saved->event - PFS_SAVED_EVENTS;
	return row;
}

static void
begin_period(const PfsSavedPeriods *periods, uint8 *ring, PfsLoadHead *head)
{
	*ring = periods->next.ring;
	*head = (PfsLoadHead)
	{
		.begin = periods->next.begin, .end = periods->next.end, .length = periods->next.length,
			.resolution = periods->next.resolution
	};
}

/* A period is whole when the next one begins, or there are no more records. */
bool
pfs_save_get_period(PfsSavedPeriods *periods, uint8 *ring, PfsLoadHead *head, PfsLoadRow *rows)
{
	PfsSavedAny record;
	int			nlargest = 0;
	int			nrows = 0;
	int			kind;

	while ((kind = pfs_save_get_record(periods->records, &record)) >= 0)
	{
		PfsLoadRow	row;

		if (kind == PFS_SAVED_LOAD_CLASS)
			note_class(periods, (const PfsSavedClass *) &record);
		else if (kind == PFS_SAVED_LOAD_ROW)
		{
			row = row_of((const PfsSavedRow *) &record);
			nrows = take_row(periods, &row, rows, nrows, &nlargest);
		}
		else if (kind == PFS_SAVED_LOAD_PERIOD)
		{
			bool		had_one = periods->has_next && periods->next.ring < PFS_SAVE_RINGS;

			if (had_one)
				begin_period(periods, ring, head);
			periods->next = *(const PfsSavedPeriod *) &record;
			periods->has_next = true;
			if (had_one)
			{
				head->nrows = nrows;
				return true;
			}
			nrows = nlargest = 0;
		}
	}
	if (!periods->has_next || periods->next.ring >= PFS_SAVE_RINGS)
		return false;
	begin_period(periods, ring, head);
	head->nrows = nrows;
	periods->has_next = false;
	return true;
}

/* ---- texts ---- */

static const PfsSaveField text_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedLoadText, query_id, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedLoadText, database, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedLoadText, user, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedLoadText, text, PFS_SAVE_TEXT),
};

static const PfsSaveRecord text_record = PFS_SAVE_RECORD("text", text_fields, PfsSavedLoadText);
static const PfsSaveRecord *const texts_records[] = {[PFS_SAVED_LOAD_TEXTS_TEXT] = &text_record};

const PfsSaveFormat pfs_save_load_texts_format = {
	"load_texts", texts_records, lengthof(texts_records)
};
