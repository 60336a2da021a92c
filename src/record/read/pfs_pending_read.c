/*
 * pfs_pending_read.c
 *	  Reading and truncating what processes have counted of shared objects and not added
 *	  to their sums yet: the other side of pfs_pending.c.  ../ledger/README.md has the protocol.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "pfs_fence.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* ---- forbidding moves ---- */

/* Where the owner of a thread record is: its state word, and the sequence word. */
typedef struct Section
{
	uint64		record;
	uint64		seq;
} Section;

/* Of a record that is nobody's only the state word: its page may have been given back. */
static Section
section_of(uint32 thread)
{
	Section		s = {.record = pfs_pages_word(pfs_threads, thread)};

	if ((s.record & PFS_STATE_MASK) == PFS_STATE_ALLOCATED)
		s.seq = pfs_seqlock_read_begin(&((const PfsThread *) pfs_pages_record(pfs_threads, thread))->seq);
	return s;
}

/* Can the owner be writing?  The last section of one that has ended never ends. */
static inline bool
is_writing(Section s)
{
	return (s.seq & 1) != 0;
}

static inline bool
is_same_section(Section a, Section b)
{
	return a.record == b.record && a.seq == b.seq;
}

/*
 * Waits until every process is out of the write section in which it may be.  One that is stopped
 * there is not waited for beyond the patience: what it has on its way from one place to another is
 * then in one of them, in both or half in each.
 */
static void
wait_for_sections(PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		Section		section = section_of(i);

		pfs_patience_next(patience);
		while (is_writing(section) && is_same_section(section_of(i), section) && pfs_patience_more(patience))
			;
	}
}

/*
 * Copies what only the owner of a thread record writes, between two of its write sections; when the patience has run out,
 * as it is.
 */
void
pfs_section_copy(uint32 thread, void *to, const void *from, size_t size, PfsPatience *patience)
{
	Section		section;

	pfs_patience_next(patience);
	do
	{
		section = section_of(thread);
		pfs_racy_copy(to, from, size);
		pfs_fence_acquire();
	} while ((is_writing(section) || !is_same_section(section_of(thread), section)) && pfs_patience_more(patience));
}

/* By turn: does this process forbid moves?  Work in one turn can be inside that in another. */
static bool forbids[PFS_NUM_TURNS];

/* Forbids moves, and returns when none is under way. */
static void
forbid_moves(PfsTurn turn, PfsPatience *patience)
{
	forbids[turn] = true;
	pfs_add_seqcst(&pfs_patience->blocked[turn].n, 1);
	pfs_fence_seqcst();			/* pairs with the one in pfs_may_move() */
	wait_for_sections(patience);
}

static void
allow_moves(int code, Datum turn)
{
	bool	   *forbids_it = &forbids[DatumGetInt32(turn)];

	if (*forbids_it)
		pfs_sub_seqcst(&pfs_patience->blocked[DatumGetInt32(turn)].n, 1);
	*forbids_it = false;
}

/*
 * Takes the turn (alone: of a truncator), and does the work while moves are forbidden, which
 * ends with it, with an error, and with the process.  A command that was cancelled while it
 * waited ends before the work.
 */
void
pfs_blocking_work(PfsTurn turn, bool alone, PfsBlockingWork work, void *arg)
{
	PfsPatience patience = {.of_reset = alone};

	pfs_turn_begin(turn, alone);
	PG_ENSURE_ERROR_CLEANUP(allow_moves, Int32GetDatum(turn));
	{
		forbid_moves(turn, &patience);
		CHECK_FOR_INTERRUPTS();
		work(&patience, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(allow_moves, Int32GetDatum(turn));
	allow_moves(0, Int32GetDatum(turn));
	pfs_turn_end(turn, alone);
	pfs_patience_end(&patience);
}

/* ---- reading ---- */

/* A copy of a place of any kind, as kinds expect it: it begins a cache line. */
typedef union Copy
{
	PfsPending	place;
	uint64		words[PFS_PENDING_SIZE_MAX / sizeof(uint64)];
} __attribute__((aligned(PFS_CACHE_LINE))) Copy;

/* Calls each() for a copy of every place whose numbers are of these generations. */
static void
each_between(PfsCountedObjects kind, uint64 oldest, uint64 newest, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	const PfsPendingShape *shape = pfs_counted_kinds[kind]->shape;

	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		const char *places = pfs_thread_sets_get(&pfs_pending_sets[kind], i);

		for (uint32 k = 0; places != NULL && k < shape->sets * shape->ways; k++)
		{
			const PfsPending *p = (const PfsPending *) (places + shape->head + k * shape->size);
			Copy		copy;

			if (pfs_load_relaxed(&p->generation) == 0)
				continue;
			pfs_section_copy(i, &copy, p, shape->size, patience);
			if (each != NULL && copy.place.generation != 0 && copy.place.generation >= oldest &&
				copy.place.generation <= newest)
				each(&copy.place, arg);
		}
	}
}

/* The oldest generation whose numbers still count for a part. */
static uint64
oldest_of(PfsCountedObjects kind, int part)
{
	const uint64 *truncated = pfs_shared_pending[kind].truncated;

	return Max(pfs_load_relaxed(&truncated[part]), pfs_load_relaxed(&truncated[PFS_PENDING_ALL]));
}

/* Hands what is pending of all objects to each(), for a reader of sums by name. */
void
pfs_pending_each(PfsCountedObjects kind, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	each_between(kind, oldest_of(kind, PFS_PENDING_ALL), PG_UINT64_MAX, each, arg, patience);
}

static PfsPending *
copy_at(const PfsPendingCopies *copies, uint32 i)
{
	return (PfsPending *) (copies->items + (Size) i * pfs_counted_kinds[copies->kind]->shape->size);
}

static void
keep_cb(const PfsPending *p, void *arg)
{
	PfsPendingCopies *copies = arg;
	Size		size = pfs_counted_kinds[copies->kind]->shape->size;

	if (copies->n == copies->max)
	{
		copies->max *= 2;
		copies->items = repalloc_huge(copies->items, copies->max * size);
	}
	memcpy(copy_at(copies, copies->n++), p, size);
}

static int
compare_objects(const void *a, const void *b)
{
	uint64		x = ((const PfsPending *) a)->object;
	uint64		y = ((const PfsPending *) b)->object;

	return x < y ? -1 : x > y;
}

/*
 * Copies what is pending of all objects, for a reader who then goes through the objects.  The
 * caller frees the copies.
 */
void
pfs_pending_copy_all(PfsCountedObjects kind, int part, PfsPendingCopies *copies, PfsPatience *patience)
{
	Size		size = pfs_counted_kinds[kind]->shape->size;

	*copies = (PfsPendingCopies)
	{
		.kind = kind, .max = 64, .items = palloc(64 * size)
	};
	each_between(kind, oldest_of(kind, part), PG_UINT64_MAX, keep_cb, copies, patience);
	qsort(copies->items, copies->n, size, compare_objects);
}

const PfsPending *
pfs_pending_copy_next(PfsPendingCopies *copies, uint64 object)
{
	if (copies->next == copies->n || copy_at(copies, copies->next)->object > object)
		return NULL;
	return copy_at(copies, copies->next++);
}

/* Passes by the copies of objects that nobody has asked for. */
void
pfs_pending_of_object(PfsPendingCopies *copies, uint64 object, PfsPendingEach each, void *arg)
{
	for (const PfsPending *p; (p = pfs_pending_copy_next(copies, object)) != NULL;)
	{
		Copy		copy;

		if (p->object != object)
			continue;
		memcpy(&copy, p, pfs_counted_kinds[copies->kind]->shape->size);
		each(&copy.place, arg);
	}
}

/* ---- truncation ---- */

/* A truncation of a part, and how many events it has found. */
typedef struct Reset
{
	PfsCountedObjects kind;
	int			part;
	int64		(*work) (void);
	int64		events;
} Reset;

/* Where numbers go on counting for their name, objects that are there lose them. */
static void
count_cb(const PfsPending *p, void *arg)
{
	Reset	   *reset = arg;

	if (reset->part != PFS_PENDING_OBJECT || pfs_object_is_there(reset->kind, p->object))
		reset->events += (int64) pfs_counted_kinds[reset->kind]->events(p);
}

/*
 * Begins a generation whose first truncation is this one, of a part, and hands on what was pending of
 * that from before.  Behind the fence no process adds to places of an older generation, as it
 * loads the generation inside its section.
 */
void
pfs_pending_truncate(PfsCountedObjects kind, int part, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	uint64	   *truncations = &pfs_words->object_truncations[kind];
	uint64		newest = pfs_load_relaxed(truncations);
	uint64		oldest = oldest_of(kind, part);

	pfs_store_relaxed(&pfs_shared_pending[kind].truncated[part], newest + 1);
	pfs_store_release(truncations, newest + 1);
	pfs_words_changed();
	pfs_fence_everywhere();
	wait_for_sections(patience);
	each_between(kind, oldest, newest, each, arg, patience);
}

static void
reset_cb(PfsPatience *patience, void *arg)
{
	Reset	   *reset = arg;

	pfs_pending_truncate(reset->kind, reset->part, count_cb, reset, patience);
	reset->events += reset->work();
}

/* Empties what is pending, then by the work what is in sums. */
int64
pfs_pending_reset(PfsCountedObjects kind, int part, int64 (*work) (void), const char *by_instance)
{
	Reset		reset = {.kind = kind, .part = part, .work = work};

	pfs_blocking_work(kind, true, reset_cb, &reset);
	pfs_reset_time_note(by_instance);
	pfs_reset_time_note("events_waits_summary_by_instance");
	return reset.events;
}
