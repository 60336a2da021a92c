/*
 * pfs_bench_areas.c
 *	  Where the parts of pfs lie, for bench/touched, which names the owner of each line
 *	  that a transaction touches.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pfs_digest_pending.h"
#include "pfs_part.h"
#include "pfs_pending.h"
#include "pfs_shared.h"

PG_FUNCTION_INFO_V1(pfs_bench_areas);
PGDLLEXPORT Datum pfs_bench_areas(PG_FUNCTION_ARGS);

/*
 * Adds a row.  record_size 0: the area is no array of records; page_size: after so many
 * bytes, records begin anew.
 */
static void
add_area(ReturnSetInfo *rsinfo, const char *name, const void *address, size_t size, size_t page_size, size_t record_size)
{
	Datum		values[5] = {CStringGetTextDatum(name), Int64GetDatum((int64) (uintptr_t) address),
	Int64GetDatum((int64) size), Int64GetDatum((int64) page_size), Int64GetDatum((int64) record_size)};
	bool		nulls[5] = {false};

	if (address != NULL && size > 0)
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static void
add_sets(ReturnSetInfo *rsinfo, const char *name, const PfsThreadSets *sets)
{
	size_t		bytes = pfs_thread_sets_bytes(sets);

	add_area(rsinfo, name, sets->sets, bytes, bytes, sets->size);
}

/*
 * The structs of all parts, and the records, state words and heads of their containers; the
 * histories, the words that instrument points read, and what lies beside thread records.
 */
Datum
pfs_bench_areas(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	pfs_each_part(part)
	{
		const PfsPages *pages = part->pages != NULL ? *part->pages : NULL;

		if (part->address != NULL)
			add_area(rsinfo, psprintf("struct of %s", part->name), *part->address, part->size, 0, 0);
		if (pages == NULL)
			continue;
		add_area(rsinfo, psprintf("%s, head", part->name), pages, sizeof(*pages), 0, 0);
		add_area(rsinfo, psprintf("%s, state words", part->name), pages->state, pages->records_max * sizeof(uint64), 0, 0);
		add_area(rsinfo, part->name, pages->memory, pages->pages_max * pages->page_bytes, pages->page_bytes, pages->record_size);
	}
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		if (pfs_histories[f] != NULL)
			add_area(rsinfo, pfs_event_families[f].history, pfs_histories[f], pfs_blocks_bytes(pfs_histories[f]), 0, 0);
	}
	add_area(rsinfo, "switches", pfs_words, offsetof(PfsSharedWords, flags) + pfs_sizes.instruments * sizeof(uint32), 0, 0);
	for (int i = 0; i < PFS_NUM_COUNTED_OBJECTS; i++)
		add_sets(rsinfo, psprintf("pending objects %d", i), &pfs_pending_sets[i]);
	return (Datum) 0;
}
