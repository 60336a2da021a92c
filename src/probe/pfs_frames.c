/*
 * pfs_frames.c
 *	  Frame-pointer walks over the server's wrappers.
 *
 * Separate from the instruments because it is about machine code only.  A walk
 * reads the main thread's stack, between the given frame and the stack's end,
 * so it cannot fault whatever a frame pointer holds.
 *
 * A library can call the server on another stack: a thread of its own, a coroutine.
 * Above such a stack there can be unmapped memory, and its functions need not keep
 * frame pointers.  So a walk that begins there gives up.  What reads only the frame of
 * the function that called the wrapper (the memos, the look at a raise or at a spin
 * delay) needs no such check: that function is the server's, and keeps one.
 */
#include "postgres.h"

#include <pthread.h>

#include "pfs_frames.h"
#include "pfs_image.h"

/* Functions that wait on behalf of their caller. */
static const char *const wrapper_names[] = {
	"PGSemaphoreLock", "LWLockAcquire", "LWLockAcquireOrWait", "LWLockWaitForVar",
	"pg_usleep", "perform_spin_delay", "s_lock",
	"WaitLatch", "WaitLatchOrSocket", "WaitEventSetWait",
	"ConditionVariableSleep", "ConditionVariableTimedSleep",
	"ProcWaitForSignal", "ProcSleep", "LockAcquireExtended", "LockAcquire",
	"FileRead", "FileReadV", "FileWrite", "FileWriteV", "FileSync", "FileTruncate",
	"FileStartReadV", "FilePrefetch", "FileWriteback", "FileZero", "FileFallocate",
	"FileClose", "FileSize",
	"PathNameOpenFile", "PathNameOpenFilePerm", "PathNameDeleteTemporaryFile",
	"BasicOpenFile", "BasicOpenFilePerm", "OpenTransientFile", "OpenTransientFilePerm",
	"CloseTransientFile", "AllocateFile", "FreeFile",
	"pg_fsync", "pg_fsync_no_writethrough", "pg_fsync_writethrough", "pg_fdatasync",
	"pg_flush_data", "pg_truncate", "pg_file_exists",
	"pg_pwritev_with_retry", "pg_pwrite_zeros", "pg_preadv", "pg_pwritev",
	"fsync_fname", "fsync_fname_ext", "durable_rename", "durable_unlink",
	"pgaio_io_perform_synchronously",
};

/* Wrappers without which a walk would begin in the wrong function. */
static const char *const verified_names[] = {
	"PGSemaphoreLock", "LWLockAcquire", "pg_usleep", "WaitEventSetWait", "ProcSleep",
};

typedef struct PfsRange
{
	uint32		start;			/* offsets in the server binary */
	uint32		end;
} PfsRange;

bool		pfs_frames_usable = false;
uintptr_t	pfs_frames_server_base = 0;
PFS_FIXED const uintptr_t *pfs_frames_limit = NULL; /* a frame's two words lie
													 * below it */

/* The main thread's stack, as large as it may grow. */
static uintptr_t stack_start;
static uintptr_t stack_size;

static uintptr_t server_size;

/* This library's text: a detour's wrapper stands between two functions of the server. */
static PfsAddresses own;
static PfsRange wrappers[lengthof(wrapper_names)];
static int	nwrappers;
static PfsRange spin_delay;
static PfsRange raise;			/* errfinish() */

/*
 * Process-local; a signal handler may replace an entry at any time, which costs a
 * search and nothing else.
 */
uint32		pfs_frames_cache[PFS_FRAMES_CACHE_SIZE];

#define PFS_STEP_OVER 0x80000000U

/* dl_iterate_phdr() callback: finds the text of this library. */
static int
find_own_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		own = pfs_addresses_of(info, &info->dlpi_phdr[i]);
		if (info->dlpi_phdr[i].p_type == PT_LOAD && pfs_addresses_have(&own, find_own_cb))
			return 1;
	}
	return 0;
}

/* The code of an exported function of the server; false if it has none. */
static bool
find_function(const char *name, PfsRange *range)
{
	size_t		size;
	void	   *address = pfs_image_symbol(name, &size);

	if (address == NULL)
		return false;
	if ((uintptr_t) address < pfs_frames_server_base || (uintptr_t) address >= pfs_frames_server_base + server_size)
		return false;
	range->start = (uintptr_t) address - pfs_frames_server_base;
	range->end = range->start + size;
	return size > 0;
}

/* Does the function set up a frame pointer near its start? */
static bool
keeps_frame_pointer(const PfsRange *range)
{
	const unsigned char *code = (const unsigned char *) pfs_frames_server_base + range->start;
	uint32		look = Min(range->end - range->start, 96);

#if defined(__x86_64__)
	for (uint32 i = 0; i + 3 <= look; i++)
	{
		if (code[i] == 0x48 && code[i + 1] == 0x89 && code[i + 2] == 0xe5)
			return true;		/* mov %rsp,%rbp */
	}
#elif defined(__aarch64__)
	for (uint32 i = 0; i + 4 <= look; i += 4)
	{
		if (*(const uint32 *) (code + i) == 0x910003fd)
			return true;		/* mov x29, sp */
	}
#endif
	return false;
}

/* The bounds of this thread's stack, which is the main one. */
static bool
find_stack(void)
{
	pthread_attr_t attributes;
	void	   *start;
	size_t		size;
	bool		found;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return false;
	found = pthread_attr_getstack(&attributes, &start, &size) == 0;
	pthread_attr_destroy(&attributes);
	if (!found)
		return false;
	stack_start = (uintptr_t) start;
	stack_size = size;
	pfs_frames_limit = (const uintptr_t *) (stack_start + stack_size) - 1;
	return true;
}

static int
by_start(const void *a, const void *b)
{
	const PfsRange *x = a;
	const PfsRange *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Checks whether the server's functions keep frame pointers; returns why not, or NULL. */
const char *
pfs_frames_start(void)
{
	const PfsImage *image = pfs_image();

	pfs_frames_server_base = image->base;
	server_size = image->end - image->base;
	dl_iterate_phdr(find_own_cb, NULL);
	if (server_size == 0 || server_size >= PFS_STEP_OVER)
		return "the server binary is too large";

	for (int i = 0; i < lengthof(verified_names); i++)
	{
		PfsRange	range;

		if (!find_function(verified_names[i], &range))
			return "the server binary does not export its functions";
		if (!keeps_frame_pointer(&range))
			return "the server was built without frame pointers";
	}
	nwrappers = 0;
	for (int i = 0; i < lengthof(wrapper_names); i++)
	{
		if (find_function(wrapper_names[i], &wrappers[nwrappers]))
			nwrappers++;
	}
	qsort(wrappers, nwrappers, sizeof(wrappers[0]), by_start);
	(void) find_function("perform_spin_delay", &spin_delay);
	(void) find_function("errfinish", &raise);
	if (!find_stack())
		return "the bounds of the main thread's stack are unknown";
	pfs_frames_usable = true;
	return NULL;
}

/* Is the offset inside one of the server's own wrappers?  A binary search. */
static bool
in_wrapper(uintptr_t offset)
{
	int			low = 0;
	int			high = nwrappers;

	/* The last one that begins before the address. */
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (wrappers[middle].start < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && offset <= wrappers[low - 1].end;
}

/*
 * The return address of a frame as an offset in the server.  On aarch64 it may
 * be signed in its upper bits (pointer authentication); "hint 7" takes the
 * signature off the link register and is a no-op where there is none.
 */
static inline uintptr_t
return_offset(const uintptr_t *frame)
{
#if defined(__aarch64__)
	register uintptr_t address __asm__("x30") = frame[1];

__asm__("hint 7":"+r"(address));
	return address - pfs_frames_server_base;
#else
	return frame[1] - pfs_frames_server_base;
#endif
}

/*
 * The caller's frame, or NULL at the end of what can be followed.  The stack
 * grows down, so it lies above and below the stack's end.
 */
static inline const uintptr_t *
outer_frame(const uintptr_t *frame)
{
	const uintptr_t *outer = (const uintptr_t *) frame[0];

	return likely(outer > frame && outer < pfs_frames_limit) ? outer : NULL;
}

const void *
pfs_frames_outer(const void *frame)
{
	if (!pfs_frames_usable || (uintptr_t) frame - stack_start >= stack_size)
		return NULL;
	return outer_frame(frame);
}

/*
 * Does a walk step over this return address?  It does over wrappers, and over
 * a function that is none but was called by one: a static helper in between.
 */
static pg_noinline bool
learn(uintptr_t offset, const uintptr_t *frame)
{
	const uintptr_t *outer = outer_frame(frame);
	bool		over;

	if (offset >= server_size)
		return pfs_addresses_have(&own, (void *) (offset + pfs_frames_server_base));
	over = in_wrapper(offset) ||
		(outer != NULL && in_wrapper(return_offset(outer)));
	pfs_frames_cache[(offset >> 1) % PFS_FRAMES_CACHE_SIZE] = (uint32) offset | (over ? PFS_STEP_OVER : 0);
	return over;
}

/* Steps outward to the first caller that is no wrapper; 0: none was found. */
uint32
pfs_frames_walk(const void *start)
{
	const uintptr_t *frame = start;

	if (unlikely((uintptr_t) start - stack_start >= stack_size))
		return 0;
	for (int i = 0; i < PFS_FRAMES_MAX && frame != NULL; i++)
	{
		uintptr_t	offset = return_offset(frame);
		uint32		entry = pfs_frames_cache[(offset >> 1) % PFS_FRAMES_CACHE_SIZE];

		if (entry == offset)
			return entry;
		if (unlikely(entry != (offset | PFS_STEP_OVER)) && !learn(offset, frame))
			return offset < server_size ? (uint32) offset : 0;
		frame = outer_frame(frame);
	}
	return 0;
}

/*
 * A memo is good only for a source that the walk took from the first or the
 * second caller: one from further out could differ although these are the same.
 */
uint32
pfs_frames_walk_memo(const void *start, PfsFramesMemo *memo)
{
	const uintptr_t *frame = start;
	const uintptr_t *outer;
	uint32		source = pfs_frames_source(start);

	if (source == 0)
		return 0;
	outer = outer_frame(frame);
	if (return_offset(frame) == source)
		memo->outer = 0;
	else if (outer != NULL && return_offset(outer) == source)
		memo->outer = outer[1];
	else
		return source;
	memo->caller = frame[1];
	memo->source = source;
	return source;
}

/* longjmp() <- pg_re_throw() <- errfinish(); a call that never returns can be a function's last. */
bool
pfs_frames_is_raise(const void *start)
{
	const uintptr_t *outer = pfs_frames_usable ? outer_frame(start) : NULL;
	uintptr_t	offset;

	if (outer == NULL)
		return false;
	offset = return_offset(outer);
	return offset > raise.start && offset <= raise.end;
}

void
pfs_frames_forget_raises(void)
{
	raise.start = raise.end = 0;
}

/* ---- proofs ---- */

/* Functions of this library between the one that proves and the server's. */
#define OWN_FRAMES_MAX 4

static bool
returns_here(const uintptr_t *frame)
{
	return pfs_addresses_have(&own, (void *) (return_offset(frame) + pfs_frames_server_base));
}

/* Does the walk lead from here through this library to the named function, and out again? */
bool
pfs_frames_prove(const void *start, const char *function)
{
	const uintptr_t *frame = start;
	PfsRange	range;

	if (!pfs_frames_usable || !find_function(function, &range))
		return false;
	for (int i = 0; i < OWN_FRAMES_MAX && frame != NULL && returns_here(frame); i++)
		frame = outer_frame(frame);
	if (frame == NULL || return_offset(frame) <= range.start || return_offset(frame) > range.end)
		return false;
	frame = outer_frame(frame);
	return frame != NULL && returns_here(frame);
}

void
pfs_frames_stop(void)
{
	pfs_frames_usable = false;
}

/* Was select() called by pg_usleep() for a spin delay? */
bool
pfs_frames_walk_finds_spin_delay(const void *start)
{
	const uintptr_t *frame = start;

	/* select() <- pg_usleep() <- perform_spin_delay() */
	for (int i = 0; i < 2 && frame != NULL; i++)
	{
		uintptr_t	offset = return_offset(frame);

		if (offset > spin_delay.start && offset <= spin_delay.end)
			return true;
		frame = outer_frame(frame);
	}
	return false;
}
