/*
 * pfs_chunk_places.c
 *	  Arrays of places from private memory: small ones from areas, by lists of
 *	  those that were put back, and big ones from the system.
 */
#include "postgres.h"

#include "pfs_atomic.h"
#include "pfs_chunk_places.h"
#include "pfs_private.h"

/* Arrays of up to a page; an area has sixteen of the biggest. */
#define SMALL_BITS 9
#define AREA_SIZE (64 * 1024)

typedef struct Area
{
	struct Area *next;
} __attribute__((aligned(PFS_CACHE_LINE))) Area;

static Area *areas;				/* the newest one has free memory at its end */
static size_t area_used;
static const void **put_back[SMALL_BITS + 1];	/* by bits; the first place
												 * leads to the next array */

static inline size_t
size_of(uint32 bits)
{
	return sizeof(void *) << bits;
}

/*
 * Maps a new area.  What is left of the present one is too small for the array that is
 * wanted: it is given up.
 */
static bool
add_area(void)
{
	Area	   *area = pfs_private_map(AREA_SIZE, false);

	if (area == NULL)
		return false;
	area->next = areas;
	areas = area;
	area_used = sizeof(Area);
	return true;
}

/*
 * Returns an array of 2^bits places, all NULL: one that was put back, or a piece of the
 * present area, or for more than a page's worth memory of its own.  All pages of a big
 * array are mapped at once: they are used soon, and each would be faulted in twice, as
 * a place is read before it is written.
 */
const void **
pfs_places_get(uint32 bits)
{
	const void **places;

	if (bits > SMALL_BITS)
		return pfs_private_map(size_of(bits), true);
	places = put_back[bits];
	if (places != NULL)
	{
		put_back[bits] = (const void **) unconstify(void *, places[0]);
		places[0] = NULL;
		return places;
	}
	if ((areas == NULL || area_used + size_of(bits) > AREA_SIZE) && !add_area())
		return NULL;
	places = (const void **) ((char *) areas + area_used);
	area_used += size_of(bits);
	return places;
}

/*
 * Takes an array back: a small one is cleared for its next user and linked by its first
 * place, a big one is unmapped.
 */
void
pfs_places_put(const void **places, uint32 bits)
{
	if (bits > SMALL_BITS)
	{
		pfs_private_unmap(places, size_of(bits));
		return;
	}
	memset(places, 0, size_of(bits));
	places[0] = put_back[bits];
	put_back[bits] = places;
}

/* Unmaps all areas, and with them the small arrays, also those in use. */
void
pfs_places_stop(void)
{
	while (areas != NULL)
	{
		Area	   *next = areas->next;

		pfs_private_unmap(areas, AREA_SIZE);
		areas = next;
	}
	memset(put_back, 0, sizeof(put_back));
}
