/*
 * pfs_prepared.c
 *	  Prepared statements: entries of this session, and their records.
 *
 * Separate from pfs_prepared_read.c, which has readers and truncation, as everything here
 * is done by the owner, in hooks and at idle waits.
 *
 * Nobody says when a statement of the protocol is closed, so a session looks for
 * one of its entries each time it becomes idle, in turn.  One that was executed just
 * before is taken to be there, so a session that executes the same ones again and again
 * pays a few instructions.
 *
 * Truncation and owners.  A record has counts of two generations, of which an owner writes those of the
 * present one: it makes its sequence word odd, loads pfs_words->prepared_truncations, and takes the counts
 * of that parity, cleared if they are older.  Who truncates raises the word and, behind a fence on all
 * processors, copies each record between two write sections of its owner (or, of one that is stopped
 * in the middle of a write section, as it is: then the count of one execution is lost).  From
 * there on nobody writes the counts of the generation before, until the word is raised once more; and
 * that is not before this truncator has read them, as truncators take turns.
 */
#include "postgres.h"

#include "commands/prepare.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/plancache.h"

#include "pfs_compat_hooks.h"
#include "pfs_hash.h"
#include "pfs_prepared.h"
#include "pfs_shared.h"
#include "pfs_event_cell.h"
#include "pfs_statement_open.h"

PFS_FIXED PfsPages *pfs_prepared = NULL;

/* Records of one page. */
#define PREPARED_PER_PAGE 64

PFS_HOT_FIRST uint32 pfs_prepared_count = 0;

/*
 * No session comes to so many: the server takes some kB for each.  Those beyond
 * have no row, and are counted as lost.
 */
#define ENTRIES_MAX (1 << 20)

/* Of this session. */
static PfsPool entries = PFS_POOL_INIT(sizeof(PfsPreparedEntry), ENTRIES_MAX);

/*
 * Where the first entry lies, while it is used: many a session executes one statement only,
 * and then needs no page more than the variables' own.
 */
static PFS_HOT_STRUCT PfsPreparedEntry first_entry;
static bool first_entry_used = false;

static PfsIndex by_name;
static PFS_HOT_FIRST PfsPreparedEntry *newest = NULL;

PFS_HOT_STRUCT PfsPreparedEntry *pfs_executed_lately[PFS_EXECUTED_LATELY];
static PFS_HOT_FIRST PfsPreparedEntry *next_look = NULL;

/* Looks beside the one at each idle wait: two for each entry that was made, see look_at_next(). */
static PFS_HOT_FIRST uint32 looks_due = 0;

size_t
pfs_prepared_record_size(void)
{
	return TYPEALIGN(PFS_CACHE_LINE, offsetof(PfsPrepared, text) + pfs_sizes.sql_text);
}

void
pfs_prepared_lay_out(PfsSegment *seg)
{
	pfs_prepared = pfs_pages_create(seg, "prepared_statements_instances", pfs_prepared_record_size(),
									pfs_sizes.prepared, PREPARED_PER_PAGE);
}

void
pfs_prepared_start(void)
{
	/* Not 0, which a record's page reads as when it has been given back. */
	pfs_words->prepared_truncations = 1;
}

/* ---- records ---- */

/*
 * Counts an execution, when the statement that executes the entry ends, by the
 * statement's time; of a fetch the time alone.  Inside the owner's write section.  Without a record, as there was no
 * room or the statement is closed, nothing is counted.
 */
void
pfs_prepared_add(PfsPreparedEntry *entry, uint32 flags, uint64 ticks, bool is_fetch)
{
	PfsCounts  *executions;

	if (unlikely(entry->record == NULL))
		return;
	executions = &pfs_prepared_counts(entry->record)->executions;
	if (unlikely((flags & PFS_FLAG_TIMED) == 0))
	{
		executions->untimed += is_fetch ? 0 : 1;
		return;
	}
	if (unlikely(!pfs_is_usual(flags)))
		ticks = pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks);
	if (unlikely(is_fetch))
		executions->sum += ticks;
	else
		pfs_prepared_add_usual(entry, ticks);
}

/*
 * Writes the text of the statement into its record: the part of the server's text that
 * the parser has found, without white space around it, as for statements at top level.
 * A text that is too long is cut between characters.
 */
static void
put_text(PfsPrepared *p, const CachedPlanSource *source)
{
	int			location = source->raw_parse_tree != NULL ? source->raw_parse_tree->stmt_location : 0;
	int			len = source->raw_parse_tree != NULL ? source->raw_parse_tree->stmt_len : 0;
	const char *str = CleanQuerytext(source->query_string, &location, &len);
	uint32		max = pfs_sizes.sql_text;

	p->text_len = len <= max ? len : pg_mbcliplen(str, len, max);
	memcpy(p->text, str, p->text_len);
}

/*
 * Makes the shared record of an entry and publishes it.  Without room the entry has
 * none, and its executions are not counted; the container has counted the loss.  The
 * user is stored only for one that was made inside another statement, whose role in
 * effect may be another than the session's.
 */
static void
make_record(PfsThread *t, PfsPreparedEntry *entry, const CachedPlanSource *source, bool nested)
{
	static uint32 hint = 0;
	uint32		index = pfs_pages_allocate(pfs_prepared, &hint);
	PfsPrepared *p;

	if (index == PFS_NO_RECORD)
		return;					/* counted there */
	p = pfs_pages_record(pfs_prepared, index);
	memset(p, 0, offsetof(PfsPrepared, text));
	p->thread_id = t->thread_id;
	p->thread = t->index;
	p->database = MyDatabaseId;
	p->user = nested ? GetUserId() : InvalidOid;
	strlcpy(p->name, entry->name, sizeof(p->name));
	put_text(p, source);
	(void) pfs_pages_publish(pfs_prepared, index);
	entry->record = p;
}

/* Frees the record of an entry that is closed.  Inside a write section. */
static void
drop_record(PfsPreparedEntry *entry)
{
	if (entry->record == NULL)
		return;
	pfs_pages_discard(pfs_prepared, entry->record);
	entry->record = NULL;
}

/* ---- entries ---- */

/* What is longer than the server's own keys is cut, as it does. */
static inline uint64
hash_of(const char *name)
{
	return pfs_hash_bytes(name, strnlen(name, NAMEDATALEN - 1));
}

/* The entry of a name; NULL: it has none.  There are never two. */
static PfsPreparedEntry *
find_entry(const char *name)
{
	uint64		hash = hash_of(name);
	PfsPreparedEntry *entry;

	for (PfsIndexLink *link = pfs_index_find(&by_name, hash); link != NULL; link = pfs_index_next(link->next, hash))
	{
		entry = (PfsPreparedEntry *) ((char *) link - offsetof(PfsPreparedEntry, by_name));
		if (strncmp(entry->name, name, NAMEDATALEN - 1) == 0)
			return entry;
	}
	return NULL;
}

/* Memory for an entry, of any content; NULL: there is none. */
static PfsPreparedEntry *
take_entry(void)
{
	if (!first_entry_used)
	{
		first_entry_used = true;
		return &first_entry;
	}
	return pfs_pool_grow(&entries) ? pfs_pool_claim(&entries) : NULL;
}

static void
put_entry(PfsPreparedEntry *entry)
{
	if (entry == &first_entry)
		first_entry_used = false;
	else
		pfs_pool_put(&entries, entry);
}

/*
 * Removes an entry whose statement the session has closed, and its record; its memory
 * goes back when nested statements that execute it have ended.  Outside of write
 * sections: it is one of its own.
 */
static void
forget(PfsThread *t, PfsPreparedEntry *entry)
{
	pfs_index_remove(&by_name, &entry->by_name);
	if (entry->newer != NULL)
		entry->newer->older = entry->older;
	else
		newest = entry->older;
	if (entry->older != NULL)
		entry->older->newer = entry->newer;
	if (next_look == entry)
		next_look = entry->older;
	for (int i = 0; i < PFS_EXECUTED_LATELY; i++)
	{
		if (pfs_executed_lately[i] == entry)
			pfs_executed_lately[i] = NULL;
	}
	if (pfs_sql.top.credit.prepared == entry)
		pfs_sql.top.credit.prepared = NULL;
	pfs_prepared_count--;
	pfs_write_begin(t);
	drop_record(entry);
	pfs_write_end(t);
	/* Nested statements that execute it count no more, but still know it. */
	entry->closed = true;
	if (entry->users == 0)
		put_entry(entry);
	if (newest == NULL)
	{
		pfs_pool_shrink(&entries);
		pfs_index_resize(&by_name);
	}
}

void
pfs_prepared_release(PfsPreparedEntry *entry)
{
	if (--entry->users == 0 && entry->closed)
		put_entry(entry);
}

/*
 * Removes the entry of a name, or of all names (NULL), after DEALLOCATE or DISCARD, and
 * where another statement takes the name.  A process inside a write section keeps them,
 * and notices later, at an idle wait, that they are closed.
 */
void
pfs_prepared_closed(PfsThread *t, const char *name)
{
	if (pfs_is_writing(t))
		return;
	if (name != NULL)
	{
		PfsPreparedEntry *entry = find_entry(name);

		if (entry != NULL)
			forget(t, entry);
		return;
	}
	while (newest != NULL)
		forget(t, newest);
}

/* Does the server still have it under this name? */
static bool
is_there(const PfsPreparedEntry *entry)
{
	const PreparedStatement *statement = FetchPreparedStatement(entry->name, false);

	return statement != NULL && statement->plansource->query_string == entry->source &&
		statement->prepare_time == entry->time;
}

/*
 * Makes an entry for one that was not known; whatever had its name is closed.
 * nested: what made it is not at top level.  NULL: none are collected for this thread or
 * can be made now, the server has none of this name, or there is no memory.
 */
static PfsPreparedEntry *
make_entry(PfsThread *t, const char *name, bool nested)
{
	char		cut[NAMEDATALEN];
	const PreparedStatement *statement;
	PfsPreparedEntry *entry;

	if (pfs_prepared->records_max == 0 || pfs_is_writing(t) ||
		(pfs_class_flags(t, PFS_CLASS_STATEMENT) & PFS_FLAG_ENABLED) == 0)
		return NULL;
	/* As the server's own table does. */
	strlcpy(cut, name, sizeof(cut));
	pfs_prepared_closed(t, cut);
	statement = FetchPreparedStatement(cut, false);
	if (statement == NULL)
		return NULL;
	if (!pfs_index_has_room(&by_name))
		pfs_index_resize(&by_name);
	entry = take_entry();
	if (entry == NULL)
	{
		pfs_pages_count_lost(pfs_prepared);
		return NULL;
	}
	memset(entry, 0, sizeof(*entry));
	strlcpy(entry->name, cut, sizeof(entry->name));
	entry->source = statement->plansource->query_string;
	entry->time = statement->prepare_time;
	entry->parses = pfs_texts_parsed;
	make_record(t, entry, statement->plansource, nested);
	pfs_index_add(&by_name, &entry->by_name, hash_of(cut));
	entry->older = newest;
	if (newest != NULL)
		newest->newer = entry;
	newest = entry;
	pfs_prepared_count++;
	looks_due += 2;
	return entry;
}

void
pfs_prepared_made(PfsThread *t, const char *name)
{
	(void) make_entry(t, name, pfs_sql.nest > 0);
}

/* The statement is going to be counted for the entry, while that is not closed. */
static inline void
set_executes(PfsStatement *s, PfsPreparedEntry *entry)
{
	if (unlikely(s != &pfs_sql.top))
	{
		if (s->credit.prepared != NULL)
			pfs_prepared_release(s->credit.prepared);
		entry->users++;
	}
	s->credit.prepared = entry;
}

/* Finds the entry of this name, or makes it. */
static pg_noinline PfsPreparedEntry *
find_executed(PfsThread *t, const char *name, bool nested)
{
	PfsPreparedEntry *entry = find_entry(name);

	/* Closed, and another one has its name? */
	if (entry != NULL && unlikely(entry->parses != pfs_texts_parsed))
	{
		entry->parses = pfs_texts_parsed;
		if (!is_there(entry))
			entry = NULL;
	}
	return entry != NULL ? entry : make_entry(t, name, nested);
}

/*
 * Returns the entry of the prepared statement that is executed, by a statement of this query identifier and a portal that
 * was made then; NULL: there is no memory for one, or another statement has its name by now.  An entry is made for one of the protocol, at its first execution.  The same one executed
 * again, with nothing parsed since, costs a comparison of names; behind a parse, the entry is checked against the
 * server's own table, as another statement may have taken its name.
 */
PfsPreparedEntry *
pfs_prepared_executed(PfsThread *t, const char *name, uint64 query_id, int64 portal_time, bool nested)
{
	PfsPreparedEntry *entry = pfs_prepared_lately(name, query_id, portal_time);

	if (unlikely(entry == NULL))
	{
		entry = find_executed(t, name, nested);
		pfs_executed_lately[query_id % PFS_EXECUTED_LATELY] = entry;
		if (entry == NULL || entry->time > portal_time)
			return NULL;
	}
	entry->executed = true;
	return entry;
}

PfsPreparedEntry *
pfs_prepared_executed_by_sql(PfsThread *t, const char *name, bool is_parsed, bool nested)
{
	size_t		len = strlen(name);
	uint64		place = len > 0 ? (uint8) name[len - 1] + len : 0;
	PfsPreparedEntry *entry = pfs_executed_lately[place % PFS_EXECUTED_LATELY];

	/* The text of an EXECUTE has given no name to anything. */
	if (is_parsed && entry != NULL && entry->parses + 1 == pfs_texts_parsed)
		entry->parses = pfs_texts_parsed;
	return pfs_prepared_executed(t, name, place, PG_INT64_MAX, nested);
}

void
pfs_prepared_execute(PfsStatement *s, PfsPreparedEntry *entry)
{
	if (entry != NULL)
		set_executes(s, entry);
}

/* Forgets an entry whose statement is not there any more. */
static pg_noinline void
look_at(PfsThread *t, PfsPreparedEntry *entry)
{
	if (!pfs_is_writing(t) && !is_there(entry))
		forget(t, entry);
}

/*
 * The statement at top level executes a portal, or reads its next part.  That was made by a prepared one of this name:
 * another one can have its name by now.
 */
void
pfs_prepared_top_executes(PfsThread *t, const PortalData *portal)
{
	PfsStatement *s = &pfs_sql.top;
	PfsPreparedEntry *entry = s->is_fetch ? find_entry(portal->prepStmtName)
	: pfs_prepared_executed(t, portal->prepStmtName, s->query_id, portal->creation_time, false);

	if (entry != NULL && entry->time <= portal->creation_time)
		set_executes(s, entry);
}

/*
 * Looks at the next entry in turn.  One that was executed since the last look is known to be there;
 * so it may take two looks.
 */
static inline void
look_at_next(PfsThread *t)
{
	PfsPreparedEntry *entry = next_look != NULL ? next_look : newest;

	next_look = entry->older;
	if (likely(entry->executed))
		entry->executed = false;
	else
		look_at(t, entry);
}

/* Looks at so many entries, while there are some. */
static pg_noinline void
look_at_more(PfsThread *t, uint32 looks)
{
	for (; looks > 0 && newest != NULL; looks--)
		look_at_next(t);
}

/*
 * Looks at some entries when the session becomes idle; the caller knows that there is one.
 * As more looks follow than entries are made, a session that closes each statement soon has
 * few entries of closed ones, however many it makes.  Two looks at each are enough.
 */
void
pfs_prepared_look(PfsThread *t)
{
	if (likely(looks_due == 0))
		look_at_next(t);
	else
	{
		uint32		looks = Min(1 + looks_due, 2 * pfs_prepared_count);

		looks_due = 0;
		look_at_more(t, looks);
	}
}

void
pfs_prepared_detach(PfsThread *t)
{
	for (PfsPreparedEntry *e = newest; e != NULL; e = e->older)
		drop_record(e);
	newest = next_look = NULL;
	memset(pfs_executed_lately, 0, sizeof(pfs_executed_lately));
	memset(&by_name, 0, sizeof(by_name));
	pfs_prepared_count = 0;
}
