/*
 * pfs_guc.c
 *	  The settings: definition, checks, and noticing those that were refused.
 *
 * Nearly all need a restart: sizes, because shared memory is laid out once;
 * the start-up lists, because a reload must not undo later UPDATEs.
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/guc.h"

#include "pfs.h"
#include "pfs_guc.h"

/* Instruments of a version alone are some 730. */
#define MIN_INSTRUMENTS 896

#define SAVE_INTERVAL_DEFAULT	300 /* seconds */
#define SAVE_INTERVAL_MAX		86400

#define PLAN_NODES_COST_DEFAULT	1000

#define UNSET(...) -1,

bool		pfs_enabled = true;
char	   *pfs_instruments_setting = NULL;
char	   *pfs_consumers_setting = NULL;
int			pfs_history_size[] = {PFS_EVENT_FAMILIES(UNSET)};
int			pfs_history_long_size[] = {PFS_EVENT_FAMILIES(UNSET)};
PfsSizeSettings pfs_size_settings = {PFS_SIZE_SETTINGS(UNSET)};
int			pfs_max_sql_text_length = PFS_SQL_TEXT_DEFAULT;
int			pfs_lwlock_events = PFS_LWLOCK_WAITS;
int			pfs_max_digest_length = PFS_SQL_TEXT_DEFAULT;
int			pfs_max_plan_text_length = PFS_PLAN_TEXT_DEFAULT;
int			pfs_plan_nodes = PFS_PLAN_NODES_BUDGET;
double		pfs_plan_nodes_budget = 1;
int			pfs_plan_nodes_cost = PLAN_NODES_COST_DEFAULT;
float		pfs_plan_nodes_from = PLAN_NODES_COST_DEFAULT;
int			pfs_max_digest_sample_age = PFS_SAMPLE_AGE_DEFAULT;
bool		pfs_save_on = true;
int			pfs_save_interval = SAVE_INTERVAL_DEFAULT;
int			pfs_load_history_size[] = {PFS_LOAD_SECONDS_DEFAULT, PFS_LOAD_MINUTES_DEFAULT, PFS_LOAD_TEN_MINUTES_DEFAULT};
int			pfs_load_interval = 1;
int			pfs_settings_refused = 0;

static const struct config_enum_entry plan_nodes_values[] = {
	{"off", PFS_PLAN_NODES_OFF, false},
	{"budget", PFS_PLAN_NODES_BUDGET, false},
	{"all", PFS_PLAN_NODES_ALL, false},
	{NULL, 0, false},
};

static const struct config_enum_entry lwlock_events_values[] = {
	{"waits", PFS_LWLOCK_WAITS, false},
	{"contended", PFS_LWLOCK_CONTENDED, false},
	{"all", PFS_LWLOCK_ALL, false},
	{NULL, 0, false},
};

/* 0 switches the table of instruments off together with everything else. */
static bool
check_max_instruments(int *newval, void **extra, GucSource source)
{
	if (*newval == -1 || *newval >= MIN_INSTRUMENTS)
		return true;
	GUC_check_errdetail("The instruments of PostgreSQL itself need %d places.", MIN_INSTRUMENTS);
	GUC_check_errhint("To switch pfs off, set pfs.enabled = off.");
	return false;
}

/*
 * A value that the configuration names is a placeholder until the setting is
 * defined; if it is not taken over, PostgreSQL warns and keeps the default.
 */
static char *
configured(const char *name)
{
	const char *value = GetConfigOption(name, true, false);

	return value == NULL ? NULL : pstrdup(value);
}

/* Defines a setting whose variable has its default.  unit: one of GUC_UNIT_xxx, or 0. */
static void
define_int(const char *name, const char *description, const char *detail, int *variable, int min, int max,
		   GucContext context, int unit, GucIntCheckHook check, GucIntAssignHook assign)
{
	char	   *wanted = configured(name);
	int			value;

	DefineCustomIntVariable(name, description, detail, variable, *variable, min, max,
							context, unit, check, assign, NULL);
	if (wanted != NULL && (!parse_int(wanted, &value, unit, NULL) || value != *variable))
		pfs_settings_refused++;
}

/* Defines the size of something, of which -1 stands for the default. */
static void
define_size(const char *name, const char *description, const char *detail, int *variable, int max,
			GucIntCheckHook check)
{
	define_int(name, description, detail, variable, -1, max, PGC_POSTMASTER, 0, check, NULL);
}

static void
define_bool(const char *name, const char *description, const char *detail, bool *variable)
{
	char	   *wanted = configured(name);
	bool		value;

	DefineCustomBoolVariable(name, description, detail, variable, *variable, PGC_POSTMASTER, 0, NULL, NULL, NULL);
	if (wanted != NULL && (!parse_bool(wanted, &value) || value != *variable))
		pfs_settings_refused++;
}

static void
define_enum(const char *name, const char *description, const char *detail, int *variable,
			const struct config_enum_entry *values, GucContext context, GucEnumAssignHook assign)
{
	char	   *wanted = configured(name);
	const char *taken;

	DefineCustomEnumVariable(name, description, detail, variable, *variable, values,
							 context, 0, NULL, assign, NULL);
	taken = GetConfigOption(name, false, false);
	if (wanted != NULL && pg_strcasecmp(wanted, taken) != 0)
		pfs_settings_refused++;
}

static void
define_real(const char *name, const char *description, const char *detail, double *variable, double min, double max,
			GucContext context, GucRealAssignHook assign)
{
	char	   *wanted = configured(name);
	double		value;

	DefineCustomRealVariable(name, description, detail, variable, *variable, min, max, context, 0, NULL, assign, NULL);
	if (wanted != NULL && (!parse_real(wanted, &value, 0, NULL) || value != *variable))
		pfs_settings_refused++;
}

/* A list, whose check takes bad entries out of what the configuration says. */
static void
define_list(const char *name, const char *description, const char *detail, char **variable,
			GucStringCheckHook check, PfsListProblem problem)
{
	const char *wanted = configured(name);
	char	   *wrong;

	DefineCustomStringVariable(name, description, detail, variable, "",
							   PGC_POSTMASTER, 0, check, NULL, NULL);
	while (wanted != NULL && (wrong = problem(&wanted)) != NULL)
	{
		pfs_settings_refused++;
		ereport(WARNING,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an entry of \"%s\" is left out", name),
				 errdetail("%s", wrong)));
	}
}

#define DEFINE_HISTORIES(family, word) \
	define_size("pfs.events_" word "_history_size", \
				"Finished " word " kept for each thread, in rows.", \
				"-1 is 10; 0 switches the table off.", \
				&pfs_history_size[family], PFS_HISTORY_SIZE_MAX, NULL); \
	define_size("pfs.events_" word "_history_long_size", \
				"Finished " word " kept for the whole server, in rows.", \
				"-1 is 10,000; 0 switches the table off.", \
				&pfs_history_long_size[family], PFS_HISTORY_LONG_SIZE_MAX, NULL);

#define DEFINE_SIZE(field, name, max, by_default, check, description, detail) \
	define_size(name, description, detail, &pfs_size_settings.field, max, check);

/* Defines the settings of the lists: histories of each family of events, and containers. */
static void
define_sizes(void)
{
	PFS_EVENT_FAMILIES(DEFINE_HISTORIES);
	PFS_SIZE_SETTINGS(DEFINE_SIZE);
}

/* Lengths of the load history's periods: so that a minute is made of whole ones. */
static const int load_intervals[] = {0, 1, 2, 5, 10, 15, 20, 30, 60};

static bool
check_load_interval(int *newval, void **extra, GucSource source)
{
	for (int i = 0; i < lengthof(load_intervals); i++)
	{
		if (*newval == load_intervals[i])
			return true;
	}
	GUC_check_errdetail("A minute has to be made of whole periods.");
	GUC_check_errhint("Possible are 1, 2, 5, 10, 15, 20, 30 and 60 seconds, and 0, which records nothing.");
	return false;
}

/* Defines the settings of the load history. */
static void
define_load_history(void)
{
	static const char *const detail = "0 switches this resolution off.";

	define_int("pfs.load_history_interval", "Length of the load history's periods.",
			   "1, 2, 5, 10, 15, 20, 30 or 60 seconds; 0 records nothing.",
			   &pfs_load_interval, 0, 60, PGC_SIGHUP, GUC_UNIT_S, check_load_interval, NULL);
	define_int("pfs.load_history_seconds", "Periods of the load history's finest resolution that are kept.",
			   detail, &pfs_load_history_size[0], 0, PFS_LOAD_HISTORY_MAX, PGC_POSTMASTER, 0, NULL, NULL);
	define_int("pfs.load_history_minutes", "Minutes of the load history that are kept.",
			   detail, &pfs_load_history_size[1], 0, PFS_LOAD_HISTORY_MAX, PGC_POSTMASTER, 0, NULL, NULL);
	define_int("pfs.load_history_ten_minutes", "Periods of ten minutes of the load history that are kept.",
			   detail, &pfs_load_history_size[2], 0, PFS_LOAD_HISTORY_MAX, PGC_POSTMASTER, 0, NULL, NULL);
}

/* Defines the settings of the file that survives a restart. */
static void
define_save(void)
{
	define_bool("pfs.save", "Keeps the load history and what is counted by digest over a restart.",
				"In pg_stat_tmp/pfs.save of the data directory. Off: that file is neither read nor written.",
				&pfs_save_on);
	define_int("pfs.save_interval", "Seconds between two times that it is saved: what a crash loses at most.",
			   "0: only when the server is stopped.",
			   &pfs_save_interval, 0, SAVE_INTERVAL_MAX, PGC_SIGHUP, GUC_UNIT_S, NULL, NULL);
}

/* The histories have room for so many bytes in each of their rows. */
static void
define_text_length(const char *name, const char *description, int *variable)
{
	define_int(name, description, "0 keeps no text.", variable, 0, PFS_TEXT_LENGTH_MAX,
			   PGC_POSTMASTER, GUC_UNIT_BYTE, NULL, NULL);
}

/* Defines all settings.  The hooks are those of the layers that understand the values. */
/* The least cost of plans that are measured, as the settings say; no plan costs less than 0. */
static void
set_plan_nodes_from(PfsPlanNodes which, double cost)
{
	pfs_plan_nodes_from = which == PFS_PLAN_NODES_OFF ? get_float4_infinity() : which == PFS_PLAN_NODES_ALL ? 0 : cost;
}

static void
assign_plan_nodes(int newval, void *extra)
{
	set_plan_nodes_from(newval, pfs_plan_nodes_cost);
}

static void
assign_plan_nodes_cost(int newval, void *extra)
{
	set_plan_nodes_from(pfs_plan_nodes, newval);
}

static void
define_plan_nodes(void)
{
	define_enum("pfs.plan_nodes", "Which executions are measured by node of their plan.",
				"off; budget: as many as pfs.plan_nodes_budget pays for; all: every one, and each call is timed.",
				&pfs_plan_nodes, plan_nodes_values, PGC_SUSET, assign_plan_nodes);
	define_real("pfs.plan_nodes_budget", "Percent of a process's processor time that measuring plans' nodes may cost.",
				"Of one execution ten times that at most. 0 measures none.",
				&pfs_plan_nodes_budget, 0, 100, PGC_SUSET, NULL);
	define_int("pfs.plan_nodes_cost", "Total cost of a plan from which on it is measured within the budget.",
			   "In the planner's units, as EXPLAIN shows them.",
			   &pfs_plan_nodes_cost, 0, INT_MAX, PGC_SUSET, 0, NULL, assign_plan_nodes_cost);
}

/* Defines all settings, and notes what the configuration has of them that was refused. */
void
pfs_guc_define(GucStringCheckHook check_instruments, PfsListProblem instruments_problem,
			   GucStringCheckHook check_consumers, PfsListProblem consumers_problem,
			   GucIntAssignHook assign_sample_age)
{
	define_bool("pfs.enabled", "Collects performance data.", "Off: no shared memory and no probe; tables are empty.",
				&pfs_enabled);
	define_list("pfs.instruments",
				"Instruments that are on, off or counted from the start.",
				"'pattern=value, ...'; % any characters, ? one; ON, OFF, COUNTED. The longest pattern wins.",
				&pfs_instruments_setting, check_instruments, instruments_problem);
	define_list("pfs.consumers",
				"Consumers that are on or off from the start.",
				"'pattern=value, ...'; % any characters, ? one; ON, OFF.",
				&pfs_consumers_setting, check_consumers, consumers_problem);
	define_sizes();
	define_text_length("pfs.max_sql_text_length", "Bytes of each statement's text that are kept.",
					   &pfs_max_sql_text_length);
	define_enum("pfs.lwlock_events",
				"What is an event of an LWLock.",
				"waits: each sleep; contended: each acquisition that slept; all: each acquisition. The latter two change the server's code in memory.",
				&pfs_lwlock_events, lwlock_events_values, PGC_POSTMASTER, NULL);
	define_text_length("pfs.max_digest_length", "Bytes of each digest's normalised text that are kept.",
					   &pfs_max_digest_length);
	define_text_length("pfs.max_plan_text_length", "Bytes of each plan's text that are kept.",
					   &pfs_max_plan_text_length);
	define_int("pfs.max_digest_sample_age",
			   "Seconds after which a digest's sample is replaced by the next statement, even if that is faster.",
			   "0: only by a slower one.",
			   &pfs_max_digest_sample_age, 0, PFS_SAMPLE_AGE_MAX, PGC_SIGHUP, GUC_UNIT_S, NULL, assign_sample_age);
	define_plan_nodes();
	define_save();
	define_load_history();
	MarkGUCPrefixReserved("pfs");
}
