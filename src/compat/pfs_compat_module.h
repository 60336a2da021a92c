/*
 * pfs_compat_module.h
 *	  What a library says of itself to the server that loads it.
 */
#ifndef PFS_COMPAT_MODULE_H
#define PFS_COMPAT_MODULE_H

#include "fmgr.h"

/* Its name and version, which pg_get_loaded_modules() shows from 18 on.  Can go when 18 is
 * the oldest version. */
#ifdef PG_MODULE_MAGIC_EXT
#define PFS_MODULE_MAGIC(library, release) PG_MODULE_MAGIC_EXT(.name = library, .version = release)
#else
#define PFS_MODULE_MAGIC(library, release) PG_MODULE_MAGIC
#endif

#endif							/* PFS_COMPAT_MODULE_H */
