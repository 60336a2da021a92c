/*
 * pfs_bench.c
 *	  Cycles per event, measured in a loop inside a backend.
 *
 * The module is the whole of pfs plus this file, so that it measures the same
 * code that runs in production.  It calls functions of the server (smgrread,
 * PGSemaphoreLock, secure_raw_write), with the system call behind the wrapper
 * replaced by a function that returns at once; then the same with the wrapper
 * out of the server's slot.  The difference is the cost of the event, with
 * everything: also the walk along the server's own frames.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/table.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "libpq/libpq.h"
#include "libpq/libpq-be.h"
#include "storage/smgr.h"
#include "storage/pg_sema.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "pfs_file_sum.h"
#include "pfs_instr.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

PG_FUNCTION_INFO_V1(pfs_bench_kinds);
PG_FUNCTION_INFO_V1(pfs_bench_cycles);
PG_FUNCTION_INFO_V1(pfs_bench_touch);
PG_FUNCTION_INFO_V1(pfs_bench_lwlock);
PGDLLEXPORT Datum pfs_bench_kinds(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_bench_cycles(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_bench_touch(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_bench_lwlock(PG_FUNCTION_ARGS);

#define ALL_FLAGS (PFS_FLAG_ENABLED | PFS_FLAG_THREAD | PFS_FLAG_CURRENT | \
				   PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)
#define TIMED(timer) (PFS_FLAG_TIMED | ((uint32) (timer) << PFS_FLAG_TIMER_SHIFT))

typedef enum PfsBenchCall
{
	CALL_CLOCK,					/* two readings of the timer, nothing else */
	CALL_PREAD,
	CALL_FILE_NUMBERS,			/* what a file wait adds for its file */
	CALL_SEM_WAIT,
	CALL_SEND,
} PfsBenchCall;

typedef struct PfsBenchKind
{
	const char *kind;
	PfsBenchCall call;
	uint32		flags;
	const char *what;
} PfsBenchKind;

static const PfsBenchKind kinds[] = {
	{"clock", CALL_CLOCK, TIMED(PFS_TIMER_CYCLE), "two readings of the cycle counter"},
	{"recorded", CALL_PREAD, ALL_FLAGS | TIMED(PFS_TIMER_CYCLE),
	"a file wait: timed, current, both histories, summaries of thread and file"},
	{"file numbers", CALL_FILE_NUMBERS, ALL_FLAGS | TIMED(PFS_TIMER_CYCLE),
	"the numbers of the file, which are the process's own, and a write section"},
	{"recorded/lwlock", CALL_SEM_WAIT, ALL_FLAGS | TIMED(PFS_TIMER_CYCLE), "the same for an LWLock wait"},
	{"recorded/socket", CALL_SEND, ALL_FLAGS | TIMED(PFS_TIMER_CYCLE), "the same for a send"},
	{"untimed", CALL_PREAD, ALL_FLAGS, "as recorded, timed = NO"},
	{"nanosecond", CALL_PREAD, ALL_FLAGS | TIMED(PFS_TIMER_NANOSECOND), "as recorded, by this timer"},
	{"microsecond", CALL_PREAD, ALL_FLAGS | TIMED(PFS_TIMER_MICROSECOND), "as recorded, by this timer"},
	{"millisecond", CALL_PREAD, ALL_FLAGS | TIMED(PFS_TIMER_MILLISECOND), "as recorded, by this timer"},
	{"tick", CALL_PREAD, ALL_FLAGS | TIMED(PFS_TIMER_TICK), "as recorded, by this timer"},
	{"no long history", CALL_PREAD, (ALL_FLAGS & ~PFS_FLAG_HISTORY_LONG) | TIMED(PFS_TIMER_CYCLE),
	"as recorded, events_waits_history_long off"},
	{"summary only", CALL_PREAD, PFS_FLAG_ENABLED | PFS_FLAG_THREAD | TIMED(PFS_TIMER_CYCLE),
	"events_waits_current off"},
	{"disabled", CALL_PREAD, 0, "enabled = NO"},
	{"disabled/lwlock", CALL_SEM_WAIT, 0, "enabled = NO"},
};

static ssize_t
no_pread(int fd, void *buf, size_t count, off_t offset)
{
	return count;
}

static ssize_t
no_preadv(int fd, const struct iovec *iov, int iovcnt, off_t offset)
{
	return iov->iov_len;
}

static int
no_sem_wait(sem_t *sem)
{
	return 0;
}

static ssize_t
no_send(int fd, const void *buf, size_t len, int flags)
{
	return len;
}

/* Put something into a slot of the server; this process only (copy on write). */
static void
fill_slot(const char *symbol, void *function)
{
	void	   *old = function;
	PfsGotPatch patch = {.symbol = symbol, .replacement = function, .original = &old};

	pfs_got_patch(&patch, 1);
	if (patch.result != PFS_GOT_PATCHED && patch.result != PFS_GOT_NOT_IMPORTED)
		elog(FATAL, "pfs_bench could not patch %s", symbol);
}

static void *
wrapper_of(const PfsGotPatch *calls, const char *symbol)
{
	while (strcmp(calls->symbol, symbol) != 0)
		calls++;
	return calls->replacement;
}

/* Wrappers into the slots, or what they would call. */
static void
set_slots(bool instrumented)
{
	fill_slot("pread", instrumented ? wrapper_of(pfs_file_calls, "pread") : (void *) no_pread);
	fill_slot("preadv", instrumented ? wrapper_of(pfs_file_calls, "preadv") : (void *) no_preadv);
	fill_slot("sem_wait", instrumented ? wrapper_of(pfs_wait_calls, "sem_wait") : (void *) no_sem_wait);
	fill_slot("send", instrumented ? wrapper_of(pfs_socket_calls, "send") : (void *) no_send);
}

static PfsInstrumentId
instrument_of(const PfsBenchKind *kind, uint32 *word)
{
	switch (kind->call)
	{
		case CALL_SEM_WAIT:
			*word = PG_WAIT_LWLOCK | LWTRANCHE_WAL_INSERT;
			return pfs_wait_info_instrument(*word);
		case CALL_SEND:
			*word = 0;
			return pfs_fixed_instrument[PFS_INS_CLIENT_WRITE];
		default:
			*word = WAIT_EVENT_DATA_FILE_READ;
			return pfs_wait_info_instrument(*word);
	}
}

/* Cycles of `loops` calls. */
static uint64
run(const PfsBenchKind *kind, int loops, bool instrumented, SMgrRelation smgr)
{
	uint64		start;
	static char buf[BLCKSZ];
	volatile uint64 sink = 0;
	uint32		word;
	PfsWait		event = {.flags = kind->flags, .operation = PFS_OP_READ, .bytes = BLCKSZ, .instrument = instrument_of(kind, &word)};

	set_slots(instrumented);
	start = pfs_read_cycles();
	for (int i = 0; i < loops; i++)
	{
		switch (kind->call)
		{
			case CALL_CLOCK:
				if (instrumented)
				{
					sink = sink + pfs_read_cycles();
					sink = sink + pfs_read_cycles();
				}
				break;
			case CALL_PREAD:
				smgrread(smgr, MAIN_FORKNUM, 0, buf);
				break;
			case CALL_FILE_NUMBERS:
				if (instrumented)
				{
					pfs_write_begin(pfs_my_thread);
					pfs_file_sum(pfs_my_thread, &event, i);
					pfs_write_end(pfs_my_thread);
				}
				break;
			case CALL_SEM_WAIT:
				PGSemaphoreLock(MyProc->sem);
				break;
			case CALL_SEND:
				(void) secure_raw_write(MyProcPort, buf, 8);
				break;
		}
	}
	start = pfs_read_cycles() - start;
	set_slots(true);
	return start;
}

/*
 * The median of several short runs: a preemption in one of them does not
 * count.
 */
#define RUNS 15

static int
compare_double(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

Datum
pfs_bench_cycles(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			loops = Max(PG_GETARG_INT32(1) / RUNS, 1);
	const PfsBenchKind *kind = NULL;
	PfsReal		real = pfs_real;
	double		results[RUNS];
	PfsInstrumentId instrument;
	uint32		flags;
	uint32		word;
	Relation	relation;
	SMgrRelation smgr;

	for (int i = 0; i < lengthof(kinds); i++)
	{
		if (strcmp(kinds[i].kind, name) == 0)
			kind = &kinds[i];
	}
	if (kind == NULL)
		ereport(ERROR, (errmsg("pfs_bench has no kind \"%s\"", name)));
	if (!pfs_is_active || pfs_my_thread == NULL)
		ereport(ERROR, (errmsg("pfs_bench must be in shared_preload_libraries, instead of pfs")));

	instrument = instrument_of(kind, &word);
	flags = pfs_words->flags[instrument];
	relation = table_open(RelationRelationId, AccessShareLock);
	smgr = RelationGetSmgr(relation);

	/* No CHECK_FOR_INTERRUPTS and no error from here on. */
	pfs_real.pread = no_pread;
	pfs_real.preadv = no_preadv;
	pfs_real.sem_wait = no_sem_wait;
	pfs_real.send = no_send;
	pfs_words->flags[instrument] = kind->flags;
	if (kind->call == CALL_SEM_WAIT)
		pgstat_report_wait_start(word);
	for (int i = 0; i < RUNS; i++)
		results[i] = ((double) run(kind, loops, true, smgr) -
					  (double) run(kind, loops, false, smgr)) / loops;
	pgstat_report_wait_end();
	pfs_words->flags[instrument] = flags;
	pfs_real = real;

	table_close(relation, AccessShareLock);
	qsort(results, RUNS, sizeof(double), compare_double);
	PG_RETURN_FLOAT8(results[RUNS / 2]);
}

Datum
pfs_bench_kinds(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < lengthof(kinds); i++)
	{
		Datum		values[2] = {CStringGetTextDatum(kinds[i].kind), CStringGetTextDatum(kinds[i].what)};
		bool		nulls[2] = {false, false};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * One event of each of the first n instruments, ten times, with times from 100
 * to some 100,000 ticks: numbers such as a session collects in a long life.
 */
Datum
pfs_bench_touch(PG_FUNCTION_ARGS)
{
	uint32		n = Min((uint32) PG_GETARG_INT32(0), pfs_instrument_count());
	PfsThread  *t = pfs_my_thread;

	for (uint32 i = 0; t != NULL && i < 10 * n; i++)
	{
		pfs_write_begin(t);
		pfs_summary_add(t, i % n, UINT64_C(100) << (i / n));
		pfs_write_end(t);
	}
	PG_RETURN_VOID();
}

/*
 * Cycles of taking and releasing an LWLock, one of those that serializable
 * transactions would use: the median of several runs.  No event is needed for
 * it, so the figure exists without pfs, too.
 */
Datum
pfs_bench_lwlock(PG_FUNCTION_ARGS)
{
	LWLock	   *lock = &MainLWLockArray[PREDICATELOCK_MANAGER_LWLOCK_OFFSET + PG_GETARG_INT32(0)].lock;
	int			loops = Max(PG_GETARG_INT32(1) / RUNS, 1);
	double		results[RUNS];

	for (int i = 0; i < RUNS; i++)
	{
		uint64		start = pfs_read_cycles();

		for (int j = 0; j < loops; j++)
		{
			LWLockAcquire(lock, LW_EXCLUSIVE);
			LWLockRelease(lock);
		}
		results[i] = (double) (pfs_read_cycles() - start) / loops;
		CHECK_FOR_INTERRUPTS();
	}
	qsort(results, RUNS, sizeof(double), compare_double);
	PG_RETURN_FLOAT8(results[RUNS / 2]);
}
