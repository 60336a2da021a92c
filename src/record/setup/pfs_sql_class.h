/*
 * pfs_sql_class.h
 *	  The catalogue of stage, statement and transaction instruments.
 */
#ifndef PFS_SQL_CLASS_H
#define PFS_SQL_CLASS_H

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

/* stage/sql/... */
typedef enum PfsStageKind
{
	PFS_STAGE_PARSE_ANALYZE,
	PFS_STAGE_PLAN,
	PFS_STAGE_EXECUTOR_START,
	PFS_STAGE_EXECUTE,
	PFS_STAGE_FINISH,
	PFS_STAGE_EXECUTOR_END,
	PFS_STAGE_UTILITY,
	PFS_STAGE_COMMIT,
	PFS_STAGE_ROLLBACK,
} PfsStageKind;

#define PFS_NUM_STAGE_KINDS (PFS_STAGE_ROLLBACK + 1)

/* Statements that have no command tag. */
typedef enum PfsOtherStatement
{
	PFS_STATEMENT_ERROR,		/* statement/sql/error */
	PFS_STATEMENT_PARSE,		/* statement/com/... */
	PFS_STATEMENT_BIND,
	PFS_STATEMENT_DESCRIBE,
	PFS_STATEMENT_FASTPATH,
} PfsOtherStatement;

#define PFS_NUM_OTHER_STATEMENTS (PFS_STATEMENT_FASTPATH + 1)

extern PFS_HIDDEN PfsInstrumentId pfs_stage_instrument[PFS_NUM_STAGE_KINDS];
extern PFS_HIDDEN PfsInstrumentId pfs_tag_instrument[PFS_NUM_TAGS];
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
