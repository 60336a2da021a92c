/*
 * message.c
 *	  What the program says on standard error, how it ends, and its clock.
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

#define MOST_CLEAN_UPS 4
static void (*clean_ups[MOST_CLEAN_UPS]) (void);
static volatile sig_atomic_t num_clean_ups = 0;

/* Bytes of a text that messages quote: more than every name that is right. */
#define QUOTED_MAX 128

char *
quote(const char *text)
{
	return short_line(text, QUOTED_MAX);
}

/* Writes one line on standard error, below a line of progress if there is one. */
static void
say(const char *format, va_list arguments)
{
	Buffer		text = {0};
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

/* Catches a signal, unless whoever started the program wants it ignored, as nohup does. */
static void
catch_signal(int signal_number, void (*handler) (int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct sigaction before;

	if (sigaction(signal_number, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
		sigaction(signal_number, &action, NULL);
}

/* The signal does the rest: it is not blocked here, and its handler is the default again. */
static void
end_at_once(int signal_number)
{
	clean_up();
	raise(signal_number);
}

static void
end_by_signal(int signal_number)
{
	catch_signal(signal_number, end_at_once, (int) (SA_RESETHAND | SA_NODEFER));
}

static void
interrupt(int signal_number)
{
	interrupted = signal_number;
	/* A shell and the kernel both say that the terminal goes away. */
	if (signal_number != SIGHUP)
		end_by_signal(signal_number);
}

void
catch_signals(void)
{
	catch_signal(SIGHUP, interrupt, 0);
	catch_signal(SIGINT, interrupt, 0);
	catch_signal(SIGTERM, interrupt, 0);
}

/* The function counts only when it is in its place, as a signal may come at any time. */
void
add_clean_up(void (*function) (void))
{
	for (int i = 0; i < num_clean_ups; i++)
	{
		if (clean_ups[i] == function)
			return;
	}
	if (num_clean_ups == MOST_CLEAN_UPS)
		return;
	clean_ups[num_clean_ups] = function;
	if (++num_clean_ups > 1)
		return;
	atexit(clean_up);
	end_by_signal(SIGQUIT);
}

void
clean_up(void)
{
	for (int i = num_clean_ups; i > 0; i--)
		clean_ups[i - 1] ();
}

long
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Sleeps for a tenth of a second at most: a signal that comes just before a sleep does not end it. */
bool
wait_for_next(long *moment, long step, long end)
{
	long		left;

	*moment = *moment + step > clock_ms() ? *moment + step : clock_ms();
	if (*moment > end)
		*moment = end;
	while (!interrupted && (left = *moment - clock_ms()) > 0)
		usleep((left < 100 ? left : 100) * 1000);
	return !interrupted && *moment < end;
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
	static long last;

	if (!isatty(STDERR_FILENO) || (progress_shown && clock_ms() - last < 100))
		return;
	last = clock_ms();
	progress_shown = true;
	fprintf(stderr, "\r%s: %ld of %ld\033[K", what, done, total);
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
