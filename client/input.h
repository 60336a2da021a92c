/*
 * input.h
 *	  Files that the program reads.
 */
#ifndef INPUT_H
#define INPUT_H

#include "buffer.h"

/*
 * Reads a file whole, or ends the program.  It has to be a regular file, whose size is known before it is
 * read, of at most so many bytes: a device or a pipe could go on for ever.  what: what it should be, for messages.
 */
extern void input_read_or_die(const char *file, const char *what, size_t most, Buffer *data);

#endif
