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

#include "pfs_compat.h"
#include "pfs_setup.h"

static PfsThreadKind thread_kinds[PFS_MAX_THREAD_KINDS];
static int	nthread_kinds = 0;

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

/*
 * Returns how many kinds there are.  Makes them, one for each backend type of the version,
 * when it is first called: in the postmaster where pfs is on.
 */
int
pfs_thread_kind_count(void)
{
	if (nthread_kinds == 0)
	{
		StaticAssertStmt(PFS_NUM_BACKEND_TYPES <= PFS_MAX_THREAD_KINDS, "too many backend types");
		for (int type = 0; type < PFS_NUM_BACKEND_TYPES; type++)
		{
			PfsThreadKind *kind = &thread_kinds[type];

			if (type == B_BG_WORKER)
				strlcpy(kind->name, "thread/worker", sizeof(kind->name));
			else
				pfs_thread_make_name(kind->name, sizeof(kind->name), "thread/", GetBackendTypeDesc((BackendType) type));
			kind->background = pfs_compat_type_attaches(type) &&
				!pfs_compat_is_foreground((BackendType) type);
			kind->documentation = GetBackendTypeDesc((BackendType) type);
		}
		nthread_kinds = PFS_NUM_BACKEND_TYPES;
	}
	return nthread_kinds;
}

const PfsThreadKind *
pfs_thread_kind(int kind)
{
	return kind >= 0 && kind < pfs_thread_kind_count() ? &thread_kinds[kind] : NULL;
}
