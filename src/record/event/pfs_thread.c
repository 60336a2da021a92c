/*
 * pfs_thread.c
 *	  Thread records: what lies where in them, how a new one is filled, its switches,
 *	  and what other processes may ask of them.
 *
 * pfs_attach.c has how a process gets one, pfs_thread_end.c how it leaves it.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "libpq/libpq-be.h"
#include "postmaster/bgworker.h"
#include "postmaster/postmaster.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"

#include "pfs_compat.h"
#include "pfs_event_history.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_summary.h"

/* A guess at what one page should hold. */
#define THREADS_PER_PAGE 8

PfsPages   *pfs_threads = NULL;
PFS_FIXED PfsSharedThreads *pfs_shared_threads = NULL;
PFS_HOT_FIRST PfsThread *pfs_my_thread = NULL;

/* Bytes of the slots of a family's running events; those of waits are in the struct. */
static size_t
slots_size(PfsEventFamily family)
{
	return family == PFS_WAITS ? 0 : (size_t) pfs_event_families[family].depth * pfs_sizes.event_size[family];
}

/*
 * Where the parts begin that lie behind the struct: of a family of events its slots and
 * what it knows of its blocks, of a family of summaries its cells.  By the postmaster.
 */
static size_t events_offset[PFS_NUM_EVENT_FAMILIES];
size_t		pfs_thread_cells_at[PFS_NUM_FAMILIES];

/*
 * The next part is that of a family of events, unless it has its place by now: the slots, and
 * behind them what a thread knows of its blocks.
 */
static void
place_events(size_t *size, PfsEventFamily family)
{
	if (events_offset[family] != 0)
		return;
	events_offset[family] = *size;
	*size += slots_size(family) + TYPEALIGN(PFS_CACHE_LINE, pfs_history_own_size(family));
}

/* The same for a family of summaries. */
static void
place_cells(size_t *size, PfsFamily family)
{
	if (pfs_thread_cells_at[family] != 0)
		return;
	pfs_thread_cells_at[family] = *size;
	*size += pfs_summary_block_size(family);
}

/*
 * Says what lies where.  First comes what nearly every statement touches, so that it is on
 * the pages of the struct itself.  Returns the size of a record, whole pages for the same
 * reason.
 */
static size_t
lay_out_record(size_t os_page)
{
	size_t		size = TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsThread));

	memset(events_offset, 0, sizeof(events_offset));
	memset(pfs_thread_cells_at, 0, sizeof(pfs_thread_cells_at));
	place_events(&size, PFS_TRANSACTIONS);
	place_cells(&size, PFS_FAMILY_TRANSACTIONS);
	place_events(&size, PFS_STATEMENTS);
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
		place_events(&size, f);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		place_cells(&size, family);
	return TYPEALIGN(os_page, size);
}

void
pfs_threads_lay_out(PfsSegment *seg)
{
	pfs_threads = pfs_pages_create(seg, "thread_instances", lay_out_record(seg->os_page), pfs_sizes.threads,
								   THREADS_PER_PAGE);
}

/*
 * A new process faults in each page that it touches, though an earlier owner of the
 * record has left it in memory.  Where it reads first, the kernel gives it all
 * pages around that are there (fault_around_bytes: 64 kB), to be written as well;
 * where it writes first, that page alone.  So this reads what is about to be
 * written, the begin of the record, of each family's slots and the bitmap of each
 * block, and nothing that would stay untouched otherwise.
 */
static void
look_at_record(const PfsThread *t)
{
	const volatile char *mem = (const volatile char *) t;

	(void) mem[0];
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
		(void) mem[events_offset[f]];
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		(void) mem[pfs_thread_cells_at[family]];
}

/* The mask that two switches make. */
static uint32
mask_of(bool instrumented, bool history)
{
	/* Without a thread's own counters and events nothing is left to collect. */
	if (!instrumented)
		return 0;
	return history ? ~(uint32) 0 : ~(uint32) (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG);
}

/* Is the process a worker of the server's own, with this function? */
static bool
is_worker(const char *function)
{
	return MyBackendType == B_BG_WORKER && MyBgworkerEntry != NULL &&
		strcmp(MyBgworkerEntry->bgw_library_name, "postgres") == 0 &&
		strcmp(MyBgworkerEntry->bgw_function_name, function) == 0;
}

bool
pfs_thread_is_parallel_worker(void)
{
	/* ParallelWorkerNumber is set only after the worker's first waits. */
	return is_worker("ParallelWorkerMain");
}

/* The worker of REPACK (19) decodes changes for the command, and executes nothing of it. */
bool
pfs_thread_has_leader(void)
{
	return pfs_thread_is_parallel_worker() || is_worker("RepackWorkerMain");
}

/*
 * Finds the record of a living process.  Also asked at instrument points (a parallel
 * worker looks for its leader), so it reads in place instead of copying records; the
 * caller compares the word once more behind what it reads.
 */
uint32
pfs_thread_find(int pid, uint64 *word)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);

		*word = at.word;
		if (pfs_load_relaxed(&t->pid) == pid)
			return at.index;
	}
	return PFS_NO_RECORD;
}

/*
 * Makes the thread's mask of both switches.  The owner and others may change switches
 * at a time: whoever is the last to store the mask has seen both changes, as it looks
 * again behind its store.
 */
void
pfs_thread_publish_mask(PfsThread *t)
{
	uint8		instrumented;
	uint8		history;

	do
	{
		instrumented = pfs_load_relaxed(&t->instrumented);
		history = pfs_load_relaxed(&t->history);
		pfs_store_relaxed(&t->mask, mask_of(instrumented & PFS_SWITCH_ON, history & PFS_SWITCH_ON));
		pfs_fence_seqcst();
	} while (pfs_load_relaxed(&t->instrumented) != instrumented ||
			 pfs_load_relaxed(&t->history) != history);
	pfs_memory_make_stale(t);
}

/*
 * Sets a switch unless somebody has set it since the thread's start: that stays as it
 * is.
 */
static void
decide_switch(uint8 *control, bool on)
{
	uint8		undecided = PFS_SWITCH_ON | PFS_SWITCH_OPEN;

	(void) pfs_cas(control, &undecided, on ? PFS_SWITCH_ON : 0);
}

void
pfs_thread_decide(PfsThread *t, bool instrumented, bool history)
{
	decide_switch(&t->instrumented, instrumented);
	decide_switch(&t->history, history);
	pfs_thread_publish_mask(t);
}

/*
 * Does a parallel worker work for a client?  Since 19 it can also be one of autovacuum.
 * One whose leader is not seen is taken for a client's, as nearly all are.
 */
static bool
works_for_client(void)
{
	uint64		word;
	uint32		index = pfs_thread_find(MyBgworkerEntry->bgw_notify_pid, &word);

	return index == PFS_NO_RECORD || pfs_load_relaxed(&((PfsThread *) pfs_pages_record(pfs_threads, index))->foreground);
}

/* A family's events of a thread: none yet.  mem: what lies behind the struct. */
static void
begin_events(PfsEvents *events, PfsEventFamily family, char *mem)
{
	pfs_block_writer_init(&events->finished, (PfsOwnBlocks *) (mem + slots_size(family)));
	events->slots = mem;
	events->slot_size = pfs_sizes.event_size[family];
	events->depth_max = pfs_event_families[family].depth;
	for (int level = 0; level < PFS_EVENT_DEPTH_MAX; level++)
		events->slot[level] = level;
}

/*
 * Fills a new thread record, for pfs_thread_attach(), before anybody can see it: who
 * the process is, its switches, and no events.  A background
 * thread has its kind's switches; a foreground thread's are open until its role is
 * known.  The cells, and what else belongs to a part, are filled in by that part's
 * begin.
 */
void
pfs_thread_fill(PfsThread *t, uint32 index)
{
	bool		parallel = pfs_thread_is_parallel_worker();

	look_at_record(t);

	/*
	 * Everything but the events' slots and the cells, which cost nothing
	 * unused.
	 */
	memset(t, 0, sizeof(*t));
	t->thread_id = pfs_add_relaxed(&pfs_shared_threads->last_thread_id, 1) + 1;
	t->pid = MyProcPid;
	t->kind = MyBackendType;
	t->procno = pfs_compat_procno(MyProc);
	t->index = index;
	t->foreground = parallel ? works_for_client() : pfs_compat_is_foreground(MyBackendType);
	if (MyBackendType == B_BG_WORKER && MyBgworkerEntry != NULL)
		pfs_thread_make_name(t->name, sizeof(t->name), "thread/worker/", MyBgworkerEntry->bgw_type);
	else
		strlcpy(t->name, pfs_thread_kinds[MyBackendType].name, sizeof(t->name));
	/* A parallel worker's are its leader's. */
	if (t->foreground || parallel)
		t->instrumented = t->history = PFS_SWITCH_ON | PFS_SWITCH_OPEN;
	else
	{
		t->instrumented = pfs_setup->kind_enabled[MyBackendType];
		t->history = pfs_setup->kind_history[MyBackendType];
	}
	pfs_thread_publish_mask(t);
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
		begin_events(&t->events[f], f, (char *) t + events_offset[f]);
	t->refs = PFS_NO_ACCOUNT_REFS;
}
