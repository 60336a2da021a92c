/*
 * pfs_instr_hook_rows.c
 *	  Rows of pfs.probes for hooks and callbacks: whether a call was seen, and
 *	  whose functions stand around ours.
 *
 * Any library can set a hook at any time, so what the server's variable holds is
 * looked at when a row is read, in the process that reads it.  Separate from the hooks
 * themselves, of which the two files know only their own.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "miscadmin.h"
#include "tcop/utility.h"

#include "pfs_instr.h"
#include "pfs_instr_prove.h"
#include "pfs_probe_row.h"

StaticAssertDecl(PFS_NUM_HOOKS <= PFS_HOOKS_MAX, "too many hooks");

/* Set in the postmaster, inherited. */
static struct
{
	void	  **variable;
	void	  **previous;
	const bool *seen_here;
}			hooks[PFS_NUM_HOOKS];

PFS_HOT uint32 pfs_hooks_noted = 0;

void
pfs_hook_note(PfsHook hook)
{
	if (MyProc == NULL || !IsUnderPostmaster)
		return;

	/*
	 * Nearly always another process has been here: their line is not written
	 * again.
	 */
	if (pfs_load_relaxed(&pfs_shared_hooks->seen[hook]) == 0)
		pfs_store_relaxed(&pfs_shared_hooks->seen[hook], 1);
	pfs_hooks_noted |= UINT32_C(1) << hook;
}

bool
pfs_hook_was_seen(PfsHook hook)
{
	return pfs_shared_hooks != NULL && pfs_load_relaxed(&pfs_shared_hooks->seen[hook]) != 0;
}

/* A session that only copies, for instance, calls the executor's never. */
bool
pfs_hooks_were_seen(uint32 these)
{
	for (uint32 left = these & ~pfs_hooks_noted; left != 0; left &= left - 1)
	{
		if (!pfs_hook_was_seen(__builtin_ctz(left)))
			return false;
	}
	pfs_hooks_noted |= these;
	return true;
}

/* Does an address lie in the same object as this function? */
static bool
is_beside(const Dl_info *info, const void *function)
{
	Dl_info		other;

	return dladdr(function, &other) && other.dli_fbase == info->dli_fbase;
}

/*
 * Returns the name of the library that an address lies in, without folder and ending;
 * NULL: it lies in ours or in the server.
 */
static const char *
library_of(void *address, char *name, size_t size)
{
	Dl_info		info;
	const char *file;
	char	   *dot;

	if (!dladdr(address, &info) || info.dli_fname == NULL)
		return "unknown code";
	if (is_beside(&info, (void *) library_of) || is_beside(&info, (void *) standard_ProcessUtility))
		return NULL;
	file = strrchr(info.dli_fname, '/');
	strlcpy(name, file == NULL ? info.dli_fname : file + 1, size);
	dot = strstr(name, ".so");
	if (dot != NULL)
		*dot = '\0';
	return name;
}

/*
 * Fills in the row of a hook when it is read.  The function in the server's variable is
 * called first, and ours calls the one that was there before.
 */
static void
look_cb(PfsProbeRow *row, int hook)
{
	void	   *first = hooks[hook].variable != NULL ? *hooks[hook].variable : NULL;
	void	   *next = hooks[hook].previous != NULL ? *hooks[hook].previous : NULL;
	bool		seen = pfs_hook_was_seen(hook);
	char		name[NAMEDATALEN];
	const char *library = first != NULL ? library_of(first, name, sizeof(name)) : NULL;

	if (library != NULL && hooks[hook].seen_here != NULL)
		seen = *hooks[hook].seen_here;
	row->status = seen ? "active" : "off";
	if (hooks[hook].variable != NULL && first == NULL)
	{
		row->status = "unavailable";
		strlcpy(row->detail, "another library has emptied the hook", sizeof(row->detail));
	}
	else if (library != NULL && !seen)
	{
		row->status = "unavailable";
		snprintf(row->detail, sizeof(row->detail), "%s is in front of it and has not called it so far", library);
	}
	else if (library != NULL)
		snprintf(row->detail, sizeof(row->detail), "%s is in front of it", library);
	else if (!seen)
		strlcpy(row->detail, "no call was seen so far", sizeof(row->detail));
	else if (next != NULL && (library = library_of(next, name, sizeof(name))) != NULL)
		snprintf(row->detail, sizeof(row->detail), "in front of %s", library);
}

void
pfs_hook_report(PfsHook hook, const char *name, void *variable, void *previous)
{
	PfsProbeRow row = {.mechanism = "hook", .target = name, .status = "off", .look = look_cb, .number = hook};

	hooks[hook].variable = variable;
	hooks[hook].previous = previous;
	pfs_probe_report(&row);
}

void
pfs_hook_report_seen_here(PfsHook hook, const bool *seen)
{
	hooks[hook].seen_here = seen;
}
