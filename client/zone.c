/*
 * zone.c
 *	  The time zone in which the program shows times: the connection's TimeZone.
 */
#include "zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The largest offset of PostgreSQL's zones is less. */
#define MOST_OFFSET (24 * 3600)

/* Looks at each day of ten years, and in those in which the offset has changed at each quarter of an hour. */
const char	zone_query[] =
"WITH days AS (SELECT t, o, lag(o) OVER (ORDER BY t) AS before FROM ("
" SELECT t, extract(timezone FROM t)::int AS o"
" FROM generate_series(now() - interval '87600 hours', now() + interval '48 hours', interval '24 hours') t) d)"
" SELECT current_setting('TimeZone') || string_agg(' ' || CASE WHEN before IS NULL THEN 0 ELSE ("
"  SELECT min(extract(epoch FROM x))::bigint"
"  FROM generate_series(date_trunc('hour', t - interval '24 hours'), t, interval '15 minutes') x"
"  WHERE extract(timezone FROM x) = o AND x > t - interval '24 hours') END || ':' || o, '' ORDER BY t)"
" FROM days WHERE o IS DISTINCT FROM before";

/* The name, then "since:offset" for each change. */
void
zone_parse(Zone *zone, const char *text)
{
	size_t		length = text ? strcspn(text, " ") : 0;
	const char *at = text ? text + length : "";

	memset(zone, 0, sizeof(*zone));
	while (*at == ' ' && zone->num_changes < ZONE_MOST_CHANGES)
	{
		char	   *end;
		long long	since = strtoll(at, &end, 10);
		long		offset = *end == ':' ? strtol(end + 1, &end, 10) : MOST_OFFSET;

		if ((*end != ' ' && *end != '\0') || offset <= -MOST_OFFSET || offset >= MOST_OFFSET)
			break;
		zone->changes[zone->num_changes++] = (ZoneChange)
		{
			since, (int) offset
		};
		at = end;
	}
	/* Half of it would be another zone. */
	if (*at != '\0' || length == 0 || length >= sizeof(zone->name) || zone->num_changes == 0)
	{
		zone->num_changes = 0;
		strcpy(zone->name, "UTC");
		return;
	}
	memcpy(zone->name, text, length);
}

int
zone_offset(const Zone *zone, int64_t seconds)
{
	int			offset = zone->num_changes > 0 ? zone->changes[0].offset : 0;

	for (int i = 1; i < zone->num_changes && zone->changes[i].since <= seconds; i++)
		offset = zone->changes[i].offset;
	return offset;
}

const char *
time_text(const Zone *zone, int64_t time, char *buffer)
{
	time_t		seconds = time / 1000000;
	struct tm	parts;

	seconds += zone_offset(zone, seconds);
	if (gmtime_r(&seconds, &parts) == NULL || strftime(buffer, TIME_TEXT, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		snprintf(buffer, TIME_TEXT, "%lld us", (long long) time);
	return buffer;
}
