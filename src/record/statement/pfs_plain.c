/*
 * pfs_plain.c
 *	  The fast path of a plain statement: whether there can be one, its start and end, and those of plain ones that
 *	  are nested in it.
 *
 * Separate from pfs_statement_top.c, which has every other statement at top level; pfs_plain_leave.c hands one over to
 * that, and back.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "pfs_compat_hooks.h"
#include "pfs_digest_count.h"
#include "pfs_event_open.h"
#include "pfs_memory_counted.h"
#include "pfs_memory_total.h"
#include "pfs_plain.h"
#include "pfs_query_id.h"
#include "pfs_program_call.h"
#include "pfs_rel_run.h"
#include "pfs_shared.h"
#include "pfs_wait_class.h"

/* ---- is everything as by default? ---- */

/* What a statement and a transaction have by default: beside `usual`. */
#define DEFAULT_FLAGS (PFS_FLAG_ENABLED | PFS_FLAG_CURRENT)

/* Are these the flags of an event that is recorded and timed as nearly all are? */
static inline bool
is_default(uint32 flags, uint32 more)
{
	return (flags & (PFS_FLAGS_USUAL | DEFAULT_FLAGS | more)) == (pfs_local.usual | DEFAULT_FLAGS | more);
}

/* Is something on that only the general code collects with a statement? */
static bool
is_more_wanted(const PfsThread *t)
{
	return (pfs_wait_flags(t, pfs_fixed_instrument[PFS_INS_TABLE]) & PFS_FLAG_ENABLED) != 0 ||
		(pfs_load_relaxed(&pfs_words->statement_counts) & PFS_COUNTS_CPU) != 0;
}

/* Looks at the stages: are they all off, or all on?  Of some only the general code takes care. */
static bool
look_at_stages(const PfsThread *t)
{
	uint32		flags = pfs_wait_flags(t, pfs_stage_instrument[0]);

	for (int kind = 1; kind < PFS_NUM_STAGE_KINDS; kind++)
	{
		if (pfs_wait_flags(t, pfs_stage_instrument[kind]) != flags)
			return false;
	}
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return true;
	pfs_plain.more |= PFS_PLAIN_STAGES;
	return is_default(flags, 0);
}

/* Have all instruments of statements these flags? */
static bool
are_statements_uniform(const PfsThread *t, uint32 flags)
{
	for (PfsInstrumentId i = pfs_first_statement; i < pfs_transaction_instrument; i++)
	{
		if (pfs_wait_flags(t, i) != flags)
			return false;
	}
	return true;
}

/* Is nothing on that what the server does with statements has to be noticed for? */
static bool
are_statements_off(void)
{
	return pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STATEMENT]) == 0 &&
		pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STAGE]) == 0 &&
		pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_TRANSACTION]) == 0 &&
		(pfs_instrument_flags(pfs_fixed_instrument[PFS_INS_TABLE]) & PFS_FLAG_ENABLED) == 0 &&
		!pfs_load_relaxed(&pfs_words->memory_wanted);
}

/* Where they are off: are waits and errors, too? */
static bool
are_others_off(void)
{
	for (int class = 0; class < PFS_NUM_TIMED_CLASSES; class++)
	{
		if (pfs_load_relaxed(&pfs_words->class_flags[class]) != 0)
			return false;
	}
	return !pfs_error_is_wanted();
}

/* Is something open that has begun before? */
static bool
is_something_open(const PfsThread *t)
{
	for (int family = 0; family < PFS_NUM_EVENT_FAMILIES; family++)
	{
		if (t->events[family].depth != 0)
			return true;
	}
	return pfs_memory_is_counted || pfs_local.slow != 0 || pfs_sql.top_open || pfs_sql.open != NULL ||
		pfs_transaction.event != NULL || pfs_stages.n != 0 || pfs_open_error.sqlstate != 0 || pfs_rel_local.open != 0;
}

/* Behind a switch: a transaction that has begun meanwhile is none. */
void
pfs_plain_switch_on(void)
{
	pfs_plain.all_off = pfs_plain.hooks_off = false;
	pfs_transaction.lxid = pfs_compat_lxid(MyProc);
	pfs_transaction.chain = false;
}

/*
 * Looks at all words that a plain statement goes by, behind their generation: where one changes
 * meanwhile, so does that.  What the owner itself has not followed yet, as a truncation, is looked
 * at again.
 */
void
pfs_plain_look_now(PfsThread *t)
{
	uint64		generation = pfs_load_acquire(&pfs_words->generation);
	bool		off = are_statements_off();

	pfs_digests_generation = pfs_load_relaxed(&pfs_words->object_truncations[PFS_COUNTED_DIGESTS]);
	pfs_plain.generation = 0;
	pfs_plain.flags = pfs_class_flags(t, PFS_CLASS_STATEMENT);
	pfs_plain.looked = generation;
	if (off && is_something_open(t))
	{
		off = false;
		pfs_plain.looked = 0;
	}
	if (pfs_plain.hooks_off && !off)
		pfs_plain_switch_on();
	pfs_plain.hooks_off = off;
	pfs_plain.all_off = off && are_others_off();
	if (off)
		return;
	if (pfs_memory_is_stale())
		pfs_memory_sync(t);
	pfs_plain.more = pfs_memory_is_counted ? PFS_PLAIN_MEMORY : 0;
	pfs_plain.transaction_flags = pfs_wait_flags(t, pfs_transaction_instrument);
	if (!is_default(pfs_plain.flags, PFS_FLAG_DIGEST) || !is_default(pfs_plain.transaction_flags, 0) || is_more_wanted(t) ||
		!look_at_stages(t))
		return;
	pfs_plain.is_uniform = are_statements_uniform(t, pfs_plain.flags);
	pfs_transaction.cell = t->cells[PFS_FAMILY_TRANSACTIONS].cells;
	/* Its event lies there. */
	if (pfs_histories[PFS_STATEMENTS] == NULL)
		return;
	/* Only these families' cells are added to without a look of their own. */
	if (t->generation[PFS_FAMILY_STATEMENTS] != pfs_load_relaxed(&pfs_words->truncations[PFS_FAMILY_STATEMENTS]) ||
		t->generation[PFS_FAMILY_TRANSACTIONS] != pfs_load_relaxed(&pfs_words->truncations[PFS_FAMILY_TRANSACTIONS]))
		pfs_plain.looked = 0;

	/*
	 * What a run on a table that is still open has counted is added to its
	 * digest when that ends.  A process goes on to be told of its allocations
	 * as long as there are some that it has counted.
	 */
	if (pfs_rel_local.open != 0 || pfs_memory_is_stale() ||
		(pfs_memory_is_counted && !t->memory.has_levels))
		pfs_plain.looked = 0;
	if (pfs_plain.looked != 0)
		pfs_plain.generation = generation;
}

/* ---- the next one of a pipeline ---- */

/* Where it is not for the fast path, nothing is done, and the general code takes the statement before over. */
void
pfs_plain_follows_now(PfsThread *t)
{
	PfsTimestamp end = {Max(pfs_plain.open.stamp, Max(t->waits[0].timer_end, t->last_reading)), PFS_FLAGS_TIMER(pfs_local.usual)};

	if (pfs_is_writing(t) || pfs_plain.passes || pfs_plain.open.query != NULL || !pfs_top_next_has_come() || pfs_trigger_depth() != 0)
		return;
	if (unlikely(pfs_sql.next_id == pfs_sql.last_id))
		pfs_statement_take_ids();
	pfs_write_begin(t);
	if (pfs_plain_ends(t, end.at) && !pfs_plain_arrives(t, end.at))
		pfs_statement_arrived(t, end);
	pfs_write_end(t);
}

/* ---- memory and stages ---- */

/* Begins the peak of memory and the first stage of a statement that has arrived, if they are collected. */
void
pfs_plain_arrives_with_more(PfsThread *t, uint64 now)
{
	PfsTimestamp start = {now, PFS_FLAGS_TIMER(pfs_local.usual)};

	/* No other statement is open, so the peak until now is nobody's. */
	if (pfs_plain.more & PFS_PLAIN_MEMORY)
		(void) pfs_memory_total_next(t);

	/*
	 * Where a switch comes in between, the stage may be none of a run, or
	 * none at all.
	 */
	if ((pfs_plain.more & PFS_PLAIN_STAGES) != 0 &&
		unlikely(!pfs_stage_first(t, start, PFS_STAGE_PARSE_ANALYZE, pfs_plain.open.event_id)) &&
		pfs_stage_event_id(pfs_plain.open.event_id) != 0)
		pfs_local.parent = (PfsParent)
	{
		pfs_stage_event_id(pfs_plain.open.event_id), PFS_NESTING_STAGE
	};
}

/* While nothing is switched, all stages have the same flags, and the default timer. */
bool
pfs_plain_comes_to(PfsStageKind kind)
{
	PfsThread  *t = pfs_my_thread;
	uint64		now;
	bool		begins;

	if (unlikely(!pfs_plain_is_on() || !pfs_stage_is_in_place(t)))
		return false;
	now = pfs_plain_now();
	pfs_write_begin(t);
	begins = pfs_stage_next_in_place(t, pfs_stage_instrument[kind], now);
	pfs_write_end(t);
	return begins;
}

bool
pfs_plain_starts_stage(void)
{
	if (likely(pfs_plain_comes_to(pfs_plain.is_utility ? PFS_STAGE_UTILITY : PFS_STAGE_EXECUTOR_START)))
		return true;
	pfs_plain.state = PFS_PLAIN_NAMED;
	return false;
}

/*
 * Ends them with the statement, whose event has all but its memory, and no reader as it has ended.  False: an error
 * has left the counters of memory in the middle of something.
 */
static pg_noinline bool
end_more(PfsThread *t, PfsStoredStatement *e, uint64 now)
{
	PfsTimestamp end = {now, PFS_FLAGS_TIMER(pfs_local.usual)};

	if (pfs_plain.more & PFS_PLAIN_MEMORY)
	{
		if (unlikely((t->memory.seq.word & 1) != 0))
			return false;
		e->counts |= PFS_COUNTS_MEMORY;
		e->wide |= PFS_WIDE_LAST;
		e->size += PFS_LAST_SIZE / sizeof(uint64);
		memset(pfs_stored_last(e), 0, PFS_LAST_SIZE);
		pfs_stored_last(e)[0] = pfs_memory_total_next(t) + 1;
	}
	if (pfs_plain.more & PFS_PLAIN_STAGES)
		pfs_stages_end(t, end);
	return true;
}

/* ---- name and start ---- */

/* Can a call at this place be for a plain statement, with nothing in the way but what is ignored? */
static pg_attribute_always_inline bool
is_clear(const PfsThread *t, uint32 ignored)
{
	return likely((pfs_local.not_usual & ~ignored) == 0 && (pfs_load_relaxed(&t->seq.word) & 1) == 0 &&
				  pfs_open_error.sqlstate == 0 && pfs_plain_is_on());
}

/* The same of the one at top level, which has an identifier, or whose utility is an EXECUTE. */
static inline bool
is_clear_top(const PfsThread *t, uint64 query_id, const Node *utility)
{
	return (likely(query_id != 0) || (utility != NULL && IsA(utility, ExecuteStmt))) && is_clear(t, PFS_SLOW_UNNAMED) &&
		likely(pfs_trigger_depth() == 0);
}

/*
 * Returns where the statement's event is going to stay, with its text, and the rare counters if it
 * gets them; NULL: there is no block.  How long the text is, is asked only where a block may end.
 */
static inline PfsStoredStatement *
find_room(PfsThread *t, uint32 known, const char *str, int location, int len)
{
	const PfsBlockWriter *to = &t->events[PFS_STATEMENTS].finished;
	uint32		text;

	if (likely(known != 0))
		text = known;
	else if (pfs_block_has_room(to, pfs_statement_room(pfs_sizes.sql_text)))
		return (PfsStoredStatement *) to->next;
	else if (str == NULL)
		text = 0;
	else if (len > 0 && location >= 0)
		text = Min(len, pfs_sizes.sql_text);
	else
		text = strnlen(str + Max(location, 0), pfs_sizes.sql_text);
	return pfs_history_room(t, PFS_STATEMENTS, pfs_statement_room(text));
}

/*
 * Fills in the event of the innermost statement, and shows it.  e: where it is going to stay; user, level: see
 * PfsStatementEvent; program: that it began in, or NULL; known: what pfs_credit_text_len() says of the text, or 0.
 */
static pg_attribute_always_inline void
show(PfsThread *t, PfsStoredStatement *e, PfsInstrumentId instrument, uint64 query_id, Oid user, uint32 level,
	 const PfsProgramEntry *program, uint32 known, const char *str, int location, int len)
{
	PfsParent	parent = level == 0 ? pfs_parent_of_transaction(pfs_plain.open.parent)
	: (PfsParent) {pfs_plain.open.parent, PFS_NESTING_STATEMENT};
	uint64		size;
	uint8		wide = 0;

	e->timer_start = pfs_plain.open.start;
	e->event_id = pfs_plain.open.event_id;
	e->nesting_event_id = pfs_plain.open.parent;
	e->flags = pfs_plain.flags;
	e->level = level;
	e->statement_id = pfs_plain.open.statement_id;
	memset(e->n, 0, sizeof(e->n));
	e->query_id = query_id;
	e->plan_id = 0;
	e->database = PFS_IMPORT(MyDatabaseId);
	e->user = user;
	e->sqlstate = 0;
	e->message_len = 0;
	e->counts = level > 0 ? PFS_IS_NESTED : 0;
	e->plan_origin = 0;
	if (known != 0)
	{
		e->schema_len = pfs_statement_put_schema(e->more);
		e->text_len = known;
		PFS_IMPORT(memcpy) (e->more + e->schema_len, str, known);
	}
	else
		e->text_len = pfs_statement_copy_text(e->more, &e->schema_len, str, location, len);
	size = TYPEALIGN(PFS_EVENT_UNIT, offsetof(PfsStoredStatement, more) + e->schema_len + e->text_len);
	if (program != NULL)
	{
		uint64	   *last = (uint64 *) ((char *) e + size);

		last[0] = 0;
		last[1] = pfs_program_word(program);
		e->counts |= PFS_IN_PROGRAM;
		wide = PFS_WIDE_LAST;
		size += PFS_LAST_SIZE;
	}
	e->kind = instrument | parent.type << 32 | (uint64) wide << 40 | size / sizeof(uint64) << 48;
	pfs_plain.open.event = e;
	pfs_store_release(&t->events[PFS_STATEMENTS].depth, level | PFS_EVENT_IN_PLACE);	/* C */
}

/* Has a statement of this instrument other flags than all have by default? */
static pg_attribute_always_inline bool
has_other_flags(const PfsThread *t, PfsInstrumentId instrument)
{
	return unlikely(instrument == PFS_NO_INSTRUMENT ||
					(!pfs_plain.is_uniform && pfs_wait_flags(t, instrument) != pfs_plain.flags));
}

/*
 * Gives the statement its name and text.  Its transaction is noticed.
 * False: its instrument is not as the others, or there is no room.
 */
static pg_attribute_always_inline bool
name(PfsThread *t, PfsInstrumentId instrument, uint64 query_id, uint32 known, const char *str, int location, int len)
{
	PfsStoredStatement *e;

	if (has_other_flags(t, instrument))
		return false;
	pfs_write_begin(t);
	e = find_room(t, known, str, location, len);
	/* A signal handler's event may have come in between. */
	if (unlikely(pfs_plain.state != PFS_PLAIN_ARRIVED || e == NULL))
	{
		pfs_write_end(t);
		return false;
	}
	pfs_local.slow &= ~PFS_SLOW_UNNAMED;
	/* A function of a parameter may be executed as its owner. */
	show(t, e, instrument, query_id, PFS_IMPORT(GetOuterUserId) (), 0, NULL, known, str, location, len);
	pfs_plain.is_planned = false;
	if (pfs_transaction_is_new())
		pfs_transaction_of_plain_begins(t, pfs_plain.open.start, pfs_plain.open.event_id);
	pfs_plain.state = PFS_PLAIN_NAMED;
	pfs_write_end(t);
	return true;
}

bool
pfs_plain_is_named(PfsThread *t, const Query *query, const char *str)
{
	CommandTag	tag = CreateCommandTag(unconstify(Node *, (const Node *) query));
	uint64		query_id = pfs_query_id(tag, query->queryId);

	/* Of one that others follow in a string the end is watched. */
	return is_clear_top(t, query_id, query->utilityStmt) &&
		(query->commandType != CMD_UTILITY || pfs_plain_may_be_utility(query->utilityStmt)) &&
		pfs_statement_next_at(str, query->stmt_location, query->stmt_len) == 0 &&
		name(t, pfs_tag_instrument[tag], query_id, 0, str, query->stmt_location, query->stmt_len);
}

/* The instrument of a plan.  The server's function costs more than the answer of those that nearly all are. */
static inline PfsInstrumentId
instrument_of(const PlannedStmt *stmt)
{
	if (likely(stmt->commandType <= CMD_DELETE && stmt->rowMarks == NIL))
		return pfs_command_instrument[stmt->commandType];
	return pfs_tag_instrument[CreateCommandTag(unconstify(Node *, (const Node *) stmt))];
}

/*
 * Notes that the executor starts the statement's query, or that its utility runs: names it if nothing
 * has yet, as of what was prepared and planned before.  False: it is no plain one, or its digest may have no text.
 */
bool
pfs_plain_starts(PfsThread *t, const PlannedStmt *stmt, uint64 query_id, const char *str, const QueryDesc *query)
{
	Portal		portal = PFS_IMPORT(ActivePortal);

	if (unlikely(!is_clear_top(t, query_id, stmt->utilityStmt) || portal == NULL))
		return false;
	pfs_credit_plain_starts(&pfs_plain.open.credit, portal, query_id);
	if (pfs_plain.state == PFS_PLAIN_NAMED)
	{
		/*
		 * A pipeline may prepare several, without an identifier of different
		 * texts.
		 */
		if (unlikely(pfs_plain.open.event->query_id != query_id || (query_id == 0 && portal->visible)))
			return false;
	}

	else if (unlikely(pfs_digest_may_lack_text(query_id) && query_id != 0) ||
			 unlikely(!name(t, instrument_of(stmt), query_id,
							pfs_credit_text_len(&pfs_plain.open.credit, str, stmt->stmt_location, stmt->stmt_len),
							str, stmt->stmt_location, stmt->stmt_len)))
		return false;
	pfs_plain.is_utility = query == NULL;
	if (PFS_HAVE_PLAN_ORIGIN && query != NULL)
		pfs_store_relaxed(&pfs_plain.open.event->plan_origin, pfs_compat_plan_origin(stmt));
	pfs_plain.open.query = query;
	pfs_plain.open.portal = portal;
	pfs_plain.open.portal_time = portal->creation_time;
	pfs_plain.state = PFS_PLAIN_STARTING;
	return true;
}

/*
 * Readers copy the event by its first word: they see the counters when they are there, behind the texts, where
 * find_room() has left room for them.  D: pairs with the acquire in copy_in_place().  What lies behind them moves, for
 * which a write section keeps readers away.
 */
uint64 *
pfs_plain_rare(void)
{
	PfsStoredStatement *e = pfs_plain.open.event;
	uint64		more = (uint64) PFS_WIDE_COUNTERS << 40 | (uint64) (PFS_RARE_SIZE / sizeof(uint64)) << 48;
	char	   *end = (char *) e + e->size * sizeof(uint64);

	if (likely((e->wide & (PFS_WIDE_COUNTERS | PFS_WIDE_LAST)) == 0))
	{
		memset(end, 0, PFS_RARE_SIZE);
		pfs_store_release(&e->kind, e->kind + more);	/* D */
	}
	else if ((e->wide & PFS_WIDE_COUNTERS) == 0)
	{
		pfs_write_begin(pfs_my_thread);
		memcpy(end + PFS_RARE_SIZE - PFS_LAST_SIZE, end - PFS_LAST_SIZE, PFS_LAST_SIZE);
		memset(end - PFS_LAST_SIZE, 0, PFS_RARE_SIZE);
		e->kind += more;
		pfs_write_end(pfs_my_thread);
	}
	return pfs_stored_rare(e);
}

/* ---- end ---- */

/*
 * Counts the innermost statement for its thread and its digest, and puts it into the histories; rare: its rare counters,
 * or NULL.
 */
static pg_attribute_always_inline void
finish(PfsThread *t, PfsStoredStatement *e, const uint64 *rare, PfsStatementEvent *slot, uint64 now, uint64 ticks,
	   bool is_nested)
{
	pfs_credit_plain_ends(&pfs_plain.open.credit, is_nested, e, rare, ticks);
	pfs_digest_count_plain(t, e, rare, slot, now, ticks);
	e->timer_end = now;
	e->end_event_id = t->last_event_id;
	if (likely(e->flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
		pfs_history_done(t, PFS_STATEMENTS, e->size * sizeof(uint64), e->flags);
}

/* Behind pfs_write_begin(): can the innermost statement end as a plain one? */
static pg_attribute_always_inline bool
may_end(void)
{
	pfs_fence_signal();
	return likely(pfs_plain.state == PFS_PLAIN_RAN && pfs_plain_is_on() && (pfs_local.not_usual & ~PFS_SLOW_OVER) == 0 &&
				  pfs_digest_rows_used == 0 && !pfs_transaction_is_new());
}

static pg_attribute_always_inline uint64
ticks_until(const PfsStoredStatement *e, uint64 now)
{
	return likely(now > e->timer_start) ? now - e->timer_start : 0;
}

static pg_attribute_always_inline const uint64 *
rare_of(const PfsStoredStatement *e)
{
	return unlikely(e->wide & PFS_WIDE_COUNTERS) ? pfs_stored_rare(e) : NULL;
}

/* Ends the statement at top level.  False: the general code has to. */
bool
pfs_plain_ends(PfsThread *t, uint64 now)
{
	PfsStoredStatement *e = pfs_plain.open.event;
	PfsEvents  *events = &t->events[PFS_STATEMENTS];
	const uint64 *rare;
	uint64		ticks;

	if (!may_end() || unlikely(pfs_plain.depth != 0))
		return false;
	ticks = ticks_until(e, now);
	e->n[PFS_N_LOCK_TIME] = pfs_local.lock_ticks - pfs_plain.open.lock_ticks;
	rare = rare_of(e);
	if (unlikely(pfs_plain.more != 0) && unlikely(!end_more(t, e, now)))
		return false;
	pfs_store_relaxed(&events->depth, 0);
	finish(t, e, rare, (PfsStatementEvent *) pfs_event_slot(events, 0), now, ticks, false);
	pfs_plain.state = PFS_PLAIN_NONE;
	pfs_local.slow &= ~PFS_SLOW_OVER;
	pfs_local.parent = pfs_transaction_parent();
	pfs_digest_charged = 0;
	pfs_local.waits = NULL;
	return true;
}

/* ---- nested ones ---- */

StaticAssertDecl(PFS_PLAIN_DEPTH < PFS_STATEMENT_DEPTH, "each plain statement has a slot to go to");

/* Waits are the innermost statement's from now on; key: as in pfs_digest_charge_nested(). */
static inline void
charge_innermost(PfsThread *t, PfsDigestKey key)
{
	pfs_local.parent.event_id = pfs_plain.open.event_id;
	pfs_local.parent.type = PFS_NESTING_STATEMENT;
	pfs_digest_charge_nested(t, pfs_plain.open.statement_id, key);
}

/*
 * Begins a nested statement.  Waits of the one around it so far go to its digest, and its event to its slot, before the
 * new one's comes to where that lay.
 */
bool
pfs_plain_nests(PfsThread *t, const QueryDesc *query)
{
	const PlannedStmt *stmt = query->plannedstmt;
	PfsInstrumentId instrument = instrument_of(stmt);
	PfsStatement *spare = NULL;
	PfsPlainStatement *outer = &pfs_plain.around[pfs_plain.depth];
	PfsStoredStatement *e;

	if (unlikely(stmt->queryId == 0 || !is_clear(t, PFS_SLOW_OVER) || pfs_plain.depth == PFS_PLAIN_DEPTH || pfs_plain.more != 0 ||
				 pfs_is_start_of_portal(ActivePortal) ||
				 has_other_flags(t, instrument) ||
				 pfs_digest_may_lack_text(stmt->queryId) || pfs_transaction_is_new()))
		return false;
	/* The write section can neither allocate nor wait. */
	pfs_nested_grow();
	if (unlikely(pfs_sql.next_id == pfs_sql.last_id))
		pfs_statement_take_ids();
	pfs_write_begin(t);
	if (likely(pfs_plain.state == PFS_PLAIN_RUNS))
		spare = pfs_nested_claim();
	if (unlikely(spare == NULL))
	{
		pfs_write_end(t);
		return false;
	}
	if (unlikely(pfs_local.waits_used != 0))
		pfs_digest_waits_flush_all();
	if (pfs_plain.open.event != NULL)
		pfs_plain_leave_place(t);
	e = find_room(t, 0, query->sourceText, stmt->stmt_location, stmt->stmt_len);
	if (unlikely(e == NULL))
	{
		pfs_nested_put(spare);
		pfs_write_end(t);
		return false;
	}
	*outer = pfs_plain.open;
	pfs_plain.depth++;
	memset(&pfs_plain.open, 0, sizeof(pfs_plain.open));
	pfs_plain.open.start = pfs_plain_now();
	pfs_plain.open.event_id = ++t->last_event_id;
	pfs_plain.open.statement_id = ++pfs_sql.next_id;
	pfs_plain.open.lock_ticks = pfs_local.lock_ticks;
	pfs_plain.open.parent = outer->event_id;
	pfs_plain.open.query = query;
	pfs_plain.open.spare = spare;
	pfs_plain.open.credit.program = pfs_program_entered();
	show(t, e, instrument, stmt->queryId, GetUserId(), pfs_plain.depth, pfs_plain.open.credit.program, 0,
		 query->sourceText, stmt->stmt_location, stmt->stmt_len);
	if (PFS_HAVE_PLAN_ORIGIN)
		e->plan_origin = pfs_compat_plan_origin(stmt);
	charge_innermost(t, pfs_digest_key(e->database, e->user, e->query_id));
	pfs_plain.state = PFS_PLAIN_STARTING;
	pfs_write_end(t);
	return true;
}

/* Its time is taken off the digest of the one around it, as pfs_digest_end_statement() does. */
bool
pfs_plain_nested_ends(PfsThread *t)
{
	uint64		now = pfs_plain_now();
	PfsStoredStatement *e = pfs_plain.open.event;
	PfsEvents  *events = &t->events[PFS_STATEMENTS];
	const PfsStatementEvent *outer;
	PfsDigestKey nobody = {0, 0};
	PfsDigestKey key;
	const uint64 *rare;
	uint64		ticks;

	if (pfs_is_writing(t))
		return false;
	pfs_write_begin(t);
	if (!may_end())
	{
		pfs_write_end(t);
		return false;
	}
	ticks = ticks_until(e, now);
	e->n[PFS_N_LOCK_TIME] = pfs_local.lock_ticks - pfs_plain.open.lock_ticks;
	rare = rare_of(e);
	outer = (const PfsStatementEvent *) pfs_event_slot(events, pfs_plain.depth - 1);
	key = pfs_digest_key(outer->database, outer->user, outer->query_id);
	pfs_store_relaxed(&events->depth, pfs_plain.depth);
	pfs_pending_digests_add_time(key, -(int64) ticks, 0);
	finish(t, e, rare, (PfsStatementEvent *) pfs_event_slot(events, pfs_plain.depth), now, ticks, true);
	pfs_nested_put(pfs_plain.open.spare);
	pfs_plain.open = pfs_plain.around[--pfs_plain.depth];
	pfs_plain.state = PFS_PLAIN_RUNS;
	charge_innermost(t, pfs_plain.depth > 0 ? key : nobody);
	pfs_write_end(t);
	return true;
}
