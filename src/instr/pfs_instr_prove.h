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

/*
 * Postmaster: the row of pfs.probes of what could be proved, or not.  name: as PfsProbeRow has it; mechanism
 * and target: static; why_not NULL: it could.
 */
extern void pfs_prove_report(const char *name, const char *mechanism, const char *target, const char *why_not);

/*
 * Are errors seen when they are raised?  Else only those that are logged can be counted.  Set by
 * pfs_prove_start(), inherited.
 */
extern PFS_HIDDEN bool pfs_raises_are_seen;

/*
 * Postmaster: was the server optimized across files, by what it says of its build?  Then a
 * call inside it may lead to a copy of a function, for the arguments that this call has.
 * Meson does not say so of all builds.
 */
extern bool pfs_prove_server_is_lto(void);

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
	PFS_HOOK_PLPGSQL,
	PFS_HOOK_OBJECT_ACCESS,

	/*
	 * No hooks, of pfs_instr_buffer.c: what its searches have come to, and
	 * its detour.
	 */
	PFS_HOOK_BUFFER_FOUND,
	PFS_HOOK_BUFFER_MISSED,
	PFS_HOOK_BUFFER_LOCK,

	/* Of pfs_instr_method.c: methods were replaced by another library. */
	PFS_HOOK_METHODS_REPLACED,
} PfsHook;

#define PFS_NUM_HOOKS (PFS_HOOK_METHODS_REPLACED + 1)

/*
 * Postmaster, once: the row of a hook.  variable: the server's; previous: what it held
 * before.  Both NULL for a list of callbacks.
 */
extern void pfs_hook_report(PfsHook hook, const char *name, void *variable, void *previous);

/*
 * Postmaster: libraries that a session loads can set the hook, too.  Where one is in front of ours, not
 * what other processes have seen tells whether it calls ours, but this process's `seen`.
 */
extern void pfs_hook_report_seen_here(PfsHook hook, const bool *seen);

/* The hooks, a bit each, of whose calls this process has told or need not tell. */
extern PFS_HIDDEN uint32 pfs_hooks_noted;

/* Tell that the hook is called, for its row; unless the process must not touch shared memory. */
extern void pfs_hook_note(PfsHook hook);

/* Has any process told of it? */
extern bool pfs_hook_was_seen(PfsHook hook);

/* The first thing that each hook's function does. */
static inline void
pfs_hook_called(PfsHook hook)
{
	if (unlikely((pfs_hooks_noted & (UINT32_C(1) << hook)) == 0))
		pfs_hook_note(hook);
}

/* Have other processes told of all these?  Then this one need not. */
extern bool pfs_hooks_were_seen(uint32 these);

/* Has the process told of all those that nearly each statement calls, or need not? */
static inline bool
pfs_hooks_are_noted(void)
{
	const uint32 hooks = UINT32_C(1) << PFS_HOOK_EXECUTOR_START | UINT32_C(1) << PFS_HOOK_EXECUTOR_RUN |
	UINT32_C(1) << PFS_HOOK_EXECUTOR_FINISH | UINT32_C(1) << PFS_HOOK_EXECUTOR_END | UINT32_C(1) << PFS_HOOK_XACT;

	return likely((pfs_hooks_noted & hooks) == hooks) || pfs_hooks_were_seen(hooks);
}

#endif							/* PFS_INSTR_PROVE_H */
