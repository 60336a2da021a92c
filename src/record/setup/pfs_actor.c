/*
 * pfs_actor.c
 *	  Rules for new sessions: deciding by them, and changing them.
 *
 * The rules are records of a container.  Writers hold the setup lock and are in a
 * write section of the sequence lock while rules come or go.  So a session takes all
 * rules that one statement inserts or removes into account, or none of them, and does
 * not miss both a rule that was removed and the one that replaced it.  Switches change
 * in place, as one word: a session sees both of a rule before the change, or after it.
 *
 * Separate from the table setup_actors in fdw, as sessions decide at an instrument
 * point, where nothing can be raised.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_actor.h"
#include "pfs_patience.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/* Records of one page. */
#define ACTORS_PER_PAGE 128

PfsPages   *pfs_actors = NULL;
PfsSharedActors *pfs_shared_actors = NULL;

static uint32 insert_hint = 0;

/* Is it what a rule for "localhost" means: this machine, by a socket of any kind? */
static bool
is_local(const char *host)
{
	static const char mapped[] = "::ffff:";

	if (strcmp(host, "[local]") == 0 || strcmp(host, "::1") == 0)
		return true;
	if (strncmp(host, mapped, sizeof(mapped) - 1) == 0)
		host += sizeof(mapped) - 1;
	return strncmp(host, "127.", 4) == 0;
}

/* How well a rule's host fits: by its own name, as localhost, as any; -1: not at all. */
static int
host_rank(const char *rule, const char *host, bool local)
{
	if (strcmp(rule, host) == 0)
		return 2;
	if (local && strcmp(rule, PFS_ACTOR_LOCALHOST) == 0)
		return 1;
	return strcmp(rule, PFS_ACTOR_ANY) == 0 ? 0 : -1;
}

/*
 * Returns the switches of the rule that fits this user and host best, 0 if none fits.
 * A rule for the user beats all rules for any user, whatever their hosts; as no two
 * rules have one key, no two rules fit equally well.  The caller finds out whether rules
 * came or went meanwhile.
 */
static uint64
find_switches(const char *user_name, const char *host)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;
	uint64		switches = 0;
	int			best = -1;
	bool		local = is_local(host);

	while ((index = pfs_pages_next(pfs_actors, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsActor	rule;
		bool		of_user;
		int			of_host;
		int			rank;

		if (!pfs_pages_copy(pfs_actors, index, 0, &rule, sizeof(rule), &word))
			continue;
		of_user = strcmp(rule.user_name, user_name) == 0;
		of_host = host_rank(rule.host, host, local);
		if ((!of_user && strcmp(rule.user_name, PFS_ACTOR_ANY) != 0) || of_host < 0)
			continue;
		rank = of_user * 3 + of_host;
		if (rank > best)
		{
			best = rank;
			switches = rule.switches;
		}
	}
	return switches;
}

/*
 * Decides whether a new session is instrumented and has histories, for the process that
 * attaches.  Reads the rules without a lock, and again as long as writers insert or
 * remove some.  A writer can have lost its processor in the middle: with may_wait the
 * session waits for it as readers do, and takes what it read last when the patience runs
 * out; else it decides nothing, and asks again later.  The caller cuts the user's name to
 * the length that rules have.
 */
bool
pfs_actor_decide(const char *user_name, const char *host, bool may_wait, bool *enabled, bool *history)
{
	PfsPatience patience = {0};
	int			save_errno = errno;
	uint64		switches;
	uint64		begin;

	for (;;)
	{
		begin = pfs_seqlock_read_begin(&pfs_shared_actors->seq);
		switches = find_switches(user_name, host);
		if (pfs_seqlock_read_valid(&pfs_shared_actors->seq, begin))
			break;
		if (!may_wait)
			return false;
		if (!pfs_patience_more(&patience))
			break;
	}
	pfs_patience_end(&patience);
	errno = save_errno;
	*enabled = (switches & PFS_ACTOR_ENABLED) != 0;
	*history = (switches & PFS_ACTOR_HISTORY) != 0;
	return true;
}

/* Finds the rule with this key.  The caller holds the lock, so the rule stays. */
static bool
find_key(const char *user_name, const char *host, PfsActorRef *ref)
{
	uint32		pos = 0;

	while ((ref->index = pfs_pages_next(pfs_actors, &pos, &ref->word)) != PFS_NO_RECORD)
	{
		const PfsActor *rule = pfs_pages_record(pfs_actors, ref->index);

		if (strcmp(rule->user_name, user_name) == 0 && strcmp(rule->host, host) == 0)
			return true;
	}
	return false;
}

/*
 * Tells whether n more rules fit, and counts one loss if not.  A container of size 0 is
 * off and loses nothing.  The caller holds the lock.
 */
static bool
has_room(uint64 n)
{
	PfsPagesStats stats;

	pfs_pages_stats(pfs_actors, &stats);
	if (stats.records_used + n <= stats.records_max)
		return true;
	if (stats.records_max > 0)
		pfs_pages_count_lost(pfs_actors);
	return false;
}

/*
 * Tells whether a rule could be inserted now, so that INSERT can raise its error at the
 * row which causes it.  Nothing is reserved: pfs_actors_insert() checks again.
 */
PfsActorResult
pfs_actor_check(const PfsActor *rule, int others)
{
	PfsActorRef ref;
	PfsActorResult result = PFS_ACTOR_DONE;

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	if (find_key(rule->user_name, rule->host, &ref))
		result = PFS_ACTOR_DUPLICATE;
	else if (!has_room((uint64) others + 1))
		result = PFS_ACTOR_FULL;
	LWLockRelease(pfs_setup->lock);
	return result;
}

/*
 * Inserts one rule.  The caller holds the lock and has asked has_room(); as records are
 * allocated and freed under the lock only, every allocation succeeds.
 */
static void
insert_rule(const PfsActor *rule)
{
	uint32		index = pfs_pages_allocate(pfs_actors, &insert_hint);

	if (index == PFS_NO_RECORD)
	{
		Assert(false);
		return;
	}
	memcpy(pfs_pages_record(pfs_actors, index), rule, sizeof(*rule));
	pfs_pages_publish(pfs_actors, index);
}

/*
 * Inserts the rules of one INSERT, all of them or none.  Sessions that start meanwhile
 * see all or none, too, as there is one write section.  Returns why it inserted none,
 * with *which as the index of the first duplicate; the caller raises the error, and has
 * compared the rules with each other.
 */
PfsActorResult
pfs_actors_insert(const PfsActor *rules, int n, int *which)
{
	PfsActorResult result = PFS_ACTOR_DONE;
	PfsActorRef ref;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	for (*which = 0; *which < n && result == PFS_ACTOR_DONE;)
	{
		if (find_key(rules[*which].user_name, rules[*which].host, &ref))
			result = PFS_ACTOR_DUPLICATE;
		else
			(*which)++;
	}
	if (result == PFS_ACTOR_DONE && !has_room(n))
		result = PFS_ACTOR_FULL;
	if (result == PFS_ACTOR_DONE)
	{
		pfs_seqlock_write_begin(&pfs_shared_actors->seq);
		for (int i = 0; i < n; i++)
			insert_rule(&rules[i]);
		pfs_seqlock_write_end(&pfs_shared_actors->seq);
	}
	LWLockRelease(pfs_setup->lock);
	return result;
}

/*
 * Gives the rule with this key these switches, or inserts it, for pfs.set_actor().
 * Changing switches is one store, so only the insertion needs a write section.  The
 * caller raises the error if the container is full.
 */
PfsActorResult
pfs_actor_set(const PfsActor *rule)
{
	PfsActorResult result = PFS_ACTOR_DONE;
	PfsActorRef ref;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	if (find_key(rule->user_name, rule->host, &ref))
	{
		PfsActor   *present = pfs_pages_record(pfs_actors, ref.index);

		pfs_store_relaxed(&present->switches, rule->switches);
	}
	else if (has_room(1))
	{
		pfs_seqlock_write_begin(&pfs_shared_actors->seq);
		insert_rule(rule);
		pfs_seqlock_write_end(&pfs_shared_actors->seq);
	}
	else
		result = PFS_ACTOR_FULL;
	LWLockRelease(pfs_setup->lock);
	return result;
}

/*
 * Changes switches of a rule that a scan has read, for UPDATE.  Another session may have
 * removed it since, and its record may hold another rule by now: then the state word
 * differs and nothing is changed.
 */
void
pfs_actor_update(PfsActorRef ref, int enabled, int history)
{
	PfsActor   *rule = pfs_pages_record(pfs_actors, ref.index);

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	if (pfs_pages_word(pfs_actors, ref.index) == ref.word)
	{
		uint64		switches = rule->switches;

		if (enabled >= 0)
			switches = (switches & ~PFS_ACTOR_ENABLED) | (enabled ? PFS_ACTOR_ENABLED : 0);
		if (history >= 0)
			switches = (switches & ~PFS_ACTOR_HISTORY) | (history ? PFS_ACTOR_HISTORY : 0);
		pfs_store_relaxed(&rule->switches, switches);
	}
	LWLockRelease(pfs_setup->lock);
}

/*
 * Removes a rule, and returns 1, if it is still the one that was read.  The caller holds
 * the lock and is in a write section.
 */
static int64
remove_rule(PfsActorRef ref)
{
	if (!pfs_pages_claim(pfs_actors, ref.index, ref.word))
		return 0;
	pfs_pages_free(pfs_actors, ref.index);
	return 1;
}

/* Removes the rules that a DELETE has read, in one write section. */
int64
pfs_actors_remove(const PfsActorRef *refs, int n)
{
	int64		removed = 0;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	pfs_seqlock_write_begin(&pfs_shared_actors->seq);
	for (int i = 0; i < n; i++)
		removed += remove_rule(refs[i]);
	pfs_seqlock_write_end(&pfs_shared_actors->seq);
	LWLockRelease(pfs_setup->lock);
	return removed;
}

/* Removes the rule with this key; returns how many there were, 0 or 1. */
int64
pfs_actor_remove_key(const char *user_name, const char *host)
{
	PfsActorRef ref;
	int64		removed = 0;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	pfs_seqlock_write_begin(&pfs_shared_actors->seq);
	if (find_key(user_name, host, &ref))
		removed = remove_rule(ref);
	pfs_seqlock_write_end(&pfs_shared_actors->seq);
	LWLockRelease(pfs_setup->lock);
	return removed;
}

/*
 * Removes all rules in one write section, for TRUNCATE.  Without any rule, sessions that
 * start afterwards are not instrumented.
 */
int64
pfs_actors_remove_all(void)
{
	PfsActorRef ref;
	uint32		pos = 0;
	int64		removed = 0;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	pfs_seqlock_write_begin(&pfs_shared_actors->seq);
	while ((ref.index = pfs_pages_next(pfs_actors, &pos, &ref.word)) != PFS_NO_RECORD)
		removed += remove_rule(ref);
	pfs_seqlock_write_end(&pfs_shared_actors->seq);
	LWLockRelease(pfs_setup->lock);
	return removed;
}

/* Takes the container of rules from the segment. */
void
pfs_actors_lay_out(PfsSegment *seg)
{
	PfsPagesSpec spec = {"setup_actors", sizeof(PfsActor), pfs_sizes.actors, ACTORS_PER_PAGE};

	pfs_actors = pfs_pages_create(seg, &spec);
}

/* Inserts the rule by which every session is instrumented. */
void
pfs_actors_start(void)
{
	PfsActor	rule = {PFS_ACTOR_ANY, PFS_ACTOR_ANY, PFS_ACTOR_ENABLED | PFS_ACTOR_HISTORY};

	if (pfs_actors->records_max > 0)
		insert_rule(&rule);
}
