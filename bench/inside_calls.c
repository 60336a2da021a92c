/*
 * inside_calls.c
 *	  To be preloaded into a server: the processor time that each process spends
 *	  inside of calls that pfs shows as waits, by the system's clock, and the time
 *	  that it was ready but had no processor, inside and outside of them, by the
 *	  scheduler.
 *
 * A call that copies from the system's cache, or that talks to a disk, is a wait
 * for whoever looks from above, and processor time for the system.  Who adds up
 * waits and processor time has it twice.
 *
 * INSIDE_CALLS is a file of 64-bit words: how many processes there were, then for
 * each a Process.  INSIDE_CALLS_READ_US: so long each read takes more, as from a
 * slower disk.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload.h"

#define PROCESSES_MAX 4096

typedef struct Process
{
	int64_t		pid;
	int64_t		inside;			/* processor time inside of calls, ns */
	int64_t		late;			/* without a processor outside of them, ns */
	int64_t		until;			/* the scheduler's sum at the last look */
	int64_t		calls;
} Process;

typedef struct Processes
{
	int64_t		n;
	Process		all[PROCESSES_MAX];
} Processes;

static Processes *processes;
static Process *mine;			/* NULL: this process made no call so far */
static int	schedstat = -1;		/* this process's, -1: not open */
static long read_us;

static void
forget(void)
{
	mine = NULL;
	if (schedstat >= 0)
		close(schedstat);
	schedstat = -1;
}

__attribute__((constructor)) static void
start(void)
{
	const char *us = getenv("INSIDE_CALLS_READ_US");

	read_us = us != NULL ? atol(us) : 0;
	processes = preload_map("INSIDE_CALLS", sizeof(Processes));
	if (processes == NULL)
		return;
	pthread_atfork(NULL, NULL, forget);
}

/* How long this process was ready and had no processor so far. */
static int64_t
late_so_far(void)
{
	static ssize_t (*next) (int, void *, size_t, off_t);
	char		text[100];
	ssize_t		n;
	char	   *end;

	if (next == NULL)
		next = (ssize_t (*) (int, void *, size_t, off_t)) dlsym(RTLD_NEXT, "pread");
	n = next(schedstat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = 0;
	(void) strtoll(text, &end, 10);
	return strtoll(end, NULL, 10);
}

static Process *
me(void)
{
	if (mine == NULL && processes != NULL)
	{
		int64_t		i = __atomic_fetch_add(&processes->n, 1, __ATOMIC_RELAXED);

		mine = &processes->all[i < PROCESSES_MAX ? i : PROCESSES_MAX - 1];
		mine->pid = getpid();
		schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
		mine->until = late_so_far();
	}
	return mine;
}

static void
linger(void)
{
	struct timespec wait = {read_us / 1000000, read_us % 1000000 * 1000};

	if (read_us > 0)
		nanosleep(&wait, NULL);
}

#define NOTHING ((void) 0)

/* One of the calls: it is made, and its times added to the process's. */
#define CALL(type, name, parameters, arguments, before, is_inside) \
type \
name parameters \
{ \
	static type (*next) parameters; \
	int64_t begin = preload_clock(CLOCK_THREAD_CPUTIME_ID); \
	int error = errno; \
	Process *process = me(); \
	type result; \
	\
	if (next == NULL) \
		next = (type (*) parameters) dlsym(RTLD_NEXT, #name); \
	if (process != NULL) \
		process->late += late_so_far() - process->until; \
	before; \
	errno = error; \
	result = next arguments; \
	error = errno; \
	if (process != NULL) \
	{ \
		process->until = late_so_far(); \
		process->calls++; \
		if (is_inside) \
			process->inside += preload_clock(CLOCK_THREAD_CPUTIME_ID) - begin; \
	} \
	errno = error; \
	return result; \
}

CALL(ssize_t, pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), linger(), 1)
CALL(ssize_t, pread64, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), linger(), 1)
CALL(ssize_t, preadv, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at), linger(), 1)
CALL(ssize_t, preadv64, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at), linger(), 1)
CALL(ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), NOTHING, 1)
CALL(ssize_t, pwrite64, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), NOTHING, 1)
CALL(ssize_t, pwritev, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at), NOTHING, 1)
CALL(ssize_t, pwritev64, (int fd, const struct iovec *iov, int n, off_t at), (fd, iov, n, at), NOTHING, 1)
CALL(int, fsync, (int fd), (fd), NOTHING, 1)
CALL(int, fdatasync, (int fd), (fd), NOTHING, 1)
CALL(ssize_t, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags), NOTHING, 1)

/* Nearly always idle, between statements: no statement has that processor time. */
CALL(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout), NOTHING, 0)
