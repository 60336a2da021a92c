/*
 * protobuf.h
 *	  Writes messages in the encoding of Protocol Buffers.
 *
 * A message is a buffer to which fields are added by number; one inside another is made
 * apart and added as a whole.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdint.h>

#include "buffer.h"

extern void pb_varint(Buffer *message, int field, uint64_t value);
extern void pb_fixed64(Buffer *message, int field, uint64_t value);
extern void pb_string(Buffer *message, int field, const char *text);

/* Adds another message and empties it. */
extern void pb_message(Buffer *message, int field, Buffer *inner);

#endif
