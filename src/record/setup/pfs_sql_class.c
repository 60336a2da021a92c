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
PFS_FIXED_FIRST PfsInstrumentId pfs_command_instrument[CMD_DELETE + 1];
PFS_FIXED_FIRST PfsInstrumentId pfs_transaction_instrument;
PFS_FIXED PfsInstrumentId pfs_first_statement;

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
	pfs_command_instrument[CMD_UNKNOWN] = PFS_NO_INSTRUMENT;
	pfs_command_instrument[CMD_SELECT] = pfs_tag_instrument[CMDTAG_SELECT];
	pfs_command_instrument[CMD_UPDATE] = pfs_tag_instrument[CMDTAG_UPDATE];
	pfs_command_instrument[CMD_INSERT] = pfs_tag_instrument[CMDTAG_INSERT];
	pfs_command_instrument[CMD_DELETE] = pfs_tag_instrument[CMDTAG_DELETE];
}

#define MAKE_STAGE(kind, word, documentation) \
	pfs_stage_instrument[kind] = pfs_instrument_make(PFS_CLASS_STAGE, documentation, PFS_STAGE_PREFIX word);
#define MAKE_OTHER_STATEMENT(kind, name, documentation) \
	pfs_other_statement[kind] = pfs_instrument_make(PFS_CLASS_STATEMENT, documentation, name);

/*
 * Registers the instruments of stages, statements and transactions.  Those of one family
 * have to follow each other without others between them, as pfs_stage_cell() and
 * pfs_statement_cell() only subtract the first one's number; the assertions check it.
 */
void
pfs_sql_class_start(void)
{
	PFS_STAGES(MAKE_STAGE);
	pfs_progress_start();
	pfs_first_statement = pfs_instruments->count;
	make_tags();
	PFS_OTHER_STATEMENTS(MAKE_OTHER_STATEMENT);
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
