/*
 * pfs_instr_digest.c
 *	  The text of a digest: the statement with parameters for its constants.
 *
 * Where the constants are is known at parse analysis only, from the server's own
 * computation of the query identifier; how long they are the server's own scanner
 * says, which reads from the first one on.  So the text is made there, once per
 * digest, in a memory context of its own.  It looks as users of pg_stat_statements
 * know it: white space and comments stay, constants are $1, $2, ... behind the
 * query's own parameters.
 *
 * The scanner reads with the settings of the moment.  If they have changed since the
 * text was parsed (standard_conforming_strings), it can find an error in it, or a
 * string where none is: then the digest has no text.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/scanner.h"
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

/* The query's constants in the order of their places, those of this part of it. */
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
 * Where the token at this place ends; -1: no token begins there.  A minus sign
 * goes with the number behind it.
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

/*
 * What comes behind the kept length is not made.  False: what the scanner finds
 * cannot be what the parser found.
 */
static bool
normalise(StringInfo to, const char *str, int part, int len, const JumbleState *jumble)
{
	int			first = pfs_compat_first_parameter(jumble);
	int			n;
	PfsConstant *constants = find_constants(jumble, part, len, &n);
	core_yy_extra_type extra;
	core_yyscan_t scanner = NULL;
	int			base = 0;
	int			number = 0;
	int			copied = 0;
	int			at = -1;

	for (int i = 0; i < n && to->len <= pfs_sizes.digest_text; i++)
	{
		const PfsConstant *constant = &constants[i];
		bool		again = i > 0 && constant->location == constants[i - 1].location;
		int			end;

		if (again || constant->location < copied)
		{
			number += PFS_DUPLICATES_ARE_NUMBERED;
			continue;
		}
		if (constant->length >= 0)
			end = constant->location + constant->length;
		else
		{
			/* Most texts begin without one, and it begins a token. */
			if (scanner == NULL)
			{
				base = constant->location;
				scanner = scanner_init(str + base, &extra, &ScanKeywords, ScanKeywordTokens);
				extra.escape_string_warning = false;
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

/* False: the text cannot be made. */
static bool
make_text(StringInfo to, const char *source, int location, int len, const JumbleState *jumble)
{
	const char *const str = CleanQuerytext(source, &location, &len);
	volatile bool done = true;

	initStringInfo(to);
	if (jumble == NULL || jumble->clocations_count == 0)
	{
		appendBinaryStringInfo(to, str, Min(len, (int) pfs_sizes.digest_text + MAX_MULTIBYTE_CHAR_LEN));
		return true;
	}
	PG_TRY();
	{
		done = normalise(to, str, location, len, jumble);
	}
	PG_CATCH();
	{
		FlushErrorState();
		done = false;
	}
	PG_END_TRY();
	return done;
}

/* Parse analysis: no critical section, no handler. */
void
pfs_digest_text_parsed(PfsThread *t, const char *str, int location, int len, uint64 query_id,
					   const JumbleState *jumble)
{
	PfsDigestKey key = pfs_digest_key(MyDatabaseId, GetUserId(), query_id);
	MemoryContext context;
	MemoryContext old;
	StringInfoData text;

	if (likely(!pfs_digest_lacks_text(t, &key)) || str == NULL || pfs_is_changing(t))
		return;
	context = AllocSetContextCreate(CurrentMemoryContext, "pfs digest text", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	if (make_text(&text, str, location, len, jumble))
	{
		uint32		n = text.len <= pfs_sizes.digest_text ? text.len
		: pg_mbcliplen(text.data, text.len, pfs_sizes.digest_text);

		pfs_change_begin(t);
		pfs_digest_put_text(&key, text.data, n);
		pfs_change_end(t);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
