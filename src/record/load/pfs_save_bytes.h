/*
 * pfs_save_bytes.h
 *	  The bytes of the file that survives a restart: a head, then named sections.
 *
 * Plain code without the server, so that a fuzz target and a plain program can read what
 * the server reads.
 *
 *	  head		PfsSaveHead
 *	  section	PfsSaveSectionHead, then its bytes; and so on up to the file's end
 *
 * The file's head, each section's head and each section's bytes have a checksum of their own:
 * damage costs the section that it is in.  The file's head is written last, so a file that was
 * not written to its end has none.  What the bytes of a section mean is pfs_save_record.h's.
 *
 * Separate from pfs_save.h, which knows when to write and to read, and from the sections,
 * which know what.
 */
#ifndef PFS_SAVE_BYTES_H
#define PFS_SAVE_BYTES_H

#include "pfs.h"

#define PFS_SAVE_MAGIC		"pfs save"	/* eight bytes, without its end */
#define PFS_SAVE_FORMAT		2	/* of heads; who raises it cannot be read by
								 * releases of before */
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
	uint32		crc;			/* of these bytes */
	uint32		head_crc;		/* of what comes before it */
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
	uint64		frequency;		/* of the timer by whose ticks records count */
	uint32		crc;			/* of the open section, up to ... */
	uint32		ncrc;			/* ... here in the buffer */
	uint32		nbuffered;
	char		buffer[65536];
} PfsSaveWriter;

extern void pfs_save_begin(PfsSaveWriter *w, int fd, uint64 frequency);
extern void pfs_save_begin_section(PfsSaveWriter *w, const char *name);
extern void pfs_save_put(PfsSaveWriter *w, const void *bytes, size_t n);
extern void pfs_save_end_section(PfsSaveWriter *w);

/* Writes the head; magic, format, length, nsections and crc are filled in.  False: see `error`. */
extern bool pfs_save_end(PfsSaveWriter *w, PfsSaveHead *head);

/* ---- reading ---- */

/* Bytes that are still to be read. */
typedef struct PfsSaveReader
{
	const char *at;
	const char *end;
} PfsSaveReader;

/* The next n bytes, not aligned; NULL: there are fewer, and nothing is left to be read. */
extern const void *pfs_save_get(PfsSaveReader *r, size_t n);

/* The same, copied to where they are wanted; false, and zeros, where there are fewer. */
extern bool pfs_save_get_into(PfsSaveReader *r, void *to, size_t n);

typedef enum PfsSaveVerdict
{
	PFS_SAVE_GOOD,
	PFS_SAVE_DAMAGED,
	PFS_SAVE_OTHER_FORMAT,		/* of a later version of pfs */
	PFS_SAVE_OTHER_SYSTEM,		/* of a server that this one is no
								 * continuation of */
} PfsSaveVerdict;

/*
 * Checks the head of a file, of which n bytes are there: as many as the head says, or all that
 * the file has.  *head is right if it is not damaged.
 */
extern PfsSaveVerdict pfs_save_check_head(const char *bytes, size_t n, uint64 system_identifier, uint32 major,
										  PfsSaveHead *head);

/* A section of a file. */
typedef struct PfsSaveFound
{
	char		name[PFS_SAVE_NAME_SIZE];	/* "": its head is damaged */
	PfsSaveReader bytes;
	const char *problem;		/* why it cannot be read; NULL: it is whole */
} PfsSaveFound;

/*
 * Leads to the next section of a file whose head is good; false: there are no more.  Between
 * calls file is where the next one should be: at first, behind the head.
 */
extern bool pfs_save_next_section(PfsSaveReader *file, PfsSaveFound *found);

#endif							/* PFS_SAVE_BYTES_H */
