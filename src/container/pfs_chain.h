/*
 * pfs_chain.h
 *	  Chains of cells: what is counted of one object, by a small key.
 *
 * An object has the head of its chain, an atomic word, 0 at first.  A cell is
 * put in at the head by compare-and-swap; who fails looks at the cells that came
 * in between first, so there are no two of one key.  Nothing is ever unlinked:
 * the chain goes as a whole.  Whoever walks or adds to a chain keeps the object,
 * by means of his own, from being given up.
 */
#ifndef PFS_CHAIN_H
#define PFS_CHAIN_H

#include "pfs_cell.h"
#include "pfs_pages.h"

/* A record of the pages: one cache line.  next and key are set before it is linked. */
typedef struct PfsChained
{
	PfsSharedCell cell;
	uint64_t	bytes;			/* atomic */
	uint32_t	next;			/* index + 1 of the next one; 0: none */
	uint32_t	key;
} PfsChained;

static inline PfsChained *
pfs_chain_at(const PfsPages *pages, uint32_t link)
{
	return pfs_pages_record(pages, link - 1);
}

/*
 * The cell of this key, made if there is none; NULL: no room, counted as lost.
 * Readers of all records may see a new one before it is linked: with nothing in
 * it.
 */
extern PfsChained *pfs_chain_get(PfsPages *pages, uint32_t *head, uint32_t key, uint32_t *hint);

/* The object is given up, nobody uses its chain: each cell to take(), if not NULL, then freed. */
typedef void (*PfsChainTake) (PfsChained *cell, void *arg);
extern void pfs_chain_free(PfsPages *pages, uint32_t *head, PfsChainTake take, void *arg);

#endif							/* PFS_CHAIN_H */
