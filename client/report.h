/*
 * report.h
 *	  A report, whatever it was made from, and the media that it is written for.
 *
 * Those who make reports fill in plain values; those who write them know nothing of where they
 * came from, and escape them for their medium.
 */
#ifndef REPORT_H
#define REPORT_H

#include "number.h"
#include "snapshot.h"
#include "table.h"
#include "zone.h"

/* One kind of wait of one statement. */
typedef struct ReportWait
{
	char	   *name;
	Number		count;
	Number		timed;			/* those of them that the time is of */
	Number		time;
} ReportWait;

typedef struct ReportRow
{
	char	  **cells;			/* plain values; NULL: none */
	char	   *text;			/* a whole statement; NULL: none */
	Number	   *mix;			/* time by kind of wait, as ReportLoad has
								 * them; NULL: none */
	int			num_waits;
	ReportWait *waits;			/* the longest first */
} ReportRow;

typedef struct ReportSection
{
	const char *id;
	const char *title;
	const char *about;			/* a sentence: what a row is, and what the
								 * order is by */
	char	   *empty;			/* why there are no rows; NULL: nothing
								 * happened */
	const TableColumn *columns;
	const char *const *titles;	/* of the columns, for people */
	int			num_columns;
	int			sorted_by;		/* column */
	int			num_rows;
	ReportRow  *rows;
	int			more;			/* rows that were left out */
} ReportSection;

/* A number to see first. */
typedef struct ReportFigure
{
	const char *id;
	const char *title;
	ColumnKind	kind;
	char	   *value;			/* plain */
	char	   *note;			/* NULL: none */
} ReportFigure;

/* The load in one period. */
typedef struct ReportPoint
{
	int64_t		start;			/* microseconds since 1970 */
	int64_t		length;			/* microseconds */
	Number	   *times;			/* picoseconds by type */
} ReportPoint;

typedef struct ReportLoad
{
	int			num_types;
	char	  **types;			/* CPU, IO, Lock, … */
	int			num_points;
	int			max_points;
	ReportPoint *points;
	bool		sampled;		/* sessions counted once a second, not exact
								 * times */
} ReportLoad;

typedef struct Report
{
	const char *source;			/* snapshots, live or history */
	int64_t		from;
	int64_t		till;
	Zone		zone;			/* in which times are shown */
	int			num_facts;		/* pairs: name and value */
	char	  **facts;
	int			num_notices;
	char	  **notices;
	int			num_figures;
	ReportFigure *figures;
	ReportLoad	load;
	int			num_sections;
	ReportSection *sections;
} Report;

#define REPORT_FORMAT 1
#define REPORT_MOST_ROWS 50		/* of a section, unless --rows says otherwise */

/* ---- to make one: texts are copied ---- */

extern Report *report_new(const char *source, int64_t from, int64_t till);
extern void report_free(Report *report);
extern void report_fact(Report *report, const char *name, const char *value);
extern void report_notice(Report *report, const char *format,...) __attribute__((format(printf, 2, 3)));

/* note may be NULL, and is taken over. */
extern void report_figure(Report *report, const char *id, const char *title, ColumnKind kind, Number value, char *note);
extern void report_figure_real(Report *report, const char *id, const char *title, double value, char *note);

/* The figure of the load: how many sessions were active, and with what most. */
extern void report_figure_active(Report *report);

/* The number of a type of wait, which is new if need be. */
extern int	load_type(ReportLoad *load, const char *type);

/* The point of a period, which is new if need be; they come in the order of time. */
extern ReportPoint *load_point(ReportLoad *load, int64_t start, int64_t length);
extern Number load_total(const ReportLoad *load, int type); /* type -1: of all */
extern double load_average(const ReportLoad *load, int type);	/* active sessions */

extern ReportSection *report_section(Report *report, const char *id, const char *title, const char *about,
									 const TableColumn *columns, const char *const *titles, int num_columns);
extern ReportRow *section_row(ReportSection *section);
extern void row_text(ReportRow *row, int column, const char *text);
extern void row_number(ReportRow *row, int column, Number number);
extern void row_real(ReportRow *row, int column, double number);
extern void row_mix(ReportRow *row, int type, Number time);
extern void row_wait(ReportRow *row, const char *name, Number count, Number timed, Number time);

/* Sorts rows by a column, the largest number first, and keeps the first most of them. */
extern void section_sort(ReportSection *section, int column, int most);

/* ---- makers ---- */

extern Report *report_of_snapshots(const char *source, const Snapshot *earlier, const Snapshot *later,
								   const ReportLoad *sampled, int most);
extern Report *report_of_history(Server *server, const char *since, const char *till, int most);

/* ---- media ---- */

extern void report_write_html(const Report *report, Sink *sink);
extern void report_write_text(const Report *report, Sink *sink);
extern void report_write_json(const Report *report, Sink *sink);

#endif
