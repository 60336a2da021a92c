/*
 * hammer_pending.c
 *	  What processes count of shared objects in places of their own (pfs_pending.h).  The
 *	  code is the library's; the kind of objects is this file's.
 *
 * An event adds to one word: 1 below, and above the number that its object has got when it was
 * made.  So the sums of an object show whether all that was added to them was its own.  Each
 * writer has a key of its own and says how many events it has begun and ended; what a reader
 * finds under its key, with what truncations took, lies in between, and in the end is just
 * that.
 *
 * Threads come and go in the same memory, objects are removed while numbers of them are
 * pending, and others truncate.  No process is killed: then the server makes shared memory
 * anew.
 */
#include "postgres.h"

#include "../hammer.h"

/* Not the server's. */
#undef snprintf

#include "pfs_local.h"
#include "pfs_patience.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

#define KIND		PFS_COUNTED_FILES
#define KEYS		(HAMMER_WORKERS_MAX / 2)	/* each writer has one */
#define OBJECTS		8
#define THREADS		(2 * HAMMER_WORKERS_MAX)
#define HANDLES		12			/* objects that a writer knows */
#define TOMBSTONES	2			/* removed objects that are not freed yet */
#define PLACE_FULL	300			/* events of a place */
#define ALONE		(UINT64_C(1) << 63)

typedef struct Object
{
	uint64		number;			/* never used twice; from 1 */
	uint64		sums[KEYS];
} Object;

typedef struct Place
{
	PfsPending	place;
	uint64		value;
	uint64		check;			/* of a whole copy: three times the value */
	uint64		unused[3];
} Place;

static const PfsPendingShape shape = {.sets = 4, .size = sizeof(Place)};

StaticAssertDecl(sizeof(Place) == PFS_CACHE_LINE, "places are whole lines");

typedef struct PendingContext
{
	uint64		turn;			/* readers, or ALONE */
	uint64		wanted;			/* how many want it alone: before others read */
	uint64		names[KEYS];
	uint64		numbers;		/* objects made so far */
	bool		removes;		/* objects are removed, and names truncated */
	uint64		begun[KEYS];
	uint64		ended[KEYS];

	/* Truncators, who have the turn alone. */
	uint64		cleared;		/* events that left the names */
	uint64		pushed;			/* events that left the objects */
	uint64		ended_before[KEYS]; /* the last truncation by object: these
									 * are of none */
	uint64		begun_behind[KEYS]; /* those that come later are, if none is
									 * removed */
	uint64		ended_before_clear[KEYS];	/* the same by name */
	uint64		begun_behind_clear[KEYS];

	/* How often something happened. */
	uint64		at_once;
	uint64		flushed;
	uint64		homeless;		/* flushes of what had no object any more */
	uint64		freed;
	uint64		truncated;
	uint64		read;
	uint64		threads;
} PendingContext;

static PendingContext *x;
static PfsPages *objects;
static uint32 objects_max = OBJECTS;

static uint64
events_of(uint64 value)
{
	return (uint32) value;
}

static uint64
sum_of(const uint64 *counts)
{
	uint64		sum = 0;

	for (int key = 0; key < KEYS; key++)
		sum += pfs_load_acquire(&counts[key]);
	return sum;
}

static void
copy_counts(uint64 *to, const uint64 *counts)
{
	for (int key = 0; key < KEYS; key++)
		to[key] = pfs_load_acquire(&counts[key]);
}

/*
 * What was seen by key is no less than what had ended before, without what had begun when the
 * last truncation was over, and no more than what has begun, without what had ended before it.
 */
static void
check_seen(const char *what, const uint64 *seen, const uint64 *ended, const uint64 *begun_behind, const uint64 *ended_before)
{
	for (int key = 0; key < KEYS; key++)
	{
		uint64		least = ended[key] < begun_behind[key] ? 0 : ended[key] - begun_behind[key];
		uint64		most = pfs_load_acquire(&x->begun[key]) - ended_before[key];

		HAMMER_CHECK(seen[key] >= least && seen[key] <= most, "%s %lu events of a writer, not %lu to %lu", what, seen[key], least, most);
	}
}

static bool has_lingered = false;

/* Now and then, once in so many times, a process loses its processor in the middle of something. */
static void
linger(uint32 times)
{
	static HammerRng rng = {.state = 1};

	if (hammer_random(&rng, times) != 0)
		return;
	usleep(hammer_random(&rng, 8) == 0 ? 20000 : 300);
	has_lingered = true;
}

/*
 * And then again, when it is over: whoever has waited for it looks before there are so many new
 * events that a few which are missing do not show.
 */
static void
linger_behind(void)
{
	if (has_lingered)
		usleep(1000);
	has_lingered = false;
}

/* ---- the kind ---- */

/* Now and then there is no room. */
static bool
make_cb(void *object, uint32 key)
{
	static uint32 calls = 0;

	return ++calls % 16 != 0;
}

static void
add(Object *object, uint32 key, uint64 value)
{
	pfs_add_relaxed(object != NULL ? &object->sums[key] : &x->names[key], value);
}

static void
add_cb(void *object, const PfsPending *p)
{
	linger(500);
	add(object, p->key, ((const Place *) p)->value);
	linger(500);
	pfs_add_relaxed(object != NULL ? &x->flushed : &x->homeless, 1);
}

static uint64
events_cb(const PfsPending *p)
{
	return events_of(((const Place *) p)->value);
}

static const PfsCountedKind kind = {
	.shape = &shape,
	.turn = PFS_TURN_FILES,
	.objects = &objects,
	.max = &objects_max,
	.make = make_cb,
	.add = add_cb,
	.events = events_cb,
};

/* ---- writers ---- */

/* An object, as a writer remembers it: perhaps it has gone since. */
typedef struct Handle
{
	uint64		object;
	uint64		number;
} Handle;

/* Makes an object, or finds one. */
static Handle
open_object(HammerRng *rng)
{
	static uint32_t hint = 0;
	uint32_t	pos = hammer_random(rng, OBJECTS);
	uint64		word;
	uint32		index = hammer_random(rng, 4) == 0 ? PFS_NO_RECORD : pfs_pages_next(objects, &pos, &word);
	Handle		handle;

	if (index == PFS_NO_RECORD)
	{
		index = pfs_pages_allocate(objects, &hint);
		if (index == PFS_NO_RECORD)
			return (Handle)
		{
			0, 0
		};
		((Object *) pfs_pages_record(objects, index))->number = pfs_add_relaxed(&x->numbers, 1) + 1;
		word = pfs_pages_publish(objects, index);
	}
	handle.object = PFS_COUNTED_OBJECT(index, word);
	handle.number = pfs_load_relaxed(&((Object *) pfs_pages_record(objects, index))->number);
	pfs_fence_acquire();
	return pfs_pages_word(objects, index) == word ? handle : (Handle)
	{
		0, 0
	};
}

/* What an instrument point does at the end of an event. */
static void
count(PfsThread *t, const Handle *handle, uint32 key)
{
	uint64		value = handle->number << 32 | 1;
	Place	   *p;

	pfs_write_begin(t);
	p = (Place *) pfs_pending_find(KIND, &shape, handle->object, key);
	if (p == NULL || events_of(p->value) == PLACE_FULL)
		p = (Place *) pfs_pending_take(t, KIND, handle->object, key);
	linger(20000);
	if (p != NULL)
	{
		p->value += value;
		linger(20000);
		p->check = 3 * p->value;
	}
	else
	{
		add(pfs_object_enter(t, KIND, handle->object), key, value);
		pfs_object_leave(t, KIND);
		pfs_add_relaxed(&x->at_once, 1);
	}
	pfs_write_end(t);
	linger_behind();
}

static void
be_thread(uint32 place, HammerRng *rng, uint32 events)
{
	static uint32_t hint = 0;
	uint32		index = pfs_pages_allocate(pfs_threads, &hint);
	PfsThread  *t;
	Handle		handles[HANDLES] = {0};

	HAMMER_CHECK(index != PFS_NO_RECORD, "no record is free");
	t = pfs_pages_record(pfs_threads, index);
	t->seq.word = 0;
	t->index = index;
	memset(t->object_in_use, 0, sizeof(t->object_in_use));
	pfs_pages_publish(pfs_threads, index);
	pfs_add_relaxed(&x->threads, 1);
	for (uint32 i = 0; i < events && hammer_going(); i++)
	{
		Handle	   *handle = &handles[hammer_random(rng, HANDLES)];

		/* Without removal each event has an object. */
		if (hammer_random(rng, 200) == 0 || (handle->object == 0 && !x->removes))
			*handle = open_object(rng);
		if (handle->object == 0 && !x->removes)
			continue;
		pfs_store_release(&x->begun[place], x->begun[place] + 1);
		count(t, handle, place);
		pfs_store_release(&x->ended[place], x->ended[place] + 1);

		/*
		 * A processor that this machine has too few of would not be left
		 * otherwise.
		 */
		if (hammer_random(rng, 20000) == 0)
			hammer_pause(rng);
	}
	/* This write section is never ended. */
	pfs_write_begin(t);
	pfs_pending_detach(t);
	if (pfs_pages_claim(pfs_threads, index, pfs_pages_word(pfs_threads, index)))
		pfs_pages_free(pfs_threads, index);
}

/* ---- readers ---- */

static void
add_name_cb(const PfsPending *p, void *arg)
{
	const Place *place = (const Place *) p;

	if (place->check != 3 * place->value)
		hammer_fail("a copy is torn: %lx, %lx", place->value, place->check);
	((uint64 *) arg)[p->key] += events_of(place->value);
}

/* By key: all that was counted and not cleared, also of objects that are about to be freed. */
static void
read_names(PfsPatience *patience, void *arg)
{
	uint64	   *seen = arg;
	uint64		ended[KEYS];

	copy_counts(ended, x->ended);
	for (int key = 0; key < KEYS; key++)
		seen[key] = events_of(pfs_load_relaxed(&x->names[key]));
	for (uint32 i = 0; i < OBJECTS; i++)
	{
		const Object *object = pfs_pages_record(objects, i);

		for (int key = 0; key < KEYS; key++)
			seen[key] += events_of(pfs_load_relaxed(&object->sums[key]));
	}
	pfs_pending_each(KIND, add_name_cb, seen, patience);
	if (!patience->has_run_out)
		check_seen("by names", seen, ended, x->begun_behind_clear, x->ended_before_clear);
}

static void
add_object_cb(const PfsPending *p, void *arg)
{
	((uint64 *) arg)[p->key] += ((const Place *) p)->value;
}

/* By key: what objects have that are there, each with what is pending of it. */
static void
read_objects(PfsPatience *patience, void *arg)
{
	uint64		all[KEYS];
	uint64	   *seen = arg;
	uint64		ended[KEYS];
	PfsPendingCopies copies;
	uint32_t	pos = 0;
	uint64		word;
	uint32		index;

	copy_counts(ended, x->ended);
	memset(all, 0xFF, sizeof(all));
	memset(seen, 0, KEYS * sizeof(uint64));
	pfs_pending_copy_all(KIND, &copies, patience);
	while ((index = pfs_pages_next(objects, &pos, &word)) != PFS_NO_RECORD)
	{
		const Object *object = pfs_pages_record(objects, index);
		uint64		number = pfs_load_relaxed(&object->number);
		uint64		values[KEYS];

		copy_counts(values, object->sums);
		pfs_pending_of_object(&copies, PFS_COUNTED_OBJECT(index, word), add_object_cb, values);
		pfs_fence_acquire();
		if (pfs_pages_word(objects, index) != word)
			continue;
		for (int key = 0; key < KEYS; key++)
		{
			if (!patience->has_run_out && values[key] >> 32 != (uint32) (events_of(values[key]) * number))
				hammer_fail("object %lu has %lu events, and some are another's", number, events_of(values[key]));
			seen[key] += events_of(values[key]);
		}
	}
	pfree(copies.items);
	if (!patience->has_run_out)
		check_seen("by objects", seen, ended, x->removes ? all : x->begun_behind, x->ended_before);
}

/* ---- truncators, and who removes ---- */

/* Takes the sums of all objects, also of those that are about to be freed; moves them to the names. */
static uint64
take_objects(bool moves)
{
	uint64		events = 0;

	for (uint32 i = 0; i < OBJECTS; i++)
	{
		Object	   *object = pfs_pages_record(objects, i);

		for (int key = 0; key < KEYS; key++)
		{
			uint64		value = pfs_load_relaxed(&object->sums[key]) == 0 ? 0 : pfs_exchange(&object->sums[key], 0);

			if (moves && value != 0)
				add(NULL, key, value);
			events += events_of(value);
		}
	}
	return events;
}

static void
push(PfsPatience *patience, void *arg)
{
	uint64		ended[KEYS];

	copy_counts(ended, x->ended);
	x->pushed += pfs_pending_push(KIND, patience);
	x->pushed += take_objects(true);
	copy_counts(x->ended_before, ended);
	copy_counts(x->begun_behind, x->begun);
	x->truncated++;
}

static void
clear(PfsPatience *patience, void *arg)
{
	uint64		ended[KEYS];

	copy_counts(ended, x->ended);
	x->cleared += pfs_pending_clear(KIND, patience);
	x->cleared += take_objects(false);
	for (int key = 0; key < KEYS; key++)
		x->cleared += events_of(pfs_exchange(&x->names[key], 0));
	copy_counts(x->ended_before, ended);
	copy_counts(x->ended_before_clear, ended);
	copy_counts(x->begun_behind, x->begun);
	copy_counts(x->begun_behind_clear, x->begun);
	x->truncated++;
}

static uint32 tombstones[TOMBSTONES];
static uint32 ntombstones = 0;

/* Frees the oldest removed object if nobody adds to it; its sums go to the names. */
static void
free_one(void)
{
	Object	   *object = pfs_pages_record(objects, tombstones[0]);

	if (pfs_objects_in_use(KIND, tombstones, 1) != 0)
		return;
	pfs_turn_take(kind.turn, true);
	for (int key = 0; key < KEYS; key++)
		add(NULL, key, pfs_exchange(&object->sums[key], 0));
	pfs_pages_free(objects, tombstones[0]);
	pfs_turn_give(kind.turn, true);
	ntombstones--;
	memmove(&tombstones[0], &tombstones[1], ntombstones * sizeof(tombstones[0]));
	x->freed++;
}

static void
remove_one(HammerRng *rng)
{
	uint32_t	pos = hammer_random(rng, OBJECTS);
	uint64		word;
	uint32		index;

	if (ntombstones == TOMBSTONES)
		free_one();
	if (ntombstones == TOMBSTONES)
		return;
	index = pfs_pages_next(objects, &pos, &word);
	if (index != PFS_NO_RECORD && pfs_pages_claim(objects, index, word))
		tombstones[ntombstones++] = index;
	/* Until it is freed some time passes. */
	usleep(hammer_random(rng, 200));
}

static void
work_with_all(bool removes, HammerRng *rng)
{
	while (hammer_going())
	{
		PfsPatience patience = {0};
		uint32		dice = hammer_random(rng, 64);
		uint64		seen[KEYS];

		/*
		 * A truncation makes a fence in all processes, which takes
		 * milliseconds.
		 */
		if (dice == 0)
			pfs_pending_work(KIND, true, push, &patience, NULL);
		else if (dice == 1 && x->removes)
			pfs_pending_work(KIND, true, clear, &patience, NULL);
		else if (dice < 56 && removes)
		{
			remove_one(rng);
			continue;
		}
		else
		{
			pfs_pending_work(KIND, false, dice % 2 == 0 ? read_names : read_objects, &patience, seen);
			pfs_add_relaxed(&x->read, 1);
		}
		/* Flushes are forbidden meanwhile. */
		usleep(hammer_random(rng, 10000));
	}
}

static void
pending_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	uint32		writers = (hammer_options.processes + 1) / 2;

	if (place >= writers)
	{
		work_with_all(x->removes && place == writers, rng);
		return;
	}
	do
		be_thread(place, rng, hammer_random(rng, hammer_random(rng, 4) == 0 ? 100 : 200000));
	while (hammer_going());
}

/* When all is over, each event is somewhere, once. */
static void
check_rest(void)
{
	PfsPatience patience = {0};
	uint64		seen[KEYS];
	uint64		begun = sum_of(x->begun);

	pfs_pending_work(KIND, false, read_names, &patience, seen);
	if (x->cleared + sum_of(seen) != begun)
		hammer_fail("%lu events of %lu were cleared, and %lu are there", x->cleared, begun, sum_of(seen));
	pfs_pending_work(KIND, false, read_objects, &patience, seen);
	if (!x->removes && x->pushed + sum_of(seen) != begun)
		hammer_fail("%lu events of %lu were taken from objects, and %lu are there", x->pushed, begun, sum_of(seen));
}

static bool
has_seen_all(const void *context)
{
	return x->at_once > 0 && x->flushed > 0 && x->truncated > 1 && x->read > 1 && x->threads > (uint64) hammer_options.processes &&
		(!x->removes || (x->freed > 0 && x->homeless > 0));
}

static void
run_pending(bool removes)
{
	HammerSegment s;
	PfsSharedWords *before = pfs_words;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		pfs_words = pfs_segment_take(&s.seg, sizeof(*pfs_words), PFS_CACHE_LINE);
		pfs_shared_pending = pfs_segment_take(&s.seg, PFS_NUM_COUNTED_OBJECTS * sizeof(PfsSharedPending), PFS_CACHE_LINE);
		pfs_threads = pfs_pages_create(&s.seg, "thread_instances", TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsThread)),
									   THREADS, 4);
		objects = pfs_pages_create(&s.seg, "objects", sizeof(Object), OBJECTS, 4);
		pfs_pending_lay_out(&s.seg);
	}
	x->removes = removes;
	pfs_pending_start();
	hammer_run_until(pending_worker, NULL, has_seen_all);
	if (!hammer_failed())
	{
		check_rest();
		if (!has_seen_all(NULL))
			hammer_fail("%lu counted at once, %lu flushed, %lu of no object, %lu truncated, %lu read, %lu threads, %lu freed",
						x->at_once, x->flushed, x->homeless, x->truncated, x->read, x->threads, x->freed);
	}
	hammer_done(removes ? "pending, objects are removed" : "pending, objects stay",
				"%lu events, %lu of them at once, %lu flushes, %lu of no object; %lu truncations, %lu readings, %lu threads, %lu objects, %lu freed",
				sum_of(x->begun), x->at_once, x->flushed, x->homeless, x->truncated, x->read, x->threads, x->numbers, x->freed);
	hammer_segment_end(&s);
	pfs_words = before;
}

void
hammer_pending(void)
{
	/* Owners store with plain instructions what readers copy. */
	if (hammer_options.threads || hammer_options.kill)
	{
		hammer_done("pending", hammer_options.threads ? "not with threads" : "not with kills");
		return;
	}
	pfs_sizes.threads = THREADS;
	/* All kinds are this one. */
	for (int i = 0; i < PFS_NUM_COUNTED_OBJECTS; i++)
		pfs_counted_kinds[i] = &kind;
	run_pending(false);
	run_pending(true);
}

/* ---- what the library's code needs of the rest ---- */

void
pfs_turn_take(PfsTurn what, bool alone)
{
	uint64		turn = 0;

	if (alone)
	{
		pfs_add_relaxed(&x->wanted, 1);
		while (!pfs_cas(&x->turn, &turn, ALONE))
		{
			turn = 0;
			usleep(20);
		}
		pfs_sub_seqcst(&x->wanted, 1);
		return;
	}
	while (pfs_load_relaxed(&x->wanted) != 0 || (turn = pfs_load_relaxed(&x->turn)) == ALONE ||
		   !pfs_cas(&x->turn, &turn, turn + 1))
		usleep(20);
}

void
pfs_turn_give(PfsTurn what, bool alone)
{
	pfs_sub_seqcst(&x->turn, alone ? ALONE : 1);
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
