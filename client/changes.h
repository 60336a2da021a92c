/*
 * changes.h
 *	  A reading made of an earlier one and of the rows that have changed since.
 */
#ifndef CHANGES_H
#define CHANGES_H

#include "reading.h"

/*
 * Returns a reading of a screen that has "changes", made from an earlier one of the same connection and screen.
 * NULL: the server has a problem, or, where it has none, the whole is to be read: by reading_take().
 */
extern Reading *reading_take_changes(Server *server, const Screen *screen, const Reading *before);

#endif
