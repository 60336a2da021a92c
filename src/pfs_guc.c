/*
 * pfs_guc.c
 *	  The settings: definition, checks, and noticing those that were refused.
 *
 * All but one need a restart: sizes, because shared memory is laid out once;
 * the start-up lists, because a reload must not undo later UPDATEs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "pfs.h"
#include "pfs_guc.h"

#define MAX_INSTANCES 1048576
/* Each has some 50 kB of address space for its counters. */
#define MAX_ACCOUNTS 65536
/* Instruments of a version alone are some 450; numbers are 16 bits wide. */
#define MIN_INSTRUMENTS 896
#define MAX_INSTRUMENTS 16384
/* Each new session looks through all of them. */
#define MAX_ACTORS 16384

bool		pfs_enabled = true;
char	   *pfs_instruments_setting = NULL;
char	   *pfs_consumers_setting = NULL;
int			pfs_history_size[PFS_NUM_EVENT_FAMILIES] = {-1, -1, -1, -1};
int			pfs_history_long_size[PFS_NUM_EVENT_FAMILIES] = {-1, -1, -1, -1};
int			pfs_max_sql_text_length = PFS_SQL_TEXT_DEFAULT;
int			pfs_max_thread_instances = -1;
int			pfs_max_file_instances = -1;
int			pfs_max_instruments = -1;
int			pfs_accounts_size = -1;
int			pfs_users_size = -1;
int			pfs_hosts_size = -1;
int			pfs_setup_actors_size = -1;
int			pfs_max_socket_instances = -1;
int			pfs_lwlock_events = PFS_LWLOCK_WAITS;
int			pfs_digests_size = -1;
int			pfs_max_digest_length = PFS_SQL_TEXT_DEFAULT;
int			pfs_max_digest_sample_age = PFS_SAMPLE_AGE_DEFAULT;
int			pfs_max_prepared_statements_instances = -1;
int			pfs_settings_refused = 0;

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

static void
define_int(const char *name, const char *description, const char *detail, int *variable, int max,
		   GucIntCheckHook check)
{
	char	   *wanted = configured(name);
	int			value;

	DefineCustomIntVariable(name, description, detail, variable, -1, -1, max,
							PGC_POSTMASTER, 0, check, NULL, NULL);
	if (wanted != NULL && (!parse_int(wanted, &value, 0, NULL) || value != *variable))
		pfs_settings_refused++;
}

static void
define_enum(const char *name, const char *description, const char *detail, int *variable,
			const struct config_enum_entry *values)
{
	char	   *wanted = configured(name);
	const char *taken;

	DefineCustomEnumVariable(name, description, detail, variable, *variable, values,
							 PGC_POSTMASTER, 0, NULL, NULL, NULL);
	taken = GetConfigOption(name, false, false);
	if (wanted != NULL && pg_strcasecmp(wanted, taken) != 0)
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

#define HISTORY(family, word) \
	do { \
		define_int("pfs.events_" word "_history_size", \
				   "Finished " word " kept for each thread, in rows.", \
				   "-1 is 10; 0 switches the table off.", \
				   &pfs_history_size[family], PFS_HISTORY_SIZE_MAX, NULL); \
		define_int("pfs.events_" word "_history_long_size", \
				   "Finished " word " kept for the whole server, in rows.", \
				   "-1 is 10,000; 0 switches the table off.", \
				   &pfs_history_long_size[family], PFS_HISTORY_LONG_SIZE_MAX, NULL); \
	} while (0)

static void
define_histories(void)
{
	HISTORY(PFS_WAITS, "waits");
	HISTORY(PFS_STAGES, "stages");
	HISTORY(PFS_STATEMENTS, "statements");
	HISTORY(PFS_TRANSACTIONS, "transactions");
}

static void
define_sample_age(GucIntAssignHook assign)
{
	char	   *wanted = configured("pfs.max_digest_sample_age");
	int			value;

	DefineCustomIntVariable("pfs.max_digest_sample_age",
							"Seconds after which a digest's sample is replaced by the next statement, even if that is faster.",
							"0: only by a slower one.",
							&pfs_max_digest_sample_age, PFS_SAMPLE_AGE_DEFAULT, 0, PFS_SAMPLE_AGE_MAX,
							PGC_SIGHUP, GUC_UNIT_S, NULL, assign, NULL);
	if (wanted != NULL && (!parse_int(wanted, &value, GUC_UNIT_S, NULL) || value != pfs_max_digest_sample_age))
		pfs_settings_refused++;
}

/* Bytes; the slots of all histories have room for one more text of that length. */
static void
define_text_length(const char *name, const char *description, int *variable, int by_default)
{
	char	   *wanted = configured(name);
	int			value;

	DefineCustomIntVariable(name, description, "0 keeps no text.", variable, by_default, 0,
							PFS_TEXT_LENGTH_MAX, PGC_POSTMASTER, GUC_UNIT_BYTE, NULL, NULL, NULL);
	if (wanted != NULL && (!parse_int(wanted, &value, GUC_UNIT_BYTE, NULL) || value != *variable))
		pfs_settings_refused++;
}

/* Defines all settings.  The hooks are those of the layers that understand the values. */
void
pfs_guc_define(GucStringCheckHook check_instruments, PfsListProblem instruments_problem,
			   GucStringCheckHook check_consumers, PfsListProblem consumers_problem,
			   GucIntAssignHook assign_sample_age)
{
	char	   *wanted = configured("pfs.enabled");
	bool		value;

	DefineCustomBoolVariable("pfs.enabled",
							 "Collects performance data.",
							 "Off: no shared memory and no probe; tables are empty.",
							 &pfs_enabled, true, PGC_POSTMASTER, 0, NULL, NULL, NULL);
	if (wanted != NULL && (!parse_bool(wanted, &value) || value != pfs_enabled))
		pfs_settings_refused++;

	define_list("pfs.instruments",
				"Instruments that are on, off or counted from the start.",
				"'pattern=value, ...'; % any characters, ? one; ON, OFF, COUNTED. The longest pattern wins.",
				&pfs_instruments_setting, check_instruments, instruments_problem);
	define_list("pfs.consumers",
				"Consumers that are on or off from the start.",
				"'pattern=value, ...'; % any characters, ? one; ON, OFF.",
				&pfs_consumers_setting, check_consumers, consumers_problem);
	define_histories();
	define_int("pfs.max_thread_instances",
			   "Processes that can be watched at a time.",
			   "-1 is every process that the server can have; 0 watches none.",
			   &pfs_max_thread_instances, MAX_INSTANCES, NULL);
	define_int("pfs.max_file_instances",
			   "Files that can be known by name at a time.",
			   "-1 is sized from max_connections; 0 knows none.",
			   &pfs_max_file_instances, MAX_INSTANCES, NULL);
	define_int("pfs.max_instruments",
			   "Instruments, those of extensions included.",
			   "-1 is 1,024.",
			   &pfs_max_instruments, MAX_INSTRUMENTS, check_max_instruments);
	define_int("pfs.accounts_size",
			   "Users on hosts whose numbers are kept apart.",
			   "-1 is sized from max_connections; 0: the numbers go to users and hosts.",
			   &pfs_accounts_size, MAX_ACCOUNTS, NULL);
	define_int("pfs.users_size",
			   "Users whose numbers are kept apart.",
			   "-1 is sized from max_connections; 0: none.",
			   &pfs_users_size, MAX_ACCOUNTS, NULL);
	define_int("pfs.hosts_size",
			   "Client addresses whose numbers are kept apart.",
			   "-1 is sized from max_connections; 0: none.",
			   &pfs_hosts_size, MAX_ACCOUNTS, NULL);
	define_int("pfs.setup_actors_size",
			   "Rules for new sessions in setup_actors.",
			   "-1 is 128; 0 has no rule, so no session is instrumented from its start.",
			   &pfs_setup_actors_size, MAX_ACTORS, NULL);
	define_int("pfs.max_socket_instances",
			   "Sockets of clients that can be known at a time.",
			   "-1 is one for each process that can be watched; 0 knows none.",
			   &pfs_max_socket_instances, MAX_INSTANCES, NULL);
	define_int("pfs.max_prepared_statements_instances",
			   "Prepared statements that can be known at a time.",
			   "-1 is sized from max_connections; 0 knows none.",
			   &pfs_max_prepared_statements_instances, MAX_INSTANCES, NULL);
	define_text_length("pfs.max_sql_text_length", "Bytes of each statement's text that are kept.",
					   &pfs_max_sql_text_length, PFS_SQL_TEXT_DEFAULT);
	define_enum("pfs.lwlock_events",
				"What is an event of an LWLock.",
				"waits: each sleep; contended: each acquisition that slept; all: each acquisition. The latter two change the server's code in memory.",
				&pfs_lwlock_events, lwlock_events_values);
	define_int("pfs.digests_size",
			   "Statement shapes whose numbers are kept apart, by database, user and query identifier.",
			   "-1 is sized from max_connections; 0: none.",
			   &pfs_digests_size, MAX_INSTANCES, NULL);
	define_text_length("pfs.max_digest_length", "Bytes of each digest's normalised text that are kept.",
					   &pfs_max_digest_length, PFS_SQL_TEXT_DEFAULT);
	define_sample_age(assign_sample_age);
	MarkGUCPrefixReserved("pfs");
}
