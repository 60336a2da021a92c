/*
 * hammer_pending_read.c
 *	  Readers of the ledger, truncators, and who removes objects.  hammer_pending.c has what is tested.
 */
#include "postgres.h"

#include "hammer_pending.h"

/* Truncations by name and by object have bounds of their own. */
static void
check_seen(const char *what, const uint64 *seen, const uint64 *ended, const uint64 *begun_behind, const uint64 *ended_before)
{
	HammerBounds bounds = {x->begun, ended, begun_behind, ended_before};

	hammer_check_seen(what, seen, &bounds, KEYS);
}

/* ---- readers ---- */

static void
add_name_cb(const PfsPending *p, void *arg)
{
	const Place *place = (const Place *) p;

	if (place->check != 3 * place->value)
		hammer_fail("a copy is torn: %lx, %lx", place->value, place->check);
	((uint64 *) arg)[key_of(p)] += events_of(place->value);
}

/* By key: all that was counted and not cleared, also of objects that are about to be freed. */
void
read_names(PfsPatience *patience, void *arg)
{
	uint64	   *seen = arg;
	uint64		ended[KEYS];

	hammer_copy_counts(ended, x->ended, KEYS);
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
	((uint64 *) arg)[key_of(p)] += ((const Place *) p)->value;
}

/* By key: what objects have that are there, each with what is pending of it. */
void
read_objects(PfsPatience *patience, void *arg)
{
	uint64		all[KEYS];
	uint64	   *seen = arg;
	uint64		ended[KEYS];
	PfsPendingCopies copies;
	uint32_t	pos = 0;
	uint64		word;
	uint32		index;

	hammer_copy_counts(ended, x->ended, KEYS);
	memset(all, 0xFF, sizeof(all));
	memset(seen, 0, KEYS * sizeof(uint64));
	pfs_pending_copy_all(KIND, PFS_PENDING_OBJECT, &copies, patience);
	while ((index = pfs_pages_next(objects, &pos, &word)) != PFS_NO_RECORD)
	{
		const Object *object = pfs_pages_record(objects, index);
		uint64		number = pfs_load_relaxed(&object->number);
		uint64		values[KEYS];

		hammer_copy_counts(values, object->sums, KEYS);
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
		check_seen("by objects", seen, ended, variant->removes ? all : x->begun_behind, x->ended_before);
}

static void
add_part_cb(const PfsPending *p, void *arg)
{
	if (counts_for_part(pfs_shared_pending[KIND].truncated, p))
		*(uint64 *) arg += events_of(((const Place *) p)->value);
}

void
read_part(PfsPatience *patience, void *arg)
{
	*(uint64 *) arg = hammer_sum_of(x->parts, KEYS);
	pfs_pending_each(KIND, add_part_cb, arg, patience);
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
count_living_cb(const PfsPending *p, void *arg)
{
	if (pfs_object_is_there(KIND, p->object))
		x->pushed += pfs_counted_kinds[KIND]->events(p);
}

static void
push(PfsPatience *patience, void *arg)
{
	uint64		ended[KEYS];

	hammer_copy_counts(ended, x->ended, KEYS);
	pfs_pending_truncate(KIND, PFS_PENDING_OBJECT, count_living_cb, NULL, patience);
	x->pushed += take_objects(true);
	hammer_copy_counts(x->ended_before, ended, KEYS);
	hammer_copy_counts(x->begun_behind, x->begun, KEYS);
	x->truncated++;
}

/* The truncations before the one that is made now. */
static uint64 before[PFS_PENDING_PARTS];

static void
take_cb(const PfsPending *p, void *arg)
{
	uint64		events = events_of(((const Place *) p)->value);

	if (counts_for_part(before, p))
		x->parted += events;
	*(uint64 *) arg += events;
}

/* Truncates the part, or all of it; *events: how many were pending. */
static void
take_pending(int part, uint64 *events, PfsPatience *patience)
{
	memcpy(before, pfs_shared_pending[KIND].truncated, sizeof(before));
	pfs_pending_truncate(KIND, part, take_cb, events, patience);
	for (int key = 0; key < KEYS; key++)
		x->parted += pfs_exchange(&x->parts[key], 0);
	x->truncated++;
}

static void
truncate_part(PfsPatience *patience, void *arg)
{
	uint64		pending = 0;

	take_pending(PART, &pending, patience);
}

static void
clear(PfsPatience *patience, void *arg)
{
	uint64		ended[KEYS];

	hammer_copy_counts(ended, x->ended, KEYS);
	take_pending(PFS_PENDING_ALL, &x->cleared, patience);
	x->cleared += take_objects(false);
	for (int key = 0; key < KEYS; key++)
		x->cleared += events_of(pfs_exchange(&x->names[key], 0));
	hammer_copy_counts(x->ended_before, ended, KEYS);
	hammer_copy_counts(x->ended_before_clear, ended, KEYS);
	hammer_copy_counts(x->begun_behind, x->begun, KEYS);
	hammer_copy_counts(x->begun_behind_clear, x->begun, KEYS);
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
	pfs_turn_begin(PFS_TURN_FILES, true);
	for (int key = 0; key < KEYS; key++)
		add(NULL, key, pfs_exchange(&object->sums[key], 0));
	pfs_pages_free(objects, tombstones[0]);
	pfs_turn_end(PFS_TURN_FILES, true);
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

void
work_with_all(bool removes, HammerRng *rng)
{
	while (hammer_going())
	{
		uint32		dice = hammer_random(rng, 64);
		uint64		seen[KEYS];

		/*
		 * A truncation makes a fence in all processes, which takes
		 * milliseconds.
		 */
		if (dice == 0 && !variant->evicts)
			pfs_pending_work(KIND, true, push, NULL);
		else if (dice == 1 && variant->removes)
			pfs_pending_work(KIND, true, clear, NULL);
		else if (dice == 2)
			pfs_pending_work(KIND, true, truncate_part, NULL);
		else if (dice < 56 && removes)
		{
			remove_one(rng);
			continue;
		}
		else
		{
			pfs_pending_work(KIND, false, dice % 2 == 0 ? read_names : read_objects, seen);
			pfs_add_relaxed(&x->read, 1);
		}
		/* Flushes are forbidden meanwhile. */
		usleep(hammer_random(rng, 10000));
	}
}
