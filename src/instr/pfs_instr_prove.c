/*
 * pfs_instr_prove.c
 *	  The postmaster's proofs, before its first child: calls of the server pass
 *	  the patched slots, frames lead to the caller, raised errors are seen, and
 *	  the server's structures are those that pfs was built for.
 *
 * The wrappers themselves pay nothing for it.  In the postmaster they have nothing to
 * record and hand each call on through pfs_real; so functions of this file take the
 * place of the real ones there while the server is asked for something harmless.
 * What is not seen is reported as unavailable, and the server starts all the same.
 */
#include "postgres.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>

#include "common/config_info.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "pfs_compat.h"
#include "pfs_image.h"
#include "pfs_instr.h"
#include "pfs_instr_prove.h"
#include "pfs_probe_row.h"

/* The real functions while those of this file stand in for them. */
static PfsReal real;

/* What the functions of this file have seen. */
static struct
{
	bool		open;
	bool		close;
	bool		fopen;
	bool		fclose;
	bool		sleep;
	bool		jump;
	bool		caller;			/* the frames lead from the sleep to the
								 * function that asked for it */
	bool		raise;			/* and from the jump to errfinish() */
}			seen;

/* The slot of raises and the frames have proved themselves. */
bool		pfs_raises_are_seen = false;

static int
look_at_open(const char *path, int flags,...)
{
	va_list		args;
	mode_t		mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	seen.open = true;
	return real.open(path, flags, mode);
}

/* Notes a call, and makes it. */
#define LOOK_AT(type, name, params, args, member) \
static type \
look_at_##name params \
{ \
	seen.member = true; \
	return real.name args; \
}

LOOK_AT(int, open_2, (const char *path, int flags), (path, flags), open)
LOOK_AT(int, close, (int fd), (fd), close)
LOOK_AT(FILE *, fopen, (const char *path, const char *mode), (path, mode), fopen)
LOOK_AT(int, fclose, (FILE *file), (file), fclose)

/* Nobody needs this sleep, and on a busy machine it would be the longest part of all. */
static int
look_at_nanosleep(const struct timespec *request, struct timespec *remain)
{
	seen.sleep = true;
	seen.caller = pfs_frames_prove(FRAME, "pg_usleep");
	return 0;
}

static int
look_at_select(int nfds, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
	seen.sleep = true;
	seen.caller = pfs_frames_prove(FRAME, "pg_usleep");
	return 0;
}

static void look_at_longjmp(struct __jmp_buf_tag *env, int value) __attribute__((noreturn));

/* What wrap_longjmp_chk() asks of its own frame, which is the one above. */
static void
look_at_longjmp(struct __jmp_buf_tag *env, int value)
{
	const uintptr_t *frame = FRAME;

	seen.jump = true;
	seen.raise = pfs_frames_is_raise((const void *) frame[0]);
	real.longjmp_chk(env, value);
}

/*
 * Asks the server for calls that change nothing.  What could not be asked for counts as
 * seen.
 */
static void
ask_for_calls(void)
{
	int			fd = OpenTransientFile("/dev/null", O_RDWR);
	FILE	   *file;

	if (fd >= 0)
		CloseTransientFile(fd);
	else
		seen.close = true;
	file = AllocateFile("/dev/null", "r");
	if (file != NULL)
		FreeFile(file);
	else
		seen.fclose = true;
	pg_usleep(1);
}

/*
 * Raises an error and catches it.  It is never logged, as nobody reports it.  Raising
 * sets some of the server's state back, which is restored.
 */
static void
ask_for_error(void)
{
	MemoryContext context = CurrentMemoryContext;
	uint32		interrupts = InterruptHoldoffCount;
	uint32		cancels = QueryCancelHoldoffCount;
	bool		exit_on_error = ExitOnAnyError;

	/* With exit_on_error it would be the end of the postmaster. */
	ExitOnAnyError = false;
	PG_TRY();
	{
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("pfs looks whether it sees errors")));
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	ExitOnAnyError = exit_on_error;
	InterruptHoldoffCount = interrupts;
	QueryCancelHoldoffCount = cancels;
}

/*
 * Puts the functions of this file behind the wrappers, and asks the server to call
 * them.
 */
static void
look(void)
{
	real = pfs_real;
	pfs_real.open = look_at_open;
	pfs_real.open_2 = look_at_open_2;
	pfs_real.close = look_at_close;
	pfs_real.fopen = look_at_fopen;
	pfs_real.fclose = look_at_fclose;
	pfs_real.nanosleep = look_at_nanosleep;
	pfs_real.select = look_at_select;
	pfs_real.longjmp_chk = look_at_longjmp;
	ask_for_calls();
	ask_for_error();
	pfs_real = real;
}

/*
 * Functions that the server was made to call; of several names it calls one, which
 * proves them all.
 */
static const struct
{
	const char *symbols[4];
	const bool *seen;
}			asked[] =

{
	{{"open", "open64", "__open_2", "__open64_2"}, &seen.open},
	{{"close"}, &seen.close},
	{{"fopen", "fopen64"}, &seen.fopen},
	{{"fclose"}, &seen.fclose},
	{{"nanosleep", "select"}, &seen.sleep},
	{{"__longjmp_chk", "siglongjmp"}, &seen.jump},
};

static bool
is_one_of(const char *symbol, const char *const *symbols)
{
	for (int i = 0; i < lengthof(asked[0].symbols) && symbols[i] != NULL; i++)
	{
		if (strcmp(symbol, symbols[i]) == 0)
			return true;
	}
	return false;
}

/* Could all slots be set whose function the server may have called here? */
static bool
is_patched_whole(const PfsGotPatch *patches, int npatches, const char *const *symbols)
{
	for (int i = 0; i < npatches; i++)
	{
		if (is_one_of(patches[i].symbol, symbols) && patches[i].result != PFS_GOT_PATCHED &&
			patches[i].result != PFS_GOT_NOT_IMPORTED)
			return false;
	}
	return true;
}

/*
 * Calls that were not seen speak against their own slot, and, if no call at all was
 * seen by slots of a kind, against all of the kind.  Where one of several names could
 * not be set, it may have been the one that was called: then nothing speaks against the
 * others.
 */
static void
judge_slots(PfsGotPatch *patches, int npatches)
{
	uint32		tried = 0;
	uint32		proved = 0;

	for (int a = 0; a < lengthof(asked); a++)
	{
		bool		decides = *asked[a].seen || is_patched_whole(patches, npatches, asked[a].symbols);

		for (int i = 0; i < npatches && decides; i++)
		{
			if (patches[i].result != PFS_GOT_PATCHED || !is_one_of(patches[i].symbol, asked[a].symbols))
				continue;
			tried |= patches[i].kinds;
			if (*asked[a].seen)
				proved |= patches[i].kinds;
			else
				patches[i].result = PFS_GOT_UNSEEN;
		}
	}
	for (int i = 0; i < npatches; i++)
	{
		if (patches[i].result == PFS_GOT_PATCHED && (patches[i].kinds & tried) != 0 && (patches[i].kinds & proved) == 0)
			patches[i].result = PFS_GOT_UNSEEN;
	}
}

void
pfs_prove_report(const char *name, const char *mechanism, const char *target, const char *why_not)
{
	PfsProbeRow row = {.mechanism = mechanism, .target = target, .status = why_not == NULL ? "active" : "unavailable"};

	strlcpy(row.name, name, sizeof(row.name));
	strlcpy(row.detail, why_not == NULL ? "" : why_not, sizeof(row.detail));
	pfs_probe_report(&row);
}

/*
 * Checks what a minor release could change without pfs being built anew, and can be seen:
 * where a process's record ends, and so the place of every other one, and the sizes of
 * the counters of buffers and WAL.  PortalData is not there yet; what is read of it has
 * been at its place since 15, and minor releases add only behind the last member.
 */
static const char *
judge_layout(void)
{
	size_t		buffer_usage;
	size_t		wal_usage;

	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		const dlist_head *members = &ProcGlobal->allProcs[i].lockGroupMembers;

		/* An empty list whose head is where we think it is leads to itself. */
		if (members->head.next != &members->head || members->head.prev != &members->head)
			return "records of processes are laid out in another way than in the version that pfs was built for";
	}
	(void) pfs_image_symbol("pgBufferUsage", &buffer_usage);
	(void) pfs_image_symbol("pgWalUsage", &wal_usage);
	if (buffer_usage != sizeof(BufferUsage) || wal_usage != sizeof(WalUsage))
		return "counters of buffers or WAL are laid out in another way than in the version that pfs was built for";
	return NULL;
}

/* Reports whether the server is laid out as pfs was built for; NULL: it is. */
static const char *
report_version(void)
{
	const char *running = GetConfigOption("server_version_num", false, false);
	const char *why_not = judge_layout();
	PfsProbeRow row = {.name = "server_version", .target = "minor version", .status = why_not == NULL ? "active" : "unavailable"};

	if (why_not != NULL)
		strlcpy(row.detail, why_not, sizeof(row.detail));
	else if (atoi(running) != PFS_BUILT_FOR)
		snprintf(row.detail, sizeof(row.detail), "pfs was built for %d.%d, the server is %d.%d; what can be looked at is laid out alike",
				 PFS_BUILT_FOR / 10000, PFS_BUILT_FOR % 10000, atoi(running) / 10000, atoi(running) % 10000);
	pfs_probe_report(&row);
	return why_not;
}

/* Does a setting of the build ask for optimization across files?  The last option counts. */
static bool
asks_for_lto(const char *setting)
{
	const char *on = NULL;
	const char *off = NULL;

	for (const char *at = setting; (at = strstr(at, "-flto")) != NULL; at++)
		on = at;
	for (const char *at = setting; (at = strstr(at, "-fno-lto")) != NULL; at++)
		off = at;
	return on != NULL && (off == NULL || off < on);
}

/*
 * Tells by what pg_config says of the running server's build whether it was optimized across
 * files: by CC and CFLAGS, as both can have the option.
 */
bool
pfs_prove_server_is_lto(void)
{
	size_t		n;
	ConfigData *data = get_configdata(my_exec_path, &n);
	bool		is_lto = false;

	for (size_t i = 0; i < n; i++)
	{
		if (strcmp(data[i].name, "CC") == 0 || strcmp(data[i].name, "CFLAGS") == 0)
			is_lto = is_lto || asks_for_lto(data[i].setting);
		pfree(data[i].name);
		pfree(data[i].setting);
	}
	pfree(data);
	return is_lto;
}

/* Has the server's slot of this function been patched, and does nothing speak against it? */
static bool
is_probed(const PfsGotPatch *patches, int npatches, const char *symbol)
{
	for (int p = 0; p < npatches; p++)
	{
		if (strcmp(patches[p].symbol, symbol) == 0)
			return patches[p].result == PFS_GOT_PATCHED;
	}
	return false;
}

/*
 * Makes all proofs, and takes back what has not proved itself: slots that calls go
 * past, sources where frames do not lead to the caller, raised errors that are not
 * seen.
 */
void
pfs_prove_start(PfsGotPatch *patches, int npatches)
{
	const char *no_source = pfs_frames_start();
	const char *no_raise = NULL;
	const char *no_layout;

	look();
	judge_slots(patches, npatches);

	/* Without a call nothing speaks against the frames. */
	if (no_source == NULL && seen.sleep && !seen.caller)
		no_source = "frames do not lead to who called";
	if (no_source != NULL)
	{
		pfs_frames_stop();
		no_raise = no_source;
	}
	else if (!is_probed(patches, npatches, "__longjmp_chk") && !is_probed(patches, npatches, "siglongjmp"))
		no_raise = "the jump of an error passes no slot";
	else if (!seen.raise)
		no_raise = "the jump of an error does not come from errfinish()";
	if (no_raise != NULL)
		pfs_frames_forget_raises();
	pfs_raises_are_seen = no_raise == NULL;
	pfs_prove_report("source", "got", "frame pointers", no_source);
	pfs_prove_report("raise", "got", "errfinish", no_raise);
	no_layout = report_version();

	if (no_source != NULL)
		ereport(LOG,
				(errmsg("pfs: the source of waits stays unknown, and only errors that are logged count: %s", no_source)));
	else if (no_raise != NULL)
		ereport(LOG,
				(errmsg("pfs: only errors that are logged count: %s", no_raise)));
	if (no_layout != NULL)
		ereport(LOG,
				(errmsg("pfs: numbers can be wrong: %s", no_layout)));
}
