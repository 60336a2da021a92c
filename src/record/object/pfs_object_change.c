/*
 * pfs_object_change.c
 *	  What this transaction has dropped, and which functions it has made.
 *
 * A list, newest first, of what commands have said, each with the nesting of subtransactions in
 * which that was.
 *
 * The list lies in private memory, and has nearly always one item.
 */
#include "postgres.h"

#include "access/xact.h"

#include "pfs_object_change.h"
#include "pfs_private.h"

/* More are forgotten: readers find them. */
#define CHANGES_MAX (1 << 20)

PFS_HOT_FIRST PfsObjectWork pfs_object_work;

static PfsPool pool = PFS_POOL_INIT(sizeof(PfsObjectChange), CHANGES_MAX);
static PfsObjectChange *newest = NULL;

/*
 * Adds an item to the list.  Without memory the change is forgotten: then the object's record stays
 * until a reader finds that the object has gone.
 */
void
pfs_object_change_note(Oid class, Oid object, bool made)
{
	PfsObjectChange *change;

	if (!pfs_pool_grow(&pool))
		return;
	change = pfs_pool_claim(&pool);
	change->older = newest;
	change->class = class;
	change->object = object;
	change->level = GetCurrentTransactionNestLevel();
	change->made = made;
	newest = change;
	pfs_object_work.has_changes = true;
}

bool
pfs_object_is_dropped_here(Oid class, Oid object)
{
	for (const PfsObjectChange *c = newest; c != NULL; c = c->older)
	{
		if (c->object == object && c->class == class && !c->made)
			return true;
	}
	return false;
}

bool
pfs_object_change_take(int level, PfsObjectChange *change)
{
	PfsObjectChange *taken = newest;

	if (taken == NULL || taken->level < level)
		return false;
	*change = *taken;
	newest = taken->older;
	pfs_object_work.has_changes = newest != NULL;
	pfs_pool_put(&pool, taken);
	pfs_pool_shrink(&pool);
	return true;
}

void
pfs_object_changes_promote(int level)
{
	for (PfsObjectChange *c = newest; c != NULL && c->level >= level; c = c->older)
		c->level = level - 1;
}
