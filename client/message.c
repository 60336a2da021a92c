/*
 * message.c
 *	  What the program says on standard error, and how it ends.
 */
#include "message.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "buffer.h"
#include "escape.h"

volatile sig_atomic_t interrupted = 0;

static bool progress_shown = false;

/* Writes one line on standard error, below a line of progress if there is one. */
static void
say(const char *format, va_list arguments)
{
	Buffer text = {0};
	Buffer		line = {0};

	progress_end();
	buffer_vprintf(&text, format, arguments);
	buffer_add_string(&line, "pfs: ");
	escape_terminal(&line, buffer_text(&text), text.length);
	buffer_add_char(&line, '\n');
	fputs(line.data, stderr);
	buffer_free(&text);
	buffer_free(&line);
}

void
warn(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void
die(int status, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(status);
}

static void
interrupt(int signal_number)
{
	interrupted = signal_number;
}

/* Catches a signal, unless whoever started the program wants it ignored, as nohup does. */
static void
catch_signal(int signal_number, int flags)
{
	struct sigaction action = {.sa_handler = interrupt, .sa_flags = flags};
	struct sigaction before;

	if (sigaction(signal_number, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
		sigaction(signal_number, &action, NULL);
}

void
catch_signals(void)
{
	/* A shell and the kernel both say that the terminal goes away. */
	catch_signal(SIGHUP, 0);
	catch_signal(SIGINT, (int) SA_RESETHAND);
	catch_signal(SIGTERM, (int) SA_RESETHAND);
}

bool
wants_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return (no_color == NULL || no_color[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0 &&
		isatty(fileno(stream));
}

/* Writes at most ten times a second. */
void
progress(const char *what, long done, long total)
{
	static struct timespec last;
	struct timespec now;

	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (progress_shown && (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 < 100)
		return;
	last = now;
	progress_shown = true;
	if (total > 0)
		fprintf(stderr, "\r%s: %ld of %ld\033[K", what, done, total);
	else
		fprintf(stderr, "\r%s: %ld\033[K", what, done);
	fflush(stderr);
}

/* Takes the line away. */
void
progress_end(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}
