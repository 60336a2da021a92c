/*
 * pfs_nested.c
 *	  Open nested statements of this process: which there are, how each is found,
 *	  and which of them readers see.
 *
 * A session can have a hundred thousand cursors, each with an open statement, and
 * these need not end in the order in which they began.  So nothing here walks
 * over all of them for one:
 *
 * - All open ones are a list, newest first.  Their numbers (statement_id) fall
 *   along it, so those that began in a subtransaction are its first ones: those
 *   with larger numbers than the last one that was given when the subtransaction
 *   began.  From pfs_sql.left on they are older than the statement at top level.
 * - A statement knows those that began directly inside it, which go to the one
 *   around it when it ends.
 * - The executor's descriptor leads to its statement by an index.
 * - Those that are only planned so far are a list of their own, newest first.  A
 *   planning drops those with as many hooks around them or more, so these
 *   numbers of hooks fall along it, too.
 *
 * A thread has PFS_STATEMENT_DEPTH slots in which readers see running statements.
 * A cursor that is not being read needs none: it keeps its slot until another
 * statement wants one and none is free, and has one again when it is read.  So
 * what is being executed comes before what is only open.
 *
 * Separate from pfs_statement_nest.c, which decides when nested statements begin and end:
 * here are only the lists, the index and the choice of which are shown.
 *
 * Statements lie in a pool of private memory, which grows before a call's write
 * section begins (pfs_nested_grow()).
 */
#include "postgres.h"

#include "pfs_hash.h"
#include "pfs_statement_open.h"

/*
 * No session comes to so many: the server takes 8 kB and more for a cursor.  Those
 * beyond are counted as lost.
 */
#define NESTED_MAX (1 << 20)

static PfsPool pool = PFS_POOL_INIT(sizeof(PfsStatement), NESTED_MAX);
static PfsIndex by_query;

/* Nested ones that have a slot, the one that got it first in front. */
static PFS_HOT_STRUCT PfsStatement *shown[PFS_STATEMENT_DEPTH];
static PFS_HOT uint32 nshown;

/* ---- room, outside of write sections ---- */

void
pfs_nested_grow(void)
{
	if (likely(pfs_pool_has_room(&pool) && pfs_index_has_room(&by_query)))
		return;
	(void) pfs_pool_grow(&pool);
	pfs_index_resize(&by_query);
}

void
pfs_nested_shrink(void)
{
	if (pfs_sql.open != NULL)
		return;
	pfs_pool_shrink(&pool);
	if (unlikely(by_query.buckets != NULL))
		pfs_index_resize(&by_query);
}

/* ---- the lists ---- */

/*
 * Makes `outer` the statement around s.  Only statements that are nested themselves
 * have a list of what began inside them: the one at top level needs none, see
 * pfs_nested_leave().
 */
static void
add_inner(PfsStatement *outer, PfsStatement *s)
{
	s->outer = outer;
	if (outer != NULL && outer != &pfs_sql.top)
		dlist_push_head(&outer->inner, &s->in_outer);
}

static void
remove_inner(PfsStatement *s)
{
	if (s->outer != NULL && s->outer != &pfs_sql.top)
		dlist_delete(&s->in_outer);
}

PfsStatement *
pfs_nested_claim(void)
{
	return pfs_pool_claim(&pool);
}

void
pfs_nested_put(PfsStatement *s)
{
	pfs_pool_put(&pool, s);
}

/*
 * Puts a statement that begins into the lists: it is the newest open one, inside
 * `outer` (NULL: inside none).  The caller has taken it by pfs_nested_claim() and fills
 * in all else.
 */
void
pfs_nested_add(PfsStatement *s, PfsStatement *outer)
{
	dlist_init(&s->inner);
	s->planned_before = NULL;
	s->planned.flags = 0;
	s->call_nest = 0;
	s->left = false;
	add_inner(outer, s);
	s->newer_open = NULL;
	s->older_open = pfs_sql.open;
	if (pfs_sql.open != NULL)
		pfs_sql.open->newer_open = s;
	pfs_sql.open = s;
}

/*
 * Takes a statement off the list of those that are only planned.  It is found by
 * walking, but is nearly always the first: in front of it are only those of calls that
 * an error has cut off.
 */
static void
remove_planned(PfsStatement *s)
{
	PfsStatement **at = &pfs_sql.planned;

	while (*at != s)
		at = &(*at)->planned_before;
	*at = s->planned_before;
}

/*
 * Takes a statement off the list of those with a call.  It is found by walking, but is nearly
 * always the first: in front of it are only older cursors that it was reading.
 */
static void
remove_called(PfsStatement *s)
{
	PfsStatement **at = &pfs_sql.called;

	while (*at != s)
		at = &(*at)->called_before;
	*at = s->called_before;
	s->call_nest = 0;
}

/* Notes that a call for a statement begins, with so many hooks active, its own included. */
void
pfs_nested_call_begin(PfsStatement *s, int nest)
{
	pfs_nested_calls_end(nest);
	/* One has been cut off, by an error for which nothing was rolled back. */
	if (unlikely(s->call_nest != 0))
		remove_called(s);
	s->call_nest = nest;
	s->called_before = pfs_sql.called;
	pfs_sql.called = s;
}

/*
 * Takes a statement that has ended, or was none, out of all lists, and gives its memory
 * back to the pool.  The statements inside it are inside the one around it from then
 * on.  The caller has ended or dropped its event and its stage; its pointer is not
 * valid any more.
 */
void
pfs_nested_remove(PfsStatement *s)
{
	if (s->phase == PFS_PHASE_PLAN)
		remove_planned(s);
	if (s->call_nest != 0)
		remove_called(s);
	if (s->query != NULL)
		pfs_index_remove(&by_query, &s->by_query);
	pfs_nested_hide(s);
	while (!dlist_is_empty(&s->inner))
		add_inner(s->outer, dlist_container(PfsStatement, in_outer, dlist_pop_head_node(&s->inner)));
	remove_inner(s);
	if (s->newer_open != NULL)
		s->newer_open->older_open = s->older_open;
	else
		pfs_sql.open = s->older_open;
	if (s->older_open != NULL)
		s->older_open->newer_open = s->newer_open;
	if (pfs_sql.left == s)
		pfs_sql.left = s->older_open;
	if (pfs_sql.current == s)
		pfs_sql.current = s->outer;
	pfs_credit_release(&s->credit);
	pfs_pool_put(&pool, s);
}

/*
 * Takes a statement, as its outer one ends, out of that one's list: it is nested in
 * nothing from now on, for readers, too.
 */
void
pfs_nested_leave_outer(PfsStatement *s)
{
	remove_inner(s);
	add_inner(NULL, s);
	s->left = true;
	/* While it was inside of another one that is what readers saw. */
	if (s->event != NULL)
	{
		s->event->nesting_type = PFS_NESTING_NONE;
		s->event->counts |= PFS_HAS_LEFT;
	}
}

/*
 * What the planner and the executor's start have to have in common, if it is one statement: the
 * identifier of the query; without one the text, and the kind of the command, which is all that
 * tells apart those of a function of standard SQL.
 */
static uint64
plan_key(const PfsStatementSource *source)
{
	const char *str = source->str != NULL ? source->str : "";
	bool		is_part = source->len > 0 && source->location >= 0;

	if (likely(source->query_id != 0))
		return source->query_id;
	str += Max(source->location, 0);
	return pfs_hash_bytes(str, is_part ? source->len : strlen(str)) + source->command;
}

void
pfs_nested_set_planned(PfsStatement *s, const PfsStatementSource *source)
{
	s->phase = PFS_PHASE_PLAN;
	s->plan_key = plan_key(source);
	if (s->event != NULL)
		s->event->counts |= PFS_ONLY_PLANNED;
	s->planned_before = pfs_sql.planned;
	pfs_sql.planned = s;
}

/*
 * Notes that a statement is executed, by the executor's descriptor that later calls
 * find it by.
 */
void
pfs_nested_set_query(PfsStatement *s, const void *query)
{
	if (s->phase == PFS_PHASE_PLAN)
		remove_planned(s);
	if (s->event != NULL)
		s->event->counts &= ~PFS_ONLY_PLANNED;
	s->phase = PFS_PHASE_EXECUTION;
	s->query = query;
	pfs_index_add(&by_query, &s->by_query, (uintptr_t) query);
}

PfsStatement *
pfs_nested_find(const void *query)
{
	PfsIndexLink *link = pfs_index_find(&by_query, (uintptr_t) query);

	return link == NULL ? NULL : (PfsStatement *) ((char *) link - offsetof(PfsStatement, by_query));
}

/*
 * Returns the statement that a start of the executor is going to execute: the one that
 * was planned last with as many hooks around it, if it is that of the source; NULL: there is
 * none.  Statements with more hooks around them are of calls that an error has cut off.
 */
PfsStatement *
pfs_nested_find_planned(const PfsStatementSource *source)
{
	PfsStatement *s = pfs_sql.planned;

	while (s != NULL && s->nest > pfs_sql.nest)
		s = s->planned_before;
	return s != NULL && s->nest == pfs_sql.nest && s->plan_key == plan_key(source) ? s : NULL;
}

/* ---- slots ---- */

void
pfs_nested_show(PfsStatement *s)
{
	shown[nshown++] = s;
}

/*
 * Notes that a statement has given up its slot.  It is looked for from the newest on,
 * as most end in the order opposite to that of their begin.
 */
void
pfs_nested_hide(PfsStatement *s)
{
	for (uint32 i = nshown; i > 0; i--)
	{
		if (shown[i - 1] != s)
			continue;
		memmove(&shown[i - 1], &shown[i], (nshown - i) * sizeof(shown[0]));
		nshown--;
		return;
	}
}

/*
 * Is it a cursor that nobody is reading?  A call that an error has cut off leaves its
 * number of hooks behind until as many are active again.
 */
static bool
is_waiting(const PfsStatement *s)
{
	return s->query != NULL && (s->call_nest == 0 || s->call_nest > pfs_sql.nest);
}

/*
 * Takes the slot away from the cursor that has had one for longest and that is not
 * being read, for a statement that wants one.  False: all slots belong to statements
 * that are being executed.
 */
bool
pfs_nested_free_slot(PfsThread *t)
{
	for (uint32 i = 0; i < nshown; i++)
	{
		if (!is_waiting(shown[i]))
			continue;
		pfs_statement_leave_event(t, shown[i]);
		return true;
	}
	return false;
}

/*
 * Gives a cursor a slot again, when it is read and had to give its own away.  It is the
 * same event as before: with its event_id, its counters, and its text from `source`.  If
 * no slot is free, it goes on without one, and is recorded at its end all the same.
 * The caller knows that it had a slot, and has none.
 */
void
pfs_nested_show_again(PfsThread *t, PfsStatement *s, const PfsStatementSource *source)
{
	PfsStatementEvent *e;

	/* The event keeps the event_id that it has. */
	e = pfs_statement_make_event(t, s, s->flags & ~PFS_FLAG_CURRENT);
	if (e == NULL)
		return;
	memcpy(e->n, s->own, sizeof(s->own));
	e->flags = s->flags;
	e->event_id = s->event_id;
	e->sqlstate = s->sqlstate;
	if (s->left)
	{
		e->nesting_type = PFS_NESTING_NONE;
		e->counts |= PFS_HAS_LEFT;
	}
	pfs_statement_put_text(e, source->str, source->location, source->len);
	s->event = e;
	pfs_event_show(t, PFS_STATEMENTS);
	pfs_nested_show(s);
}
