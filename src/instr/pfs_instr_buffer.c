/*
 * pfs_instr_buffer.c
 *	  Waits for the content locks of buffers, which are a part of the buffer's header
 *	  since 19: which page, which mode, who waits.
 *
 * The process sleeps in PGSemaphoreLock(), called by a static function of the server that
 * has the buffer's header, and nothing says which one that is.  But that function
 * needs the header again when it wakes up, so its address is in a register that calls
 * preserve, or on the stack between here and there.  Each word that could be it, as it
 * points to the begin of a header, is put to the proof: the process has to be in that
 * buffer's queue, and it is in one queue only.  So whatever the compiler has done with the
 * address, what is found is right.  A process that has been taken off the queue before
 * it could sleep finds nothing: such an event is over in less than a microsecond, and
 * has no page.
 *
 * Separate from pfs_instr_wait.c, as no other instrument point sees buffer headers.
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "pfs_compat.h"
#include "pfs_compat_buffer.h"
#include "pfs_frames.h"
#include "pfs_instr_buffer.h"
#include "pfs_instr_prove.h"
#include "pfs_probe_row.h"

/*
 * Bytes of the stack that are looked at where its frames cannot be followed, and no more
 * than to the end of a page: above that there may be nothing.
 */
#define BYTES_WITHOUT_FRAMES 1024
#define STACK_PAGE 4096

/* How often a queue is followed that others may be changing. */
#define QUEUE_TRIES 3

PfsOperation
pfs_buffer_operation(void)
{
	switch (MyProc->lwWaitMode)
	{
		case PFS_BUFFER_LOCK_SHARE:
			return PFS_OP_SHARED_LOCK;
		case PFS_BUFFER_LOCK_SHARE_EXCLUSIVE:
			return PFS_OP_SHARE_EXCLUSIVE_LOCK;
		default:
			return PFS_OP_EXCLUSIVE_LOCK;
	}
}

/* The frame of the server's static function, which has called PGSemaphoreLock(). */
static const void *
frame_of_acquire(const void *frame)
{
	const void *outer = pfs_frames_outer(frame);

	return outer != NULL ? pfs_frames_outer(outer) : NULL;
}

/* Nobody wants to know the static function, so the walk begins with its caller. */
uint32
pfs_buffer_source(const void *frame)
{
	const void *acquire = frame_of_acquire(frame);

	return acquire != NULL ? pfs_frames_source(acquire) : 0;
}

static bool
is_waited_for(const BufferDesc *buffer)
{
	for (int i = 0; i < QUEUE_TRIES; i++)
	{
		if (pfs_compat_waits_for_buffer(buffer))
			return true;
	}
	return false;
}

/* The header that a word points to the begin of; NULL: it points elsewhere. */
static inline const BufferDesc *
header_at(uintptr_t word)
{
	uintptr_t	offset = word - (uintptr_t) BufferDescriptors;

	if (offset >= (uintptr_t) NBuffers * sizeof(BufferDescPadded) || offset % sizeof(BufferDescPadded) != 0)
		return NULL;
	return (const BufferDesc *) word;
}

/*
 * Searches the registers that calls preserve, which the compiler is told to put on the
 * stack, and the stack from there to the end of the server's function.
 */
static pg_noinline const BufferDesc *
find_header(const void *frame)
{
	const uintptr_t *const own = __builtin_frame_address(0);
	const uintptr_t *end = frame_of_acquire(frame);
	const volatile uintptr_t here = 0;
	const volatile uintptr_t *word;
	const BufferDesc *last = NULL;

	__builtin_unwind_init();
	/* Where a function keeps what it has to restore differs by processor. */
	word = (const uintptr_t *) &here < own ? &here : own;
	if (end == NULL)
		end = (const uintptr_t *) Min((uintptr_t) frame + BYTES_WITHOUT_FRAMES,
									  TYPEALIGN(STACK_PAGE, (uintptr_t) frame + 1));
	for (; word < end; word++)
	{
		const BufferDesc *buffer = header_at(*word);

		if (buffer == NULL || buffer == last)
			continue;
		if (is_waited_for(buffer))
			return buffer;
		last = buffer;
	}
	return NULL;
}

/*
 * Gives an event its object.  The process has the buffer pinned, so it keeps its page.
 */
void
pfs_buffer_describe(PfsWait *e, const void *frame)
{
	const BufferDesc *buffer = find_header(frame);

	e->object.page.tablespace = InvalidOid;
	e->object_instance = (uintptr_t) buffer;
	e->file_offset = PFS_EVENT_NO_OFFSET;
	pfs_wait_widen(e, PFS_WIDE_INSTANCE | PFS_WIDE_OFFSET);
	pfs_hook_called(buffer != NULL ? PFS_HOOK_BUFFER_FOUND : PFS_HOOK_BUFFER_MISSED);
	if (buffer != NULL)
	{
		PfsCompatPage page = pfs_compat_page_of(&buffer->tag);

		e->object.page.tablespace = page.tablespace;
		e->object.page.database = page.database;
		e->object.page.filenode = page.filenode;
		e->object.page.fork = page.fork;
		e->file_offset = (int64) page.block * BLCKSZ;
	}
}

static inline bool
was_seen(PfsHook what)
{
	return pfs_shared_hooks != NULL && pfs_load_relaxed(&pfs_shared_hooks->seen[what]) != 0;
}

/* Fills in the row when it is read: what the searches so far have come to. */
static void
look_cb(PfsProbeRow *row, int unused)
{
	bool		found = was_seen(PFS_HOOK_BUFFER_FOUND);
	bool		missed = was_seen(PFS_HOOK_BUFFER_MISSED);

	row->status = found ? "active" : missed ? "unavailable" : "off";
	if (found && missed)
		strlcpy(row->detail, "but for waits that were over before the process slept",
				sizeof(row->detail));
	else if (missed)
		strlcpy(row->detail, "this build of the server hides which page a process waits for", sizeof(row->detail));
	else if (!found)
		strlcpy(row->detail, "no process has waited for the content of a buffer so far", sizeof(row->detail));
}

void
pfs_instr_buffer_start(void)
{
	PfsProbeRow row = {.name = "stack/BufferDesc", .target = "BufferDesc", .status = "off", .look = look_cb};

	if (PFS_HAVE_BUFFER_LOCKS)
		pfs_probe_report(&row);
}
