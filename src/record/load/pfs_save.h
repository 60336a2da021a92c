/*
 * pfs_save.h
 *	  What survives a restart: when it is written and read, and the list of what is in it.
 *
 * One file in pg_stat_tmp of the data directory, which base backups leave out.  The
 * recorder writes it every pfs.save_interval, the postmaster at a clean stop; the
 * postmaster reads it at the start, after a crash, too, and leaves it there.
 */
#ifndef PFS_SAVE_H
#define PFS_SAVE_H

#include "pfs_save_bytes.h"

#define PFS_SAVE_FILE			"pg_stat_tmp/pfs.save"

/*
 * A section of the file: somebody's part of what is kept.  A file without it, or with others,
 * is read all the same: of an older release, or a newer one.
 */
typedef struct PfsSaveSection
{
	const char *name;			/* less than PFS_SAVE_NAME_SIZE bytes */
	uint32		version;		/* of its format: a file with another one is
								 * not used */

	/*
	 * Puts its bytes.  Called by the recorder, in no transaction and without
	 * a database, and by the postmaster when everybody else has ended.  May
	 * allocate, in a context that goes afterwards, and raise errors, which
	 * cost the save.
	 */
	void		(*write) (PfsSaveWriter *w);

	/*
	 * Reads all of the section, which may be anything, and uses nothing: what
	 * it calls is plain code.  False: it cannot be a section of this version.
	 * All sections are checked before any is used.
	 */
	bool		(*check) (PfsSaveReader *r);

	/*
	 * Uses what has been checked.  Postmaster, behind the start of all parts.
	 * May allocate, as write.
	 */
	void		(*use) (PfsSaveReader *r, const PfsSaveHead *head);
} PfsSaveSection;

/* The sections, in the order in which they are written and used: waits and rows behind the digests that they are of. */
#define PFS_SAVE_SECTIONS(X) \
	X(pfs_save_digests) \
	X(pfs_save_digest_waits) \
	X(pfs_save_digest_rows) \
	X(pfs_save_resets) \
	X(pfs_save_load) \
	X(pfs_save_load_texts)

#define PFS_SAVE_DECLARE(section) extern const PfsSaveSection section;

PFS_SAVE_SECTIONS(PFS_SAVE_DECLARE)

/* Takes the secret out of a text, which nobody may find in a file; palloc'd if it has one. */
extern void pfs_save_hide_secret(const char **text, uint32 *len);

/* Postmaster, start-up hook: reads the file, and asks to be called at a clean stop. */
extern void pfs_save_start(void);

/*
 * The recorder: saves if that is due, or asked for.  Returns the milliseconds until it is due again; -1:
 * never.
 */
extern long pfs_save_tick(void);

/* Saves now, in the recorder, or in a test; false: it could not. */
extern bool pfs_save_now(void);

#endif							/* PFS_SAVE_H */
