/*
 * sink.c
 *	  Where a command's output goes: standard output, or a file of mode 0600.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "message.h"

struct Sink
{
	FILE	   *stream;
	char	   *name;			/* for messages */
	char	   *temporary;		/* renamed to name at the end; NULL: not */
};

static char *volatile unfinished = NULL;

/* A run that ends in the middle, by itself or by a signal, leaves nothing behind. */
static void
remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

/* Opens standard output, or a temporary file beside the one that is named; ends the program where it cannot. */
Sink *
sink_open(const char *file)
{
	Sink	   *sink = allocate(sizeof(Sink));
	struct stat status;
	bool		is_link;
	int			fd;

	if (file == NULL || strcmp(file, "-") == 0)
	{
		sink->stream = stdout;
		sink->name = copy_string("standard output");
		return sink;
	}
	if (file[0] == '\0')
		die(STATUS_UNUSABLE, "the name of the file for the output is empty: name a file, or \"-\" for standard output");
	/* A link stays one: what it leads to is replaced. */
	is_link = lstat(file, &status) == 0 && S_ISLNK(status.st_mode);
	sink->name = is_link ? realpath(file, NULL) : NULL;
	if (sink->name)
		file = sink->name;
	else
		sink->name = copy_string(file);
	if (stat(file, &status) == 0 && S_ISDIR(status.st_mode))
		die(STATUS_UNUSABLE, "\"%s\" is a folder: name a file", quote(file));
	if (stat(file, &status) == 0 ? !S_ISREG(status.st_mode) : is_link)
	{
		/*
		 * A pipe or a device stays what it is, and so does a link to nowhere,
		 * whose file is made.
		 */
		fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	}
	else
	{
		/* No signal ends the program between making the file and noting it. */
		catch_signals();
		add_clean_up(remove_unfinished);
		sink->temporary = format_string("%s.XXXXXX", file);
		fd = mkstemp(sink->temporary);	/* with mode 0600 */
		if (fd < 0)
			die(STATUS_FAILED, "cannot make the file \"%s\": %s", quote(file), strerror(errno));
		unfinished = sink->temporary;
	}
	sink->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (sink->stream == NULL)
		die(STATUS_FAILED, "cannot write to \"%s\": %s", quote(file), strerror(errno));
	return sink;
}

static void
check(Sink *sink, bool failed)
{
	if (failed)
		die(STATUS_FAILED, "cannot write to %s: %s", quote(sink->name), strerror(errno));
}

void
sink_write(Sink *sink, const void *data, size_t length)
{
	check(sink, fwrite(data, 1, length, sink->stream) != length);
}

void
sink_string(Sink *sink, const char *text)
{
	sink_write(sink, text, strlen(text));
}

void
sink_printf(Sink *sink, const char *format,...)
{
	va_list		arguments;
	int			result;

	va_start(arguments, format);
	result = vfprintf(sink->stream, format, arguments);
	va_end(arguments);
	check(sink, result < 0);
}

/* For libraries that write to a stream; sink_close() notices their errors, too. */
FILE *
sink_stream(Sink *sink)
{
	return sink->stream;
}

/* Writes what is left, and puts a file into its place. */
void
sink_close(Sink *sink)
{
	check(sink, fflush(sink->stream) != 0 || ferror(sink->stream));
	if (sink->stream != stdout)
		check(sink, fclose(sink->stream) != 0);
	if (sink->temporary)
	{
		check(sink, rename(sink->temporary, sink->name) != 0);
		unfinished = NULL;
	}
	free(sink->temporary);
	free(sink->name);
	free(sink);
}
