/*
 * pfs_instr_rows.c
 *	  Rows that a statement returned or changed, where the executor's own count
 *	  does not say so: utilities that return rows, and queries whose WITH changes
 *	  data.
 *
 * EState.es_processed is the count of the statement itself: rows that it returned,
 * or that its main INSERT, UPDATE, DELETE or MERGE changed.  A node that changes data
 * for WITH leaves it alone.  So such a node is told for the length of each of its
 * calls that it is the main one, and what it adds is taken off again: the count is the
 * server's own, row by row, and the command tag stays as it is.  Queries without such
 * nodes see nothing of this.
 */
#include "postgres.h"

#include "nodes/execnodes.h"
#include "tcop/pquery.h"

#include "pfs_instr.h"
#include "pfs_instr_rows.h"

/* ---- utilities that return rows ---- */

static bool
receive_cb(TupleTableSlot *slot, DestReceiver *self)
{
	PfsRowCounter *counter = (PfsRowCounter *) self;

	counter->rows++;
	return counter->to->receiveSlot(slot, counter->to);
}

static void
startup_cb(DestReceiver *self, int operation, TupleDesc type)
{
	PfsRowCounter *counter = (PfsRowCounter *) self;

	counter->to->rStartup(counter->to, operation, type);
}

static void
shutdown_cb(DestReceiver *self)
{
	PfsRowCounter *counter = (PfsRowCounter *) self;

	counter->to->rShutdown(counter->to);
}

static void
destroy_cb(DestReceiver *self)
{
	PfsRowCounter *counter = (PfsRowCounter *) self;

	counter->to->rDestroy(counter->to);
}

/*
 * Sets up the counter for utilities whose completion does not say how many rows they
 * return.
 */
DestReceiver *
pfs_rows_receiver(PfsRowCounter *counter, NodeTag utility, DestReceiver *dest)
{
	counter->rows = 0;
	/* An extension that executes a command may have no receiver at all. */
	if (dest == NULL || dest->mydest == DestNone)
		return dest;
	switch (utility)
	{
		case T_CallStmt:
		case T_ExecuteStmt:
		case T_ExplainStmt:
		case T_VariableShowStmt:
			break;
		default:
			return dest;
	}
	counter->pub.receiveSlot = receive_cb;
	counter->pub.rStartup = startup_cb;
	counter->pub.rShutdown = shutdown_cb;
	counter->pub.rDestroy = destroy_cb;
	counter->pub.mydest = dest->mydest;
	counter->to = dest;
	return &counter->pub;
}

void
pfs_rows_command_begin(PfsCommand *command, PfsRowCounter *counter)
{
	command->dest = pfs_rows_receiver(counter, command->tag, command->dest);
}

/* What the query of an EXECUTE has written its statement knows. */
void
pfs_rows_command_end(PfsCommand *command, const PfsRowCounter *counter)
{
	const QueryCompletion *qc = command->completion;

	command->rows_sent = counter->rows;
	command->rows_affected = command->statement != NULL ? command->statement->executed : 0;
	if (qc == NULL)
		return;
	switch (command->tag)
	{
		case T_FetchStmt:
			/* MOVE returns none. */
			if (qc->commandTag == CMDTAG_FETCH)
				command->rows_sent = qc->nprocessed;
			break;
		case T_CopyStmt:
		case T_CreateTableAsStmt:
		case T_RefreshMatViewStmt:
			command->rows_affected = qc->nprocessed;
			break;
		default:
			break;
	}
}

/* ---- WITH that changes data ---- */

/*
 * The queries of this kind that are running, by the executor's state, which is only
 * compared.  Those that an error has ended are overwritten in their turn; so would be
 * the outermost of more than this many inside one another.
 */
#define MAX_QUERIES 64

static struct
{
	const EState *estate;
	uint64		rows;
}			queries[MAX_QUERIES];

static uint32 next_query;

/* The function of the nodes; there is only one. */
static ExecProcNodeMtd exec_modify_table;

static uint64 *
find_rows(const EState *estate)
{
	/* The newest ones are the likely ones. */
	for (uint32 i = 1; i <= MAX_QUERIES; i++)
	{
		uint32		place = (next_query - i) % MAX_QUERIES;

		if (queries[place].estate == estate)
			return &queries[place].rows;
	}
	return NULL;
}

/*
 * Calls a node that changes data for WITH as if it were the main one, and takes off
 * again what it has added to the query's count.  Not where rows of another node wait to be
 * inserted in a batch: a trigger of this one sends them first, and they are that node's.
 */
static TupleTableSlot *
exec_modify_cb(PlanState *node)
{
	ModifyTableState *state = (ModifyTableState *) node;
	EState	   *estate = node->state;
	uint64		before = estate->es_processed;
	TupleTableSlot *slot;
	uint64	   *rows;

	if (unlikely(estate->es_insert_pending_result_relations != NIL))
		return exec_modify_table(node);
	state->canSetTag = true;
	slot = exec_modify_table(node);
	state->canSetTag = false;
	rows = find_rows(estate);
	if (rows != NULL)
		*rows += estate->es_processed - before;
	estate->es_processed = before;
	return slot;
}

/* Puts the function above into the nodes of a query's WITH; each run begins from zero. */
void
pfs_rows_watch_with(const QueryDesc *desc)
{
	EState	   *estate = desc->estate;
	uint64	   *rows = find_rows(estate);
	ListCell   *cell;

	/* A run that continues one that returned a part of the rows. */
	if (rows != NULL && desc->already_executed)
		return;
	if (rows == NULL)
	{
		queries[next_query % MAX_QUERIES].estate = estate;
		rows = &queries[next_query++ % MAX_QUERIES].rows;
	}
	*rows = 0;
	foreach(cell, estate->es_auxmodifytables)
	{
		PlanState  *node = lfirst(cell);

		if (!IsA(node, ModifyTableState) || ((ModifyTableState *) node)->canSetTag)
			continue;
		if (exec_modify_table == NULL)
			exec_modify_table = node->ExecProcNodeReal;
		/* The first call of a node installs the function found here. */
		if (node->ExecProcNodeReal == exec_modify_table && !desc->already_executed)
			node->ExecProcNodeReal = exec_modify_cb;
	}
}

uint64
pfs_rows_of_with(const QueryDesc *desc)
{
	uint64	   *rows = find_rows(desc->estate);
	uint64		n = 0;

	if (rows != NULL)
	{
		n = *rows;
		*rows = 0;
	}
	return n;
}
