/*
 * pfs_text.c
 *	  Texts of other sessions: encodings and secrets.
 *
 * Apart from pfs_value.c because these texts are somebody else's bytes: they
 * come in the encoding of another database, can be cut in the middle of a
 * character, can hold passwords, and must never make a query fail.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"

#include "pfs_secret.h"
#include "pfs_value.h"

/*
 * Stands for what is invalid, or has no counterpart in the encoding of the reader's database
 * or of its client.
 */
#define REPLACEMENT '?'

/* Valid already, but for bytes that make no character. */
static char *
copy_valid(const char *str, int len, int encoding)
{
	char	   *result = palloc(len + 1);
	int			done = 0;

	while (done < len)
	{
		int			good = pg_encoding_verifymbstr(encoding, str + done, len - done);

		memcpy(result + done, str + done, good);
		done += good;
		if (done < len)
			result[done++] = REPLACEMENT;
	}
	result[len] = '\0';
	return result;
}

/*
 * Append what a conversion makes of the text, or, if only whether it converts is of
 * interest, the text itself; in both, REPLACEMENT for each character that does not convert.
 */
static void
append_convertible(StringInfo buf, const char *str, int len, int from, int to, bool converted)
{
	Oid			proc = FindDefaultConversionProc(from, to);
	const char *end = str + len;
	char	   *piece = palloc(len * MAX_CONVERSION_GROWTH + 1);

	while (str < end)
	{
		int			done = 0;

		if (OidIsValid(proc))
		{
			piece[0] = '\0';
			done = pg_do_encoding_conversion_buf(proc, from, to, (unsigned char *) str,
												 end - str, (unsigned char *) piece,
												 (end - str) * MAX_CONVERSION_GROWTH + 1, true);
		}
		else
		{
			while (done < end - str && !IS_HIGHBIT_SET(str[done]))
				done++;
		}
		if (converted && OidIsValid(proc))
			appendStringInfoString(buf, piece);
		else
			appendBinaryStringInfo(buf, str, done);
		str += done;
		if (str < end)
		{
			appendStringInfoChar(buf, REPLACEMENT);
			str += Min(pg_encoding_mblen(from, str), end - str);
		}
	}
	pfree(piece);
}

char *
pfs_text_convert(const char *str, int len, int encoding)
{
	int			to = GetDatabaseEncoding();
	StringInfoData buf;

	/* The writer may have cut it inside a character. */
	len = pg_encoding_mbcliplen(encoding, str, len, len);
	if (encoding == to || encoding == PG_SQL_ASCII || to == PG_SQL_ASCII)
		return copy_valid(str, len, to);
	initStringInfo(&buf);
	append_convertible(&buf, str, len, encoding, to, true);
	return buf.data;
}

char *
pfs_text_of_statement(const char *str, int len, int encoding)
{
	int			shown = pfs_find_secret(str, len);

	if (shown < 0)
		return pfs_text_convert(str, len, encoding);
	return psprintf("%s " PFS_SECRET_TEXT, pfs_text_convert(str, shown, encoding));
}

static bool
is_ascii(const char *str, int len)
{
	for (int i = 0; i < len; i++)
	{
		if (IS_HIGHBIT_SET(str[i]))
			return false;
	}
	return true;
}

/*
 * A valid text of this database, without what the server would refuse to send to the
 * client.  From a database in SQL_ASCII it sends what is valid in the client's encoding,
 * else what has a counterpart there.
 */
static char *
copy_for_client(const char *str, int len)
{
	int			encoding = GetDatabaseEncoding();
	int			client = pg_get_client_encoding();
	StringInfoData buf;

	if (encoding == PG_SQL_ASCII)
		return copy_valid(str, len, client);
	initStringInfo(&buf);
	append_convertible(&buf, str, len, encoding, client, false);
	return buf.data;
}

/*
 * Makes a text of bytes that need not be valid: replaces what the database's encoding
 * does not allow, and what the client's cannot show.
 */
Datum
pfs_text_datum(const char *str)
{
	int			len = strlen(str);
	int			encoding = GetDatabaseEncoding();
	int			client = pg_get_client_encoding();

	if (likely(is_ascii(str, len)))
		return PointerGetDatum(cstring_to_text_with_len(str, len));
	if (pg_encoding_verifymbstr(encoding, str, len) != len)
		str = copy_valid(str, len, encoding);
	if (client != encoding && client != PG_SQL_ASCII)
	{
		/* What stands for a character can be shorter than it. */
		str = copy_for_client(str, len);
		len = strlen(str);
	}
	return PointerGetDatum(cstring_to_text_with_len(str, len));
}

Datum
pfs_text_or_null(const char *str, bool *isnull)
{
	return str == NULL ? pfs_null(isnull) : pfs_text_datum(str);
}
