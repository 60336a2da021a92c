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

/* Runs a screen's query, and that of its breakdown. */
Reading *
reading_take(Server *server, const Screen *screen, int num_params, const char *const *params)
{
	Reading    *reading;
	PGresult   *result = server_query(server, screen->query, num_params, params);
	PGresult   *breakdown = NULL;

	if (result == NULL)
		return NULL;
	if (screen->breakdown)
	{
		breakdown = server_query(server, screen->breakdown, 0, NULL);
		if (breakdown == NULL)
		{
			PQclear(result);
			return NULL;
		}
	}
	reading = allocate(sizeof(Reading));
	reading->screen = screen;
	reading->result = result;
	reading->breakdown = breakdown;
	reading->at = clock_seconds();
	reading->num_rows = PQntuples(result);
	reading->num_values = PQnfields(result);
	reading->values = allocate(sizeof(char *) * reading->num_rows * reading->num_values);
	for (int row = 0; row < reading->num_rows; row++)
	{
		for (int i = 0; i < reading->num_values; i++)
			reading->values[row * reading->num_values + i] = field(result, row, i);
	}
	if (screen->arrange)
		screen->arrange(reading);
	return reading;
}

void
reading_free(Reading *reading)
{
	if (reading == NULL)
		return;
	for (int i = 0; i < reading->num_own; i++)
		free(reading->own[i]);
	free(reading->own);
	free(reading->values);
	PQclear(reading->result);
	PQclear(reading->breakdown);
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

/* ---- rows by their keys ---- */

#define MAX_KEYS 8
#define MAX_VALUES 16

static double
number_of(const char *text)
{
	return text ? strtod(text, NULL) : 0;
}

typedef struct Index
{
	int		   *slots;			/* a row's number + 1 */
	int			size;			/* a power of two */
} Index;

static unsigned
hash_text(unsigned hash, const char *text)
{
	for (; text &&*text; text ++)
		hash = (hash ^ (unsigned char) *text) *16777619u;
	return (hash ^ (text ? 0xFF : 0xFE)) * 16777619u;
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Numbers of a reading's values that are keys; returns how many. */
static int
key_values(const Screen *screen, int *keys)
{
	int			n = 0;
	int			value = 0;

	for (int i = 0; screen->columns[i].name; i++)
	{
		if (is_derived(&screen->columns[i]))
			continue;
		if (screen->columns[i].role == ROLE_KEY && n < MAX_KEYS)
			keys[n++] = value;
		value++;
	}
	return n;
}

static unsigned
hash_row(const char *const *row, const int *keys, int num_keys)
{
	unsigned	hash = 2166136261u;

	for (int i = 0; i < num_keys; i++)
		hash = hash_text(hash, row[keys[i]]);
	return hash;
}

/* Fills an index of a reading's rows by their keys, by open addressing. */
static void
index_make(Index *index, const Reading *reading, const int *keys, int num_keys)
{
	index->size = 16;
	while (index->size < reading->num_rows * 2)
		index->size *= 2;
	index->slots = allocate(sizeof(int) * index->size);
	for (int row = 0; row < reading->num_rows; row++)
	{
		unsigned	at = hash_row(reading->values + row * reading->num_values, keys, num_keys);

		while (index->slots[at & (index->size - 1)])
			at++;
		index->slots[at & (index->size - 1)] = row + 1;
	}
}

/* Finds the row with the keys of another one. */
static const char *const *
index_find(const Index *index, const Reading *reading, const char *const *row, const int *keys, int num_keys)
{
	unsigned	at = hash_row(row, keys, num_keys);

	for (int slot; (slot = index->slots[at & (index->size - 1)]) != 0; at++)
	{
		const char *const *found = (const char *const *) reading->values + (slot - 1) * reading->num_values;
		bool		same = true;

		for (int i = 0; i < num_keys && same; i++)
			same = same_text(found[keys[i]], row[keys[i]]);
		if (same)
			return found;
	}
	return NULL;
}

/* ---- what was forgotten ---- */

/* The row that has what forgotten rows had counted: its keys are all NULL.  Returns its number; -1: there is none. */
static int
find_others(const Index *index, const Reading *reading, const int *keys, int num_keys)
{
	const char *nothing[MAX_VALUES] = {NULL};
	const char *const *row = num_keys > 0 ? index_find(index, reading, nothing, keys, num_keys) : NULL;

	return row ? (row - (const char *const *) reading->values) / reading->num_values : -1;
}

/*
 * What is to be taken off each counter of a reading's rows: what it was before.  A row that the
 * server has forgotten since (a statement's digest that had to make room) is taken off the row of
 * all others, where it went; a row that went back was forgotten and met again.
 */
static double *
find_before(const Reading *now, const Index *rows, const Reading *before, const int *keys, int num_keys)
{
	double	   *was = allocate(sizeof(double) * (now->num_rows + 1) * now->num_values);
	int			others = find_others(rows, now, keys, num_keys);

	for (int row = 0; row < before->num_rows; row++)
	{
		const char *const *then = (const char *const *) before->values + row * before->num_values;
		const char *const *found = index_find(rows, now, then, keys, num_keys);
		int			to = found ? (found - (const char *const *) now->values) / now->num_values : -1;
		int			value = 0;

		for (int i = 0; to >= 0 && to != others && now->screen->columns[i].name; i++)
		{
			const ScreenColumn *column = &now->screen->columns[i];

			if (is_derived(column))
				continue;
			if (column->role == ROLE_SUM && number_of(then[value]) > number_of(found[value]))
				to = -1;
			value++;
		}
		if (to < 0)
			to = others;
		for (int i = 0; to >= 0 && i < now->num_values; i++)
		{
			double	   *sum = &was[to * now->num_values + i];
			double		most = number_of(now->values[to * now->num_values + i]);

			*sum += number_of(then[i]);
			/* After a reset there is less of all others. */
			if (to == others && *sum > most)
				*sum = most;
		}
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

/* The slot of a row of a breakdown with these keys and name: one that has them, or a free one. */
static int *
part_slot(int *slots, int size, const PGresult *breakdown, const char *const *keys, int num_keys)
{
	unsigned	at = 2166136261u;

	for (int i = 0; i <= num_keys; i++)
		at = hash_text(at, keys[i]);
	for (;; at++)
	{
		int		   *slot = &slots[at & (size - 1)];
		bool		same = *slot != 0;

		for (int i = 0; i <= num_keys && same; i++)
			same = same_text(field(breakdown, *slot - 1, i), keys[i]);
		if (same || *slot == 0)
			return slot;
	}
}

/* Reads the keys and the name of a row of a breakdown; returns its sum. */
static double
read_part(const PGresult *breakdown, int row, const char **keys, int num_keys)
{
	for (int i = 0; i <= num_keys; i++)
		keys[i] = field(breakdown, row, i);
	return number_of(field(breakdown, row, num_keys + 1));
}

/*
 * Fills in how much each row of a breakdown has grown.  What was forgotten is taken off the row of all
 * others, as in find_before().
 */
static void
grow_parts(double *sums, const PGresult *now, const PGresult *before, int num_keys)
{
	int			n = PQntuples(now);
	const char *part[MAX_KEYS + 1];
	int			size = 16;
	int		   *slots;

	while (size < n * 2)
		size *= 2;
	slots = allocate(sizeof(int) * size);
	for (int row = 0; row < n; row++)
	{
		sums[row] = read_part(now, row, part, num_keys);
		*part_slot(slots, size, now, part, num_keys) = row + 1;
	}
	for (int row = 0; before && row < PQntuples(before); row++)
	{
		double		was = read_part(before, row, part, num_keys);
		int			slot = *part_slot(slots, size, now, part, num_keys);

		if (slot == 0 || was > sums[slot - 1])
		{
			for (int i = 0; i < num_keys; i++)
				part[i] = NULL;
			slot = *part_slot(slots, size, now, part, num_keys);
		}
		if (slot != 0)
			sums[slot - 1] -= was < sums[slot - 1] ? was : sums[slot - 1];
	}
	free(slots);
}

/* Finds the parts of each row of a view: keys of a breakdown come first, then name and sum. */
static Part *
find_parts(const Reading *now, const Reading *before, const Index *rows, const int *keys, int num_keys)
{
	Part	   *parts = allocate(sizeof(Part) * (now->num_rows + 1));
	int			n = PQntuples(now->breakdown);
	double	   *sums = allocate(sizeof(double) * (n + 1));

	grow_parts(sums, now->breakdown, before ? before->breakdown : NULL, num_keys);
	for (int row = 0; row < n; row++)
	{
		const char *row_keys[MAX_VALUES] = {NULL};
		const char *const *found;

		for (int i = 0; i < num_keys; i++)
			row_keys[keys[i]] = field(now->breakdown, row, i);
		found = index_find(rows, now, row_keys, keys, num_keys);
		if (found && sums[row] > 0)
		{
			Part	   *part = &parts[(found - (const char *const *) now->values) / now->num_values];

			part->total += sums[row];
			if (sums[row] > part->largest)
			{
				part->largest = sums[row];
				part->name = field(now->breakdown, row, num_keys);
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
	Index		rows = {0};
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
	index_make(&rows, now, keys, num_keys);
	if (before)
		was = find_before(now, &rows, before, keys, num_keys);
	if (now->breakdown)
		parts = find_parts(now, before, &rows, keys, num_keys);
	for (int row = 0; row < now->num_rows; row++)
	{
		const char *const *values = (const char *const *) now->values + row * now->num_values;
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

void
view_sort(View *view, int column, bool up)
{
	SortBy		by = {column, false, up};

	if (column < 0 || column >= view->num_columns)
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
