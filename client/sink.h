/*
 * sink.h
 *	  Where a command's output goes: standard output, or a file of mode 0600.
 *
 * A file is written beside its place and takes it when the sink is closed, so that a
 * run that fails leaves an older file as it was; so signals are caught from then on, see
 * catch_signals().  What cannot be written ends the program with a message.
 */
#ifndef SINK_H
#define SINK_H

#include <stddef.h>
#include <stdio.h>

typedef struct Sink Sink;

/* NULL or "-": standard output. */
extern Sink *sink_open(const char *file);
extern void sink_write(Sink *sink, const void *data, size_t length);
extern void sink_string(Sink *sink, const char *text);
extern void sink_printf(Sink *sink, const char *format,...) __attribute__((format(printf, 2, 3)));
extern FILE *sink_stream(Sink *sink);
extern void sink_close(Sink *sink);

#endif
