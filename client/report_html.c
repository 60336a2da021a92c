/*
 * report_html.c
 *	  A report as one HTML page that loads nothing.
 *
 * All that comes from a server goes through escape_html() or escape_json(), and the page's
 * policy forbids it to load anything, so a text that got through would have nowhere to send
 * what it sees.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "escape.h"
#include "format.h"

/* The plot has at most so many periods; more become one. */
#define MOST_POINTS 720

/* Colours of the kinds of wait; CPU is green, disks blue, locks red, as in most tools. */
static const struct
{
	const char *type;
	const char *color;
}			colors[] =

{
	{"CPU", "#4caf6e"},
	{"IO", "#3b7dd8"},
	{"Lock", "#d9434e"},
	{"LWLock", "#f0862f"},
	{"Client", "#9aa7b4"},
	{"IPC", "#8e63c7"},
	{"BufferPin", "#c2559b"},
	{"Buffer", "#c2559b"},
	{"Timeout", "#c9b037"},
	{"Extension", "#2aa6a6"},
	{"Spin", "#8b5a3c"},
	{"InjectionPoint", "#7a7a3a"},
};

static const char *
color_of(const char *type)
{
	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
	{
		if (strcmp(colors[i].type, type) == 0)
			return colors[i].color;
	}
	return "#707070";
}

static void
add(Buffer *page, const char *text)
{
	buffer_add_string(page, text);
}

static void
add_escaped(Buffer *page, const char *text)
{
	escape_html(page, text, strlen(text));
}

/* Columns of a statement that stand below its text. */
#define STATEMENT_COLUMNS 4

/* ---- parts ---- */

/* Which server and time, what has to be known, and the first figures. */
static void
add_head(Buffer *page, const Report *report)
{
	char		from[TIME_TEXT];
	char		till[TIME_TEXT];
	bool		first = true;

	add(page, "<header><h1>What the server did</h1><p class=\"period\">");
	add(page, time_text(&report->zone, report->from, from));
	add(page, " to ");
	add(page, time_text(&report->zone, report->till, till));
	add(page, " ");
	add_escaped(page, report->zone.name);
	add(page, ", ");
	add_escaped(page, format_time((report->till - report->from) * 1e6));
	add(page, "</p><p class=\"facts\">");
	for (int i = 0; i < report->num_facts; i++)
	{
		add(page, first ? "<span>" : " <span>");
		add_escaped(page, report->facts[2 * i]);
		add(page, " <b>");
		add_escaped(page, report->facts[2 * i + 1]);
		add(page, "</b></span>");
		first = false;
	}
	add(page, "</p></header>\n");
	if (report->num_notices > 0)
	{
		add(page, "<ul class=\"notices\">");
		for (int i = 0; i < report->num_notices; i++)
		{
			add(page, "<li>");
			add_escaped(page, report->notices[i]);
			add(page, "</li>\n");
		}
		add(page, "</ul>\n");
	}
	add(page, "<div class=\"figures\">");
	for (int i = 0; i < report->num_figures; i++)
	{
		const ReportFigure *figure = &report->figures[i];

		buffer_printf(page, "<div class=\"figure\" id=\"figure_%s\"><span>", figure->id);
		add_escaped(page, figure->title);
		add(page, "</span><b>");
		add_escaped(page, show_value(figure->kind, figure->value));
		add(page, "</b><i>");
		if (figure->note)
			add_escaped(page, figure->note);
		add(page, "</i></div>\n");
	}
	add(page, "</div>\n");
}

/* What the script of the page draws: JSON in a script element that is not run. */
static void
add_load(Buffer *page, const ReportLoad *load, const Zone *zone)
{
	int			step = (load->num_points + MOST_POINTS - 1) / MOST_POINTS;

	if (load->num_points == 0)
		return;
	add(page, "<section class=\"plot\"><h2>Active sessions");
	add(page, load->sampled ? ", sampled once a second" : "");
	add(page, "</h2><p>Sessions that ran a statement, on average in each period, by what they spent their time on.</p>"
		"<div id=\"plot\"></div></section>\n<script type=\"application/json\" id=\"load-data\">{\"types\":[");
	for (int i = 0; i < load->num_types; i++)
	{
		add(page, i ? "," : "");
		add_json_string(page, load->types[i]);
	}
	add(page, "],\"colors\":[");
	for (int i = 0; i < load->num_types; i++)
		buffer_printf(page, "%s\"%s\"", i ? "," : "", color_of(load->types[i]));
	add(page, "],\"points\":[");
	for (int first = 0; first < load->num_points; first += step)
	{
		int			end = first + step < load->num_points ? first + step : load->num_points;
		double		length = 0;

		for (int i = first; i < end; i++)
			length += load->points[i].length;
		buffer_printf(page, "%s\n[%.6f,%.6f", first ? "," : "", load->points[first].start / 1e6,
					  (load->points[end - 1].start + load->points[end - 1].length) / 1e6);
		for (int type = 0; type < load->num_types; type++)
		{
			Number		time = 0;

			for (int i = first; i < end; i++)
				time += load->points[i].times[type];
			buffer_printf(page, ",%.4g", (double) time / 1e6 / length);
		}
		add(page, "]");
	}
	add(page, "],\"zone\":");
	add_json_string(page, zone->name);
	add(page, ",\"changes\":[");
	for (int i = 0; i < zone->num_changes; i++)
		buffer_printf(page, "%s[%lld,%d]", i ? "," : "", (long long) zone->changes[i].since, zone->changes[i].offset);
	add(page, "]}</script>\n");
}

/* A bar with the shares of a statement's time, which names them where the pointer stands. */
static void
add_mix(Buffer *page, const ReportLoad *load, const ReportRow *row)
{
	Number		total = 0;

	for (int i = 0; i < load->num_types; i++)
		total += row->mix[i];
	add(page, "<div class=\"mix\">");
	for (int i = 0; i < load->num_types; i++)
	{
		double		share = total > 0 ? (double) row->mix[i] / (double) total : 0;

		if (share < 0.001)
			continue;
		buffer_printf(page, "<i style=\"width:%.2f%%;background:%s\" title=\"", 100 * share, color_of(load->types[i]));
		add_escaped(page, load->types[i]);
		buffer_printf(page, " %s, ", format_percent(share));
		buffer_printf(page, "%s\"></i>", format_time((double) row->mix[i]));
	}
	add(page, "</div>");
}

/* A whole statement and its waits, shown when its beginning is clicked. */
static void
add_statement(Buffer *page, const ReportLoad *load, const ReportRow *row)
{
	add(page, "<details><summary>");
	add_escaped(page, row->cells[0] ? row->cells[0] : "");
	add(page, "</summary><pre>");
	add_escaped(page, row->text ? row->text : row->cells[0] ? row->cells[0] : "");
	add(page, "</pre>");
	if (row->num_waits > 0)
	{
		add(page, "<table class=\"waits\"><thead><tr><th>wait<th>count<th>time<th>average</tr></thead><tbody>");
		for (int i = 0; i < row->num_waits; i++)
		{
			const ReportWait *wait = &row->waits[i];

			add(page, "<tr><td>");
			add_escaped(page, wait->name);
			buffer_printf(page, "<td>%s", format_count((double) wait->count));
			buffer_printf(page, "<td>%s", format_time((double) wait->time));
			buffer_printf(page, "<td>%s</tr>", format_time(wait->timed ? (double) wait->time / (double) wait->timed : 0));
		}
		add(page, "</tbody></table>");
	}
	add(page, "</details>");
	if (row->mix)
		add_mix(page, load, row);
	/* Database, role and query id. */
	add(page, "<small>");
	for (int i = 1; i < STATEMENT_COLUMNS; i++)
	{
		if (row->cells[i])
		{
			add(page, "<span>");
			add_escaped(page, row->cells[i]);
			add(page, "</span>");
		}
	}
	add(page, "</small>");
}

/* A cell carries its plain value, by which the page's script sorts. */
static void
add_cell(Buffer *page, const TableColumn *column, const char *cell)
{
	if (column->kind == COLUMN_TEXT)
		add(page, "<td class=\"text\">");
	else
	{
		add(page, cell && strcmp(cell, "0") == 0 ? "<td class=\"zero\" data-v=\"" : "<td data-v=\"");
		add_escaped(page, cell ? cell : "");
		add(page, "\">");
	}
	if (cell == NULL)
		return;
	if (column->kind == COLUMN_PERCENT)
		buffer_printf(page, "<span class=\"bar\" style=\"--share:%.3f\">", strtod(cell, NULL));
	add_escaped(page, show_value(column->kind, cell));
	if (column->kind == COLUMN_PERCENT)
		add(page, "</span>");
}

/*
 * Columns without any value are left out, and those of a statement that stand below its
 * text: a table of twelve columns is read, one of twenty is not.
 */
static bool
column_is_left_out(const ReportSection *section, int column)
{
	if (strcmp(section->id, "statements") == 0 && column > 0 && column < STATEMENT_COLUMNS)
		return true;
	for (int row = 0; row < section->num_rows; row++)
	{
		const char *cell = section->rows[row].cells[column];

		if (cell && cell[0] && strcmp(cell, "0") != 0)
			return false;
	}
	return true;
}

/* A section is a table, or the reason why it is empty. */
static void
add_section(Buffer *page, const Report *report, const ReportSection *section)
{
	bool		statements = strcmp(section->id, "statements") == 0;

	buffer_printf(page, "<section id=\"%s\"><h2>%s", section->id, section->title);
	if (section->num_rows > 0)
		buffer_printf(page, " <small>%d%s</small>", section->num_rows, section->more ? " of " : "");
	if (section->more)
		buffer_printf(page, "<small>%d</small>", section->num_rows + section->more);
	buffer_printf(page, "</h2>\n<p>%s</p>\n", section->about);
	if (section->num_rows == 0)
	{
		add(page, "<p class=\"empty\">");
		add_escaped(page, section->empty ? section->empty : "Nothing in this time.");
		add(page, "</p></section>\n");
		return;
	}
	buffer_printf(page, "<div class=\"wide\"><table class=\"sortable%s\"><thead><tr>", statements ? " statements" : "");
	for (int i = 0; i < section->num_columns; i++)
	{
		if (column_is_left_out(section, i))
			continue;
		buffer_printf(page, "<th%s%s>%s", section->columns[i].kind == COLUMN_TEXT ? " class=\"text\"" : "",
					  i == section->sorted_by ? " aria-sort=\"descending\"" : "", section->titles[i]);
	}
	add(page, "</tr></thead>\n<tbody>\n");
	for (int row = 0; row < section->num_rows; row++)
	{
		add(page, "<tr>");
		for (int i = 0; i < section->num_columns; i++)
		{
			if (column_is_left_out(section, i))
				continue;
			if (statements && i == 0)
			{
				add(page, "<td class=\"text statement\">");
				add_statement(page, &report->load, &section->rows[row]);
			}
			else
				add_cell(page, &section->columns[i], section->rows[row].cells[i]);
		}
		add(page, "</tr>\n");
	}
	add(page, "</tbody></table></div></section>\n");
}

/* Writes the page with its styles and scripts inside. */
void
report_write_html(const Report *report, Sink *sink)
{
	Buffer		page = {0};

	add(&page, PAGE_HEAD("pfs report"));
	add(&page, page_uplot_css);
	add(&page, "\n");
	add(&page, page_report_css);
	add(&page, "</style>\n</head>\n<body>\n");
	add_head(&page, report);
	add_load(&page, &report->load, &report->zone);
	add(&page, "<nav>");
	for (int i = 0; i < report->num_sections; i++)
		buffer_printf(&page, "<a href=\"#%s\"%s>%s</a>\n", report->sections[i].id,
					  report->sections[i].num_rows ? "" : " class=\"none\"", report->sections[i].title);
	add(&page, "</nav>\n");
	for (int i = 0; i < report->num_sections; i++)
		add_section(&page, report, &report->sections[i]);
	add(&page, "<footer>Made by pfs " PFS_VERSION ". Click a column's title to sort by it, a statement to see all of it and "
		"its waits. It holds statements' texts: share it with care.</footer>\n");
	/* The licence asks to be in every copy. */
	add(&page, "<!--\nThe plot is drawn by uPlot.\n\n");
	add(&page, page_uplot_license);
	add(&page, "\n-->\n<script>\n");
	add(&page, page_uplot_js);
	add(&page, "\n");
	add(&page, page_report_js);
	add(&page, "</script>\n</body>\n</html>\n");
	sink_write(sink, page.data, page.length);
	buffer_free(&page);
}
