/*
 * pfs_platform.c
 *	  Refuses what pfs was not made for, when it is built and when it is loaded.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <sys/utsname.h>

#include "pfs_platform.h"

#ifdef EXEC_BACKEND
#error "pfs needs processes that are forked: it does not work with EXEC_BACKEND"
#endif
#if !defined(__linux__) || !defined(__GLIBC__)
#error "pfs works on Linux with the GNU C library only"
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#error "pfs works on x86-64 and aarch64 only"
#endif

/*
 * The library was built for this processor, or it would not be here.  A kernel that
 * emulates Linux, another C library under a layer of compatibility, and a server that
 * was built unlike its headers can be met all the same.
 */
const char *
pfs_platform_refusal(void)
{
	struct utsname system;

	if (uname(&system) != 0 || strcmp(system.sysname, "Linux") != 0)
		return "the kernel is not Linux";
	if (dlsym(RTLD_DEFAULT, "gnu_get_libc_version") == NULL)
		return "the C library is not the GNU C library";
	/* Such a server runs it in each child, to find what others inherit. */
	if (dlsym(RTLD_DEFAULT, "SubPostmasterMain") != NULL)
		return "the server does not fork its processes but starts them anew (EXEC_BACKEND)";
	return NULL;
}
