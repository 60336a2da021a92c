/*
 * fuzz_digest.c
 *	  The text of a digest (pfs_instr_digest.c), made from places that say where
 *	  constants are, right or wrong, and without such places, with a scanner that knows
 *	  strings, numbers and words, and fails at a byte of 1.
 *
 * Input: how much is kept, the statement's place, which numbers are used, the
 * constants' places, then the text.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/scanner.h"
#include "utils/memutils.h"

#include "pfs_digest.h"
#include "pfs_instr_digest.h"
#include "pfs_shared.h"

#include "fuzz.h"

#define CONSTANTS_MAX 16

PfsSizes	pfs_sizes;
PfsLocal	pfs_local;
uint64		pfs_digests_without_text;
MemoryContext CurrentMemoryContext;
Oid			MyDatabaseId = 1;
sigjmp_buf *PG_exception_stack;
volatile uint32 InterruptHoldoffCount;
volatile uint32 QueryCancelHoldoffCount;
ErrorContextCallback *error_context_stack;
const uint16 ScanKeywordTokens[1];

static const char *whole;		/* the statement, blanks around it apart */
static int	whole_len;
static bool has_constants;
static bool is_executed;		/* without parse analysis */
static CmdType command;
const char *debug_query_string;

Oid
GetUserId(void)
{
	return 10;
}

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size min, Size init, Size max)
{
	return NULL;
}

void
MemoryContextDelete(MemoryContext context)
{
}

void
FlushErrorState(void)
{
}

PfsDigestTextState
pfs_digest_has_text(const PfsThread *t, const PfsDigestKey *key)
{
	return PFS_TEXT_NONE;
}

bool		pfs_text_is_made = false;

uint32
pfs_plan_find(const PfsDigestKey *key, uint64 plan_id, uint64 *word)
{
	return 0;
}

void
pfs_digest_put_text(const PfsDigestKey *key, const char *str, uint32 len, bool provisional)
{
	FUZZ_CHECK(provisional || command != CMD_SELECT || memchr(whole, 's', whole_len) != NULL ||
			   memchr(whole, 'S', whole_len) != NULL || memchr(whole, 'w', whole_len) != NULL ||
			   memchr(whole, 'W', whole_len) != NULL || memchr(whole, 't', whole_len) != NULL ||
			   memchr(whole, 'T', whole_len) != NULL);
	FUZZ_CHECK(len <= pfs_sizes.digest_text);
	FUZZ_CHECK(pg_encoding_verifymbstr(PG_UTF8, str, len) == (int) len);
	/* Where there is no exact one, no string is left. */
	if (is_executed && (command != CMD_UTILITY || PFS_UTILITIES_HAVE_CONSTANTS))
		FUZZ_CHECK(provisional && memchr(str, '\'', len) == NULL);
	else if (!has_constants || is_executed)
		FUZZ_CHECK((int) len <= whole_len && memcmp(str, whole, len) == 0 &&
				   (len == whole_len || len + MAX_MULTIBYTE_CHAR_LEN > pfs_sizes.digest_text));
}

/* As the server's: where the statement is in its string. */
const char *
CleanQuerytext(const char *query, int *location, int *len)
{
	int			n;

	*location = Max(*location, 0);
	query += *location;
	n = *len > 0 ? *len : (int) strlen(query);
	while (n > 0 && strchr(" \t\n", query[0]) != NULL)
		query++, (*location)++, n--;
	while (n > 0 && strchr(" \t\n", query[n - 1]) != NULL)
		n--;
	*len = n;
	whole = query;
	whole_len = n;
	return query;
}

/* One scanner at a time; as the server's, it ends its buffer behind each token. */
typedef struct Scanner
{
	char	   *buffer;
	size_t		at;
	char		hold;			/* what stood where the buffer ends now */
	bool		ended;
} Scanner;

static Scanner scanner;

core_yyscan_t
scanner_init(const char *str, core_yy_extra_type *extra, const ScanKeywordList *keywords, const uint16 *tokens)
{
	scanner.buffer = extra->scanbuf = palloc(strlen(str) + 2);
	strcpy(scanner.buffer, str);
	scanner.at = 0;
	scanner.ended = false;
	return &scanner;
}

void
scanner_finish(core_yyscan_t yyscanner)
{
}

static bool
is_word(char c)
{
	return isalnum((unsigned char) c) || c == '_' || IS_HIGHBIT_SET(c);
}

int
core_yylex(core_YYSTYPE *value, YYLTYPE * place, core_yyscan_t yyscanner)
{
	char	   *s = scanner.buffer;
	size_t		end;

	if (scanner.ended)
		s[scanner.at] = scanner.hold;
	while (s[scanner.at] != '\0' && strchr(" \t\n", s[scanner.at]) != NULL)
		scanner.at++;
	end = scanner.at;
	*place = (int) end;
	if (s[end] == '\0')
	{
		scanner.ended = false;
		return 0;
	}
	if (s[end] == '\'')
	{
		for (end++; s[end] != '\'' && s[end] != '\0'; end++)
			;
		end += s[end] == '\'' ? 1 : 0;
	}
	else if (is_word(s[end]))
	{
		while (is_word(s[end]))
			end++;
	}
	else if (s[end] == 1)
		siglongjmp(*PG_exception_stack, 1);
	else
		end++;
	scanner.at = end;
	scanner.hold = s[end];
	scanner.ended = true;
	s[end] = '\0';
	return 1;
}

/* Back to where a character begins. */
static int
to_character(const char *str, int at)
{
	while (at > 0 && ((unsigned char) str[at] & 0xC0) == 0x80)
		at--;
	return at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput	in = {data, size};
	JumbleState jumble = {0};
	LocationLen constants[CONSTANTS_MAX] = {0};
	PfsThread  *t = calloc(1, sizeof(PfsThread));
	PfsStatementSource source;
	uint8		places[CONSTANTS_MAX];
	int			location;
	int			len;
	int			n;
	char	   *str;

	fuzz_database_encoding = PG_UTF8;
	pfs_sizes.digest_text = fuzz_take(&in, 1);
	location = (int) fuzz_take(&in, 1) - 1;
	len = fuzz_take(&in, 1);
	jumble.highest_extern_param_id = fuzz_take(&in, 1);
	jumble.clocations_count = fuzz_take(&in, 1) % CONSTANTS_MAX;
	has_constants = jumble.clocations_count > 0;
	for (int i = 0; i < jumble.clocations_count; i++)
		places[i] = fuzz_take(&in, 1);

	n = strnlen((const char *) in.data, in.size);
	n = pg_encoding_verifymbstr(PG_UTF8, (const char *) in.data, n);
	str = fuzz_string(in.data, n);
	location = to_character(str, Min(location, n));
	len = location < 0 ? 0 : to_character(str + location, Min(len, n - location));
	for (int i = 0; i < jumble.clocations_count; i++)
	{
		constants[i].location = to_character(str, Min(places[i], n));
		constants[i].length = -1;
	}
	jumble.clocations = constants;
	command = n % 2 ? CMD_SELECT : CMD_UTILITY;
	debug_query_string = n % 3 ? str : NULL;
	source = (PfsStatementSource)
	{
		.str = str, .location = location, .len = len, .query_id = 1, .command = command
	};
	is_executed = false;
	pfs_digest_text_parsed(t, &source, &jumble);
	is_executed = true;
	pfs_digest_text_executed(t, &source);

	free(str);
	free(t);
	fuzz_free_all();
	return 0;
}
