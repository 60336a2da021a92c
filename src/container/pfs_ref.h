/*
 * pfs_ref.h
 *	  References to records of a PfsPages container that anybody may remove when
 *	  nobody uses them: one word per record.
 *
 * The word lies outside of the record's memory and survives it, so it is never
 * wiped: who raised it lowers it, whatever the record has become meanwhile.
 *
 *	raise:	the word goes up; if it says DYING, down again, and the raise has
 *			failed.  Then the record's state word is looked at: if it is not the
 *			one that was found, the record has gone or has another key, and the
 *			reference is lowered.
 *	kill:	the word goes from 0 to DYING in one step; so nobody refers to it,
 *			nobody will, and the record is the killer's.
 *	revive:	a new owner takes DYING away, before the record is published.
 *
 * Raise and kill are single steps on one word, so one of them is first.  If the
 * raise is, the kill fails and the record is passed over; if the kill is, the
 * raise fails and the search begins again.  Nobody waits for anybody.
 */
#ifndef PFS_REF_H
#define PFS_REF_H

#include "pfs_pages.h"

#define PFS_REF_DYING	(UINT64_C(1) << 63)

static inline void
pfs_ref_lower(uint64_t *ref)
{
	(void) pfs_sub_seqcst(ref, 1);
}

/* word: the record's state word as it was found. */
static inline bool
pfs_ref_raise(uint64_t *ref, const uint64_t *state, uint64_t word)
{
	if (__builtin_expect((pfs_add_seqcst(ref, 1) & PFS_REF_DYING) == 0 &&
						 pfs_load_acquire(state) == word, 1))
		return true;
	pfs_ref_lower(ref);
	return false;
}

static inline bool
pfs_ref_kill(uint64_t *ref)
{
	uint64_t	none = 0;

	return pfs_cas(ref, &none, PFS_REF_DYING);
}

/* Does the record belong to one who has killed it? */
static inline bool
pfs_ref_is_killed(const uint64_t *ref)
{
	return (pfs_load_acquire(ref) & PFS_REF_DYING) != 0;
}

static inline void
pfs_ref_revive(uint64_t *ref)
{
	(void) __atomic_fetch_and(ref, ~PFS_REF_DYING, __ATOMIC_RELEASE);
}

#endif							/* PFS_REF_H */
