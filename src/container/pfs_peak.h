/*
 * pfs_peak.h
 *	  The largest value that was added since each of several open spans began, in
 *	  private memory of one process.
 *
 * Spans begin one after the other and end in any order.  The largest value since a
 * span began is at least that of every span that began later, so it falls along the
 * open spans from the oldest to the newest.  The array keeps only where it falls:
 * an entry is the newest span that a value still counts for, and the value.  Both
 * are strictly ordered, spans rising and values falling, so a span's value is the first
 * entry at or behind it, which is found by binary search.
 *
 * A value removes the smaller ones at the array's end, each of them once.  Entries
 * to which no open span leads are left by spans that ended in the middle; they are removed
 * when the array is full, and it grows if that leaves more than half of it.  So n spans
 * cost O(n log n), in whatever order they end.
 *
 * None of this may be called by a signal handler.
 */
#ifndef PFS_PEAK_H
#define PFS_PEAK_H

#include <stddef.h>
#include <stdint.h>

/* An open span: a field of what is open. */
typedef struct PfsSpan
{
	struct PfsSpan *older;
	struct PfsSpan *newer;
	uint64_t	number;			/* they count up in the order of their begins */
} PfsSpan;

typedef struct PfsPeak
{
	uint64_t	number;			/* of the newest span that it counts for */
	uint64_t	value;
} PfsPeak;

#define PFS_PEAKS_FIRST 16

/*
 * Zeroes: no span is open.  The first entries lie in the struct, so that a few spans
 * need no other memory.
 */
typedef struct PfsPeaks
{
	PfsSpan    *newest;			/* NULL: none is open */
	uint64_t	last_number;
	PfsPeak    *mapped;			/* NULL: the entries are those of the struct */
	uint32_t	mapped_size;
	uint32_t	used;
	PfsPeak		first[PFS_PEAKS_FIRST];
} PfsPeaks;

extern void pfs_span_begin(PfsPeaks *peaks, PfsSpan *span);

/*
 * Adds a value to all open spans; without any it does nothing.  May call the system.
 * Where that gives no memory, the newest spans share an entry with older ones, and
 * their value can be one from before they began.
 */
extern void pfs_peaks_add(PfsPeaks *peaks, uint64_t value);

/* Ends an open span: the largest value that was added since it began; 0: none was. */
extern uint64_t pfs_span_end(PfsPeaks *peaks, PfsSpan *span);

#endif							/* PFS_PEAK_H */
