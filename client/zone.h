/*
 * zone.h
 *	  The time zone in which the program shows times: the connection's TimeZone.
 *
 * The server says when its clocks are changed, so that the program shows what the server does, whatever zones
 * the program's machine knows, and a snapshot shows the same wherever it is read.
 */
#ifndef ZONE_H
#define ZONE_H

#include <stdint.h>

/* Two changes a year for ten years, and more of zones that change more often. */
#define ZONE_MOST_CHANGES 64

typedef struct ZoneChange
{
	int64_t		since;			/* seconds since 1970 */
	int			offset;			/* seconds east of UTC from then on */
} ZoneChange;

typedef struct Zone
{
	char		name[64];
	int			num_changes;
	ZoneChange	changes[ZONE_MOST_CHANGES]; /* in the order of time; what was
											 * before the first has its
											 * offset, too */
} Zone;

/* Returns one text: the zone of the connection with the changes of ten years, as zone_parse() reads it. */
extern const char zone_query[];

/* Reads such a text, which may come from anywhere: UTC where it is NULL or none. */
extern void zone_parse(Zone *zone, const char *text);

/* Seconds east of UTC at a time, in seconds since 1970. */
extern int	zone_offset(const Zone *zone, int64_t seconds);

/* "2026-11-24 18:23:19" of microseconds since 1970, in a buffer of the caller. */
#define TIME_TEXT 40
extern const char *time_text(const Zone *zone, int64_t time, char *buffer);

#endif
