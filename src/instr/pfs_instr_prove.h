/*
 * pfs_instr_prove.h
 *	  What the postmaster finds out, before its first child, about the ways in
 *	  which the server calls pfs; and which hooks have been called since.
 */
#ifndef PFS_INSTR_PROVE_H
#define PFS_INSTR_PROVE_H

#include "pfs_got.h"

/* Postmaster, once, when slots are patched: mark those that calls go past, and report the rest. */
extern void pfs_prove_start(PfsGotPatch *patches, int npatches);

/* Are errors seen when they are raised?  Else only those that are logged can be counted. */
extern bool pfs_prove_raises_are_seen(void);

/* ---- hooks, pfs_instr_hook_rows.c ---- */

typedef enum PfsHook
{
	PFS_HOOK_PARSE_ANALYZE,
	PFS_HOOK_PLANNER,
	PFS_HOOK_EXECUTOR_START,
	PFS_HOOK_EXECUTOR_RUN,
	PFS_HOOK_EXECUTOR_FINISH,
	PFS_HOOK_EXECUTOR_END,
	PFS_HOOK_PROCESS_UTILITY,
	PFS_HOOK_EMIT_LOG,
	PFS_HOOK_XACT,
	PFS_HOOK_SUBXACT,
} PfsHook;

#define PFS_NUM_HOOKS (PFS_HOOK_SUBXACT + 1)

/*
 * Postmaster, once: the row of a hook.  variable: the server's; previous: what it held
 * before.  Both NULL for a list of callbacks.
 */
extern void pfs_hook_report(PfsHook hook, const char *name, void *variable, void *previous);

/*
 * The hook was called.  False: this process must not touch shared memory (the
 * postmaster, the logger), and so has not told.
 */
extern bool pfs_hook_note(PfsHook hook);

#endif							/* PFS_INSTR_PROVE_H */
