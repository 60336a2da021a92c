/*
 * pfs_pending.c
 *	  The ledger of a process: taking a place for what it counts of an object, adding what a
 *	  place has to the object's sums, and who may free an object meanwhile.
 *
 * README.md has the protocol, with each edge.  Separate from the sums of each kind
 * (pfs_file_sum.c), which all processes write.
 */
#include "postgres.h"

#include "pfs_pending.h"
#include "pfs_shared.h"

const PfsCountedKind *pfs_counted_kinds[PFS_NUM_COUNTED_OBJECTS];
PFS_FIXED PfsSharedPending *pfs_shared_pending = NULL;
PFS_FIXED PfsThreadSets pfs_pending_sets[PFS_NUM_COUNTED_OBJECTS];
PFS_HOT_FIRST char *pfs_my_pending[PFS_NUM_COUNTED_OBJECTS];

/* By kind: which way of a set is emptied next. */
static uint32 next_way[PFS_NUM_COUNTED_OBJECTS];

/* Takes the places of each kind of which there can be objects. */
void
pfs_pending_lay_out(PfsSegment *seg)
{
	for (int kind = 0; kind < PFS_NUM_COUNTED_OBJECTS; kind++)
	{
		const PfsPendingShape *shape = pfs_counted_kinds[kind]->shape;

		Assert(shape->size <= PFS_PENDING_SIZE_MAX);
		if (*pfs_counted_kinds[kind]->max > 0)
			pfs_thread_sets_lay_out(&pfs_pending_sets[kind], seg, pfs_pending_bytes(shape));
	}
}

/* Begins the first generation of all kinds: not 0, which says that a place is empty. */
void
pfs_pending_start(void)
{
	for (int kind = 0; kind < PFS_NUM_COUNTED_OBJECTS; kind++)
		pfs_words->object_truncations[kind] = 1;
}

/* Forgets the places of this process, which the next one with its record goes on with. */
void
pfs_pending_detach(PfsThread *t)
{
	memset(pfs_my_pending, 0, sizeof(pfs_my_pending));
}

/* ---- objects that others remove ---- */

/*
 * Says that this process is about to look at an object, and returns its record.  NULL: it is
 * none, or has been removed since the event that names it.
 */
void *
pfs_object_enter(PfsThread *t, PfsCountedObjects kind, uint64 object)
{
	PfsPages  **pages = pfs_counted_kinds[kind]->objects;
	uint32		index = PFS_COUNTED_INDEX(object);

	if (pages == NULL || PFS_COUNTED_WORD(object) == 0)
		return NULL;
	pfs_store_relaxed(&t->object_in_use[kind], index + 1);
	pfs_fence_signal();
	return pfs_object_is_there(kind, object) ? pfs_pages_record(*pages, index) : NULL;
}

/* Takes back what pfs_object_enter() has said, whatever that has returned. */
void
pfs_object_leave(PfsThread *t, PfsCountedObjects kind)
{
	pfs_store_release(&t->object_in_use[kind], 0);
}

/*
 * Tells which of these removed objects (at most 64) a process still adds to, as a bit each.
 * It looks at each thread once and waits for none.
 */
uint64
pfs_objects_in_use(PfsCountedObjects kind, const uint32 *objects, int n)
{
	uint64		in_use = 0;

	pfs_fence_seqcst();
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);
		uint32		object = pfs_load_acquire(&t->object_in_use[kind]);

		if (object == 0)
			continue;
		for (int i = 0; i < n; i++)
		{
			if (objects[i] == object - 1)
				in_use |= UINT64_C(1) << i;
		}
	}
	return in_use;
}

/*
 * Removed records.  Whoever removes one has changed its state word.  A process may still be adding to it that has
 * seen the old word, and it can take a moment until that shows.  So removed records wait in a list of the process,
 * and the older half of a full list, or all of them when it removes something later, reads or ends, are freed unless
 * somebody has entered them.  Those of its temporary tables a process removes at its end, and so frees at once: nobody
 * else adds to these but a truncation, which makes sure (keep() in pfs_cell_views.c).
 */
#define REMOVED_MAX 64

typedef struct Removed
{
	uint32		indexes[REMOVED_MAX];
	uint32		n;
} Removed;

static Removed removed[PFS_NUM_COUNTED_OBJECTS];

/* Frees the first n removed records, unless somebody adds to one. */
static void
give_back(PfsCountedObjects kind, uint32 n)
{
	const PfsCountedKind *of = pfs_counted_kinds[kind];
	Removed    *r = &removed[kind];
	uint64		in_use = n == 0 ? 0 : pfs_objects_in_use(kind, r->indexes, n);
	uint32		left = 0;

	for (uint32 i = 0; i < r->n; i++)
	{
		if (i >= n || (in_use & (UINT64_C(1) << i)) != 0)
		{
			r->indexes[left++] = r->indexes[i];
			continue;
		}
		if (of->discard != NULL)
			of->discard(pfs_pages_record(*of->objects, r->indexes[i]));
		pfs_pages_free(*of->objects, r->indexes[i]);
	}
	r->n = left;
}

/* Where there is no room in the list, as each record of it is in use, one is lost until the server starts anew. */
void
pfs_object_removed(PfsCountedObjects kind, uint32 index)
{
	Removed    *r = &removed[kind];

	if (r->n == REMOVED_MAX)
		give_back(kind, REMOVED_MAX / 2);
	if (r->n < REMOVED_MAX)
		r->indexes[r->n++] = index;
}

void
pfs_objects_free_removed(void)
{
	for (int kind = 0; kind < PFS_NUM_COUNTED_OBJECTS; kind++)
		give_back(kind, removed[kind].n);
}

/* ---- places ---- */

/*
 * Adds a place's numbers to the sums of their object and empties it.  Those of before a
 * truncation go to their name only, or nowhere.  False: a reader or truncator forbids it.
 */
static bool
flush(PfsThread *t, PfsCountedObjects kind, PfsPending *p)
{
	const PfsCountedKind *of = pfs_counted_kinds[kind];
	const uint64 *truncated = pfs_shared_pending[kind].truncated;

	if (p->generation == 0)
		return true;
	if (!pfs_may_move(of->turn))
		return false;
	if (pfs_pending_counts(truncated, p, PFS_PENDING_ALL))
	{
		of->add(pfs_object_enter(t, kind, pfs_pending_counts(truncated, p, PFS_PENDING_OBJECT) ? p->object : 0), p);
		pfs_object_leave(t, kind);
	}
	if (of->leave != NULL)
		of->leave(t, p, false);
	memset(p, 0, of->shape->size);
	return true;
}

void
pfs_pending_leave(PfsThread *t, PfsCountedObjects kind)
{
	const PfsCountedKind *of = pfs_counted_kinds[kind];

	for (uint32 i = 0; pfs_my_pending[kind] != NULL && i < of->shape->sets * of->shape->ways; i++)
	{
		PfsPending *p = (PfsPending *) (pfs_my_pending[kind] + of->shape->head + i * of->shape->size);

		if (!flush(t, kind, p))
			of->leave(t, p, true);
	}
	pfs_my_pending[kind] = NULL;
}

/* Sees to it that the object has what its numbers will be added to; false: there is no room. */
static bool
make_sums(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key)
{
	const PfsCountedKind *of = pfs_counted_kinds[kind];
	void	   *record = pfs_object_enter(t, kind, object);
	bool		is_there = record == NULL || of->make == NULL || of->make(record, key);

	pfs_object_leave(t, kind);
	return is_there;
}

/*
 * Which place of its set an object and key get: their own, else the first empty one, else the
 * next one by turns.
 */
static PfsPending *
choose(PfsCountedObjects kind, uint64 object, uint32 key)
{
	const PfsPendingShape *shape = pfs_counted_kinds[kind]->shape;
	PfsPending *first = pfs_pending_set(pfs_my_pending[kind], shape, object, key);
	PfsPending *p = first;

	for (uint32 way = 0; way < shape->ways; way++, p = pfs_pending_next(p, shape))
	{
		if (p->generation == 0 || pfs_pending_is(p, object, key))
			return p;
	}
	return (PfsPending *) ((char *) first + next_way[kind]++ % shape->ways * shape->size);
}

char *
pfs_pending_mine(PfsThread *t, PfsCountedObjects kind)
{
	if (unlikely(pfs_my_pending[kind] == NULL))
		pfs_my_pending[kind] = pfs_thread_sets_claim(&pfs_pending_sets[kind], t);
	return pfs_my_pending[kind];
}

/*
 * The slow path of a call: what has the place is flushed, also if that is the object's own
 * numbers, which may be of an older generation or not fit any more.  The object gets its sums
 * now, so that it has its row in the tables by object also when the numbers are truncated
 * before the flush, and so that a loss is that of a call.
 */
PfsPending *
pfs_pending_take(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key)
{
	uint64		generation;
	PfsPending *p;

	Assert((t->seq.word & 1) != 0);
	if (pfs_pending_mine(t, kind) == NULL)
		return NULL;
	pfs_fence_signal();
	generation = pfs_load_relaxed(&pfs_words->object_truncations[kind]);
	p = choose(kind, object, key);
	if (!flush(t, kind, p) || !make_sums(t, kind, object, key))
		return NULL;
	p->object = object;
	p->key = key;
	p->generation = generation;
	return p;
}

/* What is counted where there is no place, until it is put. */
static union
{
	PfsPending	place;
	char		bytes[PFS_PENDING_SIZE_MAX];
}			no_place __attribute__((aligned(PFS_CACHE_LINE)));

PfsPending *
pfs_pending_at_once(PfsCountedObjects kind, uint64 object, uint32 key)
{
	memset(&no_place, 0, pfs_counted_kinds[kind]->shape->size);
	no_place.place = (PfsPending)
	{
		.object = object, .key = key, .generation = PFS_PENDING_AT_ONCE
	};
	return &no_place.place;
}

PfsPending *
pfs_pending_get(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key)
{
	PfsPending *p = pfs_pending_take(t, kind, object, key);

	return p != NULL ? p : pfs_pending_at_once(kind, object, key);
}

void
pfs_pending_put_at_once(PfsThread *t, PfsCountedObjects kind, const PfsPending *p)
{
	pfs_counted_kinds[kind]->add(pfs_object_enter(t, kind, p->object), p);
	pfs_object_leave(t, kind);
}
