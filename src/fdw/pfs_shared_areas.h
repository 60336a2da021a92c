/*
 * pfs_shared_areas.h
 *	  The server's shared memory by name, as instruments memory/shared/<name>.
 */
#ifndef PFS_SHARED_AREAS_H
#define PFS_SHARED_AREAS_H

#include "pfs_instrument.h"

#define PFS_SHARED_AREA_PREFIX "memory/shared/"

/* Each named area of the server's index, and the sum of all that have no name. */
typedef void (*PfsSharedAreaEmit) (PfsInstrumentId instrument, uint64 count, uint64 bytes, void *arg);
extern void pfs_shared_areas_each(PfsSharedAreaEmit emit, void *arg);

/* Registers instruments of areas that have come: before instruments are listed. */
extern void pfs_shared_areas_register(void);

#endif							/* PFS_SHARED_AREAS_H */
