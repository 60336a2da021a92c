/*
 * slow_reads.c
 *	  To be preloaded into a server: each read of a block waits a little before
 *	  it is made, as from a disk that takes its time.
 */
#include <dlfcn.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void
linger(void)
{
	struct timespec wait = {0, 200000};

	nanosleep(&wait, NULL);
}

ssize_t
pread(int fd, void *buf, size_t n, off_t offset)
{
	static ssize_t (*next) (int, void *, size_t, off_t);

	if (next == NULL)
		next = (ssize_t (*) (int, void *, size_t, off_t)) dlsym(RTLD_NEXT, "pread");
	if (n >= 8192)
		linger();
	return next(fd, buf, n, offset);
}

ssize_t
pread64(int fd, void *buf, size_t n, off_t offset)
{
	return pread(fd, buf, n, offset);
}

ssize_t
preadv(int fd, const struct iovec *iov, int n, off_t offset)
{
	static ssize_t (*next) (int, const struct iovec *, int, off_t);

	if (next == NULL)
		next = (ssize_t (*) (int, const struct iovec *, int, off_t)) dlsym(RTLD_NEXT, "preadv");
	linger();
	return next(fd, iov, n, offset);
}

ssize_t
preadv64(int fd, const struct iovec *iov, int n, off_t offset)
{
	return preadv(fd, iov, n, offset);
}
