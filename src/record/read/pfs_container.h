/*
 * pfs_container.h
 *	  Rows of pfs.containers, and of the containers as memory instruments.
 */
#ifndef PFS_CONTAINER_H
#define PFS_CONTAINER_H

#include "pfs_instrument.h"
#include "pfs_memory_cell.h"
#include "pfs_part.h"

/* More rows than pfs.containers has. */
#define PFS_CONTAINERS_MAX 64

/*
 * Rows of pfs.containers, 0 .. n-1; false past the end.  count_used: with the records in use
 * also where counting them means to read them all, which is so for long histories.
 */
extern bool pfs_container_row(int i, bool count_used, PfsContainerRow *row);

/* The instrument memory/pfs/<container> of row i; at start these are registered. */
extern PfsInstrumentId pfs_container_instrument(int i);
extern void pfs_containers_register(void);

/* The totals of a row's memory instrument: its pages are allocated and given back. */
extern void pfs_container_memory(const PfsContainerRow *row, PfsMemoryTotals *totals);

/*
 * Callbacks for PfsPart.row, and for count_used: the instruments; the three tables of each family of events;
 * the global level of each family of summaries.
 */
extern void pfs_container_of_instruments(int i, PfsContainerRow *row);
extern void pfs_container_of_events(int i, PfsContainerRow *row);
extern void pfs_container_count_events(int i, PfsContainerRow *row);
extern void pfs_container_of_family(int i, PfsContainerRow *row);

#endif							/* PFS_CONTAINER_H */
