/*
 * protobuf.c
 *	  Writes messages in the encoding of Protocol Buffers.
 */
#include "protobuf.h"

#include <string.h>

/* Kinds of fields. */
#define VARINT 0
#define FIXED64 1
#define LENGTH 2

static void
add_varint(Buffer *message, uint64_t value)
{
	while (value >= 0x80)
	{
		buffer_add_char(message, (char) (value | 0x80));
		value >>= 7;
	}
	buffer_add_char(message, (char) value);
}

static void
add_field(Buffer *message, int field, int kind)
{
	add_varint(message, (uint64_t) field << 3 | kind);
}

void
pb_varint(Buffer *message, int field, uint64_t value)
{
	add_field(message, field, VARINT);
	add_varint(message, value);
}

/* The lowest byte comes first. */
void
pb_fixed64(Buffer *message, int field, uint64_t value)
{
	add_field(message, field, FIXED64);
	for (int i = 0; i < 8; i++)
		buffer_add_char(message, (char) (value >> 8 * i));
}

static void
pb_bytes(Buffer *message, int field, const char *data, size_t length)
{
	add_field(message, field, LENGTH);
	add_varint(message, length);
	buffer_add(message, data, length);
}

void
pb_string(Buffer *message, int field, const char *text)
{
	pb_bytes(message, field, text, strlen(text));
}

void
pb_message(Buffer *message, int field, Buffer *inner)
{
	pb_bytes(message, field, buffer_text(inner), inner->length);
	buffer_clear(inner);
}
