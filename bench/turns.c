/*
 * turns.c
 *	  Throughput of servers that run side by side, each with the same number of clients, in
 *	  turns of a fraction of a second.
 *
 * A program of its own, because pgbench knows one server and runs until it is done.  This
 * one is connected to all servers at once and drives one of them at a time: in each turn
 * every server gets its share, in an order that is drawn anew, so that what disturbs the
 * machine meets all of them alike.  A client sends the next point lookup, prepared, when it
 * has the answer to the last.
 *
 * usage: turns [-c CLIENTS] [-t SECONDS] [-m MILLISECONDS] [-a ROWS] [-s SEED] CONNINFO...
 *
 * Prints a line for each turn, with the lookups per second of each server.  ROWS is how many
 * pgbench_accounts has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "libpq-fe.h"

#define STATEMENT_NAME "P_0"
#define EVENTS 64

/* Before it counts, a server is driven this part of its share, to get its caches back. */
#define WARM_PART 5
/*
 * Times the clients, so many lookups come first: plans become generic, and processes map the
 * table and the library's memory, as those of a pool have long done.
 */
#define FIRST_LOOKUPS 1000

typedef struct Server
{
	PGconn	  **conns;			/* one for each client */
	int			epoll;			/* waits for all of them; data is the number */
} Server;

static int	clients = 16;
static int	rows = 100000;

static double
seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

/* Says what failed, and why where a connection knows. */
static void
give_up(const char *what, PGconn *conn)
{
	fprintf(stderr, "turns: %s: %s\n", what, conn != NULL ? PQerrorMessage(conn) : "");
	exit(1);
}

static void *
allocate(size_t size)
{
	void	   *memory = malloc(size);

	if (memory == NULL)
		give_up("out of memory", NULL);
	return memory;
}

/* Connects all clients to a server and prepares the statement in each. */
static void
connect_clients(Server *server, const char *conninfo)
{
	server->conns = allocate(clients * sizeof(PGconn *));
	server->epoll = epoll_create1(0);
	for (int i = 0; i < clients; i++)
	{
		struct epoll_event event = {0};
		PGconn	   *conn = PQconnectdb(conninfo);
		PGresult   *result;

		event.events = EPOLLIN;
		event.data.u32 = (uint32_t) i;
		if (PQstatus(conn) != CONNECTION_OK)
			give_up(conninfo, conn);
		result = PQprepare(conn, STATEMENT_NAME, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", 1, NULL);
		if (PQresultStatus(result) != PGRES_COMMAND_OK)
			give_up("PREPARE", conn);
		PQclear(result);
		if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, PQsocket(conn), &event) != 0)
			give_up("epoll_ctl", NULL);
		server->conns[i] = conn;
	}
}

/* Asks for a random row; the answer is awaited in drive(). */
static void
send_lookup(PGconn *conn)
{
	char		aid[16];
	const char *values[1] = {aid};

	snprintf(aid, sizeof(aid), "%d", 1 + (int) (random() % rows));
	if (!PQsendQueryPrepared(conn, STATEMENT_NAME, 1, values, NULL, NULL, 0) || PQflush(conn) != 0)
		give_up("sending", conn);
}

/* Reads what has come; returns whether the answer is complete. */
static int
receive(PGconn *conn)
{
	PGresult   *result;

	if (!PQconsumeInput(conn))
		give_up("receiving", conn);
	if (PQisBusy(conn))
		return 0;
	while ((result = PQgetResult(conn)) != NULL)
	{
		if (PQresultStatus(result) != PGRES_TUPLES_OK)
			give_up("a lookup", conn);
		PQclear(result);
	}
	return 1;
}

/*
 * Drives all clients of a server for some seconds and so many lookups, and until the last answer
 * is there, so that nothing of it falls into another server's share; returns lookups per
 * second.
 */
static double
drive(Server *server, double seconds, long lookups)
{
	double		start = seconds_now();
	long		answers = 0;
	int			waiting = clients;

	for (int i = 0; i < clients; i++)
		send_lookup(server->conns[i]);
	while (waiting > 0)
	{
		struct epoll_event events[EVENTS];
		int			n = epoll_wait(server->epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++)
		{
			PGconn	   *conn = server->conns[events[i].data.u32];

			if (!receive(conn))
				continue;
			answers++;
			if (answers < lookups || seconds_now() - start < seconds)
				send_lookup(conn);
			else
				waiting--;
		}
	}
	return (double) answers / (seconds_now() - start);
}

/* Draws the order in which the servers are connected to, and have their shares of a turn. */
static void
shuffle(int *order, int n)
{
	for (int i = 0; i < n; i++)
	{
		int			j = (int) (random() % (i + 1));

		order[i] = order[j];
		order[j] = i;
	}
}

/* Reads the options, connects, and gives out turns until the time is over. */
int
main(int argc, char **argv)
{
	double		seconds = 10;
	double		share = 0.15;
	double		end;
	int			option;
	int			n;
	Server	   *servers;
	double	   *rates;
	int		   *order;

	while ((option = getopt(argc, argv, "a:c:m:s:t:")) != -1)
	{
		switch (option)
		{
			case 'a':
				rows = atoi(optarg);
				break;
			case 'c':
				clients = atoi(optarg);
				break;
			case 'm':
				share = atof(optarg) / 1000;
				break;
			case 's':
				srandom((unsigned) atoi(optarg));
				break;
			case 't':
				seconds = atof(optarg);
				break;
			default:
				return 1;
		}
	}
	n = argc - optind;
	if (n < 1 || rows < 1 || clients < 1)
	{
		fprintf(stderr, "usage: turns [-c CLIENTS] [-t SECONDS] [-m MILLISECONDS] [-a ROWS] [-s SEED] CONNINFO...\n");
		return 1;
	}
	servers = allocate(n * sizeof(Server));
	rates = allocate(n * sizeof(double));
	order = allocate(n * sizeof(int));
	/* The sessions that are there last were seen to be the fastest. */
	shuffle(order, n);
	for (int i = 0; i < n; i++)
		connect_clients(&servers[order[i]], argv[optind + order[i]]);
	for (int i = 0; i < n; i++)
		drive(&servers[order[i]], 0, (long) clients * FIRST_LOOKUPS);
	end = seconds_now() + seconds;
	do
	{
		shuffle(order, n);
		for (int i = 0; i < n; i++)
		{
			drive(&servers[order[i]], share / WARM_PART, 0);
			rates[order[i]] = drive(&servers[order[i]], share, 0);
		}
		for (int i = 0; i < n; i++)
			printf("%s%.1f", i == 0 ? "" : " ", rates[i]);
		printf("\n");
	} while (seconds_now() < end);
	return fflush(stdout) == 0 ? 0 : 1;
}
