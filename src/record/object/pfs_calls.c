/*
 * pfs_calls.c
 *	  Calls on files and sockets: places of a process, what all processes add to, and its sums.
 */
#include "postgres.h"

#include "pfs_calls.h"
#include "pfs_shared.h"

/* ---- places ---- */

PfsPendingCalls *
pfs_pending_calls_get(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key)
{
	PfsPendingCalls *p = (PfsPendingCalls *) pfs_pending_get(t, kind, object, key);

	p->min = PG_UINT64_MAX;
	return p;
}

void
pfs_pending_calls_count(PfsPendingCalls *p, const PfsWait *e, uint64 end)
{
	pfs_pending_calls_add(p, pfs_calls_ticks(e, end), pfs_calls_bytes(e, PFS_CALLS_PART(p->place.key)));
}

PfsTotals
pfs_pending_calls_totals(const PfsPending *place)
{
	const PfsPendingCalls *p = (const PfsPendingCalls *) place;
	bool		timed = (place->key & PFS_CALLS_UNTIMED) == 0;

	return (PfsTotals)
	{
		.count_timed = timed ? p->count : 0, .count_untimed = timed ? 0 : p->count, .sum = p->sum, .min = p->min, .max = p->max
	};
}

uint64
pfs_pending_calls_events(const PfsPending *place)
{
	return ((const PfsPendingCalls *) place)->count;
}

/* ---- sums ---- */

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

void
pfs_calls_read_pending(const PfsPending *place, PfsCalls *to)
{
	PfsCallsPart part = PFS_CALLS_PART(place->key);
	PfsTotals	calls = pfs_pending_calls_totals(place);

	pfs_totals_add(&to->parts[part], &calls);
	to->bytes[part] += pfs_pending_calls_bytes(place);
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
pfs_calls_clear(PfsChained *cells, uint32 n, bool bytes_alone)
{
	PfsTotals	calls = {0};
	uint64		bytes = 0;

	for (uint32 i = 0; i < n; i++)
	{
		pfs_calls_take(&cells[i], &calls, &bytes);
		if (bytes_alone && pfs_load_relaxed(&cells[i].bytes) != 0)
			pfs_exchange(&cells[i].bytes, 0);
	}
	return pfs_totals_count(&calls);
}

uint64
pfs_calls_totals_clear(PfsChained *totals, bool bytes_alone)
{
	return pfs_calls_clear(totals, totals_used(), bytes_alone);
}
