/*
 * pfs_event.c
 *	  Names of what events are nested in, which only tables show: no instrument point
 *	  calls this.
 */
#include "postgres.h"

#include "pfs_event.h"

PfsEventFamilyInfo pfs_event_families[PFS_NUM_EVENT_FAMILIES];
PFS_FIXED PfsEventRecord pfs_event_records[PFS_NUM_EVENT_FAMILIES];

static const char *const nesting_names[] = {
	[PFS_NESTING_TRANSACTION] = "TRANSACTION",[PFS_NESTING_STATEMENT] = "STATEMENT",
	[PFS_NESTING_STAGE] = "STAGE",[PFS_NESTING_WAIT] = "WAIT",
};

const char *
pfs_nesting_name(PfsNesting n)
{
	return n < lengthof(nesting_names) ? nesting_names[n] : NULL;
}
