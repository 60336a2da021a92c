/*
 * pfs_secret.h
 *	  Which statements can hold a password or a connection string, and where.
 */
#ifndef PFS_SECRET_H
#define PFS_SECRET_H

/* What stands for it. */
#define PFS_SECRET_TEXT "<hidden>"

/*
 * How much of a statement's text may be shown, -1: all of it.  The text is in an encoding of
 * a server, may be cut, and needs no terminator.  No allocation, no error: instrument points
 * use it, too.
 */
extern int	pfs_find_secret(const char *str, size_t len);

/* Of a terminated text; NULL has none. */
static inline bool
pfs_has_secret(const char *str)
{
	return str != NULL && pfs_find_secret(str, strlen(str)) >= 0;
}

#endif							/* PFS_SECRET_H */
