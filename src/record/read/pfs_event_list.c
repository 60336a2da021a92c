/*
 * pfs_event_list.c
 *	  The newest events among many, each once: what a reader of histories collects.
 *
 * Separate from pfs_event_read.c, which knows where events lie.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pfs_event_list.h"
#include "pfs_instrument.h"

/* Returns an event's end in picoseconds, by which ends of different timers compare. */
static PfsPicoseconds
end_of(const PfsEvent *e)
{
	return pfs_timer_to_ps(PFS_FLAGS_TIMER(e->flags), e->timer_end);
}

/*
 * Orders events for qsort() by their end, then by thread and event ID, newest first.
 * The ends of two events of the same timer are compared as they are, others in
 * picoseconds.  Equal in all three means two copies of one event: the cut goes by
 * that.
 */
static int
by_end_newest_first(const void *a, const void *b)
{
	const PfsEvent *x = *(PfsEvent *const *) a;
	const PfsEvent *y = *(PfsEvent *const *) b;
	bool		same_timer = (x->flags & PFS_FLAG_TIMER_MASK) == (y->flags & PFS_FLAG_TIMER_MASK);
	PfsPicoseconds x_end = same_timer ? x->timer_end : end_of(x);
	PfsPicoseconds y_end = same_timer ? y->timer_end : end_of(y);

	if (x_end != y_end)
		return x_end > y_end ? -1 : 1;
	if (x->thread_id != y->thread_id)
		return x->thread_id > y->thread_id ? -1 : 1;
	if (x->event_id != y->event_id)
		return x->event_id > y->event_id ? -1 : 1;
	return 0;
}

void
pfs_event_list_start(PfsEventList *list, PfsEventFamily family, Size rows)
{
	list->family = family;
	list->context = AllocSetContextCreate(CurrentMemoryContext, "pfs events", ALLOCSET_DEFAULT_SIZES);
	list->rows = rows;
	list->n = 0;
	list->size = 2 * rows;
	list->events = MemoryContextAllocHuge(list->context, Max(list->size, 1) * sizeof(PfsEvent *));
}

/*
 * Sorts the list, drops second copies of the same event, and frees all but the
 * newest rows.
 */
void
pfs_event_list_cut(PfsEventList *list)
{
	Size		kept = 0;

	qsort(list->events, list->n, sizeof(PfsEvent *), by_end_newest_first);
	for (Size i = 0; i < list->n; i++)
	{
		if (kept < list->rows &&
			(kept == 0 || by_end_newest_first(&list->events[kept - 1], &list->events[i]) != 0))
			list->events[kept++] = list->events[i];
		else
			pfree(list->events[i]);
	}
	list->n = kept;
}

void
pfs_event_list_add(const PfsEvent *event, void *arg)
{
	PfsEventList *list = arg;
	Size		bytes = pfs_event_bytes(list->family, event);

	if (list->n == list->size)
		pfs_event_list_cut(list);
	list->events[list->n] = MemoryContextAlloc(list->context, bytes);
	memcpy(list->events[list->n++], event, bytes);
}

void
pfs_event_list_end(PfsEventList *list)
{
	MemoryContextDelete(list->context);
}
