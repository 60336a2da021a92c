/*
 * pfs_peak.c
 *	  The largest value that was added since each of several open spans began.
 */
#include <string.h>

#include "pfs_peak.h"
#include "pfs_private.h"

#define FIRST_MAPPED 256		/* entries: one page */

static inline PfsPeak *
entries_of(PfsPeaks *peaks)
{
	return peaks->mapped != NULL ? peaks->mapped : peaks->first;
}

static inline uint32_t
size_of(const PfsPeaks *peaks)
{
	return peaks->mapped != NULL ? peaks->mapped_size : PFS_PEAKS_FIRST;
}

void
pfs_span_begin(PfsPeaks *peaks, PfsSpan *span)
{
	span->number = ++peaks->last_number;
	span->newer = NULL;
	span->older = peaks->newest;
	if (span->older != NULL)
		span->older->newer = span;
	peaks->newest = span;
}

/* Removes the entries to which no open span leads. */
static void
remove_unused(PfsPeaks *peaks)
{
	PfsPeak    *entries = entries_of(peaks);
	const PfsSpan *span = peaks->newest;
	uint32_t	to = peaks->used;

	for (uint32_t i = peaks->used; i > 0 && span != NULL; i--)
	{
		uint64_t	before = i > 1 ? entries[i - 2].number : 0;

		if (span->number <= before)
			continue;
		entries[--to] = entries[i - 1];
		while (span != NULL && span->number > before)
			span = span->older;
	}
	peaks->used -= to;
	memmove(entries, entries + to, peaks->used * sizeof(PfsPeak));
}

static void
unmap(PfsPeaks *peaks)
{
	pfs_private_unmap(peaks->mapped, peaks->mapped_size * sizeof(PfsPeak));
	peaks->mapped = NULL;
}

/* More entries, if the system has memory for them. */
static void
grow(PfsPeaks *peaks)
{
	uint32_t	size = peaks->mapped == NULL ? FIRST_MAPPED : peaks->mapped_size * 2;
	PfsPeak    *mapped = pfs_private_map(size * sizeof(PfsPeak), false);

	if (mapped == NULL)
		return;
	memcpy(mapped, entries_of(peaks), peaks->used * sizeof(PfsPeak));
	unmap(peaks);
	peaks->mapped = mapped;
	peaks->mapped_size = size;
}

/*
 * Adds a value: it replaces the smaller ones at the end of the array, for it is newer and
 * counts for every span that they counted for.
 */
void
pfs_peaks_add(PfsPeaks *peaks, uint64_t value)
{
	PfsPeak    *entries = entries_of(peaks);
	uint64_t	number;

	if (peaks->newest == NULL)
		return;
	number = peaks->newest->number;
	while (peaks->used > 0 && entries[peaks->used - 1].value <= value)
		peaks->used--;
	/* The newest span has had a larger one. */
	if (peaks->used > 0 && entries[peaks->used - 1].number == number)
		return;
	if (peaks->used == size_of(peaks))
	{
		remove_unused(peaks);
		if (peaks->used > size_of(peaks) / 2)
			grow(peaks);
		entries = entries_of(peaks);
	}
	/* Without room the newest one counts for the entry before. */
	if (peaks->used < size_of(peaks))
		entries[peaks->used++].value = value;
	entries[peaks->used - 1].number = number;
}

/*
 * The newest span has ended.  Of the values that were added while it was the newest
 * one, those that are older need only the largest.
 */
static void
end_newest(PfsPeaks *peaks)
{
	PfsPeak    *entries = entries_of(peaks);
	uint64_t	number = peaks->newest == NULL ? 0 : peaks->newest->number;
	uint32_t	used = peaks->used;

	while (used > 0 && entries[used - 1].number > number)
		used--;
	if (used < peaks->used && number != 0 && (used == 0 || entries[used - 1].number < number))
		entries[used++].number = number;
	peaks->used = used;
	if (number == 0 && peaks->mapped != NULL)
		unmap(peaks);
}

/* The first entry whose number is not below this one; there can be none. */
static uint32_t
find(PfsPeaks *peaks, uint64_t number)
{
	const PfsPeak *entries = entries_of(peaks);
	uint32_t	low = 0;
	uint32_t	high = peaks->used;

	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (entries[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Ends a span; only the end of the newest one changes the array. */
uint64_t
pfs_span_end(PfsPeaks *peaks, PfsSpan *span)
{
	uint32_t	at = find(peaks, span->number);
	uint64_t	value = at < peaks->used ? entries_of(peaks)[at].value : 0;

	if (span->older != NULL)
		span->older->newer = span->newer;
	if (span->newer != NULL)
		span->newer->older = span->older;
	else
	{
		peaks->newest = span->older;
		end_newest(peaks);
	}
	return value;
}
