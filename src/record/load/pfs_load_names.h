/*
 * pfs_load_names.h
 *	  Names of the events that periods have by number.
 */
#ifndef PFS_LOAD_NAMES_H
#define PFS_LOAD_NAMES_H

#include "pfs_load_code.h"

/* Writes an event's name; false: it has none. */
extern bool pfs_load_event_name(PfsInstrumentId id, char name[PFS_NAME_SIZE]);

#endif							/* PFS_LOAD_NAMES_H */
