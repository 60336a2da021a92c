/*
 * pfs_backend_status.h
 *	  A private copy of what a process says of itself in the server's own array
 *	  of backend status entries.
 */
#ifndef PFS_BACKEND_STATUS_H
#define PFS_BACKEND_STATUS_H

#include "utils/backend_status.h"

#include "pfs_patience.h"

typedef struct PfsBackendStatus
{
	BackendState state;
	TimestampTz state_start;
	Oid			database;
	SockAddr	client;
	bool		ssl;
	bool		gss;
	char	   *application_name;	/* in this database's encoding */
	char	   *activity;		/* the same; secrets hidden; NULL: not running */
} PfsBackendStatus;

/*
 * False if the entry does not belong to the process any more, or if the patience with
 * its writer has run out.  palloc's.
 */
extern bool pfs_backend_status_read(const PgBackendStatus *entry, int pid, PfsBackendStatus *copy, PfsPatience *patience);

/*
 * Does a process, whose PGPROC has the number, wait for its client's next command?
 * With track_activities off one that waits for the data of a COPY looks the same.
 */
extern bool pfs_backend_status_is_idle(const PgBackendStatus *entry, int pid, int procno, PfsPatience *patience);

/* "127.0.0.1", "[local]"; NULL: no client.  palloc'd. */
extern char *pfs_backend_status_host(const PfsBackendStatus *status);

/* "TCP/IP", ...; NULL: no client. */
extern const char *pfs_backend_status_connection(const PfsBackendStatus *status);

#endif							/* PFS_BACKEND_STATUS_H */
