/*
 * input.c
 *	  Files that the program reads.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "message.h"

/* Looks at what kind of file it is before it reads. */
void
input_read_or_die(const char *file, const char *what, size_t most, Buffer *data)
{
	/* Opening a pipe would wait for its writer. */
	int			fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	char		piece[65536];
	size_t		left;

	if (fd < 0 || fstat(fd, &status) != 0)
		die(STATUS_UNUSABLE, "cannot read the %s \"%s\": %s", what, quote(file), strerror(errno));
	if (!S_ISREG(status.st_mode))
		die(STATUS_UNUSABLE, "\"%s\" is no %s: it is not a regular file", quote(file), what);
	if (status.st_size < 0 || (size_t) status.st_size > most)
		die(STATUS_UNUSABLE, "\"%s\" is no %s: it is larger than %s", quote(file), what, format_bytes(most));
	/* Not beyond the size that it had: somebody may be writing to it. */
	for (left = status.st_size; left > 0 && !interrupted;)
	{
		ssize_t		got = read(fd, piece, left < sizeof(piece) ? left : sizeof(piece));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die(STATUS_UNUSABLE, "cannot read the %s \"%s\": %s", what, quote(file), strerror(errno));
		if (got == 0)
			break;
		buffer_add(data, piece, got);
		left -= got;
	}
	close(fd);
	if (interrupted)
		die(STATUS_FAILED, "interrupted");
}
