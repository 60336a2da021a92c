/*
 * fuzz.h
 *	  What the fuzz targets share.  Each is a file fuzz_NAME.c with the entry that
 *	  libFuzzer calls; scripts/fuzz-text says what it is linked with.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be true of every input. */
#define FUZZ_CHECK(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* The input, eaten from the front; 0 behind its end. */
typedef struct FuzzInput
{
	const uint8_t *data;
	size_t		size;
} FuzzInput;

static inline uint64_t
fuzz_take(FuzzInput *in, size_t bytes)
{
	uint64_t	value = 0;

	if (bytes > in->size)
		bytes = in->size;
	memcpy(&value, in->data, bytes);
	in->data += bytes;
	in->size -= bytes;
	return value;
}

/* Fill memory with what is left, again and again; zero without any. */
static inline void
fuzz_fill(FuzzInput *in, void *to, size_t bytes)
{
	char	   *at = to;

	memset(to, 0, bytes);
	while (bytes > 0 && in->size > 0)
	{
		size_t		n = bytes < in->size ? bytes : in->size;

		memcpy(at, in->data, n);
		at += n;
		bytes -= n;
		if (bytes == 0)
		{
			in->data += n;
			in->size -= n;
		}
	}
}

/* A copy of exactly these bytes, so that a byte read behind them is noticed. */
static inline void *
fuzz_copy(const void *bytes, size_t size)
{
	char	   *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, bytes, size);
	return copy;
}

static inline char *
fuzz_string(const void *bytes, size_t size)
{
	char	   *copy = malloc(size + 1);

	memcpy(copy, bytes, size);
	copy[size] = '\0';
	return copy;
}

/* What the server would know; targets that need it set it. */
extern int	fuzz_database_encoding;
extern int	fuzz_client_encoding;

/* Memory of palloc() since the last time. */
extern void fuzz_free_all(void);

#endif							/* FUZZ_H */
