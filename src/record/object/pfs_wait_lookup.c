/*
 * pfs_wait_lookup.c
 *	  Making what a process has looked up of one kind of wait.
 */
#include "postgres.h"

#include "pfs_wait_lookup.h"

/*
 * Makes a lookup of an instrument, so that its next event is counted by it.  None is made while anything about such events is unusual, or their cell has not
 * counted one yet.
 *
 * The generation is read first: what changes behind that raises it.
 */
void
pfs_wait_lookup_make(PfsWaitLookup *lookup, const PfsThread *t, PfsInstrumentId instrument, uint64 bits)
{
	uint64		generation = pfs_load_acquire(&pfs_words->generation);
	uint32		flags = instrument != PFS_NO_INSTRUMENT ? pfs_wait_flags(t, instrument) : 0;
	PfsWaitCell *cell;

	/* The owner may still change its mask, which raises no generation. */
	if ((pfs_local.slow & PFS_SLOW_IDENTITY) != 0 || (flags & PFS_FLAGS_INSTANT) != pfs_local.instant ||
		t->generation[PFS_FAMILY_WAITS] != pfs_load_relaxed(&pfs_words->truncations[PFS_FAMILY_WAITS]))
		return;

	cell = pfs_wait_cell(t, instrument);
	if (cell == NULL || cell->time.count_timed + cell->time.count_untimed == 0)
		return;
	lookup->usual = flags;
	lookup->counts = pfs_history_counts(flags);
	lookup->instrument = instrument;
	lookup->bits = bits;
	lookup->cell = cell;
	lookup->digest_key = PFS_DIGEST_WAIT_KEY(instrument, 0);
	lookup->digest = unconstify(PfsDigestWait *, &t->digest_waits[instrument % PFS_DIGEST_WAITS]);
	lookup->generation = generation;
}
