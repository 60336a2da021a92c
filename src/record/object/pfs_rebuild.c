/*
 * pfs_rebuild.c
 *	  Indexes that REINDEX CONCURRENTLY builds anew: which two OIDs are one index.
 *
 * A list of places in shared memory, each written only by the process that has taken it, which is the one that
 * executes the command.  A place's word has its state in the low bits, and above them a version, which is raised
 * when the place is taken: a copy of the OIDs is of one rebuild if the version is the same behind it.
 *
 * Who looks for a record comes here only when it finds none under its own OID, and names are looked up here only while
 * a rebuild goes on, or when they are not there: so places are looked at one by one.
 *
 * What has ended stays in its place until that is needed: a reader that has copied an old OID before the end
 * finds its name by it.
 */
#include "postgres.h"

#include "pfs_atomic.h"
#include "pfs_rebuild.h"
#include "pfs_rel_stat.h"
#include "pfs_shared.h"

/* Those that go on at a time: indexes of a table, and of as many tables as are reindexed at the same time. */
#define PLACES 1024

#define STATE_BITS 3
#define STATE_MASK ((UINT32_C(1) << STATE_BITS) - 1)
#define VERSION_INC (UINT32_C(1) << STATE_BITS)

/* In shared memory. */
typedef struct Place
{
	uint32		word;			/* version, and PfsRebuildState; atomic */
	Oid			database;		/* these are set before the state shows them */
	Oid			before;
	Oid			after;
} Place;

typedef struct PfsSharedRebuilds
{
	uint32		begun;			/* so far: the next one tries this place
								 * first; atomic */
	uint32		going_on;		/* atomic */
	Place		places[PLACES];
} PfsSharedRebuilds;

static PfsSharedRebuilds *shared = NULL;

/* Those of this process. */
typedef struct Mine
{
	uint32		place;
	bool		is_swapped;		/* by a transaction that is committed */
	bool		swaps;			/* by the one that is about to be */
} Mine;

static Mine mine[PLACES];
uint32		pfs_rebuilds_here = 0;

void
pfs_rebuilds_lay_out(PfsSegment *seg)
{
	shared = pfs_segment_take(seg, sizeof(PfsSharedRebuilds), PFS_CACHE_LINE);
}

/* ---- the process that rebuilds ---- */

static inline void
set_state(Place *place, PfsRebuildState state)
{
	pfs_store_release(&place->word, (place->word & ~STATE_MASK) | state);
}

/* Takes a place that has none, or one that has ended; NULL: all rebuilds go on. */
static Place *
take_place(void)
{
	uint32		first = pfs_add_relaxed(&shared->begun, 1);

	for (uint32 i = 0; i < PLACES; i++)
	{
		Place	   *place = &shared->places[(first + i) % PLACES];
		uint32		word = pfs_load_relaxed(&place->word);
		uint32		state = word & STATE_MASK;

		if ((state == PFS_REBUILD_NONE || state == PFS_REBUILD_ENDED) &&
			pfs_cas(&place->word, &word, ((word & ~STATE_MASK) + VERSION_INC) | PFS_REBUILD_FILLED_IN))
			return place;
	}
	return NULL;
}

/* Notes two indexes as one.  Where no place is left they stay two, and the new one begins with nothing. */
void
pfs_rebuild_begin(Oid database, Oid before, Oid after)
{
	Place	   *place = shared == NULL || pfs_sizes.indexes == 0 ? NULL : take_place();

	if (place == NULL)
		return;

	/*
	 * The version is seen before the OIDs: who has read one of these finds it
	 * changed.
	 */
	pfs_fence_release();
	pfs_store_relaxed(&place->database, database);
	pfs_store_relaxed(&place->before, before);
	pfs_store_relaxed(&place->after, after);
	pfs_add_seqcst(&shared->going_on, 1);
	set_state(place, PFS_REBUILD_GOES_ON);
	mine[pfs_rebuilds_here++] = (Mine)
	{
		.place = place - shared->places
	};
}

Oid
pfs_rebuild_new_index(uint32 i)
{
	return shared->places[mine[i].place].after;
}

void
pfs_rebuild_note_swap(uint32 i, bool swaps)
{
	mine[i].swaps = swaps;
}

/* Says for all processes what pfs_rebuild_note_swap() has noted for the transaction. */
void
pfs_rebuilds_committed(void)
{
	for (uint32 i = 0; i < pfs_rebuilds_here; i++)
	{
		if (mine[i].swaps && !mine[i].is_swapped)
		{
			mine[i].is_swapped = true;
			set_state(&shared->places[mine[i].place], PFS_REBUILD_SWAPPED);
		}
	}
}

/*
 * Ends one: its records get the OID of the index that has the role now.  Only then the two OIDs are two
 * indexes again, and only behind that processes forget which record they have found by which.
 */
static void
end(const Mine *rebuild)
{
	Place	   *place = &shared->places[rebuild->place];

	if (rebuild->is_swapped)
		pfs_rel_stat_hand_over(place->database, place->before, place->after);
	else
		pfs_rel_stat_hand_over(place->database, place->after, place->before);
	set_state(place, rebuild->is_swapped ? PFS_REBUILD_ENDED : PFS_REBUILD_NONE);
	pfs_rel_stats_handed_over();
	pfs_sub_seqcst(&shared->going_on, 1);
}

/* Ends the rebuild of an index that is dropped, if this process has one. */
void
pfs_rebuild_dropped(Oid index)
{
	for (uint32 i = 0; i < pfs_rebuilds_here; i++)
	{
		if (shared->places[mine[i].place].before == index)
		{
			end(&mine[i]);
			mine[i] = mine[--pfs_rebuilds_here];
			return;
		}
	}
}

void
pfs_rebuilds_end(void)
{
	while (pfs_rebuilds_here > 0)
		end(&mine[--pfs_rebuilds_here]);
}

/* ---- any process ---- */

/* Copies a place; its state is NONE where it is being filled in. */
static PfsRebuild
copy_place(const Place *place)
{
	uint32		word = pfs_load_acquire(&place->word);
	PfsRebuild	copy = {
		.state = word & STATE_MASK,
		.database = pfs_load_relaxed(&place->database),
		.before = pfs_load_relaxed(&place->before),
		.after = pfs_load_relaxed(&place->after),
	};

	pfs_fence_acquire();
	if (copy.state == PFS_REBUILD_FILLED_IN || (pfs_load_relaxed(&place->word) ^ word) >> STATE_BITS != 0)
		copy.state = PFS_REBUILD_NONE;
	return copy;
}

bool
pfs_rebuilds_were(void)
{
	return shared != NULL && pfs_load_relaxed(&shared->begun) != 0;
}

/* Looks for a rebuild that goes on by either of its indexes. */
bool
pfs_rebuild_find(Oid database, Oid index, PfsRebuild *copy)
{
	if (shared == NULL || pfs_load_acquire(&shared->going_on) == 0)
		return false;
	for (int i = 0; i < PLACES; i++)
	{
		*copy = copy_place(&shared->places[i]);
		if ((copy->state == PFS_REBUILD_GOES_ON || copy->state == PFS_REBUILD_SWAPPED) && copy->database == database &&
			(copy->before == index || copy->after == index))
			return true;
	}
	return false;
}

/* Looks for one that has ended, by the index that has gone. */
bool
pfs_rebuild_find_ended(Oid database, Oid before, PfsRebuild *copy)
{
	for (int i = 0; i < PLACES && pfs_rebuilds_were(); i++)
	{
		*copy = copy_place(&shared->places[i]);
		if (copy->state == PFS_REBUILD_ENDED && copy->database == database && copy->before == before)
			return true;
	}
	return false;
}

Oid
pfs_rebuild_other(Oid database, Oid index)
{
	PfsRebuild	copy;

	if (!pfs_rebuild_find(database, index, &copy))
		return InvalidOid;
	return copy.before == index ? copy.after : copy.before;
}

Oid
pfs_rebuild_owner(Oid database, Oid index)
{
	PfsRebuild	copy;

	if (pfs_rebuild_find(database, index, &copy))
		return copy.state == PFS_REBUILD_SWAPPED ? copy.after : copy.before;
	return index;
}
