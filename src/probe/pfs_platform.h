/*
 * pfs_platform.h
 *	  Where pfs can work: Linux, glibc, x86-64 or aarch64, and a server whose
 *	  processes are forked.
 *
 * Elsewhere it does not build, and a library that gets there all the same leaves the
 * server alone.
 */
#ifndef PFS_PLATFORM_H
#define PFS_PLATFORM_H

/* The postmaster, when the library is loaded: NULL, or a static text saying why nothing can be patched. */
extern const char *pfs_platform_refusal(void);

#endif							/* PFS_PLATFORM_H */
