/*
 * pfs_prepared.h
 *	  Prepared statements of living sessions: those of PREPARE, and those of the
 *	  protocol from their first execution.
 *
 * A session keeps a private entry for each, found by its name, and a shared record,
 * which only it writes.  An execution is counted when its statement ends, with the
 * statement's time.
 *
 * Separate from pfs_statement.h: these records outlive the executions that are counted in
 * them.
 */
#ifndef PFS_PREPARED_H
#define PFS_PREPARED_H

#include "utils/portal.h"

#include "pfs_cell.h"
#include "pfs_imports.h"
#include "pfs_local.h"
#include "pfs_pages.h"
#include "pfs_plain_state.h"
#include "pfs_private.h"
#include "pfs_statement.h"

/* Executions since one TRUNCATE. */
typedef struct PfsPreparedCounts
{
	uint64		generation;		/* the kind's object_truncations behind that
								 * one; not 0, as which a page reads that has
								 * been given back */
	PfsCounts	executions;		/* by the timer's class, ticks of the default
								 * timer */
} PfsPreparedCounts;

/* In shared memory.  Behind the struct lies the text.  An execution writes one line, and reads the text. */
typedef struct PfsPrepared
{
	/* Written before the record is published. */
	char		name[NAMEDATALEN];
	uint64		thread_id;
	uint32		thread;			/* index of the thread's record */
	Oid			database;

	/*
	 * By the low bit of the generation; the owner, inside write sections. In
	 * a reader's copy the first one has the present counts.
	 */
	PfsPreparedCounts counts[2];

	/* As the first ones. */
	uint32		text_len;
	Oid			user;			/* made inside another statement: role in
								 * effect then; else InvalidOid */
	char		text[FLEXIBLE_ARRAY_MEMBER];
} PfsPrepared;

StaticAssertDecl(offsetof(PfsPrepared, counts[1]) == 2 * PFS_CACHE_LINE, "an execution writes one line");

extern PfsPages *pfs_prepared;	/* NULL when pfs is off */

/* Bytes of a record with pfs_sizes. */
extern size_t pfs_prepared_record_size(void);

/* A session's own.  What an execution needs is on its first line, if the name is short. */
typedef struct PfsPreparedEntry
{
	PfsPrepared *record;		/* NULL: there was no room, or it is closed */
	int64		time;			/* when it was prepared: what executes it was
								 * made then or later */
	struct PfsPreparedEntry *older; /* list of all of them */
	uint32		parses;			/* pfs_texts_parsed when it was looked for
								 * last: only behind another one can its name
								 * be another statement's.  It may wrap
								 * around: no session parses 2^32 texts
								 * between two executions of one */
	bool		executed;		/* since the session was idle */
	bool		closed;			/* it is there for its users only */
	char		name[NAMEDATALEN];
	PfsIndexLink by_name;		/* by the hash of the name */
	uint32		users;			/* nested statements that execute it */
	struct PfsPreparedEntry *newer;
	const char *source;			/* the server's text: with `time` it says
								 * which it is */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPreparedEntry;

/* ---- the owner; hooks, outside of write sections ---- */

struct PfsStatement;

/* The prepared one of this name is executed, by a portal that was made then, or by an EXECUTE.  NULL: it has no entry. */
extern PfsPreparedEntry *pfs_prepared_executed(PfsThread *t, const char *name, uint64 query_id, int64 portal_time, bool nested);

/* is_parsed: the text of the EXECUTE has just been parsed, for it alone. */
extern PfsPreparedEntry *pfs_prepared_executed_by_sql(PfsThread *t, const char *name, bool is_parsed, bool nested);

/*
 * This statement is what executes it; that at top level executes this portal, or reads its next part; a nested one that
 * executes it is over, which may be inside a write section.
 */
extern void pfs_prepared_execute(struct PfsStatement *s, PfsPreparedEntry *entry);
extern void pfs_prepared_top_executes(PfsThread *t, const PortalData *portal);
extern void pfs_prepared_release(PfsPreparedEntry *entry);

/* Entries that were executed lately: by the query identifiers of the statements that did, or by an EXECUTE's name. */
#define PFS_EXECUTED_LATELY 64

extern PFS_HIDDEN PfsPreparedEntry *pfs_executed_lately[PFS_EXECUTED_LATELY];

/*
 * The entry of this name for certain, without a look at the server's table; NULL: it has to be looked for, or what
 * executes it was made before, by another statement of that name.
 */
static inline PfsPreparedEntry *
pfs_prepared_lately(const char *name, uint64 query_id, int64 portal_time)
{
	PfsPreparedEntry *entry = pfs_executed_lately[query_id % PFS_EXECUTED_LATELY];

	return entry != NULL && entry->parses == pfs_texts_parsed && entry->time <= portal_time &&
		PFS_IMPORT(strcmp) (entry->name, name) == 0 ? entry : NULL;
}

/* What a command says of the session's own ones, when it is over. */
extern void pfs_prepared_made(PfsThread *t, const char *name);
extern void pfs_prepared_closed(PfsThread *t, const char *name);	/* NULL: all */

extern PFS_HIDDEN uint32 pfs_prepared_count;	/* entries of this session */

/* The session waits for its client: is one of them closed?  Called only if there is an entry. */
extern void pfs_prepared_look(PfsThread *t);

/* ---- inside a write section ---- */

/*
 * The owner's counts of now, which it begins if a TRUNCATE has come.  The load comes behind the store of the odd
 * sequence word; the other side is in pfs_prepared_truncate().
 */
static pg_attribute_always_inline PfsPreparedCounts *
pfs_prepared_counts(PfsPrepared *p)
{
	uint64		now;
	PfsPreparedCounts *counts;

	pfs_fence_signal();
	now = pfs_load_relaxed(&pfs_words->object_truncations[PFS_COUNTED_PREPARED]);
	counts = &p->counts[now % 2];
	if (unlikely(counts->generation != now))
	{
		pfs_counts_clear(&counts->executions);
		counts->generation = now;
	}
	return counts;
}

/* The statement has ended.  is_fetch: it is no execution, so only its time is added. */
extern void pfs_prepared_add(PfsPreparedEntry *entry, uint32 flags, uint64 ticks, bool is_fetch);

/* The same of one that is timed by the default timer. */
static pg_attribute_always_inline void
pfs_prepared_add_usual(PfsPreparedEntry *entry, uint64 ticks)
{
	PfsPrepared *p = entry->record;

	if (likely(p != NULL))
		pfs_counts_add_event(&pfs_prepared_counts(p)->executions, ticks);
}

/* ---- readers ---- */

/* A consistent copy; its counts are zero if they were truncated. */
typedef void (*PfsPreparedEmit) (const PfsPrepared *copy, void *arg);
extern void pfs_prepared_each(uint64 thread_id, PfsPreparedEmit emit, void *arg);

/* All counts to zero; how many executions that were, exactly. */
extern int64 pfs_prepared_truncate(void);

#endif							/* PFS_PREPARED_H */
