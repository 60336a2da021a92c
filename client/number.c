/*
 * number.c
 *	  Whole numbers as wide as those of the server.
 */
#include "number.h"

#define MAX_DIGITS 28

/* Takes digits after a sign, and nothing else. */
bool
parse_number(const char *text, Number *number)
{
	bool		negative = *text == '-';
	const char *p = text + negative;
	Number		value = 0;

	if (*p == '\0')
		return false;
	for (const char *first = p; *p; p++)
	{
		if (*p < '0' || *p > '9' || p - first >= MAX_DIGITS)
			return false;
		value = value * 10 + (*p - '0');
	}
	*number = negative ? -value : value;
	return true;
}

/* Adds the number in decimal; printf() has no format for it. */
void
buffer_number(Buffer *buffer, Number number)
{
	char		digits[48];
	char	   *p = digits + sizeof(digits);
	bool		negative = number < 0;

	*--p = '\0';
	do
	{
		int			digit = number % 10;

		*--p = '0' + (digit < 0 ? -digit : digit);
		number /= 10;
	} while (number != 0);
	if (negative)
		*--p = '-';
	buffer_add_string(buffer, p);
}
