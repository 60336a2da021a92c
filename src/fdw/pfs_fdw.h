/*
 * pfs_fdw.h
 *	  What the parts of the plumbing share: the binding of a relation to its
 *	  table entry, and the errors that stand before everything else.
 */
#ifndef PFS_FDW_H
#define PFS_FDW_H

#include "foreign/fdwapi.h"
#include "utils/rel.h"

#include "pfs_table.h"

/* Declares a function of the SQL script; hidden visibility needs the first line. */
#define PFS_FUNCTION(name) \
	extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name)

/* A relation's columns, bound by name to those of the table entry. */
typedef struct PfsBinding
{
	const PfsTable *table;
	int			natts;
	int		   *column_of;		/* [natts], by attribute number - 1; -1:
								 * dropped, or newer than this library and
								 * always NULL */
} PfsBinding;

/*
 * Raises 42P01, 42703, 42804 where a relation does not fit the library, 55000
 * where the SQL objects of the extension are newer than the library.
 */
extern PfsBinding *pfs_bind(Relation rel);

/* Raise the latter. */
extern void pfs_report_other_version(Relation rel);

/* The entry, or NULL: raises nothing. */
extern const PfsTable *pfs_table_of(Relation rel);

/* Raise 55000 unless the server runs with the library preloaded. */
extern void pfs_require_loaded(void);

/* The same, and unless pfs.enabled is on. */
extern void pfs_require_active(void);

/* pfs_fdw_plan.c */
extern void pfsGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid);
extern void pfsGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid);
extern ForeignScan *pfsGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
									  ForeignPath *best_path, List *tlist, List *scan_clauses,
									  Plan *outer_plan);
extern void pfsExplainForeignScan(ForeignScanState *node, struct ExplainState *es);

/* ForeignScan.fdw_private, from pfs_fdw_plan.c to pfs_fdw_scan.c. */
typedef enum PfsPlanPrivate
{
	PFS_PLAN_NEEDED,			/* integer list: attribute numbers; one 0: all */
	PFS_PLAN_KEYS,				/* integer list, parallel to fdw_exprs: the
								 * PfsKey of each condition */
	PFS_PLAN_SIDES,				/* integer list, parallel: which argument of
								 * the condition is the constant */
	PFS_PLAN_STRATEGIES,		/* integer list, parallel: how the column
								 * compares with it, a btree's strategy */
} PfsPlanPrivate;

/* pfs_fdw_scan.c */
extern void pfsBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *pfsIterateForeignScan(ForeignScanState *node);
extern void pfsReScanForeignScan(ForeignScanState *node);
extern void pfsEndForeignScan(ForeignScanState *node);

/* pfs_fdw_modify.c */
extern void pfsAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
									   RangeTblEntry *target_rte, Relation target_relation);
extern List *pfsPlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation,
								  int subplan_index);
extern void pfsBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo,
								  List *fdw_private, int subplan_index, int eflags);
extern TupleTableSlot *pfsExecForeignInsert(EState *estate, ResultRelInfo *rinfo,
											TupleTableSlot *slot, TupleTableSlot *planSlot);
extern TupleTableSlot *pfsExecForeignUpdate(EState *estate, ResultRelInfo *rinfo,
											TupleTableSlot *slot, TupleTableSlot *planSlot);
extern TupleTableSlot *pfsExecForeignDelete(EState *estate, ResultRelInfo *rinfo,
											TupleTableSlot *slot, TupleTableSlot *planSlot);
extern void pfsEndForeignModify(EState *estate, ResultRelInfo *rinfo);
extern void pfsBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo);
extern int	pfsIsForeignRelUpdatable(Relation rel);
extern void pfsExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs);

/* Raise an error if the table cannot be truncated: 0A000 if it never can, or its own (check_truncate). */
extern void pfs_require_truncatable(const PfsTable *table);

/* Empty it and note the time. */
extern int64 pfs_truncate(const PfsTable *table);

/* ---- arguments of SQL functions ---- */

/* A text that must be given; YES or NO, -1 for NULL; the table that a user names. */
extern char *pfs_required_text(FunctionCallInfo fcinfo, int n, const char *name);
extern int	pfs_switch_argument(FunctionCallInfo fcinfo, int n, const char *name);
extern const PfsTable *pfs_require_table(const char *name);

#endif							/* PFS_FDW_H */
