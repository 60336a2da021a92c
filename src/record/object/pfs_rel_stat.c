/*
 * pfs_rel_stat.c
 *	  What is counted of tables and indexes: finding, making and removing its records.
 *
 * Separate from pfs_rel_io.c, which decides what is counted where.
 */
#include "postgres.h"

#include "pfs.h"
#include "pfs_chain.h"
#include "pfs_hash.h"
#include "pfs_object_change.h"
#include "pfs_pending.h"
#include "pfs_rebuild.h"
#include "pfs_shared.h"
#include "pfs_rel_stat.h"

PfsPages   *pfs_rel_locks = NULL;

/*
 * What has been dropped lately, by hash: database and OID.  Who has waited for a dropped table, or still keeps an
 * index that goes CONCURRENTLY, comes behind its removal, and makes no record anew.  One command can drop
 * thousands, before it releases its locks.
 */
#define DROPPED_MAX 8192

static uint64 *dropped = NULL;	/* in shared memory; atomic */

/* 64 kB, or so, are a page. */
#define STATS_PER_PAGE	256
#define LOCKS_PER_PAGE	1024

/* Hardly any table is waited for, and then in one mode or two; each has a cell of all modes besides. */
#define TABLES_PER_LOCK	4

static uint32 hints[PFS_NUM_REL_STAT_KINDS];

/* What a record is found by, and of what it is then. */
typedef struct StatKey
{
	Oid			database;
	Oid			oid;
	Oid			relation;
} StatKey;

static uint64
hash_of(Oid database, Oid oid)
{
	const Oid	key[2] = {database, oid};

	return pfs_hash_bytes(key, sizeof(key));
}

/* Another process may be filling the record meanwhile, for pfs_hash. */
static bool
is_of(const void *record, const void *key)
{
	const PfsRelStat *stat = record;
	const StatKey *wanted = key;

	return pfs_load_relaxed(&stat->oid) == wanted->oid && pfs_load_relaxed(&stat->database) == wanted->database;
}

/* Fills a fresh record. */
static void
fill_cb(void *record, const void *key, void *arg)
{
	const StatKey *wanted = key;
	PfsRelStat *stat = record;

	memset(stat, 0, sizeof(*stat));
	stat->database = wanted->database;
	stat->oid = wanted->oid;
	stat->relation = wanted->relation;
}

/* Takes a container with its index. */
static void
lay_out(PfsSegment *seg, PfsRelStats *stats, const char *name, uint32 records_max)
{
	stats->pages = pfs_pages_create(seg, name, TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsRelStat)), records_max,
									STATS_PER_PAGE);
	stats->index = pfs_hash_create(seg, stats->pages, records_max, is_of);
}

void
pfs_rel_stats_lay_out(PfsSegment *seg)
{
	lay_out(seg, &pfs_rel_stats[PFS_TABLE_STATS], "table_instances", pfs_sizes.tables);
	lay_out(seg, &pfs_rel_stats[PFS_INDEX_STATS], "index_stat", pfs_sizes.indexes);
	pfs_rel_locks = pfs_pages_create(seg, "table_lock_stat", sizeof(PfsChained),
									 (pfs_sizes.tables + TABLES_PER_LOCK - 1) / TABLES_PER_LOCK, LOCKS_PER_PAGE);
	dropped = pfs_segment_take(seg, DROPPED_MAX * sizeof(uint64), PFS_CACHE_LINE);
	pfs_rebuilds_lay_out(seg);
}

static inline uint64
dropped_key(Oid database, Oid oid)
{
	return (uint64) database << 32 | oid;
}

/* A record that this process has made. */
typedef struct Made
{
	uint64		stat;
	PfsRelStatKind kind;
	SubTransactionId maker;		/* as pfs_rel_stat_find() has it */
} Made;

/*
 * Records of temporary tables, which the server drops when the session ends, without a
 * transaction that we could watch.  A session with more at a time has no numbers of the rest.
 */
#define TEMPORARY_MAX 1024

static Made temporaries[TEMPORARY_MAX];
static uint32 ntemporaries = 0;

/* Is there room for one more?  Those that were dropped make some. */
static bool
has_room_for_temporary(void)
{
	uint32		left = 0;

	if (ntemporaries < TEMPORARY_MAX)
		return true;
	for (uint32 i = 0; i < ntemporaries; i++)
	{
		if (pfs_rel_stat_is_there(temporaries[i].kind, temporaries[i].stat))
			temporaries[left++] = temporaries[i];
	}
	ntemporaries = left;
	return left < TEMPORARY_MAX;
}

/*
 * Records of what the present transaction has made.  Those that find no room here stay when it is
 * rolled back, until a reader finds that nothing is there any more.
 */
#define MADE_MAX 1024

static Made made[MADE_MAX];

/* Finds a record by its key. */
static inline uint32
find_key(PfsRelStatKind kind, Oid database, Oid oid, uint64 *word)
{
	const StatKey key = {database, oid, InvalidOid};

	return pfs_hash_find(pfs_rel_stats[kind].index, hash_of(database, oid), &key, word);
}

/*
 * Finds the record of an index that has none under its own OID: while it is rebuilt, under the other one of the two
 * OIDs that it has.  If it was not found there either, the record may just have got this OID for a key.
 */
static pg_noinline uint32
find_rebuilt(Oid database, Oid oid, uint64 *word)
{
	Oid			other = pfs_rebuild_other(database, oid);
	uint32		index = OidIsValid(other) ? find_key(PFS_INDEX_STATS, database, other, word) : PFS_NO_RECORD;

	if (index != PFS_NO_RECORD || !OidIsValid(other))
		return index;
	pfs_fence_acquire();		/* V: pairs with U, in pfs_hash_move() */
	return find_key(PFS_INDEX_STATS, database, oid, word);
}

/* Finds or makes the record of a table or an index. */
uint64
pfs_rel_stat_find(PfsRelStatKind kind, Oid database, Oid oid, Oid relation, bool temporary, SubTransactionId maker)
{
	StatKey		key = {database, oid, relation};
	PfsHash    *records = pfs_rel_stats[kind].index;
	uint64		hash = hash_of(database, oid);
	uint64		word;
	bool		created;
	uint32		index = pfs_hash_find(records, hash, &key, &word);
	Made		record;

	if (index == PFS_NO_RECORD && kind == PFS_INDEX_STATS)
		index = find_rebuilt(database, oid, &word);
	if (index != PFS_NO_RECORD)
		return PFS_COUNTED_OBJECT(index, word);
	if (pfs_load_relaxed(&dropped[hash % DROPPED_MAX]) == dropped_key(database, oid))
		return 0;
	if (temporary && !has_room_for_temporary())
	{
		pfs_pages_count_lost(pfs_rel_stats[kind].pages);
		return 0;
	}
	index = pfs_hash_insert(records, hash, &key, fill_cb, NULL, &hints[kind], &word, &created);
	if (index == PFS_NO_RECORD)
		return 0;
	record = (Made)
	{
		PFS_COUNTED_OBJECT(index, word), kind, maker
	};
	if (temporary && created)
		temporaries[ntemporaries++] = record;
	if (maker != InvalidSubTransactionId && created && pfs_object_work.made < MADE_MAX)
		made[pfs_object_work.made++] = record;
	return record.stat;
}

/* ---- removal ---- */

static void
remove_record(PfsRelStatKind kind, uint32 index, uint64 word)
{
	const PfsRelStat *stat = pfs_rel_stat_at(kind, index);

	if (pfs_hash_remove(pfs_rel_stats[kind].index, hash_of(stat->database, stat->oid), index, word))
		pfs_object_removed(pfs_rel_stat_counted(kind), index);
}

/* Removes the records of a table or an index: of an index that was rebuilt there may be several. */
void
pfs_rel_stats_remove(Oid database, Oid oid)
{
	for (int kind = 0; kind < PFS_NUM_REL_STAT_KINDS && pfs_may_remove_objects(); kind++)
	{
		uint64		word;
		uint32		index;

		while ((index = find_key(kind, database, oid, &word)) != PFS_NO_RECORD)
			remove_record(kind, index, word);
	}
}

/*
 * The same at its drop.  Its OID is noted first: who has waited for its lock comes when that is
 * released, which is later.
 */
void
pfs_rel_stats_drop(Oid database, Oid oid)
{
	pfs_store_relaxed(&dropped[hash_of(database, oid) % DROPPED_MAX], dropped_key(database, oid));
	pfs_rel_stats_remove(database, oid);
}

/* Removes a record by its number, if it is still there. */
static void
remove_by_number(const Made *record)
{
	uint32		index = PFS_COUNTED_INDEX(record->stat);
	uint64		word = pfs_pages_word(pfs_rel_stats[record->kind].pages, index);

	if (PFS_COUNTED_WORD(record->stat) == (uint32) word)
		remove_record(record->kind, index, word);
}

/*
 * ---- an index gets another OID ----
 *
 * What was counted of it stays where it is, and so do the numbers by which places of processes, digests and runs know
 * the record: only the key under which it is found becomes another one.
 */

static void
set_key(void *record, const void *key)
{
	pfs_store_release(&((PfsRelStat *) record)->oid, *(const Oid *) key);
}

/*
 * Nobody removes the records meanwhile: the process that rebuilds the index has locks on both.  Two records can be of one
 * index: what it has counted under the one OID while it was looked for under the other one, or before pfs knew that both
 * are one index.  They stay two, and readers add them up.
 */
void
pfs_rel_stat_hand_over(Oid database, Oid from, Oid to)
{
	uint64		word;
	uint32		index;

	while ((index = find_key(PFS_INDEX_STATS, database, from, &word)) != PFS_NO_RECORD)
	{
		if (!pfs_hash_move(pfs_rel_stats[PFS_INDEX_STATS].index, hash_of(database, from), hash_of(database, to), index,
						   set_key, &to))
			break;
	}
}

/* Behind the two OIDs' end as one index: who looks before finds the record of both by either, and would keep that. */
void
pfs_rel_stats_handed_over(void)
{
	pfs_add_seqcst(&pfs_words->indexes_handed_over, 1); /* W: pairs with X, in
														 * pfs_rel_io.c */
}

/* What a subtransaction has made, or all that the transaction has, is gone. */
void
pfs_rel_stats_rolled_back(SubTransactionId id)
{
	uint32		left = 0;

	if (pfs_object_work.made == 0)
		return;
	pfs_objects_free_removed();
	for (uint32 i = 0; i < pfs_object_work.made; i++)
	{
		if (id == InvalidSubTransactionId || made[i].maker == id)
			remove_by_number(&made[i]);
		else
			made[left++] = made[i];
	}
	pfs_object_work.made = left;
}

/* What a subtransaction has made is its parent's. */
void
pfs_rel_stats_promote(SubTransactionId id, SubTransactionId parent)
{
	for (uint32 i = 0; i < pfs_object_work.made; i++)
	{
		if (made[i].maker == id)
			made[i].maker = parent;
	}
}

/* What the transaction has made stays. */
void
pfs_rel_stats_committed(void)
{
	pfs_object_work.made = 0;
}

/* Removes all records of a database that is dropped. */
void
pfs_rel_stats_remove_database(Oid database)
{
	for (int kind = 0; kind < PFS_NUM_REL_STAT_KINDS && pfs_may_remove_objects(); kind++)
	{
		for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_rel_stats[kind].pages, &at);)
		{
			if (pfs_load_relaxed(&pfs_rel_stat_at(kind, at.index)->database) == database)
				remove_record(kind, at.index, at.word);
		}
	}
}

void
pfs_rel_stats_detach(PfsThread *t)
{
	for (uint32 i = 0; i < ntemporaries; i++)
		remove_by_number(&temporaries[i]);
	ntemporaries = 0;
	pfs_rebuilds_end();
	pfs_objects_free_removed();
}
