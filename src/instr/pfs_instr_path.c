/*
 * pfs_instr_path.c
 *	  Calls by path: open, unlink, rename, stat and their kin.
 *
 * PostgreSQL announces no wait event for these, so the instrument comes from where
 * the path lies and what is done.  They also keep the file instances right: open
 * makes one, unlink and rename take it away, whatever is switched on.  Only where
 * everything is off open makes none: what is done with the descriptor later asks the system, if it is
 * an event then.  Separate from pfs_instr_file.c, whose calls find their file by a descriptor.
 */
#include "postgres.h"

#include <fcntl.h>
#include <stdarg.h>

#include "miscadmin.h"

#include "pfs_hash.h"
#include "pfs_instr.h"
#include "pfs_plain_state.h"

/* Each operation remembers its last caller. */
static PFS_HOT_TABLE PfsFramesMemo memos[PFS_OP_DIR + 1];

/*
 * Begins the event of a call by path; its object is the path's instance, if there is one.  *file:
 * what was found of it.
 */
static pg_noinline bool
begin_and_find(PfsThread *t, const char *path, PfsOperation op, const void *frame, PfsFileFound *file)
{
	char		buf[PFS_FILE_NAME_SIZE];
	const char *canonical;
	PfsInstrumentId instrument;
	uint32		flags;

	file->index = PFS_NO_RECORD;
	if (t == NULL || path == NULL || pfs_is_all_off())
		return false;
	canonical = pfs_file_canonical(path, buf);
	file->kind = pfs_file_kind(canonical);
	instrument = pfs_file_instrument[file->kind][op];
	if (instrument == PFS_NO_INSTRUMENT)
		return false;
	flags = pfs_wait_flags(t, instrument);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return false;

	file->index = pfs_hash_find(pfs_file_index, pfs_hash_bytes(canonical, strlen(canonical)),
								canonical, &file->word);
	return pfs_file_wait_begin(t, instrument, flags, op, pfs_file_found_counted(file), PFS_EVENT_NO_OFFSET,
							   pfs_frames_source_memo(frame, &memos[op]));
}

static bool
begin(PfsThread *t, const char *path, PfsOperation op, const void *frame)
{
	PfsFileFound file;

	return begin_and_find(t, path, op, frame, &file);
}

static inline void
end(bool begun)
{
	if (begun)
		pfs_fd_wait_end(pfs_my_thread, -1, PFS_EVENT_NO_BYTES);
}

/*
 * Ends the event of a call that has opened a descriptor.  Remembers the descriptor's
 * instance, which is made now if there is none, and is the event's object.  The clock is
 * read before that work.
 */
static void
end_open(bool begun, PfsThread *t, int fd, const char *path, PfsFileFound *file)
{
	uint64		now = begun ? pfs_file_wait_read_end(t) : 0;

	if (t != NULL && fd >= 0 && path != NULL && !(pfs_is_all_off() && pfs_fd_is_unknown(fd)) && !pfs_is_writing(t))
	{
		pfs_write_begin(t);
		pfs_fd_opened(fd, path, file);
		if (begun && fd < pfs_nfds)
			pfs_file_wait_here(t)->object.file.counted = pfs_fd_counted(&pfs_fds[fd]);
		pfs_write_end(t);
	}
	if (begun)
		pfs_file_wait_end_at(t, now, PFS_EVENT_NO_BYTES, NULL, 0);
}

/*
 * Removes the path's instance, or those of the files below it; its name stays readable
 * for the histories.
 */
static void
removed(const char *path, void (*remove) (const char *path))
{
	PfsThread  *t = pfs_my_thread;

	if (t == NULL)
	{
		/* A process without a record (none was free) removes files, too. */
		if (MyProc != NULL && IsUnderPostmaster && pfs_files != NULL)
			remove(path);
	}
	else if (!pfs_is_writing(t))
	{
		pfs_write_begin(t);
		remove(path);
		pfs_write_end(t);
	}
}

/*
 * Opens a file, and makes its instance known. The mode is there only where a file can
 * be made.
 */
static int
wrap_open(const char *path, int flags,...)
{
	PfsThread  *t = pfs_thread_here();
	mode_t		mode = 0;
	bool		begun;
	PfsFileFound found;
	int			fd;

	if (flags & (O_CREAT | O_TMPFILE))
	{
		va_list		args;

		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	begun = begin_and_find(t, path, flags & O_CREAT ? PFS_OP_CREATE : PFS_OP_OPEN, FRAME, &found);
	fd = pfs_real.open(path, flags, mode);
	end_open(begun, t, fd, path, &found);
	return fd;
}

/* The wrapper of another call that opens a file; descriptor: of its result. */
#define WRAP_OPEN(type, name, params, args, op, descriptor) \
static type \
wrap_##name params \
{ \
	PfsThread  *t = pfs_thread_here(); \
	PfsFileFound found; \
	bool		begun = begin_and_find(t, path, op, FRAME, &found); \
	type		result = pfs_real.name args; \
\
	end_open(begun, t, descriptor, path, &found); \
	return result; \
}

WRAP_OPEN(int, open_2, (const char *path, int flags), (path, flags), PFS_OP_OPEN, result)
WRAP_OPEN(FILE *, fopen, (const char *path, const char *mode), (path, mode),
		  mode[0] == 'r' ? PFS_OP_OPEN : PFS_OP_CREATE, result != NULL ? fileno(result) : -1)
/* Without a path it only changes the mode. */
WRAP_OPEN(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file),
		  mode[0] == 'r' ? PFS_OP_OPEN : PFS_OP_CREATE, result != NULL ? fileno(result) : -1)

/*
 * Renames a file or a directory: instances of the old name go, and descriptors find the
 * new one when they are next used.
 */
static int
wrap_rename(const char *from, const char *to)
{
	bool		begun = begin(pfs_my_thread, from, PFS_OP_RENAME, FRAME);
	int			result = pfs_real.rename(from, to);

	end(begun);
	if (result == 0)
	{
		struct stat st;
		int			save_errno = errno;

		removed(from, pfs_file_removed);
		/* Replication slots are made in a directory that then gets its name. */
		if (lstat(to, &st) == 0 && S_ISDIR(st.st_mode))
			removed(from, pfs_file_directory_removed);
		errno = save_errno;
	}
	return result;
}

/* The wrapper of a call by path that opens no file; removes: what the path names is gone then. */
#define WRAP(name, params, args, op, removes) \
static int \
wrap_##name params \
{ \
	bool		begun = begin(pfs_my_thread, path, op, FRAME); \
	int			result = pfs_real.name args; \
\
	end(begun); \
	if ((removes) && result == 0) \
		removed(path, pfs_file_removed); \
	return result; \
}

WRAP(unlink, (const char *path), (path), PFS_OP_DELETE, true)
WRAP(link, (const char *path, const char *to), (path, to), PFS_OP_LINK, false)
WRAP(truncate, (const char *path, off_t length), (path, length), PFS_OP_CHSIZE, false)
WRAP(stat, (const char *path, struct stat *st), (path, st), PFS_OP_STAT, false)
WRAP(lstat, (const char *path, struct stat *st), (path, st), PFS_OP_STAT, false)
WRAP(mkdir, (const char *path, mode_t mode), (path, mode), PFS_OP_DIR, false)
/* A directory has an instance if somebody synced it. */
WRAP(rmdir, (const char *path), (path), PFS_OP_DIR, true)
/* What stat() and lstat() call in programs that were built with glibc before 2.33. */
WRAP(xstat, (int version, const char *path, struct stat *st), (version, path, st), PFS_OP_STAT, false)
WRAP(lxstat, (int version, const char *path, struct stat *st), (version, path, st), PFS_OP_STAT, false)

#define CALL(symbol, name) PFS_CALL(symbol, name, "wait/io/file/%")

const PfsGotPatch pfs_path_calls[] = {
	CALL("open", open),
	CALL("open64", open),
	CALL("__open_2", open_2),
	CALL("__open64_2", open_2),
	CALL("fopen", fopen),
	CALL("fopen64", fopen),
	CALL("freopen", freopen),
	CALL("freopen64", freopen),
	CALL("unlink", unlink),
	CALL("rename", rename),
	CALL("link", link),
	CALL("truncate", truncate),
	CALL("truncate64", truncate),
	CALL("stat", stat),
	CALL("stat64", stat),
	CALL("lstat", lstat),
	CALL("lstat64", lstat),
	CALL("__xstat", xstat),
	CALL("__xstat64", xstat),
	CALL("__lxstat", lxstat),
	CALL("__lxstat64", lxstat),
	CALL("mkdir", mkdir),
	CALL("rmdir", rmdir),
	{NULL},
};
