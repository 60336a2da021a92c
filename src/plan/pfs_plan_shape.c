/*
 * pfs_plan_shape.c
 *	  The identifier of a plan: a hash over the plan tree's shape.
 *
 * The shape is what the planner has decided: types of nodes and their order, relations and indexes, join
 * types and strategies, columns that are sorted and grouped by, workers.  It has no constants, costs and
 * estimates.  It is a function of the PlannedStmt alone: what is pruned when the executor starts counts.
 *
 * Relations and indexes count by their names, so a REINDEX CONCURRENTLY, a table that was loaded anew, or a
 * temporary one of each session change nothing.  Partitions count as the table that they belong to, their
 * indexes by the columns; and of the children of one Append those of the same shape once, so that it makes no
 * difference how many partitions there are.
 *
 * A shape is found once for each plan that a process gets from the planner (pfs_plan_forget()).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pfs_digest.h"
#include "pfs_plan.h"
#include "pfs_plan_node.h"

PfsPlanWithoutText pfs_plan_without_text;
const PlannedStmt *pfs_plan_to_measure = NULL;
Oid			pfs_plan_to_measure_user = InvalidOid;

/* Shapes of children of one Append that are told apart. */
#define SHAPES_OF_CHILDREN 32

/* What the walk over a plan needs. */
typedef struct Walk
{
	const PlannedStmt *stmt;
	Index	   *parents;		/* by range table index: the parent's; NULL:
								 * there are none */
	uint32		nodes;			/* that were met, of equal children the first
								 * one's */
	PfsPlanNumbers *numbers;	/* what is noted of them; NULL: nothing */
	uint32		parent;			/* the number of the node above, if it is */
} Walk;

static uint64 shape_of(const Plan *plan, Walk *walk);

static inline uint64
mix(uint64 hash, uint64 value)
{
	hash = (hash ^ value) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

static uint64
mix_columns(uint64 hash, int n, const AttrNumber *columns)
{
	hash = mix(hash, n);
	for (int i = 0; i < n; i++)
		hash = mix(hash, columns[i]);
	return hash;
}

static uint64
mix_string(uint64 hash, const char *str)
{
	return mix(hash, pfs_hash_bytes(str, strlen(str)));
}

/* A relation's name with its schema; of a temporary one, which has a schema of its session, without. */
static uint64
mix_name(uint64 hash, Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);

		hash = mix_string(hash, NameStr(class->relname));
		if (class->relpersistence != RELPERSISTENCE_TEMP)
			hash = mix(hash, class->relnamespace);
		ReleaseSysCache(tuple);
	}
	return hash;
}

/* Of a partition the table at the root, by range table index; else the same; 0: there is none. */
static Index
root_of(Index rti, const Walk *walk)
{
	if (rti > list_length(walk->stmt->rtable))
		return 0;
	while (walk->parents != NULL && rti != 0 && walk->parents[rti] != 0 &&
		   rt_fetch(walk->parents[rti], walk->stmt->rtable)->rtekind == RTE_RELATION)
		rti = walk->parents[rti];
	return rti;
}

/* What is read: a relation, a function, values; of a partition the table at the root. */
static uint64
mix_range(uint64 hash, Index rti, Walk *walk)
{
	Index		root = root_of(rti, walk);
	const RangeTblEntry *entry;

	if (root == 0)
		return hash;
	entry = rt_fetch(root, walk->stmt->rtable);
	hash = mix(hash, entry->rtekind * 2 + (root != rti));
	return entry->rtekind == RTE_RELATION ? mix_name(hash, entry->relid) : hash;
}

/* An index: its name, of a partition its columns. */
static uint64
mix_index(uint64 hash, Index rti, Oid index, Walk *walk)
{
	HeapTuple	tuple;

	if (walk->parents == NULL || rti == 0 || walk->parents[rti] == 0)
		return mix_name(hash, index);
	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

		hash = mix_columns(hash, form->indnatts, form->indkey.values);
		ReleaseSysCache(tuple);
	}
	return hash;
}

static uint64
mix_children(uint64 hash, const List *children, Walk *walk)
{
	ListCell   *cell;

	foreach(cell, children)
		hash = mix(hash, shape_of(lfirst(cell), walk));
	return hash;
}

/* A child that is equal to one so far before it: those of its nodes get the numbers of that one's. */
static void
renumber(PfsPlanNumbers *numbers, uint32 noted, uint32 less)
{
	for (uint32 i = noted; i < numbers->nnoted; i++)
		numbers->of_id[numbers->noted[i]] -= less;
}

/* The children of an Append: where they are those of one table, each shape once. */
static uint64
mix_appended(uint64 hash, const List *children, const Bitmapset *parents, Walk *walk)
{
	int			parent = bms_next_member(parents, -1);
	uint64		seen[SHAPES_OF_CHILDREN];
	uint32		first[SHAPES_OF_CHILDREN];
	int			nseen = 0;
	ListCell   *cell;

	if (parent <= 0 || rt_fetch(parent, walk->stmt->rtable)->rtekind != RTE_RELATION)
		return mix_children(hash, children, walk);
	foreach(cell, children)
	{
		uint32		nodes = walk->nodes;
		uint32		noted = walk->numbers != NULL ? walk->numbers->nnoted : 0;
		uint64		shape = shape_of(lfirst(cell), walk);
		int			i = 0;

		while (i < nseen && seen[i] != shape)
			i++;
		if (i < nseen)
		{
			if (walk->numbers != NULL)
				renumber(walk->numbers, noted, nodes - first[i]);
			walk->nodes = nodes;
			continue;
		}
		if (nseen < SHAPES_OF_CHILDREN)
		{
			first[nseen] = nodes;
			seen[nseen++] = shape;
		}
		hash = mix(hash, shape);
	}
	return hash;
}

/* What a FunctionScan calls. */
static uint64
mix_functions(uint64 hash, const List *functions)
{
	ListCell   *cell;

	foreach(cell, functions)
	{
		const Node *call = ((const RangeTblFunction *) lfirst(cell))->funcexpr;

		hash = mix(hash, IsA(call, FuncExpr) ? ((const FuncExpr *) call)->funcid : (uint64) nodeTag(call));
	}
	return hash;
}

/* What the planner has decided of a node by itself. */
static uint64
mix_node(uint64 hash, const Plan *plan, Walk *walk)
{
	const Scan *scan = (const Scan *) plan;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_ValuesScan:
		case T_TableFuncScan:
		case T_WorkTableScan:
		case T_NamedTuplestoreScan:
			return mix_range(hash, scan->scanrelid, walk);
		case T_IndexScan:
			hash = mix_range(hash, scan->scanrelid, walk);
			hash = mix_index(hash, scan->scanrelid, ((const IndexScan *) plan)->indexid, walk);
			return mix(hash, ((const IndexScan *) plan)->indexorderdir);
		case T_IndexOnlyScan:
			hash = mix_range(hash, scan->scanrelid, walk);
			hash = mix_index(hash, scan->scanrelid, ((const IndexOnlyScan *) plan)->indexid, walk);
			return mix(hash, ((const IndexOnlyScan *) plan)->indexorderdir);
		case T_BitmapIndexScan:
			return mix_index(hash, scan->scanrelid, ((const BitmapIndexScan *) plan)->indexid, walk);
		case T_FunctionScan:
			return mix_functions(hash, ((const FunctionScan *) plan)->functions);
		case T_CteScan:
			return mix(hash, ((const CteScan *) plan)->ctePlanId);
		case T_ForeignScan:
			{
				const ForeignScan *foreign = (const ForeignScan *) plan;

				hash = mix(mix(hash, foreign->operation), foreign->fs_server);
				for (int i = -1; (i = bms_next_member(foreign->fs_relids, i)) >= 0;)
					hash = mix_range(hash, i, walk);
				return hash;
			}
		case T_CustomScan:
			return mix_range(mix_string(hash, ((const CustomScan *) plan)->methods->CustomName), scan->scanrelid, walk);
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			return mix(hash, ((const Join *) plan)->jointype);
		case T_Sort:
			return mix_columns(hash, ((const Sort *) plan)->numCols, ((const Sort *) plan)->sortColIdx);
		case T_IncrementalSort:
			hash = mix_columns(hash, ((const Sort *) plan)->numCols, ((const Sort *) plan)->sortColIdx);
			return mix(hash, ((const IncrementalSort *) plan)->nPresortedCols);
		case T_Agg:
			{
				const Agg  *agg = (const Agg *) plan;

				hash = mix(hash, agg->aggstrategy << 16 | agg->aggsplit);
				return mix(mix_columns(hash, agg->numCols, agg->grpColIdx), list_length(agg->chain));
			}
		case T_Group:
			return mix_columns(hash, ((const Group *) plan)->numCols, ((const Group *) plan)->grpColIdx);
		case T_Unique:
			return mix_columns(hash, ((const Unique *) plan)->numCols, ((const Unique *) plan)->uniqColIdx);
		case T_WindowAgg:
			hash = mix_columns(hash, ((const WindowAgg *) plan)->partNumCols, ((const WindowAgg *) plan)->partColIdx);
			return mix_columns(hash, ((const WindowAgg *) plan)->ordNumCols, ((const WindowAgg *) plan)->ordColIdx);
		case T_SetOp:
			return mix(hash, ((const SetOp *) plan)->cmd << 16 | ((const SetOp *) plan)->strategy);
		case T_Gather:
			return mix(hash, ((const Gather *) plan)->num_workers);
		case T_GatherMerge:
			return mix(hash, ((const GatherMerge *) plan)->num_workers);
		case T_ModifyTable:
			hash = mix(hash, ((const ModifyTable *) plan)->operation);
			return mix_range(hash, ((const ModifyTable *) plan)->nominalRelation, walk);
		default:
			return hash;
	}
}

/* The nodes below one that it has beside its two subtrees. */
static uint64
mix_below(uint64 hash, const Plan *plan, Walk *walk)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return mix_appended(hash, ((const Append *) plan)->appendplans, ((const Append *) plan)->apprelids, walk);
		case T_MergeAppend:
			{
				const MergeAppend *merge = (const MergeAppend *) plan;

				hash = mix_columns(hash, merge->numCols, merge->sortColIdx);
				return mix_appended(hash, merge->mergeplans, merge->apprelids, walk);
			}
		case T_BitmapAnd:
			return mix_children(hash, ((const BitmapAnd *) plan)->bitmapplans, walk);
		case T_BitmapOr:
			return mix_children(hash, ((const BitmapOr *) plan)->bitmapplans, walk);
		case T_SubqueryScan:
			return mix(hash, shape_of(((const SubqueryScan *) plan)->subplan, walk));
		case T_CustomScan:
			return mix_children(hash, ((const CustomScan *) plan)->custom_plans, walk);
		default:
			return hash;
	}
}

/* ---- numbers of nodes ---- */

#define TYPE_OF_TAG(number, tag, name) case tag: return number;

static PfsNodeType
type_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
			PFS_NODE_TYPES(TYPE_OF_TAG)
		default:
			return PFS_NODE_UNKNOWN;
	}
}

/* The range table index of what a node reads or changes; 0: of none, or of several. */
static Index
range_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapIndexScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_ForeignScan:
		case T_CustomScan:
			return ((const Scan *) plan)->scanrelid;
		case T_ModifyTable:
			return ((const ModifyTable *) plan)->nominalRelation;
		default:
			return 0;
	}
}

/* The index that a node reads; InvalidOid: none. */
static Oid
index_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			return ((const IndexScan *) plan)->indexid;
		case T_IndexOnlyScan:
			return ((const IndexOnlyScan *) plan)->indexid;
		case T_BitmapIndexScan:
			return ((const BitmapIndexScan *) plan)->indexid;
		default:
			return InvalidOid;
	}
}

/* The table, of a partition that at the root; InvalidOid: it is none. */
static Oid
relation_of(Index rti, const Walk *walk)
{
	Index		root = root_of(rti, walk);
	const RangeTblEntry *entry = root == 0 ? NULL : rt_fetch(root, walk->stmt->rtable);

	return entry != NULL && entry->rtekind == RTE_RELATION ? entry->relid : InvalidOid;
}

/* An index, of a partition that of the table at the root, if it is a part of one. */
static Oid
root_index(Oid index)
{
	while (OidIsValid(index) && get_rel_relispartition(index))
		index = get_partition_parent(index, true);
	return index;
}

/* Room for this plan_node_id. */
static void
enlarge(PfsPlanNumbers *numbers, uint32 id)
{
	uint32		room = Max(64, (id + 1) * 2);

	numbers->nids = Max(numbers->nids, id + 1);
	if (id < numbers->room)
		return;
	if (numbers->room == 0)
	{
		numbers->of_id = palloc(room * sizeof(*numbers->of_id));
		numbers->noted = palloc(room * sizeof(*numbers->noted));
	}
	else
	{
		numbers->of_id = repalloc(numbers->of_id, room * sizeof(*numbers->of_id));
		numbers->noted = repalloc(numbers->noted, room * sizeof(*numbers->noted));
	}
	memset(numbers->of_id + numbers->room, 0, (room - numbers->room) * sizeof(*numbers->of_id));
	numbers->room = room;
}

/* Notes the number of a node, which is how many were met by now, and, for the first one of it, what the planner says. */
static void
note_node(const Plan *plan, Walk *walk)
{
	PfsPlanNumbers *numbers = walk->numbers;
	Index		range = range_of(plan);

	enlarge(numbers, plan->plan_node_id);
	numbers->of_id[plan->plan_node_id] = walk->nodes;
	if (numbers->nnoted < numbers->room)
		numbers->noted[numbers->nnoted++] = plan->plan_node_id;
	if (walk->nodes < PFS_NODES_MAX && numbers->wants_facts)
		numbers->facts[walk->nodes] = (PfsNodeFacts)
	{
		.number = walk->nodes,
			.parent = walk->parent,
			.type = type_of(plan),
			.relation = relation_of(range, walk),
			.index = root_index(index_of(plan)),
			.rows = plan->plan_rows
	};
}

/* The shape of a node with all below it. */
static uint64
shape_of(const Plan *plan, Walk *walk)
{
	uint64		hash = nodeTag(plan) * 2 + plan->parallel_aware;
	uint32		parent = walk->parent;
	ListCell   *cell;

	check_stack_depth();
	walk->nodes++;
	if (unlikely(walk->numbers != NULL))
	{
		note_node(plan, walk);
		walk->parent = walk->nodes;
	}
	foreach(cell, plan->initPlan)
		hash = mix(hash, ((const SubPlan *) lfirst(cell))->plan_id);
	hash = mix_below(mix_node(hash, plan, walk), plan, walk);
	if (plan->lefttree != NULL)
		hash = mix(hash, shape_of(plan->lefttree, walk));
	if (plan->righttree != NULL)
		hash = mix(hash, shape_of(plan->righttree, walk) + 1);
	walk->parent = parent;
	return hash;
}

/* The shape of a plan, never 0; and how many nodes it has.  numbers NULL: nothing is noted of them. */
static uint64
shape_of_plan(const PlannedStmt *stmt, uint32 *nodes, PfsPlanNumbers *numbers)
{
	Walk		walk = {.stmt = stmt, .numbers = numbers};
	ListCell   *cell;
	uint64		shape;

	if (stmt->appendRelations != NIL)
	{
		walk.parents = palloc0((list_length(stmt->rtable) + 1) * sizeof(Index));
		foreach(cell, stmt->appendRelations)
		{
			const AppendRelInfo *child = lfirst(cell);

			walk.parents[child->child_relid] = child->parent_relid;
		}
	}
	shape = mix(stmt->commandType, shape_of(stmt->planTree, &walk));
	foreach(cell, stmt->subplans)
	{
		if (lfirst(cell) != NULL)
			shape = mix(shape, shape_of(lfirst(cell), &walk));
	}
	if (walk.parents != NULL)
		pfree(walk.parents);
	*nodes = walk.nodes;
	return shape != 0 ? shape : 1;
}

bool
pfs_plan_number_nodes(const PlannedStmt *stmt, bool wants_facts, PfsPlanNumbers *numbers)
{
	uint32		nodes;

	*numbers = (PfsPlanNumbers)
	{
		.wants_facts = wants_facts
	};
	numbers->facts[0].type = PFS_NODE_OUTPUT;
	(void) shape_of_plan(stmt, &nodes, numbers);
	numbers->n = nodes + 1;
	return numbers->n <= PFS_NODES_MAX;
}

/*
 * Most shapes of statements that come once are cheap, and EXPLAIN would cost them a tenth of their time: a plan that costs
 * less than this gets its text at its second execution.
 */
#define COST_OF_TEXT 1000

/* A worker's plan is a part of its leader's, which counts it. */
uint64
pfs_plan_find_id(const PlannedStmt *stmt, Oid user)
{
	PfsDigestKey key = pfs_digest_key(MyDatabaseId, user, stmt->queryId);
	PfsKnownPlan *known = pfs_known_plan(stmt->queryId);
	uint64		plan_id;
	uint32		nodes;

	if (stmt->queryId == 0 || stmt->planTree == NULL || IsParallelWorker())
		return 0;
	plan_id = shape_of_plan(stmt, &nodes, NULL);
	if (pfs_plan_lacks_text(&key, plan_id, stmt->planTree->total_cost >= COST_OF_TEXT))
		pfs_plan_without_text = (PfsPlanWithoutText)
	{
		stmt, user, plan_id, nodes
	};
	if (known->query_id != stmt->queryId || known->plan_id != plan_id)
		known->measured = 0;
	known->stmt = stmt;
	known->query_id = stmt->queryId;
	known->plan_id = plan_id;
	known->cost = stmt->planTree->total_cost;
	return pfs_plan_known_id(known, user);
}
