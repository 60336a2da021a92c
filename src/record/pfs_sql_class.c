/*
 * pfs_sql_class.c
 *	  The catalogue of stage, statement and transaction instruments.
 *
 * Separate from that of the waits because its names come from elsewhere:
 * command tags, messages of the protocol, and the phases of the server's
 * progress reports.
 */
#include "postgres.h"

#include <ctype.h>

#include "commands/progress.h"
#include "utils/backend_progress.h"

#include "pfs_sql_class.h"

PFS_NEAR PfsInstrumentId pfs_stage_instrument[PFS_NUM_STAGE_KINDS];
PFS_NEAR PfsInstrumentId pfs_tag_instrument[PFS_NUM_TAGS];
PFS_NEAR PfsInstrumentId pfs_other_statement[PFS_NUM_OTHER_STATEMENTS];
PFS_NEAR PfsInstrumentId pfs_transaction_instrument;
PFS_NEAR PfsInstrumentId pfs_first_statement;

static const struct
{
	const char *word;
	const char *documentation;
}			stages[PFS_NUM_STAGE_KINDS] =

{
	[PFS_STAGE_PARSE_ANALYZE] = {"parse_analyze",
	"From the start of a statement to its first planning, execution or utility call."},
	[PFS_STAGE_PLAN] = {"plan", "In the planner."},
	[PFS_STAGE_EXECUTOR_START] = {"executor_start", "Start of the executor."},
	[PFS_STAGE_EXECUTE] = {"execute", "Run of the executor."},
	[PFS_STAGE_FINISH] = {"finish", "Finish of the executor: after-row triggers among other things."},
	[PFS_STAGE_EXECUTOR_END] = {"executor_end", "End of the executor, and sending what is left."},
	[PFS_STAGE_UTILITY] = {"utility", "A command that has no plan."},
	[PFS_STAGE_COMMIT] = {"commit", "Commit of the transaction, deferred triggers apart."},
	[PFS_STAGE_ROLLBACK] = {"rollback", "Rollback of the transaction."},
};

static const struct
{
	const char *name;
	const char *documentation;
}			others[PFS_NUM_OTHER_STATEMENTS] =

{
	[PFS_STATEMENT_ERROR] = {"statement/sql/error", "A text that does not parse, or names what is not there."},
	[PFS_STATEMENT_PARSE] = {"statement/com/parse", "A text that was prepared and not executed with the same message."},
	[PFS_STATEMENT_BIND] = {"statement/com/bind", "A portal that was made and not executed with the same message."},
	[PFS_STATEMENT_DESCRIBE] = {"statement/com/describe", "A description of a prepared statement, alone and outside a transaction."},
	[PFS_STATEMENT_FASTPATH] = {"statement/com/fastpath", "A function called by the protocol's own message."},
};

static const char *const replication_commands[] = {
	"alter_replication_slot", "base_backup", "create_replication_slot", "drop_replication_slot",
	"identify_system", "read_replication_slot", "show", "start_replication", "timeline_history",
	"upload_manifest",
};

static PfsInstrumentId replication_instrument[lengthof(replication_commands)];

/* Phases in the order of the server's numbers, as its progress views name them. */
#define PHASES_MAX 10

static const struct
{
	ProgressCommandType command;
	const char *word;
	int			phase;			/* parameters: phase, -1: there is only one */
	int			completed;		/* work done, and all work */
	int			estimated;
	const char *phases[PHASES_MAX];
}			progress_commands[] =

{
	{PROGRESS_COMMAND_VACUUM, "vacuum",
		PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_HEAP_BLKS_SCANNED, PROGRESS_VACUUM_TOTAL_HEAP_BLKS,
		{"initializing", "scanning_heap", "vacuuming_indexes", "vacuuming_heap",
	"cleaning_up_indexes", "truncating_heap", "performing_final_cleanup"}},
	{PROGRESS_COMMAND_ANALYZE, "analyze",
		PROGRESS_ANALYZE_PHASE, PROGRESS_ANALYZE_BLOCKS_DONE, PROGRESS_ANALYZE_BLOCKS_TOTAL,
		{"initializing", "acquiring_sample_rows", "acquiring_inherited_sample_rows",
	"computing_statistics", "computing_extended_statistics", "finalizing_analyze"}},
	{PROGRESS_COMMAND_CLUSTER, "cluster",
		PROGRESS_CLUSTER_PHASE, PROGRESS_CLUSTER_HEAP_BLKS_SCANNED, PROGRESS_CLUSTER_TOTAL_HEAP_BLKS,
		{"initializing", "seq_scanning_heap", "index_scanning_heap", "sorting_tuples",
	"writing_new_heap", "swapping_relation_files", "rebuilding_index", "performing_final_cleanup"}},
	{PROGRESS_COMMAND_CREATE_INDEX, "create_index",
		PROGRESS_CREATEIDX_PHASE, PROGRESS_SCAN_BLOCKS_DONE, PROGRESS_SCAN_BLOCKS_TOTAL,
		{"initializing", "waiting_for_writers_before_build", "building_index",
			"waiting_for_writers_before_validation", "index_validation_scanning_index",
			"index_validation_sorting_tuples", "index_validation_scanning_table",
			"waiting_for_old_snapshots", "waiting_for_readers_before_marking_dead",
	"waiting_for_readers_before_dropping"}},
	{PROGRESS_COMMAND_BASEBACKUP, "basebackup",
		PROGRESS_BASEBACKUP_PHASE, PROGRESS_BASEBACKUP_BACKUP_STREAMED, PROGRESS_BASEBACKUP_BACKUP_TOTAL,
		{"initializing", "waiting_for_checkpoint_to_finish", "estimating_backup_size",
			"streaming_database_files", "waiting_for_wal_archiving_to_finish",
	"transferring_wal_files"}},
	{PROGRESS_COMMAND_COPY, "copy",
	-1, PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_BYTES_TOTAL, {"copying"}},
};

static PfsInstrumentId progress_instrument[lengthof(progress_commands)][PHASES_MAX];

static PfsInstrumentId
make(const char *name, PfsClass class, const char *documentation)
{
	PfsInstrument proto = {0};

	strlcpy(proto.name, name, sizeof(proto.name));
	proto.class = class;
	proto.documentation = documentation;
	return pfs_instrument_register(&proto);
}

/* "CREATE TABLE AS" -> "statement/sql/create_table_as" */
static void
make_tags(void)
{
	for (int tag = 0; tag < PFS_NUM_TAGS; tag++)
	{
		char		name[PFS_NAME_SIZE];
		const char *words = GetCommandTagName(tag);

		pfs_tag_instrument[tag] = PFS_NO_INSTRUMENT;
		if (words[0] == '\0' || words[0] == '?')
			continue;
		snprintf(name, sizeof(name), "statement/sql/%s", words);
		for (char *c = name; *c; c++)
			*c = *c == ' ' ? '_' : pg_tolower(*c);
		pfs_tag_instrument[tag] = make(name, PFS_CLASS_STATEMENT, "Statements with this command tag.");
	}
}

static void
make_progress(void)
{
	memset(progress_instrument, 0xFF, sizeof(progress_instrument));
	for (int c = 0; c < lengthof(progress_commands); c++)
	{
		for (int p = 0; p < PHASES_MAX && progress_commands[c].phases[p] != NULL; p++)
		{
			char		name[PFS_NAME_SIZE];

			snprintf(name, sizeof(name), "stage/progress/%s/%s", progress_commands[c].word,
					 progress_commands[c].phases[p]);
			progress_instrument[c][p] =
				make(name, PFS_CLASS_STAGE,
					 "Phase of a command that reports its progress; noticed by the next wait or call, so late by that much.");
		}
	}
}

void
pfs_sql_class_start(void)
{
	char		name[PFS_NAME_SIZE];

	for (int i = 0; i < PFS_NUM_STAGE_KINDS; i++)
	{
		snprintf(name, sizeof(name), "stage/sql/%s", stages[i].word);
		pfs_stage_instrument[i] = make(name, PFS_CLASS_STAGE, stages[i].documentation);
	}
	make_progress();
	pfs_first_statement = pfs_instruments->count;
	make_tags();
	for (int i = 0; i < PFS_NUM_OTHER_STATEMENTS; i++)
		pfs_other_statement[i] = make(others[i].name, PFS_CLASS_STATEMENT, others[i].documentation);
	for (int i = 0; i < lengthof(replication_commands); i++)
	{
		snprintf(name, sizeof(name), "statement/com/replication/%s", replication_commands[i]);
		replication_instrument[i] = make(name, PFS_CLASS_STATEMENT, "Command of the replication protocol.");
	}
	pfs_transaction_instrument = make("transaction", PFS_CLASS_TRANSACTION, "Transactions.");

	for (int i = pfs_stage_instrument[0]; i < pfs_first_statement; i++)
		Assert(pfs_instruments->items[i].cell == pfs_stage_cell(i));
	for (int i = pfs_first_statement; i < pfs_transaction_instrument; i++)
		Assert(pfs_instruments->items[i].cell == pfs_statement_cell(i));
}

PfsInstrumentId
pfs_replication_statement(const char *command)
{
	int			len = 0;

	command += strspn(command, " \t\r\n");
	while (isalpha((unsigned char) command[len]) || command[len] == '_')
		len++;
	/* The server takes these words in capitals only; "show" is SQL. */
	for (int c = 0; c < len; c++)
	{
		if (islower((unsigned char) command[c]))
			return PFS_NO_INSTRUMENT;
	}
	for (int i = 0; i < lengthof(replication_commands); i++)
	{
		if (strlen(replication_commands[i]) == len &&
			pg_strncasecmp(replication_commands[i], command, len) == 0)
			return replication_instrument[i];
	}
	return PFS_NO_INSTRUMENT;
}

static int
find_command(int command)
{
	for (int c = 0; c < lengthof(progress_commands); c++)
	{
		if (progress_commands[c].command == command)
			return c;
	}
	return -1;
}

PfsInstrumentId
pfs_progress_stage(int command, const int64 *params)
{
	int			c = find_command(command);
	int64		phase;

	if (c < 0)
		return PFS_NO_INSTRUMENT;
	phase = progress_commands[c].phase < 0 ? 0 : params[progress_commands[c].phase];
	return phase >= 0 && phase < PHASES_MAX ? progress_instrument[c][phase] : PFS_NO_INSTRUMENT;
}

void
pfs_progress_work(int command, const int64 *params, int64 *completed, int64 *estimated)
{
	int			c = find_command(command);

	*completed = *estimated = -1;
	if (c < 0)
		return;
	*completed = params[progress_commands[c].completed];
	if (params[progress_commands[c].estimated] > 0)
		*estimated = params[progress_commands[c].estimated];
}
