/*
 * cmd_metrics.c
 *	  pfs metrics: one or many servers for Prometheus, on a port or once.
 *
 * Each server has a thread and a connection of its own.  A scrape asks all threads for a
 * reading that begins now, waits until all have one or the time limit is over, and takes
 * what is there: a server that does not answer in time is down in this scrape and holds up
 * nothing but it, and while its thread is still held up nobody waits for it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command.h"
#include "escape.h"
#include "input.h"
#include "metrics.h"

#define DEFAULT_LISTEN "127.0.0.1:9717"
#define DEFAULT_TIME_LIMIT 5.0	/* seconds */
#define DEFAULT_TIME_LIMIT_ONCE 10.0
#define MAX_CLIENTS 16
#define CLIENT_TIME_LIMIT 30	/* seconds for a client that does not go on */

#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS "application/openmetrics-text"
#define OPENMETRICS_TYPE OPENMETRICS "; version=1.0.0; charset=utf-8"

/*
 * A server.  What is not the thread's own is protected by lock; changed is signalled when
 * a reading is asked for, and when one is there.
 */
typedef struct Target
{
	char	   *name;
	char	   *dbname;			/* connection string; NULL: as the common
								 * options say */
	Server	   *server;			/* the thread's own */
	Metrics    *reading;		/* the thread's own */
	pthread_t	thread;

	long		asked;			/* number of the last reading that somebody
								 * wants */
	long		deadline;		/* of it */
	long		done;			/* number of the last reading that is there */
	bool		busy;			/* with one that was asked for before */
	bool		up;				/* of the last one */
	double		seconds;
	Metrics    *metrics;
	char	   *trouble;		/* what was said last about it; NULL: it is
								 * well */
} Target;

typedef struct Exporter
{
	Target	   *targets;
	int			n;
	double		time_limit;		/* seconds */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool		ending;
} Exporter;

static Exporter exporter = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- readings ---- */

/* Says on standard error when a server begins or ends to be in trouble, not at each scrape. */
static void
say_trouble(Target *target, const char *trouble)
{
	if (trouble && (target->trouble == NULL || strcmp(target->trouble, trouble) != 0))
		warn("%s: %s", target->name, trouble);
	if (trouble == NULL && target->trouble)
		warn("%s: answers again", target->name);
	free(target->trouble);
	target->trouble = trouble ? copy_string(trouble) : NULL;
}

/* The thread of a server: makes the readings that are asked for, one after the other. */
static void *
serve_target(void *arg)
{
	Target	   *target = arg;

	pthread_mutex_lock(&exporter.lock);
	for (;;)
	{
		long		number;
		long		deadline;
		long		begin;
		Metrics    *old;
		bool		up;

		while (target->done >= target->asked && !exporter.ending)
			pthread_cond_wait(&exporter.changed, &exporter.lock);
		if (exporter.ending)
			break;
		number = target->asked;
		deadline = target->deadline;
		target->busy = true;
		pthread_mutex_unlock(&exporter.lock);

		begin = clock_ms();
		up = metrics_read(target->reading, target->server, target->name, deadline);

		/*
		 * One that was restarted gets a new connection now, not at the next
		 * scrape.
		 */
		if (!up && target->server->problem == SERVER_LOST && !interrupted)
			up = metrics_read(target->reading, target->server, target->name, deadline);

		/*
		 * Whatever else is wrong can have changed by the next scrape: the
		 * library, the extension, rights.
		 */
		if (!interrupted)
			say_trouble(target, up ? NULL : buffer_text(&target->server->message));

		pthread_mutex_lock(&exporter.lock);
		old = target->metrics;
		target->metrics = target->reading;
		target->reading = old;
		target->up = up;
		target->seconds = (clock_ms() - begin) / 1000.0;
		target->done = number;
		target->busy = false;
		pthread_cond_broadcast(&exporter.changed);
	}
	pthread_mutex_unlock(&exporter.lock);
	return NULL;
}

static bool
is_wanted(const Target *target, const char *name)
{
	return name == NULL || strcmp(target->name, name) == 0;
}

/*
 * Adds what the servers say now, all or the one with this name.  Returns how many of them
 * did not answer, -1 if there is none of that name.
 */
static int
scrape(Buffer *out, const char *name, bool openmetrics)
{
	Metrics   **sets = allocate(sizeof(Metrics *) * exporter.n * 2);
	long	   *tickets = allocate(sizeof(long) * exporter.n);
	Metrics    *about = metrics_new();
	int			wanted = 0;
	int			down = 0;
	int			n = 0;
	long		begin = clock_ms();
	long		deadline = begin + (long) (exporter.time_limit * 1000);
	const struct timespec until = {deadline / 1000, deadline % 1000 * 1000000};

	pthread_mutex_lock(&exporter.lock);
	for (int i = 0; i < exporter.n; i++)
	{
		Target	   *target = &exporter.targets[i];

		tickets[i] = -1;
		if (!is_wanted(target, name))
			continue;
		wanted++;
		/* Who is still held up by an older reading is beyond its limit. */
		if (target->busy && begin >= target->deadline)
			continue;
		tickets[i] = ++target->asked;
		target->deadline = deadline;
	}
	pthread_cond_broadcast(&exporter.changed);
	for (bool late = false; !late;)
	{
		bool		missing = false;

		for (int i = 0; i < exporter.n; i++)
			missing = missing || (tickets[i] >= 0 && exporter.targets[i].done < tickets[i]);
		if (!missing || exporter.ending)
			break;
		late = pthread_cond_timedwait(&exporter.changed, &exporter.lock, &until) == ETIMEDOUT;
	}
	for (int i = 0; i < exporter.n; i++)
	{
		Target	   *target = &exporter.targets[i];
		bool		there = tickets[i] >= 0 && target->done >= tickets[i];
		bool		up = there && target->up;

		if (!is_wanted(target, name))
			continue;
		metrics_add_reading(about, target->name, up, there ? target->seconds : (clock_ms() - begin) / 1000.0);
		if (up)
			sets[n++] = target->metrics;
		else
			down++;
	}
	sets[n++] = about;
	metrics_write(out, sets, n, openmetrics);
	pthread_mutex_unlock(&exporter.lock);

	metrics_free(about);
	free(tickets);
	free(sets);
	return wanted ? down : -1;
}

/* ---- targets ---- */

/* Is this a word of libpq, as "host"? */
static bool
is_keyword(const char *word, size_t length)
{
	PQconninfoOption *defaults = PQconndefaults();
	bool		found = false;

	for (PQconninfoOption *o = defaults; o && o->keyword && !found; o++)
		found = strlen(o->keyword) == length && strncmp(o->keyword, word, length) == 0;
	PQconninfoFree(defaults);
	return found;
}

/* A name for a server that was given none: its service, else its host and port. */
static char *
name_of(const Options *options, const char *dbname)
{
	Buffer		name = {NULL};
	const char *host = option_value(options, "host");
	const char *port = option_value(options, "port");
	const char *database = NULL;
	const char *service = NULL;
	PQconninfoOption *settings = NULL;
	bool		is_string = dbname && (strchr(dbname, '=') || strstr(dbname, "://"));

	if (is_string)
	{
		char	   *error = NULL;

		settings = PQconninfoParse(dbname, &error);
		if (settings == NULL)
			die(STATUS_UNUSABLE, "this is no connection string: %s", error ? error : quote(dbname));
		PQfreemem(error);
	}
	for (PQconninfoOption *o = settings; o && o->keyword; o++)
	{
		if (o->val == NULL)
			continue;
		if (strcmp(o->keyword, "host") == 0)
			host = o->val;
		else if (strcmp(o->keyword, "hostaddr") == 0 && host == NULL)
			host = o->val;
		else if (strcmp(o->keyword, "port") == 0)
			port = o->val;
		else if (strcmp(o->keyword, "service") == 0)
			service = o->val;
	}
	if (!is_string)
		database = dbname;
	if (service)
		buffer_add_string(&name, service);
	else
	{
		host = host ? host : getenv("PGHOST");
		port = port ? port : getenv("PGPORT");
		buffer_printf(&name, "%s:%s", host && host[0] ? host : "local", port && port[0] ? port : "5432");
		if (database)
			buffer_printf(&name, "/%s", database);
	}
	PQconninfoFree(settings);
	return name.data;
}

/*
 * Adds a server, whose name it keeps.  Two of one name would make each sample twice: that ends
 * the program.
 */
static void
add_target(const Options *options, char *name, const char *dbname)
{
	Target	   *target;

	for (int i = 0; i < exporter.n; i++)
	{
		if (strcmp(exporter.targets[i].name, name) == 0)
			die(STATUS_UNUSABLE, "two servers are called \"%s\": give them names, as --target main=\"host=...\"", quote(name));
	}
	exporter.targets = reallocate(exporter.targets, sizeof(Target) * (exporter.n + 1));
	target = &exporter.targets[exporter.n++];
	*target = (Target)
	{
		.name = name, .dbname = dbname ? copy_string(dbname) : NULL
	};
	target->server = server_new(options, target->dbname, "pfs metrics");
	target->metrics = metrics_new();
	target->reading = metrics_new();
}

/* "NAME=CONNECTION" or "CONNECTION", which can begin with a word of libpq and "=", too. */
static void
add_named_target(const Options *options, const char *word)
{
	size_t		length = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	if (length > 0 && word[length] == '=' && !is_keyword(word, length))
	{
		char	   *name = format_string("%.*s", (int) length, word);

		free(name_of(options, word + length + 1));
		add_target(options, name, word + length + 1);
	}
	else
		add_target(options, name_of(options, word), word);
}

/* Far more than anybody has. */
#define MAX_SERVICE_FILE ((size_t) 1 << 20)

/* Adds each service of a file; libpq looks it up there. */
static void
add_services(const Options *options, const char *file)
{
	Buffer		services = {NULL};
	char	   *rest;
	char	   *line;
	int			before = exporter.n;

	input_read_or_die(file, "service file", MAX_SERVICE_FILE, &services);
	setenv("PGSERVICEFILE", file, 1);
	rest = services.data;
	while ((line = strsep(&rest, "\n")) != NULL)
	{
		char	   *start = line + strspn(line, " \t");
		char	   *end = *start == '[' ? strchr(start, ']') : NULL;
		Buffer		dbname = {NULL};

		if (end == NULL)
			continue;
		*end = '\0';
		buffer_add_string(&dbname, "service='");
		for (const char *c = start + 1; *c; c++)
		{
			if (*c == '\'' || *c == '\\')
				buffer_add_char(&dbname, '\\');
			buffer_add_char(&dbname, *c);
		}
		buffer_add_char(&dbname, '\'');
		add_target(options, copy_string(start + 1), dbname.data);
		buffer_free(&dbname);
	}
	buffer_free(&services);
	if (exporter.n == before)
		die(STATUS_UNUSABLE, "there is no service in \"%s\": each begins with its name in brackets, as [main]", quote(file));
}

/* ---- the port ---- */

/* Does the client take OpenMetrics? */
static bool
accepts_openmetrics(const char *accept)
{
	for (const char *at = accept; at && (at = strcasestr(at, OPENMETRICS)) != NULL; at++)
	{
		const char *end = at + strcspn(at, ",");
		const char *q = strcasestr(at, ";q=");

		if (q == NULL || q >= end || strtod(q + 3, NULL) > 0)
			return true;
	}
	return false;
}

/* Queues a whole response, of which it makes a copy. */
static enum MHD_Result
respond(struct MHD_Connection *connection, unsigned status, const char *type, const char *word, size_t length)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(length, (void *) (uintptr_t) word, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result
respond_text(struct MHD_Connection *connection, unsigned status, const char *word)
{
	return respond(connection, status, "text/plain; charset=utf-8", word, strlen(word));
}

/* Answers one request. */
static enum MHD_Result
answer(void *arg, struct MHD_Connection *connection, const char *path, const char *method,
	   const char *version, const char *upload, size_t *upload_size, void **state)
{
	static int	begun;
	Buffer		out = {NULL};
	bool		openmetrics;
	enum MHD_Result result;

	/*
	 * The first call has no more than the head; what a client sends besides
	 * is passed over.
	 */
	if (*state == NULL)
	{
		*state = &begun;
		return MHD_YES;
	}
	if (*upload_size > 0)
	{
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
	if (strcmp(path, "/") == 0)
		return respond_text(connection, MHD_HTTP_OK, "pfs metrics " PFS_VERSION ": see /metrics, or /metrics?target=NAME for one server.\n");
	if (strcmp(path, "/metrics") != 0)
		return respond_text(connection, MHD_HTTP_NOT_FOUND, "There is only /metrics.\n");

	openmetrics = accepts_openmetrics(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept"));
	if (scrape(&out, MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "target"), openmetrics) < 0)
		result = respond_text(connection, MHD_HTTP_NOT_FOUND, "There is no server of that name.\n");
	else
		result = respond(connection, MHD_HTTP_OK, openmetrics ? OPENMETRICS_TYPE : TEXT_TYPE, buffer_text(&out), out.length);
	buffer_free(&out);
	return result;
}

/*
 * Finds the address of --listen: "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT" or "PORT", where no
 * address is 127.0.0.1.
 */
static struct addrinfo *
find_address(const char *listen)
{
	char	   *word = copy_string(listen);
	char	   *colon = strrchr(word, ':');
	char	   *host = word;
	const char *port = colon ? colon + 1 : word;
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	int			error;

	if (colon)
		*colon = '\0';
	else
		host = colon = word + strlen(word);
	if (host[0] == '[' && strlen(host) >= 2 && host[strlen(host) - 1] == ']')
	{
		host[strlen(host) - 1] = '\0';
		host++;
	}
	if (port[0] == '\0' || strspn(port, "0123456789") != strlen(port) || atol(port) > 65535)
		die(STATUS_UNUSABLE, "--listen takes ADDRESS:PORT, as " DEFAULT_LISTEN ", not \"%s\"", quote(listen));
	error = getaddrinfo(host[0] ? host : "127.0.0.1", port, &hints, &found);
	if (error)
		die(STATUS_UNUSABLE, "cannot find the address of --listen %s: %s", quote(listen), gai_strerror(error));
	free(word);
	return found;
}

/* Serves scrapes until a signal ends it. */
static int
serve(const char *listen)
{
	struct addrinfo *address = find_address(listen);
	unsigned	flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;
	struct MHD_Daemon *daemon;
	const union MHD_DaemonInfo *info;
	char		host[NI_MAXHOST];

	if (address->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	daemon = MHD_start_daemon(flags, 0, NULL, NULL, answer, NULL,
							  MHD_OPTION_SOCK_ADDR, address->ai_addr,
							  MHD_OPTION_CONNECTION_LIMIT, (unsigned) MAX_CLIENTS,
							  MHD_OPTION_CONNECTION_TIMEOUT, (unsigned) CLIENT_TIME_LIMIT,
							  MHD_OPTION_END);
	if (daemon == NULL)
		die(STATUS_FAILED, "cannot listen at %s: %s", quote(listen), errno ? strerror(errno) : "the port may be in use");
	getnameinfo(address->ai_addr, address->ai_addrlen, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
	info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	warn(address->ai_family == AF_INET6 ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", host, info ? info->port : 0);
	freeaddrinfo(address);

	while (!interrupted)
		poll(NULL, 0, 1000);
	pthread_mutex_lock(&exporter.lock);
	exporter.ending = true;
	pthread_cond_broadcast(&exporter.changed);
	pthread_mutex_unlock(&exporter.lock);
	MHD_stop_daemon(daemon);
	return STATUS_OK;
}

/* pfs metrics: checks the command line, starts a thread for each server, and scrapes or serves. */
static int
run_metrics(const Command *command, Options *options)
{
	bool		once = option_given(options, "once");
	bool		openmetrics = option_given(options, "openmetrics");
	const char *word;
	pthread_condattr_t attributes;
	int			status;

	if (once && option_given(options, "listen"))
		die(STATUS_UNUSABLE, "--once and --listen exclude each other");
	if (!once && (openmetrics || option_given(options, "output")))
		die(STATUS_UNUSABLE, "--openmetrics and --output need --once; on a port each client says which format it takes");
	exporter.time_limit = option_number(options, "time-limit", 0.01, 3600, once ? DEFAULT_TIME_LIMIT_ONCE : DEFAULT_TIME_LIMIT);
	for (int i = 0; (word = option_nth(options, "target", i)) != NULL; i++)
		add_named_target(options, word);
	if (option_given(options, "service-file"))
		add_services(options, option_value(options, "service-file"));
	if (exporter.n == 0)
	{
		word = options->dbname ? options->dbname : option_value(options, "dbname");
		add_target(options, name_of(options, word), word);
	}

	catch_signals();
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&exporter.changed, &attributes);
	for (int i = 0; i < exporter.n; i++)
	{
		Target	   *target = &exporter.targets[i];

		/* Nobody is asked for a password while others wait. */
		target->server->never_ask = true;
		target->server->query_limit = (int) (exporter.time_limit * 1000);
		if (pthread_create(&target->thread, NULL, serve_target, target) != 0)
			die(STATUS_FAILED, "cannot start a thread");
	}
	if (once)
	{
		Sink	   *sink = sink_open(option_value(options, "output"));
		Buffer		out = {NULL};

		status = scrape(&out, NULL, openmetrics) > 0 ? STATUS_UNUSABLE : STATUS_OK;
		/* Servers that had no time to answer are not down. */
		if (interrupted)
			die(STATUS_FAILED, "interrupted");
		sink_write(sink, buffer_text(&out), out.length);
		sink_close(sink);
		buffer_free(&out);
	}
	else
		status = serve(option_given(options, "listen") ? option_value(options, "listen") : DEFAULT_LISTEN);

	/* The threads may be held up: they end with the process. */
	return status;
}

static const Option metrics_options[] = {
	{"listen", 'l', "ADDRESS:PORT", "serve scrapes there (" DEFAULT_LISTEN ")"},
	{"once", '1', NULL, "read once, write to standard output, end"},
	{"openmetrics", 0, NULL, "with --once: OpenMetrics, not Prometheus' text format"},
	{"target", 't', "[NAME=]CONNECTION", "a server, by database, connection string or URI; may be repeated"},
	{"service-file", 0, "FILE", "all services of a service file of libpq"},
	{"time-limit", 0, "SECONDS", "how long a scrape waits for a server (5; with --once 10)"},
	OPTION_OUTPUT,
	{NULL}
};

const Command command_metrics = {
	.name = "metrics",
	.help = "one or many servers for Prometheus, on a port or once",
	.options = metrics_options,
	.details =
	"Without --target and --service-file it reads the server that the other options name.  Clients that\n"
	"accept OpenMetrics get it, others Prometheus' text format.  /metrics?target=NAME is one server.\n"
	"With --once the exit status is 2 if a server did not answer.\n",
	.run = run_metrics,
};
