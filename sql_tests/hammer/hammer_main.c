/*
 * hammer_main.c
 *	  Options, workers, TAP.  The tests are in one file per container.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hammer.h"

/* Workers have this long to notice the end; more means that one is blocked. */
#define PATIENCE_SECONDS	30.0

HammerOptions hammer_options = {.seconds = 20, .processes = 6};

/* In shared memory: workers write, the parent reads. */
typedef struct HammerShared
{
	uint32_t	stop;
	uint32_t	failed;
	char		message[400];
} HammerShared;

typedef struct HammerGroup
{
	const char *name;
	void		(*run) (void);
	int			runs;			/* shares of time that it takes */
	bool		by_default;
} HammerGroup;

static const HammerGroup groups[] = {
	{"segment", hammer_segment, 0, true},
	{"scenario", hammer_scenario, 1, true},
	{"pages", hammer_pages, 13, true},
	{"blocks", hammer_blocks, 9, true},
	{"hash", hammer_hash, 8, true},
	{"private", hammer_private, 0, true},
	{"cell", hammer_cell, 6, true},
	{"shared", hammer_shared, 1, true},
	{"sparse", hammer_sparse, 3, true},
	{"items", hammer_items, 3, true},
	{"lwlock", hammer_lwlock, 2, true},
	{"pending", hammer_pending, 4, true},
	{"levels", hammer_levels, 4, true},
	{"digests", hammer_digests, 2, true},
	{"cost", hammer_cost, 0, false},
	{"bench", hammer_bench, 1, false},
};
#define NGROUPS (sizeof(groups) / sizeof(groups[0]))

static HammerShared *shared;
static int	tests;
static int	failures;
static uint32_t next_id;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

bool
hammer_going(void)
{
	return !pfs_load_relaxed(&shared->stop);
}

bool
hammer_failed(void)
{
	return pfs_load_acquire(&shared->failed) != 0;
}

void
hammer_fail(const char *format,...)
{
	uint32_t	nobody = 0;

	if (pfs_cas(&shared->failed, &nobody, 1))
	{
		va_list		args;

		va_start(args, format);
		vsnprintf(shared->message, sizeof(shared->message), format, args);
		va_end(args);
	}
	pfs_store_release(&shared->stop, 1);
}

void
hammer_done(const char *name, const char *format,...)
{
	char		figures[400];
	va_list		args;

	va_start(args, format);
	vsnprintf(figures, sizeof(figures), format, args);
	va_end(args);
	tests++;
	if (hammer_failed())
	{
		failures++;
		printf("not ok %d - %s: %s\n", tests, name, shared->message);
	}
	else
		printf("ok %d - %s (%s)\n", tests, name, figures);
	fflush(stdout);
	memset(shared, 0, sizeof(*shared));
	next_id = 0;
}

void *
hammer_share(size_t size)
{
	void	   *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
							  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
	{
		printf("Bail out! no shared memory\n");
		exit(2);
	}
	return memory;
}

void
hammer_unshare(void *memory, size_t size)
{
	munmap(memory, size);
}

void
hammer_segment_begin(HammerSegment *s)
{
	memset(s, 0, sizeof(*s));
	s->seg.os_page = sysconf(_SC_PAGESIZE);
}

bool
hammer_segment_pass(HammerSegment *s)
{
	if (s->pass == 1)
	{
		s->size = s->seg.used;
		s->seg.used = 0;
		/* one cache line off the page: the worst alignment there is */
		s->seg.base = (char *) hammer_share(s->size + PFS_CACHE_LINE) + PFS_CACHE_LINE;
	}
	else if (s->pass == 2 && s->seg.used != s->size)
		hammer_fail("sizing pass says %zu bytes, the real one %zu", s->size, s->seg.used);
	return s->pass++ < 2;
}

void
hammer_segment_end(HammerSegment *s)
{
	hammer_unshare(s->seg.base - PFS_CACHE_LINE, s->size + PFS_CACHE_LINE);
}

#define WITNESSES (UINT64_C(1) << 20)

void
hammer_witness_begin(HammerWitness *w)
{
	w->n = hammer_options.threads ? WITNESSES : 0;
	w->words = w->n > 0 ? hammer_share(w->n * sizeof(uint64_t)) : NULL;
}

void
hammer_witness_end(HammerWitness *w)
{
	if (w->words != NULL)
		hammer_unshare(w->words, w->n * sizeof(uint64_t));
	w->words = NULL;
	w->n = 0;
}

uint64_t
hammer_count_resident(const void *memory, size_t size)
{
	size_t		os_page = sysconf(_SC_PAGESIZE);
	size_t		n = (size + os_page - 1) / os_page;
	unsigned char *map = malloc(n);
	uint64_t	bytes = 0;

	if (mincore((void *) (uintptr_t) memory, size, map) != 0)
		hammer_fail("mincore: %s", strerror(errno));
	for (size_t i = 0; i < n; i++)
		bytes += (map[i] & 1) * os_page;
	free(map);
	return bytes;
}

/*
 * Does the kernel take back what MADV_REMOVE names?  Asked with memory of our own.  What runs the
 * programs of another processor may pass the call over.
 */
bool
hammer_takes_back(void)
{
	size_t		os_page = sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, os_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool		taken;

	if (memory == MAP_FAILED)
		return true;
	*memory = 1;
	taken = madvise((void *) memory, os_page, MADV_REMOVE) != 0 || *memory == 0;
	munmap((void *) memory, os_page);
	return taken;
}

/* --- workers --- */

typedef struct Start
{
	HammerWorker worker;
	void	   *context;
	uint32_t	id;
	uint32_t	place;
} Start;

static void
call_worker(const Start *start)
{
	HammerRng	rng = {.state = ((uint64_t) start->id << 32) ^ (uint64_t) (now() * 1e9)};

	start->worker(start->context, start->id, start->place, &rng);
}

static void *
thread_main(void *arg)
{
	call_worker(arg);
	return NULL;
}

static pid_t
fork_worker(Start *start)
{
	pid_t		pid;

	start->id = ++next_id;
	pid = fork();
	if (pid == 0)
	{
		call_worker(start);
		_exit(0);
	}
	if (pid < 0)
	{
		printf("Bail out! fork\n");
		exit(2);
	}
	return pid;
}

/* The share of time is over, and the test has seen what it is about. */
static bool
time_is_up(double began, const Start *start, HammerEnough enough)
{
	double		passed = now() - began;

	return passed >= hammer_options.share &&
		(enough == NULL || enough(start->context) || passed >= hammer_options.share + PATIENCE_SECONDS);
}

static void
run_threads(Start *starts, int n, HammerEnough enough)
{
	pthread_t	threads[HAMMER_WORKERS_MAX];
	double		began = now();

	for (int i = 0; i < n; i++)
	{
		starts[i].id = ++next_id;
		if (pthread_create(&threads[i], NULL, thread_main, &starts[i]) != 0)
			exit(2);
	}
	while (hammer_going() && !time_is_up(began, starts, enough))
		usleep(2000);
	pfs_store_release(&shared->stop, 1);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Waits for the workers' ends; one that does not end is blocked. */
static void
reap(pid_t *pids, int n)
{
	double		end = now() + PATIENCE_SECONDS;

	for (int i = 0; i < n; i++)
	{
		int			status;
		pid_t		got;

		while ((got = waitpid(pids[i], &status, WNOHANG)) == 0 && now() < end)
			usleep(1000);
		if (got == 0)
		{
			hammer_fail("worker %d is blocked", i);
			kill(pids[i], SIGKILL);
			waitpid(pids[i], &status, 0);
		}
		else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			hammer_fail("worker %d ended with status %x", i, status);
	}
}

static uint32_t
run_processes(Start *starts, int n, HammerEnough enough)
{
	pid_t		pids[HAMMER_WORKERS_MAX];
	double		began = now();
	HammerRng	rng = {.state = (uint64_t) (now() * 1e9)};
	uint32_t	kills = 0;

	for (int i = 0; i < n; i++)
		pids[i] = fork_worker(&starts[i]);
	while (hammer_going() && !time_is_up(began, starts, enough))
	{
		usleep(200 + hammer_random(&rng, 2000));
		if (hammer_options.kill)
		{
			int			victim = hammer_random(&rng, n);
			int			status;

			kill(pids[victim], SIGKILL);
			waitpid(pids[victim], &status, 0);
			/* It can have crashed before. */
			if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
				kills++;
			else if (WIFSIGNALED(status) || hammer_going())
				hammer_fail("worker %d ended by itself, status %x", victim, status);
			pids[victim] = fork_worker(&starts[victim]);
		}
	}
	pfs_store_release(&shared->stop, 1);
	reap(pids, n);
	return kills;
}

uint32_t
hammer_run(HammerWorker worker, void *context)
{
	return hammer_run_until(worker, context, NULL);
}

uint32_t
hammer_run_until(HammerWorker worker, void *context, HammerEnough enough)
{
	Start		starts[HAMMER_WORKERS_MAX];
	int			n = hammer_options.processes;
	uint32_t	kills = 0;

	if (hammer_failed())
		return 0;
	for (int i = 0; i < n; i++)
		starts[i] = (Start)
	{
		.worker = worker, .context = context, .place = i
	};
	pfs_store_release(&shared->stop, 0);
	if (hammer_options.threads)
		run_threads(starts, n, enough);
	else
		kills = run_processes(starts, n, enough);
	return kills;
}

/* --- segment --- */

void
hammer_segment(void)
{
	HammerSegment s;
	char	   *a = NULL;
	char	   *b = NULL;
	char	   *c = NULL;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		a = pfs_segment_take(&s.seg, 3, 1);
		b = pfs_segment_take(&s.seg, 100, PFS_CACHE_LINE);
		c = pfs_segment_take(&s.seg, 8192, s.seg.os_page);
		if (s.seg.base == NULL && (a != NULL || b != NULL || c != NULL))
			hammer_fail("an address in the sizing pass");
	}
	if ((uintptr_t) b % PFS_CACHE_LINE != 0 || (uintptr_t) c % s.seg.os_page != 0)
		hammer_fail("not aligned: %p %p", (void *) b, (void *) c);
	if (a + 3 > b || b + 100 > c || c + 8192 > s.seg.base + s.size)
		hammer_fail("parts overlap");
	if (hammer_count_resident(s.seg.base - PFS_CACHE_LINE, s.size) != 0)
		hammer_fail("laying out touched memory");
	hammer_done("segment", "%zu bytes", s.size);
	hammer_segment_end(&s);
}

/* --- main --- */

static void
usage(void)
{
	fprintf(stderr, "usage: pfs_hammer [--seconds N] [--processes P] [--kill] [--threads] [container ...]\n"
			"containers:");
	for (size_t i = 0; i < NGROUPS; i++)
		fprintf(stderr, " %s", groups[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

static const HammerGroup *
group_by_name(const char *name)
{
	for (size_t i = 0; i < NGROUPS; i++)
		if (strcmp(groups[i].name, name) == 0 && groups[i].run != NULL)
			return &groups[i];
	usage();
	return NULL;
}

int
main(int argc, char **argv)
{
	const HammerGroup *chosen[NGROUPS + 64];
	int			nchosen = 0;
	int			runs = 0;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
			hammer_options.seconds = atof(argv[++i]);
		else if (strcmp(argv[i], "--processes") == 0 && i + 1 < argc)
			hammer_options.processes = atoi(argv[++i]);
		else if (strcmp(argv[i], "--kill") == 0)
			hammer_options.kill = true;
		else if (strcmp(argv[i], "--threads") == 0)
			hammer_options.threads = true;
		else if (argv[i][0] == '-' || nchosen >= 64)
			usage();
		else
			chosen[nchosen++] = group_by_name(argv[i]);
	}
	/* One alone has nobody to be tested against. */
	if (hammer_options.processes < (nchosen == 1 && chosen[0]->run == hammer_bench ? 1 : 2) || hammer_options.processes > HAMMER_WORKERS_MAX ||
		(hammer_options.kill && hammer_options.threads))
		usage();
	if (nchosen == 0)
		for (size_t i = 0; i < NGROUPS; i++)
			if (groups[i].by_default && groups[i].run != NULL)
				chosen[nchosen++] = &groups[i];
	for (int i = 0; i < nchosen; i++)
		runs += chosen[i]->runs;
	hammer_options.share = hammer_options.seconds / (runs > 0 ? runs : 1);

	shared = hammer_share(sizeof(*shared));
	for (int i = 0; i < nchosen; i++)
		chosen[i]->run();
	printf("1..%d\n", tests);
	return failures > 0;
}
