/*
 * pfs_detour.h
 *	  Puts a jump at the start of functions of the server's own text, x86-64.
 *
 * For calls inside the binary, which pass no GOT slot.  The instructions that
 * the jump displaces are moved to a trampoline, which goes on behind them: what
 * a replacement calls as the original.  All detours of a list are set, or none,
 * but for those that stand alone.
 * Done once, in the postmaster, while it has one thread: every child inherits
 * the result.
 */
#ifndef PFS_DETOUR_H
#define PFS_DETOUR_H

#define PFS_DETOUR_REASON_SIZE 120

typedef enum PfsDetourResult
{
	PFS_DETOUR_PENDING,			/* not tried, or given up for another one's
								 * sake */
	PFS_DETOUR_ACTIVE,
	PFS_DETOUR_MISSING,			/* this server has no such function */
	PFS_DETOUR_REFUSED,			/* see reason */
} PfsDetourResult;

typedef struct PfsDetour
{
	const char *symbol;			/* as the server exports it */
	void	   *replacement;
	void	  **original;		/* gets the trampoline before the jump is set */
	bool		optional;		/* there are versions without it */
	bool		alone;			/* the others are set without it, too; not the
								 * first of a list */
	PfsDetourResult result;
	char		reason[PFS_DETOUR_REASON_SIZE];
} PfsDetour;

/*
 * Set them all: true.  False: nothing has changed, and at least one detour that does not
 * stand alone is REFUSED, or MISSING without being optional, with its reason.  One that
 * does can be REFUSED in either case.  Never raises.
 */
extern bool pfs_detour_patch(PfsDetour *detours, int ndetours);

/*
 * Take all of a list back that pfs_detour_patch() has set, because they do not work:
 * REFUSED for this reason.
 */
extern void pfs_detour_take_back(PfsDetour *detours, int ndetours, const char *reason);

#endif							/* PFS_DETOUR_H */
