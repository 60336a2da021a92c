/*
 * pfs_catalogue.c
 *	  The catalogue of instruments: what is registered at the start, and what readers ask of
 *	  all of them.  Apart from pfs_instrument.c, which knows no instrument.
 */
#include "postgres.h"

#include "utils/wait_event.h"

#include "pfs_instrument.h"
#include "pfs_segment.h"
#include "pfs_shared.h"
#include "pfs_sql_class.h"
#include "pfs_wait_class.h"

/* What pfs_instruments has pointers to, until it is started. */
static PfsInstrument *items = NULL;
static PfsInstrumentId *of_cell[PFS_NUM_FAMILIES];

/* Takes the array, the words that events read, and the cells from the segment. */
void
pfs_instruments_lay_out(PfsSegment *seg)
{
	items = pfs_segment_take(seg, pfs_sizes.instruments * sizeof(PfsInstrument), PFS_CACHE_LINE);
	pfs_words = pfs_segment_take(seg, offsetof(PfsSharedWords, flags) + pfs_sizes.instruments * sizeof(uint32),
								 PFS_CACHE_LINE);
	for (PfsFamily family = PFS_FAMILY_WAITS + 1; family < PFS_NUM_FAMILIES; family++)
		of_cell[family] = pfs_segment_take(seg, pfs_sizes.cells[family] * sizeof(PfsInstrumentId), PFS_CACHE_LINE);
}

/* Registers the instruments of waits and commands; other parts do so afterwards. */
void
pfs_instruments_start(void)
{
	pfs_instruments->max = pfs_sizes.instruments;
	pfs_instruments->items = items;
	memcpy(pfs_instruments->max_cells, pfs_sizes.cells, sizeof(pfs_sizes.cells));
	memcpy(pfs_instruments->of_cell, of_cell, sizeof(of_cell));
	pfs_wait_class_start();
	pfs_sql_class_start();
}

uint32
pfs_instrument_count(void)
{
	if (pfs_instruments == NULL)
		return 0;
	pfs_instrument_name_late();
	return pfs_load_acquire(&pfs_instruments->count);
}

/* Behind all others: what is registered from now on was not known at the start. */
void
pfs_instruments_end_start(void)
{
	pfs_instruments->fixed = pfs_instruments->count;
}

/*
 * Returns the wait event of an instrument, as pg_stat_activity names it.  Of one that got
 * its name late it is what follows the prefix.
 */
const char *
pfs_instrument_wait_event(const PfsInstrument *ins)
{
	bool		lwlock = PFS_WAIT_INFO_CLASS(ins->wait_info) == PFS_WAIT_INFO_CLASS(PG_WAIT_LWLOCK);

	if (pfs_load_acquire(&ins->named) != 1)
		return ins->wait_event;
	return ins->late_name + strlen(lwlock ? "wait/synch/lwlock/" : "wait/extension/");
}
