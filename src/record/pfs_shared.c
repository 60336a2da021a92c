/*
 * pfs_shared.c
 *	  The segment: one list of parts, laid out twice, and the state that has no
 *	  other home.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "pfs_actor.h"
#include "pfs_compat.h"
#include "pfs_digest.h"
#include "pfs_error.h"
#include "pfs_event_write.h"
#include "pfs_file.h"
#include "pfs_file_sum.h"
#include "pfs_hash.h"
#include "pfs_log.h"
#include "pfs_lwlock_event.h"
#include "pfs_memory.h"
#include "pfs_patience.h"
#include "pfs_prepared.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_socket.h"
#include "pfs_status.h"
#include "pfs_summary.h"

/* Guesses at what one page should hold: some 64 kB of each kind of record. */
#define THREADS_PER_PAGE 8
#define HISTOGRAMS_PER_PAGE 100
/* Instruments that a thread meets in its life; what is more counts together. */
#define HISTOGRAMS_PER_THREAD 32
#define FILES_PER_PAGE 256
#define LONG_NAMES_PER_PAGE 32
#define ACTORS_PER_PAGE 128
#define SOCKETS_PER_PAGE 128
#define LWLOCKS_PER_PAGE 512
#define PREPARED_PER_PAGE 64
/* One file in this many may have a name longer than PFS_FILE_INLINE_NAME. */
#define FILES_PER_LONG_NAME 16
/* A file is opened, closed, read, written, extended and synced, or some of it. */
#define SUMS_PER_FILE 6
#define SUMS_PER_PAGE 1024
/* More lanes than this cost memory that the fewer collisions do not repay. */
#define LANES_MAX 16
/* Tables whose last reset is remembered. */
#define RESET_TABLES_MAX 128

typedef struct PfsReset
{
	char		table[NAMEDATALEN];
	TimestampTz time;
} PfsReset;

/* The head of the segment. */
typedef struct PfsShared
{
	PfsSharedClock clock;
	PfsSharedSetup setup;
	PfsSharedInstruments instruments;
	PfsSharedThreads threads;
	PfsSharedFiles files;
	PfsSharedSummary summary[PFS_NUM_FAMILIES];
	PfsSharedMemory memory;
	PfsSharedActors actors;
	PfsSharedErrors errors;
	PfsSharedPrepared prepared;
	PfsSharedPatience patience;
	PfsSharedHooks hooks;
	uint32		nresets;		/* under the setup lock */
	PfsReset	resets[RESET_TABLES_MAX];
} PfsShared;

PFS_NEAR PfsSizes pfs_sizes;

static PfsShared *shared = NULL;
static bool loaded = false;

/* Everything the layout makes; NULLs in the sizing pass. */
typedef struct PfsLayout
{
	PfsShared  *shared;
	PfsInstrument *instruments;
	PfsSharedWords *words;
	PfsPages   *threads;
	PfsPages   *files;
	PfsPages   *file_names;
	PfsHash    *file_index;
	PfsLog	   *history_long[PFS_NUM_EVENT_FAMILIES];
	PfsAccounts accounts[PFS_NUM_ACCOUNT_KINDS];
	PfsPages   *thread_histograms;
	void	   *summary_cells[PFS_NUM_FAMILIES];
	uint64	   *summary_buckets;
	PfsInstrumentId *of_cell[PFS_NUM_FAMILIES]; /* all but waits */
	PfsPages   *actors;
	PfsPages   *file_sums;
	PfsFileSum *file_totals;
	PfsSharedSockets *shared_sockets;
	PfsPages   *sockets;
	void	   *socket_totals;
	PfsPages   *lwlocks;
	PfsHash    *lwlock_index;
	void	   *lwlock_holders;
	PfsLog	   *lwlock_log;
	PfsDigestLayout digests;
	PfsPages   *prepared;
} PfsLayout;

/*
 * A power of two, at least the number of processors if that is not too many.
 * Asked once: a restart after a crash has to lay out what was requested.
 */
static uint32
history_lanes(void)
{
	static uint32 lanes = 0;

	if (lanes == 0)
	{
		long		processors = sysconf(_SC_NPROCESSORS_CONF);

		for (lanes = 1; lanes < processors && lanes < LANES_MAX;)
			lanes *= 2;
	}
	return lanes;
}

static void
lay_out(PfsSegment *seg, PfsLayout *layout)
{
	PfsPagesSpec threads = {"thread_instances",
	pfs_thread_record_size(), pfs_sizes.threads, THREADS_PER_PAGE};
	PfsPagesSpec files = {"file_instances", sizeof(PfsFile), pfs_sizes.files, FILES_PER_PAGE};
	PfsPagesSpec names = {"file_long_names", TYPEALIGN(8, PFS_FILE_NAME_SIZE),
	pfs_sizes.files / FILES_PER_LONG_NAME, LONG_NAMES_PER_PAGE};
	PfsPagesSpec actors = {"setup_actors", sizeof(PfsActor), pfs_sizes.actors, ACTORS_PER_PAGE};

	PfsPagesSpec histograms = {"waits_histograms", PFS_HISTOGRAM_BUCKETS * sizeof(uint32),
	pfs_sizes.threads * HISTOGRAMS_PER_THREAD, HISTOGRAMS_PER_PAGE};
	PfsPagesSpec sums = {"file_events", sizeof(PfsFileSum), pfs_sizes.files * SUMS_PER_FILE,
	SUMS_PER_PAGE};
	PfsPagesSpec lwlocks = {"lwlock_instances", sizeof(PfsLwlock), pfs_sizes.lwlocks, LWLOCKS_PER_PAGE};
	PfsPagesSpec sockets = {"socket_instances", sizeof(PfsSocket), pfs_sizes.sockets, SOCKETS_PER_PAGE};
	PfsPagesSpec prepared = {"prepared_statements_instances", pfs_prepared_record_size(), pfs_sizes.prepared,
	PREPARED_PER_PAGE};
	uint32		shared_cell_sizes[PFS_NUM_FAMILIES];

	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		shared_cell_sizes[family] = pfs_summary_kinds[family]->shared_size;

	layout->shared = pfs_segment_take(seg, sizeof(PfsShared), PFS_CACHE_LINE);
	layout->instruments = pfs_segment_take(seg, pfs_sizes.instruments * sizeof(PfsInstrument),
										   PFS_CACHE_LINE);
	layout->words = pfs_segment_take(seg, offsetof(PfsSharedWords, flags) + pfs_sizes.instruments * sizeof(uint32),
									 PFS_CACHE_LINE);
	layout->threads = pfs_pages_create(seg, &threads);
	layout->files = pfs_pages_create(seg, &files);
	layout->file_names = pfs_pages_create(seg, &names);
	layout->file_index = pfs_hash_create(seg, layout->files, pfs_sizes.files, pfs_file_has_name);

	/* Room for what the threads hold back: see pfs_event.c. */
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
		layout->history_long[f] = pfs_log_create(seg, pfs_event_families[f].many_lanes ? history_lanes() : 1,
												 pfs_sizes.history_long[f] == 0 ? 0
												 : pfs_sizes.history_long[f] +
												 pfs_sizes.threads * PFS_LOG_GROUP,
												 pfs_sizes.event_size[f]);
	pfs_accounts_create(seg, layout->accounts, pfs_sizes.accounts, pfs_sizes.cells, shared_cell_sizes);
	layout->thread_histograms = pfs_pages_create(seg, &histograms);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		layout->summary_cells[family] = pfs_segment_take(seg, pfs_summary_cells_size(family, pfs_sizes.cells[family]),
														 PFS_CACHE_LINE);
	layout->summary_buckets = pfs_segment_take(seg, pfs_summary_buckets_size(pfs_sizes.cells[PFS_FAMILY_WAITS]),
											   PFS_CACHE_LINE);
	for (PfsFamily family = PFS_FAMILY_WAITS + 1; family < PFS_NUM_FAMILIES; family++)
		layout->of_cell[family] = pfs_segment_take(seg, pfs_sizes.cells[family] * sizeof(PfsInstrumentId),
												   PFS_CACHE_LINE);
	layout->actors = pfs_pages_create(seg, &actors);
	layout->file_sums = pfs_pages_create(seg, &sums);
	layout->file_totals = pfs_segment_take(seg, pfs_file_totals_size(), PFS_CACHE_LINE);
	layout->shared_sockets = pfs_segment_take(seg, sizeof(PfsSharedSockets), PFS_CACHE_LINE);
	layout->sockets = pfs_pages_create(seg, &sockets);
	layout->prepared = pfs_pages_create(seg, &prepared);
	layout->socket_totals = pfs_segment_take(seg, pfs_socket_totals_size(pfs_sizes.instruments),
											 PFS_CACHE_LINE);
	layout->lwlocks = pfs_pages_create(seg, &lwlocks);
	layout->lwlock_index = pfs_hash_create(seg, layout->lwlocks, pfs_sizes.lwlocks, pfs_lwlock_matches);
	layout->lwlock_holders = pfs_segment_take(seg, pfs_lwlock_holders_size(), PFS_CACHE_LINE);
	layout->lwlock_log = pfs_log_create(seg, history_lanes(), pfs_lwlock_log_blocks(), sizeof(PfsLwlockBlock));
	pfs_digests_lay_out(seg, &layout->digests);
}

/*
 * The real page size of the segment to be made: huge pages only if the server
 * is certain to use them, else the pages could be aligned too little to be
 * given back; then madvise refuses and reclaim is off, which probes reports.
 */
static size_t
segment_page_size(void)
{
	const char *status = GetConfigOption("huge_pages", true, false);
	const char *size = GetConfigOption("huge_page_size", true, false);
	size_t		kb = size != NULL ? strtoul(size, NULL, 10) : 0;

	if (status == NULL || strcmp(status, "on") != 0)
		return sysconf(_SC_PAGESIZE);
	return kb > 0 ? kb * 1024 : 2 * 1024 * 1024;
}

Size
pfs_shared_size(void)
{
	PfsSegment	seg = {NULL, 0, segment_page_size()};
	PfsLayout	layout;

	lay_out(&seg, &layout);
	return seg.used;
}

bool
pfs_is_active(void)
{
	return shared != NULL;
}

bool
pfs_is_loaded(void)
{
	return loaded;
}

void
pfs_shared_note_loaded(void)
{
	loaded = true;
}

/* Does the system take shared memory back?  All containers lie in one segment. */
static void
report_reclaim(void)
{
	PfsProbeRow row = {.name = "reclaim", .target = "madvise(MADV_REMOVE)", .status = "active"};
	int			error = pfs_pages_reclaim_errno(pfs_threads);

	if (error != 0)
	{
		row.status = "unavailable";
		strlcpy(row.detail, error == PFS_PAGES_KEPT ? "the system says that it took shared memory back and keeps its bytes"
				: strerror(error), sizeof(row.detail));
		ereport(LOG,
				(errmsg("pfs: the system does not take shared memory back: %s", row.detail),
				 errdetail("Memory that pfs used once stays resident.")));
	}
	pfs_probe_report(&row);
}

void
pfs_shared_start(void)
{
	PfsSegment	seg = {NULL, 0, segment_page_size()};
	PfsLayout	layout;
	bool		found;

	seg.base = ShmemInitStruct("pfs", pfs_shared_size(), &found);

	/*
	 * The postmaster alone gets here, and after a crash it gets a new
	 * segment.
	 */
	Assert(!found);
	lay_out(&seg, &layout);

	shared = layout.shared;
	pfs_words = layout.words;
	pfs_threads = layout.threads;
	pfs_files = layout.files;
	pfs_file_names = layout.file_names;
	pfs_file_index = layout.file_index;
	memcpy(pfs_history_long, layout.history_long, sizeof(pfs_history_long));
	memcpy(pfs_accounts, layout.accounts, sizeof(pfs_accounts));
	pfs_thread_histograms = layout.thread_histograms;
	pfs_summary_start(shared->summary, pfs_sizes.cells, layout.summary_cells, layout.summary_buckets);
	pfs_actors = layout.actors;
	pfs_file_sums = layout.file_sums;
	pfs_file_totals = layout.file_totals;
	pfs_sockets = layout.sockets;
	pfs_prepared = layout.prepared;
	pfs_shared_prepared = &shared->prepared;
	/* Not 0, which a record's page reads as when it has been given back. */
	pfs_words->prepared_truncations = 1;
	pfs_shared_sockets = layout.shared_sockets;
	pfs_socket_start(layout.socket_totals, pfs_sizes.instruments);
	pfs_lwlocks = layout.lwlocks;
	pfs_lwlock_index = layout.lwlock_index;
	pfs_lwlock_holders = pfs_sizes.lwlock_holders > 0 ? layout.lwlock_holders : NULL;
	pfs_lwlock_log = layout.lwlock_log;
	pfs_digests_start(&layout.digests);
	pfs_shared_threads = &shared->threads;
	pfs_shared_files = &shared->files;
	shared->files.ntombstones = Min(PFS_FILE_TOMBSTONES, pfs_sizes.files / 4);

	/* Once here instead of once in each process. */
	(void) pfs_thread_kind_count();
	pfs_file_start();
	pfs_clock_start(&shared->clock);
	shared->setup.lock = &(GetNamedLWLockTranche("pfs"))->lock;
	pfs_setup_start(&shared->setup, GetConfigOption("pfs.instruments", false, false),
					GetConfigOption("pfs.consumers", false, false));
	shared->instruments.max = pfs_sizes.instruments;
	shared->instruments.items = layout.instruments;
	memcpy(shared->instruments.max_cells, pfs_sizes.cells, sizeof(pfs_sizes.cells));
	for (PfsFamily family = PFS_FAMILY_WAITS + 1; family < PFS_NUM_FAMILIES; family++)
		shared->instruments.of_cell[family] = layout.of_cell[family];
	pfs_shared_hooks = &shared->hooks;
	pfs_memory = &shared->memory;
	pfs_errors = &shared->errors;
	pfs_patience = &shared->patience;
	pfs_instruments_start(&shared->instruments);
	pfs_actors_start(&shared->actors);
	pfs_containers_register();
	pfs_setup_refresh();

	report_reclaim();
}

static PfsReset *
find_reset(const char *table)
{
	for (uint32 i = 0; i < shared->nresets; i++)
	{
		if (strcmp(shared->resets[i].table, table) == 0)
			return &shared->resets[i];
	}
	return NULL;
}

TimestampTz
pfs_reset_time(const char *table)
{
	PfsReset   *reset;
	TimestampTz time;

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	reset = find_reset(table);
	time = reset ? reset->time : pfs_clock->start_time;
	LWLockRelease(pfs_setup->lock);
	return time;
}

void
pfs_reset_time_note(const char *table)
{
	PfsReset   *reset;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	reset = find_reset(table);
	if (reset == NULL && shared->nresets < RESET_TABLES_MAX)
	{
		reset = &shared->resets[shared->nresets++];
		strlcpy(reset->table, table, sizeof(reset->table));
	}
	if (reset != NULL)
		reset->time = GetCurrentTimestamp();
	LWLockRelease(pfs_setup->lock);
}
