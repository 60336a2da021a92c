/*
 * hammer_sparse.c
 *	  Sparse arrays of cells: arrays of objects that come and go share the chunks; no
 *	  count is lost, none is another object's, and every chunk comes back.
 */
#include <sched.h>

#include "hammer.h"
#include "pfs_cell.h"
#include "pfs_ref.h"
#include "pfs_sparse.h"

#define CHUNK_SIZE	256			/* five cells */
#define LINKS_MAX	8
#define CELLS		(LINKS_MAX * 5 - 2)
#define CHUNKS_PER_PAGE	16

/* What an account is: a state word, references, links. */
typedef struct SparseObject
{
	uint64_t	word;
	uint64_t	references;
	uint32_t	links[LINKS_MAX];
} SparseObject;

/*
 * What a worker is in the middle of, for the one that takes its place when it is killed.
 * A note is made behind what it is about, and goes before that ends: a victim between
 * the two may leave an object that is never used again, but no pin is given back twice.
 */
typedef struct SparseNote
{
	uint32_t	pinned;			/* object + 1; 0: none */
	uint32_t	ending;			/* the same, marked dead by us */
	uint64_t	word;			/* of the object that ends: its life */
} SparseNote;

typedef struct SparseContext
{
	PfsPages   *chunks;
	bool		roomy;			/* chunks for all: none may be missing */
	bool		scarce;			/* not for all that objects can have */
	bool		passes;			/* objects that end pass their chunks on */
	uint32_t	n;
	SparseObject *objects;
	PfsSharedCell *others;		/* [CELLS], of what has no room, or whose
								 * object has gone */
	uint32_t	heir[LINKS_MAX];	/* of the array to which chunks are passed
									 * on */
	uint64_t	events;
	uint64_t	missed;
	uint64_t	reads;
	uint64_t	ends;
	SparseNote	notes[HAMMER_WORKERS_MAX];	/* by place */
} SparseContext;

static PfsSparse
array_of(const SparseContext *x, uint32_t object)
{
	return (PfsSparse)
	{
		x->chunks, x->objects[object].links, CELLS, sizeof(PfsSharedCell),
			pfs_sparse_per_chunk(CHUNK_SIZE, sizeof(PfsSharedCell))
	};
}

static PfsSparse
heir_of(SparseContext *x)
{
	PfsSparse	array = array_of(x, 0);

	array.links = x->heir;
	return array;
}

/* All events of a cell of an object in one of its lives take so long. */
static uint64_t
ticks_of(uint32_t object, uint64_t word, uint32_t i)
{
	return (word / PFS_VERSION_INC % 1000 + 1) * 1000000 + object * 1000 + i;
}

/* A cell holds nothing, or events of this time; its words arrive one by one. */
static bool
is_own(const PfsSharedCell *c, uint64_t ticks)
{
	uint64_t	max = pfs_load_relaxed(&c->max);
	uint64_t	inverted_min = pfs_load_relaxed(&c->inverted_min);

	return (max == 0 || max == ticks) && (inverted_min == 0 || inverted_min == UINT64_MAX - ticks) &&
		pfs_load_relaxed(&c->sum_low) % ticks == 0;
}

static void
count(SparseContext *x, uint32_t object, uint64_t word, HammerRng *rng, uint32_t *hint)
{
	PfsSparse	array = array_of(x, object);
	uint32_t	i = hammer_random(rng, CELLS);
	PfsSharedCell *c = pfs_sparse_touch(&array, i, hint);

	HAMMER_CHECK(c != NULL || !x->roomy, "there is no chunk, of as many as there can be");
	if (c == NULL)
	{
		pfs_add_relaxed(&x->missed, 1);
		c = &x->others[i];
	}
	else
		HAMMER_CHECK(pfs_sparse_find(&array, i) == c, "a cell that was touched is not found");
	pfs_shared_cell_add(c, true, ticks_of(object, word, i));
	pfs_add_relaxed(&x->events, 1);
}

static void
look(SparseContext *x, uint32_t object, uint64_t word)
{
	PfsSparse	array = array_of(x, object);

	for (uint32_t n = 0; n < pfs_sparse_chunks(&array); n++)
	{
		PfsSharedBlock chunk;

		if (!pfs_sparse_chunk(&array, n, &chunk))
			continue;
		for (uint32_t i = pfs_shared_block_next(&chunk, 0); i < chunk.ncells; i = pfs_shared_block_next(&chunk, i + 1))
			HAMMER_CHECK(is_own(pfs_shared_block_cell(&chunk, i), ticks_of(object, word, n * array.per_chunk + i)),
						 "a cell of object %u has what is not its own", object);
	}
	pfs_add_relaxed(&x->reads, 1);
}

/* Passes the chunks of an object that ends on, or adds their numbers to those that are there. */
static void
pass_on(SparseContext *x, const PfsSparse *array)
{
	PfsSparse	heir = heir_of(x);

	for (uint32_t n = 0; n < pfs_sparse_chunks(array); n++)
	{
		PfsSharedBlock chunk;
		PfsSharedBlock there;

		if (!pfs_sparse_chunk(array, n, &chunk) || pfs_sparse_hand_over(array, n, &heir))
			continue;
		HAMMER_CHECK(pfs_sparse_chunk(&heir, n, &there), "a chunk was not passed on, and none is there");
		for (uint32_t i = pfs_shared_block_next(&chunk, 0); i < chunk.ncells; i = pfs_shared_block_next(&chunk, i + 1))
		{
			PfsTotals	totals = {0};

			pfs_shared_cell_read(pfs_shared_block_cell(&chunk, i), &totals);
			pfs_shared_cell_merge(pfs_shared_block_touch(&there, i), &totals);
		}
	}
}

/*
 * Adds what the object has counted to the others, and begins its next life; word: of the
 * life that ends, DIRTY.  Its chunks keep their numbers: whoever takes them next has to
 * clear them.
 */
static void
end_object(SparseContext *x, uint32_t object, uint64_t word)
{
	PfsSparse	array = array_of(x, object);

	for (uint32_t i = 0; i < CELLS; i++)
	{
		PfsSharedCell *c = pfs_sparse_find(&array, i);
		PfsTotals	totals = {0};

		if (c == NULL)
			continue;
		HAMMER_CHECK(is_own(c, ticks_of(object, word, i)), "an object that ends has what is not its own");
		if (x->passes)
			continue;
		pfs_shared_cell_read(c, &totals);
		pfs_shared_cell_merge(&x->others[i], &totals);
	}
	if (x->passes)
		pass_on(x, &array);
	pfs_sparse_free(&array);
	pfs_add_relaxed(&x->ends, 1);
	pfs_ref_reuse(&x->objects[object].references);
	pfs_store_release(&x->objects[object].word, (word & ~PFS_STATE_MASK) + PFS_VERSION_INC + PFS_STATE_ALLOCATED);
}

/*
 * Marks an object dead, unless somebody has pinned it, and ends it, if it is in this life
 * still: its last one has let go of the references before the next one begins, and whoever
 * marks it in between has to leave it alone.
 */
static void
try_to_end(SparseContext *x, uint32_t object, uint64_t word, SparseNote *note)
{
	SparseObject *o = &x->objects[object];

	if (!pfs_ref_mark_dead(&o->references))
		return;
	if (pfs_load_acquire(&o->word) != word)
	{
		pfs_ref_reuse(&o->references);
		return;
	}
	word = (word & ~PFS_STATE_MASK) | PFS_STATE_DIRTY;
	note->word = word;
	pfs_store_release(&note->ending, object + 1);
	pfs_store_relaxed(&o->word, word);
	end_object(x, object, word);
	pfs_store_relaxed(&note->ending, 0);
}

/* Unpins what a victim had pinned, and ends what it was about to end, if it is in that life still. */
static void
take_place_of_victim(SparseContext *x, SparseNote *note)
{
	uint32_t	pinned = note->pinned;
	uint32_t	ending = note->ending;

	pfs_store_relaxed(&note->pinned, 0);
	if (pinned != 0)
		pfs_ref_unpin(&x->objects[pinned - 1].references);
	if (ending != 0 && pfs_load_acquire(&x->objects[ending - 1].word) == note->word)
		end_object(x, ending - 1, note->word);
	pfs_store_relaxed(&note->ending, 0);
}

static void
sparse_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	SparseContext *x = context;
	SparseNote *note = &x->notes[place];
	uint32_t	hint = 0;

	take_place_of_victim(x, note);

	while (hammer_going() && !hammer_failed())
	{
		uint32_t	object = hammer_random(rng, x->n);
		SparseObject *o = &x->objects[object];
		uint64_t	word = pfs_load_acquire(&o->word);

		if ((word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED)
			continue;
		if (hammer_random(rng, 50) == 0)
		{
			/*
			 * Most workers lose their processor here then, and not while they
			 * have something pinned.
			 */
			sched_yield();
			try_to_end(x, object, word, note);
			continue;
		}
		if (!pfs_ref_pin(&o->references, &o->word, word))
			continue;
		pfs_store_release(&note->pinned, object + 1);
		if (hammer_random(rng, 4) == 0)
			look(x, object, word);
		else
			for (uint32_t k = hammer_random(rng, 8); k > 0; k--)
				count(x, object, word, rng, &hint);
		if (hammer_random(rng, 1000) == 0)
			hammer_pause(rng);
		pfs_store_release(&note->pinned, 0);
		pfs_ref_unpin(&o->references);
	}
}

static bool
seen_all(const void *context)
{
	const SparseContext *x = context;

	return pfs_load_relaxed(&x->events) > 0 && pfs_load_relaxed(&x->reads) > 0 && pfs_load_relaxed(&x->ends) > 0 &&
		(!x->scarce || pfs_load_relaxed(&x->missed) > 0);
}

/* Returns the events that an array has, and adds its chunks to *links. */
static uint64_t
total_of_array(const PfsSparse *array, uint32_t *links)
{
	uint64_t	events = 0;

	for (uint32_t n = 0; n < pfs_sparse_chunks(array); n++)
		*links += array->links[n] != 0;
	for (uint32_t i = 0; i < CELLS; i++)
	{
		const PfsSharedCell *c = pfs_sparse_find(array, i);

		events += c == NULL ? 0 : c->count_timed;
	}
	return events;
}

/* Returns the events that all have; *links: the chunks that they have. */
static uint64_t
total_of(SparseContext *x, uint32_t *links)
{
	PfsSparse	heir = heir_of(x);
	uint64_t	events;

	*links = 0;
	events = total_of_array(&heir, links);
	for (uint32_t i = 0; i < CELLS; i++)
		events += x->others[i].count_timed;
	for (uint32_t object = 0; object < x->n; object++)
	{
		PfsSparse	array = array_of(x, object);

		events += total_of_array(&array, links);
	}
	return events;
}

static void
run_sparse(uint32_t objects, uint32_t chunks)
{
	HammerSegment s;
	SparseContext *x = NULL;
	SparseObject *all = NULL;
	PfsSharedCell *others = NULL;
	PfsPages   *pages = NULL;
	PfsPagesStats stats;
	uint64_t	events;
	uint32_t	kills;
	uint32_t	links;
	char		name[100];

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		all = pfs_segment_take(&s.seg, objects * sizeof(SparseObject), PFS_CACHE_LINE);
		others = pfs_segment_take(&s.seg, CELLS * sizeof(PfsSharedCell), PFS_CACHE_LINE);
		pages = pfs_pages_create(&s.seg, "sparse", CHUNK_SIZE, chunks, CHUNKS_PER_PAGE);
	}
	*x = (SparseContext)
	{
		.chunks = pages, .n = objects, .objects = all, .others = others,
		/* Each worker can hold one more, or a page that it gives back. */
			.roomy = chunks >= (objects + 1) * LINKS_MAX + HAMMER_WORKERS_MAX * CHUNKS_PER_PAGE && !hammer_options.kill,
			.scarce = chunks < objects * LINKS_MAX,

		/*
		 * Who takes the place of a victim cannot know what that has passed
		 * on.
		 */
			.passes = chunks >= (objects + 1) * LINKS_MAX && !hammer_options.kill,
	};
	for (uint32_t object = 0; object < objects; object++)
		all[object].word = PFS_VERSION_INC + PFS_STATE_ALLOCATED;
	kills = hammer_run_until(sparse_worker, x, seen_all);
	events = total_of(x, &links);
	pfs_pages_stats(pages, &stats);
	if (kills == 0 && (events != x->events || links != stats.records_used))
		hammer_fail("%lu of %lu events, %lu chunks in use of which %u are linked", events, x->events, stats.records_used, links);
	if (x->events == 0 || x->reads == 0 || x->ends == 0 || (x->scarce && x->missed == 0))
		hammer_fail("%lu events, %lu reads, %lu ends, %lu without a chunk", x->events, x->reads, x->ends, x->missed);
	/* A victim can leave one object without use, hardly all of several. */
	if (objects > 1 && x->ends < kills)
		hammer_fail("%lu ends and %u kills", x->ends, kills);
	if (links > stats.records_used)
		hammer_fail("%u chunks are linked and %lu in use", links, stats.records_used);
	snprintf(name, sizeof(name), "sparse, %u objects, %u chunks%s", objects, chunks, hammer_options.kill ? ", killing" : "");
	hammer_done(name, "%lu events, %lu without a chunk, %lu reads, %lu ends, %u kills", x->events, x->missed, x->reads, x->ends, kills);
	hammer_segment_end(&s);
}

void
hammer_sparse(void)
{
	run_sparse(1, 1);
	run_sparse(5, 9);
	run_sparse(3, 4 * LINKS_MAX + HAMMER_WORKERS_MAX * CHUNKS_PER_PAGE);
}
