/*
 * pfs_thread_kind.c
 *	  Kinds of threads: the backend types of the server's version, under the names
 *	  that threads and setup_threads show.
 *
 * Separate from the switches of these kinds (pfs_setup.c), which are in shared memory:
 * the names are each process's own, inherited from the postmaster.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_setup.h"

PfsThreadKind pfs_thread_kinds[PFS_NUM_BACKEND_TYPES];

/*
 * Makes the name of a thread from the words of the server: "client backend" behind
 * "thread/" becomes thread/client_backend.
 */
void
pfs_thread_make_name(char *dst, size_t size, const char *prefix, const char *words)
{
	snprintf(dst, size, "%s%s", prefix, words);
	for (; *dst; dst++)
	{
		if (*dst == ' ')
			*dst = '_';
	}
}

/* Makes the kinds, one for each backend type of the version. */
void
pfs_thread_kinds_start(void)
{
	for (int type = 0; type < PFS_NUM_BACKEND_TYPES; type++)
	{
		PfsThreadKind *kind = &pfs_thread_kinds[type];

		if (type == B_BG_WORKER)
			strlcpy(kind->name, "thread/worker", sizeof(kind->name));
		else
			pfs_thread_make_name(kind->name, sizeof(kind->name), "thread/", GetBackendTypeDesc((BackendType) type));
		kind->background = pfs_compat_type_attaches(type) &&
			!pfs_compat_is_foreground((BackendType) type);
		kind->documentation = GetBackendTypeDesc((BackendType) type);
	}
}
