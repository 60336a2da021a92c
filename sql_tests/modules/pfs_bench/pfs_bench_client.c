/*
 * pfs_bench_client.c
 *	  Cycles of a whole transaction, as a client of several servers sees them.
 *
 * A program, no part of the module.  It is connected to all servers at once and
 * gives them the same prepared statement in turns: some hundreds of executions for
 * each server, the order of the servers drawn anew in each turn, the parameters
 * the same for all.  What the machine does beside, and how fast it runs at the
 * time, so meets all servers alike, and a difference within one turn is free of
 * it.  Each execution is timed from before its message is built until its result
 * is read.  What counts are means of GROUP executions one after the other: an
 * execution in some fills a block of a history and gets another one, and no low
 * quantile of single ones would have that in.  Low quantiles of the groups of a
 * turn leave out those that something interrupted.
 *
 * Client and servers have to share a processor, and no process may run before
 * the other waits (SCHED_BATCH or SCHED_FIFO): then everything that a transaction makes the
 * server do lies between the two readings, also what it does after the answer is
 * sent.  bench/transaction sees to it.
 *
 * usage: pfs_bench_client [-p] [-c SESSIONS] [-n EXECUTIONS] [-t SECONDS] [-m MAX] [-s SEED] STATEMENT CONNINFO...
 *
 * -c: so many sessions of each server, which execute one after the other, so that each
 * has what it needs pushed out of the caches before it is its turn again, as where many
 * clients share a processor.  -p: sleep after each turn for as long as it took, and leave the processor to others.
 *
 * Prints a line per turn and server: number of the turn, number of the server
 * from 0, and the quantiles 0.1, 0.25 and 0.5 of the groups' cycles each execution
 * (nanoseconds where no cycle counter can be read).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "libpq-fe.h"

#define STATEMENT_NAME "P_0"
#define MAX_PARAMS 8
#define GROUP 16

/*
 * Executions that only warm: plans become generic, caches get filled, and the long
 * histories go round once, which with 64 sessions takes some 20,000.  Until then, each
 * store into them is to a page that the kernel has yet to provide.
 */
#define WARM_EXECUTIONS 40000

typedef struct Server
{
	PGconn	  **conns;			/* [nsessions] */
	uint64_t   *times;			/* of the groups of one turn */
} Server;

static Server *servers;
static int	nservers;
static int *order;				/* [nservers] of the servers, drawn anew in
								 * each turn */
static int	nparams;
static int	nsessions = 1;
static int	executions = 640;
static int	ngroups;
static bool pauses;
static uint64_t random_state = 1;

static inline uint64_t
nanoseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * UINT64_C(1000000000) + (uint64_t) ts.tv_nsec;
}

static inline uint64_t
read_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __rdtsc();
#else
	return nanoseconds();
#endif
}

/* xorshift64*, from 1 to max */
static uint64_t
random_number(uint64_t max)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return 1 + (random_state * UINT64_C(0x2545F4914F6CDD1D) >> 16) % max;
}

/* Draws an order of the servers. */
static void
shuffle(void)
{
	for (int i = 0; i < nservers; i++)
	{
		int			j = (int) random_number(i + 1) - 1;

		order[i] = order[j];
		order[j] = i;
	}
}

static void
give_up(PGconn *conn, const char *what)
{
	fprintf(stderr, "pfs_bench_client: %s: %s", what, PQerrorMessage(conn));
	exit(1);
}

static void
check(PGconn *conn, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		give_up(conn, "the statement failed");
	PQclear(result);
}

static PGconn *
connect_session(const char *conninfo, const char *statement)
{
	PGconn	   *conn = PQconnectdb(conninfo);
	PGresult   *result;

	if (PQstatus(conn) != CONNECTION_OK)
		give_up(conn, conninfo);
	check(conn, PQprepare(conn, STATEMENT_NAME, statement, 0, NULL));
	result = PQdescribePrepared(conn, STATEMENT_NAME);
	nparams = PQnparams(result);
	check(conn, result);
	if (nparams > MAX_PARAMS)
	{
		fprintf(stderr, "pfs_bench_client: more than %d parameters\n", MAX_PARAMS);
		exit(1);
	}
	return conn;
}

static void
connect_server(Server *server, const char *conninfo, const char *statement)
{
	server->times = malloc(ngroups * sizeof(uint64_t));
	server->conns = malloc(nsessions * sizeof(PGconn *));
	if (server->times == NULL || server->conns == NULL)
		abort();
	for (int i = 0; i < nsessions; i++)
		server->conns[i] = connect_session(conninfo, statement);
}

/* All executions of one turn on one server; each parameter is the same number. */
static void
execute_turn(Server *server, char (*numbers)[24])
{
	memset(server->times, 0, ngroups * sizeof(uint64_t));
	for (int i = 0; i < ngroups * GROUP; i++)
	{
		PGconn	   *conn = server->conns[i % nsessions];
		const char *values[MAX_PARAMS];
		PGresult   *result;
		uint64_t	start;

		for (int p = 0; p < nparams; p++)
			values[p] = numbers[i];
		start = read_cycles();
		result = PQexecPrepared(conn, STATEMENT_NAME, nparams, values, NULL, NULL, 0);
		server->times[i / GROUP] += read_cycles() - start;
		check(conn, result);
	}
}

static int
compare_times(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static void
print_turn(long turn)
{
	for (int i = 0; i < nservers; i++)
	{
		uint64_t   *times = servers[i].times;

		qsort(times, ngroups, sizeof(uint64_t), compare_times);
		printf("%ld %d %llu %llu %llu\n", turn, i,
			   (unsigned long long) times[ngroups / 10] / GROUP,
			   (unsigned long long) times[ngroups / 4] / GROUP,
			   (unsigned long long) times[ngroups / 2] / GROUP);
	}
}

static void
run(double seconds, uint64_t max)
{
	uint64_t	end = 0;
	char		(*numbers)[24] = malloc(ngroups * GROUP * sizeof(*numbers));

	if (numbers == NULL)
		abort();
	for (long turn = -(WARM_EXECUTIONS / executions + 1); turn <= 0 || nanoseconds() < end; turn++)
	{
		uint64_t	start = nanoseconds();

		if (turn == 0)
			end = start + (uint64_t) (seconds * 1e9);
		for (int i = 0; i < ngroups * GROUP; i++)
			snprintf(numbers[i], sizeof(*numbers), "%llu", (unsigned long long) random_number(max));
		shuffle();
		for (int i = 0; i < nservers; i++)
			execute_turn(&servers[order[i]], numbers);
		if (turn >= 0)
			print_turn(turn);
		if (pauses)
			usleep((nanoseconds() - start) / 1000);
	}
	free(numbers);
}

int
main(int argc, char **argv)
{
	double		seconds = 5;
	uint64_t	max = 100000;
	int			option;

	while ((option = getopt(argc, argv, "c:pn:t:m:s:")) != -1)
	{
		switch (option)
		{
			case 'p':
				pauses = true;
				break;
			case 'c':
				nsessions = atoi(optarg);
				break;
			case 'n':
				executions = atoi(optarg);
				break;
			case 't':
				seconds = atof(optarg);
				break;
			case 'm':
				max = strtoull(optarg, NULL, 10);
				break;
			case 's':
				random_state = strtoull(optarg, NULL, 10);
				break;
			default:
				return 1;
		}
	}
	nservers = argc - optind - 1;
	ngroups = executions / GROUP;
	if (nservers < 1 || nsessions < 1 || ngroups < 1 || max < 1 || random_state == 0)
	{
		fprintf(stderr, "usage: pfs_bench_client [-p] [-c SESSIONS] [-n EXECUTIONS] [-t SECONDS] [-m MAX] [-s SEED] STATEMENT CONNINFO...\n");
		return 1;
	}
	servers = calloc(nservers, sizeof(Server));
	order = calloc(nservers, sizeof(int));
	if (servers == NULL || order == NULL)
		abort();
	/* The sessions that are there last were seen to be the fastest. */
	shuffle();
	for (int i = 0; i < nservers; i++)
		connect_server(&servers[order[i]], argv[optind + 1 + order[i]], argv[optind]);
	run(seconds, max);
	for (int i = 0; i < nservers; i++)
	{
		for (int j = 0; j < nsessions; j++)
			PQfinish(servers[i].conns[j]);
	}
	return 0;
}
