/*
 * hammer_digests.c
 *	  What processes count of statements, by digest, by plan and by thread at once, with waits and rows of tables: the
 *	  code is the library's, from the statement's end to the rows that SQL gets.
 *
 * There are more shapes of statements than digests and places, and more plans, so that places are flushed and both
 * evicted all the time, while others read and truncate digests, their histograms, waits, rows, plans and nodes, and the
 * threads' totals.  Each writer counts by a counter, an instrument of statements and some of waits of its own, and
 * says how many statements it has begun and ended: each has one wait, one row and one plan, of one node.  What tables have lies in
 * between, less what truncations took, and in the end is just that.  Threads come and go; who gets the record goes on with the places.
 */
#include "postgres.h"

#include <signal.h>

#include "hammer_server.h"
#include "hammer_nodes.h"

#include "pfs_charge.h"
#include "pfs_departed.h"
#include "pfs_digest_count.h"
#include "pfs_digest_evict.h"
#include "pfs_node_read.h"
#include "pfs_digest_rows_read.h"
#include "pfs_pending_read.h"
#include "pfs_rel_read.h"
#include "pfs_shared.h"
#include "pfs_summary_level.h"

#define KEYS		PFS_NUM_COUNTERS	/* each writer has one */
#define WAITS		8			/* kinds of waits of a writer: more than a
								 * place has room for */
#define THREADS		(2 * HAMMER_WORKERS_MAX)
#define DIGESTS		1000
#define SHAPES		10000
#define PLANS_EACH	3			/* plans of a shape */
#define TABLES		2
#define FLAGS		(PFS_FLAG_THREAD | PFS_FLAG_TIMED | PFS_FLAG_DIGEST | PFS_TIMER_NANOSECOND << PFS_FLAG_TIMER_SHIFT)
#define TICKS		3000		/* of most statements; those of samples take
								 * longer */

/* What is counted, as SQL's tables show it. */
typedef enum What
{
	STATEMENTS,
	BUCKETS,					/* of all writers */
	WAITS_OF_DIGESTS,
	ROWS,						/* of all writers */
	PLANS,
	NODES,						/* of all writers */
	NODE_WAITS,					/* likewise */
	TOTALS,						/* of threads */
	TOTAL_BUCKETS,				/* of all writers */
} What;

#define NWHATS		(TOTAL_BUCKETS + 1)

static const char *const names[NWHATS] = {
	"digests:", "histograms:", "waits:", "rows:", "plans:", "nodes:", "waits of nodes:", "threads:", "the histogram:"
};

/* What of one is known. */
typedef struct Known
{
	uint64		left;			/* that truncations of it took */
	bool		is_emptied;		/* by another one, which does not say how many */
	uint64		ended_before[KEYS]; /* the last truncation: these are in no
									 * row */
	uint64		begun_behind[KEYS]; /* those that come later are */
} Known;

typedef struct Variant
{
	const char *name;
	bool		all;			/* digests are truncated, else their parts */
} Variant;

static const Variant variants[] = {
	{"digests, their parts are truncated", false},
	{"digests, all are truncated", true},
};

typedef struct DigestsContext
{
	uint64		begun[KEYS];
	uint64		ended[KEYS];
	Known		known[NWHATS];

	/* How often something happened. */
	uint64		plain;			/* counted where nothing had changed */
	uint64		threads;
	uint64		truncated;
	uint64		read;
} DigestsContext;

static DigestsContext *x;
static const Variant *variant;

/* ---- the kind: the library's, with owners that lose their processor in the middle of a flush ---- */

static PfsCountedKind digests;
static PfsCountedKind nothing;

static void
add_cb(void *object, const PfsPending *p)
{
	hammer_linger(500);
	pfs_counted_digests.add(object, p);
}

static void
leave_cb(PfsThread *t, PfsPending *p, bool stays)
{
	hammer_linger(500);
	pfs_counted_digests.leave(t, p, stays);
}

static void
make_kinds(void)
{
	digests = pfs_counted_digests;
	digests.add = add_cb;
	digests.leave = leave_cb;
	nothing = (PfsCountedKind)
	{
		.shape = NULL
	};
	for (int kind = 0; kind < PFS_NUM_COUNTED_OBJECTS; kind++)
		pfs_counted_kinds[kind] = &nothing;
	pfs_counted_kinds[PFS_COUNTED_DIGESTS] = &digests;
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		pfs_summary_kinds[family] = &pfs_stage_kind;
		pfs_sizes.cells[family] = 1;
	}
	pfs_summary_kinds[PFS_FAMILY_WAITS] = &pfs_wait_kind;
	pfs_sizes.cells[PFS_FAMILY_WAITS] = KEYS * WAITS;
	pfs_summary_kinds[PFS_FAMILY_STATEMENTS] = &pfs_statement_kind;
	pfs_sizes.cells[PFS_FAMILY_STATEMENTS] = KEYS;
	pfs_summary_pending[PFS_FAMILY_STATEMENTS] = &pfs_statement_pending;
	pfs_charge.full_cb = pfs_digest_waits_flush_all;
}

/* ---- writers ---- */

/* A few shapes are half of all statements, and many are rare. */
static uint64
draw_shape(HammerRng *rng)
{
	return 1 + hammer_random(rng, hammer_random(rng, 2) == 0 ? 4 : hammer_random(rng, 8) == 0 ? SHAPES : 40);
}

static void
count_row(const PfsDigestKey *key, uint32 table)
{
	static PfsRelRun run;
	PfsRowCount rows;

	run.charged = (PfsDigestCharged)
	{
		1, *key
	};
	run.table_stat = PFS_COUNTED_OBJECT(table, pfs_pages_word(pfs_rel_stats[PFS_TABLE_STATS].pages, table));
	pfs_counts_clear(&rows);
	pfs_counts_add_event(&rows, TICKS);
	pfs_digest_rows_add(&run, &rows);
}

/* The general way of a statement that ends. */
static void
count_any(PfsThread *t, uint32 key, uint64 shape, uint64 plan, uint64 now)
{
	static PfsStatement s;

	s.flags = FLAGS;
	s.instrument = key;
	s.database = s.user = 1;
	s.query_id = shape;
	s.plan_id = plan;
	s.start = now - TICKS;
	s.n = s.own;
	memset(s.own, 0, sizeof(s.own));
	s.own[key] = 1;
	if (!pfs_digest_count(&s, NULL, now, true))
		pfs_count_statement(t, key, FLAGS, TICKS, s.n);
}

/* That of nearly all, as in finish() of pfs_plain.c, where no word has changed since the last look. */
static uint64 rare[PFS_NUM_RARE] __attribute__((aligned(16)));

/* A statement is taken out of its block: its counters are known here. */
void
pfs_statement_event_unpack(const void *stored, PfsEvent *event)
{
	PfsStatementEvent *to = (PfsStatementEvent *) event;

	memset(to->n, 0, sizeof(to->n));
	memcpy(to->n, ((const PfsStoredStatement *) stored)->n, PFS_N_RARE * sizeof(uint64));
	memcpy(to->n + PFS_N_RARE, rare, sizeof(rare));
	to->memory = 0;
}

static void
count_plain(PfsThread *t, uint32 key, uint64 shape, uint64 plan, uint64 now, uint64 ticks)
{
	static PfsStoredStatement e;
	static union
	{
		PfsStatementEvent event;
		char		room[sizeof(PfsStatementEvent) + 64];
	}			slot;

	e.flags = FLAGS;
	e.instrument = key;
	e.database = e.user = 1;
	e.query_id = shape;
	e.plan_id = plan;
	e.text_len = 1;
	memset(e.n, 0, sizeof(e.n));
	memset(rare, 0, sizeof(rare));
	if (key < PFS_N_RARE)
		e.n[key] = 1;
	else
		rare[key - PFS_N_RARE] = 1;
	pfs_digest_count_plain(t, &e, pfs_counters_rare(rare), &slot.event, now, ticks);
	x->plain++;
}

/* Behind pfs_write_begin(): has nothing changed since this process looked?  As pfs_plain.c does. */
static bool
may_be_plain(void)
{
	static uint64 looked = 0;
	uint64		generation = pfs_load_acquire(&pfs_words->generation);

	if (looked == generation + 1)
		return true;
	pfs_digests_generation = pfs_load_relaxed(&pfs_words->object_truncations[PFS_COUNTED_DIGESTS]);
	looked = generation + 1;
	return false;
}

static void
count(PfsThread *t, uint32 key, HammerRng *rng)
{
	PfsDigestKey digest = pfs_digest_key(1, 1, draw_shape(rng));
	uint64		plan = 1 + hammer_random(rng, PLANS_EACH);
	bool		is_plain;

	pfs_write_begin(t);
	is_plain = may_be_plain();
	pfs_digest_wait_add(key * WAITS + hammer_random(rng, WAITS), TICKS);
	count_row(&digest, hammer_random(rng, TABLES));
	count_node(&digest, plan, key * WAITS, TICKS);
	hammer_linger(50000);
	if (is_plain && hammer_random(rng, 8) != 0)
		count_plain(t, key, digest.query_id, plan, pfs_timer_read(PFS_TIMER_NANOSECOND), hammer_random(rng, 64) == 0 ? 2 * TICKS : TICKS);
	else
		count_any(t, key, digest.query_id, plan, pfs_timer_read(PFS_TIMER_NANOSECOND));
	pfs_digest_rows_flush(1);
	pfs_write_end(t);
	hammer_linger_behind();
}

static void
be_thread(uint32 key, HammerRng *rng, uint32 events)
{
	static uint32_t hint = 0;
	uint32		index = pfs_pages_allocate(pfs_threads, &hint);
	PfsThread  *t;

	HAMMER_CHECK(index != PFS_NO_RECORD, "no record is free");
	t = pfs_pages_record(pfs_threads, index);
	memset(t, 0, sizeof(*t));
	t->index = index;
	t->thread_id = pfs_add_relaxed(&pfs_shared_threads->last_thread_id, 1) + 1;
	t->refs = PFS_NO_ACCOUNT_REFS;
	pfs_summary_begin(t);
	t->word = pfs_pages_publish(pfs_threads, index);
	pfs_add_seqcst(&pfs_shared_threads->attached, 1);
	pfs_my_thread = t;
	pfs_add_relaxed(&x->threads, 1);
	for (uint32 i = 0; i < events && hammer_going(); i++)
	{
		pfs_local.waits = t->digest_waits;
		pfs_store_release(&x->begun[key], x->begun[key] + 1);
		count(t, key, rng);
		pfs_store_release(&x->ended[key], x->ended[key] + 1);
		if (hammer_random(rng, 20000) == 0)
			hammer_pause(rng);
	}
	/* This write section is never ended. */
	pfs_write_begin(t);
	pfs_part_digests.detach(t);
	pfs_pending_detach(t);
	pfs_summary_end(t);
	if (pfs_pages_claim(pfs_threads, index, t->word))
		pfs_pages_free(pfs_threads, index);
}

/* ---- readers ---- */

/* Statements of all rows: truncations count these, and their counters may have arrived before. */
static uint64 all_statements;

static void
add_digest_cb(const PfsDigestRow *row, void *arg)
{
	uint64	   *seen = arg;

	all_statements += pfs_totals_count(&row->totals.time);

	for (uint32 key = 0; key < KEYS; key++)
		seen[key] += (uint64) row->totals.n[key];
	if (row->first_seen > row->last_seen)
		hammer_fail("a digest was seen first at %ld, last at %ld", row->first_seen, row->last_seen);
}

static void
add_buckets_cb(const PfsDigestRow *row, void *arg)
{
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		*(uint64 *) arg += row->buckets[b];
}

static void
add_wait_cb(const PfsDigestWaitRow *row, void *arg)
{
	((uint64 *) arg)[row->instrument / WAITS] += pfs_totals_count(&row->totals);
}

static void
add_rows_cb(const PfsDigestRowsRow *row, void *arg)
{
	*(uint64 *) arg += pfs_totals_count(&row->all);
}

static void
add_node_cb(const PfsNodeRow *row, void *arg)
{
	*(uint64 *) arg += row->sums.executions;
}

static void
add_node_wait_cb(const PfsNodeWaitRow *row, void *arg)
{
	*(uint64 *) arg += pfs_totals_count(&row->totals);
}

static void
add_total_cb(const PfsSummaryRow *row, void *arg)
{
	((uint64 *) arg)[row->cell] += ((const PfsTotals *) row->totals)->count_timed;
}

static void
add_total_buckets(uint64 *seen)
{
	uint64	  **histograms = pfs_summary_read_histograms(PFS_FAMILY_STATEMENTS);

	for (int b = 0; histograms[0] != NULL && b < PFS_HISTOGRAM_BUCKETS; b++)
		*seen += histograms[0][b];
}

/* Is it told apart by writers? */
static bool
is_by_writer(What what)
{
	return what == STATEMENTS || what == WAITS_OF_DIGESTS || what == PLANS || what == TOTALS;
}

/* Sets bounds for all writers together. */
static void
add_up(uint64 *counts)
{
	counts[0] = hammer_sum_of(counts, KEYS);
}

/* A turn of this test keeps truncations away until their bounds are known. */
static void
read_one(What what, uint64 *seen)
{
	Known		known;
	uint64		begun[KEYS];
	uint64		ended[KEYS];
	HammerBounds bounds = {is_by_writer(what) ? x->begun : begun, ended, known.begun_behind, known.ended_before};

	memset(seen, 0, KEYS * sizeof(uint64));
	all_statements = 0;
	pfs_turn_begin(PFS_COUNTED_FILES, false);
	known = x->known[what];
	hammer_copy_counts(ended, x->ended, KEYS);
	if (what == STATEMENTS)
		pfs_digests_read(&pfs_digests, 0, add_digest_cb, seen);
	else if (what == BUCKETS)
		pfs_digests_read(&pfs_digests, PFS_DIGEST_BUCKETS, add_buckets_cb, seen);
	else if (what == WAITS_OF_DIGESTS)
		pfs_digest_waits_read(PFS_NO_INSTRUMENT, add_wait_cb, seen);
	else if (what == ROWS)
		pfs_digest_rows_read(add_rows_cb, seen);
	else if (what == PLANS)
		pfs_digests_read(&pfs_plans, PFS_DIGEST_BUCKETS, add_digest_cb, seen);
	else if (what == NODES)
		pfs_nodes_read(add_node_cb, seen);
	else if (what == NODE_WAITS)
		pfs_node_waits_read(PFS_NO_INSTRUMENT, add_node_wait_cb, seen);
	else if (what == TOTALS)
		pfs_summary_read(PFS_FAMILY_STATEMENTS, PFS_LEVEL_GLOBAL, 0, PFS_NO_INSTRUMENT, add_total_cb, seen);
	else
		add_total_buckets(seen);
	hammer_copy_counts(begun, x->begun, KEYS);
	if (!is_by_writer(what))
	{
		add_up(begun);
		add_up(ended);
		add_up(known.begun_behind);
		add_up(known.ended_before);
	}
	hammer_check_seen(names[what], seen, &bounds, is_by_writer(what) ? KEYS : 1);
	pfs_turn_end(PFS_COUNTED_FILES, false);
	hammer_server_free_memory();
	pfs_add_relaxed(&x->read, 1);
}

/* ---- truncators ---- */

static uint64
truncate_what(What what)
{
	switch (what)
	{
		case STATEMENTS:
			return pfs_digests_truncate();
		case BUCKETS:
			return pfs_digest_buckets_truncate();
		case WAITS_OF_DIGESTS:
			return pfs_digest_waits_truncate();
		case ROWS:
			return pfs_digest_rows_truncate();
		case PLANS:
			return pfs_plans_truncate();
		case NODES:
			return pfs_nodes_truncate();
		case NODE_WAITS:
			return pfs_node_waits_truncate();
		case TOTALS:
			return pfs_summary_truncate(PFS_FAMILY_STATEMENTS, PFS_LEVEL_GLOBAL);
		case TOTAL_BUCKETS:
			break;
	}
	return pfs_summary_truncate(PFS_FAMILY_STATEMENTS, PFS_LEVEL_HISTOGRAM);
}

/* Does a truncation empty this, too? */
static bool
empties(What truncated, What what)
{
	return truncated == what || (truncated == STATEMENTS && what <= NODE_WAITS) ||
		(truncated == PLANS && (what == NODES || what == NODE_WAITS)) || (truncated == TOTALS && what == TOTAL_BUCKETS);
}

static void
truncate_one(What truncated)
{
	uint64		ended[KEYS];

	/* What it empties besides is not counted. */
	if ((truncated == STATEMENTS || truncated == TOTALS) != variant->all)
		return;
	pfs_turn_begin(PFS_COUNTED_FILES, true);
	hammer_copy_counts(ended, x->ended, KEYS);
	x->known[truncated].left += truncate_what(truncated);
	for (What what = 0; what < NWHATS; what++)
	{
		if (!empties(truncated, what))
			continue;
		x->known[what].is_emptied |= what != truncated;
		memcpy(x->known[what].ended_before, ended, sizeof(ended));
		hammer_copy_counts(x->known[what].begun_behind, x->begun, KEYS);
	}
	pfs_turn_end(PFS_COUNTED_FILES, true);
	hammer_server_free_memory();
	x->truncated++;
}

static void
digests_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	uint32		writers = Min((hammer_options.processes + 1) / 2, KEYS);

	if (place < writers)
	{
		do
			be_thread(place, rng, hammer_random(rng, hammer_random(rng, 4) == 0 ? 100 : 50000));
		while (hammer_going());
		return;
	}
	while (hammer_going())
	{
		What		what = hammer_random(rng, NWHATS);
		uint64		seen[KEYS];

		/*
		 * A truncation makes a fence in all processes, which takes
		 * milliseconds.
		 */
		if (place == writers && hammer_random(rng, 3) == 0)
			truncate_one(what);
		else
			read_one(what, seen);
		/* Flushes and evictions are forbidden meanwhile. */
		usleep(hammer_random(rng, 5000));
	}
}

/* ---- the end ---- */

/* What statements and their waits have come to, as the recorder of the load history adds it up. */
static void
check_departed(uint64 begun)
{
	uint64		statements = pfs_departed->statements;
	uint64		handed = 0;

	for (uint32 i = 0; i < THREADS; i++)
	{
		const PfsPendingDigests *set = pfs_pending_digests_get(i);

		if (set == NULL)
			continue;
		statements += set->handed_statements;
		for (uint32 k = 0; k < PFS_PENDING_DIGESTS; k++)
		{
			const PfsPendingDigest *p = &set->items[k];

			statements += p->counters.time.count_timed + p->counters.time.count_untimed;
			for (uint32 w = 0; w < p->nwaits; w++)
				handed += p->waits[w].counts.timed;
		}
	}
	for (uint32 i = 0; i < KEYS * WAITS; i++)
		handed += pfs_departed->items[i].handed_count;
	HAMMER_CHECK(statements == begun && handed == begun, "%lu statements of %lu have left, and %lu waits", statements, begun, handed);
}

static void
ignore_wait_cb(const PfsDigestWaitRow *row, void *arg)
{
}

static void
round_cb(int signal)
{
	hammer_fail("a reader goes round in a circle");
	hammer_done(variant->name, " ");
	_exit(1);
}

/*
 * A reader comes to an end in chains that lead in a circle, as those can that a process is moving which nobody
 * waits for any more; also where it wants none of their cells.
 */
static void
check_circles(void)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_digests.pages, &at);)
	{
		const PfsDigest *d = pfs_pages_record(pfs_digests.pages, at.index);

		for (uint32 link = d->waits; link != 0;)
		{
			PfsChained *cell = pfs_chain_at(pfs_digest_waits, link);

			link = cell->next;
			if (link == 0)
				cell->next = d->waits;
		}
	}
	(void) signal(SIGALRM, round_cb);
	alarm(10);
	pfs_digest_waits_read(KEYS * WAITS, ignore_wait_cb, NULL);
	alarm(0);
}

/* When all is over, each event is in one row, or was taken by a truncation that says so. */
static void
check_rest(void)
{
	uint64		begun = hammer_sum_of(x->begun, KEYS);

	for (What what = 0; what < NWHATS; what++)
	{
		const Known *known = &x->known[what];
		uint64		seen[KEYS];
		uint64		all;

		read_one(what, seen);
		all = what == STATEMENTS || what == PLANS ? all_statements : hammer_sum_of(seen, KEYS);
		HAMMER_CHECK(known->is_emptied || known->left + all == begun, "%s %lu events of %lu were taken, and %lu are there",
					 names[what], known->left, begun, all);
	}
	check_departed(begun);
	check_circles();
}

static uint64
evictions(void)
{
	PfsPagesStats stats;
	PfsPagesStats of_plans;

	pfs_pages_stats(pfs_digests.pages, &stats);
	pfs_pages_stats(pfs_plans.pages, &of_plans);
	return Min(stats.records_lost, of_plans.records_lost);
}

static bool
has_seen_all(const void *context)
{
	return x->truncated > 1 && x->read > 1 && x->plain > 0 && evictions() > 0 && x->threads > (uint64) hammer_options.processes;
}

/* Tables that are there as long as the run lasts. */
static void
make_tables(void)
{
	uint32_t	hint = 0;

	for (int i = 0; i < TABLES; i++)
	{
		uint32		index = pfs_pages_allocate(pfs_rel_stats[PFS_TABLE_STATS].pages, &hint);

		((PfsRelStat *) pfs_pages_record(pfs_rel_stats[PFS_TABLE_STATS].pages, index))->relation = 1 + index;
		(void) pfs_pages_publish(pfs_rel_stats[PFS_TABLE_STATS].pages, index);
	}
}

static void
run_digests(void)
{
	HammerSegment s;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		hammer_server_lay_out(&s.seg);
		hammer_summaries_lay_out(&s.seg);
		pfs_shared_pending = pfs_segment_take(&s.seg, PFS_NUM_COUNTED_OBJECTS * sizeof(PfsSharedPending), PFS_CACHE_LINE);
		pfs_pending_lay_out(&s.seg);
		pfs_shared_digests = pfs_segment_take(&s.seg, sizeof(*pfs_shared_digests), PFS_CACHE_LINE);
		pfs_digests_lay_out(&s.seg);
		pfs_digest_rows_lay_out(&s.seg);
		pfs_nodes_lay_out(&s.seg);
		pfs_other_nodes = pfs_segment_take(&s.seg, sizeof(*pfs_other_nodes), PFS_CACHE_LINE);
		pfs_rel_stats[PFS_TABLE_STATS].pages = pfs_pages_create(&s.seg, "table_instances", sizeof(PfsRelStat), TABLES, TABLES);
	}
	pfs_pending_start();
	make_tables();
	hammer_run_until(digests_worker, NULL, has_seen_all);
	if (!hammer_failed())
	{
		check_rest();
		if (!has_seen_all(NULL))
			hammer_fail("%lu plain, %lu evictions, %lu truncated, %lu read, %lu threads", x->plain, evictions(), x->truncated, x->read, x->threads);
	}
	hammer_done(variant->name, "%lu statements, %lu plain; %lu evictions, %lu truncations, %lu readings, %lu threads",
				hammer_sum_of(x->begun, KEYS), x->plain, evictions(), x->truncated, x->read, x->threads);
	hammer_segment_end(&s);
	hammer_server_end();
}

void
hammer_digests(void)
{
	/*
	 * Owners store with plain instructions what readers copy; a killed server
	 * makes its memory anew.
	 */
	if (hammer_options.threads || hammer_options.kill)
	{
		hammer_done("digests", hammer_options.threads ? "not with threads" : "not with kills");
		return;
	}
	make_kinds();
	pfs_sizes.threads = THREADS;
	pfs_sizes.thread_waits = THREADS * WAITS;
	pfs_sizes.thread_counters = THREADS * 2;
	pfs_sizes.accounts = pfs_sizes.users = pfs_sizes.hosts = pfs_sizes.account_counters = 0;
	pfs_sizes.digests = pfs_sizes.plans = DIGESTS;
	pfs_sizes.plan_nodes = DIGESTS;
	pfs_sizes.tables = TABLES;
	pfs_instruments->count = KEYS * WAITS;
	pfs_local_set_usual(FLAGS & PFS_FLAGS_USUAL);
	for (variant = variants; variant < variants + lengthof(variants); variant++)
		run_digests();
}
