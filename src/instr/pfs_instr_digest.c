/*
 * pfs_instr_digest.c
 *	  The text of a digest: the statement with parameters for its constants.
 *
 * Which constants tell shapes apart is known at parse analysis only, from the server's own
 * computation of the query identifier; how long they are the server's own scanner
 * says, which reads from the first one on.  So the text is made there, once per
 * digest (twice if the first one was no statement as a client writes it), in a memory
 * context of its own.  It looks as users of pg_stat_statements know it: white space and
 * comments stay, constants are $1, $2, ... behind the query's own parameters.  Separate
 * from pfs_instr_hooks.c, as nothing else of the statements scans texts.
 *
 * A plan that is cached is executed without parse analysis.  If its digest was made anew
 * since that, by a truncation or an eviction, the next execution gives it a text in which
 * parameters stand for all numbers and strings that the scanner finds: that can be more
 * of them, as in numeric(10,2).  It is provisional.
 *
 * The scanner reads with the settings that hold now.  If they have changed since the
 * text was parsed (standard_conforming_strings), it can find an error in it, or a
 * string where none is: then the digest has an empty text, which readers do not show, until a
 * better one comes.
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "pfs_compat_hooks.h"
#include "pfs_digest.h"
#include "pfs_instr_digest.h"
#include "pfs_shared.h"

static int
by_location(const void *a, const void *b)
{
	const PfsConstant *x = a;
	const PfsConstant *y = b;

	return (x->location > y->location) - (x->location < y->location);
}

/* Returns the constants of one part of the query, in the order of their places. */
static PfsConstant *
find_constants(const JumbleState *jumble, int part, int part_len, int *n)
{
	PfsConstant *constants = palloc(jumble->clocations_count * sizeof(PfsConstant));

	*n = 0;
	for (int i = 0; i < jumble->clocations_count; i++)
	{
		PfsConstant constant;

		if (!pfs_compat_constant(jumble, i, &constant))
			continue;
		constant.location -= part;
		if (constant.location >= 0 && constant.location < part_len)
			constants[(*n)++] = constant;
	}
	qsort(constants, *n, sizeof(PfsConstant), by_location);
	return constants;
}

/*
 * Returns where the token at this place ends, -1 if none begins there.  A minus sign goes
 * with the number behind it.
 */
static int
token_end(core_yyscan_t scanner, const core_yy_extra_type *extra, int location, int *at)
{
	core_YYSTYPE value;
	YYLTYPE		place;

	while (*at < location)
	{
		if (core_yylex(&value, &place, scanner) == 0)
			return -1;
		*at = place;
	}
	if (*at != location)
		return -1;
	if (extra->scanbuf[location] == '-' && core_yylex(&value, &place, scanner) == 0)
		return -1;
	/* The scanner ends its buffer behind the token that it gave last. */
	return location + strlen(extra->scanbuf + location);
}

/* Does a token begin as a constant does?  The $ of a parameter has a digit behind it. */
static bool
is_constant(const char *token)
{
	switch (token[0])
	{
		case '\'':
			return true;
		case 'b':
		case 'B':
		case 'e':
		case 'E':
		case 'x':
		case 'X':
			return token[1] == '\'';
		case 'u':
		case 'U':
			return token[1] == '&' && token[2] == '\'';
		case '$':
			return !isdigit((unsigned char) token[1]);
		case '.':
			return isdigit((unsigned char) token[1]);
		default:
			return isdigit((unsigned char) token[0]);
	}
}

/*
 * Returns the constants that the scanner finds in a text, and the number of the first
 * parameter behind the text's own ones.
 */
static PfsConstant *
scan_constants(const char *str, int len, int *n, int *first)
{
	int			room = 64;
	PfsConstant *constants = palloc(room * sizeof(PfsConstant));
	core_yy_extra_type extra;
	core_yyscan_t scanner = scanner_init(str, &extra, &ScanKeywords, ScanKeywordTokens);
	core_YYSTYPE value;
	YYLTYPE		place;

	*n = 0;
	*first = 1;
	pfs_compat_scan_silently(&extra);
	while (core_yylex(&value, &place, scanner) != 0 && place < len)
	{
		const char *token = extra.scanbuf + place;

		if (token[0] == '$' && isdigit((unsigned char) token[1]))
			*first = Max(*first, value.ival + 1);
		if (!is_constant(token))
			continue;
		if (*n == room)
			constants = repalloc(constants, (room *= 2) * sizeof(PfsConstant));
		/* The scanner ends its buffer behind the token that it gave last. */
		constants[(*n)++] = (PfsConstant)
		{
			place, strlen(token), false
		};
	}
	scanner_finish(scanner);
	return constants;
}

/*
 * Puts the text with parameters for its constants into `to`; what comes behind the
 * length that is kept is not made.  jumble NULL: they are those that the scanner finds.
 * False: what it finds cannot be what the parser found.
 */
static bool
normalise(StringInfo to, const char *str, int part, int len, const JumbleState *jumble)
{
	int			first;
	int			n;
	PfsConstant *constants;
	core_yy_extra_type extra;
	core_yyscan_t scanner = NULL;
	int			base = 0;
	int			number = 0;
	int			copied = 0;
	int			at = -1;

	if (jumble != NULL)
	{
		first = pfs_compat_first_parameter(jumble);
		constants = find_constants(jumble, part, len, &n);
	}
	else
		constants = scan_constants(str, len, &n, &first);
	for (int i = 0; i < n && to->len <= pfs_sizes.digest_text; i++)
	{
		const PfsConstant *constant = &constants[i];
		bool		again = i > 0 && constant->location == constants[i - 1].location;
		int			end;

		if (again || constant->location < copied)
			end = -1;
		else if (constant->length >= 0)
			end = constant->location + constant->length;
		else
		{
			/* Most texts begin without one, and it begins a token. */
			if (scanner == NULL)
			{
				base = constant->location;
				scanner = scanner_init(str + base, &extra, &ScanKeywords, ScanKeywordTokens);
				pfs_compat_scan_silently(&extra);
			}
			end = token_end(scanner, &extra, constant->location - base, &at);
			if (end >= 0)
				end += base;
		}
		if (end < 0)
		{
			number += PFS_DUPLICATES_ARE_NUMBERED;
			continue;
		}
		appendBinaryStringInfo(to, str + copied, constant->location - copied);
		appendStringInfo(to, "$%d%s", first + number++, constant->is_list ? " /*, ... */" : "");
		if (end > len)
			return false;
		copied = end;
	}
	if (scanner != NULL)
		scanner_finish(scanner);
	if (to->len <= pfs_sizes.digest_text)
		appendBinaryStringInfo(to, str + copied, len - copied);
	return true;
}

/*
 * Makes the text of a digest from the statement's part of its source text.  An error of the scanner is
 * caught: then the text cannot be made, and the result is false.
 */
static bool
make_text(StringInfo to, const PfsStatementSource *source, const JumbleState *jumble)
{
	int			location = source->location;
	int			len = source->len;
	const char *const str = CleanQuerytext(source->str, &location, &len);
	const uint32 interrupts = InterruptHoldoffCount;
	const uint32 cancels = QueryCancelHoldoffCount;
	const bool	outer = pfs_text_is_made;
	volatile bool done = true;

	initStringInfo(to);
	pfs_text_is_made = true;
	PG_TRY();
	{
		done = normalise(to, str, location, len, jumble);
	}
	PG_CATCH();
	{
		FlushErrorState();
		/* What raising has set to 0. */
		InterruptHoldoffCount = interrupts;
		QueryCancelHoldoffCount = cancels;
		done = false;
	}
	PG_END_TRY();
	pfs_text_is_made = outer;
	return done;
}

/* What statements that are no utilities begin with. */
static const struct
{
	CmdType		command;
	const char *words[4];
}			first_words[] =

{
	{CMD_SELECT, {"select", "with", "values", "table"}},
	{CMD_INSERT, {"insert", "with"}},
	{CMD_UPDATE, {"update", "with"}},
	{CMD_DELETE, {"delete", "with"}},
	{CMD_MERGE, {"merge", "with"}},
};

/*
 * Does the text begin otherwise than a statement of this command does?  Then it is taken until a
 * better one comes.  PL/pgSQL has its expressions and assignments parsed as queries, whose text
 * is "x + 1" or "y := x + 1", and which have the identifier of the query that they stand for;
 * EXPLAIN, PREPARE and others have the query inside of them parsed by its own, with the text of
 * the whole.  Parentheses can begin an expression, too, so only in what the client has sent they
 * may stand before a query.
 */
static bool
is_provisional(const PfsStatementSource *source)
{
	int			location = source->location;
	int			len = source->len;
	const char *str;
	const char *end;
	const char *next;

	if (source->command == CMD_UTILITY)
		return false;
	str = CleanQuerytext(source->str, &location, &len);
	end = str + len;
	while (str < end)
	{
		if (isspace((unsigned char) *str) || (*str == '(' && source->str == debug_query_string))
			str++;
		else if ((next = pfs_skip_comment(str, end)) != str)
			str = next;
		else
			break;
	}
	for (len = 0; len < end - str && isalpha((unsigned char) str[len]);)
		len++;
	for (int c = 0; c < lengthof(first_words); c++)
	{
		if (first_words[c].command != source->command)
			continue;
		for (int w = 0; w < lengthof(first_words[c].words) && first_words[c].words[w] != NULL; w++)
		{
			if (strlen(first_words[c].words[w]) == len && pg_strncasecmp(first_words[c].words[w], str, len) == 0)
				return false;
		}
		return true;
	}
	return false;
}

/* Gives a digest the statement's part of its source text, in which there are no constants. */
static void
put_as_it_is(PfsThread *t, const PfsDigestKey *key, const PfsStatementSource *source, bool provisional)
{
	int			location = source->location;
	int			len = source->len;
	const char *str = CleanQuerytext(source->str, &location, &len);
	uint32		n = len <= pfs_sizes.digest_text ? len : pg_mbcliplen(str, len, pfs_sizes.digest_text);

	pfs_write_begin(t);
	pfs_digest_put_text(key, str, n, provisional || n == 0);
	pfs_write_end(t);
}

/*
 * Gives a digest a text that it wants, an empty one if it cannot be made.  is_parsed: there are no
 * constants but those of `jumble`.
 */
static void
put_text(PfsThread *t, const PfsDigestKey *key, const PfsStatementSource *source, bool is_parsed,
		 const JumbleState *jumble, bool provisional)
{
	MemoryContext context;
	MemoryContext old;
	StringInfoData made;
	uint32		n = 0;

	if (is_parsed && (jumble == NULL || jumble->clocations_count == 0))
	{
		put_as_it_is(t, key, source, provisional);
		return;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "pfs digest text", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	if (make_text(&made, source, jumble))
		n = made.len <= pfs_sizes.digest_text ? made.len : pg_mbcliplen(made.data, made.len, pfs_sizes.digest_text);
	pfs_write_begin(t);
	pfs_digest_put_text(key, made.data, n, provisional || n == 0);
	pfs_write_end(t);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * Gives a digest its text, if it has none, or only a provisional one.  Called at parse
 * analysis, which is in no critical section and in no signal handler, so it may allocate.
 */
void
pfs_digest_text_parsed(PfsThread *t, const PfsStatementSource *source, const JumbleState *jumble)
{
	PfsDigestKey key = pfs_digest_key(MyDatabaseId, GetUserId(), source->query_id);
	PfsDigestTextState state = pfs_digest_has_text(t, &key);
	bool		provisional;

	if (likely(state == PFS_TEXT_READY) || source->str == NULL || pfs_is_writing(t))
		return;
	provisional = is_provisional(source);
	if (state == PFS_TEXT_NONE || (state == PFS_TEXT_PROVISIONAL && !provisional))
		put_text(t, &key, source, true, jumble, provisional);
}

/* Executions that find nothing to do after which the bits for them are taken back. */
#define IN_VAIN_MAX 1000

/* The same at the start of an execution, if there is a digest and it has none. */
void
pfs_digest_text_executed(PfsThread *t, const PfsStatementSource *source)
{
	static uint32 in_vain = 0;
	PfsDigestKey key = pfs_digest_key(MyDatabaseId, GetUserId(), source->query_id);
	bool		is_parsed = source->command == CMD_UTILITY && !PFS_UTILITIES_HAVE_CONSTANTS;
	uint64		word;

	if (source->str != NULL && !pfs_is_writing(t) && pfs_digest_find(&key, &word) != PFS_NO_RECORD &&
		pfs_digest_has_text(t, &key) == PFS_TEXT_NONE)
		put_text(t, &key, source, is_parsed, NULL, true);
	else if (++in_vain % IN_VAIN_MAX == 0)
		pfs_digests_without_text = 0;
}
