/*
 * pfs_actor.h
 *	  The rules of setup_actors: which new sessions are instrumented.
 *
 * A new session asks once, at an instrument point: without a lock, and without
 * waiting for anybody.  Changes come from SQL, under the setup lock.
 */
#ifndef PFS_ACTOR_H
#define PFS_ACTOR_H

#include "pfs_client.h"
#include "pfs_pages.h"
#include "pfs_seqlock.h"

/* In a rule: any user, any host. */
#define PFS_ACTOR_ANY "%"
#define PFS_ACTOR_LOCALHOST "localhost"

#define PFS_ACTOR_ENABLED 0x1
#define PFS_ACTOR_HISTORY 0x2

/*
 * One rule.  Its names do not change while it lives; both switches are one
 * word, so that no session takes one before a change and the other after it.  There
 * is no third name: the only role that setup_actors takes is %.
 */
typedef struct PfsActor
{
	char		user_name[NAMEDATALEN];
	char		host[PFS_CLIENT_HOST_SIZE];
	uint64		switches;		/* PFS_ACTOR_*; atomic */
} PfsActor;

/* A rule that was read, as the one to be changed or removed. */
typedef struct PfsActorRef
{
	uint32		index;
	uint64		word;			/* its state word then */
} PfsActorRef;

typedef struct PfsSharedActors
{
	PfsSeqlock	seq;			/* odd while rules come or go */
} PfsSharedActors;

/* NULL when pfs is off.  Inherited from the postmaster. */
extern PfsPages *pfs_actors;

typedef enum PfsActorResult
{
	PFS_ACTOR_DONE,
	PFS_ACTOR_DUPLICATE,
	PFS_ACTOR_FULL,
} PfsActorResult;

extern PfsSharedActors *pfs_shared_actors;

/* Server start: the container, and the one rule that lets everybody be instrumented. */
extern void pfs_actors_lay_out(PfsSegment *seg);
extern void pfs_actors_start(void);

/*
 * What a session of this user and host starts with: the rule for both, else for
 * the user, else for the host, else for neither; none: not instrumented.  Keeps
 * errno; for instrument points.  While rules come or go it waits for half a second at most
 * with may_wait, where the process can hold no lock; else it returns false at once.
 */
extern bool pfs_actor_decide(const char *user_name, const char *host, bool may_wait, bool *enabled, bool *history);

/*
 * The rest is for SQL commands; takes the setup lock.
 *
 * Could this rule be inserted now, together with so many others?
 */
extern PfsActorResult pfs_actor_check(const PfsActor *rule, int others);

/* All or none; *which is the first duplicate.  The rules differ in their keys. */
extern PfsActorResult pfs_actors_insert(const PfsActor *rules, int n, int *which);

/* Insert, or give the one with this key these switches. */
extern PfsActorResult pfs_actor_set(const PfsActor *rule);

/* -1 leaves as is.  A rule that has gone is passed over. */
extern void pfs_actor_update(PfsActorRef ref, int enabled, int history);

/* All at once.  Those that have gone are passed over; returns how many had not. */
extern int64 pfs_actors_remove(const PfsActorRef *refs, int n);
extern int64 pfs_actor_remove_key(const char *user_name, const char *host);
extern int64 pfs_actors_remove_all(void);

#endif							/* PFS_ACTOR_H */
