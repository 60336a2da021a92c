/*
 * pfs_load_names.c
 *	  Names of what periods have by number.
 */
#include "postgres.h"

#include "pfs_instrument.h"
#include "pfs_load_names.h"

#define CPU_NAME "cpu"

PfsSharedLoadNames *pfs_shared_load_names = NULL;

bool
pfs_load_event_name(PfsInstrumentId id, char name[PFS_NAME_SIZE])
{
	PfsInstrument *ins;

	if (id == PFS_LOAD_CPU_NAME)
	{
		strlcpy(name, CPU_NAME, PFS_NAME_SIZE);
		return true;
	}
	if (id >= PFS_LOAD_FIRST_NAME)
	{
		if (id - PFS_LOAD_FIRST_NAME >= pfs_shared_load_names->n)
			return false;
		strlcpy(name, pfs_shared_load_names->names[id - PFS_LOAD_FIRST_NAME], PFS_NAME_SIZE);
		return true;
	}
	ins = pfs_instrument_at(id);
	if (ins == NULL)
		return false;
	strlcpy(name, pfs_instrument_name(ins), PFS_NAME_SIZE);
	return true;
}

/* Finds the number of a name, or gives it one. */
PfsInstrumentId
pfs_load_event_by_name(const char *name)
{
	PfsInstrumentId id;
	uint32		i;

	if (strcmp(name, CPU_NAME) == 0)
		return PFS_LOAD_CPU_NAME;
	id = pfs_instrument_by_name(name);
	if (id != PFS_NO_INSTRUMENT)
		return id;
	for (i = 0; i < pfs_shared_load_names->n; i++)
	{
		if (strcmp(pfs_shared_load_names->names[i], name) == 0)
			return PFS_LOAD_FIRST_NAME + i;
	}
	if (i == PFS_LOAD_NAMES_MAX)
		return PFS_LOAD_REMAINDER;
	strlcpy(pfs_shared_load_names->names[i], name, PFS_NAME_SIZE);
	pfs_shared_load_names->n++;
	return PFS_LOAD_FIRST_NAME + i;
}
