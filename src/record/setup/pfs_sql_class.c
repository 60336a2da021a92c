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

#include "pfs_progress.h"
#include "pfs_sql_class.h"

PFS_FIXED PfsInstrumentId pfs_stage_instrument[PFS_NUM_STAGE_KINDS];
PFS_FIXED PfsInstrumentId pfs_tag_instrument[PFS_NUM_TAGS];
PFS_FIXED PfsInstrumentId pfs_other_statement[PFS_NUM_OTHER_STATEMENTS];
PFS_FIXED PfsInstrumentId pfs_transaction_instrument;
PFS_FIXED PfsInstrumentId pfs_first_statement;

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

/*
 * Registers an instrument for each command tag of the server's version: "CREATE TABLE AS"
 * becomes statement/sql/create_table_as.  Tags without words have none.
 */
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
		pfs_tag_instrument[tag] = pfs_instrument_make(PFS_CLASS_STATEMENT, "Statements with this command tag.",
													  "%s", name);
	}
}

/*
 * Registers the instruments of stages, statements and transactions.  Those of one family
 * have to follow each other without others between them, as pfs_stage_cell() and
 * pfs_statement_cell() only subtract the first one's number; the assertions check it.
 */
void
pfs_sql_class_start(void)
{
	for (int i = 0; i < PFS_NUM_STAGE_KINDS; i++)
		pfs_stage_instrument[i] = pfs_instrument_make(PFS_CLASS_STAGE, stages[i].documentation,
													  PFS_STAGE_PREFIX "%s", stages[i].word);
	pfs_progress_start();
	pfs_first_statement = pfs_instruments->count;
	make_tags();
	for (int i = 0; i < PFS_NUM_OTHER_STATEMENTS; i++)
		pfs_other_statement[i] = pfs_instrument_make(PFS_CLASS_STATEMENT, others[i].documentation, "%s", others[i].name);
	for (int i = 0; i < lengthof(replication_commands); i++)
		replication_instrument[i] = pfs_instrument_make(PFS_CLASS_STATEMENT, "Command of the replication protocol.",
														"statement/com/replication/%s", replication_commands[i]);
	pfs_transaction_instrument = pfs_instrument_make(PFS_CLASS_TRANSACTION, "Transactions.", "transaction");

	for (int i = pfs_stage_instrument[0]; i < pfs_first_statement; i++)
		Assert(pfs_instrument_items[i].cell == pfs_stage_cell(i));
	for (int i = pfs_first_statement; i < pfs_transaction_instrument; i++)
		Assert(pfs_instrument_items[i].cell == pfs_statement_cell(i));
}

/*
 * Returns the instrument of a replication command by the first word of a walsender's
 * text, which may be SQL as well: then PFS_NO_INSTRUMENT.
 */
PfsInstrumentId
pfs_replication_statement(const char *command)
{
	int			len = 0;

	command += strspn(command, " \t\r\n");
	/* The server takes these words in capitals only; "show" is SQL. */
	while (isupper((unsigned char) command[len]) || command[len] == '_')
		len++;
	if (isalpha((unsigned char) command[len]))
		return PFS_NO_INSTRUMENT;
	for (int i = 0; i < lengthof(replication_commands); i++)
	{
		if (strlen(replication_commands[i]) == len &&
			pg_strncasecmp(replication_commands[i], command, len) == 0)
			return replication_instrument[i];
	}
	return PFS_NO_INSTRUMENT;
}
