/*
 * hammer_server.c
 *	  What the library's code that is tested here needs of the server and of the rest of the
 *	  library.
 *
 * Separate from the tests, as all of them share it.
 */
#include "postgres.h"

#include <time.h>

#include "hammer_server.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

/* Not the server's. */
#undef qsort

#include "pfs_cell_views.h"
#include "pfs_clock.h"
#include "pfs_departed.h"
#include "pfs_plain_state.h"
#include "pfs_rebuild.h"
#include "pfs_rel_read.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* ---- of the server ---- */

volatile sig_atomic_t InterruptPending = false;
volatile uint32 InterruptHoldoffCount = 0;
sigjmp_buf *PG_exception_stack = NULL;
ErrorContextCallback *error_context_stack = NULL;
MemoryContext CurrentMemoryContext = NULL;

void
ProcessInterrupts(void)
{
}

/* Nothing raises an error. */
void
pg_re_throw(void)
{
	abort();
}

void
before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
}

void
cancel_before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
}

/* Memory of a reader, which ends with its reading, as that of a query does. */
typedef struct Chunk
{
	struct Chunk *next;
	struct Chunk *previous;
} Chunk;

static Chunk chunks = {&chunks, &chunks};

static void *
link_chunk(Chunk *chunk)
{
	if (chunk == NULL)
		abort();
	chunk->next = &chunks;
	chunk->previous = chunks.previous;
	chunk->previous->next = chunks.previous = chunk;
	return chunk + 1;
}

static Chunk *
unlink_chunk(void *pointer)
{
	Chunk	   *chunk = (Chunk *) pointer - 1;

	chunk->previous->next = chunk->next;
	chunk->next->previous = chunk->previous;
	return chunk;
}

void
hammer_server_free_memory(void)
{
	while (chunks.next != &chunks)
		pfree(chunks.next + 1);
}

/* A reader copies next: let the owner come near, or pass; or many of them. */
void *
palloc(Size size)
{
	static HammerRng rng = {.state = 1};

	if (hammer_random(&rng, 100) == 0)
		usleep(300);
	for (uint32 spins = hammer_random(&rng, hammer_random(&rng, 400) + 1); spins > 0; spins--)
		pfs_pause();
	return link_chunk(malloc(sizeof(Chunk) + size));
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return palloc(size);
}

void *
repalloc_huge(void *pointer, Size size)
{
	return link_chunk(realloc(unlink_chunk(pointer), sizeof(Chunk) + size));
}

void
pfree(void *pointer)
{
	free(unlink_chunk(pointer));
}

void
initStringInfo(StringInfo str)
{
	*str = (StringInfoData)
	{
		.data = palloc(1024), .maxlen = 1024
	};
}

void
resetStringInfo(StringInfo str)
{
	str->len = 0;
}

/* By its name for the linker: the type of its second argument is not that of all versions. */
extern void append(StringInfo str, const void *data, int len) __asm__("appendBinaryStringInfo");

__attribute__((used))
void
append(StringInfo str, const void *data, int len)
{
	while (str->len + len > str->maxlen)
		str->data = repalloc_huge(str->data, str->maxlen *= 2);
	memcpy(str->data + str->len, data, len);
	str->len += len;
}

void
pg_qsort(void *base, size_t n, size_t size, int (*compare) (const void *, const void *))
{
	qsort(base, n, size, compare);
}

/* The C library has it, or the server's port. */
__attribute__((weak))
size_t
strlcpy(char *to, const char *from, size_t size)
{
	size_t		len = strlen(from);

	memcpy(to, from, Min(len + 1, size));
	to[size - 1] = '\0';
	return len;
}

/* ---- of the library ---- */

PfsPages   *pfs_threads = NULL;
PfsThread  *pfs_my_thread = NULL;
PfsSizes	pfs_sizes;
PfsSharedThreads *pfs_shared_threads = NULL;
size_t		pfs_thread_cells_at[PFS_NUM_FAMILIES];
PfsInstrument *pfs_instrument_items = NULL;
PfsInstrumentId pfs_transaction_instrument = 0;
PfsInstrumentId pfs_first_statement = 0;

/* The words of tests that have none of their own. */
static PfsSharedWords words;
PfsSharedWords *pfs_words = &words;

static PfsSharedInstruments instruments;
PfsSharedInstruments *pfs_instruments = &instruments;

/* Each instrument has the cell of its number. */
uint32
pfs_cell_of_instrument(PfsFamily family, PfsInstrumentId id)
{
	return id;
}

PfsInstrumentId
pfs_instrument_of_cell(PfsFamily family, uint32 cell)
{
	return cell;
}

void
pfs_instrument_name_late(void)
{
}

void
pfs_reset_time_note(const char *table)
{
}

/* The clock is the system's, in nanoseconds. */
static PfsSharedClock the_clock = {.frequency = {[PFS_TIMER_NANOSECOND] = UINT64CONST(1000000000)}};
PfsSharedClock *pfs_clock = &the_clock;

PfsTimer
pfs_timer_default(void)
{
	return PFS_TIMER_NANOSECOND;
}

uint64
pfs_timer_read_system(PfsTimer timer)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64CONST(1000000000) + t.tv_nsec;
}

PfsRelStats pfs_rel_stats[PFS_NUM_REL_STAT_KINDS];
PfsRelLocal pfs_rel_local;

void
pfs_statement_memory_count(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 memory)
{
}

void
pfs_rel_runs_flush_riding(void)
{
}

bool
pfs_thread_is_parallel_worker(void)
{
	return false;
}

Oid
pfs_rebuild_owner(Oid database, Oid index)
{
	return index;
}

bool
pfs_rebuilds_were(void)
{
	return false;
}

int64
pfs_rel_stats_clear(PfsCellView view)
{
	return 0;
}

PfsTotals
pfs_cell_views_take(PfsSharedCell *cell)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(cell, &totals);
	return totals;
}

int64
pfs_clock_offset(uint64 reading)
{
	return 0;
}

TimestampTz
pfs_clock_timestamp(uint64 reading, int64 offset)
{
	return reading / 1000;
}

/* ---- turns ---- */

#define ALONE		(UINT64_C(1) << 63)

typedef struct Turns
{
	struct
	{
		uint64		holders;	/* readers, or ALONE */
		uint64		wanted;		/* how many want it alone: before others read */
	}			items[PFS_NUM_TURNS];
} Turns;

static Turns *turns;
PFS_FIXED PfsSharedPatience *pfs_patience;

void
hammer_server_lay_out(PfsSegment *seg)
{
	turns = pfs_segment_take(seg, sizeof(*turns), PFS_CACHE_LINE);
	pfs_patience = pfs_segment_take(seg, sizeof(*pfs_patience), PFS_CACHE_LINE);
	pfs_words = pfs_segment_take(seg, sizeof(*pfs_words), PFS_CACHE_LINE);
}

void
hammer_summaries_lay_out(PfsSegment *seg)
{
	size_t		size = TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsThread));

	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		pfs_thread_cells_at[family] = size;
		size += pfs_summary_block_size(family);
	}
	pfs_shared_threads = pfs_segment_take(seg, sizeof(*pfs_shared_threads), PFS_CACHE_LINE);
	pfs_threads = pfs_pages_create(seg, "thread_instances", size, pfs_sizes.threads, 4);
	pfs_summary = pfs_segment_take(seg, PFS_NUM_FAMILIES * sizeof(PfsSharedSummary), PFS_CACHE_LINE);
	pfs_summary_lay_out(seg);
	pfs_departed = pfs_segment_take(seg, sizeof(*pfs_departed), PFS_CACHE_LINE);
	pfs_departed_lay_out(seg);
	pfs_accounts_lay_out(seg);
}

void
hammer_server_end(void)
{
	pfs_words = &words;
}

void
pfs_turn_begin(PfsTurn what, bool alone)
{
	uint64	   *holders = &turns->items[what].holders;
	uint64	   *wanted = &turns->items[what].wanted;
	uint64		now = 0;

	if (alone)
	{
		pfs_add_relaxed(wanted, 1);
		while (!pfs_cas(holders, &now, ALONE))
		{
			now = 0;
			usleep(20);
		}
		pfs_sub_seqcst(wanted, 1);
		return;
	}
	while (pfs_load_relaxed(wanted) != 0 || (now = pfs_load_relaxed(holders)) == ALONE || !pfs_cas(holders, &now, now + 1))
		usleep(20);
}

void
pfs_turn_end(PfsTurn what, bool alone)
{
	pfs_sub_seqcst(&turns->items[what].holders, alone ? ALONE : 1);
}

/*
 * Without end, as every writer ends its write section: what is read is exact also of a reader
 * that the end of the test finds at work.
 */
bool
pfs_patience_more(PfsPatience *patience)
{
	patience->has_run_out |= hammer_failed();
	if (patience->looks++ % 100 == 99)
		usleep(1);
	return !patience->has_run_out;
}

void
pfs_patience_end(const PfsPatience *patience)
{
}

/* ---- for the tests ---- */

static bool has_lingered = false;

void
hammer_linger(uint32 times)
{
	static HammerRng rng = {.state = 1};

	if (hammer_random(&rng, times) != 0)
		return;
	usleep(hammer_random(&rng, 8) == 0 ? 20000 : 300);
	has_lingered = true;
}

void
hammer_linger_behind(void)
{
	if (has_lingered)
		usleep(1000);
	has_lingered = false;
}

void
hammer_check_seen(const char *what, const uint64 *seen, const HammerBounds *bounds, int keys)
{
	for (int key = 0; key < keys; key++)
	{
		uint64		behind = bounds->begun_behind[key];
		uint64		least = bounds->ended[key] < behind ? 0 : bounds->ended[key] - behind;
		uint64		most = pfs_load_acquire(&bounds->begun[key]) - bounds->ended_before[key];

		HAMMER_CHECK(seen[key] >= least && seen[key] <= most, "%s %lu events of a writer, not %lu to %lu", what, seen[key],
					 least, most);
	}
}
