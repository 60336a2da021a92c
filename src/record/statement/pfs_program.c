/*
 * pfs_program.c
 *	  Records of programs: finding, making, adding, removing.
 *
 * Adding.  All processes that call a program add to its record, by atomic steps, once for
 * each call and once for each statement in it.  Numbers that a process keeps to itself for a while, as
 * for digests, were not worth it: a function of PL/pgSQL that does nothing but return takes 500 ns, to
 * which all that is done for a call adds 150, and no more when two processes call the same
 * function at a time.
 *
 * Removing.  Whoever adds to a record, or reads it, has it pinned meanwhile (pfs_ref.h),
 * so nobody adds to a record that has another program by now.  A transaction that has dropped a
 * function removes the record behind its commit.  Should another process have it pinned
 * just then, that process removes it: first `is_gone` is stored, then the record is marked dead
 * if nobody has pinned it (A); whoever unpins it looks at `is_gone` behind that (B).
 * A and B are sequentially consistent, so if A finds the pin, B finds `is_gone`.
 *
 * A call that is over when its function has been dropped counts nowhere.  A process that has
 * not heard of the drop yet can begin a call behind it, and so make the record again: readers
 * of the function's database remove such a one (pfs_program_drop()).
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

/*
 * A record that cannot be pinned although its state word is right is just being removed, or
 * somebody has taken it for one that he was to remove, and sees his mistake.
 */
#define ENTER_TRIES 64

PFS_FIXED PfsPages *pfs_programs = NULL;
uint32	   *pfs_program_kept_for = NULL;
static PFS_FIXED PfsHash *programs_by_key = NULL;
static PFS_FIXED PfsProgramRefSlot *ref_slots = NULL;

/* Of this process. */
static PfsPool entries = PFS_POOL_INIT(sizeof(PfsProgramEntry), ENTRIES_MAX);
static PfsIndex by_program;

/* The one that was found last, as the same function is called again and again; NULL: none. */
static PfsProgramEntry *found_last = NULL;

size_t
pfs_programs_beside(void)
{
	return pfs_sizes.programs * sizeof(PfsProgramRefSlot);
}

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
	ref_slots = pfs_segment_take(seg, pfs_programs_beside(), PFS_CACHE_LINE);
	pfs_program_kept_for = pfs_segment_take(seg, sizeof(uint32), sizeof(uint32));
}

/* ---- pins ---- */

bool
pfs_program_enter(uint32 index, uint64 word)
{
	for (int i = 0; i < ENTER_TRIES; i++)
	{
		if (pfs_ref_pin(&ref_slots[index].ref, &pfs_programs->state[index], word))
			return true;
		if (pfs_pages_word(pfs_programs, index) != word)
			return false;
		pfs_pause();
	}
	return false;
}

/* Removes a record, if it still is the one with this state word and nobody has pinned it. */
static void
try_remove(uint32 index, uint64 word)
{
	PfsProgramKey key;

	/*
	 * The first look is there so that hardly ever another record is marked
	 * dead.
	 */
	if (pfs_pages_word(pfs_programs, index) != word ||
		!pfs_ref_mark_found_dead(&ref_slots[index].ref, &pfs_programs->state[index], word))
		return;
	/* From here on it is ours alone, until fill_cb() makes another one of it. */
	key = ((PfsProgram *) pfs_pages_record(pfs_programs, index))->key;
	(void) pfs_hash_remove(programs_by_key, pfs_hash_bytes(&key, sizeof(key)), index, word);
	pfs_pages_free(pfs_programs, index);
}

void
pfs_program_leave(uint32 index, uint64 word)
{
	pfs_ref_unpin(&ref_slots[index].ref);
	/* B: see the top of this file. */
	if (unlikely(__atomic_load_n(&ref_slots[index].is_gone, __ATOMIC_SEQ_CST) != 0))
		try_remove(index, word);
}

/*
 * Removes the records of a function, whatever its type; or all of a database, where
 * function is InvalidOid.  By walking over all records, as a drop is rare.
 */
void
pfs_program_drop(Oid database, Oid function)
{
	if (pfs_programs == NULL)
		return;
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_programs, &at);)
	{
		PfsProgramKey key = ((PfsProgram *) pfs_pages_record(pfs_programs, at.index))->key;

		if (key.database != database ||
			(OidIsValid(function) && PFS_PROGRAM_FUNCTION_OID(key.program) != function))
			continue;

		/*
		 * If the record has changed hands meanwhile, its word has, too.  The
		 * pin keeps it from becoming another one in between, which would then
		 * be removed with its last pin.
		 */
		if (!pfs_program_enter(at.index, at.word))
			continue;
		pfs_store_relaxed(&ref_slots[at.index].is_gone, 1);
		pfs_fence_seqcst();		/* A: see the top of this file */
		pfs_program_leave(at.index, at.word);
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
	entry = pfs_pool_take(&entries);
	memset(entry, 0, sizeof(*entry));
	entry->index = PFS_NO_RECORD;
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

/* ---- adding ---- */

/* Fills in a new record, for the hash table.  It can be pinned from here on. */
static void
fill_cb(void *record, const void *key, void *arg)
{
	PfsProgram *p = record;
	PfsProgramRefSlot *slot = &ref_slots[pfs_pages_index(pfs_programs, p)];

	memset(p, 0, sizeof(*p));
	p->key = *(const PfsProgramKey *) key;
	pfs_store_relaxed(&slot->is_gone, 0);
	pfs_ref_reuse(&slot->ref);
}

/*
 * Finds or makes the record of an entry, when a call begins: at the first time, and where it has
 * been removed since.  Without room the container counts a loss, and the call counts nowhere.
 */
void
pfs_program_prepare(PfsProgramEntry *entry)
{
	static uint32 hint = 0;
	PfsProgramKey key;
	bool		created;

	if (likely(entry->index != PFS_NO_RECORD && pfs_pages_word(pfs_programs, entry->index) == entry->word))
		return;
	key.database = MyDatabaseId;
	key.program = pfs_program_word(entry);
	entry->index = pfs_hash_insert(programs_by_key, pfs_hash_bytes(&key, sizeof(key)), &key, fill_cb, NULL, &hint,
								   &entry->word, &created);
}

/* Pins the record of an entry; NULL: it has none, or that has gone. */
static inline PfsProgram *
enter(const PfsProgramEntry *entry)
{
	if (unlikely(entry->index == PFS_NO_RECORD || !pfs_program_enter(entry->index, entry->word)))
		return NULL;
	return pfs_pages_record(pfs_programs, entry->index);
}

void
pfs_program_count_call(const PfsProgramEntry *entry, bool timed, uint64 ticks)
{
	PfsProgram *p = enter(entry);

	if (p == NULL)
		return;
	pfs_shared_cell_add(&p->calls, timed, ticks);
	pfs_program_leave(entry->index, entry->word);
}

void
pfs_program_count_statement(const PfsProgramEntry *entry, uint32 flags, uint64 ticks, const uint64 *n, const uint64 *rare,
							uint64 memory)
{
	PfsProgram *p = entry->flags & PFS_PROGRAM_ENABLED ? enter(entry) : NULL;

	if (p == NULL)
		return;
	pfs_shared_statement_add(&p->statements, n, rare, memory);
	pfs_shared_cell_add(&p->statements.time, (flags & PFS_FLAG_TIMED) != 0,
						pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks));
	pfs_program_leave(entry->index, entry->word);
}
