/*
 * pfs_save_sections.h
 *	  The list of sections of the file, in the order in which they are written and used.
 */
#ifndef PFS_SAVE_SECTIONS_H
#define PFS_SAVE_SECTIONS_H

#include "pfs_save.h"

/* Waits and rows behind the digests that they are of. */
#define PFS_SAVE_SECTIONS(X) \
	X(pfs_save_digests) \
	X(pfs_save_digest_waits) \
	X(pfs_save_digest_rows) \
	X(pfs_save_resets) \
	X(pfs_save_load) \
	X(pfs_save_load_texts)

/* Takes the secret out of a text, which nobody may find in a file; palloc'd if it has one. */
extern void pfs_save_hide_secret(const char **text, uint32 *len);

#define PFS_SAVE_DECLARE(section) extern const PfsSaveSection section;

PFS_SAVE_SECTIONS(PFS_SAVE_DECLARE)

#endif							/* PFS_SAVE_SECTIONS_H */
