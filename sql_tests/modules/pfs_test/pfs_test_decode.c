/*
 * pfs_test_decode.c
 *	  The decoder of prologues (src/probe/pfs_decode.c), to be asked by SQL what it
 *	  makes of code that no compiler here writes.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "../../../src/probe/pfs_decode.c"
#include "../../../src/probe/pfs_decode_length.c"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_decode);
PGDLLEXPORT Datum pfs_test_decode(PG_FUNCTION_ARGS);

#define CODE_MAX 256

static size_t
from_hex(const char *hex, uint8_t *bytes)
{
	size_t		n = 0;
	unsigned	byte;

	while (n < CODE_MAX && sscanf(hex, "%2x", &byte) == 1)
	{
		bytes[n++] = byte;
		hex += 2;
	}
	return n;
}

/* "p NEED HEX": how many bytes would be moved, how many operands would change; or no */
static void
answer_prologue(StringInfo out, const char *line)
{
	uint8_t		code[CODE_MAX];
	PfsPrologue p;
	int			need;
	int			at;

	sscanf(line, "p %d %n", &need, &at);
	if (pfs_decode_prologue(code, from_hex(line + at, code), need, &p))
		appendStringInfo(out, "%u %u\n", p.length, p.nrelative);
	else
		appendStringInfoString(out, "no\n");
}

/* "m DISTANCE HEX": the code as it is when it has been moved so far; or no */
static void
answer_move(StringInfo out, const char *line)
{
	uint8_t		code[CODE_MAX];
	uint8_t		to[PFS_DECODE_MOVED_MAX];
	PfsPrologue p;
	long long	distance;
	uint32_t	length = 0;
	int			at;

	sscanf(line, "m %lld %n", &distance, &at);
	if (pfs_decode_prologue(code, from_hex(line + at, code), 5, &p))
		length = pfs_decode_move(&p, code, to, (uintptr_t) code + distance);
	if (length == 0)
	{
		appendStringInfoString(out, "no\n");
		return;
	}
	for (uint32 i = 0; i < length; i++)
		appendStringInfo(out, "%02x", to[i]);
	appendStringInfoChar(out, '\n');
}

/* "j FIRST LAST HEX": 0 if a jump leads to these offsets in the code, else -1 */
static void
answer_jumps(StringInfo out, const char *line)
{
	uint8_t		code[CODE_MAX];
	PfsCodeRange range;
	int			first;
	int			last;
	int			at;

	sscanf(line, "j %d %d %n", &first, &last, &at);
	range.first = CODE_MAX + first;
	range.last = CODE_MAX + last;
	appendStringInfo(out, "%d\n",
					 pfs_decode_leads_to(code, from_hex(line + at, code), CODE_MAX, &range, 1));
}

/* "r FIRST LAST HEX": 1 if a short jump of the code leads to these offsets in it, else 0 */
static void
answer_returns(StringInfo out, const char *line)
{
	uint8_t		code[CODE_MAX];
	int			first;
	int			last;
	int			at;

	sscanf(line, "r %d %d %n", &first, &last, &at);
	appendStringInfo(out, "%d\n", pfs_decode_returns_to(code, from_hex(line + at, code), first, last));
}

/* "l HEX": length of any instruction with others behind it, 0 if there is no such one */
static void
answer_length(StringInfo out, const char *line)
{
	uint8_t		code[CODE_MAX + 8];
	size_t		n = from_hex(line + 2, code);

	memset(code + n, 0xcc, 8);
	appendStringInfo(out, "%u\n", pfs_decode_length(code, n + 8));
}

/* "i HEX": length of an instruction with others behind it, 0 if it is not known */
static void
answer_instruction(StringInfo out, const char *line)
{
	uint8_t		code[CODE_MAX + 8];
	PfsPrologue p;
	size_t		n = from_hex(line + 2, code);

	memset(code + n, 0xcc, 8);
	appendStringInfo(out, "%u\n", pfs_decode_prologue(code, n + 8, 1, &p) ? p.length : 0);
}

/* pfs_test_decode(lines text) returns text: an answer to each line */
Datum
pfs_test_decode(PG_FUNCTION_ARGS)
{
	char	   *line = text_to_cstring(PG_GETARG_TEXT_PP(0));
	StringInfoData out;

	initStringInfo(&out);
	while (*line != '\0')
	{
		char	   *end = strchrnul(line, '\n');
		bool		last = *end == '\0';

		*end = '\0';
		switch (*line)
		{
			case 'p':
				answer_prologue(&out, line);
				break;
			case 'm':
				answer_move(&out, line);
				break;
			case 'j':
				answer_jumps(&out, line);
				break;
			case 'r':
				answer_returns(&out, line);
				break;
			case 'l':
				answer_length(&out, line);
				break;
			case 'i':
				answer_instruction(&out, line);
				break;
		}
		line = last ? end : end + 1;
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}
