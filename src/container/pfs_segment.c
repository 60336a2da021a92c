/*
 * pfs_segment.c
 *	  Carving the shared block: arithmetic only, nothing is touched.
 */
#include "pfs_segment.h"

static size_t
align_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Takes the next part of the segment; NULL in the pass that only adds up sizes. */
void *
pfs_segment_take(PfsSegment *seg, size_t size, size_t align)
{
	size_t		at;

	/*
	 * Every part starts on a multiple of its alignment, counted from base,
	 * and base is on a cache line.  Above that, the distance to the next
	 * multiple is known in the real pass only, so both passes pay for the
	 * longest one.
	 */
	at = align_up(seg->used, align < PFS_CACHE_LINE ? align : PFS_CACHE_LINE);
	seg->used = at + size;
	if (align > PFS_CACHE_LINE)
		seg->used += align;
	if (seg->base == NULL)
		return NULL;
	return (char *) align_up((uintptr_t) seg->base + at, align);
}
