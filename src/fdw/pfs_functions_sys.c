/*
 * pfs_functions_sys.c
 *	  SQL function of schema pfs_sys that views call for each row: format_statement.
 *
 * In C, as the longest texts are some thousand characters, of which regular expressions
 * would look at each several times.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "pfs_fdw.h"

PFS_FUNCTION(pfs_format_statement);

/* Characters that are shown of a statement, and what stands for those left out. */
#define STATEMENT_SHOWN 64
#define LEFT_OUT " ... "
#define SHOWN_IN_FRONT ((STATEMENT_SHOWN - (int) strlen(LEFT_OUT)) / 2)
#define SHOWN_AT_THE_END (STATEMENT_SHOWN - (int) strlen(LEFT_OUT) - SHOWN_IN_FRONT)

static bool
is_blank(char c)
{
	return (unsigned char) c <= ' ' || c == 0x7f;
}

/*
 * Makes one line of at most 64 characters of a statement: blanks, line ends and control
 * characters that follow each other become one blank, and of a longer one begin and end
 * are left.
 */
Datum
pfs_format_statement(PG_FUNCTION_ARGS)
{
	text	   *statement = PG_GETARG_TEXT_PP(0);
	const char *from = VARDATA_ANY(statement);
	const char *end = from + VARSIZE_ANY_EXHDR(statement);
	StringInfoData line;
	int			characters;

	initStringInfo(&line);

	/*
	 * In the encodings of databases no other character has a byte below 0x80
	 * in it.
	 */
	for (; from < end; from++)
	{
		if (!is_blank(*from))
			appendStringInfoChar(&line, *from);
		else if (line.len > 0 && line.data[line.len - 1] != ' ')
			appendStringInfoChar(&line, ' ');
	}
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';

	characters = pg_mbstrlen_with_len(line.data, line.len);
	if (characters > STATEMENT_SHOWN)
	{
		int			front = pg_mbcharcliplen(line.data, line.len, SHOWN_IN_FRONT);
		int			behind = pg_mbcharcliplen(line.data, line.len, characters - SHOWN_AT_THE_END);

		PG_RETURN_TEXT_P(cstring_to_text(psprintf("%.*s" LEFT_OUT "%s", front, line.data, line.data + behind)));
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(line.data, line.len));
}
