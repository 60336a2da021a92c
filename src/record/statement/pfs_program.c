/*
 * pfs_program.c
 *	  Programs: finding, making, counting, removing.
 *
 * A transaction that has dropped a function removes the record behind its commit.  A call that is over when its
 * function has been dropped counts nowhere.  A process that has not heard of the drop yet can begin a call behind it,
 * and so make the record again: readers of the function's database remove such a one (pfs_program_drop()).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_hash.h"
#include "pfs_program.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/* Records of one page. */
#define PROGRAMS_PER_PAGE 64

/* Entries of a process: at most; and beyond which it forgets them when it can. */
#define ENTRIES_MAX (1 << 20)
#define ENTRIES_MANY 4096

PFS_FIXED PfsPages *pfs_programs = NULL;
static PFS_FIXED PfsHash *programs_by_key = NULL;

/* Of this process. */
static PfsPool entries = PFS_POOL_INIT(sizeof(PfsProgramEntry), ENTRIES_MAX);
static PfsIndex by_program;

/* The one that was found last, as the same function is called again and again; NULL: none. */
static PfsProgramEntry *found_last = NULL;

static bool
has_key(const void *record, const void *key)
{
	const PfsProgram *p = record;
	const PfsProgramKey *wanted = key;

	return p->key.program == wanted->program && p->key.database == wanted->database;
}

void
pfs_programs_lay_out(PfsSegment *seg)
{
	pfs_programs = pfs_pages_create(seg, "program_instances", sizeof(PfsProgram), pfs_sizes.programs,
									PROGRAMS_PER_PAGE);
	programs_by_key = pfs_hash_create(seg, pfs_programs, pfs_sizes.programs, has_key);
}

/*
 * Removes the records of a function, whatever its type; or all of a database, where
 * function is InvalidOid.  By walking over all records, as a drop is rare.
 */
void
pfs_program_drop(Oid database, Oid function)
{
	if (pfs_programs == NULL || !pfs_may_remove_objects())
		return;
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_programs, &at);)
	{
		PfsProgramKey key = ((PfsProgram *) pfs_pages_record(pfs_programs, at.index))->key;

		/* If the record has changed hands meanwhile, its word has, too. */
		if (key.database == database &&
			(!OidIsValid(function) || PFS_PROGRAM_FUNCTION_OID(key.program) == function) &&
			pfs_hash_remove(programs_by_key, pfs_hash_bytes(&key, sizeof(key)), at.index, at.word))
			pfs_object_removed(PFS_COUNTED_PROGRAMS, at.index);
	}
}

bool
pfs_program_is_known(Oid function)
{
	for (PfsProgramType type = PFS_PROGRAM_FUNCTION; type <= PFS_PROGRAM_TRIGGER; type++)
	{
		PfsProgramKey key = {MyDatabaseId, PFS_PROGRAM_WORD(type, function)};
		uint64		word;

		if (pfs_hash_find(programs_by_key, pfs_hash_bytes(&key, sizeof(key)), &key, &word) != PFS_NO_RECORD)
			return true;
	}
	return false;
}

/* ---- entries of this process ---- */

/* Finds the entry of a program, or makes one, which nobody has decided on and which has no record yet. */
PfsProgramEntry *
pfs_program_find(PfsProgramType type, Oid function)
{
	uint64		program = PFS_PROGRAM_WORD(type, function);
	PfsProgramEntry *entry = found_last;

	if (likely(entry != NULL && pfs_program_word(entry) == program))
		return entry;
	found_last = entry = (PfsProgramEntry *) pfs_index_find(&by_program, program);
	if (likely(entry != NULL))
		return entry;
	if (!pfs_index_has_room(&by_program))
		pfs_index_resize(&by_program);
	if (!pfs_pool_grow(&entries))
	{
		pfs_pages_count_lost(pfs_programs);
		return NULL;
	}
	entry = pfs_pool_claim(&entries);
	memset(entry, 0, sizeof(*entry));
	pfs_index_add(&by_program, &entry->by_program, program);
	return entry;
}

/*
 * Forgets all programs, if they are many: functions that come and go, temporary ones for
 * instance, would otherwise fill the memory of a process that lives for long.
 */
void
pfs_program_forget_many(void)
{
	if (likely(entries.live <= ENTRIES_MANY))
		return;
	/* The index is made small by way of its entries, so they go behind it. */
	by_program.items = 0;
	pfs_index_resize(&by_program);
	memset(&by_program, 0, sizeof(by_program));
	found_last = NULL;
	pfs_pool_destroy(&entries);
}

/* ---- counting ---- */

/* What was counted of a program that has gone goes with it. */
static void
add_cb(void *program, const PfsPending *place)
{
	const PfsPendingProgram *p = (const PfsPendingProgram *) place;
	const uint64 *truncated = pfs_shared_pending[PFS_COUNTED_PROGRAMS].truncated;
	PfsProgram *to = program;
	PfsStatementTotals statements = {0};

	if (to == NULL)
		return;
	if (pfs_pending_counts(truncated, place, PFS_PROGRAM_CALLS))
		pfs_shared_cell_add_counts(&to->calls, &p->calls.counts);
	if (!pfs_pending_counts(truncated, place, PFS_PROGRAM_STATEMENTS))
		return;
	pfs_kind_add(&pfs_statement_kind, &statements, &p->statements, PFS_SHARE_ALL);
	pfs_kind_merge(&pfs_statement_kind, &to->statements, &statements);
}

const PfsCountedKind pfs_counted_programs = {
	.shape = &pfs_pending_program_shape,
	.objects = &pfs_programs,
	.add = add_cb,
	.cells = offsetof(PfsProgram, calls),
	.ncells = 1
};

/* Fills in a new record, for the hash table. */
static void
fill_cb(void *record, const void *key, void *arg)
{
	PfsProgram *p = record;

	memset(p, 0, sizeof(*p));
	p->key = *(const PfsProgramKey *) key;
}

/*
 * Finds or makes the record of an entry, when a call begins: at the first time, and where it has
 * been removed since.  Without room the container counts a loss, and the call counts nowhere.
 */
void
pfs_program_prepare(PfsProgramEntry *entry)
{
	static uint32 hint = 0;
	PfsProgramKey key = {MyDatabaseId, pfs_program_word(entry)};
	bool		created;
	uint32		index;
	uint64		word;

	if (likely(pfs_object_is_there(PFS_COUNTED_PROGRAMS, entry->object)))
		return;
	index = pfs_hash_insert(programs_by_key, pfs_hash_bytes(&key, sizeof(key)), &key, fill_cb, NULL, &hint, &word, &created);
	entry->object = index == PFS_NO_RECORD ? 0 : PFS_COUNTED_OBJECT(index, word);
}

/* Where a program is counted, until it is put. */
static PfsPendingProgram *
get_place(PfsThread *t, const PfsProgramEntry *entry)
{
	PfsPending *p = pfs_pending_find(PFS_COUNTED_PROGRAMS, &pfs_pending_program_shape, entry->object, 0);

	if (likely(p != NULL))
		return (PfsPendingProgram *) p;
	p = pfs_pending_get(t, PFS_COUNTED_PROGRAMS, entry->object, 0);
	pfs_counts_clear(&((PfsPendingProgram *) p)->calls.counts);
	return (PfsPendingProgram *) p;
}

/* A call is outside of a write section where its language ends it, and inside where the process's end does. */
void
pfs_program_count_call(const PfsProgramEntry *entry, bool timed, uint64 ticks)
{
	PfsThread  *t = pfs_my_thread;
	PfsPendingProgram *p;
	bool		entered;

	if (t == NULL || unlikely(entry->object == 0))
		return;
	entered = pfs_write_enter(t);
	p = get_place(t, entry);
	if (timed)
		pfs_counts_add_event(&p->calls.counts, ticks);
	else
		p->calls.counts.untimed++;
	pfs_pending_put(t, PFS_COUNTED_PROGRAMS, &p->calls.place);
	if (entered)
		pfs_write_end(t);
}

/* The time in ticks of the default timer, as of calls. */
void
pfs_program_count_statement(const PfsProgramEntry *entry, uint32 flags, uint64 ticks, const uint64 *n, const uint64 *rare,
							uint64 memory)
{
	PfsPendingProgram *p;

	if ((entry->flags & PFS_PROGRAM_ENABLED) == 0 || unlikely(entry->object == 0))
		return;
	p = get_place(pfs_my_thread, entry);
	if (flags & PFS_FLAG_TIMED)
		pfs_cell_add_timed(&p->statements.time, pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks));
	else
		p->statements.time.count_untimed++;
	pfs_counters_add_parts(p->statements.n, n, rare);
	p->statements.memory = Max(p->statements.memory, memory);
	pfs_pending_put(pfs_my_thread, PFS_COUNTED_PROGRAMS, &p->calls.place);
}
