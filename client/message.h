/*
 * message.h
 *	  What the program says on standard error, and how it ends.
 *
 * A message is one line that says what to do where something can be done.  Control
 * characters in it are made harmless: parts of it come from servers.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit status.  For "doctor": well, something to do, cannot tell. */
#define STATUS_OK 0
#define STATUS_FAILED 1
#define STATUS_UNUSABLE 2		/* wrong options, no connection, no rights */

extern void warn(const char *format,...) __attribute__((format(printf, 1, 2)));
extern void die(int status, const char *format,...) __attribute__((format(printf, 2, 3), noreturn));

/*
 * Set by SIGINT, SIGTERM and SIGHUP once catch_signals() was called; a second one ends the
 * program at once.  Long loops look at it; queries are cancelled by it.
 */
extern volatile sig_atomic_t interrupted;
extern void catch_signals(void);

/* Is the stream a terminal that shows colours, and are they wanted (NO_COLOR)? */
extern bool wants_color(FILE *stream);

/*
 * Progress of work that takes long, as one line on standard error that writes over
 * itself; nothing where that is no terminal.  total 0: unknown.
 */
extern void progress(const char *what, long done, long total);
extern void progress_end(void);

#endif
