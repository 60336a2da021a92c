/*
 * pfs_event_list.h
 *	  The newest events among many, each once: what a reader of histories collects.
 */
#ifndef PFS_EVENT_LIST_H
#define PFS_EVENT_LIST_H

#include "pfs_event.h"

/*
 * Blocks can hold many times what the table shows, so the list is cut to the table's rows
 * whenever it has grown to twice as many.  Sorting moves pointers.  Each event has as much
 * memory as it has bytes that mean something: of statements, whose texts are mostly short,
 * whole copies would be several times as much, and to get memory from the system takes
 * longer than all the rest.
 */
typedef struct PfsEventList
{
	PfsEventFamily family;
	MemoryContext context;		/* of the events */
	PfsEvent  **events;			/* newest first, once the list is cut */
	Size		rows;			/* that are wanted */
	Size		n;
	Size		size;
} PfsEventList;

extern void pfs_event_list_start(PfsEventList *list, PfsEventFamily family, Size rows);

/* A PfsEventEmit; arg: the list. */
extern void pfs_event_list_add(const PfsEvent *event, void *arg);

/* Sorts, drops second copies of the same event, and frees all but the newest rows. */
extern void pfs_event_list_cut(PfsEventList *list);
extern void pfs_event_list_end(PfsEventList *list);

#endif							/* PFS_EVENT_LIST_H */
