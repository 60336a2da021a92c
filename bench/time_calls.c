/*
 * time_calls.c
 *	  To be preloaded into a server: how many calls of some kinds each process
 *	  made, and how long they took by the system's clock.  What pfs says of the same
 *	  calls is measured around these functions, by another clock.
 *
 * TIME_CALLS is a file of 64-bit words: how many processes there were, then for
 * each a Process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload.h"

#define PROCESSES_MAX 1000

typedef enum Kind
{
	READ, WRITE, SYNC, SEND, KINDS
} Kind;

typedef struct Process
{
	int64_t		pid;
	int64_t		calls[KINDS];
	int64_t		nanoseconds[KINDS];
} Process;

typedef struct Processes
{
	int64_t		n;
	Process		all[PROCESSES_MAX];
} Processes;

static Processes *processes;
static Process *mine;			/* NULL: this process made no call so far */

static void
forget(void)
{
	mine = NULL;
}

__attribute__((constructor)) static void
start(void)
{
	processes = preload_map("TIME_CALLS", sizeof(Processes));
	if (processes == NULL)
		return;
	pthread_atfork(NULL, NULL, forget);
}

static Process *
me(void)
{
	if (mine == NULL && processes != NULL)
	{
		int64_t		i = __atomic_fetch_add(&processes->n, 1, __ATOMIC_RELAXED);

		mine = &processes->all[i < PROCESSES_MAX ? i : PROCESSES_MAX - 1];
		mine->pid = getpid();
	}
	return mine;
}

#define CALL(kind, type, name, parameters, arguments) \
type \
name parameters \
{ \
	static type (*next) parameters; \
	Process *process = me(); \
	int64_t begin; \
	int error = errno; \
	type result; \
	\
	if (next == NULL) \
		next = (type (*) parameters) dlsym(RTLD_NEXT, #name); \
	begin = preload_clock(CLOCK_MONOTONIC); \
	errno = error; \
	result = next arguments; \
	error = errno; \
	if (process != NULL) \
	{ \
		process->nanoseconds[kind] += preload_clock(CLOCK_MONOTONIC) - begin; \
		process->calls[kind]++; \
	} \
	errno = error; \
	return result; \
}

CALL(READ, ssize_t, pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at))
CALL(READ, ssize_t, pread64, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at))
CALL(READ, ssize_t, preadv, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at))
CALL(READ, ssize_t, preadv64, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at))
CALL(WRITE, ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
CALL(WRITE, ssize_t, pwrite64, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
CALL(WRITE, ssize_t, pwritev, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at))
CALL(WRITE, ssize_t, pwritev64, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at))
CALL(SYNC, int, fsync, (int fd), (fd))
CALL(SYNC, int, fdatasync, (int fd), (fd))
CALL(SEND, ssize_t, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags))
