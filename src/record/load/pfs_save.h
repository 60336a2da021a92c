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

#include "pfs_save_record.h"

#define PFS_SAVE_FILE			"pg_stat_tmp/pfs.save"

/*
 * A section of the file: somebody's part of what is kept.  Each stands by itself: one that the
 * file has not, or that is damaged, costs what is in it.
 */
typedef struct PfsSaveSection
{
	/* Its name, records and fields.  What does not follow them is not used. */
	const PfsSaveFormat *format;

	/*
	 * Puts its records.  Called by the recorder, in no transaction and
	 * without a database, and by the postmaster when everybody else has
	 * ended.  May allocate, in a context that goes afterwards, and raise
	 * errors, which cost the save.
	 */
	void		(*write) (PfsSaveWriter *w);

	/*
	 * Uses records, all of which have been checked.  Postmaster, behind the
	 * start of all parts.  May allocate, as write.
	 */
	void		(*use) (PfsSaveRecords *r);
} PfsSaveSection;

/*
 * The sections, in the order in which they are written and used: waits and rows behind the
 * digests that they are of.
 */
#define PFS_SAVE_SECTIONS(X) \
	X(pfs_save_digests) \
	X(pfs_save_digest_waits) \
	X(pfs_save_digest_rows) \
	X(pfs_save_load) \
	X(pfs_save_load_texts) \
	X(pfs_save_plan_nodes)

#define PFS_SAVE_DECLARE(section) extern const PfsSaveSection section;

PFS_SAVE_SECTIONS(PFS_SAVE_DECLARE)

/* Takes the secret out of a text, which nobody may find in a file; palloc'd if it has one. */
extern void pfs_save_hide_secret(PfsText *string);

/*
 * Puts since when a table counts, as a record of pfs_save_reset_record, which has this place in the
 * format: in the section that has what it counts, so that both are read or neither.  Uses those of
 * a section, from this place on.
 */
extern void pfs_save_put_reset(PfsSaveWriter *w, const PfsSaveFormat *format, int kind, const char *table);
extern void pfs_save_use_resets(const PfsSaveRecords *records, int kind);

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
