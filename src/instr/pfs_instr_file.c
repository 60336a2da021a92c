/*
 * pfs_instr_file.c
 *	  Calls on open files: which file, what was done, how many bytes.
 *
 * Separate from calls by path because these are the hot ones: the file comes
 * from the process's own table, by descriptor.
 */
#include "postgres.h"

#include <fcntl.h>

#include "pfs_compat.h"
#include "pfs_instr.h"
#include "pfs_plain_state.h"

/* Each operation remembers its last caller. */
static PFS_HOT_TABLE PfsFramesMemo memos[PFS_OP_COPY + 1];

/*
 * Begins the event of a call on a descriptor.  False: just make the call.
 *
 * Under a wait event of class IO the instrument is known without the file, so that a
 * disabled one costs nothing more.
 */
bool
pfs_fd_wait_begin(PfsThread *t, int fd, PfsOperation op, int64 offset, const void *frame)
{
	PfsInstrumentId instrument;
	const PfsFd *file = NULL;
	uint32		flags;

	if (unlikely(t == NULL) || pfs_is_all_off())
		return false;
	instrument = pfs_fd_instrument(fd, op, &file);
	if (unlikely(instrument == PFS_NO_INSTRUMENT))
		return false;
	flags = pfs_wait_flags(t, instrument);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return false;
	if (file == NULL)
		file = pfs_fd_get(fd);
	return pfs_file_wait_begin(t, instrument, flags, op, pfs_fd_counted(file), offset,
							   pfs_frames_source_memo(frame, &memos[op]));
}

/*
 * Ends the event.  fd: a descriptor that stays open, or -1; bytes: what the call returned, negative on failure, or
 * PFS_EVENT_NO_BYTES.
 */
void
pfs_fd_wait_end(PfsThread *t, int fd, int64 bytes)
{
	uint64		now = pfs_file_wait_read_end(t);

	pfs_file_wait_end_at(t, now, bytes, (uint32) fd < (uint32) pfs_nfds ? &pfs_fds[fd] : NULL, pfs_wait_event_info());
}

/*
 * The wrapper of a call on the descriptor fd, a function of this head.  thread: pfs_thread_here()
 * where the call may attach the process, which none may that signal handlers make; else
 * pfs_my_thread, or NULL for a call that is no event. bytes: of the event, where the call has
 * returned `result`.
 */
#define WRAPPER(type, head, name, args, thread, op, offset, bytes) \
head \
{ \
	bool		begun = pfs_fd_wait_begin(thread, fd, op, offset, FRAME); \
	type		result = pfs_real.name args; \
\
	if (begun) \
		pfs_fd_wait_end(pfs_my_thread, fd, bytes); \
	return result; \
}

#define WRAP(type, name, params, args, thread, op, offset, bytes) \
WRAPPER(type, static type wrap_##name params, name, args, thread, op, offset, bytes)

/*
 * The same of a call that is made for each page.  Nearly always it is usual in all (pfs_file_event.h), and
 * then no function is called but the real one.  Else a jump leads to what does without that, whose
 * frame is so the wrapper's.
 */
#define WRAP_PAGES(name, params, args, op, part) \
WRAPPER(ssize_t, static pg_noinline ssize_t any_##name params, name, args, pfs_thread_here(), op, offset, result) \
\
static ssize_t \
wrap_##name params \
{ \
	const PfsFdCall *call; \
	PfsFdCall	usual; \
\
	if (pfs_is_all_off()) \
		return pfs_real.name args; \
	call = pfs_file_usual_call(fd, part, pfs_wait_event_info()); \
	if (unlikely(call == NULL) || !pfs_frames_memo_has(FRAME, &memos[op])) \
		return any_##name args; \
	usual = *call;				/* a handler may close the descriptor */ \
	if (unlikely(!pfs_file_event_begin(pfs_my_thread, usual.lookup, &usual.place->place.object, offset, &memos[op].source, 0))) \
		return any_##name args; \
	return pfs_file_event_end(pfs_my_thread, usual, pfs_real.name args); \
}

WRAP_PAGES(pread, (int fd, void *buf, size_t count, off_t offset), (fd, buf, count, offset),
		   PFS_OP_READ, PFS_CALLS_READ)
WRAP_PAGES(pwrite, (int fd, const void *buf, size_t count, off_t offset), (fd, buf, count, offset),
		   PFS_OP_WRITE, PFS_CALLS_WRITE)
WRAP_PAGES(preadv, (int fd, const struct iovec *iov, int iovcnt, off_t offset), (fd, iov, iovcnt, offset),
		   PFS_OP_READ, PFS_CALLS_READ)
WRAP_PAGES(pwritev, (int fd, const struct iovec *iov, int iovcnt, off_t offset), (fd, iov, iovcnt, offset),
		   PFS_OP_WRITE, PFS_CALLS_WRITE)
WRAP(ssize_t, pread_chk, (int fd, void *buf, size_t count, off_t offset, size_t size), (fd, buf, count, offset, size),
	 pfs_my_thread, PFS_OP_READ, offset, result)
WRAP(ssize_t, read, (int fd, void *buf, size_t count), (fd, buf, count),
	 pfs_my_thread, PFS_OP_READ, PFS_EVENT_NO_OFFSET, result)
WRAP(ssize_t, read_chk, (int fd, void *buf, size_t count, size_t size), (fd, buf, count, size),
	 pfs_my_thread, PFS_OP_READ, PFS_EVENT_NO_OFFSET, result)
WRAP(ssize_t, write, (int fd, const void *buf, size_t count), (fd, buf, count),
	 pfs_my_thread, PFS_OP_WRITE, PFS_EVENT_NO_OFFSET, result)
WRAP(int, fsync, (int fd), (fd),
	 pfs_my_thread, PFS_OP_SYNC, PFS_EVENT_NO_OFFSET, PFS_EVENT_NO_BYTES)
WRAP(int, fdatasync, (int fd), (fd),
	 pfs_my_thread, PFS_OP_SYNC, PFS_EVENT_NO_OFFSET, PFS_EVENT_NO_BYTES)
WRAP(int, syncfs, (int fd), (fd),
	 pfs_my_thread, PFS_OP_SYNC, PFS_EVENT_NO_OFFSET, PFS_EVENT_NO_BYTES)
WRAP(int, sync_file_range, (int fd, off_t offset, off_t nbytes, unsigned int flags), (fd, offset, nbytes, flags),
	 pfs_my_thread, PFS_OP_FLUSH, offset, result == 0 ? nbytes : PFS_EVENT_NO_BYTES)
WRAP(int, ftruncate, (int fd, off_t length), (fd, length),
	 pfs_my_thread, PFS_OP_CHSIZE, length, PFS_EVENT_NO_BYTES)
WRAP(int, posix_fallocate, (int fd, off_t offset, off_t len), (fd, offset, len),
	 pfs_my_thread, PFS_OP_ALLOCATE, offset, result == 0 ? len : PFS_EVENT_NO_BYTES)
/* The other advices touch no page. */
WRAP(int, posix_fadvise, (int fd, off_t offset, off_t len, int advice), (fd, offset, len, advice),
	 advice == POSIX_FADV_WILLNEED ? pfs_my_thread : NULL, PFS_OP_PREFETCH, offset,
	 result == 0 ? len : PFS_EVENT_NO_BYTES)
/* Its event is of the file that is written to. */
WRAP(ssize_t, copy_file_range, (int in, off_t *in_offset, int fd, off_t *offset, size_t len, unsigned int flags),
	 (in, in_offset, fd, offset, len, flags),
	 pfs_my_thread, PFS_OP_COPY, offset != NULL ? *offset : PFS_EVENT_NO_OFFSET, result)

/*
 * Begins the event of a call that closes a descriptor, whose entry is `file`.  Its file is not
 * looked up any more: if it was removed or renamed meanwhile, the event has a kind and no
 * object.  mask: flags that it may have.
 */
bool
pfs_fd_close_begin(PfsThread *t, const PfsFd *file, uint32 mask, const void *frame)
{
	PfsInstrumentId instrument;
	uint32		flags;

	if (file->kind <= PFS_FILE_NOT_A_FILE)
		return false;			/* most others close once and for all */
	instrument = pfs_file_instrument[file->kind][PFS_OP_CLOSE];
	if (instrument == PFS_NO_INSTRUMENT)
		return false;
	flags = pfs_wait_flags(t, instrument) & mask;
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return false;
	return pfs_file_wait_begin(t, instrument, flags, PFS_OP_CLOSE,
							   pfs_load_acquire(file->state) == file->word ? pfs_fd_counted(file) : PFS_COUNTED_OBJECT(file->kind, 0),
							   PFS_EVENT_NO_OFFSET, pfs_frames_source_memo(frame, &memos[PFS_OP_CLOSE]));
}

/* Of a process without a record no descriptors are known. */
static int
wrap_close(int fd)
{
	PfsThread  *t = pfs_my_thread;
	bool		begun;
	int			result;

	if (t == NULL)
		return pfs_real.close(fd);
	begun = (uint32) fd < (uint32) pfs_nfds && pfs_fd_close_begin(t, &pfs_fds[fd], ~0, FRAME);
	pfs_fd_closed(fd);
	result = pfs_real.close(fd);
	if (begun)
		pfs_fd_wait_end(t, -1, PFS_EVENT_NO_BYTES);
	return result;
}

/*
 * The wrapper of a call of io_uring's.  They carry many files, so they have the server's wait
 * event and no object.
 */
#define WRAP_URING(name, params, args) \
static int \
wrap_##name params \
{ \
	PfsWait    *e = pfs_plain_begin(pfs_thread_here(), pfs_file_instrument[PFS_FILE_OTHER][PFS_OP_READ], \
									PFS_OP_NONE, FRAME); \
	int			result = pfs_real.name args; \
\
	if (e != NULL) \
		pfs_fd_wait_end(pfs_my_thread, -1, PFS_EVENT_NO_BYTES); \
	return result; \
}

WRAP_URING(io_uring_submit, (struct io_uring *ring), (ring))
WRAP_URING(io_uring_wait_cqes, (struct io_uring *ring, struct io_uring_cqe **cqes, unsigned int n, void *timeout,
								sigset_t *mask), (ring, cqes, n, timeout, mask))

#define CALL(symbol, name) PFS_CALL(symbol, name, "wait/io/file/%")

const PfsGotPatch pfs_file_calls[] = {
	CALL("pread", pread),
	CALL("pread64", pread),
	CALL("__pread_chk", pread_chk),
	CALL("pwrite", pwrite),
	CALL("pwrite64", pwrite),
	CALL("preadv", preadv),
	CALL("preadv64", preadv),
	CALL("pwritev", pwritev),
	CALL("pwritev64", pwritev),
	CALL("read", read),
	CALL("__read_chk", read_chk),
	CALL("write", write),
	CALL("fsync", fsync),
	CALL("fdatasync", fdatasync),
	CALL("syncfs", syncfs),
	CALL("sync_file_range", sync_file_range),
	CALL("ftruncate", ftruncate),
	CALL("ftruncate64", ftruncate),
	CALL("posix_fallocate", posix_fallocate),
	CALL("posix_fallocate64", posix_fallocate),
	CALL("posix_fadvise", posix_fadvise),
	CALL("posix_fadvise64", posix_fadvise),
	CALL("copy_file_range", copy_file_range),
	CALL("close", close),
	CALL("io_uring_submit", io_uring_submit),
	CALL("io_uring_wait_cqes", io_uring_wait_cqes),
	{NULL},
};
