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
 *
 * What kinds of the server differ in are the parameters of a run (Variant): how places are laid out and
 * found, whether objects are named or pinned by who adds to them, who removes these, and whether
 * a place counts for its thread, too, and is left when that ends.  A part of each place's numbers is
 * truncated by itself.
 */
#include "postgres.h"

#include "hammer_pending.h"

#define HASHED {.sets = 4, .ways = PFS_PENDING_WAYS, .size = sizeof(Place)}
#define SEARCHED {.head = PFS_CACHE_LINE, .sets = 1, .ways = 5, .size = sizeof(Place)}

static const Variant variants[] = {
	{.name = "pending, objects stay", .shape = HASHED},
	{.name = "pending, objects are removed", .shape = HASHED, .removes = true},
	{.name = "pending, places are left", .shape = SEARCHED, .leaves = true},
	{.name = "pending, objects are evicted", .shape = SEARCHED, .removes = true, .evicts = true, .leaves = true},
};

const Variant *variant;
PendingContext *x;
PfsPages   *objects;


/* ---- the kind ---- */

/* Now and then there is no room. */
static bool
make_cb(void *object, uint32 key)
{
	static uint32 calls = 0;

	return ++calls % 16 != 0;
}

void
add(Object *object, uint32 key, uint64 value)
{
	pfs_add_relaxed(object != NULL ? &object->sums[key] : &x->names[key], value);
}

/* The object, if it is still there, which nobody evicts until it is left. */
static Object *
enter(PfsThread *t, uint64 object)
{
	uint32		index = PFS_COUNTED_INDEX(object);
	uint64		word;

	if (!variant->evicts)
		return pfs_object_enter(t, KIND, object);
	word = PFS_COUNTED_WORD(object) != 0 ? pfs_pages_word(objects, index) : 0;
	if (word == 0 || (uint32) word != PFS_COUNTED_WORD(object) || !pfs_ref_pin(&x->refs[index], &objects->state[index], word))
		return NULL;
	return pfs_pages_record(objects, index);
}

static void
leave(PfsThread *t, Object *object)
{
	if (!variant->evicts)
		pfs_object_leave(t, KIND);
	else if (object != NULL)
		pfs_ref_unpin(&x->refs[pfs_pages_index(objects, object)]);
}

static void
add_cb(void *entered, const PfsPending *p)
{
	Object	   *object = variant->evicts ? enter(pfs_my_thread, p->object) : entered;

	hammer_linger(500);
	add(object, key_of(p), ((const Place *) p)->value);
	hammer_linger(500);
	if (counts_for_part(pfs_shared_pending[KIND].truncated, p))
		pfs_add_relaxed(&x->parts[key_of(p)], events_of(((const Place *) p)->value));
	pfs_add_relaxed(object != NULL ? &x->flushed : &x->homeless, 1);
	if (variant->evicts)
		leave(pfs_my_thread, object);
}

static void
leave_cb(PfsThread *t, PfsPending *p, bool stays)
{
	if (p->key & COLLECTED)
		return;
	x->of_threads[p->key] += events_of(((const Place *) p)->value);
	p->key |= COLLECTED;
	x->left_behind += stays;
}

static uint64
events_cb(const PfsPending *p)
{
	return events_of(((const Place *) p)->value);
}

static PfsCountedKind kind = {
	.objects = &objects,
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

/* Inside a write section: moves what an object has that nobody has pinned to the names, and frees it. */
static void
evict(HammerRng *rng)
{
	uint32		index = hammer_random(rng, OBJECTS);
	uint64		word = pfs_pages_word(objects, index);
	Object	   *object = pfs_pages_record(objects, index);

	if (!pfs_may_move(KIND) || (word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED ||
		!pfs_ref_mark_found_dead(&x->refs[index], &objects->state[index], word))
		return;
	for (int key = 0; key < KEYS; key++)
	{
		hammer_linger(500);
		add(NULL, key, pfs_exchange(&object->sums[key], 0));
	}
	pfs_pages_free(objects, index);
	pfs_add_relaxed(&x->freed, 1);
}

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
		pfs_ref_reuse(&x->refs[index]);
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

/* This process's place. */
static Place *
find(uint64 object, uint32 key)
{
	char	   *places = pfs_my_pending[KIND];

	if (variant->shape.sets > 1)
		return (Place *) pfs_pending_find(KIND, &variant->shape, object, key);
	for (uint32 i = 0; places != NULL && i < variant->shape.ways; i++)
	{
		PfsPending *p = (PfsPending *) (places + variant->shape.head + i * variant->shape.size);

		if (pfs_pending_holds(KIND, p, object, key))
			return (Place *) p;
	}
	return NULL;
}

/* What an instrument point does at the end of an event. */
static void
count(PfsThread *t, const Handle *handle, uint32 key)
{
	uint64		value = handle->number << 32 | 1;
	Place	   *p;

	pfs_write_begin(t);
	p = find(handle->object, key);
	if (p == NULL || events_of(p->value) == PLACE_FULL)
		p = (Place *) pfs_pending_get(t, KIND, handle->object, key);
	hammer_linger(20000);
	p->value += value;
	hammer_linger(20000);
	p->check = 3 * p->value;
	if (!pfs_pending_put(t, KIND, &p->place))
	{
		x->of_threads[key]++;
		pfs_add_relaxed(&x->at_once, 1);
	}
	pfs_write_end(t);
	hammer_linger_behind();
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
	pfs_my_thread = t;
	pfs_pages_publish(pfs_threads, index);
	pfs_add_relaxed(&x->threads, 1);
	for (uint32 i = 0; i < events && hammer_going(); i++)
	{
		Handle	   *handle = &handles[hammer_random(rng, HANDLES)];

		/* Without removal each event has an object. */
		if (hammer_random(rng, 200) == 0 || (handle->object == 0 && !variant->removes))
			*handle = open_object(rng);
		if (handle->object == 0 && !variant->removes)
			continue;
		pfs_store_release(&x->begun[place], x->begun[place] + 1);
		count(t, handle, place);
		if (variant->evicts && hammer_random(rng, 1000) == 0)
		{
			pfs_write_begin(t);
			evict(rng);
			pfs_write_end(t);
		}
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
	if (variant->leaves)
		pfs_pending_leave(t, KIND);
	pfs_pending_detach(t);
	if (pfs_pages_claim(pfs_threads, index, pfs_pages_word(pfs_threads, index)))
		pfs_pages_free(pfs_threads, index);
}

static void
pending_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	uint32		writers = (hammer_options.processes + 1) / 2;

	if (place >= writers)
	{
		work_with_all(variant->removes && !variant->evicts && place == writers, rng);
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
	uint64		seen[KEYS];
	uint64		begun = hammer_sum_of(x->begun, KEYS);

	pfs_blocking_work(KIND, false, read_names, seen);
	if (x->cleared + hammer_sum_of(seen, KEYS) != begun)
		hammer_fail("%lu events of %lu were cleared, and %lu are there", x->cleared, begun, hammer_sum_of(seen, KEYS));
	pfs_blocking_work(KIND, false, read_objects, seen);
	if (!variant->removes && x->pushed + hammer_sum_of(seen, KEYS) != begun)
		hammer_fail("%lu events of %lu were taken from objects, and %lu are there", x->pushed, begun, hammer_sum_of(seen, KEYS));
	pfs_blocking_work(KIND, false, read_part, seen);
	if (x->parted + seen[0] != begun)
		hammer_fail("%lu events of %lu were taken from the part, and %lu are there", x->parted, begun, seen[0]);
	if (variant->leaves && hammer_sum_of(x->of_threads, KEYS) != begun)
		hammer_fail("threads have %lu events of %lu", hammer_sum_of(x->of_threads, KEYS), begun);
}

static bool
has_seen_all(const void *context)
{
	return x->at_once > 0 && x->flushed > 0 && x->truncated > 1 && x->read > 1 && x->threads > (uint64) hammer_options.processes &&
		(!variant->removes || (x->freed > 0 && x->homeless > 0)) && (!variant->leaves || x->left_behind > 0);
}

static void
run_pending(void)
{
	HammerSegment s;

	kind.shape = &variant->shape;
	kind.objects = variant->evicts ? NULL : &objects;
	kind.make = variant->evicts ? NULL : make_cb;
	kind.leave = variant->leaves ? leave_cb : NULL;
	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		hammer_server_lay_out(&s.seg);
		pfs_shared_pending = pfs_segment_take(&s.seg, PFS_NUM_COUNTED_OBJECTS * sizeof(PfsSharedPending), PFS_CACHE_LINE);
		pfs_threads = pfs_pages_create(&s.seg, "thread_instances", TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsThread)),
									   THREADS, 4);
		objects = pfs_pages_create(&s.seg, "objects", sizeof(Object), OBJECTS, 4);
		pfs_pending_lay_out(&s.seg);
	}
	pfs_pending_start();
	hammer_run_until(pending_worker, NULL, has_seen_all);
	if (!hammer_failed())
	{
		check_rest();
		if (!has_seen_all(NULL))
			hammer_fail("%lu counted at once, %lu flushed, %lu of no object, %lu left behind, %lu truncated, %lu read, %lu threads, %lu freed",
						x->at_once, x->flushed, x->homeless, x->left_behind, x->truncated, x->read, x->threads, x->freed);
	}
	hammer_done(variant->name,
				"%lu events, %lu of them at once, %lu flushes, %lu of no object, %lu left behind; %lu truncations, %lu readings, %lu threads, %lu objects, %lu freed",
				hammer_sum_of(x->begun, KEYS), x->at_once, x->flushed, x->homeless, x->left_behind, x->truncated, x->read, x->threads, x->numbers, x->freed);
	hammer_segment_end(&s);
	hammer_server_end();
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
	pfs_sizes.files = OBJECTS;
	/* All kinds are this one; only files have places. */
	for (int i = 0; i < PFS_NUM_COUNTED_OBJECTS; i++)
		pfs_counted_kinds[i] = &kind;
	for (variant = variants; variant < variants + lengthof(variants); variant++)
		run_pending();
}
