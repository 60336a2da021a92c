/*
 * pfs_instr_buffer.h
 *	  Waits for the content locks of buffers, where these are no LWLocks (19).
 */
#ifndef PFS_INSTR_BUFFER_H
#define PFS_INSTR_BUFFER_H

#include "pfs_event_write.h"

/* What the event's operation is: the mode in which this process waits. */
extern PfsOperation pfs_buffer_operation(void);

/*
 * Who waits, for an event of such a wait; and, between pfs_wait_begin() and
 * pfs_wait_start(), its object: the page.  frame: that of what the server's
 * PGSemaphoreLock() has called.
 */
extern uint32 pfs_buffer_source(const void *frame);
extern void pfs_buffer_describe(PfsWait *e, const void *frame);

/* Postmaster, once: the row of pfs.probes. */
extern void pfs_instr_buffer_start(void);

#endif							/* PFS_INSTR_BUFFER_H */
