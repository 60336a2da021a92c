/*
 * pfs_instr_buffer.c
 *	  Waits for the content locks of buffers, which are a part of the buffer's header
 *	  since 19: which page, which mode, who waits; and, by a detour, acquisitions that
 *	  do not wait.
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
 * An acquisition that a detour sees is recorded when it is over, and only if it did not
 * sleep: the sleep is an event already.  So nothing is left open when an error takes the
 * process out of it.  LockBufferInternal() can have a detour, although it jumps to a static
 * function of its file: whoever calls it has to expect that all registers change which
 * calls may change, as that function calls others outside of the server.  The compiler may
 * know better of static functions, and of those that call none.
 *
 * Separate from pfs_instr_wait.c, as no other instrument point sees buffer headers.
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "pfs_compat.h"
#include "pfs_compat_buffer.h"
#include "pfs_event_instant.h"
#include "pfs_frames.h"
#include "pfs_instr.h"
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

/* How often this process has slept for a content lock. */
static uint32 sleeps;

void		(*pfs_buffer_lock_real) (Buffer buffer, int mode);

static PfsOperation
operation_of(int mode)
{
	switch (mode)
	{
		case PFS_BUFFER_LOCK_SHARE:
			return PFS_OP_SHARED_LOCK;
		case PFS_BUFFER_LOCK_SHARE_EXCLUSIVE:
			return PFS_OP_SHARE_EXCLUSIVE_LOCK;
		default:
			return PFS_OP_EXCLUSIVE_LOCK;
	}
}

PfsOperation
pfs_buffer_operation(void)
{
	return operation_of(MyProc->lwWaitMode);
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

/* Gives an event its object; NULL: it is not known. */
static void
set_page(PfsWait *e, const BufferDesc *buffer)
{
	e->object.page.tablespace = InvalidOid;
	e->object_instance = (uintptr_t) buffer;
	e->file_offset = PFS_EVENT_NO_OFFSET;
	pfs_wait_widen(e, PFS_WIDE_INSTANCE | PFS_WIDE_OFFSET);
	if (buffer != NULL)
	{
		PfsCompatPage page = pfs_compat_page_of(&buffer->tag);

		e->object.page = (PfsWaitPage)
		{
			page.tablespace, page.database, page.filenode, page.fork
		};
		e->file_offset = (int64) page.block * BLCKSZ;
	}
}

/* The process has the buffer pinned, so it keeps its page. */
void
pfs_buffer_describe(PfsWait *e, const void *frame)
{
	const BufferDesc *buffer = find_header(frame);

	set_page(e, buffer);
	pfs_hook_called(buffer != NULL ? PFS_HOOK_BUFFER_FOUND : PFS_HOOK_BUFFER_MISSED);
}

/* ---- acquisitions ---- */

void
pfs_buffer_sleeps(void)
{
	sleeps++;
}

/*
 * The flags of an acquisition's instrument, 0: it is not wanted.  A buffer of a temporary
 * table has a negative number, and no lock.
 */
static inline uint32
wanted(const PfsThread *t, Buffer buffer, int mode, PfsInstrumentId *instrument)
{
	uint32		wait_info = pfs_compat_buffer_wait(mode);
	uint32		flags;

	if (t == NULL || buffer <= 0 || wait_info == 0)
		return 0;
	*instrument = pfs_wait_info_instrument(wait_info);
	if (*instrument == PFS_NO_INSTRUMENT)
		return 0;
	flags = pfs_wait_flags(t, *instrument);
	return flags & PFS_FLAG_ENABLED ? flags : 0;
}

/* With `contended`: an acquisition that has not slept is counted. */
void
pfs_buffer_lock_counted(Buffer buffer, int mode)
{
	PfsThread  *t = pfs_thread_here();
	PfsInstrumentId instrument;
	uint32		flags = wanted(t, buffer, mode, &instrument);
	uint32		before = sleeps;

	pfs_hook_called(PFS_HOOK_BUFFER_LOCK);
	pfs_buffer_lock_real(buffer, mode);
	if (flags != 0 && sleeps == before)
		pfs_wait_count_only(t, instrument, flags);
}

/* With `all`: it is an event. */
void
pfs_buffer_lock_timed(Buffer buffer, int mode)
{
	static PFS_HOT_TABLE PfsFramesMemo memo;
	PfsThread  *t = pfs_thread_here();
	PfsInstrumentId instrument;
	uint32		flags = wanted(t, buffer, mode, &instrument);
	uint32		before = sleeps;
	uint64		start;
	uint64		end;
	PfsWait    *e;

	pfs_hook_called(PFS_HOOK_BUFFER_LOCK);
	if (flags == 0)
	{
		pfs_buffer_lock_real(buffer, mode);
		return;
	}
	start = pfs_wait_clock(flags);
	pfs_buffer_lock_real(buffer, mode);
	if (sleeps != before)
		return;
	end = pfs_wait_read_end(t, flags);
	e = pfs_wait_begin(t, instrument, flags, operation_of(mode), PFS_OBJECT_BUFFER, PFS_EVENT_NO_OFFSET,
					   pfs_frames_source_memo(FRAME, &memo));
	if (e == NULL)
		return;
	pfs_wait_set_bytes(e, PFS_EVENT_NO_BYTES);
	e->spins = 0;
	set_page(e, GetBufferDescriptor(buffer - 1));
	pfs_wait_start_at(t, e, start);
	pfs_wait_end_at(t, e, end);
}

/* ---- the reports ---- */

/* Fills in the row when it is read: what the searches so far have come to. */
static void
look_cb(PfsProbeRow *row, int unused)
{
	bool		found = pfs_hook_was_seen(PFS_HOOK_BUFFER_FOUND);
	bool		missed = pfs_hook_was_seen(PFS_HOOK_BUFFER_MISSED);

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
pfs_buffer_lock_look(PfsProbeRow *row, int unused)
{
	bool		seen = pfs_hook_was_seen(PFS_HOOK_BUFFER_LOCK);

	row->status = seen ? "active" : "off";
	if (!seen)
		strlcpy(row->detail, "no call was seen so far", sizeof(row->detail));
}

void
pfs_instr_buffer_start(void)
{
	PfsProbeRow row = {.name = "stack/BufferDesc", .target = "BufferDesc", .status = "off", .look = look_cb};

	if (PFS_HAVE_BUFFER_LOCKS)
		pfs_probe_report(&row);
}
