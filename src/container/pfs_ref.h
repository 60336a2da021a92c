/*
 * pfs_ref.h
 *	  References to records of a PfsPages container that anybody may remove when
 *	  nobody uses them: one word per record.
 *
 * The word counts the pins of the record.  It lies outside of the record's
 * memory and survives it, so it is never wiped: whoever has pinned a record
 * unpins it, whatever the record has become meanwhile.
 *
 *	pin:	adds one; if the word says that the record is dead, takes it off again
 *			and fails.  Then the record's state word is compared: if it is not the
 *			one that was found, the record has gone or has another key, and the pin
 *			is taken back.
 *	mark dead:	sets the dead bit in one step, from 0 only.  So nobody uses the
 *			record, nobody will, and whoever has marked it may remove it.
 *	reuse:	the next owner clears the dead bit, before the record is published.
 *			Until it is published, it can be marked again by one who found the owner
 *			before: who marks dead compares the state word behind it, and takes the
 *			mark back if it differs, unless nobody else removes records.
 *
 * Pinning and marking dead are single steps on one word, so one of them is
 * first.  If it is the pin, the record cannot be marked dead and is passed over;
 * if it is the mark, the pin fails and the search begins again.  Nobody waits.
 */
#ifndef PFS_REF_H
#define PFS_REF_H

#include "pfs_pages.h"

#define PFS_REF_DEAD	(UINT64_C(1) << 63)

/* Give back a pin. */
static inline void
pfs_ref_unpin(uint64_t *ref)
{
	(void) pfs_sub_seqcst(ref, 1);
}

/* Pin the record; word: its state word as it was found.  False: it has gone. */
static inline bool
pfs_ref_pin(uint64_t *ref, const uint64_t *state, uint64_t word)
{
	if (__builtin_expect((pfs_add_seqcst(ref, 1) & PFS_REF_DEAD) == 0 &&
						 pfs_load_acquire(state) == word, 1))
		return true;
	pfs_ref_unpin(ref);
	return false;
}

/* Mark a record dead that nobody has pinned; false: somebody has. */
static inline bool
pfs_ref_mark_dead(uint64_t *ref)
{
	uint64_t	none = 0;

	return pfs_cas(ref, &none, PFS_REF_DEAD);
}

/* Clear the dead bit, on behalf of the record's next owner. */
static inline void
pfs_ref_reuse(uint64_t *ref)
{
	(void) __atomic_fetch_and(ref, ~PFS_REF_DEAD, __ATOMIC_RELEASE);
}

/*
 * Mark a record dead that nobody has pinned, and that still has this state word, which stays from
 * then on: nobody else removes it.  False: somebody has pinned it, or it is another one by now.
 */
static inline bool
pfs_ref_mark_found_dead(uint64_t *ref, const uint64_t *state, uint64_t word)
{
	if (!pfs_ref_mark_dead(ref))
		return false;
	if (pfs_load_acquire(state) == word)
		return true;
	pfs_ref_reuse(ref);
	return false;
}

/* Is the record marked dead, so that it belongs to whoever marked it? */
static inline bool
pfs_ref_is_dead(const uint64_t *ref)
{
	return (pfs_load_acquire(ref) & PFS_REF_DEAD) != 0;
}

#endif							/* PFS_REF_H */
