/*
 * pfs_part.h
 *	  The parts of pfs: whatever lies in shared memory, or has something to do when
 *	  a process gets and leaves its thread record.
 *
 * There is one list of them (pfs_parts.c), and who does something for all parts goes
 * through it: the segment's layout and start, attach and detach, the tables containers
 * and status, and the instruments memory/pfs/%.  The type is declared here, below all
 * parts, so that all of these can.
 */
#ifndef PFS_PART_H
#define PFS_PART_H

#include "pfs.h"
#include "pfs_pages.h"
#include "pfs_segment.h"

struct PfsThread;
struct PfsThreadSets;

/* One row of pfs.containers. */
typedef struct PfsContainerRow
{
	const char *name;			/* one word, static */
	uint64		record_size;
	PfsPagesStats stats;
} PfsContainerRow;

/* A word of 64 bits in a part's struct that is a row of pfs.status, and reset with it. */
typedef struct PfsPartCounter
{
	const char *name;			/* of the row; NULL: none */
	size_t		offset;			/* in the struct that the part's address leads
								 * to */
} PfsPartCounter;

#define PFS_PART_COUNTERS 3

/*
 * A part.  Everything but the name may be left out.  All that a part takes from the
 * segment must be right when all of its bytes are zero, or be made right by lay_out or start.
 */
typedef struct PfsPart
{
	const char *name;

	/*
	 * A struct in the segment: its bytes, and the pointer that is to lead to
	 * it.
	 */
	size_t		size;
	void	  **address;

	/*
	 * Takes what else the part has in the segment.  Called twice, see
	 * pfs_segment.h: what it stores the first time is NULL and is replaced
	 * the second time.
	 */
	void		(*lay_out) (PfsSegment *seg);

	/* Postmaster, when everything is laid out. */
	void		(*start) (void);

	/* Some switch of the setup has changed; under the setup lock. */
	void		(*switched) (void);

	/*
	 * A process gets its thread record: begin fills in the part's share of it
	 * before anybody can see it, attach runs when readers can, before the
	 * process has events. Instrument points: no lock, no allocation, no
	 * error.
	 */
	void		(*begin) (struct PfsThread *t);
	void		(*attach) (struct PfsThread *t);

	/*
	 * The process ends.  leave runs first, outside of write sections; detach
	 * runs in the record's last write section, after repair of all parts.
	 */
	void		(*leave) (struct PfsThread *t);
	void		(*detach) (struct PfsThread *t);

	/*
	 * Takes back what the process has counted itself in for and was kept by
	 * an error from taking back; true if there was something.
	 */
	bool		(*repair) (void);

	/*
	 * The process must not use its record any more, as a child that shares it
	 * with its parent: this pointer, which leads to the part's share of it,
	 * becomes NULL, and nothing in it changes.
	 */
	void	  **forget;

	/*
	 * Rows of containers: one of pages, with the bytes that belong to it
	 * beside them, also beside the thread records; others.
	 */
	PfsPages  **pages;
	size_t		(*beside) (void);
	const struct PfsThreadSets *sets;
	int			nrows;
	void		(*row) (int i, PfsContainerRow *row);

	/*
	 * The records in use of the i-th of these others, where counting them
	 * takes so long that row leaves them 0; no change where it has them.
	 */
	void		(*count_used) (int i, PfsContainerRow *row);

	/* TRUNCATE of containers: losses that are not counted by pages. */
	void		(*reset) (void);

	PfsPartCounter counters[PFS_PART_COUNTERS];
} PfsPart;

/*
 * In the order in which they are laid out, started, begun, attached, left and detached.  The
 * list is made above all parts and set once, when the library is loaded (../pfs_register.c).
 */
extern const PfsPart *const *pfs_parts;
extern int	pfs_num_parts;

/* Goes through the parts, or those that have this member, in the order of the list. */
#define pfs_each_part(part) \
	for (const PfsPart *const *part##_at = pfs_parts, *part; \
		 part##_at < pfs_parts + pfs_num_parts && (part = *part##_at) != NULL; part##_at++)

#define pfs_each_part_with(part, member) \
	pfs_each_part(part) \
		if (part->member != NULL)

/* Where a part's counter is. */
static inline uint64 *
pfs_part_counter(const PfsPart *part, int i)
{
	return (uint64 *) ((char *) *part->address + part->counters[i].offset);
}

#endif							/* PFS_PART_H */
