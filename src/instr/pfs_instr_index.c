/*
 * pfs_instr_index.c
 *	  The methods of the server's six index access methods: entries that scans find and
 *	  entries that are made.
 *
 * Since 19 all relations share one struct for each access method, in which methods are replaced
 * as in that of tables.  Before, each relation has a copy of what the handler has returned: so
 * the handlers are replaced in the server's list of built-in functions, in the postmaster,
 * before any relation is known.  Every copy ever made has our methods then, in every process,
 * and a process that is not watched jumps on to the server's.
 *
 * An index scan's run hangs at the fetch from the table that goes with it, as entries and rows
 * are one piece of work.  An entry of a page of a btree that the scan has read already is
 * counted, all else is timed.
 *
 * Separate from pfs_instr_table.c, which watches what happens in the table itself.
 */
#include "postgres.h"

#include "utils/fmgroids.h"
#include "utils/fmgrtab.h"

#include "pfs_instr_table.h"
#include "pfs_relro.h"

/* Name, handler, and the functions that the methods should be. */
#define INDEX_AMS(X) \
	X(btree, F_BTHANDLER, btgettuple, btgetbitmap, btinsert) \
	X(hash, F_HASHHANDLER, hashgettuple, hashgetbitmap, hashinsert) \
	X(gist, F_GISTHANDLER, gistgettuple, gistgetbitmap, gistinsert) \
	X(gin, F_GINHANDLER, NULL, gingetbitmap, gininsert) \
	X(spgist, F_SPGHANDLER, spggettuple, spggetbitmap, spginsert) \
	X(brin, F_BRINHANDLER, NULL, bringetbitmap, brininsert)

#define AM_ENUMERATOR(am, ...) AM_##am,

typedef enum IndexAmNumber
{
	INDEX_AMS(AM_ENUMERATOR)
	NUM_INDEX_AMS
} IndexAmNumber;

/* Set in the postmaster, inherited. */
typedef struct IndexAm
{
	IndexAmRoutine real;
	IndexAmRoutine ours;
	PfsMethodStruct shared;		/* since 19 */
	PGFunction	real_handler;	/* before */
	bool		is_watched;
} IndexAm;

static PFS_FIXED_TABLE IndexAm ams[NUM_INDEX_AMS];

/* What lookups call, also where nothing is watched. */
static PFS_FIXED_FIRST amgettuple_function btree_gettuple_of_server = NULL;

/* This process is watched. */
static PFS_HOT_FIRST bool is_on = false;

/* Is it, or does it have our methods only because all processes have? */
#define IS_ON (PFS_INDEX_METHODS_ARE_SHARED || is_on)

/* ---- methods ---- */

/* The next page of an index, or any entry where pages are not known. */
static pg_noinline bool
gettuple_timed(const IndexAm *am, IndexScanDesc scan, ScanDirection direction)
{
	PfsThread  *t = pfs_my_thread;
	Relation	index = scan->indexRelation;
	PfsScanPlace *place;
	PfsRelRun  *run;
	bool		found;

	/* The end of a fetch from a table that is no heap is not seen. */
	if (t == NULL || scan->xs_heapfetch == NULL || scan->heapRelation->rd_tableam != pfs_heap_methods)
		return am->real.amgettuple(scan, direction);
	place = pfs_scan_place(t, scan->xs_heapfetch, RelationGetRelid(index));
	run = pfs_rel_run(t, &place->link, scan->heapRelation, index, RelationGetRelid(index), PFS_OP_FETCH);
	pfs_rel_call_begin(t, run);
	found = am->real.amgettuple(scan, direction);
	pfs_rel_index_call_end(run, found);
	return found;
}

/* The method of btrees whose pages are known. */
static bool
btree_gettuple_of_page(IndexScanDesc scan, ScanDirection direction)
{
	const IndexFetchTableData *fetch;
	PfsScanPlace *place;

	if (!IS_ON)
		return btree_gettuple_of_server(scan, direction);
	fetch = scan->xs_heapfetch;
	place = pfs_scan_home(fetch);
	if (likely(fetch != NULL && pfs_scan_is_at(place, fetch) && pfs_compat_btree_has_entry(scan, direction)))
	{
		pfs_rel_index_row(place->link.run);
		return btree_gettuple_of_server(scan, direction);
	}
	return gettuple_timed(&ams[AM_btree], scan, direction);
}

/* All entries that match, in one call.  Their rows are fetched by a scan of the table. */
static pg_noinline int64
getbitmap_timed(const IndexAm *am, IndexScanDesc scan, TIDBitmap *bitmap)
{
	PfsThread  *t = pfs_my_thread;
	Relation	index = scan->indexRelation;
	PfsRelLink	link = {0};
	PfsRelRun  *run;
	int64		n;

	if (t == NULL)
		return am->real.amgetbitmap(scan, bitmap);
	run = pfs_rel_run(t, &link, NULL, index, RelationGetRelid(index), PFS_OP_FETCH);
	pfs_rel_call_begin(t, run);
	n = am->real.amgetbitmap(scan, bitmap);
	pfs_rel_index_call_end(run, n);
	pfs_rel_link_end(t, &link);
	pfs_rel_note_bitmap(index->rd_index->indrelid, RelationGetRelid(index));
	return n;
}

#define INSERT_PARAMS Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation rel, \
	IndexUniqueCheck check, bool unchanged, struct IndexInfo *info
#define INSERT_ARGS index, values, isnull, tid, rel, check, unchanged, info

/*
 * An entry is made, for a new row or a new version of one; of a deferred constraint the one that
 * is there is only checked, in the end.
 */
static pg_noinline bool
insert_timed(const IndexAm *am, INSERT_PARAMS)
{
	PfsThread  *t = pfs_my_thread;
	PfsRelRun  *run;
	bool		is_unique;

	if (t == NULL)
		return am->real.aminsert(INSERT_ARGS);
	run = pfs_rel_write(t, rel, index, PFS_OP_INSERT);
	pfs_rel_call_begin(t, run);
	is_unique = am->real.aminsert(INSERT_ARGS);
	pfs_rel_call_end(run, check != UNIQUE_CHECK_EXISTING);
	return is_unique;
}

/* Replaces one method of a relation, if it is the one that is known. */
#define EXCHANGE(routine, am, method) \
	do { \
		if ((routine)->method == (am)->real.method) \
			(routine)->method = (am)->ours.method; \
	} while (0)

/* What a relation gets up to 18: a struct of its own.  A session that begins calls this for nearly a hundred. */
static pg_noinline pg_attribute_unused()
Datum
handler(const IndexAm *am, FunctionCallInfo fcinfo)
{
	Datum		result = am->real_handler(fcinfo);
	IndexAmRoutine *routine = (IndexAmRoutine *) DatumGetPointer(result);

	EXCHANGE(routine, am, amgettuple);
	EXCHANGE(routine, am, amgetbitmap);
	EXCHANGE(routine, am, aminsert);
	return result;
}

/*
 * The methods of each access method are these, with it as a constant.  A process that is not watched
 * jumps on to the server's.
 */
#define AM_METHODS(am, ...) \
	static bool \
	am##_gettuple(IndexScanDesc scan, ScanDirection direction) \
	{ \
		return IS_ON ? gettuple_timed(&ams[AM_##am], scan, direction) \
			: ams[AM_##am].real.amgettuple(scan, direction); \
	} \
	static int64 \
	am##_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap) \
	{ \
		return IS_ON ? getbitmap_timed(&ams[AM_##am], scan, bitmap) \
			: ams[AM_##am].real.amgetbitmap(scan, bitmap); \
	} \
	static bool \
	am##_insert(INSERT_PARAMS) \
	{ \
		return IS_ON ? insert_timed(&ams[AM_##am], INSERT_ARGS) \
			: ams[AM_##am].real.aminsert(INSERT_ARGS); \
	} \
	static pg_attribute_unused() Datum \
	am##_handler(PG_FUNCTION_ARGS) \
	{ \
		return handler(&ams[AM_##am], fcinfo); \
	}

INDEX_AMS(AM_METHODS)

/* ---- a process begins and stops ---- */

/*
 * Begins or stops to watch indexes.  What is put in place one by one is taken back if one of them
 * fails.
 */
int
pfs_index_methods_switch(bool on)
{
	is_on = on;
	for (int i = 0; i < NUM_INDEX_AMS && PFS_INDEX_METHODS_ARE_SHARED; i++)
	{
		int			err = ams[i].is_watched ? pfs_method_struct_switch(&ams[i].shared, on) : 0;

		if (err == 0)
			continue;
		is_on = false;
		while (on && i-- > 0)
			(void) pfs_method_struct_switch(&ams[i].shared, false);
		return err;
	}
	return 0;
}

/* ---- the postmaster ---- */

/* What the handlers are, and what takes their place. */
typedef struct AmInfo
{
	const char *name;
	Oid			handler;
	const void *gettuple;
	const void *getbitmap;
	const void *insert;
	amgettuple_function our_gettuple;
	amgetbitmap_function our_getbitmap;
	aminsert_function our_insert;
	PGFunction	our_handler;
} AmInfo;

#define AM_INFO(am, oid, gettuple, getbitmap, insert) \
	{#am, oid, gettuple, getbitmap, insert, am##_gettuple, am##_getbitmap, am##_insert, am##_handler},

static const AmInfo infos[] = {INDEX_AMS(AM_INFO)};

/* A method that an access method does not have stays missing: the planner asks for it. */
static void
replace(IndexAm *am, const AmInfo *info, bool pages_are_known)
{
	am->ours = am->real;
	if (am->real.amgettuple != NULL)
		am->ours.amgettuple = info->our_gettuple;
	if (am->real.amgettuple != NULL && pages_are_known && info->handler == F_BTHANDLER)
	{
		btree_gettuple_of_server = am->real.amgettuple;
		am->ours.amgettuple = btree_gettuple_of_page;
	}
	if (am->real.amgetbitmap != NULL)
		am->ours.amgetbitmap = info->our_getbitmap;
	if (am->real.aminsert != NULL)
		am->ours.aminsert = info->our_insert;
}

#if PFS_INDEX_METHODS_ARE_SHARED

/* Methods are behind what an access method says of itself. */
#define METHODS(am) ((void **) &(am)->ambuild)
#define NUM_METHODS ((sizeof(IndexAmRoutine) - offsetof(IndexAmRoutine, ambuild)) / sizeof(void *))

/* Puts ours in place, asks the server for an access method's methods, and puts its own back. */
static const char *
put_in_place(IndexAm *am, const AmInfo *info)
{
	const IndexAmRoutine *routine = GetIndexAmRoutine(info->handler);
	bool		seen = false;

	if (!pfs_relro_has(routine, sizeof(*routine)))
		return "its methods do not lie in the server's read-only data";
	am->shared = (PfsMethodStruct)
	{
		METHODS(unconstify(IndexAmRoutine *, routine)), METHODS(&am->real), METHODS(&am->ours), NUM_METHODS
	};
	if (pfs_method_struct_switch(&am->shared, true) == 0)
	{
		seen = GetIndexAmRoutine(info->handler)->aminsert == info->our_insert;
		if (pfs_method_struct_switch(&am->shared, false) == 0 && seen)
			return NULL;
	}
	return seen ? "its methods could not be made writable" : "its handler goes past what was written";
}

#else

/* Replaces the handler, and asks the server for an access method's methods. */
static const char *
put_in_place(IndexAm *am, const AmInfo *info)
{
	for (int i = 0; i < fmgr_nbuiltins; i++)
	{
		FmgrBuiltin *builtin = unconstify(FmgrBuiltin *, &fmgr_builtins[i]);
		void	   *theirs = builtin->func;
		void	   *ours = info->our_handler;
		bool		others;
		IndexAmRoutine *routine;
		bool		seen;

		if (builtin->foid != info->handler)
			continue;
		if (!pfs_relro_has(builtin, sizeof(*builtin)))
			return "the server's functions are not listed in its read-only data";
		am->real_handler = builtin->func;
		if (pfs_relro_write((void **) &builtin->func, &theirs, &ours, 1, &others) != 0)
			return "the list of the server's functions could not be made writable";
		routine = GetIndexAmRoutine(info->handler);
		seen = routine->aminsert == info->our_insert;
		pfree(routine);
		if (seen)
			return NULL;
		(void) pfs_relro_write((void **) &builtin->func, &ours, &theirs, 1, &others);
		return "a call of its handler goes past what was written";
	}
	return "the server's list of functions does not have its handler";
}

#endif

/* Finds, compares, replaces and reports the methods of one access method. */
static void
start(IndexAm *am, const AmInfo *info, bool trusted)
{
	const IndexAmRoutine *routine = GetIndexAmRoutine(info->handler);
	const PfsCompatMethod methods[] = {
		{routine->amgettuple, info->gettuple},
		{routine->amgetbitmap, info->getbitmap},
		{routine->aminsert, info->insert},
	};
	PfsMethodJudgement judgement = pfs_method_struct_judge(methods, lengthof(methods));
	const char *why_not;

	am->real = *routine;
	if (judgement == PFS_METHODS_ARE_UNKNOWN)
		why_not = "its methods are not those of the version that pfs was built for";
	else
	{
		replace(am, info, trusted && judgement == PFS_METHODS_ARE_SERVERS);
		why_not = put_in_place(am, info);
	}
	am->is_watched = why_not == NULL;
	pfs_method_struct_report(info->name, judgement, why_not);
	if (why_not != NULL)
		ereport(LOG,
				(errmsg("pfs: indexes of access method \"%s\" cannot be watched: %s", info->name, why_not)));
}

/* Does so for all of them. */
void
pfs_index_methods_start(bool trusted)
{
	for (int i = 0; i < NUM_INDEX_AMS; i++)
		start(&ams[i], &infos[i], trusted);
}
