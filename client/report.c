/*
 * report.c
 *	  Reports in memory: what makers of reports fill in.
 */
#include "report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format.h"

#define MAX_TYPES 16			/* of waits; PostgreSQL has ten */

Report *
report_new(const char *source, int64_t from, int64_t till)
{
	Report	   *report = allocate(sizeof(Report));

	report->source = source;
	report->from = from;
	report->till = till;
	return report;
}

void
report_fact(Report *report, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	report->facts = reallocate(report->facts, sizeof(char *) * 2 * (report->num_facts + 1));
	report->facts[2 * report->num_facts] = copy_string(name);
	report->facts[2 * report->num_facts + 1] = copy_string(value);
	report->num_facts++;
}

void
report_notice(Report *report, const char *format,...)
{
	Buffer		text = {0};
	va_list		arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	report->notices = reallocate(report->notices, sizeof(char *) * (report->num_notices + 1));
	report->notices[report->num_notices++] = text.data;
}

static void
add_figure(Report *report, const char *id, const char *title, ColumnKind kind, char *value, char *note)
{
	report->figures = reallocate(report->figures, sizeof(ReportFigure) * (report->num_figures + 1));
	report->figures[report->num_figures++] = (ReportFigure)
	{
		id, title, kind, value, note
	};
}

void
report_figure(Report *report, const char *id, const char *title, ColumnKind kind, Number value, char *note)
{
	Buffer		text = {0};

	buffer_number(&text, value);
	add_figure(report, id, title, kind, text.data, note);
}

void
report_figure_real(Report *report, const char *id, const char *title, double value, char *note)
{
	add_figure(report, id, title, COLUMN_REAL, format_string("%.6g", value), note);
}

/* Without any load it has no note. */
void
report_figure_active(Report *report)
{
	const ReportLoad *load = &report->load;
	double		average = load_average(load, -1);
	int			best = 0;

	for (int i = 1; i < load->num_types; i++)
	{
		if (load_total(load, i) > load_total(load, best))
			best = i;
	}
	report_figure_real(report, "active_sessions", "Active sessions", average, average == 0 ? NULL :
					   format_string("%s on %s", format_percent(load_average(load, best) / average), load->types[best]));
}

/* Frees a report and all in it, but not its sections' columns, which are constants of their makers. */
void
report_free(Report *report)
{
	for (int i = 0; i < 2 * report->num_facts; i++)
		free(report->facts[i]);
	for (int i = 0; i < report->num_notices; i++)
		free(report->notices[i]);
	for (int i = 0; i < report->num_figures; i++)
	{
		free(report->figures[i].value);
		free(report->figures[i].note);
	}
	for (int i = 0; i < report->load.num_types; i++)
		free(report->load.types[i]);
	for (int i = 0; i < report->load.num_points; i++)
		free(report->load.points[i].times);
	for (int i = 0; i < report->num_sections; i++)
	{
		ReportSection *section = &report->sections[i];

		for (int j = 0; j < section->num_rows + section->more; j++)
		{
			ReportRow  *row = &section->rows[j];

			for (int k = 0; k < section->num_columns; k++)
				free(row->cells[k]);
			for (int k = 0; k < row->num_waits; k++)
				free(row->waits[k].name);
			free(row->cells);
			free(row->waits);
			free(row->mix);
			free(row->text);
		}
		free(section->rows);
		free(section->empty);
	}
	free(report->facts);
	free(report->notices);
	free(report->figures);
	free(report->load.types);
	free(report->load.points);
	free(report->sections);
	free(report);
}

/* ---- load ---- */

int
load_type(ReportLoad *load, const char *type)
{
	for (int i = 0; i < load->num_types; i++)
	{
		if (strcmp(load->types[i], type) == 0)
			return i;
	}
	if (load->num_types == MAX_TYPES)
		return MAX_TYPES - 1;
	load->types = reallocate(load->types, sizeof(char *) * (load->num_types + 1));
	load->types[load->num_types] = copy_string(type);
	return load->num_types++;
}

/* Finds the period, which is the last one if it was met before, or adds it. */
ReportPoint *
load_point(ReportLoad *load, int64_t start, int64_t length)
{
	ReportPoint *point;

	if (load->num_points > 0 && load->points[load->num_points - 1].start == start)
		return &load->points[load->num_points - 1];
	if (load->num_points == load->max_points)
	{
		load->max_points = load->max_points ? load->max_points * 2 : 64;
		load->points = reallocate(load->points, sizeof(ReportPoint) * load->max_points);
	}
	point = &load->points[load->num_points++];
	point->start = start;
	point->length = length;
	point->times = allocate(sizeof(Number) * MAX_TYPES);
	return point;
}

/* Adds up the time of a type, or of all, in all periods. */
Number
load_total(const ReportLoad *load, int type)
{
	Number		total = 0;

	for (int i = 0; i < load->num_points; i++)
	{
		for (int j = 0; j < load->num_types; j++)
		{
			if (type < 0 || type == j)
				total += load->points[i].times[j];
		}
	}
	return total;
}

double
load_average(const ReportLoad *load, int type)
{
	double		length = 0;

	for (int i = 0; i < load->num_points; i++)
		length += load->points[i].length;
	return length > 0 ? (double) load_total(load, type) / 1e6 / length : 0;
}

/* ---- sections ---- */

/* Adds an empty section; the pointer holds until the next one is added. */
ReportSection *
report_section(Report *report, const char *id, const char *title, const char *about,
			   const TableColumn *columns, const char *const *titles, int num_columns)
{
	ReportSection *section;

	report->sections = reallocate(report->sections, sizeof(ReportSection) * (report->num_sections + 1));
	section = &report->sections[report->num_sections++];
	memset(section, 0, sizeof(*section));
	section->id = id;
	section->title = title;
	section->about = about;
	section->columns = columns;
	section->titles = titles;
	section->num_columns = num_columns;
	return section;
}

ReportRow *
section_row(ReportSection *section)
{
	ReportRow  *row;

	/* Grows at powers of two. */
	if ((section->num_rows & (section->num_rows - 1)) == 0)
		section->rows = reallocate(section->rows, sizeof(ReportRow) * (section->num_rows ? 2 * section->num_rows : 1));
	row = &section->rows[section->num_rows++];
	memset(row, 0, sizeof(*row));
	row->cells = allocate(sizeof(char *) * (section->num_columns + 1));
	return row;
}

void
row_text(ReportRow *row, int column, const char *text)
{
	row->cells[column] = text ? copy_string(text) : NULL;
}

void
row_number(ReportRow *row, int column, Number number)
{
	Buffer		text = {0};

	buffer_number(&text, number);
	row->cells[column] = text.data;
}

void
row_real(ReportRow *row, int column, double number)
{
	row->cells[column] = format_string("%.6g", number);
}

void
row_mix(ReportRow *row, int type, Number time)
{
	if (row->mix == NULL)
		row->mix = allocate(sizeof(Number) * MAX_TYPES);
	row->mix[type] += time;
}

static int
compare_waits(const void *a, const void *b)
{
	const ReportWait *x = a;
	const ReportWait *y = b;

	return x->time != y->time ? (x->time < y->time ? 1 : -1) : strcmp(x->name, y->name);
}

void
row_wait(ReportRow *row, const char *name, Number count, Number timed, Number time)
{
	row->waits = reallocate(row->waits, sizeof(ReportWait) * (row->num_waits + 1));
	row->waits[row->num_waits++] = (ReportWait)
	{
		copy_string(name), count, timed, time
	};
	qsort(row->waits, row->num_waits, sizeof(ReportWait), compare_waits);
}

static int	sort_column;

/* The largest first; what is no whole number goes by strtod(); ties by the first cell. */
static int
compare_rows(const void *a, const void *b)
{
	const char *x = ((const ReportRow *) a)->cells[sort_column];
	const char *y = ((const ReportRow *) b)->cells[sort_column];
	const char *first_x = ((const ReportRow *) a)->cells[0];
	const char *first_y = ((const ReportRow *) b)->cells[0];
	Number		number_x;
	Number		number_y;

	if (x && y && parse_number(x, &number_x) && parse_number(y, &number_y))
	{
		if (number_x != number_y)
			return number_x < number_y ? 1 : -1;
	}
	else
	{
		double		real_x = x ? strtod(x, NULL) : -1;
		double		real_y = y ? strtod(y, NULL) : -1;

		if (real_x != real_y)
			return real_x < real_y ? 1 : -1;
	}
	return strcmp(first_x ? first_x : "", first_y ? first_y : "");
}

void
section_sort(ReportSection *section, int column, int most)
{
	section->sorted_by = sort_column = column;
	if (section->num_rows > 1)
		qsort(section->rows, section->num_rows, sizeof(ReportRow), compare_rows);
	if (section->num_rows > most)
	{
		section->more = section->num_rows - most;
		section->num_rows = most;
	}
}
