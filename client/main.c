/*
 * main.c
 *	  Finds the command, reads its options, shows help.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define PFS_LIST_COMMAND(name) &command_##name,

static const Command *const commands[] = {PFS_COMMANDS(PFS_LIST_COMMAND) NULL};

static void
print_options(const Option *options)
{
	for (const Option *o = options; o && o->name; o++)
	{
		char		words[64];

		snprintf(words, sizeof(words), "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
		if (o->letter)
			printf("  -%c, %-22s %s\n", o->letter, words, o->help);
		else
			printf("      %-22s %s\n", words, o->help);
	}
}

static void
print_help(void)
{
	printf("pfs shows what a PostgreSQL server with the extension pfs does and waits for.\n\n"
		   "Usage:\n  pfs COMMAND [OPTION]... [ARGUMENT]... [DATABASE [ROLE]]\n\nCommands:\n");
	for (int i = 0; commands[i]; i++)
		printf("  %-12s %s\n", commands[i]->name, commands[i]->help);
	printf("\nOptions of every command:\n");
	print_options(common_options);
	printf("\n\"pfs COMMAND --help\" shows the other options of a command.  Without options it connects as\n"
		   "psql does: by PGHOST, PGPORT, PGUSER, PGDATABASE, PGSERVICE and the password file.  A database,\n"
		   "connection string or URI may also stand without an option; with it alone, \"pfs URI\", it is \"pfs top\".\n"
		   "Membership in pg_monitor is enough for all of it.\n");
}

/* What "pfs COMMAND --help" prints. */
static void
print_command_help(const Command *command)
{
	printf("pfs %s: %s\n\nUsage:\n  pfs %s [OPTION]...%s%s [DATABASE [ROLE]]\n\n", command->name, command->help, command->name,
		   command->arguments ? " " : "", command->arguments ? command->arguments : "");
	if (command->details)
		printf("%s\n", command->details);
	if (command->options)
	{
		printf("Options:\n");
		print_options(command->options);
		printf("\n");
	}
	printf("Options of every command:\n");
	print_options(common_options);
}

static const Command *
find_command(const char *name)
{
	for (int i = 0; commands[i]; i++)
	{
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

/* What the program shows is UTF-8; only widths of characters depend on the locale. */
static void
set_locale(void)
{
	if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Opens what was closed of standard input, output and errors, as a connection or a file would get its number and
 * the output go there.  /dev/null is opened the wrong way round: an output that is not there is an error.
 */
static void
open_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
	{
		/* What is opened gets the lowest number that is free. */
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(STATUS_UNUSABLE);
	}
}

/*
 * Takes the arguments that the command has none of: a database, connection string or URI, and a role, as psql
 * takes them.  A URI cannot be a file's name, so it may stand before the command's own arguments.
 */
static void
take_database(const Command *command, Options *options)
{
	int			own = 0;

	for (int i = 0; i < options->num_arguments; i++)
	{
		const char *word = options->arguments[i];
		bool		is_uri = strstr(word, "://") && is_connection_string(word);

		if (!is_uri && own < command->max_arguments)
			options->arguments[own++] = word;
		else if (options->dbname == NULL && !option_given(options, "dbname"))
			options->dbname = word;
		else if (options->username == NULL && options->dbname != NULL && !is_uri && !option_given(options, "username"))
			options->username = word;
		else
			die(STATUS_UNUSABLE, "unexpected argument \"%s\" (try \"pfs %s --help\")", quote(word), command->name);
	}
	options->num_arguments = own;
}

/*
 * Runs one command.  dbname: what stood before it, or NULL.  Help and version go before whatever else is wrong.
 */
static int
run_command(const Command *command, const char *dbname, int argc, const char *const *argv)
{
	Options		options;
	char	   *wrong = parse_options(&options, command->options, argc, argv);
	int			status;

	if (!wrong && option_given(&options, "help"))
	{
		print_command_help(command);
		free_options(&options);
		return STATUS_OK;
	}
	if (!wrong && option_given(&options, "version"))
	{
		printf("pfs %s\n", PFS_VERSION);
		free_options(&options);
		return STATUS_OK;
	}
	if (wrong)
		die(STATUS_UNUSABLE, "%s (try \"pfs %s --help\")", wrong, command->name);
	if (dbname && option_given(&options, "dbname"))
		die(STATUS_UNUSABLE, "the database is named twice: as an argument and by --dbname");
	options.dbname = dbname;
	take_database(command, &options);
	if (options.num_arguments < command->min_arguments)
		die(STATUS_UNUSABLE, "an argument is missing: pfs %s %s", command->name, command->arguments);
	status = command->run(command, &options);
	free_options(&options);
	return status;
}

/*
 * Where the command stands: the first word that is the name of one, and with the options of which it is an argument and
 * no option's value.  0: there is none.
 */
static int
find_command_word(int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++)
	{
		const Command *command = find_command(argv[i]);
		Options		options;
		char	   *wrong;
		bool		found;

		if (command == NULL)
			continue;
		wrong = parse_options(&options, command->options, i, &argv[1]);
		/* A database may stand before it. */
		found = !wrong && options.num_arguments > 0 && options.num_arguments <= 2 &&
			options.arguments[options.num_arguments - 1] == argv[i];
		free_options(&options);
		free(wrong);
		if (found)
			return i;
	}
	return 0;
}

/* Runs without the name of a command: help, version, "pfs URI" as "psql URI"; all else is an error. */
static int
run_without_command(int argc, const char *const *argv)
{
	Options		options;
	char	   *wrong;
	const char *word;

	/*
	 * As far as it goes, so that help and version are shown whatever stands
	 * behind them.
	 */
	for (int n = 1; n < argc; n++)
	{
		bool		help;
		bool		version;

		free(parse_options(&options, NULL, n, &argv[1]));
		help = option_given(&options, "help");
		version = option_given(&options, "version");
		free_options(&options);
		if (help)
			print_help();
		else if (version)
			printf("pfs %s\n", PFS_VERSION);
		if (help || version)
			return STATUS_OK;
	}
	wrong = parse_options(&options, NULL, argc - 1, &argv[1]);
	word = options.num_arguments > 0 ? options.arguments[0] : NULL;
	if (word && is_connection_string(word))
		return run_command(&command_top, NULL, argc - 1, &argv[1]);
	for (int i = 1; wrong && i < argc; i++)
	{
		const Command *command = find_command(argv[i]);

		/* What is wrong with the words before a command is said in its words. */
		if (command)
			return run_command(command, NULL, i - 1, &argv[1]);
	}
	if (wrong)
		die(STATUS_UNUSABLE, "%s (try \"pfs --help\")", wrong);
	if (word == NULL)
		die(STATUS_UNUSABLE, "name a command (try \"pfs --help\")");
	die(STATUS_UNUSABLE, "there is no command \"%s\" (try \"pfs --help\")", quote(word));
}

/* Finds the command, which may stand behind options and a database, and runs it. */
int
main(int argc, char **argv)
{
	const char *const *words = (const char *const *) argv;
	const char **others;
	const char *dbname = NULL;
	Options		options;
	int			at;
	int			status;

	open_standard_files();
	set_locale();
	at = find_command_word(argc, words);
	if (at == 0)
		return run_without_command(argc, words);
	free(parse_options(&options, find_command(words[at])->options, at, &words[1]));
	if (options.num_arguments > 1)
		dbname = options.arguments[0];
	free_options(&options);

	/*
	 * The command line without the program, the command, and the database
	 * before it.
	 */
	others = allocate(sizeof(char *) * argc);
	for (int i = 1, n = 0; i < argc; i++)
	{
		if (i != at && words[i] != dbname)
			others[n++] = words[i];
	}
	status = run_command(find_command(words[at]), dbname, argc - 2 - (dbname != NULL), others);
	free(others);
	return status;
}
