/*
 * pfs_instr.h
 *	  Instrument points: what the files of this folder share, and the one entry
 *	  for pfs_module.c.
 */
#ifndef PFS_INSTR_H
#define PFS_INSTR_H

#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "postmaster/postmaster.h"
#include "storage/proc.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"

#include "pfs_compat.h"
#include "pfs_event_write.h"
#include "pfs_fd.h"
#include "pfs_file_event.h"
#include "pfs_frames.h"
#include "pfs_got.h"
#include "pfs_imports.h"
#include "pfs_wait_class.h"

struct io_uring;
struct io_uring_cqe;

/*
 * What the server's slots held before: the functions that wrappers call.  NULL
 * for functions that this server does not import.
 */
typedef struct PfsReal
{
	/* messages of a client, whose calls every statement makes: on one line */
	ssize_t		(*recv) (int, void *, size_t, int);
	ssize_t		(*recv_chk) (int, void *, size_t, size_t, int);
	ssize_t		(*send) (int, const void *, size_t, int);
	int			(*epoll_wait) (int, struct epoll_event *, int, int);
	/* files by descriptor */
	ssize_t		(*pread) (int, void *, size_t, off_t);
	ssize_t		(*pread_chk) (int, void *, size_t, off_t, size_t);
	ssize_t		(*pwrite) (int, const void *, size_t, off_t);
	ssize_t		(*preadv) (int, const struct iovec *, int, off_t);
	ssize_t		(*pwritev) (int, const struct iovec *, int, off_t);
	ssize_t		(*read) (int, void *, size_t);
	ssize_t		(*read_chk) (int, void *, size_t, size_t);
	ssize_t		(*write) (int, const void *, size_t);
	int			(*fsync) (int);
	int			(*fdatasync) (int);
	int			(*syncfs) (int);
	int			(*sync_file_range) (int, off_t, off_t, unsigned int);
	int			(*ftruncate) (int, off_t);
	int			(*posix_fallocate) (int, off_t, off_t);
	int			(*posix_fadvise) (int, off_t, off_t, int);
	ssize_t		(*copy_file_range) (int, off_t *, int, off_t *, size_t, unsigned int);
	int			(*close) (int);
	/* files by path */
	int			(*open) (const char *, int,...);
	int			(*open_2) (const char *, int);
	int			(*unlink) (const char *);
	int			(*rename) (const char *, const char *);
	int			(*link) (const char *, const char *);
	int			(*truncate) (const char *, off_t);
	int			(*stat) (const char *, struct stat *);
	int			(*lstat) (const char *, struct stat *);
	int			(*xstat) (int, const char *, struct stat *);
	int			(*lxstat) (int, const char *, struct stat *);
	int			(*mkdir) (const char *, mode_t);
	int			(*rmdir) (const char *);
	/* stdio */
	FILE	   *(*fopen) (const char *, const char *);
	FILE	   *(*freopen) (const char *, const char *, FILE *);
	size_t		(*fread) (void *, size_t, size_t, FILE *);
	size_t		(*fread_buffered) (void *, size_t, size_t, FILE *); /* of what the buffer
																	 * has */
	char	   *(*fgets) (char *, int, FILE *);
	int			(*fgetc) (FILE *);
	int			(*getc) (FILE *);
	int			(*isoc99_fscanf) (FILE *, const char *,...);
	int			(*isoc23_fscanf) (FILE *, const char *,...);
	size_t		(*fwrite) (const void *, size_t, size_t, FILE *);
	int			(*fputc) (int, FILE *);
	int			(*fputs) (const char *, FILE *);
	int			(*fflush) (FILE *);
	int			(*fseek) (FILE *, long, int);
	int			(*fseeko) (FILE *, off_t, int);
	int			(*fclose) (FILE *);
	/* waits */
	int			(*sem_wait) (sem_t *);
	int			(*semop) (int, struct sembuf *, size_t);
	int			(*poll) (struct pollfd *, nfds_t, int);
	int			(*nanosleep) (const struct timespec *, struct timespec *);
	int			(*select) (int, fd_set *, fd_set *, fd_set *, struct timeval *);
	pid_t		(*waitpid) (pid_t, int *, int);
	int			(*system) (const char *);
	FILE	   *(*popen) (const char *, const char *);
	int			(*pclose) (FILE *);
	/* sockets */
	ssize_t		(*recvfrom) (int, void *, size_t, int, struct sockaddr *, socklen_t *);
	ssize_t		(*sendto) (int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	int			(*connect) (int, const struct sockaddr *, socklen_t);
	/* errors */
	void		(*longjmp_chk) (struct __jmp_buf_tag *, int) __attribute__((noreturn));
	/* processes */
	pid_t		(*fork) (void);
	/* liburing */
	int			(*io_uring_submit) (struct io_uring *);
	int			(*io_uring_wait_cqes) (struct io_uring *, struct io_uring_cqe **, unsigned int,
									   void *, sigset_t *);
} PfsReal;

extern PFS_HIDDEN PfsReal pfs_real;

/* The frame of the wrapper that says it, behind which the server's are. */
#define FRAME __builtin_frame_address(0)

/*
 * The slot of a function whose wrapper is wrap_NAME; instruments: a pattern of those that need
 * it.
 */
#define PFS_CALL(function, name, instruments) \
	{.symbol = function, .replacement = (void *) wrap_##name, .original = (void **) &pfs_real.name, .needed_by = instruments}

/* Parameters or arguments in parentheses without these, for macros that make functions. */
#define PFS_UNPACK(...) __VA_ARGS__

/* Whose functions of the C library are wrapped: lists, each ended by a NULL symbol. */
#define PFS_WRAPPED_CALLS(X) \
	X(pfs_wait_calls) \
	X(pfs_file_calls) \
	X(pfs_stdio_calls) \
	X(pfs_path_calls) \
	X(pfs_socket_calls) \
	X(pfs_error_calls) \
	X(pfs_memory_calls)

#define PFS_DECLARE_CALLS(name) extern const PfsGotPatch name[];
PFS_WRAPPED_CALLS(PFS_DECLARE_CALLS)

/*
 * Who sets hooks, callbacks, methods or detours: postmaster, once, in this order, when the calls are wrapped.  Each reports
 * its probes.
 */
#define PFS_STARTS(X) \
	X(pfs_instr_stdio_start) \
	X(pfs_instr_memory_start) \
	X(pfs_instr_hooks_start) \
	X(pfs_instr_utility_start) \
	X(pfs_instr_xact_start) \
	X(pfs_instr_answer_start) \
	X(pfs_instr_programs_start) \
	X(pfs_instr_buffer_start) \
	X(pfs_instr_table_start)

#define PFS_DECLARE_START(name) extern void name(void);
PFS_STARTS(PFS_DECLARE_START)

/* X(class, is_missing, documentation): what the documentation of the class's instruments says then. */
#define PFS_MISSING(X) \
	X(PFS_CLASS_MEMORY, pfs_memory_callbacks == NULL, \
	  "Unavailable: pfs.probes says why memory contexts cannot be watched.") \
	X(PFS_CLASS_ERROR, !pfs_raises_are_seen, \
	  "Incomplete: errors that are caught, or not logged, are not seen; pfs.probes says why.")

/* Postmaster, once: patch everything and report every probe. */
extern void pfs_instr_start(void);

/*
 * Postmaster, whenever the instruments were made anew: those whose probe is
 * missing say so in their documentation.
 */
extern void pfs_instr_mark_unavailable(void);

/* The wait_event_info of the wait that the server is about to make; 0: none. */
static inline uint32
pfs_wait_event_info(void)
{
	return *(volatile uint32 *) PFS_IMPORT(my_wait_event_info);
}

/* Does the process wait for its client's next message? */
static inline bool
pfs_between_statements(void)
{
	return debug_query_string == NULL && PFS_IMPORT(ActivePortal) == NULL && !ClientAuthInProgress;
}

/* At a wait for a latch: does what the process has put off.  pfs_instr_wait.c. */
extern void pfs_look_at_thread(PfsThread *t, bool may_repair);

/* This process's record; attaches.  Not from calls that signal handlers make. */
static inline PfsThread *
pfs_thread_here(void)
{
	PfsThread  *t = pfs_my_thread;

	if (likely(t != NULL))
		return t;
	return PFS_IMPORT(MyProc) == NULL ? NULL : pfs_process.attach_cb();
}

/*
 * The instrument of a call on a descriptor.  *file: its entry, if that was needed.  Under a
 * wait event of class IO it is not.
 */
static pg_attribute_always_inline PfsInstrumentId
pfs_fd_instrument(int fd, PfsOperation op, const PfsFd **file)
{
	uint32		wait_info = pfs_wait_event_info();

	/*
	 * Who waits for another's call may make one of his own: that has its own
	 * name.
	 */
	if (likely((wait_info & 0xFF000000U) == PG_WAIT_IO && wait_info != PFS_WAIT_AIO_COMPLETION))
		return pfs_wait_info_instrument(wait_info);
	*file = pfs_fd_get(fd);
	return pfs_file_instrument[(*file)->kind][op];
}

/* ---- calls on descriptors, out of line: pfs_instr_file.c.  False: just make the call ---- */

extern bool pfs_fd_wait_begin(PfsThread *t, int fd, PfsOperation op, int64 offset, const void *frame);
extern bool pfs_fd_close_begin(PfsThread *t, const PfsFd *file, uint32 mask, const void *frame);
extern void pfs_fd_wait_end(PfsThread *t, int fd, int64 bytes);

/*
 * Begin and start an event under the server's wait_event_info, or under `fallback`
 * where it has none; no object.  t NULL: there is no record, and no event.  frame: FRAME of the
 * wrapper.  NULL: just make the call.
 */
extern PfsWait *pfs_plain_begin(PfsThread *t, PfsInstrumentId fallback, PfsOperation op,
								const void *frame);

#endif							/* PFS_INSTR_H */
