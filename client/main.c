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
		   "Usage:\n  pfs COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n");
	for (int i = 0; commands[i]; i++)
		printf("  %-12s %s\n", commands[i]->name, commands[i]->help);
	printf("\nOptions of every command:\n");
	print_options(common_options);
	printf("\n\"pfs COMMAND --help\" shows the other options of a command.  Without options it connects as\n"
		   "psql does: by PGHOST, PGPORT, PGUSER, PGDATABASE, PGSERVICE and the password file.\n"
		   "Membership in pg_monitor is enough for all of it.\n");
}

/* What "pfs COMMAND --help" prints. */
static void
print_command_help(const Command *command)
{
	printf("pfs %s: %s\n\nUsage:\n  pfs %s [OPTION]...%s%s\n\n", command->name, command->help, command->name,
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
 * Runs one command.  Help and version go before whatever else is wrong.
 */
static int
run_command(const Command *command, int argc, const char *const *argv)
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
	if (options.num_arguments < command->min_arguments)
		die(STATUS_UNUSABLE, "an argument is missing: pfs %s %s", command->name, command->arguments);
	if (options.num_arguments > command->max_arguments)
		die(STATUS_UNUSABLE, "there is an argument too much, \"%s\" (try \"pfs %s --help\")",
			options.arguments[command->max_arguments], command->name);
	status = command->run(command, &options);
	free_options(&options);
	return status;
}

/* Finds the command, behind common options or before them, and runs it. */
int
main(int argc, char **argv)
{
	const Command *command = NULL;
	int			at = 1;

	open_standard_files();
	set_locale();

	/* Common options may stand before the command. */
	while (at < argc && argv[at][0] == '-')
	{
		int			words = at + 1 < argc ? 2 : 1;
		Options		options;
		char	   *wrong = parse_options(&options, NULL, words, (const char *const *) &argv[at]);
		bool		help = option_given(&options, "help");
		bool		version = option_given(&options, "version");

		if (help || version)
		{
			free_options(&options);
			free(wrong);
			if (help)
				print_help();
			else
				printf("pfs %s\n", PFS_VERSION);
			return STATUS_OK;
		}

		/*
		 * It took the second word as its value, or that is an argument or an
		 * option of its own.
		 */
		words = options.num_values == 1 && options.values[0].value == argv[at + words - 1] ? 2 : 1;
		if (wrong && options.num_values == 0)
			die(STATUS_UNUSABLE, "%s (try \"pfs --help\")", wrong);
		free_options(&options);
		free(wrong);
		at += words;
	}
	if (at >= argc)
	{
		warn("name a command (try \"pfs --help\")");
		return STATUS_UNUSABLE;
	}
	command = find_command(argv[at]);
	if (command == NULL)
		die(STATUS_UNUSABLE, "there is no command \"%s\" (try \"pfs --help\")", argv[at]);
	/* The command line without the program and the command. */
	for (int i = at; i + 1 < argc; i++)
		argv[i] = argv[i + 1];
	return run_command(command, argc - 2, (const char *const *) &argv[1]);
}
