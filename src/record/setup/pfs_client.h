/*
 * pfs_client.h
 *	  The address of this process's client, as accounts, hosts and setup_actors
 *	  write it.
 */
#ifndef PFS_CLIENT_H
#define PFS_CLIENT_H

/* A numeric IPv6 address with an IPv4 tail, or "[local]"; terminator included. */
#define PFS_CLIENT_HOST_SIZE 48

/*
 * The client's numeric address without port and zone, "[local]" for a Unix
 * socket.  An empty text in a process that has no client.  Looks
 * nothing up, allocates nothing, keeps errno: for instrument points.
 */
extern void pfs_client_host(char buf[PFS_CLIENT_HOST_SIZE]);

#endif							/* PFS_CLIENT_H */
