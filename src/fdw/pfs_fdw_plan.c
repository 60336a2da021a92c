/*
 * pfs_fdw_plan.c
 *	  Planning a scan: estimates, the columns that will be asked for, and the
 *	  conditions that reduce the copy; EXPLAIN shows the latter.
 *
 * A condition reduces the copy if it compares a key column for equality, or a time
 * of periods in any way, with something that has one value during the whole statement.  It stays among the
 * scan's own conditions, so a table may ignore it.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_operator_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "pfs_compat_fdw.h"
#include "pfs_fdw.h"
#include "pfs_thread.h"

/* To copy one record out of shared memory, against cpu_tuple_cost for a row. */
#define COPY_COST_FACTOR 2.0
/* To look at one record that a condition leaves out. */
#define SKIP_COST_FACTOR 0.1
/* To make one column's Datum out of the copy. */
#define COLUMN_COST_FACTOR 0.1

/* A condition that reduces the copy. */
typedef struct PfsKeyCondition
{
	PfsKey		key;
	int			constant_side;	/* which argument is the constant: 0, 1 */
	int			strategy;		/* the column compared with the constant */
	RestrictInfo *rinfo;
} PfsKeyCondition;

/* RelOptInfo.fdw_private, from one planner callback to the next. */
typedef struct PfsPlan
{
	PfsBinding *binding;
	double		all_rows;		/* in the table */
	double		copied_rows;	/* what the keys leave of them */
	List	   *conditions;		/* of PfsKeyCondition */
} PfsPlan;

/*
 * Parameters that an InitPlan of the outermost query sets have one value during
 * the statement.  Those of an inner query can change from one rescan to the
 * next, and a rescan reads the copy again.
 */
static bool
is_set_once(PlannerInfo *root, int paramid)
{
	ListCell   *lc;

	if (root->parent_root != NULL)
		return false;
	foreach(lc, root->init_plans)
	{
		if (list_member_int(lfirst_node(SubPlan, lc)->setParam, paramid))
			return true;
	}
	return false;
}

/* Finds anything in an expression whose value can change from one rescan to the next. */
static bool
is_not_constant_walker(Node *node, PlannerInfo *root)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		Param	   *param = (Param *) node;

		return param->paramkind != PARAM_EXTERN &&
			!(param->paramkind == PARAM_EXEC && is_set_once(root, param->paramid));
	}
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, SubPlan) ||
		IsA(node, AlternativeSubPlan) || IsA(node, CurrentOfExpr))
		return true;
	return expression_tree_walker(node, is_not_constant_walker, (void *) root);
}

/* Has the expression one value during the statement? */
static bool
is_constant(PlannerInfo *root, Node *expr)
{
	return !is_not_constant_walker(expr, root) && !contain_volatile_functions(expr);
}

/*
 * How an operator compares its left argument with the right one, as a btree's strategy; 0,
 * where a key can do nothing with it.
 */
static int
strategy_of(const OpExpr *op, PfsKey key)
{
	Oid			left;
	Oid			right;
	int			strategy;

	switch (key)
	{
		case PFS_KEY_EVENT_NAME:
			if (op->opno == TextEqualOperator &&
				(!OidIsValid(op->inputcollid) || get_collation_isdeterministic(op->inputcollid)))
				return BTEqualStrategyNumber;
			return 0;
		case PFS_KEY_RESOLUTION:
			strategy = get_op_opfamily_strategy(op->opno, INTERVAL_BTREE_FAM_OID);
			break;
		case PFS_KEY_PERIOD_START:
		case PFS_KEY_PERIOD_END:
			/* Times without time zone, and dates, are other operators. */
			op_input_types(op->opno, &left, &right);
			if (left != TIMESTAMPTZOID || right != TIMESTAMPTZOID)
				return 0;
			return get_op_opfamily_strategy(op->opno, lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY)->btree_opf);
		default:
			/* int8 = int2, int4 or int8, either way round */
			strategy = get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID);
			break;
	}
	return strategy == BTEqualStrategyNumber ? strategy : 0;
}

/* The strategy with the arguments the other way round. */
static int
commuted(int strategy)
{
	return BTGreaterStrategyNumber + BTLessStrategyNumber - strategy;
}

/* Is the clause such a condition?  Else NULL. */
static PfsKeyCondition *
match_key(PlannerInfo *root, RelOptInfo *baserel, const PfsBinding *binding, RestrictInfo *rinfo)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	for (int side = 0; side < 2; side++)
	{
		Node	   *column_side = list_nth(op->args, 1 - side);
		Node	   *constant_side = list_nth(op->args, side);
		Var		   *var = (Var *) column_side;
		int			column;
		int			strategy;
		PfsKeyCondition *condition;

		if (!IsA(var, Var) || var->varno != baserel->relid || var->varlevelsup != 0 ||
			var->varattno <= 0 || var->varattno > binding->natts)
			continue;
		column = binding->column_of[var->varattno - 1];
		if (column < 0 || binding->table->columns[column].key == PFS_KEY_NONE)
			continue;
		strategy = strategy_of(op, binding->table->columns[column].key);
		if (strategy == 0 || !is_constant(root, constant_side))
			continue;
		condition = palloc(sizeof(PfsKeyCondition));
		condition->key = binding->table->columns[column].key;
		condition->constant_side = side;
		condition->strategy = side == 1 ? strategy : commuted(strategy);
		condition->rinfo = rinfo;
		return condition;
	}
	return NULL;
}

static bool
has_key(const PfsPlan *plan, PfsKey key)
{
	ListCell   *lc;

	foreach(lc, plan->conditions)
	{
		if (((PfsKeyCondition *) lfirst(lc))->key == key)
			return true;
	}
	return false;
}

/* The first condition on each key, all on times; further ones are only filters. */
static void
find_conditions(PlannerInfo *root, RelOptInfo *baserel, PfsPlan *plan)
{
	ListCell   *lc;

	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		PfsKeyCondition *condition = match_key(root, baserel, plan->binding, rinfo);

		if (condition != NULL && (pfs_key_is_time(condition->key) || !has_key(plan, condition->key)))
			plan->conditions = lappend(plan->conditions, condition);
	}
}

/* Usual widths of texts, which the planner would take for 32 bytes each. */
static void
set_widths(RelOptInfo *baserel, const PfsBinding *binding)
{
	for (int i = 0; i < binding->natts; i++)
	{
		AttrNumber	attno = i + 1;
		int			column = binding->column_of[i];

		if (column >= 0 && binding->table->columns[column].width > 0 &&
			attno >= baserel->min_attr && attno <= baserel->max_attr)
			baserel->attr_widths[attno - baserel->min_attr] = binding->table->columns[column].width;
	}
}

/* Estimates the rows of a table. */
static double
estimate_rows(const PfsTable *table)
{
	double		records = 0;

	if (table->estimate != NULL)
		return table->estimate(table);
	if (table->containers[0] == NULL)
		return table->usual_rows;
	for (int i = 0; i < PFS_TABLE_CONTAINERS && table->containers[i] != NULL; i++)
		records += pfs_pages_used(*table->containers[i]);
	return table->usual_rows > 0 ? records * table->usual_rows : records;
}

/* Estimates the rows that the copy has and those that the conditions leave. */
void
pfsGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	PfsPlan    *plan = palloc0(sizeof(PfsPlan));
	Relation	rel;

	pfs_require_loaded();
	rel = table_open(foreigntableid, NoLock);
	plan->binding = pfs_bind(rel);
	table_close(rel, NoLock);

	plan->all_rows = clamp_row_est(estimate_rows(plan->binding->table));
	plan->copied_rows = plan->all_rows;
	find_conditions(root, baserel, plan);
	set_widths(baserel, plan->binding);
	baserel->fdw_private = plan;
	baserel->tuples = plan->all_rows;
	set_baserel_size_estimates(root, baserel);

	/*
	 * Nothing is known about the values but how many threads share them.  One
	 * thread's part is that of the average thread; other conditions keep the
	 * planner's guess.
	 */
	if (has_key(plan, PFS_KEY_THREAD_ID))
	{
		List	   *others = NIL;
		ListCell   *lc;

		plan->copied_rows = clamp_row_est(plan->all_rows / clamp_row_est(pfs_pages_used(pfs_threads)));
		if (has_key(plan, PFS_KEY_EVENT_ID))
			plan->copied_rows = 1;
		foreach(lc, baserel->baserestrictinfo)
		{
			bool		used = false;
			ListCell   *k;

			foreach(k, plan->conditions)
			{
				PfsKeyCondition *condition = lfirst(k);

				if (condition->rinfo == lfirst(lc) && condition->key != PFS_KEY_EVENT_NAME)
					used = true;
			}
			if (!used)
				others = lappend(others, lfirst(lc));
		}
		baserel->rows = clamp_row_est(plan->copied_rows *
									  clauselist_selectivity(root, others, 0, JOIN_INNER, NULL));
	}
	else if (plan->conditions != NIL)
		plan->copied_rows = Max(baserel->rows, 1);
}

/* Adds the only path: copy the rows that the keys allow, then return those that match. */
void
pfsGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	PfsPlan    *plan = baserel->fdw_private;
	Cost		startup_cost;
	Cost		total_cost;

	/* The copy is made before the first row can be returned. */
	startup_cost = baserel->baserestrictcost.startup +
		plan->copied_rows * COPY_COST_FACTOR * cpu_tuple_cost +
		(plan->all_rows - plan->copied_rows) * SKIP_COST_FACTOR * cpu_tuple_cost;
	total_cost = startup_cost + plan->copied_rows *
		(cpu_tuple_cost + baserel->baserestrictcost.per_tuple +
		 list_length(baserel->reltarget->exprs) * COLUMN_COST_FACTOR * cpu_tuple_cost);
	startup_cost += baserel->reltarget->cost.startup;
	total_cost += baserel->reltarget->cost.startup +
		baserel->reltarget->cost.per_tuple * baserel->rows;

	/*
	 * One path: no order is promised, and a parameter would mean a new copy
	 * for each of its values.
	 */
	add_path(baserel, (Path *)
			 pfs_compat_create_foreignscan_path(root, baserel, baserel->rows, startup_cost,
												total_cost, baserel->lateral_relids, NIL));
}

/* Attribute numbers that the plan uses; a single 0 stands for the whole row. */
static List *
needed_attributes(RelOptInfo *baserel)
{
	Bitmapset  *used = NULL;
	List	   *result = NIL;
	ListCell   *lc;
	int			bit = -1;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &used);
	foreach(lc, baserel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, baserel->relid, &used);
	while ((bit = bms_next_member(used, bit)) >= 0)
	{
		int			attno = bit + FirstLowInvalidHeapAttributeNumber;

		if (attno == 0)
			return list_make1_int(0);
		if (attno > 0)
			result = lappend_int(result, attno);
	}
	return result;
}

/*
 * Makes the plan node.  All conditions stay with the executor; those on keys restrict
 * the copy as well.
 */
ForeignScan *
pfsGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
				  ForeignPath *best_path, List *tlist, List *scan_clauses, Plan *outer_plan)
{
	PfsPlan    *plan = baserel->fdw_private;
	List	   *exprs = NIL;
	List	   *keys = NIL;
	List	   *sides = NIL;
	List	   *strategies = NIL;
	ListCell   *lc;

	foreach(lc, plan->conditions)
	{
		PfsKeyCondition *condition = lfirst(lc);

		exprs = lappend(exprs, condition->rinfo->clause);
		keys = lappend_int(keys, condition->key);
		sides = lappend_int(sides, condition->constant_side);
		strategies = lappend_int(strategies, condition->strategy);
	}
	return make_foreignscan(tlist, extract_actual_clauses(scan_clauses, false), baserel->relid,
							exprs, list_make4(needed_attributes(baserel), keys, sides, strategies),
							NIL, NIL, outer_plan);
}

void
pfsExplainForeignScan(ForeignScanState *node, struct ExplainState *es)
{
	ForeignScan *scan = (ForeignScan *) node->ss.ps.plan;
	List	   *context;
	Node	   *expr;

	if (scan->fdw_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, NIL);
	expr = (Node *) make_ands_explicit(scan->fdw_exprs);
	ExplainPropertyText("Pushed Down",
						deparse_expression(expr, context, es->verbose, false), es);
}
