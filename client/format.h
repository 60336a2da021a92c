/*
 * format.h
 *	  Numbers as people read them.
 *
 * The results lie in one of a few static buffers of the thread, which later calls use
 * again: print or copy them.
 */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdint.h>

extern const char *format_time(double picoseconds); /* 1.23 ms, as
													 * pfs.format_time() */
extern const char *format_bytes(double bytes);	/* 4.0 MiB, as
												 * pfs_sys.format_bytes() */
extern const char *format_count(double number); /* 12345, 1.23 M */
extern const char *format_percent(double fraction); /* of 0.125: 12.5 % */

#endif
