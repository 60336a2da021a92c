/*
 * report_json.c
 *	  A report as JSON; docs/report.schema.json is its schema.
 *
 * Numbers are plain: times in picoseconds, sizes in bytes, shares as fractions.  Times of
 * the day are microseconds since 1970.
 */
#include "report.h"

#include "escape.h"

static void
add_member(Buffer *text, const char *before, const char *name, const char *value)
{
	buffer_add_string(text, before);
	add_json_string(text, name);
	buffer_add_string(text, ": ");
	add_json_string(text, value);
}

static void
add_value(Buffer *text, ColumnKind kind, const char *value)
{
	if (value && kind != COLUMN_TEXT && is_json_number(value))
		buffer_add_string(text, value);
	else
		add_json_string(text, value);
}

/* The word that the schema has for a column's unit. */
static const char *
unit_of(ColumnKind kind)
{
	switch (kind)
	{
		case COLUMN_TIME:
			return "picoseconds";
		case COLUMN_BYTES:
			return "bytes";
		case COLUMN_PERCENT:
			return "fraction";
		case COLUMN_TEXT:
			return "text";
		default:
			return "number";
	}
}

/* The load in all periods, in picoseconds by type. */
static void
add_load(Buffer *text, const ReportLoad *load)
{
	buffer_printf(text, ",\n\"load\": {\"sampled\": %s, \"types\": [", load->sampled ? "true" : "false");
	for (int i = 0; i < load->num_types; i++)
	{
		buffer_add_string(text, i ? ", " : "");
		add_json_string(text, load->types[i]);
	}
	buffer_add_string(text, "], \"periods\": [");
	for (int i = 0; i < load->num_points; i++)
	{
		const ReportPoint *point = &load->points[i];

		buffer_printf(text, "%s\n{\"start\": %lld, \"length\": %lld, \"times\": [", i ? "," : "",
					  (long long) point->start, (long long) point->length);
		for (int type = 0; type < load->num_types; type++)
		{
			buffer_add_string(text, type ? ", " : "");
			buffer_number(text, point->times[type]);
		}
		buffer_add_string(text, "]}");
	}
	buffer_add_string(text, "]}");
}

/* A statement has what it waited for, besides the columns. */
static void
add_row(Buffer *text, const Report *report, const ReportSection *section, const ReportRow *row)
{
	buffer_add_char(text, '{');
	for (int i = 0; i < section->num_columns; i++)
	{
		buffer_add_string(text, i ? ", " : "");
		add_json_string(text, section->columns[i].name);
		buffer_add_string(text, ": ");
		add_value(text, section->columns[i].kind, row->cells[i]);
	}
	if (row->mix)
	{
		buffer_add_string(text, ", \"on\": {");
		for (int type = 0, written = 0; type < report->load.num_types; type++)
		{
			if (row->mix[type] == 0)
				continue;
			buffer_add_string(text, written++ ? ", " : "");
			add_json_string(text, report->load.types[type]);
			buffer_add_string(text, ": ");
			buffer_number(text, row->mix[type]);
		}
		buffer_add_string(text, "}, \"waits\": [");
		for (int i = 0; i < row->num_waits; i++)
		{
			add_member(text, i ? ", {" : "{", "event_name", row->waits[i].name);
			buffer_add_string(text, ", \"count\": ");
			buffer_number(text, row->waits[i].count);
			buffer_add_string(text, ", \"time\": ");
			buffer_number(text, row->waits[i].time);
			buffer_add_char(text, '}');
		}
		buffer_add_char(text, ']');
	}
	buffer_add_char(text, '}');
}

/* A section with its columns described, and its rows by the columns' names. */
static void
add_section(Buffer *text, const Report *report, const ReportSection *section)
{
	add_member(text, "{", "id", section->id);
	add_member(text, ", ", "title", section->title);
	if (section->empty)
		add_member(text, ", ", "empty", section->empty);
	buffer_printf(text, ", \"left_out\": %d,\n \"columns\": [", section->more);
	for (int i = 0; i < section->num_columns; i++)
	{
		add_member(text, i ? ", {" : "{", "name", section->columns[i].name);
		add_member(text, ", ", "title", section->titles[i]);
		add_member(text, ", ", "unit", unit_of(section->columns[i].kind));
		buffer_add_char(text, '}');
	}
	buffer_add_string(text, "],\n \"rows\": [");
	for (int i = 0; i < section->num_rows; i++)
	{
		buffer_add_string(text, i ? ",\n  " : "\n  ");
		add_row(text, report, section, &section->rows[i]);
	}
	buffer_add_string(text, "]}");
}

/* Writes the report; what is text goes through escape_json(). */
void
report_write_json(const Report *report, Sink *sink)
{
	Buffer		text = {0};

	buffer_printf(&text, "{\"format\": \"pfs report\",\n\"version\": %d,\n\"source\": \"%s\",\n\"from\": %lld,\n\"till\": %lld,\n\"time_zone\": ",
				  REPORT_FORMAT, report->source, (long long) report->from, (long long) report->till);
	add_json_string(&text, report->zone.name);
	buffer_add_string(&text, ",\n\"server\": {");
	for (int i = 0; i < report->num_facts; i++)
		add_member(&text, i ? ", " : "", report->facts[2 * i], report->facts[2 * i + 1]);
	buffer_add_string(&text, "},\n\"notices\": [");
	for (int i = 0; i < report->num_notices; i++)
	{
		buffer_add_string(&text, i ? ",\n  " : "\n  ");
		add_json_string(&text, report->notices[i]);
	}
	buffer_add_string(&text, "],\n\"figures\": {");
	for (int i = 0; i < report->num_figures; i++)
	{
		buffer_add_string(&text, i ? ", " : "");
		add_json_string(&text, report->figures[i].id);
		buffer_add_string(&text, ": ");
		add_value(&text, report->figures[i].kind, report->figures[i].value);
	}
	buffer_add_char(&text, '}');
	add_load(&text, &report->load);
	buffer_add_string(&text, ",\n\"sections\": [");
	for (int i = 0; i < report->num_sections; i++)
	{
		buffer_add_string(&text, i ? ",\n" : "\n");
		add_section(&text, report, &report->sections[i]);
	}
	buffer_add_string(&text, "]}\n");
	sink_write(sink, text.data, text.length);
	buffer_free(&text);
}
