/*
 * pfs_compat_tests.h
 *	  What differs between PostgreSQL 15 to 19 for the modules that tests load.
 *	  Nothing of pfs itself includes it.
 */
#ifndef PFS_COMPAT_TESTS_H
#define PFS_COMPAT_TESTS_H

#include "storage/lwlock.h"

/*
 * Makes a tranche.  Since 19 it has its name from then on, in all processes; before, each
 * process gives it a name for itself.  Both can go when 19 is the oldest version.
 */
static inline int
pfs_compat_new_tranche(const char *name)
{
#if PG_VERSION_NUM >= 190000
	return LWLockNewTrancheId(name);
#else
	return LWLockNewTrancheId();
#endif
}

static inline void
pfs_compat_register_tranche(int tranche, const char *name)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(tranche, name);
#endif
}

#endif							/* PFS_COMPAT_TESTS_H */
