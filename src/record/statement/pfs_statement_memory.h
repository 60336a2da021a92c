/*
 * pfs_statement_memory.h
 *	  The most memory that a session had in use while a statement was open.
 *
 * Separate from the other counters of a statement, as it is a maximum and not a sum.
 * Where it is stored for a statement it is one more than the bytes are; 0: not counted.
 */
#ifndef PFS_STATEMENT_MEMORY_H
#define PFS_STATEMENT_MEMORY_H

#include "pfs_event_cell.h"
#include "pfs_statement_open.h"

/* ---- owner, inside a write section; statements that count memory only ---- */

/* A statement begins; it counts if the process can be told of its allocations. */
extern void pfs_statement_memory_begin(PfsThread *t, PfsStatement *s);

/* It ends, or is dropped: s->memory is its peak from now on. */
extern void pfs_statement_memory_end(PfsThread *t, PfsStatement *s);

/*
 * It has just been counted in the summaries, in the same write section: so both are in
 * the same cell, whatever is truncated meanwhile.
 */
extern void pfs_statement_memory_count(PfsThread *t, const PfsStatement *s);

#endif							/* PFS_STATEMENT_MEMORY_H */
