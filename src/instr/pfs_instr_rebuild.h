/*
 * pfs_instr_rebuild.h
 *	  What REINDEX CONCURRENTLY says of the indexes that it builds anew.
 */
#ifndef PFS_INSTR_REBUILD_H
#define PFS_INSTR_REBUILD_H

/* A relation has been made, by a command whose objects are watched (pfs_instr_drop.c). */
extern void pfs_rebuild_relation_made(Oid relation);

#endif							/* PFS_INSTR_REBUILD_H */
