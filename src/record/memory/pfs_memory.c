/*
 * pfs_memory.c
 *	  Memory instruments by the names of contexts, and the begin and the end of a
 *	  thread's memory.  Apart from the methods of contexts, which are an instrument's.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "pfs_hash.h"
#include "pfs_memory.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/* Contexts whose names are data get so many instruments in all. */
#define DYNAMIC_NAMES_MAX 64

PFS_FIXED PfsSharedMemory *pfs_memory = NULL;

/* Contexts that a server of any version makes, the most frequent ones first. */
static const char *const well_known[] = {
	"TopMemoryContext", "ErrorContext", "CacheMemoryContext", "MessageContext", "TopTransactionContext",
	"CurTransactionContext", "PortalContext", "ExecutorState", "ExprContext", "printtup",
	"TopPortalContext", "PortalHoldContext", "RowDescriptionContext", "TransactionAbortContext",
	"index info", "relation rules", "dynahash", "CachedPlanSource", "CachedPlanQuery", "CachedPlan",
	"SPI Proc", "SPI Exec", "SPI Plan", "SPI TupTable", "SQL function", "PL/pgSQL function",
	"PLpgSQL infos", "WAL record construction", "Postmaster", "MdSmgr",
	"hba parser context", "ident parser context", "TupleSort main", "TupleSort sort", "Caller tuples",
	"HashTableContext", "HashBatchContext", "Aggregate hash table", "Vacuum", "Analyze", "Analyze Index",
	"Autovacuum Launcher", "Autovacuum worker", "Autovacuum database list", "Background Writer",
	"Checkpointer", "Wal Writer", "Pending ops context", "PgStat Shared Ref", "PgStat Shared Ref Hash",
	"PgStat Pending", "btree bulk load", "Btree build temporary context", "GIN operation context",
	"GiST temporary context", "COPY", "COPY TO", "Partition Tuple Routing", "partition directory",
	"AfterTriggerEvents", "AfterTriggerTupleContext", "event trigger context", "ReorderBuffer",
	"Logical decoding context", "snapshot builder context", "ApplyContext", "ApplyMessageContext",
	"LogicalRepRelMap", "Replication command context", "Pool context",
};

/*
 * Their instruments by name, an open hash; for a process that meets a context of that name for the
 * first time, as each session does with two dozen.  Made in the postmaster, inherited.
 */
#define KNOWN_NAMES 256

typedef struct KnownName
{
	const char *name;			/* NULL: a free place */
	PfsInstrumentId instrument;
} KnownName;

static PFS_FIXED_TABLE KnownName known_names[KNOWN_NAMES];

StaticAssertDecl(lengthof(well_known) <= KNOWN_NAMES / 2, "a search for a name ends soon");

/* Returns the place of a name, or the free one where it would be. */
static KnownName *
known_name(const char *name)
{
	uint32		place = pfs_hash_bytes(name, strlen(name)) % KNOWN_NAMES;

	while (known_names[place].name != NULL && strcmp(known_names[place].name, name) != 0)
		place = (place + 1) % KNOWN_NAMES;
	return &known_names[place];
}

/* ---- instruments ---- */

/*
 * Makes the name of an instrument from that of a context.  A slash in it is no step of
 * the path: "PL/pgSQL function".
 */
static void
make_name(char *dst, const char *name)
{
	size_t		length = pg_mbcliplen(name, strlen(name), PFS_NAME_SIZE - sizeof(PFS_MEMORY_PREFIX));

	snprintf(dst, PFS_NAME_SIZE, PFS_MEMORY_PREFIX "%.*s", (int) length, name);
	for (dst += strlen(PFS_MEMORY_PREFIX); *dst; dst++)
	{
		if (*dst == '/')
			*dst = '_';
	}
}

static PfsInstrumentId
register_context(const char *name, const char *documentation)
{
	PfsInstrument proto = {.class = PFS_CLASS_MEMORY};

	make_name(proto.name, name);
	proto.documentation = documentation;
	return pfs_instrument_register(&proto);
}

#define CONTEXT_DOCUMENTATION "Chunks of the memory contexts of this name."

/* Registers the instruments of well-known contexts, in the postmaster, and notes them by name. */
void
pfs_memory_start(void)
{
	pfs_memory->epoch = 1;
	pfs_memory->other = register_context("other", "Chunks of contexts for which there is no instrument of their own.");
	memset(known_names, 0, sizeof(known_names));
	for (int i = 0; i < lengthof(well_known); i++)
	{
		PfsInstrumentId id = register_context(well_known[i], CONTEXT_DOCUMENTATION);

		if (id != PFS_NO_INSTRUMENT)
			*known_name(well_known[i]) = (KnownName)
		{
			.name = well_known[i], .instrument = id
		};
	}
}

/*
 * Finds an instrument that exists, whatever the letter case: as registering would find
 * it.
 */
static PfsInstrumentId
find_context(const char *name)
{
	uint32		n = Min(pfs_load_acquire(&pfs_instruments->ncells[PFS_FAMILY_MEMORY]),
						pfs_sizes.cells[PFS_FAMILY_MEMORY]);
	char		wanted[PFS_NAME_SIZE];
	const char *last = wanted + strlen(PFS_MEMORY_PREFIX);

	make_name(wanted, name);
	for (uint32 cell = 0; cell < n; cell++)
	{
		PfsInstrumentId id = pfs_instrument_of_cell(PFS_FAMILY_MEMORY, cell);
		const char *known;

		if (id == PFS_NO_INSTRUMENT)
			continue;
		known = pfs_instrument_items[id].name + strlen(PFS_MEMORY_PREFIX);

		/* Most differ in the first letter, by more than the bit of its case. */
		if (((*known ^ *last) & ~0x20) == 0 && pg_strcasecmp(known, last) == 0)
			return id;
	}
	return PFS_NO_INSTRUMENT;
}

/*
 * Finds or registers the instrument of contexts with this name, for a process that has
 * no cached answer for it.  Names that are data (constant: false) would fill the table
 * of instruments: after DYNAMIC_NAMES_MAX of them, and when no more can be registered,
 * it is memory/context/other.
 */
PfsInstrumentId
pfs_memory_instrument(const char *name, bool constant)
{
	const KnownName *known = known_name(name);
	PfsInstrumentId id = known->name != NULL ? known->instrument : find_context(name);

	if (id != PFS_NO_INSTRUMENT)
		return id;
	if (!constant && pfs_add_relaxed(&pfs_memory->dynamic_names, 1) >= DYNAMIC_NAMES_MAX)
	{
		pfs_store_relaxed(&pfs_memory->dynamic_names, DYNAMIC_NAMES_MAX);
		return pfs_memory->other;
	}
	id = register_context(name, CONTEXT_DOCUMENTATION);
	return id == PFS_NO_INSTRUMENT ? pfs_memory->other : id;
}

/* ---- switches ---- */

/*
 * Tells all threads that switches have changed or a truncation has begun: raises the
 * epoch, then marks each thread's record as stale.  An owner that finds its record
 * stale finds the new epoch, too.
 */
void
pfs_memory_look_again(void)
{
	pfs_add_seqcst(&pfs_memory->epoch, 1);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
		pfs_memory_make_stale(pfs_pages_record(pfs_threads, at.index));
}

/* ---- the begin and the end of a thread ---- */

/*
 * Notes which records the levels above are, once, as nearly each allocation of a new session
 * raises water marks that concern them; then the process may count in the record.  What the account
 * of all others has is not there for its user and host, so it is none of these (carry_on()).
 */
void
pfs_memory_join(PfsThread *t)
{
	if (t->memory.has_levels)
		return;
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		uint32		index = t->refs.records[kind];
		bool		is_none = index == PFS_NO_RECORD || (kind == PFS_ACCOUNTS && pfs_account_is_beside(kind, index));

		t->memory.levels[kind] = is_none ? NULL : pfs_account_at(kind, index);
	}
	t->memory.has_levels = true;
	if (pfs_memory_is_counted)
		pfs_memory_sync(t);
}

/*
 * Stops counting and takes all memory that is in use off the thread's cells, as if it
 * had been freed: so pfs_summary_end(), which comes next, moves everything up and
 * nothing stays.  Begins a write section of memory.seq if the process is not in one
 * already, and leaves it open, as the record goes.
 */
void
pfs_memory_end(PfsThread *t)
{
	const PfsBlock *block = &t->cells[PFS_FAMILY_MEMORY];

	/* A login that has failed counts for the server alone. */
	pfs_memory_join(t);
	pfs_memory_leave();
	if ((t->memory.seq.word & 1) == 0)
		pfs_seqlock_write_begin(&t->memory.seq);
	pfs_summary_look(t, PFS_FAMILY_MEMORY);
	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		PfsMemoryCell *c = pfs_memory_cell(t, i);

		if (pfs_memory_less(t, c, c->high_count - c->headroom_count, c->high_bytes - c->headroom_bytes))
			pfs_memory_lower_low_water(t, c);
	}
}
