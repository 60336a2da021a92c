/*
 * pfs_chain.c
 *	  Chains of cells: finding, making, giving up.
 */
#include "pfs_chain.h"

/* From this link until the one that was looked at before, or the end. */
static PfsChained *
find(const PfsPages *pages, uint32_t link, uint32_t until, uint32_t key)
{
	while (link != until && link != 0)
	{
		PfsChained *cell = pfs_chain_at(pages, link);

		if (cell->key == key)
			return cell;
		link = cell->next;
	}
	return NULL;
}

/*
 * Finds the cell of a key, or puts a new one in at the head.  Whoever fails at the
 * head looks at the cells that were put in meanwhile: one of them may have the key.
 */
PfsChained *
pfs_chain_get(PfsPages *pages, uint32_t *head, uint32_t key, uint32_t *hint)
{
	uint32_t	first = pfs_load_acquire(head);
	PfsChained *found = find(pages, first, 0, key);
	PfsChained *mine;
	uint32_t	index;

	if (found != NULL)
		return found;
	index = pfs_pages_allocate(pages, hint);
	if (index == PFS_NO_RECORD)
		return NULL;
	mine = pfs_pages_record(pages, index);
	memset(mine, 0, sizeof(*mine));
	mine->key = key;
	mine->next = first;
	(void) pfs_pages_publish(pages, index);
	while (!pfs_cas(head, &first, index + 1))
	{
		found = find(pages, first, mine->next, key);
		if (found != NULL)
		{
			pfs_pages_discard(pages, mine);
			return found;
		}
		mine->next = first;
	}
	return mine;
}

/* Takes the whole chain off its head in one step, then gives back cell after cell. */
void
pfs_chain_free(PfsPages *pages, uint32_t *head, PfsChainTake take, void *arg)
{
	uint32_t	link = pfs_exchange(head, 0);

	while (link != 0)
	{
		PfsChained *cell = pfs_chain_at(pages, link);

		link = cell->next;
		if (take != NULL)
			take(cell, arg);
		pfs_pages_discard(pages, cell);
	}
}
