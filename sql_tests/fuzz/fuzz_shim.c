/*
 * fuzz_shim.c
 *	  The few functions of the backend that the parsers call, for targets that are
 *	  linked without it.  What PostgreSQL's own libraries (libpgcommon, libpgport)
 *	  have is taken from there.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "fuzz.h"
#include "pfs_imports.h"

int			fuzz_database_encoding = PG_UTF8;
int			fuzz_client_encoding = PG_UTF8;
char	   *namespace_search_path = NULL;
PfsImports	pfs_imports = {.namespace_search_path_at = &namespace_search_path, .strcmp_at = &strcmp, .memcpy_at = &memcpy};

/* All that was allocated, so that nothing has to be freed by who would not. */
typedef struct Chunk
{
	struct Chunk *next;
	Size		size;
} Chunk;

static Chunk *chunks;

void *
palloc(Size size)
{
	Chunk	   *chunk = malloc(sizeof(Chunk) + size);

	FUZZ_CHECK(AllocSizeIsValid(size) && chunk != NULL);
	chunk->next = chunks;
	chunk->size = size;
	chunks = chunk;
	return chunk + 1;
}

void *
repalloc(void *old, Size size)
{
	void	   *new = palloc(size);

	memcpy(new, old, Min(size, ((Chunk *) old - 1)->size));
	return new;
}

void
pfree(void *pointer)
{
}

void
fuzz_free_all(void)
{
	while (chunks != NULL)
	{
		Chunk	   *next = chunks->next;

		free(chunks);
		chunks = next;
	}
}

char *
psprintf(const char *format,...)
{
	va_list		args;
	int			len;
	char	   *result;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	result = palloc(len + 1);
	va_start(args, format);
	vsnprintf(result, len + 1, format, args);
	va_end(args);
	return result;
}

text *
cstring_to_text_with_len(const char *s, int len)
{
	text	   *result = palloc(len + VARHDRSZ);

	SET_VARSIZE(result, len + VARHDRSZ);
	memcpy(VARDATA(result), s, len);
	return result;
}

text *
cstring_to_text(const char *s)
{
	return cstring_to_text_with_len(s, strlen(s));
}

int
GetDatabaseEncoding(void)
{
	return fuzz_database_encoding;
}

int
pg_get_client_encoding(void)
{
	return fuzz_client_encoding;
}

/*
 * As in the server: whole characters, by what their first bytes say, and no
 * byte behind the end that is given.
 */
int
pg_encoding_mbcliplen(int encoding, const char *str, int len, int limit)
{
	int			clipped = 0;

	while (len > 0 && *str)
	{
		int			l = pg_encoding_mblen(encoding, str);

		if (clipped + l > limit)
			break;
		clipped += l;
		if (clipped == limit)
			break;
		len -= l;
		str += l;
	}
	return clipped;
}

int
pg_mbcliplen(const char *str, int len, int limit)
{
	return pg_encoding_mbcliplen(fuzz_database_encoding, str, len, limit);
}

/* A conversion that knows half of the characters, and gives them back longer. */
Oid
FindDefaultConversionProc(int32 from, int32 to)
{
	return from % 3 == 0 ? InvalidOid : (Oid) 1;
}

int
pg_do_encoding_conversion_buf(Oid proc, int src_encoding, int dest_encoding, unsigned char *src,
							  int srclen, unsigned char *dest, int destlen, bool noError)
{
	int			done = 0;
	int			made = 0;

	FUZZ_CHECK(noError && srclen >= 0 && destlen >= srclen * MAX_CONVERSION_GROWTH + 1);
	while (done < srclen && src[done] != 0)
	{
		int			len = IS_HIGHBIT_SET(src[done]) ? pg_encoding_mblen(src_encoding, (char *) src + done) : 1;

		if (done + len > srclen || (IS_HIGHBIT_SET(src[done]) && src[done] % 2 == 0))
			break;
		for (int end = done + len; done < end; done++)
		{
			for (int i = 0; i < (src[done] & 0x80 ? MAX_CONVERSION_GROWTH : 1); i++)
				dest[made++] = src[done] & 0x7F ? src[done] & 0x7F : '?';
		}
	}
	dest[made] = '\0';
	return done;
}
