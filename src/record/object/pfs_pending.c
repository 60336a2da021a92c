/*
 * pfs_pending.c
 *	  Numbers of shared objects that a process keeps to itself: taking a place for them,
 *	  and adding them to the sums of their objects.
 *
 * Separate from the sums of each kind (pfs_file_sum.c), which all processes write.
 *
 * Flush and readers.  A flush moves numbers from one place to another, which a reader must
 * not see half of.  So readers and truncators say in `held` that they are there, and then wait
 * for those threads whose sequence word is odd.  A flush happens inside a write section of
 * its thread, and looks at `held` behind the store of the odd word; between store and load
 * both sides have a fence.  So either the flush sees the reader and leaves its numbers where
 * they are, or the reader sees the odd word and waits.
 *
 * Truncators then raise the generation.  Counting in a place that a process has already
 * has no fence: for that they use pfs_fence_everywhere() (pfs_fence.h).
 *
 * Who may free an object.  A process that adds to the sums of an object writes the object's
 * number into object_in_use of its thread record, then looks at the object's state word, and
 * adds only if the object is still the same; else the numbers have no object any more.  After
 * that it clears object_in_use.  Who removes an object changes the state word first, and
 * leaves the record and the sums where they are, for late calls that saw the old word.  Only
 * some time later it looks at object_in_use of all threads, and if none names the object
 * nobody can come to the sums any more: they are free.  If one does, which takes a process
 * that was descheduled between two instructions, the object has to wait.
 *
 * Between the store to object_in_use and the load of the state word there is no fence: the
 * store must be visible when who frees looks at the threads, and stores do not stay in a
 * processor that long.  So a kind has to put some time between the change of the word and
 * that look, as files do by their tombstones (pfs_file_sum.c).
 */
#include "postgres.h"

#include "pfs_pending.h"
#include "pfs_shared.h"

const PfsCountedKind *pfs_counted_kinds[PFS_NUM_COUNTED_OBJECTS];
PFS_FIXED PfsSharedPending *pfs_shared_pending = NULL;
PFS_FIXED PfsThreadSets pfs_pending_sets[PFS_NUM_COUNTED_OBJECTS];
PFS_HOT char *pfs_my_pending[PFS_NUM_COUNTED_OBJECTS];

/* Which way of a set is emptied next. */
static uint32 next_way;

/* Takes the places of each kind of which there can be objects. */
void
pfs_pending_lay_out(PfsSegment *seg)
{
	for (int kind = 0; kind < PFS_NUM_COUNTED_OBJECTS; kind++)
	{
		const PfsPendingShape *shape = pfs_counted_kinds[kind]->shape;

		Assert(shape->size <= PFS_PENDING_SIZE_MAX);
		if (*pfs_counted_kinds[kind]->max > 0)
			pfs_thread_sets_lay_out(&pfs_pending_sets[kind], seg, (size_t) shape->sets * PFS_PENDING_WAYS * shape->size);
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
	PfsPages   *pages = *pfs_counted_kinds[kind]->objects;
	uint32		index = PFS_COUNTED_INDEX(object);

	if (PFS_COUNTED_WORD(object) == 0)
		return NULL;
	pfs_store_relaxed(&t->object_in_use[kind], index + 1);
	pfs_fence_signal();
	return (uint32) pfs_pages_word(pages, index) == PFS_COUNTED_WORD(object) ? pfs_pages_record(pages, index) : NULL;
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

/* ---- places ---- */

/*
 * Adds a place's numbers to the sums of their object and empties it.  Those of before a
 * truncation go to their name only, or nowhere.  False: a reader or truncator forbids it.
 */
static bool
flush(PfsThread *t, PfsCountedObjects kind, PfsPending *p)
{
	const PfsSharedPending *shared = &pfs_shared_pending[kind];

	if (pfs_load_acquire(&shared->held) != 0)
		return false;
	if (p->generation != 0 && p->generation >= pfs_load_relaxed(&shared->cleared))
	{
		uint64		object = p->generation < pfs_load_relaxed(&shared->pushed) ? 0 : p->object;

		pfs_counted_kinds[kind]->add(pfs_object_enter(t, kind, object), p);
		pfs_object_leave(t, kind);
	}
	memset(p, 0, pfs_counted_kinds[kind]->shape->size);
	return true;
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
 * Which place of its set an object and key get: their own, an empty one, or the next one by
 * turns.
 */
static PfsPending *
choose(char *places, const PfsPendingShape *shape, uint64 object, uint32 key)
{
	PfsPending *first = pfs_pending_set(places, shape, object, key);
	PfsPending *second = pfs_pending_next(first, shape);

	if (pfs_pending_is(first, object, key))
		return first;
	if (pfs_pending_is(second, object, key))
		return second;
	if (first->generation == 0)
		return first;
	if (second->generation == 0)
		return second;
	return next_way++ % PFS_PENDING_WAYS == 0 ? first : second;
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
	PfsPending *p;
	uint64		generation;

	if (pfs_my_pending[kind] == NULL)
		pfs_my_pending[kind] = pfs_thread_sets_take(&pfs_pending_sets[kind], t);
	if (pfs_my_pending[kind] == NULL)
		return NULL;
	pfs_fence_seqcst();			/* pairs with the one in forbid_flushes() */
	generation = pfs_load_acquire(&pfs_words->object_truncations[kind]);
	p = choose(pfs_my_pending[kind], pfs_counted_kinds[kind]->shape, object, key);
	if (!flush(t, kind, p) || !make_sums(t, kind, object, key))
		return NULL;
	p->object = object;
	p->key = key;
	p->generation = generation;
	return p;
}
