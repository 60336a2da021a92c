/*
 * pfs_guc.h
 *	  All settings of pfs.
 */
#ifndef PFS_GUC_H
#define PFS_GUC_H

#include "utils/guc.h"

#include "pfs_sizes.h"

extern bool pfs_enabled;
extern char *pfs_instruments_setting;
extern char *pfs_consumers_setting;
extern int	pfs_history_size[PFS_NUM_EVENT_FAMILIES];
extern int	pfs_history_long_size[PFS_NUM_EVENT_FAMILIES];
extern int	pfs_max_sql_text_length;
extern int	pfs_max_plan_text_length;
extern int	pfs_lwlock_events;	/* PfsLwlockEvents: of LWLocks themselves and
								 * their holders there is nothing without
								 * detours */
extern int	pfs_max_digest_length;
extern int	pfs_plan_nodes;		/* PfsPlanNodes */
extern double pfs_plan_nodes_budget;	/* percent */
extern int	pfs_plan_nodes_cost;
extern float pfs_plan_nodes_from;	/* what these say: the least cost of plans
									 * that are measured; infinite: none is */
extern int	pfs_max_digest_sample_age;
extern bool pfs_save_on;		/* pfs.save */
extern int	pfs_save_interval;	/* seconds; 0: at a clean stop only */
extern int	pfs_load_interval;	/* seconds; 0: off */
extern int	pfs_load_history_size[3];	/* periods, by PfsLoadResolution */

/* Those of sizes, each by its field of PfsSizes; -1: the default. */
#define PFS_SIZE_SETTING(field, ...) int field;

typedef struct PfsSizeSettings
{
	PFS_SIZE_SETTINGS(PFS_SIZE_SETTING)
} PfsSizeSettings;

extern PfsSizeSettings pfs_size_settings;

/*
 * What was refused of the configuration: entries of the two lists, which are left
 * out, and other settings, which have their defaults.
 */
extern int	pfs_settings_refused;

/*
 * What is wrong with the next bad entry of a list, which is moved behind it, or NULL;
 * palloc'd.
 */
typedef char *(*PfsListProblem) (const char **list);

/*
 * _PG_init, while shared_preload_libraries are loaded.  What the two lists may
 * say is for the setup to know.
 */
extern void pfs_guc_define(GucStringCheckHook check_instruments, PfsListProblem instruments_problem,
						   GucStringCheckHook check_consumers, PfsListProblem consumers_problem,
						   GucIntAssignHook assign_sample_age);

#endif							/* PFS_GUC_H */
