/*
 * options.h
 *	  The command line: options that every command has, those of one command, arguments.
 *
 * A command lists its own options in a table, and asks for their values by name.  What
 * is wrong with a command line is said in one line, and the program ends with status 2.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "table.h"

typedef struct Option
{
	const char *name;			/* long name without "--"; NULL ends a table */
	char		letter;			/* of the short form; 0: none */
	const char *argument;		/* what --help calls it; NULL: takes none */
	const char *help;			/* one line */
} Option;

typedef struct OptionValue
{
	const Option *option;
	const char *value;			/* "" where the option takes none */
} OptionValue;

typedef struct Options
{
	OptionValue *values;		/* in the order of the command line */
	int			num_values;
	const char **arguments;
	int			num_arguments;
	const char *dbname;			/* a database, connection string or URI that
								 * stands there without an option, as psql
								 * takes it; NULL: none */
	const char *username;		/* the role behind it; NULL: none */
} Options;

/* -h, -p, -U, -d, -w, -W as psql has them; --help and --version. */
extern const Option common_options[];

/* A command that writes tables has these among its own: "format" and "output". */
#define OPTION_FORMAT {"format", 'f', "FORMAT", "table (default), csv, spreadsheet or json"}
#define OPTION_OUTPUT {"output", 'o', "FILE", "write there, with mode 0600, not to standard output"}

/*
 * Takes a command line apart; own is the command's table, or NULL.  "--name value",
 * "--name=value", "-n value", "-nvalue", "--" before arguments; a long name may be cut
 * where that is not ambiguous.  Returns NULL, or what is wrong, to be freed.  The texts
 * of argv are used where they lie.
 */
extern char *parse_options(Options *options, const Option *own, int argc, const char *const *argv);
extern void free_options(Options *options);

/* Is a word a URI of a server, or parameters as libpq takes them, and not just a name? */
extern bool is_connection_string(const char *word);

extern bool option_given(const Options *options, const char *name);

/* The last value, or NULL. */
extern const char *option_value(const Options *options, const char *name);

/* The nth value, from 0, of an option that may be repeated; NULL: no more. */
extern const char *option_nth(const Options *options, const char *name, int n);

/* A number from low to high; missing where it is not given. */
extern double option_number(const Options *options, const char *name, double low, double high, double missing);
extern int	option_integer(const Options *options, const char *name, int low, int high, int missing);
extern OutputFormat option_format(const Options *options);

#endif
