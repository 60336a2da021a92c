/*
 * pfs_thread.c
 *	  Birth and death of thread records, and what others may ask of them.
 *
 * A process attaches at its first event that is allowed to (no hook exists at
 * the start of a process); pfs_thread_end.c has how it detaches.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "libpq/libpq-be.h"
#include "postmaster/bgworker.h"
#include "postmaster/postmaster.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"

#include "pfs_actor.h"
#include "pfs_compat.h"
#include "pfs_digest_wait.h"
#include "pfs_error.h"
#include "pfs_event_write.h"
#include "pfs_fd.h"
#include "pfs_lwlock.h"
#include "pfs_memory.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_stage.h"
#include "pfs_thread_end.h"
#include "pfs_socket.h"

PfsPages   *pfs_threads = NULL;
PFS_NEAR PfsSharedThreads *pfs_shared_threads = NULL;
PFS_NEAR PfsThread *pfs_my_thread = NULL;
PFS_NEAR PfsLocal pfs_local;

static PfsThreadKind thread_kinds[PFS_MAX_THREAD_KINDS];
static char thread_kind_names[PFS_MAX_THREAD_KINDS][PFS_NAME_SIZE];
static int	nthread_kinds = 0;

/* Parts of the record behind the struct: the families' events, then the cells. */
static size_t
events_offset(PfsEventFamily family)
{
	size_t		offset = TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsThread));

	for (int f = 0; f < family; f++)
		offset += TYPEALIGN(PFS_CACHE_LINE,
							pfs_ring_size(pfs_history_kept(pfs_sizes.history[f]), pfs_event_families[f].depth,
										  pfs_sizes.event_size[f]));
	return offset;
}

static size_t
cells_offset(void)
{
	return events_offset(PFS_NUM_EVENT_FAMILIES);
}

size_t
pfs_thread_record_size(void)
{
	size_t		size = cells_offset();

	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		size += TYPEALIGN(PFS_CACHE_LINE, pfs_block_size(pfs_sizes.cells[family], pfs_summary_kinds[family]->cell_size));
	return TYPEALIGN(PFS_CACHE_LINE, size);
}

/*
 * A new process faults in each page that it touches, though an earlier owner of the
 * record has left it in memory.  Where it reads first, the kernel gives it all
 * pages around that are there (fault_around_bytes: 64 kB), to be written as well;
 * where it writes first, that page alone.  So this reads what is about to be
 * written, the begin of the record, the order of each ring and the bitmap of each
 * block, and nothing that would stay untouched otherwise.
 */
static void
look_at_record(const PfsThread *t)
{
	const volatile char *mem = (const volatile char *) t;
	size_t		offset = 0;

	(void) mem[0];
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		offset = events_offset(f + 1);
		(void) mem[offset - PFS_CACHE_LINE];
	}
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		(void) mem[offset];
		offset += TYPEALIGN(PFS_CACHE_LINE, pfs_block_size(pfs_summary[family].ncells, pfs_summary_kinds[family]->cell_size));
	}
}

/* The numbers count from now on. */
static void
start_summaries(PfsThread *t)
{
	char	   *mem = (char *) t + cells_offset();

	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		uint32		ncells = pfs_summary[family].ncells;
		uint32		cell_size = pfs_summary_kinds[family]->cell_size;

		t->summary[family].generation = pfs_load_acquire(&pfs_words->truncations[family]);
		pfs_block_init(&t->summary[family].cells, mem, ncells, cell_size);
		mem += TYPEALIGN(PFS_CACHE_LINE, pfs_block_size(ncells, cell_size));
	}
}

/* "client backend" -> "thread/client_backend" */
static void
make_thread_name(char *dst, size_t size, const char *prefix, const char *words)
{
	snprintf(dst, size, "%s%s", prefix, words);
	for (; *dst; dst++)
	{
		if (*dst == ' ')
			*dst = '_';
	}
}

/* The kinds are the backend types of the version; made when first asked for. */
int
pfs_thread_kind_count(void)
{
	if (nthread_kinds == 0)
	{
		StaticAssertStmt(PFS_NUM_BACKEND_TYPES <= PFS_MAX_THREAD_KINDS, "too many backend types");
		for (int type = 0; type < PFS_NUM_BACKEND_TYPES; type++)
		{
			PfsThreadKind *kind = &thread_kinds[type];

			if (type == B_BG_WORKER)
				strlcpy(thread_kind_names[type], "thread/worker", PFS_NAME_SIZE);
			else
				make_thread_name(thread_kind_names[type], PFS_NAME_SIZE, "thread/",
								 GetBackendTypeDesc((BackendType) type));
			kind->name = thread_kind_names[type];
			kind->background = pfs_compat_type_attaches(type) &&
				!pfs_compat_is_foreground((BackendType) type);
			kind->documentation = GetBackendTypeDesc((BackendType) type);
		}
		nthread_kinds = PFS_NUM_BACKEND_TYPES;
	}
	return nthread_kinds;
}

const PfsThreadKind *
pfs_thread_kind(int kind)
{
	return kind >= 0 && kind < pfs_thread_kind_count() ? &thread_kinds[kind] : NULL;
}

uint32
pfs_thread_mask(bool instrumented, bool history)
{
	/* Without a thread's own numbers and events nothing is left to collect. */
	if (!instrumented)
		return 0;
	return history ? ~(uint32) 0 : ~(uint32) (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG);
}

static bool
is_parallel_worker(void)
{
	/* ParallelWorkerNumber is set only after the worker's first waits. */
	return MyBackendType == B_BG_WORKER && MyBgworkerEntry != NULL &&
		strcmp(MyBgworkerEntry->bgw_library_name, "postgres") == 0 &&
		strcmp(MyBgworkerEntry->bgw_function_name, "ParallelWorkerMain") == 0;
}

/*
 * What all waits of a thread have in common lies in every slot of its ring, so
 * that beginning one does not write it.
 */
static void
stamp_events(PfsThread *t)
{
	const PfsRing *waits = &t->events[PFS_WAITS].ring;
	uint32		n = waits->length + waits->spares;

	for (uint32 i = 0; i < n; i++)
	{
		PfsWaitEvent *e = (PfsWaitEvent *) waits->items + i;

		e->log_word.word = 1;
		e->thread_id = t->thread_id;
		/* Whose texts these are; a background thread's are nobody's. */
		pfs_store_relaxed(&e->role, t->foreground ? t->role : InvalidOid);
	}
	pfs_stage_stamp(t);
}

/*
 * References of a thread; none if it has gone.  They are written once, before has_refs,
 * and taken back when the thread ends: nothing here waits, also at instrument points,
 * and what the leader does with its numbers meanwhile (each rise of a memory mark
 * holds `folds`) is no reason to find none.  Those that are read while they are taken
 * back are each there or not.
 *
 * False: it lives and does not know them yet.
 */
static bool
thread_refs(uint64 thread_id, PfsAccountRefs *refs)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsThread  *t = pfs_pages_record(pfs_threads, index);
		bool		has_refs;

		if (pfs_load_relaxed(&t->thread_id) != thread_id)
			continue;
		has_refs = pfs_load_acquire(&t->has_refs);
		*refs = PFS_NO_ACCOUNT_REFS;
		refs->account = pfs_load_relaxed(&t->refs.account);
		refs->user = pfs_load_relaxed(&t->refs.user);
		refs->host = pfs_load_relaxed(&t->refs.host);
		pfs_fence_acquire();
		if (pfs_pages_word(pfs_threads, index) == word)
			return has_refs;
	}
	*refs = PFS_NO_ACCOUNT_REFS;
	return true;
}

/*
 * The account: of a client when its session is there, of a parallel worker its
 * leader's, of all others the background's.  False: not known yet.  The server ends
 * the initialization of a session when role, database, rights and limits let it in;
 * until then it is a login that can fail, and belongs to nobody.
 */
static bool
find_account(PfsThread *t)
{
	PfsAccountRefs refs = PFS_NO_ACCOUNT_REFS;

	if (t->has_refs)
		return true;
	if (is_parallel_worker())
	{
		PfsAccountRefs leader;

		if (t->parent_thread_id == 0)
			return false;
		if (!thread_refs(t->parent_thread_id, &leader))
			return false;
		(void) pfs_account_share(&refs, &leader);
	}
	else if (t->foreground)
	{
		char		host[PFS_CLIENT_HOST_SIZE];

		if (t->role == InvalidOid || MyProcPort == NULL || !IsNormalProcessingMode())
			return false;
		(void) pfs_client_host(host, sizeof(host));
		pfs_account_enter(&refs, MyProcPort->user_name, host, true);
	}
	else
		pfs_account_enter(&refs, NULL, NULL, true);

	pfs_seqlock_write_begin(&t->folds);
	t->refs = refs;
	pfs_memory_refer(t);
	/* Pairs with the acquire in thread_refs(). */
	pfs_store_release(&t->has_refs, true);
	pfs_seqlock_write_end(&t->folds);
	return true;
}

/*
 * The record of a living process.  Also asked at instrument points (a parallel
 * worker looks for its leader), so it reads in place instead of copying records;
 * the caller compares the word once more behind what he reads.
 */
static uint32
find_thread(int pid, uint64 *word)
{
	uint32		pos = 0;
	uint32		index;

	while ((index = pfs_pages_next(pfs_threads, &pos, word)) != PFS_NO_RECORD)
	{
		PfsThread  *t = pfs_pages_record(pfs_threads, index);

		if (pfs_load_relaxed(&t->pid) == pid)
			return index;
	}
	return PFS_NO_RECORD;
}

/*
 * The owner and others may change switches at a time: whoever is the last to
 * store the mask has seen both changes, as he looks again behind his store.
 */
static void
publish_mask(PfsThread *t)
{
	uint8		instrumented;
	uint8		history;

	do
	{
		instrumented = pfs_load_relaxed(&t->instrumented);
		history = pfs_load_relaxed(&t->history);
		pfs_store_relaxed(&t->mask, pfs_thread_mask(instrumented & PFS_SWITCH_ON,
													history & PFS_SWITCH_ON));
		pfs_fence_seqcst();
	} while (pfs_load_relaxed(&t->instrumented) != instrumented ||
			 pfs_load_relaxed(&t->history) != history);
	pfs_memory_make_stale(t);
}

/* What somebody has switched since the thread's start stays as it is. */
static void
decide_switch(uint8 *control, bool on)
{
	uint8		undecided = PFS_SWITCH_ON | PFS_SWITCH_OPEN;

	(void) pfs_cas(control, &undecided, on ? PFS_SWITCH_ON : 0);
}

static void
decide_switches(PfsThread *t, bool instrumented, bool history)
{
	decide_switch(&t->instrumented, instrumented);
	decide_switch(&t->history, history);
	publish_mask(t);
}

/*
 * MyProcPort's name, and not the role's: looking that up needs the catalog.  They
 * are the same; a longer name was cut to find the role.
 */
static void
ask_actors(PfsThread *t)
{
	char		user_name[NAMEDATALEN];
	char		host[PFS_CLIENT_HOST_SIZE];
	bool		instrumented;
	bool		history;

	strlcpy(user_name, MyProcPort->user_name, sizeof(user_name));
	(void) pfs_client_host(host, sizeof(host));
	pfs_actor_decide(user_name, host, &instrumented, &history);
	decide_switches(t, instrumented, history);
}

/* The leader's number and switches become the worker's, if the leader is there. */
static void
follow_leader(PfsThread *t, int leader)
{
	uint64		word;
	uint32		index = find_thread(leader, &word);
	PfsThread  *other;
	uint64		thread_id;
	bool		instrumented;
	bool		history;

	if (index == PFS_NO_RECORD)
		return;
	other = pfs_pages_record(pfs_threads, index);
	thread_id = pfs_load_relaxed(&other->thread_id);
	instrumented = pfs_load_relaxed(&other->instrumented) & PFS_SWITCH_ON;
	history = pfs_load_relaxed(&other->history) & PFS_SWITCH_ON;
	pfs_fence_acquire();
	if (pfs_pages_word(pfs_threads, index) != word)
		return;
	decide_switches(t, instrumented, history);
	pfs_digest_work_for(other);
	pfs_store_release(&t->parent_thread_id, thread_id);
}

/* What a process learns about itself only after its first events; inside a change. */
void
pfs_thread_refresh_identity(PfsThread *t)
{
	bool		complete = true;

	/* Before authentication the name is only what the client claims. */
	if (t->role == InvalidOid && MyProc != NULL && OidIsValid(MyProc->roleId) && !ClientAuthInProgress)
	{
		pfs_store_relaxed(&t->role, MyProc->roleId);
		stamp_events(t);
		if (pfs_compat_is_foreground(MyBackendType) && MyProcPort != NULL)
			ask_actors(t);
	}
	if (t->role == InvalidOid && (t->foreground || MyBackendType == B_BG_WORKER))
		complete = false;

	if (t->status == NULL)
		pfs_store_relaxed(&t->status, MyBEEntry);
	if (t->status == NULL)
		complete = false;

	if (t->parent_thread_id == 0 && is_parallel_worker())
	{
		/* Known from the fork on; MyProc->lockGroupLeader is not. */
		follow_leader(t, MyBgworkerEntry->bgw_notify_pid);
		if (t->parent_thread_id == 0)
			complete = false;
	}
	complete &= find_account(t);
	if (complete)
		pfs_local.slow &= ~PFS_SLOW_IDENTITY;
}

static void
fill_record(PfsThread *t, uint32 index)
{
	const PfsThreadKind *kind = pfs_thread_kind(MyBackendType);
	bool		parallel = is_parallel_worker();

	look_at_record(t);

	/*
	 * Everything but the ring's items and the cells, which cost nothing
	 * unused.
	 */
	memset(t, 0, sizeof(*t));
	pfs_memory_total_begin(t);
	t->thread_id = pfs_add_relaxed(&pfs_shared_threads->last_thread_id, 1) + 1;
	t->pid = MyProcPid;
	t->kind = MyBackendType;
	t->procno = pfs_compat_procno(MyProc);
	t->index = index;
	t->foreground = parallel || pfs_compat_is_foreground(MyBackendType);
	if (MyBackendType == B_BG_WORKER && MyBgworkerEntry != NULL)
		make_thread_name(t->name, sizeof(t->name), "thread/worker/", MyBgworkerEntry->bgw_type);
	else
		strlcpy(t->name, kind ? kind->name : "thread/unknown", sizeof(t->name));
	if (t->foreground)
		t->instrumented = t->history = PFS_SWITCH_ON | PFS_SWITCH_OPEN;
	else
	{
		t->instrumented = pfs_setup->kind_enabled[MyBackendType];
		t->history = pfs_setup->kind_history[MyBackendType];
	}
	publish_mask(t);
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
		pfs_ring_init(&t->events[f].ring, (char *) t + events_offset(f),
					  pfs_history_kept(pfs_sizes.history[f]), pfs_event_families[f].depth,
					  pfs_sizes.event_size[f]);
	stamp_events(t);
	t->refs = PFS_NO_ACCOUNT_REFS;
	pfs_memory_refer(t);
	start_summaries(t);
}

PfsThread *
pfs_thread_attach(void)
{
	static uint32 hint = 0;
	int			save_errno = errno;
	uint32		index;
	PfsThread  *t;

	if (MyProc == NULL || pfs_local.never_attach || pfs_threads == NULL)
		return NULL;
	if (!IsUnderPostmaster || proc_exit_inprogress || CritSectionCount > 0 ||
		!pfs_compat_type_attaches(MyBackendType) || !pfs_thread_can_end())
		return NULL;

	/* A handler must not come here a second time. */
	pfs_local.never_attach = true;
	index = pfs_pages_allocate(pfs_threads, &hint);
	errno = save_errno;
	if (index == PFS_NO_RECORD)
	{
		/* Counted there; this process stays unseen. */
		pfs_memory_leave();
		return NULL;
	}

	t = pfs_pages_record(pfs_threads, index);
	fill_record(t, index);
	pfs_local.nopen = 0;
	pfs_local.beginning = 0;
#if defined(__x86_64__)
	pfs_local.avx = __builtin_cpu_supports("avx");
#endif
	pfs_local.log_next = pfs_ring_spare(&t->events[PFS_WAITS].ring, 0); /* until the first flush */
	pfs_local_set_usual(PFS_FLAG_THREAD | PFS_FLAG_TIMED |
						(uint32) pfs_timer_default() << PFS_FLAG_TIMER_SHIFT);
	pfs_fd_start();
	pfs_thread_watch_end();
	pfs_lwlock_attach(t);
	t->word = pfs_pages_publish(pfs_threads, index);
	pfs_add_seqcst(&pfs_shared_threads->attached, 1);
	pfs_socket_attach(t);
	pfs_local.slow = PFS_SLOW_IDENTITY;
	/* Autovacuum, logical replication: no hook tells of their transactions. */
	if (MyProcPort == NULL && !is_parallel_worker() && pfs_compat_has_transactions(MyBackendType))
		pfs_local.slow |= PFS_SLOW_WATCH;
	if (is_parallel_worker())
		pfs_digest_work();
	pfs_my_thread = t;
	pfs_thread_refresh_identity(t);
	/* What was counted from its birth on becomes its own. */
	if (pfs_memory_is_told || pfs_memory_is_stale())
		pfs_memory_sync(t);
	errno = save_errno;
	return t;
}

void
pfs_thread_identify_now(PfsThread *t)
{
	if (pfs_is_changing(t))
		return;
	pfs_change_begin(t);
	pfs_thread_refresh_identity(t);
	pfs_change_end(t);
}

bool
pfs_wait_prepare(PfsThread *t)
{
	if (pfs_is_changing(t))
	{
		pfs_local.reentered++;
		pfs_local.slow |= PFS_SLOW_REPAIR;
		return false;
	}
	pfs_change_begin(t);
	if (pfs_local.slow & PFS_SLOW_IDENTITY)
		pfs_thread_refresh_identity(t);
	if (pfs_local.slow & PFS_SLOW_OPEN)
		pfs_open_settle(t);
	if (pfs_local.slow & PFS_SLOW_UNNAMED)
		pfs_statement_look(t, debug_query_string);
	if (pfs_local.slow & PFS_SLOW_WATCH)
	{
		pfs_transaction_look(t);
		pfs_error_watch();
	}
	if (pfs_local.slow & (PFS_SLOW_PROGRESS | PFS_SLOW_WATCH))
		pfs_stage_look(t);
	pfs_change_end(t);
	if (pfs_load_relaxed(&t->mask) == 0)
		return false;			/* so it has just been decided */
	if (t->events[PFS_WAITS].depth >= PFS_WAIT_DEPTH)
	{
		pfs_add_relaxed(&pfs_shared_threads->too_deep[PFS_WAITS], 1);
		return false;
	}
	return true;
}

void
pfs_threads_each(uint64 thread_id, PfsThreadEmit emit, void *arg)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	if (pfs_threads == NULL)
		return;
	while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsThread	copy;
		uint64		copied;

		CHECK_FOR_INTERRUPTS();
		if (pfs_pages_copy(pfs_threads, index, 0, &copy, sizeof(copy), &copied) &&
			(thread_id == 0 || copy.thread_id == thread_id))
			emit(&copy, copied, arg);
	}
}

bool
pfs_thread_set(uint32 index, uint64 word, int instrumented, int history)
{
	PfsThread  *t;
	bool		same;

	if (pfs_threads == NULL || index >= pfs_threads->records_max)
		return false;
	t = pfs_pages_record(pfs_threads, index);
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);

	/*
	 * If the thread ends and the slot gets a new owner between the test and
	 * the stores, that owner has our switches instead of its kind's:
	 * accepted, as it can be seen and changed in pfs.threads.
	 */
	same = pfs_pages_word(pfs_threads, index) == word;
	if (same)
	{
		if (instrumented >= 0)
			pfs_store_relaxed(&t->instrumented, instrumented ? PFS_SWITCH_ON : 0);
		if (history >= 0)
			pfs_store_relaxed(&t->history, history ? PFS_SWITCH_ON : 0);
		pfs_fence_seqcst();
		publish_mask(t);
	}
	LWLockRelease(pfs_setup->lock);
	return same;
}

uint64
pfs_thread_id_of_pid(int pid)
{
	uint64		word;
	uint32		index = pfs_threads != NULL ? find_thread(pid, &word) : PFS_NO_RECORD;
	uint64		thread_id;

	if (index == PFS_NO_RECORD)
		return 0;
	thread_id = pfs_load_relaxed(&((PfsThread *) pfs_pages_record(pfs_threads, index))->thread_id);
	pfs_fence_acquire();
	return pfs_pages_word(pfs_threads, index) == word ? thread_id : 0;
}

double
pfs_threads_estimate(void)
{
	PfsPagesStats stats;

	if (pfs_threads == NULL)
		return 0;
	pfs_pages_stats(pfs_threads, &stats);
	return stats.records_used;
}
