/*
 * pfs_quote.h
 *	  What a user gave, as messages quote it.
 */
#ifndef PFS_QUOTE_H
#define PFS_QUOTE_H

/*
 * Returns a text for a message, palloc'd: whole, or its beginning and "..." where it is longer than a
 * message should be.  What users give can have any length, and a message goes to the client
 * and to the server's log.
 */
extern char *pfs_quote(const char *text);

/* The same of a text that is not terminated. */
extern char *pfs_quote_length(const char *text, size_t length);

#endif							/* PFS_QUOTE_H */
