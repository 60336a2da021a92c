/*
 * pfs_statement.h
 *	  Statements, stages and transactions: their events, and the owner's side.
 *
 * The process keeps what it needs of an open statement in private memory
 * (PfsStatement); what readers of events_statements_current see of it lies in a
 * slot of its record (PfsStatementEvent) as long as it is on the stack and not too
 * deep there.
 *
 * What instrument points, tables and parts need of statements; pfs_statement_open.h has what
 * the files of this room do, and those that hook what the server does with statements.
 */
#ifndef PFS_STATEMENT_H
#define PFS_STATEMENT_H

#include "executor/instrument.h"
#include "storage/proc.h"

#include "pfs_compat.h"
#include "pfs_event_own.h"
#include "pfs_imports.h"
#include "pfs_sql_class.h"

/* One reading of a clock, used for all that begins or ends at it. */
typedef struct PfsTimestamp
{
	uint64		at;
	uint64		timer;			/* PfsTimer */
} PfsTimestamp;

/* The reading by the timer of these flags: the clock is read again if it is another one. */
static inline uint64
pfs_timestamp_of(uint32 flags, PfsTimestamp now)
{
	PfsTimer	timer = PFS_FLAGS_TIMER(flags);

	return likely(timer == now.timer) ? now.at : pfs_timer_read(timer);
}

/* A reading of the clock by the timer of these flags. */
static inline PfsTimestamp
pfs_timestamp_by(uint32 flags)
{
	PfsTimer	timer = PFS_FLAGS_TIMER(flags);
	PfsTimestamp now = {pfs_timer_read(timer), timer};

	return now;
}

/* By the timer of statements. */
static inline PfsTimestamp
pfs_timestamp_now(void)
{
	return pfs_timestamp_by(pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STATEMENT]));
}

/* The unit of a counter. */
typedef enum PfsCounterUnit
{
	PFS_UNIT_COUNT,
	PFS_UNIT_BYTES,
	PFS_UNIT_TICKS,				/* of the default timer */
	PFS_UNIT_NANOSECONDS,
} PfsCounterUnit;

/*
 * What a statement counts: its name in the file that survives a restart, which never changes and
 * is given to no other, and its unit.  Those of buffers are in the order of BufferUsage.  In front
 * are those that many statements have: in a block an event has the others only if one of them is
 * not zero.  No column shows LOCAL_BLKS_HIT and LOCAL_BLKS_DIRTIED; NO_INDEX_USED is 1 where a table
 * was read by no index.
 */
#define PFS_COUNTERS(X) \
	X(PFS_N_LOCK_TIME, "lock_time", PFS_UNIT_TICKS) \
	X(PFS_N_PLAN_TIME, "plan_time", PFS_UNIT_TICKS) \
	X(PFS_N_EXEC_TIME, "exec_time", PFS_UNIT_TICKS) \
	X(PFS_N_ROWS_SENT, "rows_sent", PFS_UNIT_COUNT) \
	X(PFS_N_SHARED_BLKS_HIT, "shared_blks_hit", PFS_UNIT_COUNT) \
	X(PFS_N_SHARED_BLKS_READ, "shared_blks_read", PFS_UNIT_COUNT) \
	X(PFS_N_SHARED_BLKS_DIRTIED, "shared_blks_dirtied", PFS_UNIT_COUNT) \
	X(PFS_N_SHARED_BLKS_WRITTEN, "shared_blks_written", PFS_UNIT_COUNT) \
	X(PFS_N_LOCAL_BLKS_HIT, "local_blks_hit", PFS_UNIT_COUNT) \
	X(PFS_N_LOCAL_BLKS_READ, "local_blks_read", PFS_UNIT_COUNT) \
	X(PFS_N_LOCAL_BLKS_DIRTIED, "local_blks_dirtied", PFS_UNIT_COUNT) \
	X(PFS_N_LOCAL_BLKS_WRITTEN, "local_blks_written", PFS_UNIT_COUNT) \
	X(PFS_N_TEMP_BLKS_READ, "temp_blks_read", PFS_UNIT_COUNT) \
	X(PFS_N_TEMP_BLKS_WRITTEN, "temp_blks_written", PFS_UNIT_COUNT) \
	X(PFS_N_WAL_RECORDS, "wal_records", PFS_UNIT_COUNT) \
	X(PFS_N_WAL_FPI, "wal_fpi", PFS_UNIT_COUNT) \
	X(PFS_N_WAL_BYTES, "wal_bytes", PFS_UNIT_BYTES) \
	X(PFS_N_PARALLEL_WORKERS, "parallel_workers", PFS_UNIT_COUNT) \
	X(PFS_N_ROWS_AFFECTED, "rows_affected", PFS_UNIT_COUNT) \
	X(PFS_N_CPU_TIME, "cpu_nanoseconds", PFS_UNIT_NANOSECONDS) \
	X(PFS_N_ERRORS, "errors", PFS_UNIT_COUNT) \
	X(PFS_N_WARNINGS, "warnings", PFS_UNIT_COUNT) \
	X(PFS_N_ROWS_EXAMINED, "rows_examined", PFS_UNIT_COUNT) \
	X(PFS_N_NO_INDEX_USED, "no_index_used", PFS_UNIT_COUNT)

typedef enum PfsCounter
{
	PFS_COUNTERS(PFS_ENUMERATOR)
} PfsCounter;

/* A whole number of pairs: behind an odd number of counters is one that stays 0. */
#define PFS_NUM_COUNTERS ((0 PFS_COUNTERS(PFS_PLUS_ONE) + 1) / 2 * 2)

/* Two words at once; and where they may lie anywhere. */
typedef uint64 PfsPair __attribute__((vector_size(16)));
typedef uint64 PfsLoosePair __attribute__((vector_size(16), aligned(8)));

/* The first of those that are rarely not zero; in front of them, and of these, are whole pairs. */
#define PFS_N_RARE PFS_N_SHARED_BLKS_DIRTIED

StaticAssertDecl(PFS_N_RARE % 2 == 0, "counters are handled in pairs");

#define PFS_NUM_RARE (PFS_NUM_COUNTERS - PFS_N_RARE)

/* The rare ones of a statement's counters if any of them is not zero, else NULL.  rare: [PFS_NUM_RARE] */
static pg_attribute_always_inline const uint64 *
pfs_counters_rare(const uint64 *rare)
{
	uint64		any = 0;

	for (int i = 0; i < PFS_NUM_RARE; i++)
		any |= rare[i];
	return any != 0 ? rare : NULL;
}

/*
 * Adds counters whose rare ones lie elsewhere to a sum; rare: what pfs_counters_rare() says.  Without
 * these the lines of the sum where they lie are not touched.
 */
static pg_attribute_always_inline void
pfs_counters_add_parts(uint64 *restrict to, const uint64 *restrict n, const uint64 *restrict rare)
{
	for (int i = 0; i < PFS_N_RARE; i++)
		to[i] += n[i];
	if (likely(rare == NULL))
		return;
	for (int i = 0; i < PFS_NUM_RARE; i++)
		to[PFS_N_RARE + i] += rare[i];
}

static pg_attribute_always_inline void
pfs_counters_add(uint64 *to, const uint64 *n)
{
	pfs_counters_add_parts(to, n, pfs_counters_rare(n + PFS_N_RARE));
}

/*
 * Beside PFS_COUNTS_...: begun inside another statement, or behind its end; begun inside of a
 * program.
 */
#define PFS_IS_NESTED 0x80
#define PFS_IN_PROGRAM 0x40

/* Of a running one: the statement in which it began has ended. */
#define PFS_HAS_LEFT 0x20

/* Of a running nested one: it may not be executed at all, and then it is none. */
#define PFS_ONLY_PLANNED 0x10

/* Bytes kept of an error's message, and of a schema's name as written. */
#define PFS_MESSAGE_SIZE	256
#define PFS_SCHEMA_SIZE		64

/* In PFS_EVENT_KIND: an event in a block has the counters that are rarely not zero; memory and program. */
#define PFS_WIDE_COUNTERS	0x01
#define PFS_WIDE_LAST		0x02

/* What a statement has, with so many of its counters. */
#define PFS_STATEMENT_FIELDS(counters) \
	uint32		level;			/* nesting_event_level */ \
	uint64		statement_id; \
	uint64		n[counters]; \
	uint64		query_id;		/* 0: none */ \
	uint64		plan_id;		/* 0: none, or it is not counted */ \
	uint64		unused;			/* what follows is of whole units, in a slot as in a block */ \
	Oid			database; \
	Oid			user;			/* role in effect when it started */ \
	int32		sqlstate;		/* packed; 0: no error */ \
	uint16		schema_len; \
	uint16		message_len; \
	uint32		text_len; \
	uint8		counts;			/* PFS_COUNTS_..., PFS_IS_NESTED, PFS_IN_PROGRAM */ \
	uint8		plan_origin		/* PfsPlanOrigin */

/*
 * A statement.  Behind the struct lie the texts, one after the other without
 * terminators: the schema, the statement's text, the message.
 */
typedef struct PfsStatementEvent
{
	PFS_EVENT_FIELDS;
	PFS_STATEMENT_FIELDS(PFS_NUM_COUNTERS);
	uint64		memory;			/* the session's most bytes meanwhile, and
								 * one; if it counts them: written at the end */
	uint64		program;		/* PFS_PROGRAM_WORD, with PFS_IN_PROGRAM */
	char		texts[FLEXIBLE_ARRAY_MEMBER];
} PfsStatementEvent;

/* In shared memory; a reader's copy lies anywhere. */
StaticAssertDecl(offsetof(PfsStatementEvent, n) % 16 == 0, "pairs of counters are aligned");

/*
 * A statement in a block.  Behind the struct lie the texts; and, at its end and aligned as it is, the rare counters, if
 * it is wide by PFS_WIDE_COUNTERS, and memory and program, if it is wide by PFS_WIDE_LAST.
 */
typedef struct PfsStoredStatement
{
	PFS_EVENT_STORED_FIELDS;
	PFS_STATEMENT_FIELDS(PFS_N_RARE);
	char		more[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(PFS_EVENT_UNIT);
} PfsStoredStatement;

StaticAssertDecl(offsetof(PfsStoredStatement, n) % PFS_EVENT_UNIT == 0 && PFS_NUM_RARE * sizeof(uint64) % PFS_EVENT_UNIT == 0,
				 "pairs of counters are aligned");

#define PFS_RARE_SIZE (PFS_NUM_RARE * sizeof(uint64))

#define PFS_LAST_SIZE (offsetof(PfsStatementEvent, texts) - offsetof(PfsStatementEvent, memory))

/* Bytes in a block that are enough for one with a text of so many, whatever else it gets but a message. */
static pg_attribute_always_inline uint32
pfs_statement_room(uint32 text)
{
	return offsetof(PfsStoredStatement, more) + PFS_SCHEMA_SIZE + text + PFS_RARE_SIZE + PFS_LAST_SIZE + PFS_EVENT_UNIT - 1;
}

/* Its memory and program, if it has them. */
static pg_attribute_always_inline uint64 *
pfs_stored_last(const PfsStoredStatement *s)
{
	return (uint64 *) ((char *) s + s->size * sizeof(uint64) - PFS_LAST_SIZE);
}

/* Its rare counters, if it has them. */
static pg_attribute_always_inline uint64 *
pfs_stored_rare(const PfsStoredStatement *s)
{
	return (uint64 *) ((char *) s + s->size * sizeof(uint64) - PFS_RARE_SIZE - ((s->wide & PFS_WIDE_LAST) ? PFS_LAST_SIZE : 0));
}

static inline const char *
pfs_statement_text(const PfsStatementEvent *e)
{
	return e->texts + e->schema_len;
}

static inline const char *
pfs_statement_message(const PfsStatementEvent *e)
{
	return e->texts + e->schema_len + e->text_len;
}

typedef struct PfsStageEvent
{
	PFS_EVENT_FIELDS;
	uint8		progress;		/* command of a progress stage: its work is in
								 * the process's status entry; 0: none */
	int64		work_completed; /* -1: NULL */
	int64		work_estimated;
} PfsStageEvent;

typedef enum PfsTransactionState
{
	PFS_TRANSACTION_ACTIVE,
	PFS_TRANSACTION_PREPARED,
	PFS_TRANSACTION_COMMITTED,
	PFS_TRANSACTION_ROLLED_BACK,
} PfsTransactionState;

#define PFS_GID_SIZE 200

typedef struct PfsTransactionEvent
{
	PFS_EVENT_FIELDS;
	uint8		state;			/* PfsTransactionState */
	uint8		isolation;		/* XACT_READ_UNCOMMITTED ... */
	bool		read_only;
	bool		autocommit;
	uint64		trx_id;			/* full transaction id, 0: none; of a running
								 * one in a reader's copy.  COMMIT PREPARED
								 * and ROLLBACK PREPARED: the prepared one's */
	uint32		savepoints;
	uint32		rollbacks_to_savepoint;
	uint32		releases;
	int32		pid;			/* of a running one: whose */
	char		gid[PFS_GID_SIZE];	/* "": none */
} PfsTransactionEvent;

/* Bytes in a block of the smallest of each. */
#define PFS_STAGE_STORED_MIN (sizeof(PfsStageEvent) - PFS_EVENT_UNSTORED)
#define PFS_STATEMENT_STORED_MIN offsetof(PfsStoredStatement, more)
#define PFS_TRANSACTION_STORED_MIN (offsetof(PfsTransactionEvent, gid) + 1 - PFS_EVENT_UNSTORED)

/* Theirs of PfsEventFamilyInfo and PfsEventFamilyRead. */
extern size_t pfs_statement_texts_size(void);
extern void pfs_stage_event_record(PfsThread *t, PfsEvent *event);
extern void pfs_statement_event_record(PfsThread *t, PfsEvent *event);
extern size_t pfs_statement_event_used(const PfsEvent *event);
extern size_t pfs_transaction_event_used(const PfsEvent *event);
extern void pfs_statement_event_unpack(const void *from, PfsEvent *to);

/* The owner, inside a write section. */
extern PfsStoredStatement *pfs_statement_event_pack(PfsThread *t, PfsStatementEvent *e);

/*
 * ---- the owner: hooks and callbacks, outside of critical sections ----
 *
 * Outside of write sections, too, but for those that say otherwise.  All of them are no-ops while
 * pfs_my_thread is NULL, and leave errno alone.
 */

/*
 * Inside a write section: bytes have arrived from the client, which may begin its next
 * statement.  now: when they ended the idle wait, or were looked for; at 0: it has not been read.
 */
extern void pfs_statement_arrived(PfsThread *t, PfsTimestamp now);

/* Inside a write section: a message was there when the session looked for it; the statement before has ended, if it is over. */
extern void pfs_statement_is_over(PfsThread *t, PfsTimestamp now);

/* Inside a write section: the session is going to wait for its client. */
extern void pfs_statement_idle(PfsThread *t, PfsTimestamp now);

/* Inside a write section: no hook has seen the message yet.  What does it say? */
extern void pfs_statement_look(PfsThread *t, const char *str);

/*
 * Inside a write section, at an instrument point behind the last call for the statement at top level: if a
 * message has come since, what happens is the next one's.
 */
extern void pfs_statement_look_behind(PfsThread *t);

/*
 * The place behind a comment that begins here; str if none does.  The place in a string where the text of the
 * next statement begins, behind this one; 0: it is the last.
 */
extern const char *pfs_skip_comment(const char *str, const char *end);
extern int	pfs_statement_next_at(const char *str, int location, int len);

/*
 * A walsender answers its client: what does the command say that it answers?
 * completes: it says that it is ready for the next one.
 */
extern void pfs_statement_answers(PfsThread *t, bool completes);

/* The process ends: whatever is open ends now. */
extern void pfs_statement_detach(PfsThread *t);

/* What a hook knows of the statement that it is called for. */
typedef struct PfsStatementSource
{
	const char *str;			/* the whole string, or NULL */
	int			location;		/* its part of it: stmt_location, stmt_len */
	int			len;
	uint64		query_id;
	CommandTag	tag;
	int			command;		/* CmdType, of what is planned */
	const void *query;			/* the executor's descriptor, or NULL */
	const void *portal;			/* what runs it at top level, or NULL */
	int64		portal_time;
} PfsStatementSource;

/* Texts that the process has parsed so far. */
extern PFS_HIDDEN uint32 pfs_texts_parsed;

/* A subtransaction of this level begins; has been rolled back. */
extern void pfs_statement_note_subxact(int level);
extern void pfs_statement_unwind(PfsThread *t, int level);

/* The runs that were in the middle of a call when it began; all, if that is not known. */
extern uint64 pfs_statement_row_calls(int level);

/* The whole transaction has been rolled back. */
extern void pfs_statement_unwind_all(PfsThread *t);

/*
 * An error was raised; the process's outermost handler gets it; a message was logged: an error, by
 * that handler.  No lock, no allocation.
 */
extern void pfs_statement_raised(PfsThread *t, int sqlstate);
extern void pfs_statement_failed(PfsThread *t);
extern void pfs_statement_logged(PfsThread *t, bool error, bool unhandled, int sqlstate,
								 const char *message);

/* The transaction is about to be committed or prepared; it is over. */
extern void pfs_statement_committing(PfsThread *t);
extern void pfs_statement_transaction_ended(PfsThread *t, PfsTransactionState state);

/* Stage of the top-level statement: the one before ends. */
extern void pfs_statement_stage(PfsThread *t, PfsStageKind kind);

/* What new events are nested in. */
extern PfsParent pfs_statement_parent(void);
extern void pfs_set_parent(void);

/* ---- pfs_transaction.c ---- */

/* The one of this process. */
typedef struct PfsTransaction
{
	LocalTransactionId lxid;	/* of the open one, InvalidLocalTransactionId:
								 * none */
	bool		chain;			/* the next one begins by AND CHAIN */
	PfsTransactionEvent *event; /* NULL: not collected */
	uint64		event_id;
	struct PfsTransactionCell *cell;	/* of the thread, while there can be
										 * plain statements */
} PfsTransaction;

extern PFS_HIDDEN PfsTransaction pfs_transaction;

/* What is nested in the transaction with this event_id alone; 0: in nothing. */
static inline PfsParent
pfs_parent_of_transaction(uint64 event_id)
{
	return (PfsParent)
	{
		event_id, event_id != 0 ? PFS_NESTING_TRANSACTION : PFS_NESTING_NONE
	};
}

/* What is nested in the present one. */
static inline PfsParent
pfs_transaction_parent(void)
{
	return pfs_parent_of_transaction(pfs_transaction.event_id);
}

static inline bool
pfs_transaction_is_new(void)
{
	LocalTransactionId lxid = pfs_compat_lxid(PFS_IMPORT(MyProc));

	return lxid != pfs_transaction.lxid && lxid != InvalidLocalTransactionId;
}

/* Inside a write section: another one has begun, and this is where it is noticed. */
extern void pfs_transaction_begin(PfsThread *t, PfsTimestamp now);

/* Inside a write section: has another transaction begun since? */
static inline void
pfs_transaction_look_at(PfsThread *t, PfsTimestamp now)
{
	if (pfs_transaction_is_new())
		pfs_transaction_begin(t, now);
}

/*
 * The same in a plain statement (pfs_plain.h), the first of its session to need one: it begins with the
 * statement, as the server's own xact_start does.
 */
extern void pfs_transaction_of_plain_begins(PfsThread *t, uint64 start, uint64 statement);

extern void pfs_transaction_look(PfsThread *t);

/* Outside of one: another one has begun, and this is where it is noticed. */
extern void pfs_transaction_notice(PfsThread *t);

extern void pfs_transaction_end(PfsThread *t, PfsTransactionState state, PfsTimestamp now);

/* The transaction of a plain statement is committed; false: the general code ends it. */
extern bool pfs_transaction_of_plain_commits(PfsThread *t);

/* A utility that is no TransactionStmt. */
#define PFS_NO_TRANSACTION_COMMAND (-1)

/*
 * A utility has been executed.  command: TransactionStmtKind; chain: COMMIT or ROLLBACK AND CHAIN.
 * gid and trx_id: of the commands of prepared transactions; the latter is that of the one
 * that has been finished, else 0.
 */
extern void pfs_transaction_command(PfsThread *t, int command, bool chain, const char *gid, uint64 trx_id);

#endif							/* PFS_STATEMENT_H */
