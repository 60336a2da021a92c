/*
 * difference.h
 *	  What happened between two snapshots of a server, table by table.
 */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "snapshot.h"

/*
 * The rows of the later snapshot, with what their counters grew by.  Where the table was
 * reset in between, or is missing in the earlier one, that is all that they count, and since says
 * since when.
 */
typedef struct Difference
{
	const SnapshotTable *table; /* of the later snapshot */
	Number	   *growth;			/* by row and column; 0 for columns that are
								 * no counters */
	int64_t		since;			/* of the earlier snapshot, or of the reset */
	bool		reset;			/* between the two */
	int			restarted_rows; /* whose counters went back: forgotten and met
								 * again */
	bool	   *hidden;			/* rows of the later snapshot that were added
								 * to another one */
} Difference;

/* NULL: the later snapshot has no such table. */
extern Difference *difference_of(const Snapshot *earlier, const Snapshot *later, const char *name);
extern void difference_free(Difference *difference);

static inline Number
growth_of(const Difference *difference, int row, int column)
{
	return column < 0 ? 0 : difference->growth[(size_t) row * difference->table->num_columns + column];
}

#endif
