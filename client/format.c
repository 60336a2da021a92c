/*
 * format.c
 *	  Numbers as people read them.
 */
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char *
next_buffer(void)
{
	static __thread char buffers[16][48];
	static __thread unsigned next;

	return buffers[next++ % 16];
}

/* A time in the largest unit that leaves at least one whole; compares what will be printed. */
const char *
format_time(double picoseconds)
{
	static const struct
	{
		const char *name;
		double		ps;
	}			units[] =
	{
		{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12},
		{"min", 60e12}, {"h", 3600e12}, {"d", 86400e12},
	};
	const int	last = sizeof(units) / sizeof(units[0]) - 1;
	char	   *text = next_buffer();
	int			unit = 0;

	for (; unit < last; unit++)
	{
		double		digits = unit == 0 ? 1 : 100;

		if (rint(fabs(picoseconds) / units[unit].ps * digits) / digits < units[unit + 1].ps / units[unit].ps)
			break;
	}
	snprintf(text, 48, unit == 0 ? "%.0f %s" : "%.2f %s", picoseconds / units[unit].ps, units[unit].name);
	return text;
}

/* Bytes in the largest unit that leaves at least one whole. */
const char *
format_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	char	   *text = next_buffer();
	int			unit = 0;

	while (unit < 6 && fabs(bytes) >= (unit == 0 ? 1024 : 1023.95))
	{
		bytes /= 1024;
		unit++;
	}
	snprintf(text, 48, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
	return text;
}

/* A number with its digits up to 99,999, with three of them above. */
const char *
format_count(double number)
{
	static const char *const units[] = {"", " k", " M", " G", " T", " P"};
	char	   *text = next_buffer();
	int			unit = 0;

	/* Small ones are exact. */
	if (fabs(number) < 99999.5)
	{
		snprintf(text, 48, "%.0f", number);
		return text;
	}
	while (unit < 5 && fabs(number) >= 999.5)
	{
		number /= 1000;
		unit++;
	}
	snprintf(text, 48, fabs(number) >= 99.95 ? "%.0f%s" : fabs(number) >= 9.995 ? "%.1f%s" : "%.2f%s", number, units[unit]);
	return text;
}

const char *
format_percent(double fraction)
{
	char	   *text = next_buffer();

	snprintf(text, 48, "%.1f %%", fraction * 100);
	return text;
}

/* A bar of "#"; what is above zero has at least one. */
const char *
format_bar(double fraction, int width)
{
	char	   *text = next_buffer();
	int			n = (int) ceil(fraction * width);

	n = n < 0 ? 0 : n > width ? width : n;
	n = n > 40 ? 40 : n;
	memset(text, '#', n);
	text[n] = '\0';
	return text;
}
