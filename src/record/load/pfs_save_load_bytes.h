/*
 * pfs_save_load_bytes.h
 *	  How the load history lies in the file.
 *
 * Plain code, as pfs_save_bytes.h.  A period lies there as in memory (pfs_load_code.h), but
 * that the number of an event is its place in a list of names, and that of a class its
 * place in another one, both at the section's begin.
 */
#ifndef PFS_SAVE_LOAD_BYTES_H
#define PFS_SAVE_LOAD_BYTES_H

#include "pfs_load_code.h"
#include "pfs_save_bytes.h"

#define PFS_SAVE_LOAD_VERSION	1
#define PFS_SAVE_TEXTS_VERSION	1

/* Rings that a file can have; and what a text can be long. */
#define PFS_SAVE_RINGS	3
#define PFS_SAVE_LOAD_TEXT_MAX	(PFS_TEXT_LENGTH_MAX + 64)

/* What periods name by number beside instruments. */
typedef struct PfsSavedClasses
{
	uint8		n;
	uint8		classes[PFS_NUM_LOAD_CLASSES];	/* of this server, by the
												 * file's number */
} PfsSavedClasses;

/*
 * The list of classes, and behind it that of names, before all periods.  False: they cannot be
 * such; classes all have to be known.
 */
extern void pfs_save_put_classes(PfsSaveWriter *w);
extern bool pfs_save_get_load_names(PfsSaveReader *r, PfsSavedClasses *classes);

extern void pfs_save_put_period(PfsSaveWriter *w, uint8 ring, const PfsLoadBytes *bytes, uint32 nbytes);

/*
 * The next period; rows: [PFS_LOAD_ROWS_MAX], with events by the file's numbers.  False: it
 * is none, or there are no more (pfs_save_is_read()).
 */
extern bool pfs_save_get_period(PfsSaveReader *r, const PfsSavedClasses *classes, uint8 *ring,
								PfsLoadHead *head, PfsLoadRow *rows);

/* A statement's text. */
typedef struct PfsSavedText
{
	PfsLoadTextKey key;
	const char *text;
	uint32		len;
} PfsSavedText;

/* Its fields (PfsSaveFields). */
extern void pfs_save_load_text_fields(PfsSaveCodec *c, void *text);

/* Whole sections: can they be what they say? */
extern bool pfs_save_check_load(PfsSaveReader *r);
extern bool pfs_save_check_load_texts(PfsSaveReader *r);

#endif							/* PFS_SAVE_LOAD_BYTES_H */
