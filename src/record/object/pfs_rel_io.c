/*
 * pfs_rel_io.c
 *	  Row accesses: which of them are wanted, when a run begins and ends, and where its rows
 *	  are counted then.
 *
 * What a process knows of a relation it keeps in a small cache by OID, so that a run begins
 * without a search: the record in which its rows are counted, and what the rules of
 * setup_objects say of it.
 */
#include "postgres.h"

#include "access/xact.h"

#include "pfs_chain.h"
#include "pfs_object_rules.h"
#include "pfs_shared.h"
#include "pfs_rel_count.h"
#include "pfs_rel_io.h"
#include "pfs_wait_class.h"

/* ---- relations ---- */

/*
 * What is known of a table or an index.  The record holds while its state word is the
 * same; the flags, of tables, while rules, schema and name are.
 */
typedef struct KnownRelation
{
	Oid			oid;
	uint32		flags;			/* PFS_OBJECT_* */
	uint64		stat;			/* 0: none */
	uint64		rules;			/* pfs_object_rules_resolved() */
	Oid			schema;
	NameData	name;
} KnownRelation;

/* One for each place: a power of two, whose bits know() takes. */
#define KNOWN_RELATIONS 64
#define KNOWN_SHIFT		26

static KnownRelation known[KNOWN_RELATIONS];

/* pfs_words->indexes_handed_over when that was so. */
static uint64 known_since;

StaticAssertDecl(KNOWN_RELATIONS == 1 << (32 - KNOWN_SHIFT), "each place can be found");

/* What is known of a relation, now or from now on. */
static inline KnownRelation *
know(Oid oid)
{
	KnownRelation *k = &known[(oid * UINT32_C(2654435769)) >> KNOWN_SHIFT];

	if (unlikely(k->oid != oid))
		*k = (KnownRelation)
	{
		.oid = oid
	};
	return k;
}

/* An OID may be of another index now than when its record was found. */
static pg_noinline void
forget_records(uint64 now)
{
	for (int i = 0; i < KNOWN_RELATIONS; i++)
		known[i].stat = 0;
	known_since = now;
	pfs_fence_acquire();		/* X: pairs with W, in pfs_rel_stat.c: the end
								 * of the two OIDs is seen */
}

/* The record of a table or an index; 0: there is no room. */
static inline uint64
stat_of(PfsRelStatKind kind, Oid database, Oid oid, Oid relation, bool temporary, SubTransactionId maker)
{
	KnownRelation *k = know(oid);
	uint64		handed_over = pfs_load_relaxed(&pfs_words->indexes_handed_over);

	if (unlikely(handed_over != known_since))
		forget_records(handed_over);
	if (unlikely(!pfs_rel_stat_is_there(kind, k->stat)))
		k->stat = pfs_rel_stat_find(kind, database, oid, relation, temporary, maker);
	return k->stat;
}

/* Which subtransaction of the present transaction has made a relation, as far as it is at hand. */
static inline SubTransactionId
maker_of(Relation rel)
{
	return rel != NULL ? rel->rd_createSubid : InvalidSubTransactionId;
}

/* What the rules say of a table. */
static uint32
flags_of(Relation rel)
{
	KnownRelation *k = know(RelationGetRelid(rel));
	const FormData_pg_class *class = rel->rd_rel;

	if (unlikely(k->rules != pfs_object_rules_resolved() || k->schema != class->relnamespace ||
				 memcmp(&k->name, &class->relname, sizeof(NameData)) != 0))
	{
		k->flags = pfs_object_rules_flags(PFS_RULE_TABLE, class->relnamespace, NameStr(class->relname));
		k->rules = pfs_object_rules_resolved();
		k->schema = class->relnamespace;
		k->name = class->relname;
	}
	return k->flags;
}

/*
 * ---- rules of tables whose names are not at hand ----
 *
 * A bitmap index scan has the index alone.  It has its table's schema and OID, so the rules for all
 * names of the schema decide, but for tables of the running queries that a rule by name decides
 * otherwise for: these are noted when a query begins to run.
 */
typedef struct ByName
{
	Oid			relation;
	uint32		flags;			/* PFS_OBJECT_* */
	uint64		rules;			/* pfs_object_rules_resolved() */
} ByName;

/* With more at a time, the first ones go by the rules for all names. */
#define BY_NAME_MAX 64

static ByName by_name[BY_NAME_MAX];
static uint32 next_by_name = 0;

static ByName *
find_by_name(Oid relation)
{
	for (int i = 0; i < BY_NAME_MAX; i++)
	{
		if (by_name[i].relation == relation)
			return &by_name[i];
	}
	return NULL;
}

/* Notes a table, or that no rule by name decides for it any more. */
void
pfs_rel_note_name(Relation rel)
{
	uint32		flags = flags_of(rel);
	ByName	   *noted = find_by_name(RelationGetRelid(rel));

	if (flags == pfs_object_rules_flags(PFS_RULE_TABLE, RelationGetNamespace(rel), ""))
	{
		if (noted != NULL)
			noted->relation = InvalidOid;
		return;
	}
	if (noted == NULL)
		noted = &by_name[next_by_name++ % BY_NAME_MAX];
	*noted = (ByName)
	{
		RelationGetRelid(rel), flags, pfs_object_rules_resolved()
	};
}

/* What the rules say of the table of an index. */
static uint32
flags_by_index(Relation index)
{
	const ByName *noted = pfs_object_rules_name_tables ? find_by_name(index->rd_index->indrelid) : NULL;

	if (noted != NULL && noted->rules == pfs_object_rules_resolved())
		return noted->flags;
	return pfs_object_rules_flags(PFS_RULE_TABLE, RelationGetNamespace(index), "");
}

/* ---- begin ---- */

/*
 * Makes a run.  Returns NULL if it is not wanted, as the instrument or the object is off, or
 * if the process has no place for runs.
 */
static PfsRelRun *
make_run(PfsThread *t, Relation rel, Relation index, Oid index_oid, PfsOperation operation)
{
	PfsInstrumentId instrument = pfs_fixed_instrument[PFS_INS_TABLE];
	uint32		flags = pfs_wait_flags(t, instrument);
	Oid			database = (rel != NULL ? rel : index)->rd_lockInfo.lockRelId.dbId;
	Oid			relation = rel != NULL ? RelationGetRelid(rel) : index->rd_index->indrelid;
	bool		temporary = (rel != NULL ? rel : index)->rd_rel->relpersistence == RELPERSISTENCE_TEMP;
	uint32		switches;
	bool		rides;
	PfsRelRun  *run;

	if ((flags & PFS_FLAG_ENABLED) == 0 || !pfs_rel_runs_claim(t))
		return NULL;
	switches = rel != NULL ? flags_of(rel) : flags_by_index(index);
	if ((switches & PFS_OBJECT_ENABLED) == 0)
		return NULL;
	if ((switches & PFS_OBJECT_TIMED) == 0)
		flags &= ~PFS_FLAG_TIMED;
	run = pfs_rel_run_claim();
	if (unlikely(run == NULL))
	{
		run = pfs_rel_run_victim();
		if (run == NULL)
			return NULL;
		pfs_rel_run_finish(t, run);
		run = pfs_rel_run_claim();
	}
	run->wait.kind = pfs_event_kind(instrument, operation, PFS_OBJECT_TABLE);
	run->wait.flags = flags;
	run->wait.source = 0;
	run->wait.object.table.database = database;
	run->wait.object.table.relation = relation;
	run->wait.object.table.index = index_oid;
	run->is_timed = (flags & PFS_FLAG_TIMED) != 0;
	run->charged = pfs_charge.statement_cb(&rides);
	if (unlikely(rides))
	{
		pfs_rel_local.riding |= pfs_rel_run_bit(run);
		run->given = (PfsRowCount)
		{
			0
		};
	}
	run->table_stat = stat_of(PFS_TABLE_STATS, database, relation, relation, temporary, maker_of(rel));
	run->index_stat = OidIsValid(index_oid)
		? stat_of(PFS_INDEX_STATS, database, index_oid, relation, temporary, maker_of(index)) : 0;
	return run;
}

PfsRelRun *
pfs_rel_run_begin(PfsThread *t, PfsRelLink *link, Relation rel, Relation index, Oid index_oid, PfsOperation operation)
{
	PfsRelRun  *run = make_run(t, rel, index, index_oid, operation);

	if (run == NULL)
		run = &pfs_rel_run_of_nobody;
	else
		run->examines = operation == PFS_OP_FETCH;
	link->run = run;
	link->serial = run->serial;
	return run;
}

/*
 * Returns the run of what the present command does with the rows of a table, or with the
 * entries of one of its indexes.  There are few at a time: for a table, and one for each of its
 * indexes.
 */
PfsRelRun *
pfs_rel_write(PfsThread *t, Relation rel, Relation index, PfsOperation operation)
{
	Oid			index_oid = index != NULL ? RelationGetRelid(index) : InvalidOid;
	Oid			relation = RelationGetRelid(rel);
	PfsRelRun  *run;

	for (uint64 left = pfs_rel_local.writing; left != 0; left &= left - 1)
	{
		run = &pfs_rel_local.runs->items[__builtin_ctzll(left)];
		if (run->wait.object.table.relation == relation && run->wait.object.table.index == index_oid &&
			run->wait.operation == operation && run->serial >= pfs_rel_local.writes_first)
			return run;
	}
	run = make_run(t, rel, index, index_oid, operation);
	if (run == NULL)
		return &pfs_rel_run_of_nobody;
	run->is_write = true;
	pfs_rel_local.writing |= pfs_rel_run_bit(run);
	return run;
}

/* ---- end ---- */

/*
 * Ends a run: counts its rows, and makes its event.  Time in which no row was found belongs to
 * the rows that there are.
 */
void
pfs_rel_run_finish(PfsThread *t, PfsRelRun *run)
{
	PfsRowCount *rest = run->index_stat != 0 && run->rows.timed == 0 ? &run->index_rows : &run->rows;

	pfs_rel_index_alone(run);
	rest->sum += run->held;
	pfs_rel_run_examine(run);
	/* An error has left the record so, see pfs_process.c. */
	if (unlikely(pfs_is_writing(t)))
	{
		pfs_rel_run_drop(run);
		return;
	}
	pfs_write_begin(t);
	pfs_rel_count(t, run);
	pfs_rel_run_end(t, run);
	pfs_write_end(t);
}

/* Ends the runs of the present command's writes. */
void
pfs_rel_writes_finish(PfsThread *t)
{
	for (uint64 left = pfs_rel_local.writing; left != 0; left &= left - 1)
	{
		PfsRelRun  *run = &pfs_rel_local.runs->items[__builtin_ctzll(left)];

		if (run->serial >= pfs_rel_local.writes_first)
			pfs_rel_run_finish(t, run);
	}
}

/* Ends the runs whose scans nobody will end, and the calls that an error has left. */
void
pfs_rel_runs_sweep(PfsThread *t, int level, uint64 calls_before)
{
	uint64		over = pfs_rel_calls() & ~calls_before;

	for (uint64 left = pfs_rel_local.open; left != 0; left &= left - 1)
	{
		if (pfs_rel_local.runs->items[__builtin_ctzll(left)].subxact >= level)
			over |= left & -left;
	}
	pfs_rel_calls_unwind(over);
	for (uint64 left = over; left != 0; left &= left - 1)
	{
		PfsRelRun  *run = &pfs_rel_local.runs->items[__builtin_ctzll(left)];

		if (run->in_call)
			pfs_rel_call_broken(run);
		pfs_rel_run_finish(t, run);
	}
	if (level <= 1)
		pfs_rel_local.writes_first = 0;
}

void
pfs_rel_runs_promote(int level)
{
	for (uint64 left = pfs_rel_local.open; left != 0; left &= left - 1)
	{
		PfsRelRun  *run = &pfs_rel_local.runs->items[__builtin_ctzll(left)];

		if (run->subxact >= level)
			run->subxact = level - 1;
	}
}

/* ---- waits for locks ---- */

/* Counts a wait for a lock on a table, by mode or for all of them, in its chain. */
static void
count_lock(PfsRelStat *stat, uint32 key, const PfsEndedLock *ended)
{
	static uint32 hint = 0;
	PfsChained *cell = pfs_chain_get(pfs_rel_locks, &stat->locks, key, &hint);

	if (cell != NULL)
		pfs_shared_cell_add(&cell->cell, ended->timed, ended->ticks);
}

/* It is counted in the record that all processes share: the wait has cost far more than that. */
void
pfs_rel_lock_ended(PfsThread *t)
{
	const PfsEndedLock ended = pfs_ended_lock;
	uint64		found;
	PfsRelStat *stat;

	pfs_ended_lock.relation = InvalidOid;
	if (ended.mode < 1 || ended.mode > PFS_REL_LOCK_MODES)
		return;
	found = pfs_rel_stat_find(PFS_TABLE_STATS, ended.database, ended.relation, ended.relation, false,
							  InvalidSubTransactionId);
	stat = pfs_object_enter(t, PFS_COUNTED_TABLES, found);
	if (stat != NULL)
	{
		count_lock(stat, ended.mode, &ended);
		count_lock(stat, PFS_REL_LOCK_ANY, &ended);
	}
	pfs_object_leave(t, PFS_COUNTED_TABLES);
}

/* ---- bitmap scans ---- */

/*
 * The last bitmap index scan of each of some tables.  A bitmap scan of a table takes all rows
 * of its indexes before it reads the first page, so it goes by the last one of that table.
 */
#define BITMAPS 16

static struct
{
	Oid			relation;
	Oid			index;
}			bitmaps[BITMAPS];

void
pfs_rel_note_bitmap(Oid relation, Oid index)
{
	bitmaps[relation % BITMAPS].relation = relation;
	bitmaps[relation % BITMAPS].index = index;
}

Oid
pfs_rel_bitmap_index(Oid relation)
{
	return bitmaps[relation % BITMAPS].relation == relation ? bitmaps[relation % BITMAPS].index : InvalidOid;
}
