/*
 * recording.h
 *	  What a server does not record at this moment, of what a screen needs.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include "screen.h"

/*
 * Returns a line for each switch that is off and that the screen needs, with what is missing by
 * that and what switches it on; an empty one where nothing is missing, or cannot be asked.  The
 * lines end with newlines; the text is to be freed.
 */
extern char *recording_lacks(Server *server, const Screen *screen);

#endif
