/*
 * pfs_quote.c
 *	  What a user gave, as messages quote it.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "pfs_quote.h"

/* Longer than every name that is right, as these are what messages quote most. */
#define QUOTED_MAX 128

char *
pfs_quote_length(const char *text, size_t length)
{
	bool		whole = length <= QUOTED_MAX;

	return psprintf(whole ? "%.*s" : "%.*s...", whole ? (int) length : pg_mbcliplen(text, QUOTED_MAX + 1, QUOTED_MAX), text);
}

char *
pfs_quote(const char *text)
{
	return pfs_quote_length(text, strlen(text));
}
