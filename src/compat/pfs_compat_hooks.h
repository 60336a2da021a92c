/*
 * pfs_compat_hooks.h
 *	  What differs between PostgreSQL 15 to 19 for the hooks of
 *	  planner, executor and utilities.  Apart from pfs_compat.h, so that few
 *	  other files see executor headers.
 */
#ifndef PFS_COMPAT_HOOKS_H
#define PFS_COMPAT_HOOKS_H

#include "executor/executor.h"
#include "parser/scanner.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/queryjumble.h"	/* 16 moved it */
#else
#include "utils/queryjumble.h"
#endif

#include "pfs_compat.h"

/*
 * One constant of a query, as the server's facility found it.  length: -1 if it is to
 * be found out; is_list: the rest of the list follows it (18).
 */
typedef struct PfsConstant
{
	int			location;
	int			length;
	bool		is_list;
} PfsConstant;

/*
 * Describes the i-th constant of a statement; false: it stays as it is (18 knows the query's
 * own parameters by their places).
 */
static inline bool
pfs_compat_constant(const JumbleState *jumble, int i, PfsConstant *constant)
{
	const LocationLen *from = &jumble->clocations[i];

	constant->location = from->location;
	constant->length = -1;
	constant->is_list = false;
#if PG_VERSION_NUM >= 180000
	if (from->extern_param && !jumble->has_squashed_lists)
		return false;
	if (from->squashed)
	{
		constant->length = from->length;
		constant->is_list = true;
	}
#endif
	return true;
}

/* Since 16 some utilities of one shape differ in their constants: CALL, for instance. */
#define PFS_UTILITIES_HAVE_CONSTANTS (PG_VERSION_NUM >= 160000)

/* Before 18 a constant that is met twice takes two numbers. */
#if PG_VERSION_NUM >= 180000
#define PFS_DUPLICATES_ARE_NUMBERED 0
#else
#define PFS_DUPLICATES_ARE_NUMBERED 1
#endif

/* The first parameter that a constant can be: behind the query's own. */
static inline int
pfs_compat_first_parameter(const JumbleState *jumble)
{
	return jumble->highest_extern_param_id + 1;
}

/*
 * Parameters of ExecutorRun's hook, how to pass them on, and what stands for them where there is no run: 18 dropped one, by which the caller says that
 * he runs the query no more than once.  May he want its rows in parts?  A query that SPI executes without a portal it
 * runs once.
 */
#if PG_VERSION_NUM >= 180000
#define PFS_EXECUTOR_RUN_PARAMS \
	QueryDesc *desc, ScanDirection direction, uint64 count
#define PFS_EXECUTOR_RUN_ARGS desc, direction, count
#define PFS_EXECUTOR_NO_RUN_ARGS desc, NoMovementScanDirection, 0
#define PFS_EXECUTOR_RUN_IN_PARTS (count != 0 && desc->dest->mydest != DestSPI)
#else
#define PFS_EXECUTOR_RUN_PARAMS \
	QueryDesc *desc, ScanDirection direction, uint64 count, bool execute_once
#define PFS_EXECUTOR_RUN_ARGS desc, direction, count, execute_once
#define PFS_EXECUTOR_NO_RUN_ARGS desc, NoMovementScanDirection, 0, true
#define PFS_EXECUTOR_RUN_IN_PARTS (count != 0 && !execute_once)
#endif

/*
 * Parameters of the planner's hook, and how to pass them on: 19 added what EXPLAIN wants
 * to know.  Can go when 19 is the oldest version.
 */
#if PG_VERSION_NUM >= 190000
#define PFS_PLANNER_PARAMS \
	Query *query, const char *str, int options, ParamListInfo params, ExplainState *es
#define PFS_PLANNER_ARGS query, str, options, params, es
#else
#define PFS_PLANNER_PARAMS Query *query, const char *str, int options, ParamListInfo params
#define PFS_PLANNER_ARGS query, str, options, params
#endif

/*
 * The hook of parse analysis gets what has been found of constants to read since 19.  Can
 * go when 19 is the oldest version.
 */
#if PG_VERSION_NUM >= 190000
typedef const JumbleState PfsJumbleState;
#else
typedef JumbleState PfsJumbleState;
#endif

/*
 * A scanner that is set up outside of the parser is not to warn of backslashes; 19, where
 * standard_conforming_strings cannot be off, has no such warning.  Can go when 19 is the
 * oldest version.
 */
static inline void
pfs_compat_scan_silently(core_yy_extra_type *extra)
{
#if PG_VERSION_NUM < 190000
	extra->escape_string_warning = false;
#endif
}

/* Where a plan comes from (PfsPlanOrigin).  Can go when 19 is the oldest version. */
static inline PfsPlanOrigin
pfs_compat_plan_origin(const PlannedStmt *stmt)
{
#if PG_VERSION_NUM >= 190000
	StaticAssertStmt(PFS_PLAN_INTERNAL == (int) PLAN_STMT_INTERNAL && PFS_PLAN_STANDARD == (int) PLAN_STMT_STANDARD &&
					 PFS_PLAN_GENERIC == (int) PLAN_STMT_CACHE_GENERIC &&
					 PFS_PLAN_CUSTOM == (int) PLAN_STMT_CACHE_CUSTOM, "origins are the server's");
	return (PfsPlanOrigin) stmt->planOrigin;
#else
	return PFS_PLAN_UNKNOWN;
#endif
}

#endif							/* PFS_COMPAT_HOOKS_H */
