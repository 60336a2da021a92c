/*
 * pfs_instr_answer.c
 *	  What the server answers its client, where no hook sees what is done: commands of the
 *	  replication protocol that never wait, rows that a portal has in store, and where a statement of
 *	  a string ends.
 *
 * The server puts each message by a method that it calls through a variable, as a parallel worker's
 * go to its leader.  While something is to be seen there, the method is called through a function of
 * ours.  That is so all the time in walsenders only: each row of a result is a message.
 *
 * A walsender's commands have no hook.  Those that wait or raise an error are noticed at that
 * instrument point; IDENTIFY_SYSTEM, SHOW and READ_REPLICATION_SLOT do neither, and when the
 * walsender sends its buffer and waits for the next command, the text is gone.  But each
 * command answers, at least with its completion, while it is in debug_query_string.  Messages of
 * a replication stream take another method.  The method is replaced when the client is
 * authenticated, as then the process knows what it is, and has answered nothing yet.
 *
 * A portal whose command is a utility that returns rows (SHOW, EXPLAIN, CALL, FETCH), or has RETURNING,
 * executes it to its end at the first Execute, stores the rows, and sends as many as the client wants.
 * Each later Execute only sends more of them, without a hook; but each row is a message, and so is the
 * end of each Execute (PortalSuspended, CommandComplete).  Only the extended protocol can ask for a part
 * of the rows.  Portals go with their transaction; those that outlive it are SQL's own cursors WITH
 * HOLD, whose FETCH is a utility.
 *
 * A string can have several statements.  One is over when its result and its completion have been sent, which
 * no hook tells; from there on the server analyses the next one.
 *
 * Separate from pfs_instr_hooks.c, as nothing here is a hook.
 */
#include "postgres.h"

#include "access/xact.h"
#include "libpq/auth.h"
#include "libpq/libpq.h"
#include "nodes/plannodes.h"
#include "replication/walsender.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"

#include "pfs_instr_call.h"
#include "pfs_query_id.h"

/* Types of messages, which the server's headers name since 17 only. */
#define COMMAND_COMPLETE	'C'
#define DATA_ROW			'D'
#define ERROR_RESPONSE		'E'
#define PORTAL_SUSPENDED	's'
#define READY_FOR_QUERY		'Z' /* its text is the state of the transaction */

static ClientAuthentication_hook_type prev_client_authentication = NULL;

/* ---- portals that have rows in store ---- */

/*
 * Portals that are remembered to have rows in store, the oldest in its turn forgotten.  Only an
 * Execute that sends no row needs this; a client that has more of them open does not execute a
 * portal again that it knows to be at its end.
 */
#define STORED_MAX 16

typedef struct StoredPortal
{
	char		name[NAMEDATALEN];
	TimestampTz time;			/* its creation: another one can have its name */
} StoredPortal;

static bool sending = false;	/* an Execute sends rows that its portal has
								 * in store */
static uint64 rows;				/* that it has sent */
static uint32 nstored = 0;		/* that were remembered since the last
								 * transaction block */
static StoredPortal stored[STORED_MAX];

static inline uint32
stored_count(void)
{
	return Min(nstored, STORED_MAX);
}

/* Remembers a portal that has stored its rows; another one has had its name before. */
static void
remember(const Portal portal)
{
	StoredPortal *s = &stored[nstored % STORED_MAX];
	uint32		n = stored_count();

	for (uint32 i = 0; i < n; i++)
	{
		if (strcmp(stored[i].name, portal->name) != 0)
			continue;
		stored[i].time = portal->creation_time;
		return;
	}
	strlcpy(s->name, portal->name, sizeof(s->name));
	s->time = portal->creation_time;
	nstored++;
}

/* The portal that an Execute is for which has sent no row: its text is what the server executes.  NULL: unknown. */
static Portal
find_by_text(void)
{
	for (uint32 i = stored_count(); i > 0 && debug_query_string != NULL; i--)
	{
		Portal		portal = GetPortalByName(stored[i - 1].name);

		if (portal != NULL && portal->creation_time == stored[i - 1].time && portal->sourceText != NULL &&
			strcmp(portal->sourceText, debug_query_string) == 0)
			return portal;
	}
	return NULL;
}

/* Fills in the source of the statement that a portal executes. */
static void
describe(PfsStatementSource *source, const Portal portal)
{
	const PlannedStmt *stmt = portal->stmts != NIL ? linitial_node(PlannedStmt, portal->stmts) : NULL;

	*source = (PfsStatementSource)
	{
		.str = portal->sourceText, .tag = portal->commandTag, .portal = portal, .portal_time = portal->creation_time
	};
	if (stmt == NULL)
		return;
	source->location = stmt->stmt_location;
	source->len = stmt->stmt_len;
	source->query_id = pfs_query_id(source->tag, stmt->queryId);
	source->command = stmt->commandType;
	if (stmt->commandType == CMD_UTILITY && source->tag != CMDTAG_EXECUTE)
		source->query_id = pfs_query_id_of_plan(stmt, source);
}

/* An Execute that no hook has seen sends rows of a portal. */
static void
begin_fetch(const Portal portal)
{
	PfsThread  *t = pfs_my_thread;
	PfsStatementSource source;

	if (t == NULL || portal == NULL || !pfs_statement_is_wanted(t) || pfs_is_writing(t))
		return;
	pfs_plain_leave(t);
	describe(&source, portal);
	pfs_write_begin(t);
	(void) pfs_top_fetch(t, pfs_timestamp_now(), &source);
	pfs_write_end(t);
	pfs_statement_stage(t, PFS_STAGE_EXECUTE);
	pfs_credit_top_executes(t, portal);
	sending = true;
	rows = 0;
}

/* Can this portal send a part of its rows, from its store?  That of the simple protocol is not visible, and sends all. */
static inline bool
has_parts(const Portal portal)
{
	return portal != NULL && unlikely(portal->holdStore != NULL) && portal->visible;
}

/* Does an Execute go on that sends such rows?  Others send theirs in a call of the executor. */
static inline bool
sends_stored(void)
{
	return nstored != 0 && has_parts(ActivePortal) && pfs_sql.nest == 0;
}

/* A row is sent. */
static inline void
count_row(void)
{
	if (!sending && unlikely(sends_stored()))
		begin_fetch(ActivePortal);
	rows++;
}

/* Has the message that is being executed had a call of a hook? */
static bool
has_been_seen(void)
{
	TimestampTz message = GetCurrentStatementStartTimestamp();

	if (pfs_plain.state != PFS_PLAIN_NONE)
		return pfs_plain.state == PFS_PLAIN_RAN && pfs_plain.open.message == message;
	return pfs_sql.nest != 0 || (pfs_sql.top_open && pfs_sql.top.done && pfs_sql.top.message == message);
}

/*
 * The Execute is over: it has sent so many rows.  Nearly always these are all that the command has made,
 * which it has counted.
 */
static void
end_sending(void)
{
	PfsThread  *t = pfs_my_thread;

	sending = false;
	if (t == NULL || pfs_is_writing(t))
		return;
	if (pfs_plain.state == PFS_PLAIN_RAN && pfs_plain.open.event->n[PFS_N_ROWS_SENT] == rows)
		return;
	pfs_plain_leave(t);
	if (!pfs_sql.top_open || pfs_sql.nest != 0)
		return;
	pfs_sql.top.n[PFS_N_ROWS_SENT] = rows;
	pfs_top_is_done(pfs_timestamp_now());
}

/* The server has said that an Execute, or a statement of a string, is over. */
static inline void
is_over(void)
{
	if (!sending && nstored != 0 && !has_been_seen())
		begin_fetch(find_by_text());
	if (sending)
		end_sending();
	if (pfs_my_thread != NULL)
		pfs_top_is_complete(pfs_my_thread);
}

/* ---- the method ---- */

static const PQcommMethods *server_methods = NULL;	/* NULL: nobody watches */
static PQcommMethods methods;

/* If another library has put itself in front meanwhile, ours stays where it is, and goes on. */
static void
unwatch(void)
{
	if (PqCommMethods != &methods)
		return;
	PqCommMethods = server_methods;
	server_methods = NULL;
}

/* Behind the server's method, which may have sent the buffer. */
static inline void
look_behind(char type, const char *message)
{
	switch (type)
	{
		case COMMAND_COMPLETE:
		case PORTAL_SUSPENDED:
			is_over();
			break;
		case ERROR_RESPONSE:
			sending = false;
			break;
		case READY_FOR_QUERY:
			sending = false;
			/* Outside of a transaction block there is no portal. */
			if (message[0] == 'I')
				nstored = 0;
			if (nstored == 0 && !am_walsender)
				unwatch();
			break;
		default:
			break;
	}
}

/* Passes a message on.  Before that it belongs to what is executed, as the method may have to send the buffer. */
static int
putmessage_cb(char type, const char *message, size_t len)
{
	const PQcommMethods *server = server_methods;
	PfsThread  *t = pfs_my_thread;
	int			result;

	if (type == DATA_ROW)
		count_row();
	if (am_walsender && t != NULL && ((pfs_local.slow & PFS_SLOW_UNNAMED) || type == READY_FOR_QUERY))
		pfs_statement_answers(t, type == READY_FOR_QUERY);
	result = server->putmessage(type, message, len);
	look_behind(type, message);
	return result;
}

void
pfs_answers_watch(void)
{
	if (server_methods != NULL)
		return;
	server_methods = PqCommMethods;
	methods = *server_methods;
	methods.putmessage = putmessage_cb;
	PqCommMethods = &methods;
}

void
pfs_portal_executed(void)
{
	if (!has_parts(ActivePortal) || pfs_sql.nest != 0)
		return;
	remember(ActivePortal);
	sending = true;
	rows = 0;
	pfs_answers_watch();
}

static void
client_authentication_cb(Port *port, int status)
{
	if (am_walsender)
		pfs_answers_watch();
	if (prev_client_authentication)
		prev_client_authentication(port, status);
}

void
pfs_instr_answer_start(void)
{
	prev_client_authentication = ClientAuthentication_hook;
	ClientAuthentication_hook = client_authentication_cb;
}
