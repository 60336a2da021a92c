/*
 * pfs_query_id.c
 *	  Query identifiers of utilities, which other libraries take out of cached plans.
 *
 * A library that counts utilities itself sets the identifier in the plan to zero for the length of
 * the command, so that nothing inside is counted twice, and leaves it so: pg_stat_statements does.  The plan
 * of a prepared statement is executed again, and has none from then on.  Others never reach the plan, as
 * the library takes them out of the analysed query (PREPARE, DEALLOCATE).  Our hooks are called
 * before all others, so what was there is seen once, and remembered here: a plan that is executed
 * without an identifier has the one that it had before.
 *
 * An entry's key is the plan's address, which can be another plan's by now: then the text is
 * another one, or the new plan has an identifier, which takes the entry over.  What comes from
 * parse analysis, where there is no plan yet, is found by the text alone.
 *
 * The table has a fixed size, as nobody tells when a plan goes.  An identifier that has lost its entry
 * is unknown, and its statement counts for all others.
 *
 * Separate from pfs_statement_nest.c, which takes the identifier as it is given.
 */
#include "postgres.h"

#include "pfs_hash.h"
#include "pfs_query_id.h"

/* Entries: sets of WAYS, in which the one that was used longest ago is replaced. */
#define SETS 256
#define WAYS 4

/* Bytes of a text that tell it from others, with its length. */
#define TEXT_BYTES 256

typedef struct PlanId
{
	const void *plan;			/* NULL: of any plan with this text */
	uint64		text;			/* its hash; never 0 of an entry in use */
	uint64		query_id;
} PlanId;

/* The one that was used last comes first in each set.  Pages that are not used are not there. */
static PlanId ids[SETS][WAYS];

/* A number for the statement's part of a text. */
static uint64
hash_of_text(const PfsStatementSource *source)
{
	const char *str = source->str != NULL ? source->str : "";
	int			len = TEXT_BYTES;

	if (source->location > 0)
		str += source->location;
	if (source->len > 0 && source->location >= 0)
		len = Min(source->len, TEXT_BYTES);
	return (pfs_hash_bytes(str, strnlen(str, len)) + source->len) | 1;
}

static PlanId *
set_of(const void *plan, uint64 text)
{
	/*
	 * Plans are aligned; the upper bits of a product depend on all of its
	 * factor.
	 */
	return ids[(((uintptr_t) plan ^ text) * UINT64_C(0x9E3779B97F4A7C15)) >> 56];
}

StaticAssertDecl(SETS == 1 << 8, "a set's number is a byte");

/*
 * Finds an entry, and moves it to the front of its set.  A plan that is executed again and again keeps
 * its entry so, whatever else a session executes meanwhile; once lost, nothing brings it back.
 */
static PlanId *
find(const void *plan, uint64 text)
{
	PlanId	   *set = set_of(plan, text);

	for (int i = 0; i < WAYS; i++)
	{
		PlanId		found = set[i];

		if (found.text != text || found.plan != plan)
			continue;
		memmove(set + 1, set, i * sizeof(PlanId));
		set[0] = found;
		return set;
	}
	return NULL;
}

/* Makes an entry, or changes the one that there is. */
static void
remember(const void *plan, uint64 text, uint64 query_id)
{
	PlanId	   *id = find(plan, text);
	PlanId	   *set = set_of(plan, text);

	if (id == NULL)
	{
		memmove(set + 1, set, (WAYS - 1) * sizeof(PlanId));
		id = set;
	}
	*id = (PlanId)
	{
		plan, text, query_id
	};
}

/* Remembers the identifier of a plan that has one, and finds that of a plan which has none any more. */
uint64
pfs_query_id_of_plan(const void *plan, const PfsStatementSource *source)
{
	uint64		text = hash_of_text(source);
	const PlanId *id;

	if (likely(source->query_id != 0))
	{
		remember(plan, text, source->query_id);
		return source->query_id;
	}
	id = find(plan, text);
	if (id == NULL)
		id = find(NULL, text);
	return id != NULL ? id->query_id : 0;
}

void
pfs_query_id_taken(const PfsStatementSource *source)
{
	remember(NULL, hash_of_text(source), source->query_id);
}
