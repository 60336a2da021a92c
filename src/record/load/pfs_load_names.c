/*
 * pfs_load_names.c
 *	  Names of the events that periods have by number.
 */
#include "postgres.h"

#include "pfs_instrument.h"
#include "pfs_load_names.h"

/* Finds the name of what a period has by number. */
bool
pfs_load_event_name(PfsInstrumentId id, char name[PFS_NAME_SIZE])
{
	PfsInstrument *ins;

	if (id == PFS_LOAD_CPU_NAME)
	{
		strlcpy(name, "cpu", PFS_NAME_SIZE);
		return true;
	}
	ins = pfs_instrument_at(id);
	if (ins == NULL)
		return false;
	strlcpy(name, pfs_instrument_name(ins), PFS_NAME_SIZE);
	return true;
}
