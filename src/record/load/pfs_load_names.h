/*
 * pfs_load_names.h
 *	  Names of what periods have by number: events and classes of waits.
 *
 * In memory an event is its instrument's number, in a file its name.  An instrument of an
 * extension may not be there yet when a file is read: its name is kept here, under a number
 * that is no instrument's.
 */
#ifndef PFS_LOAD_NAMES_H
#define PFS_LOAD_NAMES_H

#include "pfs_load_code.h"
#include "pfs_segment.h"

/* Names without an instrument; events of further ones are in the remainders. */
#define PFS_LOAD_NAMES_MAX	256

typedef struct PfsSharedLoadNames
{
	uint32		n;				/* postmaster, while it reads the file */
	char		names[PFS_LOAD_NAMES_MAX][PFS_NAME_SIZE];
} PfsSharedLoadNames;

extern PfsSharedLoadNames *pfs_shared_load_names;

/* Writes an event's name; false: it has none. */
extern bool pfs_load_event_name(PfsInstrumentId id, char name[PFS_NAME_SIZE]);

/* Postmaster, at start: the number of an event's name; PFS_LOAD_REMAINDER: no room. */
extern PfsInstrumentId pfs_load_event_by_name(const char *name);

#endif							/* PFS_LOAD_NAMES_H */
