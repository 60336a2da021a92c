/*
 * cmd_snapshot.c
 *	  pfs snapshot: everything that the summaries say, to a file.
 */
#include "command.h"
#include "snapshot.h"

/* Takes a snapshot and writes it; a table that could not be read is said, and one at least has to be there. */
static int
run_snapshot(const Command *command, Options *options)
{
	Server	   *server = server_open_or_die(options, "pfs snapshot", 0);
	Snapshot   *snapshot;
	Sink	   *sink;

	catch_signals();
	snapshot = snapshot_take(server);
	server_close(server);
	if (snapshot->num_tables == 0)
		die(STATUS_FAILED, "no table could be read%s%s", snapshot->num_gaps ? ": " : "",
			snapshot->num_gaps ? snapshot->gaps[0].reason : "");
	sink = sink_open(options->arguments[0]);
	snapshot_write(snapshot, sink);
	sink_close(sink);
	for (int i = 0; i < snapshot->num_gaps; i++)
		warn("%s is not in the snapshot: %s", snapshot->gaps[i].name, snapshot->gaps[i].reason);
	snapshot_free(snapshot);
	return STATUS_OK;
}

const Command command_snapshot = {
	.name = "snapshot",
	.help = "write everything that the summaries say to a file",
	.arguments = "FILE",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "\"pfs report\" shows the difference of two such files. FILE gets mode 0600, as it holds the texts\n"
	"of statements; \"-\" is standard output.\n",
	.run = run_snapshot,
};
