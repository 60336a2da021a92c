/*
 * pfs_statement_family.c
 *	  Statements, stages and transactions as families of events: how much of a slot an
 *	  event uses, how it lies in a block, and back.
 *
 * Separate, as the callbacks here are all that the plumbing of ../event needs of them.
 */
#include "postgres.h"

#include "pfs_event_own.h"
#include "pfs_setup.h"
#include "pfs_statement.h"

/* ---- stages ---- */

void
pfs_stage_event_record(PfsThread *t, PfsEvent *event)
{
	pfs_event_record_plain(t, PFS_STAGES, event, sizeof(PfsStageEvent));
}

/* ---- transactions ---- */

size_t
pfs_transaction_event_used(const PfsEvent *event)
{
	const PfsTransactionEvent *e = (const PfsTransactionEvent *) event;

	return e->gid[0] == '\0' ? offsetof(PfsTransactionEvent, gid) + 1 : sizeof(PfsTransactionEvent);
}

/* ---- statements ---- */

/* Parts of a statement in a block, as its struct says. */
#define BEGIN_SIZE offsetof(PfsStoredStatement, query_id)
#define REST_SIZE (offsetof(PfsStoredStatement, more) - BEGIN_SIZE)

StaticAssertDecl(offsetof(PfsStoredStatement, n) == offsetof(PfsStatementEvent, n) - PFS_EVENT_UNSTORED &&
				 REST_SIZE == offsetof(PfsStatementEvent, memory) - offsetof(PfsStatementEvent, query_id) &&
				 offsetof(PfsStoredStatement, plan_origin) - offsetof(PfsStoredStatement, query_id) ==
				 offsetof(PfsStatementEvent, plan_origin) - offsetof(PfsStatementEvent, query_id),
				 "a statement in a block has its parts as in a slot");

static inline size_t
texts_size(const PfsStatementEvent *e)
{
	return e->schema_len + e->text_len + e->message_len;
}

size_t
pfs_statement_event_used(const PfsEvent *event)
{
	const PfsStatementEvent *e = (const PfsStatementEvent *) event;

	return offsetof(PfsStatementEvent, texts) + texts_size(e);
}

/* Writes a statement from a slot to where its thread's block goes on, and returns that place; NULL: there is no block. */
PfsStoredStatement *
pfs_statement_event_pack(PfsThread *t, PfsStatementEvent *e)
{
	const uint64 *rare = pfs_counters_rare(e->n + PFS_N_RARE);
	bool		last = (e->counts & (PFS_COUNTS_MEMORY | PFS_IN_PROGRAM)) != 0;
	size_t		size = TYPEALIGN(PFS_EVENT_UNIT, BEGIN_SIZE + REST_SIZE + texts_size(e));
	char	   *place;
	char	   *at;

	e->wide = (rare != NULL ? PFS_WIDE_COUNTERS : 0) | (last ? PFS_WIDE_LAST : 0);
	place = pfs_event_room(t, PFS_STATEMENTS, (PfsEvent *) e,
						   size + (rare != NULL ? PFS_RARE_SIZE : 0) + (last ? PFS_LAST_SIZE : 0));
	if (unlikely(place == NULL))
		return NULL;
	at = place + size;
	if (rare != NULL)
	{
		memcpy(at, rare, PFS_RARE_SIZE);
		at += PFS_RARE_SIZE;
	}
	if (last)
		memcpy(at, &e->memory, PFS_LAST_SIZE);
	memcpy(place, PFS_EVENT_STORED(e), BEGIN_SIZE);
	memcpy(place + BEGIN_SIZE, &e->query_id, REST_SIZE);
	memcpy(place + BEGIN_SIZE + REST_SIZE, e->texts, texts_size(e));
	return (PfsStoredStatement *) place;
}

void
pfs_statement_event_record(PfsThread *t, PfsEvent *event)
{
	if (likely(pfs_statement_event_pack(t, (PfsStatementEvent *) event) != NULL))
		pfs_event_done(t, PFS_STATEMENTS, event);
}

/* Makes a reader's copy, but for whose it is, or what a slot has, of a statement in a block. */
void
pfs_statement_event_unpack(const void *from, PfsEvent *event)
{
	PfsStatementEvent *to = (PfsStatementEvent *) event;
	const PfsStoredStatement *stored = from;

	memcpy(PFS_EVENT_STORED(to), stored, BEGIN_SIZE);
	if (to->wide & PFS_WIDE_COUNTERS)
		memcpy(to->n + PFS_N_RARE, pfs_stored_rare(stored), PFS_RARE_SIZE);
	else
		memset(to->n + PFS_N_RARE, 0, PFS_RARE_SIZE);
	memcpy(&to->query_id, &stored->query_id, REST_SIZE);
	to->memory = to->program = 0;
	if (to->wide & PFS_WIDE_LAST)
		memcpy(&to->memory, pfs_stored_last(stored), PFS_LAST_SIZE);
	memcpy(to->texts, stored->more, texts_size(to));
}
