/*
 * pfs_imports.c
 *	  Addresses of what a statement needs of the server and of the C library.
 */
#include "postgres.h"

#include "pfs_imports.h"

#define ADDRESS(name) .name##_at = &name,

PFS_FIXED_FIRST PfsImports pfs_imports = {PFS_IMPORTS(ADDRESS)};
