/*
 * fuzz_secret.c
 *	  Statements with a secret, written in every way that the server's grammar
 *	  takes: none may be left of it.
 *
 * Input: choices.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#include "pfs_secret.h"
#include "pfs_value.h"

#include "fuzz.h"

#define SECRET "fUzZsEcReT"

static const char *const pieces[] = {
	"x", "role", "create", "--", "/*", "*/", "alter", "password", "\\", "$$", "'", "\"", "\xC3\xA4", " ", "9",
	"user", "options", "-", "/", "*",
};

static const struct
{
	const char *verb;
	const char *object;
	const char *before;			/* between name and secret */
	const char *after;
}			statements[] =

{
	{"CREATE", "ROLE", "LOGIN PASSWORD", ""},
	{"ALTER", "ROLE", "PASSWORD", ""},
	{"alter", "user", "with encrypted password", "valid until 'infinity'"},
	{"CREATE", "GROUP", "PASSWORD", ""},
	{"CREATE", "USER", "PASSWORD", "NOLOGIN"},
	{"CREATE", "SUBSCRIPTION", "CONNECTION", "PUBLICATION p"},
	{"Alter", "Subscription", "Connection", ""},
	{"CREATE", "SERVER", "FOREIGN DATA WRAPPER w OPTIONS (password", ")"},
	{"ALTER", "SERVER", "OPTIONS (SET password", ")"},
	{"CREATE", "USER MAPPING FOR CURRENT_USER SERVER", "OPTIONS (password", ")"},
	{"ALTER", "SYSTEM SET", "= 'password=", "'"},
	{"CREATE", "FOREIGN DATA WRAPPER", "HANDLER h OPTIONS (ADD x", ")"},
	{"Alter", "foreign DATA wrapper", "OPTIONS (SET password", ")"},
	{"ALTER", "ROLE", "CONNECTION LIMIT 5 PASSWORD", ""},
	{"ALTER", "DATABASE", "SET primary_conninfo =", ""},
	{"ALTER", "ROLE", "IN DATABASE d SET \"primary_conninfo\" TO", ""},
	{"alter", "user", "set Primary_Conninfo to", ""},
	{"ALTER", "SYSTEM /*", "*/ SET ssl_passphrase_command = ", ""},
	{"SET", "SESSION /*", "*/ primary_conninfo TO", ""},
	{"SELECT pg_catalog.set_config( --", "", "\n 'primary_conninfo' ,", ", false)"},
};

/* Bytes that the choices make, without what would end them. */
static void
put_pieces(StringInfo to, FuzzInput *in, const char *without)
{
	for (int n = fuzz_take(in, 1) % 6; n > 0; n--)
	{
		const char *piece = pieces[fuzz_take(in, 1) % lengthof(pieces)];

		if (strpbrk(piece, without) == NULL)
			appendStringInfoString(to, piece);
	}
}

/* What can stand between two words, and must. */
static void
put_gap(StringInfo to, FuzzInput *in)
{
	for (int n = fuzz_take(in, 1) % 3; n > 0; n--)
	{
		switch (fuzz_take(in, 1) % 4)
		{
			case 0:
				appendStringInfoString(to, "\n\t");
				break;
			case 1:
				appendStringInfoString(to, "/* ");
				put_pieces(to, in, "*/");
				appendStringInfoString(to, " */");
				break;
			case 2:
				appendStringInfoString(to, "-- ");
				put_pieces(to, in, "\n");
				appendStringInfoString(to, "\n");
				break;
			default:
				appendStringInfoString(to, "/* a /* b */ ");
				put_pieces(to, in, "*/");
				appendStringInfoString(to, " */");
		}
	}
	appendStringInfoChar(to, ' ');
}

/* Words, each gap another one. */
static void
put_words(StringInfo to, const char *words, FuzzInput *in)
{
	for (; *words != '\0'; words++)
	{
		if (*words == ' ')
			put_gap(to, in);
		else
			appendStringInfoChar(to, *words);
	}
	put_gap(to, in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput	in = {data, size};
	int			s = fuzz_take(&in, 1) % lengthof(statements);
	StringInfoData str;
	char	   *hidden;
	char	   *slot;

	initStringInfo(&str);
	put_gap(&str, &in);
	put_words(&str, statements[s].verb, &in);
	put_words(&str, statements[s].object, &in);
	appendStringInfoChar(&str, '"');
	put_pieces(&str, &in, "\"");
	appendStringInfoString(&str, "n\"");
	put_gap(&str, &in);
	put_words(&str, statements[s].before, &in);
	appendStringInfoString(&str, fuzz_take(&in, 1) % 2 ? "'" SECRET "'" : "$a$" SECRET "$a$");
	put_gap(&str, &in);
	appendStringInfoString(&str, statements[s].after);
	/* As the reader of another database may get it: cut. */
	if (fuzz_take(&in, 1) % 4 == 0)
		str.data[str.len - fuzz_take(&in, 1) % 8] = '\0';

	hidden = pfs_text_of_statement(str.data, (int) strlen(str.data), PG_UTF8);
	FUZZ_CHECK(strstr(hidden, SECRET) == NULL);
	/* Whoever keeps the message of the statement finds it, too. */
	FUZZ_CHECK(strstr(str.data, SECRET) == NULL || pfs_has_secret(str.data));

	/* No byte behind the end of a text in a slot is looked at. */
	slot = fuzz_copy(str.data, str.len);
	for (size_t len = 0; len <= (size_t) str.len; len++)
	{
		int			shown = pfs_find_secret(slot, len);

		FUZZ_CHECK(shown <= (int) len);
		if (shown >= 0)
			break;
	}
	free(slot);
	fuzz_free_all();
	return 0;
}
