/*
 * pfs_actor.h
 *	  The rules of setup_actors: which new sessions are instrumented.
 *
 * A new session asks once, at an instrument point: without a lock, and without
 * waiting for anybody.  Changes come from SQL (pfs_rule_list.h).
 */
#ifndef PFS_ACTOR_H
#define PFS_ACTOR_H

#include "pfs_client.h"
#include "pfs_rule_list.h"

/* In a rule: any user, any host. */
#define PFS_ACTOR_ANY "%"
#define PFS_ACTOR_LOCALHOST "localhost"

#define PFS_ACTOR_ENABLED 0x1
#define PFS_ACTOR_HISTORY 0x2

/*
 * One rule.  Its names, the key, do not change while it lives.  There is no third name:
 * the only role that setup_actors takes is %.
 */
typedef struct PfsActor
{
	char		user_name[NAMEDATALEN];
	char		host[PFS_CLIENT_HOST_SIZE];
	uint64		switches;		/* PFS_ACTOR_* */
} PfsActor;

extern PfsRuleList pfs_actors;

/* Server start: the container, and the one rule that lets everybody be instrumented. */
extern void pfs_actors_lay_out(PfsSegment *seg);
extern void pfs_actors_start(void);

/*
 * What a session of this user and host starts with: the rule for both, else for
 * the user, else for the host, else for neither; none: not instrumented.  Keeps
 * errno; for instrument points.  While rules change it waits for half a second at most
 * with may_wait, where the process can hold no lock; else it returns false at once, and
 * what it says of the session is worth nothing.
 */
extern bool pfs_actor_decide(const char *user_name, const char *host, bool may_wait, bool *enabled, bool *history);

#endif							/* PFS_ACTOR_H */
