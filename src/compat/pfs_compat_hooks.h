/*
 * pfs_compat_hooks.h
 *	  What differs between PostgreSQL 15, 16, 17 and 18 for the hooks of
 *	  planner, executor and utilities.  Apart from pfs_compat.h, so that no
 *	  other layer sees executor headers.
 */
#ifndef PFS_COMPAT_HOOKS_H
#define PFS_COMPAT_HOOKS_H

#include "executor/executor.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/queryjumble.h"	/* 16 moved it */
#else
#include "utils/queryjumble.h"
#endif

/* Parameters of ExecutorRun's hook, and how to pass them on: 18 dropped one. */
#if PG_VERSION_NUM >= 180000
#define PFS_EXECUTOR_RUN_PARAMS \
	QueryDesc *desc, ScanDirection direction, uint64 count
#define PFS_EXECUTOR_RUN_ARGS desc, direction, count
#else
#define PFS_EXECUTOR_RUN_PARAMS \
	QueryDesc *desc, ScanDirection direction, uint64 count, bool execute_once
#define PFS_EXECUTOR_RUN_ARGS desc, direction, count, execute_once
#endif

#endif							/* PFS_COMPAT_HOOKS_H */
