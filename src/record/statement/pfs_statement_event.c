/*
 * pfs_statement_event.c
 *	  The part of a statement that readers see: its slot, and the texts in it.
 *
 * Separate from pfs_statement_nest.c, which decides when statements begin and end.
 * Everything here runs inside a write section.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* Bytes that the texts of a statement can have. */
size_t
pfs_statement_texts_size(void)
{
	return PFS_SCHEMA_SIZE + pfs_sizes.sql_text + PFS_MESSAGE_SIZE;
}

/* Copies the first element of search_path, as it is written; returns its length. */
uint32
pfs_statement_put_schema(char *to)
{
	const char *path = PFS_IMPORT(namespace_search_path);
	const char *end;
	uint32		len;

	if (path == NULL)
		return 0;
	while (*path == ' ')
		path++;
	for (end = path; *end != '\0' && *end != ','; end++)
	{
		const char *closing = *end == '"' ? strchr(end + 1, '"') : NULL;

		if (closing != NULL)
			end = closing;
	}
	while (end > path && end[-1] == ' ')
		end--;
	len = end - path;
	if (unlikely(len > PFS_SCHEMA_SIZE))
		len = pg_mbcliplen(path, len, PFS_SCHEMA_SIZE);
	memcpy(to, path, len);
	return len;
}

static inline bool
is_blank(char c)
{
	return unlikely(c == ' ' || c == '\n' || c == '\t' || c == '\r');
}

/*
 * Finds the statement's own part of a string, without the blanks around it, and cut to whole characters.  Returns its
 * length.
 */
static pg_attribute_always_inline uint32
find_text(const char **from, int location, int len)
{
	const char *str = *from;
	uint32		max = pfs_sizes.sql_text;
	uint32		n;

	if (str == NULL || max == 0)
	{
		*from = "";
		return 0;
	}
	if (location > 0)
		str += location;
	if (len > 0 && location >= 0)
	{
		n = len;
		while (is_blank(*str) && n > 0)
			str++, n--;
	}
	else
	{
		/* Counted behind the blanks: else it could end within a character. */
		while (is_blank(*str))
			str++;
		n = strnlen(str, max + 1);
	}
	/* Characters begin at the text's begin: one more tells that it goes on. */
	if (unlikely(n > max))
		n = pg_mbcliplen(str, max + 1, max);
	while (n > 0 && is_blank(str[n - 1]))
		n--;
	*from = str;
	return n;
}

/* Puts the schema and the statement's own text somewhere.  Returns the text's length. */
uint32
pfs_statement_copy_text(char *to, uint16 *schema_len, const char *str, int location, int len)
{
	uint32		n = find_text(&str, location, len);

	*schema_len = pfs_statement_put_schema(to);
	memcpy(to + *schema_len, str, n);
	return n;
}

bool
pfs_statement_has_text(const PfsStatementEvent *e, const PfsStatementSource *source)
{
	const char *str = source->str;
	uint32		n = find_text(&str, source->location, source->len);

	return n == e->text_len && memcmp(str, e->texts + e->schema_len, n) == 0;
}

/* Puts both into a slot, which has no message then. */
void
pfs_statement_put_text(PfsStatementEvent *e, const char *str, int location, int len)
{
	e->text_len = pfs_statement_copy_text(e->texts, &e->schema_len, str, location, len);
	e->message_len = 0;
}

/* Puts an error's message into a slot, behind its text, which is final by then. */
void
pfs_statement_put_message(PfsStatementEvent *e, const char *message, uint32 len)
{
	memcpy(e->texts + e->schema_len + e->text_len, message, len);
	e->message_len = len;
}

/* Returns the place behind a comment that begins here; str if none does. */
const char *
pfs_skip_comment(const char *str, const char *end)
{
	int			depth = 0;

	if (end - str < 2)
		return str;
	if (str[0] == '-' && str[1] == '-')
	{
		while (str < end && *str != '\n' && *str != '\r')
			str++;
		return str;
	}
	if (str[0] != '/' || str[1] != '*')
		return str;
	do
	{
		if (end - str >= 2 && str[0] == '/' && str[1] == '*')
			depth++, str += 2;
		else if (end - str >= 2 && str[0] == '*' && str[1] == '/')
			depth--, str += 2;
		else
			str++;
	} while (depth > 0 && str < end);
	return str;
}

/* Looks for another statement behind this one: blanks and comments are none. */
int
pfs_statement_next_at(const char *str, int location, int len)
{
	const char *next;
	const char *end;
	const char *behind;

	if (len == 0 || location < 0)
		return 0;
	next = str + location + len;
	/* Nearly always. */
	if (next[0] == '\0' || (next[0] == ';' && next[1] == '\0'))
		return 0;
	end = next + strlen(next);
	while (next < end)
	{
		if (is_blank(*next) || *next == ';' || *next == '\f' || *next == '\v')
			next++;
		else if ((behind = pfs_skip_comment(next, end)) != next)
			next = behind;
		else
			return location + len + 1;
	}
	return 0;
}
