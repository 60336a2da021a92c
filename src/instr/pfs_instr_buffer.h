/*
 * pfs_instr_buffer.h
 *	  Waits for the content locks of buffers, where these are no LWLocks (19).
 */
#ifndef PFS_INSTR_BUFFER_H
#define PFS_INSTR_BUFFER_H

#include "storage/buf.h"

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

/* The process is about to sleep for a content lock, whether that is an event or not. */
extern void pfs_buffer_sleeps(void);

/*
 * Wrappers of LockBufferInternal(), which takes the content locks for who calls LockBuffer()
 * outside of the buffer manager: one for each of pfs.lwlock_events that needs it.  They
 * call the function behind the detour.
 */
extern void (*pfs_buffer_lock_real) (Buffer buffer, int mode);
extern void pfs_buffer_lock_counted(Buffer buffer, int mode);
extern void pfs_buffer_lock_timed(Buffer buffer, int mode);

/* Fills in the row of a detour that is set: has any process come there? */
struct PfsProbeRow;
extern void pfs_buffer_lock_look(struct PfsProbeRow *row, int unused);

#endif							/* PFS_INSTR_BUFFER_H */
