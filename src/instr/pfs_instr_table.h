/*
 * pfs_instr_table.h
 *	  What the files about tables and indexes share: structs of methods, and how a
 *	  process gets those that stand in for the server's.
 */
#ifndef PFS_INSTR_TABLE_H
#define PFS_INSTR_TABLE_H

#include "nodes/execnodes.h"

#include "pfs_compat_table.h"
#include "pfs_instr_scan.h"
#include "pfs_object_rules.h"
#include "pfs_wait_class.h"

/*
 * Methods that the server keeps in read-only memory, pointers to functions one behind the other,
 * and what they are before and while this process is watched: arrays as long.  Set in the
 * postmaster.
 */
typedef struct PfsMethodStruct
{
	void	  **place;
	void	  **real;
	void	  **ours;
	size_t		n;
} PfsMethodStruct;

/* What has been found out of a struct. */
typedef enum PfsMethodJudgement
{
	PFS_METHODS_ARE_SERVERS,
	PFS_METHODS_ARE_CHAINED,	/* some are another library's, and are called */
	PFS_METHODS_ARE_UNKNOWN,	/* it is laid out in another way */
} PfsMethodJudgement;

/* Postmaster: by those of its methods whose functions are known. */
extern PfsMethodJudgement pfs_method_struct_judge(const PfsCompatMethod *methods, int n);

/*
 * This process gets our methods, or those that were there before; instrument points.  Those
 * that another library has put there since stay, and it is noted for `probes` that there are such.
 * Returns 0, or the system's error, and then nothing has changed.
 */
extern int	pfs_method_struct_switch(const PfsMethodStruct *methods, bool on);

/*
 * Postmaster: reports methods as a row of pfs.probes.  access_method: static, "heap", "btree", ...;
 * why_not NULL: they can be watched.
 */
extern void pfs_method_struct_report(const char *access_method, PfsMethodJudgement judgement, const char *why_not);

/* Postmaster: reports which access methods of this database are not the server's own. */
extern void pfs_access_methods_report(void);

/* ---- pfs_instr_table.c ---- */

/* This process has our methods. */
extern PFS_HIDDEN bool pfs_tables_are_watched;

/* Gives it ours, or those that were there before; at any time, also in the middle of a scan. */
extern void pfs_tables_switch(bool on);

/*
 * Watches tables while wait/io/table/handler is enabled for this process; at any time, also in
 * a wait.
 */
static inline void
pfs_tables_follow_switch(PfsThread *t)
{
	bool		wanted = t != NULL &&
	(pfs_wait_flags(t, pfs_fixed_instrument[PFS_INS_TABLE]) & PFS_FLAG_ENABLED) != 0;

	if (unlikely(wanted != pfs_tables_are_watched))
		pfs_tables_switch(wanted);
}

/*
 * The same, by the rules as they are now: where a statement begins, and at the commit of a
 * process without hooks.  Reads catalogs, so never in a wait: the process may be in the list
 * of a condition variable, and reading a page would put it into another one.
 */
static inline void
pfs_tables_watch(PfsThread *t)
{
	pfs_tables_follow_switch(t);
	if (unlikely(pfs_tables_are_watched) && unlikely(!pfs_object_rules_are_current()))
		pfs_object_rules_resolve();
}

/* Before a query runs or finishes, while tables are watched: makes its tables' names known where an index is read. */
extern void pfs_tables_note_names(const EState *estate);

static inline void
pfs_tables_begin_query(const EState *estate)
{
	if (unlikely(pfs_tables_are_watched) && unlikely(pfs_object_rules_name_tables))
		pfs_tables_note_names(estate);
}

/* Those of tables whose fetches are seen.  Of another access method only its indexes are. */
extern PFS_HIDDEN const TableAmRoutine *pfs_heap_methods;

/* ---- pfs_instr_index.c ---- */

/*
 * Postmaster: the same of index access methods.  trusted: the running server is the one that
 * the headers are of.
 */
extern void pfs_index_methods_start(bool trusted);

/* This process begins, or stops, to watch indexes; as pfs_method_struct_switch(). */
extern int	pfs_index_methods_switch(bool on);

#endif							/* PFS_INSTR_TABLE_H */
