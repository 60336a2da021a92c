/*
 * unit.c
 *	  Tests of what needs no server: escaping, numbers as text, waiting, tables, options.
 *
 * Prints TAP.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "format.h"
#include "message.h"
#include "options.h"
#include "sink.h"
#include "sorted.h"
#include "table.h"
#include "zone.h"

static int	num_tests = 0;
static int	num_failed = 0;

static void
is(const char *got, const char *expected, const char *name)
{
	bool		same = strcmp(got, expected) == 0;

	printf("%sok %d - %s\n", same ? "" : "not ", ++num_tests, name);
	if (!same)
	{
		printf("#      got: \"%s\"\n# expected: \"%s\"\n", got, expected);
		num_failed++;
	}
}

static void
is_number(long got, long expected, const char *name)
{
	char		texts[2][32];

	snprintf(texts[0], 32, "%ld", got);
	snprintf(texts[1], 32, "%ld", expected);
	is(texts[0], texts[1], name);
}

typedef void (*Escape) (Buffer *buffer, const char *text, size_t length);

static void
escapes(Escape escape, const char *text, const char *expected, const char *name)
{
	Buffer		buffer = {0};

	escape(&buffer, text, strlen(text));
	is(buffer_text(&buffer), expected, name);
	buffer_free(&buffer);
}

/* Each medium with what could break out of it, and bytes that are no UTF-8. */
static void
test_escaping(void)
{
	escapes(escape_html, "<script>alert('x' & \"y\")</script>", "&lt;script&gt;alert(&#39;x&#39; &amp; &quot;y&quot;)&lt;/script&gt;", "HTML");
	escapes(escape_html, "a\033[2J\n\tb\xC2\x9B" "c", "a\xEF\xBF\xBD[2J\n\tb\xEF\xBF\xBD" "c", "HTML has no control characters");
	escapes(escape_json, "\"\\\n\t\r\033\x7F", "\\\"\\\\\\n\\t\\u000d\\u001b\\u007f", "JSON");
	escapes(escape_json, "</script>&\xE2\x80\xA8", "\\u003c/script\\u003e\\u0026\\u2028", "JSON inside of a page");
	escapes(escape_json, "\xC3\xA9\xF0\x9F\x98\x80", "\xC3\xA9\xF0\x9F\x98\x80", "JSON keeps other characters");
	escapes(escape_csv, "plain", "plain", "CSV without quotes");
	escapes(escape_csv, "", "\"\"", "CSV: an empty text is no NULL");
	escapes(escape_csv, "a,\"b\"\nc", "\"a,\"\"b\"\"\nc\"", "CSV with quotes");
	escapes(escape_spreadsheet, "plain", "plain", "spreadsheet: a text");
	escapes(escape_spreadsheet, "", "\"\"", "spreadsheet: an empty text");
	escapes(escape_spreadsheet, "=1+1", "'=1+1", "spreadsheet: no formula");
	escapes(escape_spreadsheet, "=cmd|' /C calc'!A0,\"", "\"'=cmd|' /C calc'!A0,\"\"\"", "spreadsheet: none in quotes");
	escapes(escape_spreadsheet, "+1", "'+1", "spreadsheet: nor with a plus");
	escapes(escape_spreadsheet, "-- SELECT", "'-- SELECT", "spreadsheet: nor with a minus");
	escapes(escape_spreadsheet, "@SUM(A1)", "'@SUM(A1)", "spreadsheet: nor with an at sign");
	escapes(escape_spreadsheet, "\t=1", "\"'\t=1\"", "spreadsheet: nor behind a tab");
	escapes(escape_spreadsheet, "\xEF\xBC\x9D" "1", "'\xEF\xBC\x9D" "1", "spreadsheet: nor a wide one");
	escapes(escape_csv, "=1+1", "=1+1", "CSV is exact");
	escapes(escape_csv, "\033]0;x\007", "\xEF\xBF\xBD]0;x\xEF\xBF\xBD", "CSV has no escape sequences");
	escapes(escape_label, "a\"b\\c\nd\te\033", "a\\\"b\\\\c\\nd e\xEF\xBF\xBD", "label");
	escapes(escape_terminal, "a\033[31m\r\n\tb\x9B\x7F", "a.[31m b\xEF\xBF\xBD.", "terminal");
	escapes(escape_terminal, "SELECT 1 \n\n   FROM t\n", "SELECT 1 FROM t", "terminal: one line");
	escapes(escape_terminal, "a\xC2\x9B" "31mb\xE2\x80\xAE" "c\xEF\xBB\xBF", "a.31mb.c.", "terminal: C1 and directions");
	escapes(escape_terminal, "\n", "", "terminal: nothing but a line end");
	escapes(escape_terminal, "", "", "terminal: nothing");
	/* Overlong, surrogates, beyond Unicode, cut off. */
	escapes(escape_html, "\xC0\xBC", "\xEF\xBF\xBD\xEF\xBF\xBD", "an overlong <");
	escapes(escape_html, "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "a surrogate");
	escapes(escape_html, "\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "beyond Unicode");
	escapes(escape_html, "x\xE2\x82", "x\xEF\xBF\xBD\xEF\xBF\xBD", "a character that is cut off");
	escapes(escape_html, "\xE2<b>", "\xEF\xBF\xBD&lt;b&gt;", "a broken character hides nothing");
}

static void
test_width(void)
{
	const char *text = "a\xE6\xBC\xA2\xC3\xA9z";	/* 1 + 2 + 1 + 1 columns */
	int			taken;

	is_number(display_width(text), 5, "width");
	is_number(cut_at_width(text, 2, &taken) - text, 1, "a wide character is not cut in half");
	is_number(taken, 1, "columns that were taken");
	is_number(cut_at_width(text, 9, &taken) - text, (long) strlen(text), "a text that is narrow enough");
}

/* A text, cut to so many columns. */
static void
cuts(const char *text, int width, const char *expected, const char *name)
{
	Buffer		line = {0};
	int			taken;

	buffer_add_string(&line, text);
	taken = cut_with_ellipsis(&line, width);
	is(line.data, expected, name);
	is_number(taken, display_width(line.data), "and its width");
	buffer_free(&line);
}

/* A line of at most so many bytes. */
static void
shortens(const char *text, size_t length, const char *expected, const char *name)
{
	char	   *line = short_line(text, length);

	is(line, expected, name);
	free(line);
}

/* Cuts are at the begin of a character. */
static void
test_cutting(void)
{
	Buffer		buffer = {0};

	cuts("abcd", 4, "abcd", "a text that fits");
	cuts("abcde", 4, "abc" ELLIPSIS, "a text that does not fit");
	cuts("a\xE6\xBC\xA2z", 3, "a" ELLIPSIS, "a wide character that does not fit");
	cuts("ab", 1, ELLIPSIS, "one column");
	shortens("a\nb", 3, "a b", "a line that is short enough");
	shortens("ab\xC3\xA9z", 3, "ab" ELLIPSIS, "a line that is cut");
	shortens("", 3, "", "no line");
	add_json_string(&buffer, "a\"b");
	add_json_string(&buffer, NULL);
	is(buffer_text(&buffer), "\"a\\\"b\"null", "strings of JSON");
	buffer_free(&buffer);
}

/* A look that took too long moves the next one, but not the end. */
static void
test_waiting(void)
{
	long		now = clock_ms();
	long		moment = now - 5000;
	long		end = now + 1000000;

	is(wait_for_next(&moment, 10, end) && moment >= now && moment <= clock_ms() ? "yes" : "no", "yes", "the next moment is now");
	moment = now - 5000;
	end = now - 1000;
	is(wait_for_next(&moment, 10, end) ? "no" : "yes", "yes", "the end is over");
	is_number(moment, end, "and is the moment");
	moment = now = clock_ms();
	is(wait_for_next(&moment, 20, now + 1000000) && moment >= now + 20 && clock_ms() >= moment ? "yes" : "no", "yes", "it waits one step");
}

/* Units, and numbers that become a larger one by rounding. */
static void
test_numbers(void)
{
	is(format_time(0), "0 ps", "no time");
	is(format_time(999.4), "999 ps", "picoseconds");
	is(format_time(999999), "1.00 us", "the unit of what is printed");
	is(format_time(1.234e9), "1.23 ms", "milliseconds");
	is(format_time(90e12), "1.50 min", "minutes");
	is(format_time(86400e12 * 400), "400.00 d", "days");
	is(format_bytes(1023), "1023 B", "bytes");
	is(format_bytes(4.0 * 1024 * 1024), "4.0 MiB", "mebibytes");
	is(format_bytes(1024 * 1024 - 1), "1.0 MiB", "the unit of what is printed");
	is(format_count(99999), "99999", "a small number is exact");
	is(format_count(123456), "123 k", "thousands");
	is(format_count(1234567), "1.23 M", "millions");
	is(format_count(999999), "1.00 M", "the unit of what is printed");
	is(format_percent(0.1234), "12.3 %", "percent");
}

static int
compare_ints(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

/* Each place in arrays of up to five items, with one that is there twice. */
static void
test_sorted(void)
{
	const int	items[] = {1, 3, 3, 5, 7};
	int			wrong = 0;

	for (int count = 0; count <= 5; count++)
	{
		for (int key = 0; key <= 8; key++)
		{
			int			before = 0;

			while (before < count && items[before] < key)
				before++;
			wrong += lower_bound(items, count, sizeof(int), &key, compare_ints) != before;
		}
	}
	is(wrong == 0 ? "none" : "some", "none", "wrong places in sorted arrays");
}

static const TableColumn columns[] = {
	{"name", COLUMN_TEXT, 6},
	{"total_time", COLUMN_TIME},
};

static void
add_row(Table *table, const char *name, const char *total_time)
{
	const char *values[] = {name, total_time};

	table_add(table, values);
}

/* Writes a table to a file and compares that. */
static void
writes(const Table *table, OutputFormat format, const char *expected, const char *name)
{
	char		file[] = "/tmp/pfs_unit_XXXXXX";
	int			fd = mkstemp(file);
	Sink	   *sink = sink_open(file);
	char		text[4096];
	FILE	   *in;
	size_t		length;

	(void) fd;
	table_write(table, sink, format);
	sink_close(sink);
	in = fopen(file, "r");
	length = fread(text, 1, sizeof(text) - 1, in);
	text[length] = '\0';

	fclose(in);
	unlink(file);
	is(text, expected, name);
}

/* The three formats, with NULL, many digits, and a text that is cut. */
static void
test_tables(void)
{
	Table	   *table = table_new(columns, 2);

	writes(table, FORMAT_JSON, "[]\n", "JSON of no row");
	add_row(table, "a|\nb", "12345678901234567890123");
	add_row(table, "long text", NULL);
	add_row(table, NULL, "NaN");
	writes(table, FORMAT_CSV, "name,total_time\n\"a|\nb\",12345678901234567890123\nlong text,\n,NaN\n", "CSV");
	writes(table, FORMAT_JSON,
		   "[\n{\"name\": \"a|\\nb\", \"total_time\": 12345678901234567890123},\n"
		   "{\"name\": \"long text\", \"total_time\": null},\n{\"name\": null, \"total_time\": \"NaN\"}\n]\n", "JSON");
	table_free(table);
	table = table_new(columns, 2);
	add_row(table, "a|\nb", "1230000000");
	add_row(table, "long text", NULL);
	writes(table, FORMAT_TABLE,
		   "  name  | total time\n--------+------------\n a| b   |    1.23 ms\n long " ELLIPSIS " |           \n(2 rows)\n", "table");
	table_free(table);
}

static const Option own[] = {
	{"seconds", 's', "N", ""},
	{"sort", 0, "COLUMN", ""},
	{"reverse", 'r', NULL, ""},
	{"hostile", 0, NULL, ""},
	{NULL}
};

/* Takes a line apart and writes what it found. */
static void
parses(const char *line, const char *expected)
{
	char	   *copy = copy_string(line);
	const char *words[32];
	int			n = 0;
	Options		options;
	Buffer		text = {0};
	char	   *wrong;

	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[n++] = strcmp(word, "''") == 0 ? "" : word;
	wrong = parse_options(&options, own, n, words);
	for (int i = 0; i < options.num_values; i++)
		buffer_printf(&text, "%s=%s ", options.values[i].option->name, options.values[i].value);
	for (int i = 0; i < options.num_arguments; i++)
		buffer_printf(&text, "[%s] ", options.arguments[i]);
	if (wrong)
		buffer_printf(&text, "! %s", wrong);
	is(buffer_text(&text), expected, line);
	buffer_free(&text);
	free_options(&options);
	free(wrong);
	free(copy);
}

/* Options in all their forms, and what is wrong with a command line. */
static void
test_options(void)
{
	parses("", "");
	parses("--seconds 5 file", "seconds=5 [file] ");
	parses("--seconds=5 -s6 -s 7", "seconds=5 seconds=6 seconds=7 ");
	parses("-rs 7 -h host -p5433", "reverse= seconds=7 host=host port=5433 ");
	parses("--sec 1 --rev", "seconds=1 reverse= ");
	parses("--host x --hostile", "host=x hostile= ");
	parses("--s 1", "! option --s is ambiguous: write it in full");
	parses("--nothing", "! there is no option --nothing");
	parses("-Z", "! there is no option -Z");
	parses("--seconds", "! option --seconds needs a value: --seconds N");
	parses("-s", "! option -s needs a value: -s N");
	parses("--reverse=1", "! option --reverse takes no value");
	parses("-- --seconds -", "[--seconds] [-] ");
	parses("- ''", "[-] [] ");
	parses("--=x", "! an option has no name: \"--=x\"");
	parses("--seconds ''", "seconds= ");
}

/* What a time is in a zone, as it is read from this text. */
static void
shows_time(const char *text, int64_t seconds, const char *expected, const char *name)
{
	Zone		zone;
	char		time[TIME_TEXT];
	char	   *got;

	zone_parse(&zone, text);
	got = format_string("%s %s", time_text(&zone, seconds * 1000000, time), zone.name);
	is(got, expected, name);
	free(got);
}

/* Zones, with their changes of the clocks, and what is none. */
static void
test_zones(void)
{
	const char *berlin = "Europe/Berlin 0:3600 1711846800:7200 1729990800:3600";

	shows_time(NULL, 1711846799, "2024-03-31 00:59:59 UTC", "no zone is UTC");
	shows_time(berlin, 1711846799, "2024-03-31 01:59:59 Europe/Berlin", "before the clocks are changed");
	shows_time(berlin, 1711846800, "2024-03-31 03:00:00 Europe/Berlin", "behind it");
	shows_time(berlin, 1729990799, "2024-10-27 02:59:59 Europe/Berlin", "the hour that comes twice");
	shows_time(berlin, 1729990800, "2024-10-27 02:00:00 Europe/Berlin", "and again");
	shows_time(berlin, -3600, "1970-01-01 00:00:00 Europe/Berlin", "before the first");
	shows_time("<+03>-3 0:10800", 0, "1970-01-01 03:00:00 <+03>-3", "a zone without a name");
	shows_time("X 0:-12600", 0, "1969-12-31 20:30:00 X", "west of UTC");
	shows_time("", 0, "1970-01-01 00:00:00 UTC", "nothing");
	shows_time("X", 0, "1970-01-01 00:00:00 UTC", "a name alone");
	shows_time("X 0:3600 1", 0, "1970-01-01 00:00:00 UTC", "cut off");
	shows_time("X 0:3600x", 0, "1970-01-01 00:00:00 UTC", "damaged");
	shows_time("X 0:86400", 0, "1970-01-01 00:00:00 UTC", "an offset that no zone has");
	shows_time("X 0:-99999999999999999999", 0, "1970-01-01 00:00:00 UTC", "nor this one");
}

/* Runs all tests. */
int
main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	test_escaping();
	test_width();
	test_cutting();
	test_numbers();
	test_waiting();
	test_sorted();
	test_tables();
	test_options();
	test_zones();
	printf("1..%d\n", num_tests);
	return num_failed > 0;
}
