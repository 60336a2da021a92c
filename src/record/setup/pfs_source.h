/*
 * pfs_source.h
 *	  Names for places in the server's code: what events_*.source shows.
 */
#ifndef PFS_SOURCE_H
#define PFS_SOURCE_H

/* Bytes, terminator included; longer names are cut. */
#define PFS_SOURCE_NAME_SIZE 65

/*
 * offset: bytes from the load address of the server binary, 0 unknown.  Writes
 * "symbol+0x1a" where the symbol is exported, else "postgres+0x..."; returns
 * false if unknown.  Backends only.
 */
extern bool pfs_source_name(uint32 offset, char *buf, size_t size);

#endif							/* PFS_SOURCE_H */
