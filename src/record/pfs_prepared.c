/*
 * pfs_prepared.c
 *	  Prepared statements: entries of this session, their records, readers and
 *	  truncation.
 *
 * Nobody says when a statement of the protocol is closed, so a session looks for
 * one of its entries each time it becomes idle, in turn.  One that was executed
 * just before is taken to be there, so a session that executes the same
 * ones again and again pays a few instructions.
 *
 * Truncation and owners, as for sockets: the owner makes its sequence word odd and
 * loads `truncations`; who truncates raises it and, behind a fence on all
 * processors, copies each record between two changes of its owner (or, of one that is
 * stopped in the middle of a change, as it is: then the count of one execution is lost).  Counts of an
 * older generation are taken by whoever raises `collected`, once.
 */
#include "postgres.h"

#include <ctype.h>

#include "commands/prepare.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/plancache.h"

#include "pfs_fence.h"
#include "pfs_owned.h"
#include "pfs_prepared.h"
#include "pfs_shared.h"
#include "pfs_event_cell.h"
#include "pfs_statement_open.h"

PFS_NEAR PfsPages *pfs_prepared = NULL;
PFS_NEAR PfsSharedPrepared *pfs_shared_prepared = NULL;
PFS_NEAR uint32 pfs_prepared_count = 0;
PFS_NEAR uint64 pfs_prepared_parses = 0;

#define BUCKETS 256

/* Of this session; allocated outside of the server's memory contexts. */
static PfsPreparedEntry *buckets[BUCKETS];
static PFS_NEAR PfsPreparedEntry *newest = NULL;
static PFS_NEAR PfsPreparedEntry *last_executed = NULL;
static PFS_NEAR PfsPreparedEntry *next_look = NULL;

size_t
pfs_prepared_record_size(void)
{
	return TYPEALIGN(8, offsetof(PfsPrepared, text) + pfs_sizes.sql_text);
}

/* ---- records ---- */

/* Inside a change: counts that were truncated are this process's to give up, or taken. */
static void
begin_generation(PfsPrepared *p)
{
	uint64		now = pfs_load_relaxed(&pfs_words->prepared_truncations);
	uint64		collected = pfs_load_relaxed(&p->collected);

	if (collected <= p->generation && pfs_cas(&p->collected, &collected, now))
		pfs_add_relaxed(&pfs_shared_prepared->left, p->executions.count_timed + p->executions.count_untimed);
	pfs_cell_clear(&p->executions);
	pfs_store_relaxed(&p->generation, now);
}

void
pfs_prepared_add(PfsPreparedEntry *entry, uint32 flags, uint64 ticks)
{
	PfsPrepared *p = entry->record;
	PfsCell    *c;

	if (unlikely(p == NULL))
		return;
	pfs_fence_signal();
	if (unlikely(p->generation != pfs_load_relaxed(&pfs_words->prepared_truncations)))
		begin_generation(p);
	c = &p->executions;
	if (unlikely((flags & PFS_FLAG_TIMED) == 0))
	{
		pfs_bump(&c->count_untimed, 1);
		return;
	}
	if (unlikely(!pfs_is_usual(flags)))
		ticks = pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks);
	if (c->count_timed == 0 || ticks < c->min)
		pfs_store_relaxed(&c->min, ticks);
	if (ticks > c->max)
		pfs_store_relaxed(&c->max, ticks);
	pfs_bump(&c->count_timed, 1);
	pfs_bump(&c->sum, ticks);
}

/* The part of a text that is the statement: as for statements at top level. */
static void
put_text(PfsPrepared *p, const CachedPlanSource *source)
{
	const char *str = source->query_string;
	int			location = source->raw_parse_tree != NULL ? source->raw_parse_tree->stmt_location : 0;
	int			len = source->raw_parse_tree != NULL ? source->raw_parse_tree->stmt_len : 0;
	uint32		max = pfs_sizes.sql_text;

	if (location > 0)
		str += location;
	if (location < 0 || len <= 0)
		len = strlen(str);
	while (len > 0 && isspace((unsigned char) *str))
	{
		str++;
		len--;
	}
	while (len > 0 && isspace((unsigned char) str[len - 1]))
		len--;
	p->text_len = len <= max ? len : pg_mbcliplen(str, len, max);
	memcpy(p->text, str, p->text_len);
}

static void
make_record(PfsThread *t, PfsPreparedEntry *entry, const CachedPlanSource *source)
{
	static uint32 hint = 0;
	PfsPrepared *p;

	entry->index = pfs_pages_allocate(pfs_prepared, &hint);
	if (entry->index == PFS_NO_RECORD)
		return;					/* counted there */
	p = pfs_pages_record(pfs_prepared, entry->index);
	memset(p, 0, offsetof(PfsPrepared, text));
	p->thread_id = t->thread_id;
	p->thread = t->index;
	p->database = MyDatabaseId;
	strlcpy(p->name, entry->name, sizeof(p->name));
	put_text(p, source);
	p->generation = p->collected = pfs_load_relaxed(&pfs_words->prepared_truncations);
	entry->word = pfs_pages_publish(pfs_prepared, entry->index);
	entry->record = p;
}

/* Inside a change. */
static void
drop_record(PfsPreparedEntry *entry)
{
	PfsPrepared *p = entry->record;

	if (p == NULL)
		return;
	if (p->generation != pfs_load_relaxed(&pfs_words->prepared_truncations))
		begin_generation(p);
	entry->record = NULL;
	if (pfs_pages_claim(pfs_prepared, entry->index, entry->word))
		pfs_pages_free(pfs_prepared, entry->index);
}

/* ---- entries ---- */

/* Names are short; what is longer than the server's own keys is cut, as it does. */
static inline uint32
hash_of(const char *name)
{
	uint32		hash = 0;

	for (int i = 0; i < NAMEDATALEN - 1 && name[i] != '\0'; i++)
		hash = hash * 31 + (unsigned char) name[i];
	return hash;
}

static inline bool
has_name(const PfsPreparedEntry *entry, uint32 hash, const char *name)
{
	return entry->hash == hash && strncmp(entry->name, name, NAMEDATALEN - 1) == 0;
}

static void
forget(PfsThread *t, PfsPreparedEntry *entry)
{
	PfsPreparedEntry **link = &buckets[entry->hash % BUCKETS];

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	for (link = &newest; *link != entry;)
		link = &(*link)->older;
	*link = entry->older;
	if (next_look == entry)
		next_look = entry->older;
	/* Who executes it goes on without. */
	if (pfs_sql.top.prepared == entry)
		pfs_sql.top.prepared = NULL;
	for (PfsStatement *s = pfs_sql.open; s != NULL; s = s->next)
	{
		if (s->prepared == entry)
			s->prepared = NULL;
	}
	pfs_prepared_count--;
	pfs_change_begin(t);
	drop_record(entry);
	pfs_change_end(t);
	if (last_executed == entry)
		last_executed = NULL;
	free(entry);
}

void
pfs_prepared_closed(PfsThread *t, const char *name)
{
	PfsPreparedEntry *older;

	if (pfs_is_changing(t))
		return;
	for (PfsPreparedEntry *e = newest; e != NULL; e = older)
	{
		older = e->older;
		if (name == NULL || strcmp(e->name, name) == 0)
			forget(t, e);
	}
}

/* Does the server still have it under this name? */
static bool
is_there(const PfsPreparedEntry *entry)
{
	const PreparedStatement *statement = FetchPreparedStatement(entry->name, false);

	return statement != NULL && statement->plansource->query_string == entry->source &&
		statement->prepare_time == entry->time;
}

static bool
is_wanted(PfsThread *t)
{
	return pfs_prepared != NULL && pfs_prepared->records_max > 0 && !pfs_is_changing(t) &&
		(pfs_class_flags(t, PFS_CLASS_STATEMENT) & PFS_FLAG_ENABLED) != 0;
}

/* One that was not known: whatever had its name is closed. */
static PfsPreparedEntry *
make_entry(PfsThread *t, const char *name)
{
	char		cut[NAMEDATALEN];
	const PreparedStatement *statement;
	PfsPreparedEntry *entry;

	/* As the server's own table does. */
	strlcpy(cut, name, sizeof(cut));
	pfs_prepared_closed(t, cut);
	statement = FetchPreparedStatement(cut, false);
	if (statement == NULL || (entry = calloc(1, sizeof(PfsPreparedEntry))) == NULL)
		return NULL;
	strlcpy(entry->name, cut, sizeof(entry->name));
	entry->source = statement->plansource->query_string;
	entry->time = statement->prepare_time;
	entry->parses = pfs_prepared_parses;
	make_record(t, entry, statement->plansource);
	entry->hash = hash_of(cut);
	entry->next = buckets[entry->hash % BUCKETS];
	buckets[entry->hash % BUCKETS] = entry;
	entry->older = newest;
	newest = entry;
	pfs_prepared_count++;
	return entry;
}

void
pfs_prepared_made(PfsThread *t, const char *name)
{
	if (is_wanted(t))
		(void) make_entry(t, name);
}

void
pfs_prepared_execute(PfsThread *t, PfsStatement *s, const char *name)
{
	PfsPreparedEntry *entry = last_executed;
	uint32		hash;

	/* The same as the last time, and nothing was parsed since? */
	if (likely(entry != NULL && entry->parses == pfs_prepared_parses && strcmp(entry->name, name) == 0))
	{
		entry->executed = true;
		s->prepared = entry;
		return;
	}
	hash = hash_of(name);
	entry = buckets[hash % BUCKETS];
	while (entry != NULL && !has_name(entry, hash, name))
		entry = entry->next;
	/* Closed, and another one has its name? */
	if (entry != NULL && unlikely(entry->parses != pfs_prepared_parses))
	{
		entry->parses = pfs_prepared_parses;
		if (!is_there(entry))
			entry = NULL;
	}
	if (unlikely(entry == NULL))
	{
		if (!is_wanted(t))
			return;
		entry = make_entry(t, name);
		if (entry == NULL)
			return;
	}
	entry->executed = true;
	s->prepared = last_executed = entry;
}

void
pfs_prepared_look(PfsThread *t)
{
	PfsPreparedEntry *entry = next_look != NULL ? next_look : newest;

	next_look = entry->older;
	if (entry->executed)
	{
		entry->executed = false;
		return;
	}
	if (!pfs_is_changing(t) && !is_there(entry))
		forget(t, entry);
}

void
pfs_prepared_detach(void)
{
	for (PfsPreparedEntry *e = newest; e != NULL; e = e->older)
		drop_record(e);
	newest = next_look = last_executed = NULL;
	memset(buckets, 0, sizeof(buckets));
	pfs_prepared_count = 0;
}

/* ---- readers ---- */

static bool
copy_record(uint32 index, uint64 word, PfsPrepared *copy, PfsPatience *patience)
{
	const PfsPrepared *p = pfs_pages_record(pfs_prepared, index);

	return pfs_owned_copy(pfs_prepared, index, word, &p->thread, copy, pfs_prepared_record_size(), patience);
}

void
pfs_prepared_each(uint64 thread_id, PfsPreparedEmit emit, void *arg)
{
	PfsPatience patience = {0};
	PfsPrepared *copy;
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	if (pfs_prepared == NULL)
		return;
	copy = palloc(pfs_prepared_record_size());
	pfs_turn_take(PFS_TURN_PREPARED, false);
	while ((index = pfs_pages_next(pfs_prepared, &pos, &word)) != PFS_NO_RECORD)
	{
		CHECK_FOR_INTERRUPTS();
		if (!copy_record(index, word, copy, &patience) || (thread_id != 0 && copy->thread_id != thread_id))
			continue;
		if (copy->generation < copy->collected)
			memset(&copy->executions, 0, sizeof(copy->executions));
		emit(copy, arg);
	}
	pfs_turn_give(PFS_TURN_PREPARED, false);
	pfs_patience_end(&patience);
	pfree(copy);
}

double
pfs_prepared_estimate(void)
{
	PfsPagesStats stats;

	if (pfs_prepared == NULL)
		return 0;
	pfs_pages_stats(pfs_prepared, &stats);
	return stats.records_used;
}

/*
 * The counts of one record, if nobody else has taken them.  If the compare-and-swap
 * fails its owner has, or it has changed hands: that is seen at the next round.
 */
static uint64
collect(uint32 index, uint64 word, uint64 generation, PfsPrepared *copy, PfsPatience *patience)
{
	PfsPrepared *p = pfs_pages_record(pfs_prepared, index);

	while (copy_record(index, word, copy, patience))
	{
		uint64		collected = copy->collected;

		if (copy->generation >= generation || collected > copy->generation)
			return 0;
		if (pfs_cas(&p->collected, &collected, generation))
			return copy->executions.count_timed + copy->executions.count_untimed;
	}
	return 0;
}

int64
pfs_prepared_truncate(void)
{
	PfsPatience patience = {.of_reset = true};
	PfsPrepared *copy;
	uint64		generation;
	uint64		left = 0;
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	if (pfs_prepared == NULL)
		return 0;
	copy = palloc(pfs_prepared_record_size());
	pfs_turn_take(PFS_TURN_PREPARED, true);
	HOLD_INTERRUPTS();
	pfs_exchange(&pfs_shared_prepared->left, 0);
	generation = pfs_add_seqcst(&pfs_words->prepared_truncations, 1) + 1;
	pfs_fence_everywhere();
	while ((index = pfs_pages_next(pfs_prepared, &pos, &word)) != PFS_NO_RECORD)
		left += collect(index, word, generation, copy, &patience);
	left += pfs_exchange(&pfs_shared_prepared->left, 0);
	RESUME_INTERRUPTS();
	pfs_turn_give(PFS_TURN_PREPARED, true);
	pfs_patience_end(&patience);
	pfree(copy);
	return (int64) left;
}
