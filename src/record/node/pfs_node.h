/*
 * pfs_node.h
 *	  Nodes of plans: what was counted of each, added up over the executions that were measured.
 *
 * The nodes of a plan are a chain of records behind the plan's own (PfsDigest.nodes), in the order of their numbers.  It is
 * made as a whole, and goes as a whole.  The nodes of plans that had to go, and of those for which there was no room,
 * are added up in one record: all others.
 *
 * Whoever adds to a chain, or walks along it, keeps the plan from going by means of his own.  Separate from
 * pfs_node_area.h, where one process counts while it executes.
 */
#ifndef PFS_NODE_H
#define PFS_NODE_H

#include "pfs_cell.h"
#include "pfs_chain.h"
#include "pfs_thread.h"

/*
 * Types of nodes: number, tag, name as EXPLAIN has it in its formats for programs.  The saved file has the numbers: new ones are
 * added at the end.
 */
#define PFS_NODE_TYPES(X) \
	X(PFS_NODE_RESULT, T_Result, "Result") \
	X(PFS_NODE_PROJECT_SET, T_ProjectSet, "ProjectSet") \
	X(PFS_NODE_MODIFY_TABLE, T_ModifyTable, "ModifyTable") \
	X(PFS_NODE_APPEND, T_Append, "Append") \
	X(PFS_NODE_MERGE_APPEND, T_MergeAppend, "Merge Append") \
	X(PFS_NODE_RECURSIVE_UNION, T_RecursiveUnion, "Recursive Union") \
	X(PFS_NODE_BITMAP_AND, T_BitmapAnd, "BitmapAnd") \
	X(PFS_NODE_BITMAP_OR, T_BitmapOr, "BitmapOr") \
	X(PFS_NODE_SEQ_SCAN, T_SeqScan, "Seq Scan") \
	X(PFS_NODE_SAMPLE_SCAN, T_SampleScan, "Sample Scan") \
	X(PFS_NODE_INDEX_SCAN, T_IndexScan, "Index Scan") \
	X(PFS_NODE_INDEX_ONLY_SCAN, T_IndexOnlyScan, "Index Only Scan") \
	X(PFS_NODE_BITMAP_INDEX_SCAN, T_BitmapIndexScan, "Bitmap Index Scan") \
	X(PFS_NODE_BITMAP_HEAP_SCAN, T_BitmapHeapScan, "Bitmap Heap Scan") \
	X(PFS_NODE_TID_SCAN, T_TidScan, "Tid Scan") \
	X(PFS_NODE_TID_RANGE_SCAN, T_TidRangeScan, "Tid Range Scan") \
	X(PFS_NODE_SUBQUERY_SCAN, T_SubqueryScan, "Subquery Scan") \
	X(PFS_NODE_FUNCTION_SCAN, T_FunctionScan, "Function Scan") \
	X(PFS_NODE_TABLE_FUNC_SCAN, T_TableFuncScan, "Table Function Scan") \
	X(PFS_NODE_VALUES_SCAN, T_ValuesScan, "Values Scan") \
	X(PFS_NODE_CTE_SCAN, T_CteScan, "CTE Scan") \
	X(PFS_NODE_NAMED_TUPLESTORE_SCAN, T_NamedTuplestoreScan, "Named Tuplestore Scan") \
	X(PFS_NODE_WORK_TABLE_SCAN, T_WorkTableScan, "WorkTable Scan") \
	X(PFS_NODE_FOREIGN_SCAN, T_ForeignScan, "Foreign Scan") \
	X(PFS_NODE_CUSTOM_SCAN, T_CustomScan, "Custom Scan") \
	X(PFS_NODE_NESTED_LOOP, T_NestLoop, "Nested Loop") \
	X(PFS_NODE_MERGE_JOIN, T_MergeJoin, "Merge Join") \
	X(PFS_NODE_HASH_JOIN, T_HashJoin, "Hash Join") \
	X(PFS_NODE_MATERIALIZE, T_Material, "Materialize") \
	X(PFS_NODE_MEMOIZE, T_Memoize, "Memoize") \
	X(PFS_NODE_SORT, T_Sort, "Sort") \
	X(PFS_NODE_INCREMENTAL_SORT, T_IncrementalSort, "Incremental Sort") \
	X(PFS_NODE_GROUP, T_Group, "Group") \
	X(PFS_NODE_AGGREGATE, T_Agg, "Aggregate") \
	X(PFS_NODE_WINDOW_AGG, T_WindowAgg, "WindowAgg") \
	X(PFS_NODE_UNIQUE, T_Unique, "Unique") \
	X(PFS_NODE_GATHER, T_Gather, "Gather") \
	X(PFS_NODE_GATHER_MERGE, T_GatherMerge, "Gather Merge") \
	X(PFS_NODE_HASH, T_Hash, "Hash") \
	X(PFS_NODE_SETOP, T_SetOp, "SetOp") \
	X(PFS_NODE_LOCK_ROWS, T_LockRows, "LockRows") \
	X(PFS_NODE_LIMIT, T_Limit, "Limit")

/* PFS_NODE_OUTPUT is what the executor's run does outside of the plan's nodes: none of these, and always number 0 of a plan. */
typedef enum PfsNodeType
{
	PFS_NODE_UNKNOWN,
	PFS_NODE_OUTPUT,
	PFS_NODE_TYPES(PFS_ENUMERATOR)
	PFS_NUM_NODE_TYPES
} PfsNodeType;

/* Nodes of a plan, Output included, that can be counted; a plan that has more is not measured. */
#define PFS_NODES_MAX 256

/* What the planner said of a node, where it was measured first. */
typedef struct PfsNodeFacts
{
	uint16		number;			/* in the order of the plan's shape; equal
								 * children of partitions share one */
	uint16		parent;			/* its number; of Output 0 */
	uint16		type;			/* PfsNodeType */
	Oid			relation;		/* of a partition its root; InvalidOid: none */
	Oid			index;			/* likewise */
	double		rows;			/* estimated, of each loop */
} PfsNodeFacts;

/* What a node was counted with.  Times in ticks of the default timer. */
typedef struct PfsNodeSums
{
	uint64		executions;		/* that were measured */
	uint64		loops;
	uint64		rows;
	uint64		calls;
	uint64		timed;			/* calls of which the time was taken */
	uint64		total;			/* time, with that of what it has called */
	uint64		self;			/* signed: without that */
	uint64		max_total;		/* of one execution in one process */
} PfsNodeSums;

/* In shared memory. */
typedef struct PfsNode
{
	PfsNodeFacts facts;			/* before it is linked */
	uint32		next;			/* link of the next one, index + 1; 0: none */
	uint32		waits;			/* chain of its waits, by instrument */
	PfsNodeSums sums;			/* atomic adds */
} PfsNode;

/* Containers plan_nodes and plan_node_waits; NULL: pfs is off. */
extern PFS_HIDDEN PfsPages *pfs_nodes;
extern PFS_HIDDEN PfsPages *pfs_node_waits;

/* All others; in shared memory.  Their waits are cells by instrument, so that there is always room. */
extern PFS_HIDDEN PfsNode *pfs_other_nodes;
extern PFS_HIDDEN PfsSharedBlock pfs_node_other_waits;

/* Bytes of these cells. */
extern size_t pfs_node_other_waits_size(void);

/* Postmaster. */
extern void pfs_nodes_lay_out(PfsSegment *seg);

/* EXPLAIN's word for a type. */
extern const char *pfs_node_type_name(PfsNodeType type);

/* The node of a link; and the next one of the chain, NULL behind the last. */
static inline PfsNode *
pfs_node_at(uint32 link)
{
	return link == 0 ? NULL : pfs_pages_record(pfs_nodes, link - 1);
}

static inline PfsNode *
pfs_node_next(const PfsNode *node)
{
	return pfs_node_at(node->next);
}

/* ---- instrument points, inside a write section: no lock, no allocation, no error ---- */

/* Makes the chain of a plan, unless there is one by then.  False: there is no room for it, which counts as a loss. */
extern bool pfs_nodes_make(uint32 *head, const PfsNodeFacts *facts, uint32 n);

/* Adds to one node. */
extern void pfs_node_add(PfsNode *node, const PfsNodeSums *sums);

/* Adds waits to the node of this number; where the plan has none, to all others. */
extern void pfs_node_add_waits(uint32 head, uint32 number, PfsInstrumentId instrument, const PfsTotals *waits);

/* A plan goes: moves what its nodes have to all others, as long as that is wanted (NULL: it is not), and frees them. */
extern void pfs_nodes_free(uint32 *head, bool (*is_wanted) (void));

/* ---- readers and truncators ---- */

/* A copy of a node's sums. */
extern PfsNodeSums pfs_node_sums(const PfsNode *node);

/*
 * Empties the sums, or the waits, of a chain or of all others (pfs_other_nodes); return how many executions of its nodes,
 * or waits, that were.
 */
extern uint64 pfs_nodes_take(PfsNode *first);
extern uint64 pfs_node_waits_take(PfsNode *first);

#endif							/* PFS_NODE_H */
