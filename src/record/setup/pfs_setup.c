/*
 * pfs_setup.c
 *	  The switches' values, and how they become the one word of flags that an
 *	  instrument point tests.
 *
 * Writers hold pfs_setup->lock (SQL commands only).  Instrument points never
 * look here; they read the effective flags.  A process that registers an
 * instrument reads without the lock: every item is one byte, and rules are
 * published by their count.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "pfs_atomic.h"
#include "pfs_clock.h"
#include "pfs_part.h"
#include "pfs_setup.h"
#include "pfs_setup_list.h"
#include "pfs_shared.h"

PFS_FIXED PfsSharedSetup *pfs_setup = NULL;

/* The text of pfs.instruments; valid as long as the postmaster's memory is. */
const char *pfs_start_instruments = "";

#define FAMILY_CURRENT(family) (PFS_CONSUMER_CURRENT + 3 * (family))
#define FAMILY_CONSUMERS(family, word) \
	[FAMILY_CURRENT(family)] = {"events_" word "_current", PFS_CONSUMER_THREAD}, \
	[FAMILY_CURRENT(family) + 1] = {"events_" word "_history", FAMILY_CURRENT(family)}, \
	[FAMILY_CURRENT(family) + 2] = {"events_" word "_history_long", FAMILY_CURRENT(family)},

static const struct
{
	const char *name;
	int			parent;			/* PfsConsumer, or -1 */
}			consumers[PFS_NUM_CONSUMERS] =

{
	[PFS_CONSUMER_GLOBAL] = {"global_instrumentation", -1},
	[PFS_CONSUMER_THREAD] = {"thread_instrumentation", PFS_CONSUMER_GLOBAL},
	PFS_EVENT_FAMILIES(FAMILY_CONSUMERS)
	[PFS_CONSUMER_STATEMENTS_CPU] = {"events_statements_cpu", FAMILY_CURRENT(PFS_STATEMENTS)},
	[PFS_CONSUMER_STATEMENTS_DIGEST] = {"statements_digest", PFS_CONSUMER_GLOBAL},
	[PFS_CONSUMER_PLANS] = {"plans", PFS_CONSUMER_STATEMENTS_DIGEST},
};

#define EVENTS_OF_CLASS(class, name, events, summaries) [class] = events,
#define NAME_OF_CLASS(class, name, events, summaries) [class] = name,

static const PfsEventFamily family_of_class[] = {PFS_TIMED_CLASSES(EVENTS_OF_CLASS)};
const char *const pfs_class_names[] = {PFS_TIMED_CLASSES(NAME_OF_CLASS)};

int
pfs_class_by_name(const char *name)
{
	for (int c = 0; c < PFS_NUM_TIMED_CLASSES; c++)
	{
		if (strcmp(pfs_class_names[c], name) == 0)
			return c;
	}
	return -1;
}

const char *
pfs_consumer_name(PfsConsumer c)
{
	return consumers[c].name;
}

/* Is a consumer on, with all above it?  It collects only then. */
static bool
consumer_is_on(int c)
{
	for (; c >= 0; c = consumers[c].parent)
	{
		if (!pfs_setup->consumer[c])
			return false;
	}
	return true;
}

/*
 * Tells which consumers are on at a start without pfs.consumers: all but the one that
 * costs a system call at each begin and end of a statement.
 */
bool
pfs_consumer_default(PfsConsumer c)
{
	return c != PFS_CONSUMER_STATEMENTS_CPU;
}

/*
 * Computes the effective flags of an instrument from its switches, the consumers above
 * it, the timer of its class and the sizes of tables; 0 if it is off.  The callers store
 * them in pfs_words: those that change switches under the setup lock, a process that
 * registers an instrument without it.  memory_wanted must be up to date before.
 */
uint32
pfs_setup_flags(const PfsInstrument *ins)
{
	PfsEventFamily family;
	int			current;
	uint32		flags = PFS_FLAG_ENABLED;
	uint32		timer;

	if (!ins->enabled || !consumer_is_on(PFS_CONSUMER_GLOBAL))
		return 0;
	/* Whose memory it is only threads know. */
	if (ins->class == PFS_CLASS_MEMORY)
		return consumer_is_on(PFS_CONSUMER_THREAD) && ins->cell != UINT16_MAX ? flags : 0;
	if (consumer_is_on(PFS_CONSUMER_THREAD))
		flags |= PFS_FLAG_THREAD;
	/* The other classes without a timer have no events that could be kept. */
	if (ins->class >= PFS_NUM_TIMED_CLASSES)
		return flags;
	if (pfs_load_relaxed(&pfs_words->memory_wanted))
		flags |= PFS_FLAG_MEMORY;
	if (ins->timed)
		flags |= PFS_FLAG_TIMED;
	family = family_of_class[ins->class];
	current = FAMILY_CURRENT(family);
	if (consumer_is_on(current))
		flags |= PFS_FLAG_CURRENT;
	if (ins->class == PFS_CLASS_STATEMENT && consumer_is_on(PFS_CONSUMER_STATEMENTS_DIGEST) &&
		pfs_sizes.digests > 0)
		flags |= PFS_FLAG_DIGEST;
	/* A table of size 0 takes nothing: no instrument point has to ask. */
	if (consumer_is_on(current + 1) && pfs_sizes.history[family] > 0)
		flags |= PFS_FLAG_HISTORY;
	if (consumer_is_on(current + 2) && pfs_sizes.history_long[family] > 0)
		flags |= PFS_FLAG_HISTORY_LONG;
	/* What an untimed event is sorted by is a reading of the default timer. */
	timer = ins->timed ? pfs_setup->timer[ins->class] : pfs_timer_default();
	return flags | timer << PFS_FLAG_TIMER_SHIFT;
}

bool
pfs_setup_is_on_by_default(const char *name)
{
	return pg_strncasecmp(name, PFS_MEMORY_PREFIX, strlen(PFS_MEMORY_PREFIX)) != 0 &&
		pg_strncasecmp(name, PFS_STAGE_PREFIX, strlen(PFS_STAGE_PREFIX)) != 0 &&
		pg_strncasecmp(name, PFS_TABLE_PREFIX, strlen(PFS_TABLE_PREFIX)) != 0;
}

/*
 * Computes the switches of an instrument that registers: by the built-in default (on and
 * timed; memory contexts, stages of statements and rows of tables are off) or what
 * pfs.instruments says in its place, then by the rules of run time, of which the newest
 * wins.  Runs at instrument points, without the lock.
 */
void
pfs_setup_defaults(const PfsInstrument *ins, uint8 *enabled, uint8 *timed)
{
	const char *name = pfs_instrument_name(ins);
	const PfsRules *rules = pfs_setup_rules();
	PfsListValue value = pfs_list_value(pfs_start_instruments, name);
	bool		is_enabled = value == PFS_LIST_NONE ? pfs_setup_is_on_by_default(name) : value != PFS_LIST_OFF;
	bool		is_timed = value == PFS_LIST_NONE || value == PFS_LIST_ON;

	for (uint32 i = 0; i < rules->n; i++)
	{
		const PfsRule *rule = &rules->items[i];

		if (!pfs_pattern_match(rule->pattern, name))
			continue;
		if (rule->enabled >= 0)
			is_enabled = rule->enabled;
		if (rule->timed >= 0)
			is_timed = rule->timed;
	}
	*enabled = is_enabled || (ins->properties & PFS_PROPERTY_BUILT_IN) != 0;
	/* Memory and errors are never timed: one value less to tell apart. */
	*timed = is_timed || ins->class >= PFS_NUM_TIMED_CLASSES;
}

/*
 * Sets all switches to what a server starts with, in the postmaster, before the first
 * instrument registers and is compared with the text of pfs.instruments.  Bad entries
 * were taken out of the texts when the settings were checked.  Words that need all
 * instruments are left to pfs_setup_refresh().
 */
void
pfs_setup_start(void)
{
	PfsSharedSetup *setup = pfs_setup;
	const char *consumer_list = GetConfigOption("pfs.consumers", false, false);

	pfs_thread_kinds_start();
	setup->lock = &(GetNamedLWLockTranche("pfs"))->lock;
	pfs_start_instruments = GetConfigOption("pfs.instruments", false, false);
	for (int c = 0; c < PFS_NUM_CONSUMERS; c++)
	{
		int			value = pfs_list_value(consumer_list, consumers[c].name);

		setup->consumer[c] = value == PFS_LIST_NONE ? pfs_consumer_default(c) : value != PFS_LIST_OFF;
	}
	for (int class = 0; class < PFS_NUM_TIMED_CLASSES; class++)
		setup->timer[class] = pfs_timer_default();
	memset(setup->kind_enabled, 1, sizeof(setup->kind_enabled));
	memset(setup->kind_history, 1, sizeof(setup->kind_history));
}

/*
 * Recomputes what events read before their instrument is known: flags by class, and
 * which counters of statements that cost something are wanted.  Notes when the instrument of
 * rows of tables, or those of memory contexts, become effective or cease to be.  The caller holds the lock, or is the
 * postmaster at the start.
 */
static void
recompute_classes(void)
{
	bool		enabled[PFS_NUM_TIMED_CLASSES] = {false};
	bool		counts_rows = false;

	pfs_each_instrument(ins)
	{
		if (!ins->enabled || ins->class >= PFS_NUM_TIMED_CLASSES)
			continue;
		enabled[ins->class] = true;
		if ((ins->properties & PFS_PROPERTY_CONTAINS_WAITS) && pfs_setup_flags(ins) != 0)
			counts_rows = true;
	}
	pfs_store_relaxed(&pfs_words->statement_counts, (consumer_is_on(PFS_CONSUMER_STATEMENTS_CPU) ? PFS_COUNTS_CPU : 0) |
					  (pfs_load_relaxed(&pfs_words->memory_wanted) ? PFS_COUNTS_MEMORY : 0) |
					  (consumer_is_on(PFS_CONSUMER_PLANS) && pfs_sizes.digests > 0 && pfs_sizes.plans > 0 ? PFS_COUNTS_PLANS : 0));
	for (int class = 0; class < PFS_NUM_TIMED_CLASSES; class++)
	{
		PfsInstrument any = {.class = class, .enabled = enabled[class], .timed = 1};

		pfs_store_relaxed(&pfs_words->class_flags[class], pfs_setup_flags(&any));
	}
	if (!counts_rows)
		pfs_store_relaxed(&pfs_setup->table_since, 0);
	else if (pfs_setup->table_since == 0)
		pfs_store_relaxed(&pfs_setup->table_since, IsUnderPostmaster ? GetCurrentTimestamp() : pfs_clock->start_time);
	if (!pfs_load_relaxed(&pfs_words->memory_wanted))
		pfs_store_relaxed(&pfs_setup->memory_since, 0);
	else if (pfs_setup->memory_since == 0)
		pfs_store_relaxed(&pfs_setup->memory_since, IsUnderPostmaster ? GetCurrentTimestamp() : pfs_clock->start_time);
	pfs_words_changed();
}

static bool
is_context(const PfsInstrument *ins)
{
	return ins->class == PFS_CLASS_MEMORY && !(ins->properties & PFS_PROPERTY_BUILT_IN);
}

/*
 * May a pattern be meant for memory contexts that have not been seen yet?  It may if it
 * can match their names and matches none of those that there are.
 */
static bool
is_for_later_contexts(const char *pattern)
{
	size_t		fixed = strcspn(pattern, "%?");

	if (pg_strncasecmp(pattern, PFS_MEMORY_PREFIX, Min(fixed, strlen(PFS_MEMORY_PREFIX))) != 0 ||
		(pattern[fixed] == '\0' && fixed <= strlen(PFS_MEMORY_PREFIX)))
		return false;
	pfs_each_instrument(ins)
	{
		if (is_context(ins) && pfs_pattern_match(pattern, ins->name))
			return false;
	}
	return true;
}

/*
 * Is the memory of any context to be counted, of those that are known or to come?  As
 * long as it is not, no process has to count any.  Contexts are looked at last: one that
 * registers meanwhile, so that a pattern is for no later one any more, is among them.
 */
static bool
is_memory_wanted(void)
{
	const char *list = pfs_start_instruments;
	const PfsRules *rules = pfs_setup_rules();
	char		pattern[PFS_NAME_SIZE];

	if (!consumer_is_on(PFS_CONSUMER_THREAD))
		return false;
	for (uint32 i = 0; i < rules->n; i++)
	{
		if (rules->items[i].enabled == 1 && is_for_later_contexts(rules->items[i].pattern))
			return true;
	}
	while (pfs_list_next_pattern(&list, pattern, sizeof(pattern)))
	{
		if (pfs_list_value(pfs_start_instruments, pattern) != PFS_LIST_OFF && is_for_later_contexts(pattern))
			return true;
	}
	pfs_each_instrument(ins)
	{
		if (is_context(ins) && ins->enabled)
			return true;
	}
	return false;
}

/*
 * Recomputes all words that depend on switches, and tells the parts that a switch has
 * changed.  The caller holds the lock, or is the postmaster at the start.
 */
void
pfs_setup_refresh(void)
{
	/*
	 * Who registers meanwhile sees this and computes again:
	 * publish_switches().
	 */
	pfs_add_seqcst(&pfs_setup->generation, 1);
	pfs_store_relaxed(&pfs_words->memory_wanted, is_memory_wanted());
	pfs_each_instrument(ins)
		pfs_store_relaxed(&pfs_words->flags[pfs_instrument_id(ins)], pfs_setup_flags(ins));
	pfs_each_part_with(part, switched)
		part->switched();
	recompute_classes();
}

/*
 * Sets the switches of one instrument, -1 leaves one as it is.  The caller holds the
 * lock, and recomputes all flags after the last of several memory instruments.
 */
static void
set_instrument(PfsInstrument *ins, int enabled, int timed)
{
	if (ins->properties & PFS_PROPERTY_BUILT_IN)
		return;

	/*
	 * Of one more context, what is counted begins now: recompute_classes()
	 * sets the time.
	 */
	if (enabled > 0 && !ins->enabled && is_context(ins))
		pfs_store_relaxed(&pfs_setup->memory_since, 0);
	if (enabled >= 0)
		ins->enabled = enabled;
	if (timed >= 0 && ins->class != PFS_CLASS_MEMORY)
		ins->timed = timed;
	pfs_store_relaxed(&pfs_words->flags[pfs_instrument_id(ins)], pfs_setup_flags(ins));
}

/*
 * Switches one instrument, for UPDATE of setup_instruments.  Nothing is remembered for
 * instruments to come.
 */
void
pfs_setup_set_instrument(PfsInstrumentId id, int enabled, int timed)
{
	PfsInstrument *ins = &pfs_instrument_items[id];

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	set_instrument(ins, enabled, timed);
	if (is_context(ins))
		pfs_setup_refresh();
	else
		recompute_classes();
	LWLockRelease(pfs_setup->lock);
}

/*
 * Appends a rule for instruments to come.  An older rule of the same pattern is removed,
 * and what the new one leaves open is taken over from it.  The caller holds the lock; an
 * error is raised before anything has changed.
 *
 * The rules are written beside those that hold, which who registers now may be reading without a
 * lock.  The caller raises the generation afterwards, so these are written over only behind a
 * generation that such a process sees, and reads again (publish_switches).
 */
static void
remember_rule(const char *pattern, int enabled, int timed)
{
	const PfsRules *rules = pfs_setup_rules();
	uint32		other = 1 - pfs_setup->current_rules;
	PfsRules   *to = &pfs_setup->rules[other];
	PfsRule    *rule;
	uint32		n = 0;

	for (uint32 i = 0; i < rules->n; i++)
	{
		const PfsRule *old = &rules->items[i];

		if (pg_strcasecmp(old->pattern, pattern) == 0)
		{
			enabled = enabled >= 0 ? enabled : old->enabled;
			timed = timed >= 0 ? timed : old->timed;
		}
		else
			to->items[n++] = *old;
	}
	if (n >= PFS_MAX_RULES)
	{
		LWLockRelease(pfs_setup->lock);
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("pfs.set_instruments remembers at most %d patterns", PFS_MAX_RULES),
				 errhint("Change present instruments with UPDATE pfs.setup_instruments, or put the patterns into pfs.instruments and restart.")));
	}
	rule = &to->items[n];
	strlcpy(rule->pattern, pattern, sizeof(rule->pattern));
	rule->enabled = enabled;
	rule->timed = timed;
	to->n = n + 1;
	pfs_store_release(&pfs_setup->current_rules, other);
}

/*
 * Switches all instruments that match a pattern, and remembers it for those that
 * register later, for pfs.set_instruments().  Returns how many match now, those that
 * cannot be switched included.
 */
int64
pfs_setup_set_instruments(const char *pattern, int enabled, int timed)
{
	int64		matched = 0;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);

	/*
	 * The rule first: who registers meanwhile looks again (publish_switches).
	 * An instrument that is there needs none.
	 */
	if ((enabled >= 0 || timed >= 0) && !pfs_instrument_exists(pattern))
		remember_rule(pattern, enabled, timed);
	pfs_add_seqcst(&pfs_setup->generation, 1);
	pfs_instrument_name_late();
	pfs_each_instrument(ins)
	{
		if (pfs_pattern_match(pattern, pfs_instrument_name(ins)))
		{
			set_instrument(ins, enabled, timed);
			matched++;
		}
	}
	pfs_setup_refresh();
	LWLockRelease(pfs_setup->lock);
	return matched;
}

void
pfs_setup_set_consumer(PfsConsumer c, bool enabled)
{
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	pfs_setup->consumer[c] = enabled;
	pfs_setup_refresh();
	LWLockRelease(pfs_setup->lock);
}

/*
 * Switches all consumers that match a pattern, for pfs.set_consumers().  Whatever is
 * switched on gets all consumers above it switched on, too, as it would collect nothing
 * without them.  Returns how many match.
 */
int64
pfs_setup_set_consumers(const char *pattern, bool enabled)
{
	int64		matched = 0;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	for (int c = 0; c < PFS_NUM_CONSUMERS; c++)
	{
		if (!pfs_pattern_match(pattern, consumers[c].name))
			continue;
		matched++;
		pfs_setup->consumer[c] = enabled;
		for (int p = consumers[c].parent; enabled && p >= 0; p = consumers[p].parent)
			pfs_setup->consumer[p] = true;
	}
	pfs_setup_refresh();
	LWLockRelease(pfs_setup->lock);
	return matched;
}

void
pfs_setup_set_timer(PfsClass c, PfsTimer timer)
{
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	pfs_setup->timer[c] = timer;
	pfs_setup_refresh();
	LWLockRelease(pfs_setup->lock);
}

void
pfs_setup_set_thread_kind(int kind, int enabled, int history)
{
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	if (enabled >= 0)
		pfs_setup->kind_enabled[kind] = enabled;
	if (history >= 0)
		pfs_setup->kind_history[kind] = history;
	LWLockRelease(pfs_setup->lock);
}
