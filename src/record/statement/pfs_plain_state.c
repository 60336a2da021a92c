/*
 * pfs_plain_state.c
 *	  What the process knows of a plain statement.
 */
#include "postgres.h"

#include "pfs_plain_state.h"

PFS_HOT_STRUCT PfsPlain pfs_plain;
