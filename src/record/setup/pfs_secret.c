/*
 * pfs_secret.c
 *	  Which statements can hold a password or a connection string, and where.
 *
 * By the words of the text, as a statement whose quotes were forgotten has no parse tree.
 * Words are looked at wherever they stand, in literals and comments too: a text that shows
 * too little does no harm, and the text of a function holds its statements in a literal.  So no
 * comment is skipped, as what looks like one can stand in a literal.  But one can part
 * two words of a command; where one might, the word that could follow the first one counts
 * wherever it stands.
 *
 * Found are: CREATE and ALTER of what is in `objects`, up to one of `secret_words`; and any SET
 * or set_config() of one of `settings`, with ALTER SYSTEM, DATABASE, ROLE or without, up to the
 * value.  Not found: a password or a connection string that is a value of any other statement
 * (dblink_connect('...'), a column of a table), a name of a setting that is put together or
 * escaped, settings of other extensions, but for a PASSWORD in ALTER SYSTEM, DATABASE or ROLE.
 */
#include "postgres.h"

#include <ctype.h>

#include "pfs_secret.h"

typedef enum Word
{
	WORD_OTHER,
	WORD_VERB,
	WORD_BETWEEN,				/* verb and object */
	WORD_OBJECT,
	WORD_SECRET,				/* the secret follows */
	WORD_CONNECTION,			/* the same, but for CONNECTION LIMIT */
	WORD_SET,
	WORD_SETTING,
} Word;

static const struct
{
	const char *text;
	Word		word;
}			words[] =

{
	{"alter", WORD_VERB},
	{"connection", WORD_CONNECTION},
	{"create", WORD_VERB},
	{"data", WORD_BETWEEN},
	{"database", WORD_OBJECT},
	{"foreign", WORD_BETWEEN},
	{"group", WORD_OBJECT},
	{"options", WORD_SECRET},
	{"password", WORD_SECRET},

	/*
	 * Of all settings of PostgreSQL 15 to 19, the only ones whose value is a
	 * connection string, or a command whose output is a passphrase and that
	 * may well spell it.
	 */
	{"primary_conninfo", WORD_SETTING},
	{"ssl_passphrase_command", WORD_SETTING},

	{"role", WORD_OBJECT},
	{"server", WORD_OBJECT},
	{"set", WORD_SET},
	{"set_config", WORD_SET},
	{"subscription", WORD_OBJECT},
	{"system", WORD_OBJECT},
	{"user", WORD_OBJECT},
	{"wrapper", WORD_OBJECT},
};

static inline bool
is_of_word(char c)
{
	return isalnum((unsigned char) c) || c == '_' || IS_HIGHBIT_SET(c);
}

static inline size_t
word_length(const char *str, const char *end)
{
	const char *at = str;

	while (at < end && is_of_word(*at))
		at++;
	return at - str;
}

static inline bool
is_word(const char *str, size_t len, const char *word)
{
	return strlen(word) == len && pg_strncasecmp(word, str, len) == 0;
}

static Word
find_word(const char *str, size_t len)
{
	char		first = pg_tolower((unsigned char) str[0]);

	for (int i = 0; i < lengthof(words); i++)
	{
		if (words[i].text[0] == first && is_word(str, len, words[i].text))
			return words[i].word;
	}
	return WORD_OTHER;
}

static inline const char *
skip_blanks(const char *str, const char *end)
{
	while (str < end && isspace((unsigned char) *str))
		str++;
	return str;
}

/* Skips blanks and "=" or "TO"; where neither follows it skips nothing. */
static const char *
skip_assignment(const char *str, const char *end)
{
	const char *at = skip_blanks(str, end);

	if (at < end && *at == '=')
		return at + 1;
	return is_word(at, word_length(at, end), "to") ? at + strlen("to") : str;
}

/* CONNECTION LIMIT, as of roles and databases. */
static bool
is_limit(const char *str, const char *end)
{
	const char *at = skip_blanks(str, end);

	return at > str && is_word(at, word_length(at, end), "limit");
}

/*
 * Returns behind how many bytes of a text a secret can begin, or -1, for those who show
 * texts of statements.  One pass over the words.  What a word has switched on stays on to
 * the end of the text, as nothing tells where a statement in a literal ends: `armed` since
 * CREATE or ALTER of an object with a secret, `sets` since SET, `parted` since something
 * like the begin of a comment stood behind a verb.
 */
int
pfs_find_secret(const char *str, size_t len)
{
	const char *end = str + len;
	bool		after_verb = false;
	bool		parted = false;
	bool		armed = false;
	bool		sets = false;

	for (const char *at = str; at < end;)
	{
		size_t		n = word_length(at, end);
		Word		word;

		if (n == 0)
		{
			if (after_verb && end - at >= 2 && ((at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*')))
				parted = true;
			at++;
			continue;
		}
		word = find_word(at, n);
		at += n;
		switch (word)
		{
			case WORD_SECRET:
				if (armed)
					return at - str;
				break;
			case WORD_CONNECTION:
				if (armed && !is_limit(at, end))
					return at - str;
				break;
			case WORD_SETTING:
				if (sets)
					return skip_assignment(at, end) - str;
				break;
			case WORD_SET:
				sets = true;
				break;
			case WORD_OBJECT:
				if (after_verb || parted)
					armed = true;
				break;
			default:
				break;
		}
		after_verb = word == WORD_VERB || (after_verb && word == WORD_BETWEEN);
	}
	return -1;
}
