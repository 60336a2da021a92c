/*
 * pfs_client.c
 *	  The address of this process's client.
 *
 * The server's own pg_getnameinfo_all() asks the C library's resolver, which
 * allocates and may read files; an instrument point can do neither.
 */
#include "postgres.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "libpq/libpq-be.h"
#include "miscadmin.h"

#include "pfs_client.h"

/*
 * Writes the client's address for accounts and for the rules of setup_actors.
 * inet_ntop() only formats the address that the server noted when the client connected;
 * it fails only where the text has no room for it.  As it may set errno, errno is saved.
 * A family that is not listed here leaves an empty text, as a process without a client does.
 */
void
pfs_client_host(char buf[PFS_CLIENT_HOST_SIZE])
{
	const struct sockaddr_storage *addr = MyProcPort ? &MyProcPort->raddr.addr : NULL;
	int			save_errno = errno;

	StaticAssertStmt(PFS_CLIENT_HOST_SIZE >= INET6_ADDRSTRLEN, "each address has room");
	buf[0] = '\0';
	switch (addr != NULL ? addr->ss_family : AF_UNSPEC)
	{
		case AF_INET:
			inet_ntop(AF_INET, &((const struct sockaddr_in *) addr)->sin_addr, buf, PFS_CLIENT_HOST_SIZE);
			break;
		case AF_INET6:
			/* The zone is sin6_scope_id, which inet_ntop() does not see. */
			inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) addr)->sin6_addr, buf, PFS_CLIENT_HOST_SIZE);
			break;
		case AF_UNIX:
			strlcpy(buf, "[local]", PFS_CLIENT_HOST_SIZE);
			break;
	}
	errno = save_errno;
}
