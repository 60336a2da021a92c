/*
 * pfs_clock_source.c
 *	  Does the kernel trust the processor's cycle counter?
 *
 * A processor can promise that its counter is constant and still have processors whose
 * counters differ: firmware that sets one of them back, a virtual machine that moved.
 * The kernel watches the counter, and from the moment when it has found it wrong the
 * counter is not among the clock sources that it offers.  Which one of them is
 * current says less: a guest that uses kvm-clock, or an administrator who chose
 * another, can have a counter that the kernel finds nothing wrong with.
 *
 * Separate from pfs_clock.c because it needs nothing of the server, so that a test can
 * compile it.
 */
#include "pfs_clock_source.h"

#include <stdio.h>
#include <string.h>

/*
 * Reads the list of the folder.  Where there is none (a container without /sys) nothing
 * is known, and the processor is believed.
 */
bool
pfs_clock_source_is_trusted(const char *folder)
{
	char		path[256];
	char		list[1024];
	FILE	   *file;
	bool		known;

	snprintf(path, sizeof(path), "%s/available_clocksource", folder);
	file = fopen(path, "r");
	if (file == NULL)
		return true;
	known = fgets(list, sizeof(list), file) != NULL;
	fclose(file);
	if (!known)
		return true;
	for (char *rest = list, *word; (word = strtok_r(rest, " \t\n", &rest)) != NULL;)
	{
		if (strcmp(word, "tsc") == 0)
			return true;
	}
	return false;
}
