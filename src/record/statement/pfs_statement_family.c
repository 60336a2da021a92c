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

/*
 * Copies words in pairs: up to PFS_EVENT_UNIT - 1 bytes more than asked for, for which an
 * event in a block has room.
 */
static pg_attribute_always_inline char *
copy_pairs(char *to, const void *from, size_t bytes)
{
	const PfsLoosePair *src = from;
	PfsLoosePair *dst = (PfsLoosePair *) to;

	for (; (char *) dst < to + bytes; src++, dst++)
		*dst = *src;
	return to + bytes;
}

/* The same of a number of bytes that the compiler knows: no loop. */
static pg_attribute_always_inline char *
copy_part(char *to, const void *from, size_t bytes)
{
	const PfsLoosePair *src = from;
	PfsLoosePair *dst = (PfsLoosePair *) to;

#pragma GCC unroll 16
	for (size_t i = 0; i < bytes / sizeof(PfsLoosePair); i++)
		dst[i] = src[i];
	return to + bytes;
}

/* ---- stages ---- */

size_t
pfs_stage_event_used(const PfsEvent *event)
{
	const PfsStageRun *run = (const PfsStageRun *) event;

	return offsetof(PfsStageRun, marks) + run->first.more * sizeof(PfsStageMark);
}

void
pfs_stage_event_record(PfsThread *t, PfsEvent *event)
{
	pfs_event_record_plain(t, PFS_STAGES, event, pfs_stage_event_used(event));
}

/* ---- transactions ---- */

size_t
pfs_transaction_event_used(const PfsEvent *event)
{
	const PfsTransactionEvent *e = (const PfsTransactionEvent *) event;

	return e->gid[0] == '\0' ? offsetof(PfsTransactionEvent, gid) + 1 : sizeof(PfsTransactionEvent);
}

/* Puts a transaction into its thread's block.  Both lengths are constants, so that nothing is copied by a loop. */
void
pfs_transaction_event_record(PfsThread *t, PfsEvent *event)
{
	if (unlikely(((const PfsTransactionEvent *) event)->gid[0] != '\0'))
		pfs_event_record_plain(t, PFS_TRANSACTIONS, event, sizeof(PfsTransactionEvent));
	else
		pfs_event_record_plain(t, PFS_TRANSACTIONS, event, offsetof(PfsTransactionEvent, gid) + 1);
}

/* ---- statements ---- */

/*
 * A statement in a block: what lies in front of the counters and those that are often
 * not zero; the rare ones, if one of them is not; the rest of the struct up to
 * its memory; that and its program, if it has one of them; the texts.  All but the texts are whole pairs, so
 * that these, copied in pairs, end within the unit to which the whole is rounded up.
 */
#define BEGIN_SIZE (offsetof(PfsStatementEvent, n) + PFS_N_RARE * sizeof(uint64) - PFS_EVENT_UNSTORED)
#define RARE_SIZE ((PFS_NUM_COUNTERS - PFS_N_RARE) * sizeof(uint64))
#define LAST_SIZE (offsetof(PfsStatementEvent, texts) - offsetof(PfsStatementEvent, memory))
#define REST_SIZE (offsetof(PfsStatementEvent, memory) - offsetof(PfsStatementEvent, query_id))

StaticAssertDecl(BEGIN_SIZE + REST_SIZE == PFS_STATEMENT_STORED_MIN, "the smallest has these parts alone");
StaticAssertDecl(sizeof(PfsLoosePair) == PFS_EVENT_UNIT, "an event is copied in pairs");
StaticAssertDecl(BEGIN_SIZE % sizeof(PfsLoosePair) == 0 && RARE_SIZE % sizeof(PfsLoosePair) == 0 &&
				 REST_SIZE % sizeof(PfsLoosePair) == 0 && LAST_SIZE == sizeof(PfsLoosePair), "parts of a statement are copied in pairs");

size_t
pfs_statement_event_used(const PfsEvent *event)
{
	const PfsStatementEvent *e = (const PfsStatementEvent *) event;

	return offsetof(PfsStatementEvent, texts) + e->schema_len + e->text_len + e->message_len;
}

/* Puts a statement into its thread's block, in the order said above. */
void
pfs_statement_event_store(PfsThread *t, PfsStatementEvent *e, bool rare)
{
	size_t		texts = e->schema_len + e->text_len + e->message_len;
	size_t		size = BEGIN_SIZE + REST_SIZE + texts;
	uint8		wide = 0;
	char	   *to;

	if (rare)
	{
		wide |= PFS_WIDE_COUNTERS;
		size += RARE_SIZE;
	}
	if (unlikely(e->counts & (PFS_COUNTS_MEMORY | PFS_IN_PROGRAM)))
	{
		wide |= PFS_WIDE_LAST;
		size += LAST_SIZE;
	}
	e->wide = wide;
	to = pfs_event_room(t, PFS_STATEMENTS, (PfsEvent *) e, size);
	if (unlikely(to == NULL))
		return;
	to = copy_part(to, PFS_EVENT_STORED(e), BEGIN_SIZE);
	if (wide & PFS_WIDE_COUNTERS)
		to = copy_part(to, e->n + PFS_N_RARE, RARE_SIZE);
	to = copy_part(to, &e->query_id, REST_SIZE);
	if (unlikely(wide & PFS_WIDE_LAST))
		to = copy_part(to, &e->memory, LAST_SIZE);
	(void) copy_pairs(to, e->texts, texts);
	pfs_event_done(t, PFS_STATEMENTS, (PfsEvent *) e);
}

void
pfs_statement_event_record(PfsThread *t, PfsEvent *event)
{
	PfsStatementEvent *e = (PfsStatementEvent *) event;

	pfs_statement_event_store(t, e, pfs_counters_have_rare(e->n));
}

/* Makes a reader's copy of a statement in a block. */
void
pfs_statement_event_unpack(const void *from, PfsEvent *event)
{
	PfsStatementEvent *to = (PfsStatementEvent *) event;
	const char *at = from;

	memcpy(PFS_EVENT_STORED(to), at, BEGIN_SIZE);
	at += BEGIN_SIZE;
	memset(to->n + PFS_N_RARE, 0, RARE_SIZE);
	if (to->wide & PFS_WIDE_COUNTERS)
	{
		memcpy(to->n + PFS_N_RARE, at, RARE_SIZE);
		at += RARE_SIZE;
	}
	memcpy(&to->query_id, at, REST_SIZE);
	at += REST_SIZE;
	to->memory = to->program = 0;
	if (to->wide & PFS_WIDE_LAST)
	{
		memcpy(&to->memory, at, LAST_SIZE);
		at += LAST_SIZE;
	}
	memcpy(to->texts, at, to->schema_len + to->text_len + to->message_len);
}
