/*
 * pfs_sql_class.h
 *	  The catalogue of stage, statement and transaction instruments.
 */
#ifndef PFS_SQL_CLASS_H
#define PFS_SQL_CLASS_H

#include "nodes/nodes.h"
#include "tcop/cmdtag.h"

#include "pfs_instrument.h"

/* Command tags of the version. */
#define PG_CMDTAG(tag, name, evtrgok, rwrok, rowcnt) + 1
enum
{
	PFS_NUM_TAGS = 0
#include "tcop/cmdtaglist.h"
};
#undef PG_CMDTAG

/* Stages of statements: how instrument points call one, its name behind stage/sql/, documentation. */
#define PFS_STAGES(X) \
	X(PFS_STAGE_PARSE_ANALYZE, "parse_analyze", \
	  "From the start of a statement to its first planning, execution or utility call.") \
	X(PFS_STAGE_PLAN, "plan", "In the planner.") \
	X(PFS_STAGE_EXECUTOR_START, "executor_start", "Start of the executor.") \
	X(PFS_STAGE_EXECUTE, "execute", "Run of the executor.") \
	X(PFS_STAGE_FINISH, "finish", "Finish of the executor: after-row triggers among other things.") \
	X(PFS_STAGE_EXECUTOR_END, "executor_end", "End of the executor, and sending what is left.") \
	X(PFS_STAGE_UTILITY, "utility", "A command that has no plan.") \
	X(PFS_STAGE_COMMIT, "commit", "Commit of the transaction, deferred triggers apart.") \
	X(PFS_STAGE_ROLLBACK, "rollback", "Rollback of the transaction.")

typedef enum PfsStageKind
{
	PFS_STAGES(PFS_ENUMERATOR)
} PfsStageKind;

#define PFS_NUM_STAGE_KINDS (PFS_STAGE_ROLLBACK + 1)

/* Statements that have no command tag: the same, with the whole name. */
#define PFS_OTHER_STATEMENTS(X) \
	X(PFS_STATEMENT_ERROR, "statement/sql/error", "A text that does not parse, or names what is not there.") \
	X(PFS_STATEMENT_PARSE, "statement/com/parse", "A text that was prepared and not executed with the same message.") \
	X(PFS_STATEMENT_BIND, "statement/com/bind", "A portal that was made and not executed with the same message.") \
	X(PFS_STATEMENT_FETCH, "statement/com/fetch", \
	  "The next rows of a portal that its client reads in parts; the first ones are the query's own statement.") \
	X(PFS_STATEMENT_DESCRIBE, "statement/com/describe", "A description of a prepared statement, alone and outside a transaction.") \
	X(PFS_STATEMENT_FASTPATH, "statement/com/fastpath", "A function called by the protocol's own message.")

typedef enum PfsOtherStatement
{
	PFS_OTHER_STATEMENTS(PFS_ENUMERATOR)
} PfsOtherStatement;

#define PFS_NUM_OTHER_STATEMENTS (PFS_STATEMENT_FASTPATH + 1)

extern PFS_HIDDEN PfsInstrumentId pfs_stage_instrument[PFS_NUM_STAGE_KINDS];
extern PFS_HIDDEN PfsInstrumentId pfs_tag_instrument[PFS_NUM_TAGS];

/* The same of plans, by CmdType; of a SELECT that locks no rows. */
extern PFS_HIDDEN PfsInstrumentId pfs_command_instrument[CMD_DELETE + 1];
extern PFS_HIDDEN PfsInstrumentId pfs_other_statement[PFS_NUM_OTHER_STATEMENTS];
extern PFS_HIDDEN PfsInstrumentId pfs_transaction_instrument;
extern PFS_HIDDEN PfsInstrumentId pfs_first_statement;

/*
 * Their cells, also of all others of these families: they are registered in one go, so
 * that counting finds them, and nothing shared has to be asked.
 */
static inline uint32
pfs_stage_cell(PfsInstrumentId instrument)
{
	return instrument - pfs_stage_instrument[0];
}

static inline uint32
pfs_statement_cell(PfsInstrumentId instrument)
{
	return instrument - pfs_first_statement;
}

extern void pfs_sql_class_start(void);

/* statement/com/replication/<first word of the text>, or PFS_NO_INSTRUMENT. */
extern PfsInstrumentId pfs_replication_statement(const char *command);

#endif							/* PFS_SQL_CLASS_H */
