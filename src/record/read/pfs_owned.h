/*
 * pfs_owned.h
 *	  Records of a container that belong to a thread each: sockets, and prepared statements, which
 *	  the thread changes inside its own write sections.
 */
#ifndef PFS_OWNED_H
#define PFS_OWNED_H

#include "pfs_patience.h"
#include "pfs_thread.h"

/*
 * For readers: makes a copy between two write sections of the owner, or, when the
 * patience has run out, of the record as it is; false if the record has gone.  thread:
 * the word of the record that has its owner's index.
 */
extern bool pfs_owned_copy(PfsPages *pages, uint32 index, uint64 word, const uint32 *thread,
						   void *copy, size_t size, PfsPatience *patience);

/*
 * Returns the role that a record belongs to; InvalidOid for a background thread's, or if
 * the thread has ended.
 */
extern Oid	pfs_owned_role(uint32 thread, uint64 thread_id);

#endif							/* PFS_OWNED_H */
