/*
 * pfs_fd.h
 *	  Which file a descriptor of this process is.
 *
 * Separate from pfs_file.h, as the table is process-local: a call on a file finds its
 * instance here, without a hash.
 */
#ifndef PFS_FD_H
#define PFS_FD_H

#include "pfs_file.h"
#include "pfs_pending.h"

struct PfsPendingCalls;
struct PfsWaitLookup;

/* The last call that read from, or wrote to, a descriptor. */
typedef struct PfsFdCall
{
	const struct PfsWaitLookup *lookup; /* its wait */
	struct PfsPendingCalls *place;	/* where it was counted */
} PfsFdCall;

/*
 * One descriptor.  Process-local; all zero is "not looked at yet".
 *
 * Its next call is as the last one was while the shared words have the generation that they had then: that tells
 * whether its lookup holds and its place has not been truncated.  What else can happen to the place, that another
 * file's calls need it, sets the generation to 0 (pfs_fd_leave_place()).
 */
typedef struct PfsFd
{
	uint64		word;			/* state word of the file record, or 0: none */
	const uint64 *state;		/* where that word is; a constant 0 for none */
	uint64		generation;		/* of its last calls; 0: they say nothing of
								 * the next one */
	PfsFdCall	last[2];		/* PFS_CALLS_READ, PFS_CALLS_WRITE */
	uint32		index;			/* of the file record; none: the kind */
	uint8		kind;			/* PfsFileKind */
	bool		is_open;		/* its record's open_count includes it */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsFd;

/* What calls on it are counted for. */
static inline uint64
pfs_fd_counted(const PfsFd *file)
{
	return PFS_COUNTED_OBJECT(file->index, file->word);
}

extern PFS_HIDDEN PfsFd *pfs_fds;	/* [pfs_nfds], or NULL */
extern PFS_HIDDEN int pfs_nfds;

/* What calls on a file are counted for that was looked for: its instance, or without one its kind. */
static inline uint64
pfs_file_found_counted(const PfsFileFound *file)
{
	return file->index == PFS_NO_RECORD ? PFS_COUNTED_OBJECT(file->kind, 0) : PFS_COUNTED_OBJECT(file->index, file->word);
}

/*
 * fd was just opened for path, or is about to be closed.  file: what was found before the path was
 * opened; index PFS_NO_RECORD: nothing was.
 */
extern void pfs_fd_opened(int fd, const char *path, PfsFileFound *file);
extern void pfs_fd_closed(int fd);

/* Is nothing known of a descriptor, nor will be? */
static inline bool
pfs_fd_is_unknown(int fd)
{
	return (uint32) fd >= (uint32) pfs_nfds || pfs_fds[fd].kind == PFS_FILE_UNKNOWN;
}

/*
 * Inside a write section: a call on a file, whose words had this generation before it was counted, is what the next
 * one of its part goes by; a place is another call's from now on.
 */
extern void pfs_fd_called(PfsFd *file, uint64 generation, int part, PfsFdCall call);
extern void pfs_fd_leave_place(struct PfsThread *t, PfsPending *place, bool stays);

/* Slow path: ask the system what fd is. */
extern const PfsFd *pfs_fd_look(int fd);

/*
 * What is known of fd; never NULL.  kind PFS_FILE_NOT_A_FILE: sockets, pipes.
 * One readlink() at the first sight of a descriptor that was opened before.
 */
static inline const PfsFd *
pfs_fd_get(int fd)
{
	if (likely((uint32) fd < (uint32) pfs_nfds))
	{
		const PfsFd *entry = &pfs_fds[fd];

		/* The record may have been removed, or renamed, by another process. */
		if (likely(entry->kind != PFS_FILE_UNKNOWN && pfs_load_acquire(entry->state) == entry->word))
			return entry;
	}
	return pfs_fd_look(fd);
}

#endif							/* PFS_FD_H */
