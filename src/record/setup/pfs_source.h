/*
 * pfs_source.h
 *	  Names for places in the server's code: what events_*.source shows.
 */
#ifndef PFS_SOURCE_H
#define PFS_SOURCE_H

/*
 * offset: bytes from the load address of the server binary, 0 unknown.  Returns
 * "symbol+0x1a" where the symbol is exported, else "postgres+0x...", until the next call;
 * NULL if unknown.  Backends only.
 */
extern const char *pfs_source_name(uint32 offset);

#endif							/* PFS_SOURCE_H */
