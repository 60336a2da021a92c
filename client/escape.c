/*
 * escape.c
 *	  What came from a server, made harmless for the medium that it goes to.
 */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define REPLACEMENT 0xFFFD

/*
 * Reads one character and moves *at behind it.  Overlong forms, surrogates, numbers
 * beyond Unicode and parts that are cut off are not taken: their first byte alone is
 * passed over.
 */
static uint32_t
next_character(const char **at, const char *end)
{
	const unsigned char *p = (const unsigned char *) *at;
	size_t		left = end - *at;
	uint32_t	c = p[0];
	uint32_t	smallest;
	int			more;

	if (c < 0x80)
	{
		*at += 1;
		return c;
	}
	if (c >= 0xC2 && c <= 0xDF)
		more = 1, smallest = 0x80, c &= 0x1F;
	else if (c >= 0xE0 && c <= 0xEF)
		more = 2, smallest = 0x800, c &= 0x0F;
	else if (c >= 0xF0 && c <= 0xF4)
		more = 3, smallest = 0x10000, c &= 0x07;
	else
		more = -1, smallest = 0;
	if (more > 0 && (size_t) more < left)
	{
		int			i;

		for (i = 1; i <= more && (p[i] & 0xC0) == 0x80; i++)
			c = c << 6 | (p[i] & 0x3F);
		if (i > more && c >= smallest && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF))
		{
			*at += more + 1;
			return c;
		}
	}
	*at += 1;
	return REPLACEMENT;
}

/* Adds a character as UTF-8. */
static void
add_character(Buffer *buffer, uint32_t c)
{
	char		bytes[4];
	int			n;

	if (c < 0x80)
		bytes[0] = c, n = 1;
	else if (c < 0x800)
	{
		bytes[0] = 0xC0 | c >> 6;
		n = 2;
	}
	else if (c < 0x10000)
	{
		bytes[0] = 0xE0 | c >> 12;
		n = 3;
	}
	else
	{
		bytes[0] = 0xF0 | c >> 18;
		n = 4;
	}
	for (int i = 1; i < n; i++)
		bytes[i] = 0x80 | (c >> 6 * (n - 1 - i) & 0x3F);
	buffer_add(buffer, bytes, n);
}

/*
 * C0, DEL and C1; and what changes the order or the place of the characters around it
 * without being seen, by which a text could look like another one.
 */
static bool
is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c <= 0x9F) ||
		c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
		(c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || c >= 0xE0000;
}

/* Writes the five characters of HTML as entities; other control characters than line ends become U+FFFD. */
void
escape_html(Buffer *buffer, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end)
	{
		uint32_t	c = next_character(&text, end);

		switch (c)
		{
			case '<':
				buffer_add_string(buffer, "&lt;");
				break;
			case '>':
				buffer_add_string(buffer, "&gt;");
				break;
			case '&':
				buffer_add_string(buffer, "&amp;");
				break;
			case '"':
				buffer_add_string(buffer, "&quot;");
				break;
			case '\'':
				buffer_add_string(buffer, "&#39;");
				break;
			case '\n':
			case '\t':
				add_character(buffer, c);
				break;
			default:
				add_character(buffer, is_control(c) ? REPLACEMENT : c);
		}
	}
}

/* Writes by number what JSON does not take, and what a page could take for its own. */
void
escape_json(Buffer *buffer, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end)
	{
		uint32_t	c = next_character(&text, end);

		if (c == '"' || c == '\\')
		{
			buffer_add_char(buffer, '\\');
			add_character(buffer, c);
		}
		else if (c == '\n')
			buffer_add_string(buffer, "\\n");
		else if (c == '\t')
			buffer_add_string(buffer, "\\t");
		else if (c == '<' || c == '>' || c == '&' || (is_control(c) && c < 0x10000))
			buffer_printf(buffer, "\\u%04x", (unsigned) c);
		else
			add_character(buffer, c);
	}
}

void
add_json_string(Buffer *buffer, const char *text)
{
	if (text == NULL)
	{
		buffer_add_string(buffer, "null");
		return;
	}
	buffer_add_char(buffer, '"');
	escape_json(buffer, text, strlen(text));
	buffer_add_char(buffer, '"');
}

/* Doubles quotes.  Control characters other than line ends and tabs become U+FFFD. */
void
escape_csv(Buffer *buffer, const char *text, size_t length)
{
	const char *end = text + length;
	bool		quoted = length == 0 || text[0] == ' ' || text[length - 1] == ' ' || (length == 2 && memcmp(text, "\\.", 2) == 0);

	for (const char *p = text; p < end && !quoted; p++)
		quoted = strchr(",\"\r\n\t", *p) != NULL;
	if (quoted)
		buffer_add_char(buffer, '"');
	while (text < end)
	{
		uint32_t	c = next_character(&text, end);

		if (c == '"')
			buffer_add_char(buffer, '"');
		if (is_control(c) && c != '\n' && c != '\t' && c != '\r')
			c = REPLACEMENT;
		add_character(buffer, c);
	}
	if (quoted)
		buffer_add_char(buffer, '"');
}

/* Spreadsheets compute a cell that begins with one of these, also if it is quoted; in some languages the wide forms, too. */
void
escape_spreadsheet(Buffer *buffer, const char *text, size_t length)
{
	const char *at = text;
	uint32_t	first = length > 0 ? next_character(&at, text + length) : 0;
	bool		computes = first < 0x80 ? first != 0 && strchr("=+-@\t\r\n", (int) first) != NULL :
	first == 0xFF1D || first == 0xFF0B || first == 0xFF0D || first == 0xFF20;
	char	   *shown = computes ? format_string("'%.*s", (int) length, text) : NULL;

	escape_csv(buffer, shown ? shown : text, shown ? length + 1 : length);
	free(shown);
}

/* Backslash, quote and line end as the formats want them; tabs become blanks. */
void
escape_label(Buffer *buffer, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end)
	{
		uint32_t	c = next_character(&text, end);

		if (c == '"' || c == '\\')
		{
			buffer_add_char(buffer, '\\');
			add_character(buffer, c);
		}
		else if (c == '\n')
			buffer_add_string(buffer, "\\n");
		else
			add_character(buffer, c == '\t' ? ' ' : is_control(c) ? REPLACEMENT : c);
	}
}

/* Makes one line; "pending" is a blank that is written only if something follows. */
void
escape_terminal(Buffer *buffer, const char *text, size_t length)
{
	const char *end = text + length;
	bool		pending = false;	/* a blank that stands for a line end */
	size_t		start = buffer->length;

	while (text < end)
	{
		uint32_t	c = next_character(&text, end);

		if (c == '\n' || c == '\r' || c == '\t')
		{
			pending = true;
			while (buffer->length > start && buffer->data[buffer->length - 1] == ' ')
				buffer->data[--buffer->length] = '\0';
			continue;
		}
		if (pending && c == ' ')
			continue;
		if (pending && buffer->length > start)
			buffer_add_char(buffer, ' ');
		pending = false;
		add_character(buffer, is_control(c) ? '.' : c);
	}
	if (buffer->data == NULL)
		buffer_add(buffer, "", 0);
}

/* The cut is at a character's begin. */
char *
short_line(const char *text, size_t length)
{
	Buffer		line = {0};

	escape_terminal(&line, text, strlen(text));
	if (line.length > length)
	{
		while (length > 0 && (line.data[length] & 0xC0) == 0x80)
			length--;
		line.length = length;
		buffer_add_string(&line, ELLIPSIS);
	}
	return line.data;
}

/* Columns of one character; what the locale does not know takes one. */
static int
character_width(uint32_t c)
{
	int			width = c < 0x80 ? 1 : wcwidth((wchar_t) c);

	return width < 0 ? 1 : width;
}

int
display_width(const char *text)
{
	const char *end = text + strlen(text);
	int			width = 0;

	while (text < end)
		width += character_width(next_character(&text, end));
	return width;
}

/* Returns the end of the longest beginning that fits; *taken gets its columns. */
const char *
cut_at_width(const char *text, int width, int *taken)
{
	const char *end = text + strlen(text);
	int			sum = 0;

	while (text < end)
	{
		const char *next = text;
		int			columns = character_width(next_character(&next, end));

		if (sum + columns > width)
			break;
		sum += columns;
		text = next;
	}
	if (taken)
		*taken = sum;
	return text;
}

int
cut_with_ellipsis(Buffer *line, int width)
{
	int			taken = display_width(line->data);

	if (taken > width)
	{
		line->length = cut_at_width(line->data, width > 0 ? width - 1 : 0, &taken) - line->data;
		buffer_add_string(line, width > 0 ? ELLIPSIS : "");
		taken += width > 0;
	}
	return taken;
}
