/*
 * reading.c
 *	  What a screen's query returned at one moment, and the view that two of them make.
 */
#include "reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "escape.h"
#include "format.h"
#include "row_index.h"

double
clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int
screen_width(const Screen *screen)
{
	int			n = 0;

	while (screen->columns[n].name)
		n++;
	return n;
}

int
screen_column(const Screen *screen, const char *name)
{
	for (int i = 0; name && screen->columns[i].name; i++)
	{
		if (strcmp(screen->columns[i].name, name) == 0)
			return i;
	}
	return -1;
}

static double
number_of(const char *text)
{
	return text ? strtod(text, NULL) : 0;
}

/* Runs one query of a screen. */
static Reading *
take_rows(Server *server, const Screen *screen, const char *sql, int num_params, const char *const *params)
{
	Reading    *reading;
	double		asked = clock_seconds();
	PGresult   *result = server_query(server, sql, num_params, params);

	if (result == NULL)
		return NULL;
	reading = allocate(sizeof(Reading));
	reading->asked = reading->whole_at = asked;
	reading->whole = -1;
	reading->screen = screen;
	reading->result = result;
	reading->at = clock_seconds();
	reading->num_rows = PQntuples(result);
	reading->num_values = PQnfields(result);
	reading->values = allocate(sizeof(char *) * reading->num_rows * reading->num_values);
	for (int row = 0; row < reading->num_rows; row++)
	{
		for (int i = 0; i < reading->num_values; i++)
			reading->values[row * reading->num_values + i] = field(result, row, i);
	}
	return reading;
}

/*
 * Adds the breakdown of a reading's rows, and arranges them.  ids: of which query_ids it is, as an array; NULL: of all.
 * Frees the reading and returns NULL if it fails.
 */
static Reading *
complete(Server *server, Reading *reading, const char *ids)
{
	const Screen *screen;

	if (reading == NULL)
		return NULL;
	screen = reading->screen;
	if (screen->breakdown)
	{
		reading->breakdown = take_rows(server, screen, screen->breakdown, 1, &ids);
		if (reading->breakdown == NULL)
		{
			reading_free(reading);
			return NULL;
		}
	}
	if (screen->arrange)
		screen->arrange(server, reading);
	return reading;
}

/* Runs a screen's query, and that of its breakdown. */
Reading *
reading_take(Server *server, const Screen *screen, int num_params, const char *const *params)
{
	return complete(server, take_rows(server, screen, screen->query, num_params, params), NULL);
}

/* The number of the value that a column shows; -1: it is derived. */
static int
value_of_column(const Screen *screen, int column)
{
	int			value = 0;

	if (column < 0 || is_derived(&screen->columns[column]))
		return -1;
	for (int i = 0; i < column; i++)
		value += !is_derived(&screen->columns[i]);
	return value;
}

/*
 * Lets the server sort, and send the first rows with how many there are and the sum that shares are of.  It sorts as
 * view_sort() does.  By a ratio or by what a row mostly waits for it does not: then all rows are read.
 */
Reading *
reading_take_first(Server *server, const Screen *screen, int num_params, const char *const *params,
				   int column, bool up, int limit)
{
	Buffer		sql = {0};
	Buffer		ids = {0};
	Reading    *reading;
	int			num_values = 0;
	int			share = -1;
	int			by;
	int			id = value_of_column(screen, screen_column(screen, "query_id"));

	for (int i = 0; screen->columns[i].name; i++)
	{
		num_values += !is_derived(&screen->columns[i]);
		if (screen->columns[i].role == ROLE_SHARE)
			share = screen_column(screen, screen->columns[i].a);
	}
	/* Shares and active sessions are in the order of what they are of. */
	if (column >= 0 && (screen->columns[column].role == ROLE_SHARE || screen->columns[column].role == ROLE_ACTIVE ||
						screen->columns[column].role == ROLE_PER_SECOND))
		by = value_of_column(screen, screen_column(screen, screen->columns[column].a));
	else
		by = value_of_column(screen, column);
	if (limit == 0 || by < 0 || screen->arrange)
		return reading_take(server, screen, num_params, params);
	buffer_printf(&sql, "SELECT q.*, count(*) OVER (), ");
	if (share >= 0)
		buffer_printf(&sql, "sum(v%d) OVER ()", value_of_column(screen, share));
	else
		buffer_add_string(&sql, "NULL");
	buffer_printf(&sql, " FROM (%s) q (", screen->query);
	for (int i = 0; i < num_values; i++)
		buffer_printf(&sql, i ? ", v%d" : "v%d", i);
	buffer_printf(&sql, ") ORDER BY v%d%s%s NULLS LAST LIMIT %d", by, screen->columns[column].kind == COLUMN_TEXT ? " COLLATE \"C\"" : "",
				  up ? "" : " DESC", limit);
	reading = take_rows(server, screen, sql.data, num_params, params);
	buffer_free(&sql);
	if (reading && reading->num_rows > 0)
	{
		const char *const *first = row_of(reading, 0);

		reading->num_all = atoi(first[num_values]);
		reading->whole = first[num_values + 1] ? number_of(first[num_values + 1]) : -1;
	}
	buffer_add_char(&ids, '{');
	for (int row = 0; reading && id >= 0 && row < reading->num_rows; row++)
	{
		if (row_of(reading, row)[id])
			buffer_printf(&ids, ids.length > 1 ? ",%s" : "%s", row_of(reading, row)[id]);
	}
	buffer_add_char(&ids, '}');
	reading = complete(server, reading, ids.data);
	buffer_free(&ids);
	return reading;
}

void
reading_free(Reading *reading)
{
	if (reading == NULL)
		return;
	reading_free(reading->breakdown);
	for (int i = 0; i < reading->num_own; i++)
		free(reading->own[i]);
	free(reading->own);
	free(reading->values);
	PQclear(reading->result);
	free(reading);
}

static const char *
keep(char ***own, int *num_own, char *text)
{
	/* Grows at powers of two. */
	if ((*num_own & (*num_own - 1)) == 0)
		*own = reallocate(*own, sizeof(char *) * (*num_own ? *num_own * 2 : 1));
	(*own)[(*num_own)++] = text;
	return text;
}

const char *
reading_keep(Reading *reading, char *text)
{
	return keep(&reading->own, &reading->num_own, text);
}

/* ---- what was forgotten ---- */

/*
 * Finds the row that has what files of the same kind have counted that are not there any more;
 * -1: there is none, as on other screens than that of files.
 */
static int
find_removed(const Index *rows, const char *const *row)
{
	const char *removed[MAX_VALUES] = {NULL};

	if (!rows->reading->screen->loses_parts)
		return -1;
	removed[FILES_KIND] = row[FILES_KIND];
	removed[FILES_NAME] = REMOVED_FILES;
	return index_find(rows, removed);
}

/*
 * What is to be taken off each counter of a reading's rows: what it was before.  A row that the
 * server has forgotten since (a statement's digest that had to make room) is taken off the row of
 * all others, whose keys are all NULL, where it went; a row that went back was forgotten and met again.
 * What a row of files has lost is taken off that of the removed ones of its kind, where it went.
 */
static double *
find_before(const Index *rows, const Reading *before)
{
	const Reading *now = rows->reading;
	const char *nothing[MAX_VALUES] = {NULL};
	double	   *was = allocate(sizeof(double) * (now->num_rows + 1) * now->num_values);
	int			others = rows->num_keys > 0 ? index_find(rows, nothing) : -1;

	for (int row = 0; row < before->num_rows; row++)
	{
		const char *const *then = row_of(before, row);
		int			removed = find_removed(rows, then);
		int			to = index_find(rows, then);
		int			value = 0;

		for (int i = 0; to >= 0 && to != others && now->screen->columns[i].name; i++)
		{
			const ScreenColumn *column = &now->screen->columns[i];

			if (is_derived(column))
				continue;
			if (column->role == ROLE_SUM && !now->screen->loses_parts && number_of(then[value]) > number_of(row_of(now, to)[value]))
				to = -1;
			value++;
		}
		if (to < 0)
			to = removed >= 0 ? removed : others;
		for (int i = 0; to >= 0 && i < now->num_values; i++)
		{
			double	   *sum = &was[to * now->num_values + i];
			double		most = number_of(now->values[to * now->num_values + i]);

			*sum += number_of(then[i]);
			if (*sum <= most || to == removed)
				continue;
			if (removed >= 0)
				was[removed * now->num_values + i] += *sum - most;
			/* After a reset there is less of all others. */
			if (to == others || now->screen->loses_parts)
				*sum = most;
		}
	}
	for (int i = 0; now->screen->loses_parts && i < now->num_rows * now->num_values; i++)
	{
		double		most = number_of(now->values[i]);

		if (was[i] > most)
			was[i] = most;
	}
	return was;
}

/* ---- the breakdown ---- */

/* What a key's largest part is, and how much it and all parts are. */
typedef struct Part
{
	const char *name;
	double		largest;
	double		total;
} Part;

/*
 * Fills in how much each row of a breakdown has grown.  What was forgotten is taken off the row of all
 * others, as in find_before().
 */
static void
grow_parts(double *sums, const Reading *now, const Reading *before, int num_keys)
{
	static const int first[MAX_KEYS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	Index		parts = index_make(now, first, num_keys + 1);	/* the name, too */

	for (int row = 0; row < now->num_rows; row++)
		sums[row] = number_of(row_of(now, row)[num_keys + 1]);
	for (int row = 0; before && row < before->num_rows; row++)
	{
		const char *const *then = row_of(before, row);
		double		was = number_of(then[num_keys + 1]);
		int			part = index_find(&parts, then);

		if (part < 0 || was > sums[part])
		{
			const char *others[MAX_KEYS + 1] = {NULL};

			others[num_keys] = then[num_keys];
			part = index_find(&parts, others);
		}
		if (part >= 0)
			sums[part] -= was < sums[part] ? was : sums[part];
	}
	free(parts.slots);
}

/* Finds the parts of each row of a view. */
static Part *
find_parts(const Index *rows, const Reading *before)
{
	const Reading *breakdown = rows->reading->breakdown;
	Part	   *parts = allocate(sizeof(Part) * (rows->reading->num_rows + 1));
	double	   *sums = allocate(sizeof(double) * (breakdown->num_rows + 1));

	grow_parts(sums, breakdown, before ? before->breakdown : NULL, rows->num_keys);
	for (int row = 0; row < breakdown->num_rows; row++)
	{
		const char *const *values = row_of(breakdown, row);
		const char *wanted[MAX_VALUES] = {NULL};
		int			found;

		for (int i = 0; i < rows->num_keys; i++)
			wanted[rows->keys[i]] = values[i];
		found = index_find(rows, wanted);
		if (found >= 0 && sums[row] > 0)
		{
			Part	   *part = &parts[found];

			part->total += sums[row];
			if (sums[row] > part->largest)
			{
				part->largest = sums[row];
				part->name = values[rows->num_keys];
			}
		}
	}
	free(sums);
	return parts;
}

/* ---- views ---- */

/*
 * Fills the columns that the query has; before: what is to be taken off counters, or NULL.  One that
 * went back was reset: what it has is new.  False: nothing happened in this row.
 */
static bool
fill_row(Cell *cells, const Screen *screen, const char *const *now, const double *before)
{
	bool		happened = before == NULL;
	bool		any_sum = false;
	int			value = 0;

	for (int i = 0; screen->columns[i].name; i++)
	{
		const ScreenColumn *column = &screen->columns[i];
		const char *text;

		if (is_derived(column))
			continue;
		text = now[value];
		cells[i].is_null = text == NULL;

		cells[i].number = number_of(text);
		cells[i].text = text;

		if (column->role == ROLE_SUM)
		{
			any_sum = true;
			if (before && text)
			{
				if (before[value] <= cells[i].number)
					cells[i].number -= before[value];

				/*
				 * A difference of two large numbers that is less than their
				 * rounding is none.
				 */
				if (cells[i].number < before[value] * 1e-14)
					cells[i].number = 0;
				cells[i].text = NULL;
				happened = happened || cells[i].number > 0;
			}
		}
		value++;
	}
	value = screen_column(screen, screen->always);
	return happened || !any_sum || (value >= 0 && !cells[value].is_null);
}

/*
 * The largest part of a row, and how much of it that is.  What is left of the row's own sum is
 * time on a processor.
 */
static const char *
mostly(View *view, double whole, const Part *part)
{
	double		cpu = whole > part->total ? whole - part->total : 0;
	const char *name = part->name;
	double		largest = part->largest;

	if (name == NULL || cpu > largest)
	{
		name = "cpu";
		largest = cpu;
	}
	if (largest <= 0)
		return NULL;
	if (strncmp(name, "wait/", 5) == 0)
	{
		name += 5;
		name += strncmp(name, "synch/", 6) == 0 ? 6 : strncmp(name, "io/", 3) == 0 ? 3 : 0;
	}
	whole = whole > part->total ? whole : part->total;
	return keep(&view->own, &view->num_own, format_string("%s %.0f %%", name, 100 * largest / whole));
}

/* Fills the derived columns of a row. */
static void
derive_row(View *view, Cell *cells, const double *totals, const Part *part)
{
	for (int i = 0; i < view->num_columns; i++)
	{
		const ScreenColumn *column = &view->screen->columns[i];
		const Cell *a = column->a ? &cells[screen_column(view->screen, column->a)] : NULL;
		double		by = 0;

		switch (column->role)
		{
			case ROLE_RATIO:
				by = cells[screen_column(view->screen, column->b)].number;
				break;
			case ROLE_PER_SECOND:
				by = view->seconds;
				break;
			case ROLE_ACTIVE:
				by = view->seconds * 1e12;
				break;
			case ROLE_SHARE:
				by = totals[screen_column(view->screen, column->a)];
				break;
			case ROLE_MOSTLY:
				cells[i].text = mostly(view, a ? a->number : 0, part);
				cells[i].is_null = cells[i].text == NULL;
				continue;
			default:
				continue;
		}
		cells[i].is_null = a->is_null || by <= 0;
		cells[i].number = by > 0 ? a->number / by : 0;
	}
}

/* Makes a view: rows differenced, then the columns that are derived from them. */
View *
view_make(const Reading *now, const Reading *before, double seconds)
{
	View	   *view = allocate(sizeof(View));
	const Screen *screen = now->screen;
	int			keys[MAX_KEYS];
	int			num_keys = key_values(screen, keys);
	Index		rows = index_make(now, keys, num_keys);
	Part	   *parts = NULL;
	double	   *was = NULL;
	double	   *totals;

	if (!screen->has_sums)
		before = NULL;
	view->screen = screen;
	view->num_columns = screen_width(screen);
	view->seconds = before ? now->at - before->at : seconds;
	view->rows = allocate(sizeof(Cell *) * (now->num_rows + 1));
	totals = allocate(sizeof(double) * view->num_columns);
	if (before)
		was = find_before(&rows, before);
	if (now->breakdown)
		parts = find_parts(&rows, before);
	for (int row = 0; row < now->num_rows; row++)
	{
		const char *const *values = row_of(now, row);
		Cell	   *cells = allocate(sizeof(Cell) * view->num_columns);

		if (!fill_row(cells, screen, values, was ? was + row * now->num_values : NULL))
		{
			free(cells);
			continue;
		}
		for (int i = 0; i < view->num_columns; i++)
			totals[i] += cells[i].number;
		if (parts)
			parts[view->num_rows] = parts[row];
		view->rows[view->num_rows++] = cells;
	}
	for (int i = 0; now->whole >= 0 && i < view->num_columns; i++)
	{
		if (screen->columns[i].role == ROLE_SHARE)
			totals[screen_column(screen, screen->columns[i].a)] = now->whole;
	}
	view->num_all = now->num_all > view->num_rows ? now->num_all : view->num_rows;
	for (int row = 0; row < view->num_rows; row++)
		derive_row(view, view->rows[row], totals, parts ? &parts[row] : NULL);
	free(rows.slots);
	free(parts);
	free(was);
	free(totals);
	return view;
}

/* Does a visible text of the row contain it, in any letter case? */
static bool
row_matches(const View *view, const Cell *cells, const char *text)
{
	for (int i = 0; i < view->num_columns; i++)
	{
		const ScreenColumn *column = &view->screen->columns[i];

		if (column->width < 0 || cells[i].text == NULL || (column->kind != COLUMN_TEXT && column->kind != COLUMN_NUMBER))
			continue;
		if (strcasestr(cells[i].text, text))
			return true;
	}
	return false;
}

/* Drops the rows that do not have the text. */
void
view_filter(View *view, const char *text)
{
	int			n = 0;

	if (text == NULL || text[0] == '\0')
		return;
	for (int row = 0; row < view->num_rows; row++)
	{
		if (row_matches(view, view->rows[row], text))
			view->rows[n++] = view->rows[row];
		else
			free(view->rows[row]);
	}
	view->num_hidden = view->num_rows - n;
	view->num_rows = n;
}

/* What qsort_r() compares by; rows without a value go to the end. */
typedef struct SortBy
{
	int			column;
	bool		by_text;
	bool		up;
} SortBy;

/* Compares two rows for qsort_r() by a SortBy. */
static int
compare_rows(const void *left, const void *right, void *arg)
{
	const SortBy *by = arg;
	const Cell *a = &(*(Cell *const *) left)[by->column];
	const Cell *b = &(*(Cell *const *) right)[by->column];
	int			result;

	if (a->is_null || b->is_null)
		return a->is_null - b->is_null;
	if (by->by_text)
		result = strcmp(a->text ? a->text : "", b->text ? b->text : "");
	else
		result = (a->number > b->number) - (a->number < b->number);
	return by->up ? result : -result;
}

/* Sorts a view by a column; rows that have nothing there come last. */
void
view_sort(View *view, int column, bool up)
{
	SortBy		by = {column, false, up};
	int			values = 0;

	if (column < 0 || column >= view->num_columns)
		return;
	/* Rows without any value stay in the order of the query. */
	while (values < view->num_rows && view->rows[values][column].is_null)
		values++;
	if (values == view->num_rows)
		return;
	by.by_text = view->screen->columns[column].kind == COLUMN_TEXT;
	qsort_r(view->rows, view->num_rows, sizeof(Cell *), compare_rows, &by);
}

void
view_free(View *view)
{
	if (view == NULL)
		return;
	for (int row = 0; row < view->num_rows; row++)
		free(view->rows[row]);
	for (int i = 0; i < view->num_own; i++)
		free(view->own[i]);
	free(view->own);
	free(view->rows);
	free(view);
}

/* Writes a number that has no text with the digits that its kind needs. */
const char *
cell_value(const Cell *cell, ColumnKind kind)
{
	static char text[64];

	if (cell->is_null)
		return NULL;
	if (cell->text)
		return cell->text;
	if (kind == COLUMN_REAL || kind == COLUMN_PERCENT || kind == COLUMN_BAR)
		snprintf(text, sizeof(text), "%.4f", cell->number);
	else
		snprintf(text, sizeof(text), "%.0f", cell->number);
	return text;
}
