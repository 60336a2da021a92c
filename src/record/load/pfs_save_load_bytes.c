/*
 * pfs_save_load_bytes.c
 *	  How the load history lies in the file: the lists of its fields.
 *
 * As in pfs_save_digest_bytes.c, the name of a field never changes.
 */
#include "postgres.h"

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

/* Of a ring that is not known here nobody knows what its periods can be. */
static bool
period_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsSavedPeriod *period = record;

	return period->ring >= PFS_NUM_LOAD_RESOLUTIONS ||
		(period->begin <= period->end && period->resolution > 0 && period->resolution <= 600);
}

static const PfsSaveField row_fields[] = {
	PFS_SAVE_AS("type", PfsLoadRow, key.type, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("class", PfsLoadRow, key.class, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("event", PfsLoadRow, key.instrument, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("statement", PfsLoadRow, key.statement, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("database", PfsLoadRow, key.database, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("user", PfsLoadRow, key.user, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("query_id", PfsLoadRow, key.query_id, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsLoadRow, time, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsLoadRow, count, PFS_SAVE_COUNT),
	PFS_SAVE_MEMBER(PfsLoadRow, longest, PFS_SAVE_NUMBER),
};

static bool
row_is_possible(const void *record, const PfsSaveRecords *r)
{
	const PfsLoadKey *key = &((const PfsLoadRow *) record)->key;

	return r->nread[PFS_SAVED_LOAD_PERIOD] > 0 && key->class < r->nread[PFS_SAVED_LOAD_CLASS] &&
		key->instrument < PFS_SAVED_EVENTS + r->nread[PFS_SAVED_LOAD_EVENT];
}

/* ---- the section ---- */

static const PfsSaveRecord class_record = PFS_SAVE_RECORD("class", class_fields, PfsSavedClass);
static const PfsSaveRecord period_record =
PFS_SAVE_RECORD("period", period_fields, PfsSavedPeriod, .is_possible = period_is_possible);
static const PfsSaveRecord row_record =
PFS_SAVE_RECORD("row", row_fields, PfsLoadRow, .is_possible = row_is_possible);

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

/* ---- texts ---- */

static const PfsSaveField text_fields[] = {
	PFS_SAVE_AS("query_id", PfsSavedLoadText, key.query_id, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("database", PfsSavedLoadText, key.database, PFS_SAVE_NUMBER),
	PFS_SAVE_AS("user", PfsSavedLoadText, key.user, PFS_SAVE_NUMBER),
	PFS_SAVE_MEMBER(PfsSavedLoadText, text, PFS_SAVE_TEXT),
};

static const PfsSaveRecord text_record = PFS_SAVE_RECORD("text", text_fields, PfsSavedLoadText);
static const PfsSaveRecord *const texts_records[] = {[PFS_SAVED_LOAD_TEXTS_TEXT] = &text_record};

const PfsSaveFormat pfs_save_load_texts_format = {
	"load_texts", texts_records, lengthof(texts_records)
};
