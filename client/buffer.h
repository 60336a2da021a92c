/*
 * buffer.h
 *	  Texts, a string that grows, and memory that is there or ends the program.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct Buffer
{
	char	   *data;			/* always ends with a zero byte, once
								 * something was added */
	size_t		length;
	size_t		size;
} Buffer;

/* Of a function that returns NULL where there is no memory. */
extern void *check_memory(void *memory);

/* Zeroed. */
extern void *allocate(size_t size);
extern void *reallocate(void *old, size_t size);
extern char *copy_string(const char *text);
extern char *format_string(const char *format,...) __attribute__((format(printf, 1, 2)));

extern void buffer_add(Buffer *buffer, const char *data, size_t length);
extern void buffer_add_string(Buffer *buffer, const char *text);
extern void buffer_add_char(Buffer *buffer, char c);
extern void buffer_printf(Buffer *buffer, const char *format,...) __attribute__((format(printf, 2, 3)));
extern void buffer_vprintf(Buffer *buffer, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
extern void buffer_clear(Buffer *buffer);
extern void buffer_free(Buffer *buffer);

/* The text of a buffer, also of one to which nothing was added. */
static inline const char *
buffer_text(const Buffer *buffer)
{
	return buffer->data ? buffer->data : "";
}

/* Compares two texts, of which NULL is none. */
static inline bool
same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

#endif
