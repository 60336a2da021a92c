/*
 * pfs_wait_lookup.c
 *	  Making what a process has looked up of one kind of wait.
 */
#include "postgres.h"

#include "pfs_wait_lookup.h"

/* Of instruments that are not known yet. */
static const uint32 no_flags = 0;

void
pfs_wait_lookups_start(PfsWaitLookup *lookups, int n)
{
	for (int i = 0; i < n; i++)
	{
		lookups[i].flags = &no_flags;
		lookups[i].usual = ~0U;
	}
}

/*
 * Makes a lookup of an instrument, whose event with these flags has ended, so that the next one is
 * counted by it.  None is made while anything about such events is unusual, or their cell has not
 * counted one yet.
 */
void
pfs_wait_lookup_make(PfsWaitLookup *lookup, const PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 bits)
{
	PfsWaitCell *cell;

	if ((flags & PFS_FLAGS_INSTANT) != pfs_local.instant)
		return;

	/*
	 * Perhaps outside of a write section, so not by pfs_wait_cell(), which
	 * remembers the chunk.
	 */
	cell = t->cells[PFS_FAMILY_WAITS].chunks[instrument];
	if (cell == NULL || cell->time.count_timed + cell->time.count_untimed == 0)
		return;
	lookup->flags = &pfs_words->flags[instrument];
	lookup->instrument = instrument;
	lookup->bits = bits;
	lookup->cell = cell;
	lookup->digest_key = (uint32) instrument + 1;
	lookup->digest = unconstify(PfsDigestWait *, &t->digest_waits[instrument % PFS_DIGEST_WAITS]);
	lookup->usual = flags;
}
