/*
 * pfs_calls.c
 *	  Calls on files and sockets: what all processes add to, and its sums.
 */
#include "postgres.h"

#include "pfs_calls.h"
#include "pfs_instrument.h"
#include "pfs_shared.h"

size_t
pfs_calls_totals_size(void)
{
	return (size_t) pfs_sizes.instruments * PFS_CALLS_PARTS * sizeof(PfsChained);
}

/* Returns how many totals instruments can have used; pages of the others stay untouched. */
static uint32
totals_used(void)
{
	return pfs_load_relaxed(&pfs_instruments->count) * PFS_CALLS_PARTS;
}

const PfsTotals *
pfs_calls_all(const PfsCalls *calls, PfsTotals *all)
{
	for (int part = 0; part < PFS_CALLS_PARTS; part++)
		pfs_totals_add(all, &calls->parts[part]);
	return all;
}

void
pfs_calls_add(PfsChained *to, const PfsTotals *calls, uint64 bytes)
{
	if (bytes != 0)
		pfs_add_relaxed(&to->bytes, bytes);
	pfs_shared_cell_merge(&to->cell, calls);
}

void
pfs_calls_read(const PfsChained *from, PfsCalls *to, PfsCallsPart part)
{
	pfs_shared_cell_read(&from->cell, &to->parts[part]);
	to->bytes[part] += pfs_load_relaxed(&from->bytes);
}

/*
 * Takes a cell's counters away, by exchanges, and adds them to *calls and *bytes.  Cells that
 * have counted no call, as most have, are left alone: an exchange costs more than a look, and
 * bytes may be those of a call whose count is on its way.
 */
void
pfs_calls_take(PfsChained *from, PfsTotals *calls, uint64 *bytes)
{
	if (pfs_load_relaxed(&from->cell.count_timed) + pfs_load_relaxed(&from->cell.count_untimed) == 0)
		return;
	pfs_shared_cell_take(&from->cell, calls);
	*bytes += pfs_exchange(&from->bytes, 0);
}

void
pfs_calls_totals_read(const PfsChained *totals, PfsCalls *by_instrument)
{
	for (uint32 i = 0; i < totals_used(); i++)
		pfs_calls_read(&totals[i], &by_instrument[i / PFS_CALLS_PARTS], i % PFS_CALLS_PARTS);
}

uint64
pfs_calls_totals_clear(PfsChained *totals, bool bytes_alone)
{
	PfsTotals	calls = {0};
	uint64		bytes = 0;

	for (uint32 i = 0; i < totals_used(); i++)
	{
		pfs_calls_take(&totals[i], &calls, &bytes);
		if (bytes_alone && pfs_load_relaxed(&totals[i].bytes) != 0)
			pfs_exchange(&totals[i].bytes, 0);
	}
	return pfs_totals_count(&calls);
}
