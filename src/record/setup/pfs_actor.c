/*
 * pfs_actor.c
 *	  Rules for new sessions: deciding by them.
 *
 * Separate from the list that they are kept in (pfs_rule_list.c) and from the table
 * setup_actors in fdw, as sessions decide at an instrument point, where nothing can be
 * raised.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_actor.h"
#include "pfs_patience.h"
#include "pfs_shared.h"

PfsRuleList pfs_actors = {.name = "setup_actors", .key_size = offsetof(PfsActor, switches)};

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
 * changed meanwhile.
 */
static uint64
find_switches(const char *user_name, const char *host)
{
	uint64		switches = 0;
	int			best = -1;
	bool		local = is_local(host);

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_actors.pages, &at);)
	{
		PfsActor	rule;
		bool		of_user;
		int			of_host;
		int			rank;

		if (!pfs_pages_copy(pfs_actors.pages, at.index, 0, &rule, sizeof(rule), &at.word))
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
 * attaches.  Reads the rules without a lock, and again as long as writers change
 * some.  A writer can have lost its processor in the middle: with may_wait the
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
	bool		is_valid;

	do
	{
		uint64		begin = pfs_seqlock_read_begin(&pfs_actors.shared->seq);

		switches = find_switches(user_name, host);
		is_valid = pfs_seqlock_read_valid(&pfs_actors.shared->seq, begin);
	} while (!is_valid && may_wait && pfs_patience_more(&patience));
	pfs_patience_end(&patience);
	errno = save_errno;
	*enabled = (switches & PFS_ACTOR_ENABLED) != 0;
	*history = (switches & PFS_ACTOR_HISTORY) != 0;
	return is_valid || may_wait;
}

/* Takes the container of rules from the segment. */
void
pfs_actors_lay_out(PfsSegment *seg)
{
	pfs_rules_lay_out(&pfs_actors, seg, pfs_sizes.actors);
}

/* Inserts the rule by which every session is instrumented. */
void
pfs_actors_start(void)
{
	PfsActor	rule = {PFS_ACTOR_ANY, PFS_ACTOR_ANY, PFS_ACTOR_ENABLED | PFS_ACTOR_HISTORY};

	pfs_rules_start(&pfs_actors, &rule, 1);
}
