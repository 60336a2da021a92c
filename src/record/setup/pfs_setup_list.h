/*
 * pfs_setup_list.h
 *	  The texts of pfs.instruments and pfs.consumers: 'pattern=value, ...'.
 */
#ifndef PFS_SETUP_LIST_H
#define PFS_SETUP_LIST_H

typedef enum PfsListValue
{
	PFS_LIST_NONE,				/* no pattern matches */
	PFS_LIST_OFF,
	PFS_LIST_ON,				/* enabled and timed */
	PFS_LIST_COUNTED,			/* enabled, not timed */
} PfsListValue;

/*
 * What one word means: on, yes, true, 1; off, no, false, 0; counted; in any letter case.
 * PFS_LIST_NONE: it is none of these.
 */
extern PfsListValue pfs_list_word(const char *word, size_t length);

/*
 * What the text says of a name: the longest matching pattern, among equals the
 * last one.  Malformed entries are passed over.  No allocation, any context.
 */
extern PfsListValue pfs_list_value(const char *list, const char *name);

/* The pattern of the entry at *list, which is moved behind it; false at the end. */
extern bool pfs_list_next_pattern(const char **list, char *pattern, size_t size);

#endif							/* PFS_SETUP_LIST_H */
