/*
 * pfs_module.c
 *	  Start-up, in order: settings, shared memory, probes.
 *
 *	  _PG_init (postmaster)		lower rooms get their lists and callbacks;
 *								settings are defined; hooks are set
 *	  shmem_request_hook		sizes are resolved, memory and a lock requested
 *	  shmem_startup_hook		the segment is laid out; instruments register;
 *								the first time, the server's slots are patched
 *
 * After a crash the postmaster makes shared memory anew and calls the startup
 * hook again; slots stay patched.  Without preloading only the SQL functions
 * exist, and they say what is missing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "pfs.h"
#include "pfs_compat.h"
#include "pfs_compat_hooks.h"
#include "pfs_digest_pending.h"
#include "pfs_event.h"
#include "pfs_exit.h"
#include "pfs_guc.h"
#include "pfs_compat_module.h"
#include "pfs_instr.h"
#include "pfs_platform.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_probe_row.h"
#include "pfs_recorder.h"
#include "pfs_register.h"
#include "pfs_summary_kind.h"
#include "pfs_tables.h"
#include "pfs_thread_end.h"

PFS_MODULE_MAGIC("pfs", PFS_VERSION);

/* -1 of the settings. */
#define DEFAULT_HISTORY_SIZE		10
#define DEFAULT_HISTORY_LONG_SIZE	10000

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

PGDLLEXPORT void _PG_init(void);

static uint32
sized(int setting, int by_default)
{
	return setting >= 0 ? setting : by_default;
}

#define RESOLVE_SIZE(field, name, max, by_default, check, description, detail) \
	pfs_sizes.field = sized(pfs_size_settings.field, by_default);

/* Request hook: works out all sizes, as MaxBackends is final from here on, and asks for memory. */
static void
request_cb(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();

	PFS_SIZE_SETTINGS(RESOLVE_SIZE);
	for (int f = 0; f < PFS_NUM_FAMILIES; f++)
	{
		const PfsSummaryKind *kind = pfs_summary_kinds[f];

		pfs_sizes.cells[f] = kind->ncells != 0 ? kind->ncells : kind->cells();
	}
	pfs_sizes.sql_text = pfs_max_sql_text_length;
	pfs_sizes.digest_text = pfs_max_digest_length;
	pfs_sizes.plan_text = pfs_max_plan_text_length;
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		const PfsEventFamilyInfo *family = &pfs_event_families[f];

		pfs_sizes.history[f] = sized(pfs_history_size[f], DEFAULT_HISTORY_SIZE);
		pfs_sizes.history_long[f] = sized(pfs_history_long_size[f], DEFAULT_HISTORY_LONG_SIZE);
		pfs_sizes.event_size[f] = TYPEALIGN(PFS_CACHE_LINE, family->size + (family->more == NULL ? 0 : family->more()));
	}

	RequestAddinShmemSpace(pfs_shared_size());
	RequestNamedLWLockTranche("pfs", PFS_NUM_LOCKS);
}

/* How processes will know that they end. */
static void
watch_ends(void)
{
	void	   *exits;
	int		   *used;
	const char *why_not = pfs_exit_find(&exits, &used);

	if (why_not != NULL)
		ereport(LOG,
				(errmsg("pfs: processes leave their thread at the end of their exit: %s", why_not)));
	pfs_thread_end_start(exits, used);
}

/* Start-up hook: lays out shared memory, then sets the probes, once per postmaster. */
static void
startup_cb(void)
{
	static bool patched = false;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	pfs_shared_start();
	if (!patched)
	{
		patched = true;
		pfs_instr_start();
		watch_ends();
	}
	pfs_instr_mark_unavailable();
}

/*
 * The postmaster takes what the configuration says without its bad entries: a typing
 * error does not switch off what else was asked for.  pfs_guc.c warns of them, once.
 * Everybody else is told: ALTER SYSTEM (in a transaction also in single-user mode), or a
 * process that reads the configuration again, for which it changes nothing.
 */
static bool
check_list(char *list, bool consumers)
{
	const char *at = list;
	char	   *wrong = pfs_setup_list_problem(&at, consumers);

	if (wrong == NULL)
		return true;
	if (!IsUnderPostmaster && !IsTransactionState())
	{
		pfs_setup_leave_out(list, consumers);
		return true;
	}
	GUC_check_errcode(ERRCODE_INVALID_PARAMETER_VALUE);
	GUC_check_errdetail("%s", wrong);
	GUC_check_errhint("The form is 'pattern=value, ...', for example '%s'.",
					  consumers ? "events_waits_history_long=OFF" : "wait/io/file/%=COUNTED, idle%=OFF");
	return false;
}

static bool
check_instruments_cb(char **newval, void **extra, GucSource source)
{
	return check_list(*newval, false);
}

static bool
check_consumers_cb(char **newval, void **extra, GucSource source)
{
	return check_list(*newval, true);
}

static char *
instruments_problem_cb(const char **list)
{
	return pfs_setup_list_problem(list, false);
}

static char *
consumers_problem_cb(const char **list)
{
	return pfs_setup_list_problem(list, true);
}

/* Where pfs cannot work it leaves the server alone, and says so in the log and in probes. */
static bool
is_possible_here(void)
{
	const char *why_not = pfs_platform_refusal();
	PfsProbeRow row = {.name = "platform", .target = "Linux, glibc, fork()", .status = "unavailable"};

	if (why_not == NULL)
		return true;
	strlcpy(row.detail, why_not, sizeof(row.detail));
	pfs_probe_report(&row);
	ereport(LOG,
			(errmsg("pfs: cannot work here, the server runs without it: %s", why_not)));
	return false;
}

/* Entry point: settings first, as they decide whether anything else is done. */
void
_PG_init(void)
{
	pfs_record_register();
	pfs_tables_register();

	/* Settings of this kind cannot be defined once the server runs. */
	if (!process_shared_preload_libraries_in_progress)
		return;
	pfs_guc_define(check_instruments_cb, instruments_problem_cb, check_consumers_cb, consumers_problem_cb,
				   pfs_digest_assign_sample_age);
	pfs_is_loaded = true;

	/* pg_upgrade runs the server to move objects, not to be watched. */
	if (!pfs_enabled || IsBinaryUpgrade)
		return;
	if (!is_possible_here())
		return;
	/* The server's query identifiers tell statements apart. */
	EnableQueryId();
	pfs_recorder_register();
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_cb;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_cb;
}
