/*
 * pfs_probe_row.c
 *	  Rows of pfs.probes.
 *
 * Separate from the probes, as every mechanism and some parts report here, and the rows
 * are read also where pfs is off.
 */
#include "postgres.h"

#include "pfs_probe_row.h"

#define PROBES_MAX 128

/* Postmaster memory, inherited; needed even where pfs is off. */
static PfsProbeRow probes[PROBES_MAX];
static int	nprobes = 0;

PfsSharedHooks *pfs_shared_hooks = NULL;

/* Keeps a row, in the place of one that has its name.  More than PROBES_MAX are dropped. */
void
pfs_probe_report(PfsProbeRow *row)
{
	int			i = 0;

	if (row->name[0] == '\0')
		snprintf(row->name, sizeof(row->name), "%s/%s", row->mechanism, row->target);
	while (i < nprobes && strcmp(probes[i].name, row->name) != 0)
		i++;
	if (i == PROBES_MAX)
		return;
	probes[i] = *row;
	nprobes = Max(nprobes, i + 1);
}

bool
pfs_probe_reported(int i, PfsProbeRow *row)
{
	if (i >= nprobes)
		return false;
	*row = probes[i];
	if (row->look != NULL)
		row->look(row, row->number);
	return true;
}
