/*
 * hammer_levels.c
 *	  What threads count of waits and of statements, by thread, account, user, host and server: the code is
 *	  the library's, from the login that finds its account to the rows that SQL gets.
 *
 * Threads come and go, with more users and hosts than there is room for, so that accounts, users and hosts
 * are evicted; others read and truncate levels, and truncate accounts, users and hosts.  Each writer counts by an
 * instrument of its own, and says how many events it has begun and ended: what a level has of that instrument lies
 * in between, less what truncations took, and in the end is just that.  Each of its events takes the same time,
 * and one byte more than the one before, so sums and maxima are known where counts are.
 *
 * Runs (Variant) differ in which levels are truncated: one below another leaves the upper one what it has.
 */
#include "postgres.h"

#include "hammer_server.h"

#include "pfs_account_enter.h"
#include "pfs_account_read.h"
#include "pfs_departed.h"
#include "pfs_event_cell.h"
#include "pfs_shared.h"
#include "pfs_summary_level.h"

#define KEYS		(HAMMER_WORKERS_MAX / 2)	/* each writer has one */
#define THREADS		(2 * HAMMER_WORKERS_MAX)
#define FLAGS		(PFS_FLAG_THREAD | PFS_FLAG_TIMED | PFS_TIMER_NANOSECOND << PFS_FLAG_TIMER_SHIFT)
#define USERS		7
#define HOSTS		4

/* Fewer than there are names. */
#define ACCOUNTS_MAX	6
#define USERS_MAX		4
#define HOSTS_MAX		3

/* The families that count. */
static const PfsFamily families[] = {PFS_FAMILY_WAITS, PFS_FAMILY_STATEMENTS};

#define NFAMILIES	lengthof(families)

typedef struct Variant
{
	const char *name;
	bool		truncates[PFS_NUM_LEVELS];
	bool		accounts_go;
} Variant;

static const Variant variants[] = {
	{"levels, by account", {[PFS_LEVEL_THREAD] = true,[PFS_LEVEL_ACCOUNT] = true,[PFS_LEVEL_HISTOGRAM] = true}, false},
	{"levels, by user and host", {[PFS_LEVEL_THREAD] = true,[PFS_LEVEL_USER] = true,[PFS_LEVEL_HOST] = true}, false},
	{"levels, of the server", {[PFS_LEVEL_THREAD] = true,[PFS_LEVEL_GLOBAL] = true}, false},
	{"levels, accounts go", {[PFS_LEVEL_ACCOUNT] = true}, true},
};

/* What of a level and a family is known. */
typedef struct Known
{
	uint64		left;			/* events that truncations of this level took */
	bool		is_emptied;		/* by another one, which does not say how many */
	uint64		ended_before[KEYS]; /* the last truncation: these are in no
									 * row */
	uint64		begun_behind[KEYS]; /* those that come later are */
} Known;

typedef struct LevelsContext
{
	uint64		begun[KEYS];
	uint64		ended[KEYS];
	Known		known[NFAMILIES][PFS_NUM_LEVELS];
	uint64		logins;

	/* How often something happened. */
	uint64		truncated;
	uint64		read;
	uint64		waited;			/* for an account */
	uint64		others;			/* logins that got that of all others */
} LevelsContext;

static LevelsContext *x;
static const Variant *variant;

static uint64
ticks_of(uint32 key)
{
	return 1000 * (key + 1);
}

/* ---- the families: the library's, with processes that lose their processor in the middle of something ---- */

static PfsSummaryKind waits;
static PfsSummaryKind statements;

static void
leaves_cb(uint32 i, const void *cell)
{
	hammer_linger(300);
	pfs_wait_kind.leaves(i, cell);
}

static void
merge_cb(void *shared, const void *totals)
{
	hammer_linger(300);
	pfs_statement_kind.merge(shared, totals);
}

/* A truncator of the server's level has said so, and has not raised the generation yet. */
static void
free_keys_cb(void)
{
	hammer_linger(1);
}

/* The other families have no events. */
static void
make_families(void)
{
	waits = pfs_wait_kind;
	waits.leaves = leaves_cb;
	statements = pfs_statement_kind;
	statements.merge = merge_cb;
	waits.free_keys = statements.free_keys = free_keys_cb;
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		pfs_summary_kinds[family] = &pfs_stage_kind;
		pfs_sizes.cells[family] = 1;
	}
	pfs_summary_kinds[PFS_FAMILY_WAITS] = &waits;
	pfs_summary_kinds[PFS_FAMILY_STATEMENTS] = &statements;
	for (uint32 f = 0; f < NFAMILIES; f++)
		pfs_sizes.cells[families[f]] = KEYS;
}

/* ---- writers ---- */

/* What find_account() of pfs_attach.c does, which knows more of the server. */
static bool
find_account(PfsThread *t, const char *user, const char *host)
{
	PfsAccountRefs refs;

	if (!pfs_account_enter(&refs, user, host, true))
		return false;
	pfs_seqlock_write_begin(&t->moves);
	t->refs = refs;
	pfs_store_release(&t->has_refs, true);
	pfs_seqlock_write_end(&t->moves);
	pfs_add_relaxed(&x->logins, 1);
	return true;
}

/* A session is there when it knows its account. */
static void
log_in(PfsThread *t, const char *user, const char *host)
{
	bool		is_in = false;

	while (!is_in)
	{
		pfs_write_begin(t);
		is_in = find_account(t, user, host);
		pfs_write_end(t);
		if (is_in)
			return;
		pfs_add_relaxed(&x->waited, 1);
		usleep(50);
	}
}

/* Is the account the one that was asked for, or that of all others, as long as the thread lives? */
static void
check_account(const PfsThread *t, const char *user, const char *host)
{
	uint32		index = t->refs.records[PFS_ACCOUNTS];
	const PfsAccount *account;

	HAMMER_CHECK(index != PFS_NO_RECORD, "%s on %s has no account", user, host);
	if (index == pfs_accounts[PFS_ACCOUNTS].others)
	{
		pfs_add_relaxed(&x->others, 1);
		return;
	}
	account = pfs_account_at(PFS_ACCOUNTS, index);
	HAMMER_CHECK(strcmp(account->user_name, user) == 0 && strcmp(account->host_name, host) == 0,
				 "the account of %s on %s has become that of %s on %s", user, host, account->user_name, account->host_name);
}

/* What pfs_summary_add() does, by a process that loses its processor before it adds. */
static void
add_late(PfsThread *t, uint32 key)
{
	PfsWaitCell *cell;
	uint32	   *bucket;

	pfs_summary_look(t, PFS_FAMILY_WAITS);
	cell = pfs_summary_touch(t, key, ticks_of(key));
	hammer_linger(1);
	pfs_cell_add(&cell->time, ticks_of(key));
	bucket = &cell->buckets[pfs_histogram_bucket(ticks_of(key))];
	pfs_store_relaxed(bucket, *bucket + 1);
}

/* What instrument points do at the end of a wait, and of a statement. */
static void
count(PfsThread *t, uint32 key, HammerRng *rng)
{
	static const uint64 n[PFS_NUM_COUNTERS];
	PfsStatementCell *cell;

	pfs_write_begin(t);
	if (hammer_random(rng, 50000) == 0)
		add_late(t, key);
	else
		pfs_summary_add(t, key, ticks_of(key));
	pfs_count_statement(t, key, FLAGS, ticks_of(key), n);
	cell = pfs_block_cell(&t->cells[PFS_FAMILY_STATEMENTS], key);
	pfs_store_relaxed(&cell->memory, x->begun[key]);
	pfs_write_end(t);
	hammer_linger_behind();
}

static PfsThread *
begin_thread(void)
{
	static uint32_t hint = 0;
	uint32		index = pfs_pages_allocate(pfs_threads, &hint);
	PfsThread  *t = index == PFS_NO_RECORD ? NULL : pfs_pages_record(pfs_threads, index);

	if (t == NULL)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->index = index;
	t->thread_id = pfs_add_relaxed(&pfs_shared_threads->last_thread_id, 1) + 1;
	t->refs = PFS_NO_ACCOUNT_REFS;
	pfs_summary_begin(t);
	t->word = pfs_pages_publish(pfs_threads, index);
	pfs_add_seqcst(&pfs_shared_threads->attached, 1);
	pfs_my_thread = t;
	return t;
}

static void
be_thread(uint32 key, HammerRng *rng, uint32 events)
{
	char		user[16];
	char		host[16];
	PfsThread  *t = begin_thread();

	HAMMER_CHECK(t != NULL, "no record is free");
	snprintf(user, sizeof(user), "user%u", hammer_random(rng, USERS));
	snprintf(host, sizeof(host), "host%u", hammer_random(rng, HOSTS));
	log_in(t, user, host);
	check_account(t, user, host);
	for (uint32 i = 0; i < events && hammer_going(); i++)
	{
		pfs_store_release(&x->begun[key], x->begun[key] + 1);
		count(t, key, rng);
		pfs_store_release(&x->ended[key], x->ended[key] + 1);
		if (hammer_random(rng, 20000) == 0)
			hammer_pause(rng);
		/* Idle, while others truncate. */
		if (hammer_random(rng, 50000) == 0)
			usleep(30000);
	}
	check_account(t, user, host);
	/* This write section is never ended. */
	pfs_write_begin(t);
	pfs_summary_end(t);
	if (pfs_pages_claim(pfs_threads, t->index, t->word))
		pfs_pages_free(pfs_threads, t->index);
}

/* ---- readers ---- */

typedef struct Seen
{
	uint32		family;			/* of `families` */
	PfsLevel	level;
	uint64		counts[KEYS];
	uint64		sums[KEYS];
	uint64		memory[KEYS];
} Seen;

static void
add_row_cb(const PfsSummaryRow *row, void *arg)
{
	Seen	   *seen = arg;
	const PfsTotals *time = row->totals;
	uint64		ticks = ticks_of(row->cell);

	seen->counts[row->cell] += time->count_timed;
	seen->sums[row->cell] += (uint64) time->sum;
	/* Where it is truncated while it is added to, a time can be missing. */
	if (time->count_timed > 0 && ((time->min != ticks && time->min != 0) || (time->max != ticks && time->max != 0)))
		hammer_fail("from %lu to %lu, where each event took %lu", time->min, time->max, ticks);
	if (families[seen->family] == PFS_FAMILY_STATEMENTS)
		seen->memory[row->cell] = Max(seen->memory[row->cell], ((const PfsStatementTotals *) row->totals)->memory);
}

static void
add_histograms(Seen *seen)
{
	uint64	  **histograms = pfs_summary_read_histograms(families[seen->family]);

	for (uint32 key = 0; key < KEYS; key++)
	{
		for (uint32 b = 0; histograms[key] != NULL && b < PFS_HISTOGRAM_BUCKETS; b++)
			seen->counts[key] += histograms[key][b];
	}
}

/* A level that nobody has emptied has each event as it was. */
static void
check_whole(const Seen *seen, const uint64 *ended)
{
	const Known *known = &x->known[seen->family][seen->level];
	bool		has_memory = families[seen->family] == PFS_FAMILY_STATEMENTS;

	if (known->is_emptied || known->left != 0 || seen->level == PFS_LEVEL_HISTOGRAM)
		return;
	for (uint32 key = 0; key < KEYS; key++)
	{
		HAMMER_CHECK(seen->sums[key] == seen->counts[key] * ticks_of(key), "level %d: %lu events took %lu, not %lu each",
					 seen->level, seen->counts[key], seen->sums[key], ticks_of(key));
		HAMMER_CHECK(!has_memory || seen->memory[key] >= ended[key], "level %d: memory is %lu, not %lu", seen->level,
					 seen->memory[key], ended[key]);
	}
}

/* A turn of this test keeps truncations away until their bounds are known. */
static void
read_level(uint32 family, PfsLevel level, Seen *seen)
{
	const Known *known = &x->known[family][level];
	static const uint64 none[KEYS];
	uint64		ended[KEYS];
	HammerBounds bounds = {x->begun, ended, known->begun_behind, known->ended_before};
	char		what[40];

	*seen = (Seen)
	{
		.family = family, .level = level
	};
	pfs_turn_begin(PFS_COUNTED_FILES, false);
	hammer_copy_counts(ended, x->ended, KEYS);
	/* A thread's row goes with it. */
	if (level == PFS_LEVEL_THREAD)
		bounds.ended = none;
	if (level == PFS_LEVEL_HISTOGRAM)
		add_histograms(seen);
	else
		pfs_summary_read(families[family], level, 0, PFS_NO_INSTRUMENT, add_row_cb, seen);
	snprintf(what, sizeof(what), "family %d, level %d:", families[family], level);
	hammer_check_seen(what, seen->counts, &bounds, KEYS);
	if (level != PFS_LEVEL_THREAD)
		check_whole(seen, ended);
	pfs_turn_end(PFS_COUNTED_FILES, false);
	hammer_server_free_memory();
	pfs_add_relaxed(&x->read, 1);
}

/* Of statements there is one histogram for all. */
static bool
has_table(uint32 family, PfsLevel level)
{
	return level != PFS_LEVEL_HISTOGRAM || families[family] == PFS_FAMILY_WAITS;
}

/* ---- truncators ---- */

/* A level of a family is truncated, and with it others are. */
static void
note_truncation(uint32 family, PfsLevel level, const uint64 *ended_before)
{
	for (PfsLevel other = 0; other < PFS_NUM_LEVELS; other++)
	{
		Known	   *known = &x->known[family][other];

		if (!pfs_level_empties[level][other])
			continue;
		known->is_emptied |= other != level;
		memcpy(known->ended_before, ended_before, sizeof(known->ended_before));
		hammer_copy_counts(known->begun_behind, x->begun, KEYS);
	}
}

static void
truncate_level(uint32 family, PfsLevel level)
{
	uint64		ended[KEYS];

	if (!variant->truncates[level] || !has_table(family, level))
		return;
	pfs_turn_begin(PFS_COUNTED_FILES, true);
	hammer_copy_counts(ended, x->ended, KEYS);
	x->known[family][level].left += pfs_summary_truncate(families[family], level);
	note_truncation(family, level, ended);
	pfs_turn_end(PFS_COUNTED_FILES, true);
	hammer_server_free_memory();
	x->truncated++;
}

static void
truncate_accounts(PfsAccountKind kind)
{
	PfsLevel	level = pfs_level_of_kind[kind];
	uint64		ended[KEYS];

	pfs_turn_begin(PFS_COUNTED_FILES, true);
	hammer_copy_counts(ended, x->ended, KEYS);
	(void) pfs_summary_truncate_accounts(kind);
	for (uint32 family = 0; family < NFAMILIES; family++)
	{
		note_truncation(family, level, ended);
		x->known[family][level].is_emptied = true;
	}
	pfs_turn_end(PFS_COUNTED_FILES, true);
	hammer_server_free_memory();
	x->truncated++;
}

static void
levels_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	uint32		writers = (hammer_options.processes + 1) / 2;

	if (place < writers)
	{
		do
			be_thread(place, rng, hammer_random(rng, hammer_random(rng, 4) == 0 ? 100 : 50000));
		while (hammer_going());
		return;
	}
	while (hammer_going())
	{
		PfsLevel	level = hammer_random(rng, PFS_NUM_LEVELS);
		uint32		family = hammer_random(rng, NFAMILIES);
		Seen		seen;

		/*
		 * A truncation makes a fence in all processes, which takes
		 * milliseconds.  Some come one behind the other.
		 */
		if (place == writers && hammer_random(rng, 3) == 0)
		{
			if (variant->accounts_go && hammer_random(rng, 2) == 0)
				truncate_accounts(hammer_random(rng, PFS_NUM_ACCOUNT_KINDS));
			else
				do
					truncate_level(family, hammer_random(rng, PFS_NUM_LEVELS));
				while (hammer_random(rng, 8) != 0);
		}
		else if (has_table(family, level))
			read_level(family, level, &seen);
		/* Evictions are forbidden meanwhile. */
		usleep(hammer_random(rng, 5000));
	}
}

/* ---- the end ---- */

static void
count_connections_cb(const PfsAccount *copy, void *arg)
{
	uint64	   *counts = arg;

	counts[0] += pfs_connections_total(copy->connections);
	counts[1] += pfs_connections_now(copy->connections);
}

/* Each event is in one row, or was taken by a truncation that says so. */
static void
check_levels(uint32 family, uint64 begun)
{
	for (PfsLevel level = PFS_LEVEL_ACCOUNT; level < PFS_NUM_LEVELS && !hammer_failed(); level++)
	{
		const Known *known = &x->known[family][level];
		Seen		seen;

		if (!has_table(family, level))
			continue;
		read_level(family, level, &seen);
		HAMMER_CHECK(known->is_emptied || known->left + hammer_sum_of(seen.counts, KEYS) == begun,
					 "family %d, level %d: %lu events of %lu were taken, and %lu are there",
					 families[family], level, known->left, begun, hammer_sum_of(seen.counts, KEYS));
	}
}

/* When all is over, and when what is left has been truncated once more. */
static void
check_rest(void)
{
	uint64		begun = hammer_sum_of(x->begun, KEYS);
	uint64		departed = 0;

	for (uint32 family = 0; family < NFAMILIES; family++)
	{
		check_levels(family, begun);
		for (PfsLevel level = 0; level < PFS_NUM_LEVELS; level++)
			truncate_level(family, level);
		check_levels(family, begun);
	}
	for (uint32 key = 0; key < KEYS; key++)
		departed += pfs_departed->items[key].count;
	HAMMER_CHECK(departed == begun && pfs_departed->begun == pfs_departed->ended,
				 "%lu events of %lu have departed, in %lu moves of %lu", departed, begun, pfs_departed->ended, pfs_departed->begun);
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		uint64		connections[2] = {0};

		pfs_accounts_read(kind, count_connections_cb, connections);
		HAMMER_CHECK(connections[1] == 0 && (variant->accounts_go || connections[0] == x->logins),
					 "kind %d: %lu connections of %lu, and %lu are there", kind, connections[0], x->logins, connections[1]);
	}
}

/* Of accounts, and sessions that have found none to evict. */
static uint64
evictions(void)
{
	PfsPagesStats stats;

	pfs_pages_stats(pfs_accounts[PFS_ACCOUNTS].pages, &stats);
	return stats.records_lost;
}

static bool
has_seen_all(const void *context)
{
	return x->truncated > 1 && x->read > 1 && x->logins > (uint64) hammer_options.processes &&
		evictions() > 0;
}

static void
run_levels(void)
{
	HammerSegment s;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		hammer_server_lay_out(&s.seg);
		hammer_summaries_lay_out(&s.seg);
	}
	pfs_accounts_start();
	hammer_run_until(levels_worker, NULL, has_seen_all);
	if (!hammer_failed())
	{
		check_rest();
		if (!has_seen_all(NULL))
			hammer_fail("%lu truncated, %lu read, %lu logins", x->truncated, x->read, x->logins);
	}
	hammer_done(variant->name, "%lu events, %lu logins, %lu waits for an account, %lu of all others, %lu evictions; %lu truncations, %lu readings",
				hammer_sum_of(x->begun, KEYS), x->logins, x->waited, x->others, evictions(),
				x->truncated, x->read);
	hammer_segment_end(&s);
	hammer_server_end();
}

void
hammer_levels(void)
{
	/*
	 * Owners store with plain instructions what readers copy; a killed server
	 * makes its memory anew.
	 */
	if (hammer_options.threads || hammer_options.kill)
	{
		hammer_done("levels", hammer_options.threads ? "not with threads" : "not with kills");
		return;
	}
	make_families();
	pfs_summary_pending[PFS_FAMILY_STATEMENTS] = NULL;
	pfs_sizes.threads = THREADS;
	pfs_sizes.thread_waits = pfs_sizes.thread_counters = THREADS * 2;
	pfs_sizes.accounts = ACCOUNTS_MAX;
	pfs_sizes.users = USERS_MAX;
	pfs_sizes.hosts = HOSTS_MAX;
	pfs_sizes.account_counters = 2048;
	pfs_instruments->count = KEYS;
	pfs_local_set_usual(FLAGS);
	for (variant = variants; variant < variants + lengthof(variants); variant++)
		run_levels();
}
