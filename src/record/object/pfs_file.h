/*
 * pfs_file.h
 *	  File instances: one record per path that the server has opened, found by
 *	  descriptor on the hot path and by path elsewhere.
 *
 * Separate from pfs_fd.h, the table of descriptors, which is the process's own and the only
 * part of this that the hot path looks at.
 */
#ifndef PFS_FILE_H
#define PFS_FILE_H

#include "pfs.h"
#include "pfs_file_kind.h"
#include "pfs_pages.h"
#include "pfs_seqlock.h"

#define PFS_FILE_INLINE_NAME 96

/*
 * In shared memory.  Name and kind never change while it is ALLOCATED.  A
 * removed file's record stays for a while as a tombstone (DIRTY, same version,
 * `gone` set), so that events in the histories keep their file's name, and its
 * sums stay with it.
 */
typedef struct PfsFile
{
	uint64		hash;			/* of the name */
	uint32		open_count;		/* descriptors that processes hold; atomic */
	uint32		long_name;		/* index of a long-name record, or
								 * PFS_NO_RECORD */
	uint32		sums;			/* index + 1 of the newest of its sums; 0:
								 * none; atomic */
	uint32		next_to_free;	/* index + 1 of the next one that waits to be
								 * freed */
	uint16		first_event;	/* instrument + 1 of the first event; 0: none
								 * yet; atomic */
	uint16		name_length;
	uint8		gone;			/* a tombstone */
	uint8		kind;			/* PfsFileKind */
	bool		outside;		/* of the data directory */
	char		name[PFS_FILE_INLINE_NAME]; /* below the data directory;
											 * terminated */
} PfsFile;

/* Tombstones that are kept, at most; a smaller container keeps a quarter of its records. */
#define PFS_FILE_TOMBSTONES 256

typedef struct PfsSharedFiles
{
	uint64		buried;			/* tombstones made so far; atomic */
	uint32		to_free;		/* index + 1 of removed files that are no
								 * tombstones any more; atomic */
	uint32		tombstones[PFS_FILE_TOMBSTONES];	/* record index + 1;
													 * atomic */
} PfsSharedFiles;

struct PfsHash;

extern PfsPages *pfs_files;
extern PfsPages *pfs_file_names;	/* names longer than PFS_FILE_INLINE_NAME */
extern struct PfsHash *pfs_file_index;
extern PfsSharedFiles *pfs_shared_files;

/* Postmaster: takes the containers; in the data directory: where it and pg_wal really are. */
extern void pfs_files_lay_out(PfsSegment *seg);
extern void pfs_file_start(void);

/* An absolute path into a tablespace, which pg_tblspc leads to by a link. */
extern bool pfs_file_is_tablespace_path(const char *path);

/*
 * The canonical name of a path as the server passes it or the system shows it:
 * below the data directory if it lies there, cut at the front when longer than
 * PFS_FILE_NAME_SIZE - 1.  Returns buf or a part of path.
 */
extern const char *pfs_file_canonical(const char *path, char *buf);
extern PfsFileKind pfs_file_kind(const char *canonical);

/* A file that was looked for by its path. */
typedef struct PfsFileFound
{
	PfsFileKind kind;
	uint32		index;			/* of its instance, or PFS_NO_RECORD */
	uint64		word;			/* the instance's state word */
} PfsFileFound;

/* Find or make the instance.  PFS_NO_RECORD when there is no room. */
extern uint32 pfs_file_open(const char *canonical, uint64 *word);

/* Removes the instance of a path, if any, after its unlink or rename. */
extern void pfs_file_removed(const char *path);

/*
 * Nobody has an instance open any more.  Of a file outside of the data directory nobody tells when
 * it goes: so none stays in a container that is half full.  Outside of write sections; a signal
 * handler that has interrupted one leaves the instance.
 */
extern void pfs_file_unused(uint32 index, uint64 word);

/* Removes the instances of what lay in a directory that was renamed.  Looks at all files. */
extern void pfs_file_directory_removed(const char *path);

/*
 * The name of the file in this slot if it still carries this state word, also
 * some time after the file was removed.  buf has PFS_FILE_NAME_SIZE bytes.
 */
extern bool pfs_file_name(uint32 index, uint64 word, char *buf);

#endif							/* PFS_FILE_H */
