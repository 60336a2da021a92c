/*
 * buffer.c
 *	  Texts, a string that grows, and memory that is there or ends the program.
 */
#include "buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

void *
check_memory(void *memory)
{
	if (memory == NULL)
	{
		clean_up();
		fputs("pfs: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

void *
allocate(size_t size)
{
	return check_memory(calloc(1, size ? size : 1));
}

void *
reallocate(void *old, size_t size)
{
	return check_memory(realloc(old, size ? size : 1));
}

char *
copy_string(const char *text)
{
	return check_memory(strdup(text));
}

char *
format_string(const char *format,...)
{
	Buffer		buffer = {0};
	va_list		arguments;

	va_start(arguments, format);
	buffer_vprintf(&buffer, format, arguments);
	va_end(arguments);
	return buffer.data;
}

/* Makes place for that many bytes more, and a zero byte. */
static void
reserve(Buffer *buffer, size_t more)
{
	size_t		size = buffer->size ? buffer->size : 64;

	while (size - buffer->length <= more)
		size *= 2;
	if (size != buffer->size)
	{
		buffer->data = reallocate(buffer->data, size);
		buffer->size = size;
	}
}

void
buffer_add(Buffer *buffer, const char *data, size_t length)
{
	reserve(buffer, length);
	if (length > 0)
		memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void
buffer_add_string(Buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

void
buffer_add_char(Buffer *buffer, char c)
{
	buffer_add(buffer, &c, 1);
}

/* Adds a formatted text, of any length. */
void
buffer_vprintf(Buffer *buffer, const char *format, va_list arguments)
{
	va_list		again;
	int			length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		length = 0;
	reserve(buffer, length);
	vsnprintf(buffer->data + buffer->length, length + 1, format, arguments);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void
buffer_printf(Buffer *buffer, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	buffer_vprintf(buffer, format, arguments);
	va_end(arguments);
}

/* Empties it and keeps its memory. */
void
buffer_clear(Buffer *buffer)
{
	buffer->length = 0;
	if (buffer->data)
		buffer->data[0] = '\0';
}

void
buffer_free(Buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
