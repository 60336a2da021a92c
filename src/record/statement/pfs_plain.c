/*
 * pfs_plain.c
 *	  The fast path of a plain statement: whether there can be one, its start and end, and its
 *	  handing over to the general code.
 *
 * Separate from pfs_statement_top.c, which has every other statement at top level.
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
		pfs_stages.n != 0 || pfs_open_error.sqlstate != 0 || pfs_rel_local.open != 0;
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

/* ---- the general code takes over ---- */

/* Puts a stage of pfs_sql.top on the stack, if all of them are off: else it lies there. */
static inline void
set_stage(PfsStageKind kind)
{
	if (pfs_stages.n != 0)
		return;
	pfs_stages.items[0] = (PfsStage)
	{
		.instrument = pfs_stage_instrument[kind], .statement = pfs_plain.event_id
	};
	pfs_stages.n = 1;
}

/* The stage that pfs_sql.top would be in. */
static PfsStageKind
stage_of(PfsPlainState state)
{
	switch (state)
	{
		case PFS_PLAIN_NAMED:
			return pfs_plain.is_planned ? PFS_STAGE_PLAN : PFS_STAGE_PARSE_ANALYZE;
		case PFS_PLAIN_PLANNING:
			return PFS_STAGE_PLAN;
		case PFS_PLAIN_STARTING:
		case PFS_PLAIN_STARTED:
			return PFS_STAGE_EXECUTOR_START;
		default:
			return pfs_plain.is_utility ? PFS_STAGE_UTILITY : PFS_STAGE_EXECUTE;
	}
}

/* The phase that pfs_sql.top would have come to. */
static PfsStatementPhase
phase_of(PfsPlainState state)
{
	if (state == PFS_PLAIN_NAMED && !pfs_plain.is_planned)
		return PFS_PHASE_PARSE;
	return state < PFS_PLAIN_RUNS ? PFS_PHASE_PLAN : PFS_PHASE_EXECUTION;
}

/* Makes the slot of a statement that has no name yet, which readers do not show. */
static void
make_unnamed_event(PfsThread *t, PfsStatement *s)
{
	uint64		last = t->last_event_id;
	PfsStatementEvent *e = pfs_statement_make_event(t, s, s->flags);

	t->last_event_id = last;
	if (e == NULL)
		return;
	e->event_id = s->event_id;
	e->flags &= ~(PFS_FLAG_CURRENT | PFS_FLAG_DIGEST);
	s->event = e;
	pfs_event_show(t, PFS_STATEMENTS);
}

/* Moves the event to a slot, where it goes on. */
static PfsStatementEvent *
move_to_slot(PfsThread *t)
{
	PfsEvents  *events = &t->events[PFS_STATEMENTS];
	PfsEvent   *slot = pfs_event_slot(events, 0);

	pfs_statement_event_unpack(pfs_plain.event, slot);
	pfs_store_release(&events->depth, 1);	/* C */
	return (PfsStatementEvent *) slot;
}

/*
 * Fills in pfs_sql.top as the general code would have left it.  A plain statement has met no error
 * and no nested statement so far.
 */
void
pfs_plain_leave_inside_now(PfsThread *t)
{
	PfsStatement *s = &pfs_sql.top;
	PfsPlainState state = pfs_plain.state;
	bool		in_call = state == PFS_PLAIN_PLANNING || state == PFS_PLAIN_STARTING || state == PFS_PLAIN_RUNS ||
	state == PFS_PLAIN_ENDING;

	pfs_plain.state = PFS_PLAIN_NONE;
	pfs_sql.raised = pfs_sql.failed = false;
	pfs_sql.sqlstate = 0;
	pfs_sql.message_len = 0;
	pfs_sql.nest = in_call || pfs_plain.passes ? 1 : 0;
	pfs_sql.current = in_call ? s : NULL;
	pfs_sql.top_open = true;

	memset(s, 0, offsetof(PfsStatement, own));
	s->n = s->own;
	s->flags = pfs_plain.flags;
	s->start = pfs_plain.start;
	s->event_id = pfs_plain.event_id;
	s->statement_id = pfs_plain.statement_id;
	s->parent = pfs_plain.parent;
	s->lock_ticks = pfs_plain.lock_ticks;
	s->examined = pfs_examined();
	if (pfs_plain.more & PFS_PLAIN_MEMORY)
		pfs_statement_memory_left(s);
	if (state == PFS_PLAIN_ARRIVED)
	{
		s->instrument = pfs_other_statement[PFS_STATEMENT_PARSE];
		s->database = MyDatabaseId;
		s->user = OidIsValid(MyDatabaseId) ? GetOuterUserId() : InvalidOid;
		make_unnamed_event(t, s);
		set_stage(PFS_STAGE_PARSE_ANALYZE);
		return;
	}
	s->event = move_to_slot(t);
	s->event->counts = s->counts;
	s->n = s->event->n;
	s->instrument = s->event->instrument;
	s->query_id = s->event->query_id;
	s->database = s->event->database;
	s->user = s->event->user;
	s->plan_origin = s->event->plan_origin;
	s->phase = phase_of(state);
	if (state >= PFS_PLAIN_STARTING)
	{
		s->query = pfs_plain.query;
		s->portal = pfs_plain.portal;
		s->portal_time = pfs_plain.portal_time;
	}
	if (state >= PFS_PLAIN_RUNS)
		s->prepared = pfs_plain.prepared;
	if (state >= PFS_PLAIN_ENDING)
	{
		s->done = true;
		s->stamp = (PfsTimestamp)
		{
			pfs_plain.stamp, PFS_FLAGS_TIMER(pfs_local.usual)
		};
		s->message = pfs_plain.message;
	}
	set_stage(stage_of(state));
}

/* A signal handler that has come in the middle of a write section takes nothing over. */
void
pfs_plain_leave_now(PfsThread *t)
{
	if (t == NULL || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	pfs_plain_leave_inside_now(t);
	pfs_write_end(t);
}

/* ---- the general code gives it back ---- */

/* What an event needs at most beside its text, and beside what it has already. */
#define MORE_ROOM (PFS_SCHEMA_SIZE + PFS_RARE_SIZE + PFS_LAST_SIZE + PFS_EVENT_UNIT - 1)

/*
 * Is pfs_sql.top the statement that was taken over, and does it have nothing now that a plain one would not have?
 * nest: hooks that are active.
 */
static inline bool
may_come_back(const PfsThread *t, int nest)
{
	const PfsStatement *s = &pfs_sql.top;

	return pfs_sql.top_open && s->statement_id == pfs_plain.statement_id && pfs_digest_charged == s->statement_id &&
		pfs_sql.nest == nest && pfs_sql.open == NULL && !pfs_sql.raised && !pfs_sql.failed &&
		s->phase == PFS_PHASE_EXECUTION && !s->is_fetch && s->next_at == 0 && s->counts == 0 && s->query_id != 0 &&
		s->flags == pfs_plain.flags && s->event != NULL && t->events[PFS_STATEMENTS].depth == 1 &&
		pfs_stages.n == 1 && pfs_stages.items[0].flags == 0 && pfs_plain.more == 0 &&
		pfs_plain_is_on() && (pfs_local.not_usual & ~PFS_SLOW_OVER) == 0 && pfs_open_error.sqlstate == 0 &&
		pfs_digest_rows_used == 0 && !pfs_is_writing(t);
}

/*
 * Its event goes back to where it is going to stay.  Readers see it in its slot until then.
 */
bool
pfs_plain_comes_back(PfsThread *t, PfsPlainState state)
{
	PfsStatement *s = &pfs_sql.top;
	bool		in_call = state == PFS_PLAIN_RUNS;
	bool		comes;

	if (t == NULL || !may_come_back(t, in_call ? 1 : 0))
		return false;
	pfs_write_begin(t);
	comes = pfs_history_room(t, PFS_STATEMENTS, offsetof(PfsStoredStatement, more) + s->event->text_len + MORE_ROOM) != NULL;
	if (likely(comes))
	{
		pfs_statement_examined(s);
		pfs_plain.event = pfs_statement_event_pack(t, s->event);
		pfs_store_release(&t->events[PFS_STATEMENTS].depth, PFS_EVENT_IN_PLACE);	/* C */
		pfs_plain.query = in_call ? s->query : NULL;
		pfs_plain.portal = s->portal;
		pfs_plain.portal_time = s->portal_time;
		pfs_plain.prepared = s->prepared;
		pfs_plain.is_utility = s->query == NULL;
		pfs_plain.stamp = s->stamp.at;
		pfs_plain.message = s->message;
		pfs_plain.passes = false;
		pfs_plain.state = state;
		s->event = NULL;
		s->n = s->own;
		pfs_sql.top_open = false;
		pfs_sql.nest = 0;
		pfs_sql.current = NULL;
		pfs_stages.n = 0;
	}
	pfs_write_end(t);
	return comes;
}

/* ---- the next one of a pipeline ---- */

/* Where it is not for the fast path, nothing is done, and the general code takes the statement before over. */
void
pfs_plain_follows_now(PfsThread *t)
{
	PfsTimestamp end = {Max(pfs_plain.stamp, Max(t->waits[0].timer_end, t->last_reading)), PFS_FLAGS_TIMER(pfs_local.usual)};

	if (pfs_is_writing(t) || pfs_plain.passes || pfs_plain.query != NULL || !pfs_top_next_has_come() || pfs_trigger_depth() != 0)
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
		unlikely(!pfs_stage_first(t, start, PFS_STAGE_PARSE_ANALYZE, pfs_plain.event_id)) &&
		pfs_stage_event_id(pfs_plain.event_id) != 0)
		pfs_local.parent = (PfsParent)
	{
		pfs_stage_event_id(pfs_plain.event_id), PFS_NESTING_STAGE
	};
}

bool
pfs_plain_mark(PfsStageKind kind)
{
	PfsTimestamp now = {pfs_plain_now(), PFS_FLAGS_TIMER(pfs_local.usual)};

	return pfs_stage_mark(pfs_my_thread, kind, now);
}

bool
pfs_plain_starts_stage(void)
{
	if (likely(pfs_plain_mark(pfs_plain.is_utility ? PFS_STAGE_UTILITY : PFS_STAGE_EXECUTOR_START)))
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
		pfs_stage_pop(t, 0, end);
	return true;
}

/* ---- name and start ---- */

/* Can a call at this place be for the statement, with nothing in the way? */
static inline bool
is_clear(const PfsThread *t, uint64 query_id)
{
	return likely((pfs_local.not_usual & ~PFS_SLOW_UNNAMED) == 0 && (pfs_load_relaxed(&t->seq.word) & 1) == 0 &&
				  pfs_open_error.sqlstate == 0 && query_id != 0 && pfs_plain_is_on() && pfs_trigger_depth() == 0);
}

/*
 * Returns where the statement's event is going to stay, with its text, and the rare counters if it
 * gets them; NULL: there is no block.  How long the text is, is asked only where a block may end.
 */
static inline PfsStoredStatement *
find_room(PfsThread *t, const PfsPrepared *known, const char *str, int location, int len)
{
	uint32		fixed = offsetof(PfsStoredStatement, more) + MORE_ROOM;
	const PfsBlockWriter *to = &t->events[PFS_STATEMENTS].finished;
	uint32		text;

	if (likely(pfs_block_has_room(to, fixed + pfs_sizes.sql_text)))
		return (PfsStoredStatement *) to->next;
	if (known != NULL)
		text = known->text_len;
	else if (str == NULL)
		text = 0;
	else if (len > 0 && location >= 0)
		text = Min(len, pfs_sizes.sql_text);
	else
		text = strnlen(str + Max(location, 0), pfs_sizes.sql_text);
	return pfs_history_room(t, PFS_STATEMENTS, fixed + text);
}

/*
 * Returns the record of the prepared statement that this string is of, if its event has the same text: that is a part of
 * the string, without blanks around it and not too long.  NULL: there is none, or it is another one.
 */
static inline const PfsPrepared *
known_text(const PfsPreparedEntry *prepared, const char *str, int location, int len)
{
	const PfsPrepared *p = prepared != NULL ? prepared->record : NULL;

	if (p == NULL || location > 0 || (len > 0 && location < 0) || !(len > 0 ? len == p->text_len : str[p->text_len] == '\0'))
		return NULL;
	return p;
}

/*
 * Gives the statement its name and text: fills in its event, and shows it.  Its transaction is noticed.
 * False: its instrument is not as the others, or there is no room.
 */
static pg_attribute_always_inline bool
name(PfsThread *t, CommandTag tag, uint64 query_id, const PfsPreparedEntry *prepared, const char *str, int location, int len)
{
	PfsInstrumentId instrument = pfs_tag_instrument[tag];
	const PfsPrepared *known = known_text(prepared, str, location, len);
	PfsPair		zero = {0, 0};
	PfsStoredStatement *e;
	uint64		size;

	if (unlikely(instrument == PFS_NO_INSTRUMENT || pfs_wait_flags(t, instrument) != pfs_plain.flags))
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
	e->timer_start = pfs_plain.start;
	e->event_id = pfs_plain.event_id;
	e->nesting_event_id = pfs_plain.parent.event_id;
	e->flags = pfs_plain.flags;
	e->level = 0;
	e->statement_id = pfs_plain.statement_id;
#pragma GCC unroll 3
	for (int i = 0; i < PFS_N_RARE / 2; i++)
		((PfsPair *) e->n)[i] = zero;
	e->query_id = query_id;
	e->database = MyDatabaseId;
	e->user = GetOuterUserId(); /* a function of a parameter may be executed
								 * as its owner */
	e->sqlstate = 0;
	e->message_len = 0;
	e->counts = 0;
	e->plan_origin = 0;
	if (known != NULL)
	{
		e->schema_len = pfs_statement_put_schema(e->more);
		e->text_len = known->text_len;
		memcpy(e->more + e->schema_len, known->text, known->text_len);
	}
	else
		e->text_len = pfs_statement_copy_text(e->more, &e->schema_len, str, location, len);
	size = TYPEALIGN(PFS_EVENT_UNIT, offsetof(PfsStoredStatement, more) + e->schema_len + e->text_len);
	e->kind = instrument | pfs_plain.parent.type << 32 | size / sizeof(uint64) << 48;
	pfs_plain.event = e;
	pfs_plain.is_planned = false;
	pfs_store_release(&t->events[PFS_STATEMENTS].depth, PFS_EVENT_IN_PLACE);	/* C */
	if (pfs_transaction_is_new())
		pfs_transaction_of_plain_begins(t, pfs_plain.start, pfs_plain.event_id);
	pfs_plain.state = PFS_PLAIN_NAMED;
	pfs_write_end(t);
	return true;
}

bool
pfs_plain_is_named(PfsThread *t, const Query *query, const char *str)
{
	/* Of one that others follow in a string the end is watched. */
	return is_clear(t, query->queryId) &&
		(query->commandType != CMD_UTILITY || pfs_plain_may_be_utility(query->utilityStmt)) &&
		pfs_statement_next_at(str, query->stmt_location, query->stmt_len) == 0 &&
		name(t, CreateCommandTag(unconstify(Node *, (const Node *) query)), query->queryId, NULL, str, query->stmt_location,
			 query->stmt_len);
}

/* The command tag of a plan.  The server's function costs more than the answer of those that nearly all are. */
static inline CommandTag
tag_of(const PlannedStmt *stmt)
{
	switch (stmt->commandType)
	{
		case CMD_UPDATE:
			return CMDTAG_UPDATE;
		case CMD_INSERT:
			return CMDTAG_INSERT;
		case CMD_DELETE:
			return CMDTAG_DELETE;
		case CMD_SELECT:
			if (stmt->rowMarks == NIL)
				return CMDTAG_SELECT;
			/* FALLTHROUGH */
		default:
			return CreateCommandTag(unconstify(Node *, (const Node *) stmt));
	}
}

/*
 * Notes that the executor starts the statement's query, or that its utility runs: names it if nothing
 * has yet, as of what was prepared and planned before.  False: it is no plain one, or its digest may have no text.
 */
bool
pfs_plain_starts(PfsThread *t, const PlannedStmt *stmt, uint64 query_id, const char *str, const QueryDesc *query)
{
	Portal		portal = ActivePortal;
	PfsPreparedEntry *prepared;

	if (unlikely(!is_clear(t, query_id) || portal == NULL))
		return false;
	prepared = portal->prepStmtName != NULL ? pfs_prepared_lately(portal->prepStmtName, query_id, portal->creation_time)
		: NULL;
	if (pfs_plain.state == PFS_PLAIN_NAMED)
	{
		/* A pipeline may prepare several. */
		if (unlikely(pfs_plain.event->query_id != query_id))
			return false;
	}

	else if (unlikely(pfs_digest_may_lack_text(query_id)) ||
			 unlikely(!name(t, tag_of(stmt), query_id, prepared, str, stmt->stmt_location, stmt->stmt_len)))
		return false;
	pfs_plain.is_utility = query == NULL;
	if (PFS_HAVE_PLAN_ORIGIN && query != NULL)
		pfs_store_relaxed(&pfs_plain.event->plan_origin, pfs_compat_plan_origin(stmt));
	pfs_plain.query = query;
	pfs_plain.portal = portal;
	pfs_plain.portal_time = portal->creation_time;
	pfs_plain.prepared = prepared;
	pfs_plain.state = PFS_PLAIN_STARTING;
	return true;
}

/*
 * Readers copy the event by its first word: they see the counters when they are there, behind the texts, where
 * find_room() has left room for them.  D: pairs with the acquire in copy_in_place().
 */
uint64 *
pfs_plain_rare(void)
{
	PfsStoredStatement *e = pfs_plain.event;

	if ((e->wide & PFS_WIDE_COUNTERS) == 0)
	{
		uint64		more = (uint64) PFS_WIDE_COUNTERS << 40 | (uint64) (PFS_RARE_SIZE / sizeof(uint64)) << 48;

		memset((char *) e + e->size * sizeof(uint64), 0, PFS_RARE_SIZE);
		pfs_store_release(&e->kind, e->kind + more);	/* D */
	}
	return pfs_stored_rare(e);
}

/* ---- end ---- */

/*
 * Ends the statement: it is counted for its thread and its digest, and for its prepared statement,
 * and goes to the histories.  False: the general code has to.
 */
bool
pfs_plain_ends(PfsThread *t, uint64 now)
{
	PfsStoredStatement *e = pfs_plain.event;
	PfsEvents  *events = &t->events[PFS_STATEMENTS];
	const uint64 *rare = NULL;
	uint64		ticks;

	pfs_fence_signal();
	if (unlikely(pfs_plain.state != PFS_PLAIN_RAN || !pfs_plain_is_on() || (pfs_local.not_usual & ~PFS_SLOW_OVER) != 0 || pfs_digest_rows_used != 0 ||
				 pfs_transaction_is_new()))
		return false;
	ticks = likely(now > e->timer_start) ? now - e->timer_start : 0;
	e->n[PFS_N_LOCK_TIME] = pfs_local.lock_ticks - pfs_plain.lock_ticks;
	if (unlikely(e->wide & PFS_WIDE_COUNTERS))
		rare = pfs_stored_rare(e);
	if (unlikely(pfs_plain.more != 0) && unlikely(!end_more(t, e, now)))
		return false;
	pfs_store_relaxed(&events->depth, 0);
	pfs_digest_count_plain(t, e, rare, (PfsStatementEvent *) pfs_event_slot(events, 0), now, ticks);
	if (pfs_plain.prepared != NULL)
		pfs_prepared_add_usual(pfs_plain.prepared, ticks);
	e->timer_end = now;
	e->end_event_id = t->last_event_id;
	if (likely(e->flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
		pfs_history_done(t, PFS_STATEMENTS, e->size * sizeof(uint64), e->flags);
	pfs_plain.state = PFS_PLAIN_NONE;
	pfs_local.slow &= ~PFS_SLOW_OVER;
	pfs_local.parent = pfs_transaction_parent();
	pfs_digest_charged = 0;
	pfs_local.waits = NULL;
	return true;
}
