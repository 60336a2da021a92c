/*
 * pfs_fence.h
 *	  A memory fence in all processes at once, made by the one that needs it.
 *
 * For protocols in which one side is a hot path and the other hardly ever runs
 * (TRUNCATE).  Both sides store a word of their own, then load the other's, and
 * at least one of them must see the other's store.  That takes a full fence
 * between store and load on both sides.  Here the rare side makes both:
 *
 *	owner:		store its word; pfs_fence_signal(); load the other's word
 *	truncator:	store its word; pfs_fence_everywhere(); load the other's word
 *
 * After the fence either the owner's store can be seen, or its load comes after
 * the truncator's store and sees it.
 */
#ifndef PFS_FENCE_H
#define PFS_FENCE_H

/* Takes milliseconds.  Keeps errno.  Says what it was made of: "membarrier", "sleep". */
extern const char *pfs_fence_everywhere(void);

/* What it would be made of.  Makes none. */
extern const char *pfs_fence_name(void);

#endif							/* PFS_FENCE_H */
