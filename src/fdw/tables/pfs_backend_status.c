/*
 * pfs_backend_status.c
 *	  Reading another process's status entry, in place and under its change
 *	  count.
 *
 * The server's own functions copy the whole array once per transaction; here
 * one entry is wanted, as it is now.  Texts lie outside the entry, so they are
 * copied under the same count.
 */
#include "postgres.h"

#include <netdb.h>
#include <sys/socket.h>

#include "common/ip.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/wait_event.h"

#include "pfs_backend_status.h"
#include "pfs_value.h"

/*
 * pfs_backend_status_read copies one entry for the tables of threads and sockets.
 * The caller gets nothing if the process has ended, or if the patience has run out.
 */
bool
pfs_backend_status_read(const PgBackendStatus *entry, int pid, PfsBackendStatus *copy, PfsPatience *patience)
{
	volatile const PgBackendStatus *shared = entry;
	PgBackendStatus local;
	char		application[NAMEDATALEN];
	char	   *activity;
	int			before;
	int			after;
	int			encoding;

	if (entry == NULL)
		return false;
	activity = palloc(pgstat_track_activity_query_size);
	pfs_patience_next(patience);
	do
	{
		CHECK_FOR_INTERRUPTS();
		pgstat_begin_read_activity(shared, before);
		memcpy(&local, entry, sizeof(local));
		if (local.st_procpid == pid)
		{
			memcpy(application, entry->st_appname, NAMEDATALEN);
			memcpy(activity, entry->st_activity_raw, pgstat_track_activity_query_size);
		}
		pgstat_end_read_activity(shared, after);
	} while (!pgstat_read_activity_complete(before, after) && pfs_patience_more(patience));
	if (!pgstat_read_activity_complete(before, after) || local.st_procpid != pid)
		return false;

	application[NAMEDATALEN - 1] = '\0';
	activity[pgstat_track_activity_query_size - 1] = '\0';
	encoding = pfs_database_encoding(local.st_databaseid);
	copy->state = local.st_state;
	copy->state_start = local.st_state_start_timestamp ? local.st_state_start_timestamp
		: local.st_proc_start_timestamp;
	copy->database = local.st_databaseid;
	copy->client = local.st_clientaddr;
	copy->ssl = local.st_ssl;
	copy->gss = local.st_gss;
	copy->application_name = pfs_text_convert(application, strlen(application), encoding);
	copy->activity = NULL;
	if ((local.st_state == STATE_RUNNING || local.st_state == STATE_FASTPATH) && activity[0])
		copy->activity = pfs_text_of_statement(activity, strlen(activity), encoding);
	pfree(activity);
	return true;
}

/*
 * pfs_backend_status_is_idle says whether a session waits for its next command.
 * The wait event alone does not tell: a session also waits for the data of COPY,
 * and it says that it is idle before it has sent the result.
 */
bool
pfs_backend_status_is_idle(const PgBackendStatus *entry, int pid, int procno, PfsPatience *patience)
{
	volatile const PgBackendStatus *shared = entry;
	volatile const PGPROC *proc = GetPGProcByNumber(procno);
	BackendState state;
	int			before;
	int			after;

	if (proc->pid != pid || proc->wait_event_info != WAIT_EVENT_CLIENT_READ)
		return false;
	if (entry == NULL)
		return true;
	pfs_patience_next(patience);
	do
	{
		CHECK_FOR_INTERRUPTS();
		pgstat_begin_read_activity(shared, before);
		state = shared->st_procpid == pid ? shared->st_state : STATE_UNDEFINED;
		pgstat_end_read_activity(shared, after);
		if (pgstat_read_activity_complete(before, after))
			return state != STATE_RUNNING && state != STATE_FASTPATH;
	} while (pfs_patience_more(patience));
	return true;
}

/* Returns the client's address as threads.processlist_host shows it. */
char *
pfs_backend_status_host(const PfsBackendStatus *status)
{
	char		host[NI_MAXHOST];

	switch (status->client.addr.ss_family)
	{
		case AF_INET:
		case AF_INET6:
			if (pg_getnameinfo_all(&status->client.addr, status->client.salen, host, sizeof(host),
								   NULL, 0, NI_NUMERICHOST) != 0)
				return NULL;
			clean_ipv6_addr(status->client.addr.ss_family, host);
			return pstrdup(host);
		case AF_UNIX:
			return pstrdup("[local]");
		default:
			return NULL;
	}
}

/* Returns the kind of the connection as threads.connection_type shows it. */
const char *
pfs_backend_status_connection(const PfsBackendStatus *status)
{
	if (status->ssl)
		return "SSL/TLS";
	if (status->gss)
		return "GSS";
	switch (status->client.addr.ss_family)
	{
		case AF_INET:
		case AF_INET6:
			return "TCP/IP";
		case AF_UNIX:
			return "Socket";
		default:
			return NULL;
	}
}
