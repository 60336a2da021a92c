/*
 * pfs_save_bytes.h
 *	  The bytes of the file that survives a restart: a head, then named sections.
 *
 * Plain code without the server, so that a fuzz target and a plain program can read what
 * the server reads.  The file is this machine's: numbers lie in it as in memory, unaligned.
 *
 *	  head		PfsSaveHead
 *	  section	PfsSaveSectionHead, then its bytes; and so on up to the file's end
 *
 * Each head has a checksum, which for a section is that of its bytes, too.  The file's head
 * is written last, so a file that was not written to its end has none.
 *
 * Separate from pfs_save.h, which knows when to write and to read, and from the sections,
 * which know what.
 */
#ifndef PFS_SAVE_BYTES_H
#define PFS_SAVE_BYTES_H

#include "pfs.h"

#define PFS_SAVE_MAGIC		"pfs save"	/* eight bytes, without its end */
#define PFS_SAVE_FORMAT		1
#define PFS_SAVE_NAME_SIZE	16

typedef struct PfsSaveHead
{
	char		magic[8];
	uint32		format;			/* PFS_SAVE_FORMAT */
	uint32		major;			/* of the server's version */
	uint64		system_identifier;
	int64		saved_at;		/* TimestampTz */
	uint64		length;			/* of the file */
	uint32		nsections;
	uint32		crc;			/* of what comes before it */
} PfsSaveHead;

typedef struct PfsSaveSectionHead
{
	char		name[PFS_SAVE_NAME_SIZE];	/* filled up with zeros */
	uint64		length;			/* of the bytes behind this head */
	uint32		version;		/* of their format */
	uint32		crc;			/* of these bytes and what comes before it */
} PfsSaveSectionHead;

/* ---- writing ---- */

/*
 * What is put is buffered.  The first call that fails is noted in `error`; those that follow
 * do nothing.
 */
typedef struct PfsSaveWriter
{
	int			fd;
	int			error;			/* errno; 0: none yet */
	uint64		length;			/* of all that was put */
	uint64		section_at;		/* where the head of the open section lies */
	PfsSaveSectionHead section;
	uint32		nsections;
	uint32		crc;			/* of the open section */
	uint32		nbuffered;
	char		buffer[65536];
} PfsSaveWriter;

extern void pfs_save_begin(PfsSaveWriter *w, int fd);
extern void pfs_save_begin_section(PfsSaveWriter *w, const char *name, uint32 version);
extern void pfs_save_put(PfsSaveWriter *w, const void *bytes, size_t n);
extern void pfs_save_end_section(PfsSaveWriter *w);

/* Writes the head; magic, format, length, nsections and crc are filled in.  False: see `error`. */
extern bool pfs_save_end(PfsSaveWriter *w, PfsSaveHead *head);

/* A length and so many bytes; a text has no zero byte. */
extern void pfs_save_put_text(PfsSaveWriter *w, const char *text, uint32 len);

/* ---- reading ---- */

/*
 * Bytes that are still to be read.  What would go beyond their end reads as zero, and sets
 * `failed`.
 */
typedef struct PfsSaveReader
{
	const char *at;
	const char *end;
	uint32		version;		/* of the section */
	uint32		nnames;			/* see pfs_save_skip_names() */
	const char *names;
	bool		failed;
} PfsSaveReader;

/* The next n bytes, not aligned; NULL: there are fewer. */
extern const void *pfs_save_get(PfsSaveReader *r, size_t n);

/* The same, copied to where they are wanted; zeros, where there are fewer. */
extern void pfs_save_get_into(PfsSaveReader *r, void *to, size_t n);

/* *len bytes, without end, none of them zero; NULL with 0: there are none.  More than max fails. */
extern const char *pfs_save_get_text(PfsSaveReader *r, uint32 max, uint32 *len);

/* Was everything read, and nothing that was not there? */
static inline bool
pfs_save_is_read(const PfsSaveReader *r)
{
	return !r->failed && r->at == r->end;
}

/*
 * Passes by the list of instruments' names that a section may begin with, how many and
 * then the texts, and notes where it is: what follows names them by number.
 */
extern void pfs_save_skip_names(PfsSaveReader *r);

/* ---- records ---- */

/*
 * A record on its way to the file, or from there.  One function goes through its fields for
 * both, so what is read is what was written.  What is read may be anything: what cannot be is
 * refused, and the reader has failed.
 */
typedef struct PfsSaveCodec
{
	PfsSaveWriter *to;			/* NULL: it is read */
	PfsSaveReader *from;		/* NULL: it is written */
} PfsSaveCodec;

typedef void (*PfsSaveFields) (PfsSaveCodec *c, void *record);

/* Fields.  True: it has been read, and the caller says what it cannot be. */
extern bool pfs_save_field(PfsSaveCodec *c, void *field, size_t n);
extern bool pfs_save_text_field(PfsSaveCodec *c, const char **text, uint32 *len, uint32 max);

/* A time that a timestamptz can show. */
extern void pfs_save_time_field(PfsSaveCodec *c, int64 *time);

extern void pfs_save_put_record(PfsSaveWriter *w, PfsSaveFields fields, void *record);

/* The next record of a section; false: it is none, or there are no more (pfs_save_is_read()). */
extern bool pfs_save_get_record(PfsSaveReader *r, PfsSaveFields fields, void *record);

/* Are there such records up to the section's end?  record: room for one. */
extern bool pfs_save_check_records(PfsSaveReader *r, PfsSaveFields fields, void *record);

/* ---- the file ---- */

typedef enum PfsSaveVerdict
{
	PFS_SAVE_GOOD,
	PFS_SAVE_DAMAGED,
	PFS_SAVE_OTHER_FORMAT,		/* of another version of pfs */
	PFS_SAVE_OTHER_SYSTEM,		/* of a server that this one is no
								 * continuation of */
} PfsSaveVerdict;

/* Checks heads and checksums of a whole file.  *head is right if it is not damaged. */
extern PfsSaveVerdict pfs_save_check_file(const char *bytes, size_t n, uint64 system_identifier, uint32 major,
										  PfsSaveHead *head);

/* Of a file that is good: the section of this name; false: there is none. */
extern bool pfs_save_find_section(const char *bytes, size_t n, const char *name, PfsSaveReader *r);

#endif							/* PFS_SAVE_BYTES_H */
