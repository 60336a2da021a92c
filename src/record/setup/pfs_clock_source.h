/*
 * pfs_clock_source.h
 *	  Does the kernel trust the processor's cycle counter?
 */
#ifndef PFS_CLOCK_SOURCE_H
#define PFS_CLOCK_SOURCE_H

#include <stdbool.h>

#define PFS_CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0"

/* folder: PFS_CLOCK_SOURCES, or what a test puts in its place. */
extern bool pfs_clock_source_is_trusted(const char *folder);

#endif							/* PFS_CLOCK_SOURCE_H */
