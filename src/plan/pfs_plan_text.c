/*
 * pfs_plan_text.c
 *	  The text of a plan: what EXPLAIN (COSTS OFF) says of it, without constants.
 *
 * It is made once for each plan, by a process that executes it, behind the start of the executor.  EXPLAIN
 * reads catalogs and calls the output functions of types, so it can fail, which must not be an error of the
 * statement: it is called in a subtransaction.  Where there can be none, a later execution tries again.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "pfs_compat_explain.h"
#include "pfs_digest.h"
#include "pfs_plan.h"
#include "pfs_shared.h"

/* ---- without constants ---- */

/* The text that is read, and what has been written. */
typedef struct Scanner
{
	const char *at;
	const char *end;
	char	   *to;
	char	   *begin;
} Scanner;

static inline bool
is_word(char c)
{
	return isalnum((unsigned char) c) || c == '_' || c == '$' || c == '.' || IS_HIGHBIT_SET(c);
}

static inline void
copy_char(Scanner *s)
{
	*s->to++ = *s->at++;
}

/* Behind a quoted string or name, in which the quote is doubled. */
static const char *
skip_quoted(const char *at, const char *end)
{
	char		quote = *at;

	while (++at < end)
	{
		if (*at != quote)
			continue;
		if (at + 1 == end || at[1] != quote)
			return at + 1;
		at++;
	}
	return end;
}

static void
copy_until(Scanner *s, const char *end)
{
	memmove(s->to, s->at, end - s->at);
	s->to += end - s->at;
	s->at = end;
}

/* Does what has been written end so? */
static inline bool
ends_with(const Scanner *s, const char *str)
{
	size_t		len = strlen(str);

	return s->to - s->begin >= len && memcmp(s->to - len, str, len) == 0;
}

/* A string: what is written in front of it, as of E'...' and B'...', is a part of it. */
static void
replace_string(Scanner *s)
{
	s->at = skip_quoted(s->at, s->end);
	if (s->to > s->begin && isalpha((unsigned char) s->to[-1]) && (s->to - s->begin == 1 || !is_word(s->to[-2])))
		s->to--;
	*s->to++ = '?';
}

/* Behind digits and what belongs to them: 1.5e+10, or the rest of a name. */
static const char *
skip_number(const char *at, const char *end)
{
	while (at < end && (is_word(*at) || ((*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E'))))
		at++;
	return at;
}

/* A constant is a number that no name has, and no SubPlan 1, InitPlan 1, $1. */
static void
replace_number(Scanner *s)
{
	const char *end = skip_number(s->at, s->end);

	if ((s->to > s->begin && is_word(s->to[-1])) || ends_with(s, "Plan "))
	{
		copy_until(s, end);
		return;
	}
	s->at = end;
	*s->to++ = '?';
}

/* A cast to a type: numbers in its name, as in numeric(10,2) and character varying(5), are the type's. */
static void
copy_type(Scanner *s)
{
	static const char varying[] = " varying";
	const char *at = s->at + 2;

	while (at < s->end && (is_word(*at) || *at == '"'))
		at = *at == '"' ? skip_quoted(at, s->end) : at + 1;
	if (s->end - at > strlen(varying) && memcmp(at, varying, strlen(varying)) == 0)
		at += strlen(varying);
	if (at < s->end && *at == '(')
	{
		const char *close = at + 1;

		while (close < s->end && (isdigit((unsigned char) *close) || *close == ','))
			close++;
		if (close < s->end && *close == ')')
			at = close + 1;
	}
	copy_until(s, at);
}

/* The rest of a line that says what a node does, "Filter: (a = 1)": strings may have line ends. */
static void
replace_in_value(Scanner *s)
{
	while (s->at < s->end && *s->at != '\n')
	{
		if (*s->at == '\'')
			replace_string(s);
		else if (*s->at == '"')
			copy_until(s, skip_quoted(s->at, s->end));
		else if (isdigit((unsigned char) *s->at))
			replace_number(s);
		else if (s->end - s->at > 1 && s->at[0] == ':' && s->at[1] == ':')
			copy_type(s);
		else
			copy_char(s);
	}
}

/* Where the value of this line begins; NULL: it names a node, or says how many workers are planned. */
static const char *
value_of_line(const char *at, const char *end)
{
	static const char workers[] = "Workers Planned: ";

	while (at < end && *at == ' ')
		at++;
	if (end - at > strlen(workers) && memcmp(at, workers, strlen(workers)) == 0)
		return NULL;
	for (; end - at > 1 && (isalpha((unsigned char) *at) || *at == ' ' || *at == '-' || *at == '/'); at++)
		;
	return end - at > 1 && at[0] == ':' && at[1] == ' ' ? at : NULL;
}

/* Lines that name nodes stay; in the others the constants of the value are replaced. */
uint32
pfs_plan_without_constants(const char *text, uint32 len, char *to)
{
	Scanner		s = {text, text + len, to, to};

	while (s.at < s.end)
	{
		const char *line_end = memchr(s.at, '\n', s.end - s.at);
		const char *value = value_of_line(s.at, line_end != NULL ? line_end : s.end);

		if (value != NULL)
		{
			copy_until(&s, value);
			replace_in_value(&s);
		}
		else
			copy_until(&s, line_end != NULL ? line_end : s.end);
		if (s.at < s.end)
			copy_char(&s);
	}
	return s.to - to;
}

/* ---- making ---- */

/* What EXPLAIN says of a plan; in the caller's memory context. */
static StringInfo
explain(QueryDesc *desc)
{
	ExplainState *es = NewExplainState();

	es->costs = false;
	ExplainBeginOutput(es);
	ExplainPrintPlan(es, desc);
	ExplainEndOutput(es);
	return es->str;
}

/* Gives the plan its text, and what else is known of it. */
static void
put_text(const PfsPlanWithoutText *plan, StringInfo text)
{
	const PlannedStmt *stmt = plan->stmt;
	PfsDigestKey key = pfs_digest_key(MyDatabaseId, plan->user, stmt->queryId);
	PfsPlanFacts facts = {
		.cost = stmt->planTree->total_cost,
		.rows = stmt->planTree->plan_rows,
		.server_plan_id = pfs_compat_server_plan_id(stmt),
		.nodes = plan->nodes,
	};
	uint32		len = pfs_plan_without_constants(text->data, text->len, text->data);

	if (len > 0 && text->data[len - 1] == '\n')
		len--;
	if (len > pfs_sizes.plan_text)
		len = pg_mbcliplen(text->data, len, pfs_sizes.plan_text);
	pfs_write_begin(pfs_my_thread);
	pfs_plan_put_text(&key, plan->plan_id, &facts, text->data, len);
	pfs_write_end(pfs_my_thread);
}

/* If it is the plan that lacks it.  What is executed where no subtransaction can be makes none. */
void
pfs_plan_make_text(QueryDesc *desc)
{
	PfsPlanWithoutText plan = pfs_plan_without_text;
	const PfsKnownPlan *known = pfs_known_plan(desc->plannedstmt->queryId);
	MemoryContext old_context = CurrentMemoryContext;
	ResourceOwner old_owner = CurrentResourceOwner;
	MemoryContext context;
	StringInfo volatile text = NULL;
	ErrorData  *volatile error = NULL;

	/* Where its start has failed, another plan may lie there by now. */
	if (desc->plannedstmt != plan.stmt || known->stmt != plan.stmt || known->plan_id != plan.plan_id)
		return;
	pfs_plan_without_text.stmt = NULL;
	/* What is executed meanwhile, as by an output function, makes no text. */
	if (pfs_text_is_made || desc->planstate == NULL || IsInParallelMode() || pfs_my_thread == NULL)
	{
		pfs_plan_forget(plan.stmt->queryId);
		return;
	}
	context = AllocSetContextCreate(old_context, "pfs plan text", ALLOCSET_DEFAULT_SIZES);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	pfs_text_is_made = true;
	PG_TRY();
	{
		text = explain(desc);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	pfs_text_is_made = false;
	MemoryContextSwitchTo(old_context);
	CurrentResourceOwner = old_owner;

	/*
	 * The statement is cancelled, not its text: raised anew, as one of its
	 * own.
	 */
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ThrowErrorData(error);
	if (error == NULL)
		put_text(&plan, text);
	MemoryContextDelete(context);
}
