/*
 * pfs_chunk_places.h
 *	  Private memory for the places of sets of chunks (pfs_context.h): arrays of
 *	  pointers, 2^bits of them, all NULL when they are handed out.
 *
 * Nearly all sets are small, and thousands can come and go in one transaction: small
 * arrays are cut from areas that are given back together, at the end.  Big ones are
 * mapped one by one.
 */
#ifndef PFS_CHUNK_PLACES_H
#define PFS_CHUNK_PLACES_H

#include "pfs.h"

/* NULL: the system gives no memory. */
extern const void **pfs_places_get(uint32 bits);

extern void pfs_places_put(const void **places, uint32 bits);

/* All that were cut from areas go; big ones are the caller's to put back first. */
extern void pfs_places_stop(void);

#endif							/* PFS_CHUNK_PLACES_H */
