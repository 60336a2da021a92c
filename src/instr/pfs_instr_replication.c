/*
 * pfs_instr_replication.c
 *	  Commands of the replication protocol that never wait: whatever a walsender
 *	  answers passes through here.
 *
 * No hook sees a replication command.  Those that wait or raise an error are noticed at that
 * instrument point; IDENTIFY_SYSTEM, SHOW and READ_REPLICATION_SLOT do neither, and when the
 * walsender sends its buffer and waits for the next command, the text is gone.  But each
 * command answers, at least with its completion, while it is in debug_query_string: so in a
 * walsender the server's method that takes a message for the client is called through a
 * function of ours.  It also sees where a command ends.  Messages of a replication stream
 * take another method.
 *
 * The methods are replaced when the client is authenticated, as then the process knows what it
 * is, and has answered nothing yet.
 */
#include "postgres.h"

#include "libpq/auth.h"
#include "libpq/libpq.h"
#include "replication/walsender.h"

#include "pfs_instr.h"
#include "pfs_statement.h"

#define READY_FOR_QUERY 'Z'

static ClientAuthentication_hook_type prev_client_authentication = NULL;
static const PQcommMethods *server_methods;
static PQcommMethods methods;

static int
putmessage_cb(char type, const char *message, size_t len)
{
	PfsThread  *t = pfs_my_thread;

	if (t != NULL && ((pfs_local.slow & PFS_SLOW_UNNAMED) || type == READY_FOR_QUERY))
		pfs_statement_answers(t, type == READY_FOR_QUERY);
	return server_methods->putmessage(type, message, len);
}

static void
client_authentication_cb(Port *port, int status)
{
	if (am_walsender && server_methods == NULL)
	{
		server_methods = PqCommMethods;
		methods = *server_methods;
		methods.putmessage = putmessage_cb;
		PqCommMethods = &methods;
	}
	if (prev_client_authentication)
		prev_client_authentication(port, status);
}

void
pfs_instr_replication_start(void)
{
	prev_client_authentication = ClientAuthentication_hook;
	ClientAuthentication_hook = client_authentication_cb;
}
