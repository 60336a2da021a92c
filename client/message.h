/*
 * message.h
 *	  What the program says on standard error, how it ends, and its clock.
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

/*
 * What a user or a file gave, as messages quote it: one line, cut where it is longer than a message should be.
 * To be freed, unless the program ends with the message.
 */
extern char *quote(const char *text);

extern void warn(const char *format,...) __attribute__((format(printf, 1, 2)));
extern void die(int status, const char *format,...) __attribute__((format(printf, 2, 3), noreturn));

/*
 * Set by SIGINT, SIGTERM and SIGHUP once catch_signals() was called; a second SIGINT or SIGTERM ends the
 * program at once, a second SIGHUP does not, as a terminal that goes away sends two.  Long loops look at it;
 * queries are cancelled by it.
 */
extern volatile sig_atomic_t interrupted;
extern void catch_signals(void);

/*
 * Functions that put the terminal right or remove a file: called before the program ends, also by a second
 * signal, by SIGQUIT, or for want of memory.  They may be called twice.
 */
extern void add_clean_up(void (*function) (void));
extern void clean_up(void);

/* Milliseconds of CLOCK_MONOTONIC. */
extern long clock_ms(void);

/*
 * For loops that look at something again and again: waits until step milliseconds behind the last
 * moment, or not at all where a look took longer, and stores the new moment.  False: it is the end, or a
 * signal came.
 */
extern bool wait_for_next(long *moment, long step, long end);

/* Is the stream a terminal that shows colours, and are they wanted (NO_COLOR)? */
extern bool wants_color(FILE *stream);

/*
 * Progress of work that takes long, as one line on standard error that writes over
 * itself; nothing where that is no terminal.
 */
extern void progress(const char *what, long done, long total);
extern void progress_end(void);

#endif
