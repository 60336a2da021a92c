/*
 * pfs_pending_read.c
 *	  Reading and truncating what processes have counted of shared objects and not added
 *	  to their sums yet; pfs_pending.c has how a process counts and flushes.
 *
 * What an object has counted is the sum of its own numbers and of the places of all
 * processes.  A flush moves numbers from a place to the object.  So readers and
 * truncators forbid flushes while they are at work; calls go on, in places that are there
 * and else in the object's sums.  Readers and truncators take turns (pfs_patience.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "pfs_fence.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* ---- forbidding flushes ---- */

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
 * Waits until every process is out of the write section in which it may be, if it has
 * places.  A process that is stopped there is not waited for beyond the patience: what it has
 * on its way from a place to an object is then in one of them, in both or half in each.
 */
static void
wait_for_sections(PfsCountedObjects kind, PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		Section		section;

		if (pfs_thread_sets_get(&pfs_pending_sets[kind], i) == NULL)
			continue;
		pfs_patience_next(patience);
		section = section_of(i);
		while (is_writing(section) && is_same_section(section_of(i), section) && pfs_patience_more(patience))
			;
	}
}

/* Does this process forbid flushes of a kind?  Work on one kind can be inside that on another. */
static bool forbids[PFS_NUM_COUNTED_OBJECTS];

/* Forbids flushes, and returns when none is under way. */
static void
forbid_flushes(PfsCountedObjects kind, PfsPatience *patience)
{
	forbids[kind] = true;
	pfs_add_seqcst(&pfs_shared_pending[kind].held, 1);
	pfs_fence_seqcst();			/* pairs with the one in pfs_pending_take() */
	wait_for_sections(kind, patience);
}

static void
allow_flushes(int code, Datum kind)
{
	bool	   *forbids_it = &forbids[DatumGetInt32(kind)];

	if (*forbids_it)
		pfs_sub_seqcst(&pfs_shared_pending[DatumGetInt32(kind)].held, 1);
	*forbids_it = false;
}

/*
 * Takes the turn (alone: of a truncator), and does the work while flushes are forbidden, which
 * ends with it, with an error, and with the process.  A command that was cancelled while it
 * waited ends before the work.
 */
void
pfs_pending_work(PfsCountedObjects kind, bool alone, PfsPendingWork work, PfsPatience *patience, void *arg)
{
	PfsTurn		turn = pfs_counted_kinds[kind]->turn;

	pfs_turn_take(turn, alone);
	PG_ENSURE_ERROR_CLEANUP(allow_flushes, Int32GetDatum(kind));
	{
		forbid_flushes(kind, patience);
		CHECK_FOR_INTERRUPTS();
		work(patience, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(allow_flushes, Int32GetDatum(kind));
	allow_flushes(0, Int32GetDatum(kind));
	pfs_turn_give(turn, alone);
	pfs_patience_end(patience);
}

/* ---- reading ---- */

/* A copy of a place of any kind. */
typedef union Copy
{
	PfsPending	place;
	uint64		words[PFS_PENDING_SIZE_MAX / sizeof(uint64)];
} Copy;

/* Calls each() for a copy of every place whose numbers are of generation `oldest` or newer. */
static void
each_since(PfsCountedObjects kind, uint64 oldest, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	const PfsPendingShape *shape = pfs_counted_kinds[kind]->shape;

	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		const char *places = pfs_thread_sets_get(&pfs_pending_sets[kind], i);

		if (places == NULL)
			continue;
		pfs_patience_next(patience);
		for (uint32 k = 0; k < shape->sets * PFS_PENDING_WAYS; k++)
		{
			Copy		copy;
			Section		section;

			do
			{
				section = section_of(i);
				pfs_racy_copy(&copy, places + k * shape->size, shape->size);
				pfs_fence_acquire();
			} while ((is_writing(section) || !is_same_section(section_of(i), section)) && pfs_patience_more(patience));
			if (copy.place.generation != 0 && copy.place.generation >= oldest)
				each(&copy.place, arg);
		}
	}
}

/* The oldest generation whose numbers still count for their name. */
static uint64
oldest_of_names(PfsCountedObjects kind)
{
	return pfs_load_relaxed(&pfs_shared_pending[kind].cleared);
}

/* The oldest one whose numbers still count for their object, too. */
static uint64
oldest_of_objects(PfsCountedObjects kind)
{
	return Max(pfs_load_relaxed(&pfs_shared_pending[kind].pushed), oldest_of_names(kind));
}

bool
pfs_pending_is_of_object(PfsCountedObjects kind, const PfsPending *p)
{
	return p->generation >= oldest_of_objects(kind);
}

/* Hands what is pending of all objects to each(), for a reader of sums by name. */
void
pfs_pending_each(PfsCountedObjects kind, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	each_since(kind, oldest_of_names(kind), each, arg, patience);
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
pfs_pending_copy_all(PfsCountedObjects kind, PfsPendingCopies *copies, PfsPatience *patience)
{
	Size		size = pfs_counted_kinds[kind]->shape->size;

	*copies = (PfsPendingCopies)
	{
		.kind = kind, .max = 64, .items = palloc(64 * size)
	};
	each_since(kind, oldest_of_objects(kind), keep_cb, copies, patience);
	qsort(copies->items, copies->n, size, compare_objects);
}

/* Passes by the copies of objects that nobody has asked for. */
void
pfs_pending_of_object(PfsPendingCopies *copies, uint64 object, PfsPendingEach each, void *arg)
{
	for (; copies->next < copies->n && copy_at(copies, copies->next)->object <= object; copies->next++)
	{
		if (copy_at(copies, copies->next)->object == object)
			each(copy_at(copies, copies->next), arg);
	}
}

/* ---- truncation ---- */

/* How many events a truncation has found, and of what. */
typedef struct Count
{
	PfsCountedObjects kind;
	bool		of_living;		/* of objects that are there only */
	uint64		events;
} Count;

/* Is the object of a place still there? */
static bool
is_of_living(PfsCountedObjects kind, const PfsPending *p)
{
	return PFS_COUNTED_WORD(p->object) != 0 &&
		(uint32) pfs_pages_word(*pfs_counted_kinds[kind]->objects, PFS_COUNTED_INDEX(p->object)) == PFS_COUNTED_WORD(p->object);
}

static void
count_cb(const PfsPending *p, void *arg)
{
	Count	   *count = arg;

	if (!count->of_living || is_of_living(count->kind, p))
		count->events += pfs_counted_kinds[count->kind]->events(p);
}

/*
 * Begins a generation whose first truncation is this one, in *truncated, and hands on
 * what is pending of the older ones, from `oldest` on.  Behind the fence no process adds to
 * places of an older generation, as it loads the generation inside its section.
 */
static void
begin_generation(PfsCountedObjects kind, uint64 *truncated, uint64 oldest, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	uint64	   *truncations = &pfs_words->object_truncations[kind];
	uint64		generation = pfs_load_relaxed(truncations) + 1;

	pfs_store_relaxed(truncated, generation);
	pfs_store_release(truncations, generation);
	pfs_words_changed();
	pfs_fence_everywhere();
	wait_for_sections(kind, patience);
	each_since(kind, oldest, each, arg, patience);
}

/*
 * From now on what is pending counts for its name only; the owners of the places move it when
 * they come by.  Returns the events that objects which are there lose so.
 */
uint64
pfs_pending_push(PfsCountedObjects kind, PfsPatience *patience)
{
	Count		count = {.kind = kind, .of_living = true};

	begin_generation(kind, &pfs_shared_pending[kind].pushed, oldest_of_objects(kind), count_cb, &count, patience);
	return count.events;
}

/* The same, and it does not count any more at all.  Returns how many events that were. */
uint64
pfs_pending_clear(PfsCountedObjects kind, PfsPatience *patience)
{
	Count		count = {.kind = kind};

	pfs_pending_take_all(kind, count_cb, &count, patience);
	return count.events;
}

/* The same, for a caller who has another use for the numbers. */
void
pfs_pending_take_all(PfsCountedObjects kind, PfsPendingEach each, void *arg, PfsPatience *patience)
{
	begin_generation(kind, &pfs_shared_pending[kind].cleared, oldest_of_names(kind), each, arg, patience);
}
