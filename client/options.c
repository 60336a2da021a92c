/*
 * options.c
 *	  The command line: options that every command has, those of one command, arguments.
 */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "message.h"

const Option common_options[] = {
	{"host", 'h', "HOST", "server's host, or the folder of its socket (PGHOST)"},
	{"port", 'p', "PORT", "server's port (PGPORT)"},
	{"username", 'U', "ROLE", "role to connect as (PGUSER)"},
	{"dbname", 'd', "DATABASE", "database, connection string or URI (PGDATABASE)"},
	{"no-password", 'w', NULL, "never ask for a password"},
	{"password", 'W', NULL, "ask for a password before connecting"},
	{"help", '?', NULL, "show this help, then exit"},
	{"version", 'V', NULL, "show the version, then exit"},
	{NULL}
};

/* Looks in one table; counts what matches by its beginning, unless one matches whole. */
static const Option *
find_long(const Option *table, const char *name, size_t length, int *matches)
{
	const Option *found = NULL;

	for (const Option *o = table; o && o->name; o++)
	{
		if (strncmp(o->name, name, length) != 0)
			continue;
		if (o->name[length] == '\0')
		{
			*matches = 1;
			return o;
		}
		found = o;
		*matches += 1;
	}
	return found;
}

static const Option *
find_letter(const Option *table, char letter)
{
	for (const Option *o = table; o && o->name; o++)
	{
		if (o->letter == letter)
			return o;
	}
	return NULL;
}

static void
add_value(Options *options, const Option *option, const char *value)
{
	options->values = reallocate(options->values, sizeof(OptionValue) * (options->num_values + 1));
	options->values[options->num_values++] = (OptionValue)
	{
		option, value
	};
}

/* What is wrong with a word of the command line, of which the message has the beginning. */
static char *
complain(const char *before, const char *word, size_t length, const char *behind)
{
	char	   *whole = format_string("%.*s", (int) length, word);
	char	   *quoted = quote(whole);
	char	   *message = format_string("%s%s%s", before, quoted, behind);

	free(whole);
	free(quoted);
	return message;
}

/*
 * Takes one "--name" apart.  next is the argument behind it, or NULL; *used tells whether
 * that was its value.
 */
static char *
parse_long(Options *options, const Option *own, const char *word, const char *next, bool *used)
{
	const char *equals = strchr(word, '=');
	size_t		length = equals ? (size_t) (equals - word) : strlen(word);
	int			own_matches = 0;
	int			common_matches = 0;
	const Option *option = find_long(own, word, length, &own_matches);
	const Option *common = find_long(common_options, word, length, &common_matches);

	if (length == 0)
		return complain("an option has no name: \"--", word, strlen(word), "\"");
	/* A whole name goes before beginnings. */
	if (common && common->name[length] == '\0')
		option = common;
	else if (!(option && option->name[length] == '\0'))
	{
		if (own_matches + common_matches > 1)
			return complain("option --", word, length, " is ambiguous: write it in full");
		if (option == NULL)
			option = common;
	}
	if (option == NULL)
		return complain("there is no option --", word, length, "");
	if (option->argument == NULL)
	{
		if (equals)
			return format_string("option --%s takes no value", option->name);
		add_value(options, option, "");
		return NULL;
	}
	if (!equals && next == NULL)
		return format_string("option --%s needs a value: --%s %s", option->name, option->name, option->argument);
	*used = !equals;
	add_value(options, option, equals ? equals + 1 : next);
	return NULL;
}

/* The same for a "-x", or several in one word. */
static char *
parse_letters(Options *options, const Option *own, const char *word, const char *next, bool *used)
{
	for (const char *p = word; *p; p++)
	{
		const Option *option = find_letter(own, *p);

		if (option == NULL)
			option = find_letter(common_options, *p);
		if (option == NULL)
			return format_string("there is no option -%c", *p);
		if (option->argument == NULL)
		{
			add_value(options, option, "");
			continue;
		}
		if (p[1] == '\0' && next == NULL)
			return format_string("option -%c needs a value: -%c %s", *p, *p, option->argument);
		*used = p[1] == '\0';
		add_value(options, option, *used ? next : p + 1);
		break;
	}
	return NULL;
}

/* Is it more than the name of a database, as psql takes it? */
bool
is_connection_string(const char *word)
{
	return strncmp(word, "postgres://", 11) == 0 || strncmp(word, "postgresql://", 13) == 0 || strchr(word, '=') != NULL;
}

/* Takes the command line apart, word by word; the values of options are passed over with them. */
char *
parse_options(Options *options, const Option *own, int argc, const char *const *argv)
{
	bool		only_arguments = false;

	memset(options, 0, sizeof(*options));
	options->arguments = allocate(sizeof(char *) * (argc + 1));
	for (int i = 0; i < argc; i++)
	{
		const char *word = argv[i];
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		bool		used = false;
		char	   *wrong = NULL;

		if (only_arguments || word[0] != '-' || word[1] == '\0')
			options->arguments[options->num_arguments++] = word;
		else if (strcmp(word, "--") == 0)
			only_arguments = true;
		else if (word[1] == '-')
			wrong = parse_long(options, own, word + 2, next, &used);
		else
			wrong = parse_letters(options, own, word + 1, next, &used);
		if (wrong)
			return wrong;
		i += used;
	}
	return NULL;
}

void
free_options(Options *options)
{
	free(options->values);
	free(options->arguments);
	memset(options, 0, sizeof(*options));
}

const char *
option_nth(const Options *options, const char *name, int n)
{
	for (int i = 0; i < options->num_values; i++)
	{
		if (strcmp(options->values[i].option->name, name) == 0 && n-- == 0)
			return options->values[i].value;
	}
	return NULL;
}

const char *
option_value(const Options *options, const char *name)
{
	for (int i = options->num_values - 1; i >= 0; i--)
	{
		if (strcmp(options->values[i].option->name, name) == 0)
			return options->values[i].value;
	}
	return NULL;
}

bool
option_given(const Options *options, const char *name)
{
	return option_value(options, name) != NULL;
}

double
option_number(const Options *options, const char *name, double low, double high, double missing)
{
	const char *value = option_value(options, name);
	char	   *end;
	double		number;

	if (value == NULL)
		return missing;
	number = strtod(value, &end);
	if (end == value || *end != '\0' || !(number >= low && number <= high))
		die(STATUS_UNUSABLE, "option --%s takes a number from %.15g to %.15g, not \"%s\"", name, low, high, quote(value));
	return number;
}

int
option_integer(const Options *options, const char *name, int low, int high, int missing)
{
	const char *value = option_value(options, name);
	double		number = option_number(options, name, low, high, missing);

	if (value && number != floor(number))
		die(STATUS_UNUSABLE, "option --%s takes a whole number from %d to %d, not \"%s\"", name, low, high, quote(value));
	return (int) number;
}

/* Reads --format of commands that write tables. */
OutputFormat
option_format(const Options *options)
{
	const char *value = option_value(options, "format");

	if (value == NULL || strcmp(value, "table") == 0)
		return FORMAT_TABLE;
	if (strcmp(value, "csv") == 0)
		return FORMAT_CSV;
	if (strcmp(value, "spreadsheet") == 0)
		return FORMAT_SPREADSHEET;
	if (strcmp(value, "json") == 0)
		return FORMAT_JSON;
	die(STATUS_UNUSABLE, "option --format takes table, csv, spreadsheet or json, not \"%s\"", quote(value));
}
