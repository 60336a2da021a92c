/*
 * number.h
 *	  Whole numbers as wide as those of the server: sums of picoseconds go beyond 64 bits.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>

#include "buffer.h"

__extension__ typedef __int128 Number;

/*
 * Reads a whole number, also one with a sign.  More than 28 digits are no number: sums of
 * ten thousand millions of those that are taken do not overflow.
 */
extern bool parse_number(const char *text, Number *number);
extern void buffer_number(Buffer *buffer, Number number);

#endif
