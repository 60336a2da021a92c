/*
 * report_text.c
 *	  A report as text, for a terminal or a mail.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "format.h"

/* A text of the server, as one line. */
static void
write_escaped(Sink *sink, const char *before, const char *text)
{
	Buffer		line = {0};

	buffer_add_string(&line, before);
	escape_terminal(&line, text, strlen(text));
	buffer_add_char(&line, '\n');
	sink_write(sink, line.data, line.length);
	buffer_free(&line);
}

/* The load over time as a line of bars for each kind of wait, at most so many columns. */
#define BARS 60

/* One line for the sum, and one for each kind of wait. */
static void
write_load(Sink *sink, const ReportLoad *load)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	int			columns = load->num_points < BARS ? load->num_points : BARS;
	double		heights[BARS];
	double		most = 0;

	if (load->num_points == 0)
		return;
	/* Type -1 is the sum of all; the scale is the sum's. */
	for (int type = -1; type < load->num_types; type++)
	{
		Buffer		line = {0};

		if (type >= 0 && load_total(load, type) == 0)
			continue;
		for (int i = 0; i < columns; i++)
		{
			Number		time = 0;
			double		length = 0;

			for (int j = load->num_points * i / columns; j < load->num_points * (i + 1) / columns; j++)
			{
				for (int t = 0; t < load->num_types; t++)
					time += type < 0 || t == type ? load->points[j].times[t] : 0;
				length += load->points[j].length;
			}
			heights[i] = length > 0 ? (double) time / 1e6 / length : 0;
			if (type < 0 && heights[i] > most)
				most = heights[i];
		}
		if (type >= 0)
			escape_terminal(&line, load->types[type], strlen(load->types[type]));
		sink_printf(sink, "%-12s ", type < 0 ? "all" : buffer_text(&line));
		for (int i = 0; i < columns; i++)
		{
			int			bar = most > 0 ? (int) (heights[i] / most * 8 + 0.5) : 0;

			/* What is there is seen, however little it is. */
			sink_string(sink, bars[bar <= 0 ? heights[i] > 0.001 : bar > 8 ? 8 : bar]);
		}
		sink_printf(sink, "  %.2f\n", load_average(load, type));
		buffer_free(&line);
	}
	sink_printf(sink, "             (active sessions on average; the highest bar is %.2f)\n", most);
}

/* What a statement's time was spent on, in a few words. */
static char *
describe_mix(const ReportLoad *load, const ReportRow *row)
{
	Buffer		text = {0};
	Number		total = 0;
	bool		used[32] = {false};

	for (int i = 0; row->mix && i < load->num_types; i++)
		total += row->mix[i];
	for (int n = 0; n < 3 && total > 0; n++)
	{
		int			best = -1;

		for (int i = 0; i < load->num_types && i < 32; i++)
		{
			if (!used[i] && (best < 0 || row->mix[i] > row->mix[best]))
				best = i;
		}
		if (best < 0 || (double) row->mix[best] < 0.01 * (double) total)
			break;
		used[best] = true;
		buffer_printf(&text, "%s%s %.0f %%", n ? ", " : "", load->types[best], 100.0 * (double) row->mix[best] / (double) total);
	}
	return text.data;
}

/*
 * Only the columns that have a value somewhere; a statement's kinds of wait become a column.
 */
static void
write_section(Sink *sink, const Report *report, const ReportSection *section)
{
	TableColumn columns[32];
	int			from[32];
	int			count = 0;
	Table	   *table;

	sink_printf(sink, "\n%s\n", section->title);
	for (size_t i = 0; i < strlen(section->title); i++)
		sink_string(sink, "-");
	sink_printf(sink, "\n%s\n", section->about);
	if (section->num_rows == 0)
	{
		write_escaped(sink, "", section->empty ? section->empty : "Nothing in this time.");
		return;
	}
	for (int i = 0; i < section->num_columns && count < 31; i++)
	{
		bool		value = false;

		for (int row = 0; row < section->num_rows; row++)
			value = value || (section->rows[row].cells[i] && section->rows[row].cells[i][0]);
		if (value)
		{
			columns[count] = section->columns[i];
			from[count++] = i;
		}
	}
	if (strcmp(section->id, "statements") == 0)
	{
		columns[count] = (TableColumn)
		{
			"on", COLUMN_TEXT, 40
		};
		from[count++] = -1;
	}
	table = table_new(columns, count);
	for (int row = 0; row < section->num_rows; row++)
	{
		const char *values[32];
		char	   *mix = describe_mix(&report->load, &section->rows[row]);

		for (int i = 0; i < count; i++)
			values[i] = from[i] < 0 ? mix : section->rows[row].cells[from[i]];
		table_add(table, values);
		free(mix);
	}
	table_write(table, sink, FORMAT_TABLE);
	table_free(table);
	if (section->more)
		sink_printf(sink, "(%d more)\n", section->more);
}

/* Writes the report; a table of it is as wide as it has to be. */
void
report_write_text(const Report *report, Sink *sink)
{
	char		from[TIME_TEXT];
	char		till[TIME_TEXT];
	Buffer		line = {0};

	sink_string(sink, "What the server did\n===================\n");
	buffer_printf(&line, "%s to %s %s, %s", time_text(&report->zone, report->from, from), time_text(&report->zone, report->till, till),
				  report->zone.name, format_time((report->till - report->from) * 1e6));
	write_escaped(sink, "", line.data);
	buffer_clear(&line);
	for (int i = 0; i < report->num_facts; i++)
		buffer_printf(&line, "%s%s %s", i ? ", " : "", report->facts[2 * i], report->facts[2 * i + 1]);
	if (report->num_facts)
		write_escaped(sink, "", buffer_text(&line));
	buffer_free(&line);
	for (int i = 0; i < report->num_notices; i++)
		write_escaped(sink, "\nNote: ", report->notices[i]);
	sink_string(sink, "\n");
	for (int i = 0; i < report->num_figures; i++)
	{
		const ReportFigure *figure = &report->figures[i];

		sink_printf(sink, "%-18s %12s", figure->title, show_value(figure->kind, figure->value));
		write_escaped(sink, figure->note ? "   " : "", figure->note ? figure->note : "");
	}
	sink_string(sink, "\n");
	write_load(sink, &report->load);
	for (int i = 0; i < report->num_sections; i++)
		write_section(sink, report, &report->sections[i]);
}
