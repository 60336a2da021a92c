/*
 * command.h
 *	  The commands of the program: each is one file with one entry.
 *
 * To add a command: a file cmd_NAME.c that defines a Command, and a line in PFS_COMMANDS.
 * run() gets its options and connects itself (server_open_or_die() in most); it returns the
 * program's exit status.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "message.h"
#include "options.h"
#include "server.h"
#include "sink.h"
#include "table.h"

typedef struct Command
{
	const char *name;
	const char *help;			/* one line, for the list of commands */
	const char *arguments;		/* for its own help, such as "FILE"; NULL:
								 * none */
	int			min_arguments;
	int			max_arguments;
	const Option *options;		/* its own; NULL: none */
	const char *details;		/* further lines of its own help; NULL: none */
	int			(*run) (const struct Command *command, Options *options);
} Command;

/* All commands, in the order in which --help lists them. */
#define PFS_COMMANDS(X) \
	X(top) \
	X(load) \
	X(sessions) \
	X(locks) \
	X(statements) \
	X(waits) \
	X(tables) \
	X(files) \
	X(memory) \
	X(plans) \
	X(doctor) \
	X(snapshot) \
	X(report) \
	X(trace) \
	X(flame) \
	X(metrics)

#define PFS_DECLARE_COMMAND(name) extern const Command command_##name;
PFS_COMMANDS(PFS_DECLARE_COMMAND)

#endif
