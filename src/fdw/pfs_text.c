/*
 * pfs_text.c
 *	  Texts of other sessions: encodings and secrets.
 *
 * Apart from pfs_value.c because these texts are somebody else's bytes: they
 * come in the encoding of another database, can be cut in the middle of a
 * character, can hold passwords, and must never make a query fail.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"

#include "pfs_value.h"

/* Stands for what is invalid or has no counterpart in the reader's encoding. */
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

char *
pfs_text_convert(const char *str, int len, int encoding)
{
	int			to = GetDatabaseEncoding();
	const char *end;
	Oid			proc;
	StringInfoData buf;
	char	   *piece;

	/* The writer may have cut it inside a character. */
	len = pg_encoding_mbcliplen(encoding, str, len, len);
	end = str + len;
	if (encoding == to || encoding == PG_SQL_ASCII || to == PG_SQL_ASCII)
		return copy_valid(str, len, to);

	proc = FindDefaultConversionProc(encoding, to);
	initStringInfo(&buf);
	piece = palloc(len * MAX_CONVERSION_GROWTH + 1);
	while (str < end)
	{
		int			done = 0;

		if (OidIsValid(proc))
		{
			piece[0] = '\0';
			done = pg_do_encoding_conversion_buf(proc, encoding, to, (unsigned char *) str,
												 end - str, (unsigned char *) piece,
												 (end - str) * MAX_CONVERSION_GROWTH + 1, true);
			appendStringInfoString(&buf, piece);
		}
		else
		{
			while (done < end - str && !IS_HIGHBIT_SET(str[done]))
				appendStringInfoChar(&buf, str[done++]);
		}
		str += done;
		if (str < end)
		{
			appendStringInfoChar(&buf, REPLACEMENT);
			str += Min(pg_encoding_mblen(encoding, str), end - str);
		}
	}
	return buf.data;
}

Datum
pfs_text_datum(const char *str)
{
	int			len = strlen(str);
	int			encoding = GetDatabaseEncoding();

	if (pg_encoding_verifymbstr(encoding, str, len) == len)
		return PointerGetDatum(cstring_to_text_with_len(str, len));
	return CStringGetTextDatum(copy_valid(str, len, encoding));
}

Datum
pfs_text_or_null(const char *str, bool *isnull)
{
	return str == NULL ? pfs_null(isnull) : pfs_text_datum(str);
}

/* What begins a command that can hold secrets, and what the secret follows. */
static const char *const secret_verbs[] = {"alter", "create"};
static const char *const secret_objects[] = {"role", "user", "group", "subscription", "server", "system"};
static const char *const secret_words[] = {"password", "options", "connection"};

static bool
is_one_of(const char *word, int len, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (strlen(words[i]) == len && pg_strncasecmp(words[i], word, len) == 0)
			return true;
	}
	return false;
}

/*
 * Where the text has to be cut, or NULL.  Words are looked at wherever they
 * stand, in literals and comments too: a text that shows too little does no
 * harm.  So no comment is skipped, as what looks like one can stand in a literal.
 * But one can part the verb from the object; where one might, any object behind
 * it counts.
 */
static const char *
find_secret(const char *str)
{
	bool		after_verb = false;
	bool		parted = false;
	bool		armed = false;

	while (*str)
	{
		int			len = 0;

		while (isalnum((unsigned char) str[len]) || str[len] == '_' || IS_HIGHBIT_SET(str[len]))
			len++;
		if (len == 0)
		{
			if (after_verb && ((str[0] == '-' && str[1] == '-') || (str[0] == '/' && str[1] == '*')))
				parted = true;
			str++;
			continue;
		}
		if (armed && is_one_of(str, len, secret_words, lengthof(secret_words)))
			return str + len;
		if ((after_verb || parted) && is_one_of(str, len, secret_objects, lengthof(secret_objects)))
			armed = true;
		after_verb = is_one_of(str, len, secret_verbs, lengthof(secret_verbs));
		str += len;
	}
	return NULL;
}

char *
pfs_hide_secrets(char *str)
{
	const char *cut = find_secret(str);

	if (cut == NULL)
		return str;
	str[cut - str] = '\0';
	return psprintf("%s <hidden>", str);
}
