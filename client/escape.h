/*
 * escape.h
 *	  What came from a server, made harmless for the medium that it goes to.
 *
 * Any role chooses the texts of its statements, its application_name and the names of
 * its objects.  Each function adds to a buffer and never fails: bytes that are not UTF-8
 * become U+FFFD.  Each takes a length, as a text may be a part of another one.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include "buffer.h"

/* What a text that was cut ends with. */
#define ELLIPSIS "\xE2\x80\xA6"

/* Text and attribute values (in either kind of quotes) of HTML and of SVG. */
extern void escape_html(Buffer *buffer, const char *text, size_t length);

/*
 * The inside of a string of JSON, without its quotes.  Also safe inside <script> of an
 * HTML page: "<", ">", "&", U+2028 and U+2029 are written by number.
 */
extern void escape_json(Buffer *buffer, const char *text, size_t length);

/* A string of JSON, or null. */
extern void add_json_string(Buffer *buffer, const char *text);

/* A field of CSV (RFC 4180), in quotes where it needs them. */
extern void escape_csv(Buffer *buffer, const char *text, size_t length);

/* The same for a spreadsheet: a text that it would take for a formula has "'" in front. */
extern void escape_spreadsheet(Buffer *buffer, const char *text, size_t length);

/* The inside of a label's value of Prometheus' text format and OpenMetrics. */
extern void escape_label(Buffer *buffer, const char *text, size_t length);

/*
 * One line for a terminal or a text file: a line end or a tab, and blanks around it, become one
 * blank, other control characters (C0, DEL, C1, those that change the direction of text)
 * become "." and can do nothing.
 */
extern void escape_terminal(Buffer *buffer, const char *text, size_t length);

/* As escape_terminal() makes it, but no longer than so many bytes and an ellipsis; to be freed. */
extern char *short_line(const char *text, size_t length);

/* How many columns a terminal takes for a text that escape_terminal() made. */
extern int	display_width(const char *text);

/* Where a text has to end so that it takes no more than that many columns. */
extern const char *cut_at_width(const char *text, int width, int *taken);

/* Cuts a line so that it takes no more columns, with an ellipsis; returns how many it takes. */
extern int	cut_with_ellipsis(Buffer *line, int width);

#endif
