/*
 * pfs_catalogue.c
 *	  The catalogue of instruments: what is registered at the start, and what readers ask of
 *	  all of them.  Apart from pfs_instrument.c, which knows no instrument.
 */
#include "postgres.h"

#include "pfs_instrument.h"
#include "pfs_shared.h"
#include "pfs_sql_class.h"
#include "pfs_wait_class.h"

/* Registers the instruments of waits and commands; other parts do so afterwards. */
void
pfs_instruments_start(void)
{
	pfs_instruments->max = pfs_sizes.instruments;
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
