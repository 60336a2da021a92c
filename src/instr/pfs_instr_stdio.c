/*
 * pfs_instr_stdio.c
 *	  Calls of stdio: which of them reach the system, and with how many bytes.
 *
 * The C library's own calls of the system pass no slot of the server.  So their event is that
 * of the server's call that has led to them, and its bytes are those that the system has got or
 * given: of a write what had gathered in the stream since the last one, and of the caller's
 * bytes those that do not stay in it. So the bytes of a file's events are the file's.  Most
 * calls only touch the stream's buffer, and are no events.  glibc shows the buffer's bounds in
 * its public struct.
 *
 * fflush(NULL) is not seen: which streams there are, only the C library knows.
 *
 * Separate from pfs_instr_file.c, whose calls reach the system each time.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <stdarg.h>

#include "pfs_compat.h"
#include "pfs_instr.h"
#include "pfs_plain_state.h"

/*
 * Bytes that a stream has read and not yet given to its caller; those that it was given and has
 * not written yet.
 */
static inline size_t
unread(const FILE *file)
{
	return file->_IO_read_end - file->_IO_read_ptr;
}

static inline size_t
unwritten(const FILE *file)
{
	return file->_IO_write_ptr - file->_IO_write_base;
}

/* Do so many bytes come from the stream's buffer? */
static inline bool
is_buffered(const FILE *file, size_t bytes)
{
	return (uintptr_t) file->_IO_read_ptr + bytes <= (uintptr_t) file->_IO_read_end;
}

/* Is the system not asked for so many bytes?  Behind the end of the file it is not asked again. */
static inline bool
has_read(FILE *file, size_t bytes)
{
	return is_buffered(file, bytes) || unlikely(feof_unlocked(file));
}

static inline bool
has_read_line(FILE *file, size_t bytes)
{
	size_t		buffered = unread(file);

	return has_read(file, bytes) || (buffered > 0 && memchr(file->_IO_read_ptr, '\n', buffered) != NULL);
}

/* Do so many bytes fit into the stream's buffer?  In one that is written line by line none do. */
static inline bool
stays_in_buffer(const FILE *file, size_t bytes)
{
	return file->_IO_write_end - file->_IO_write_ptr >= (ptrdiff_t) bytes;
}

/*
 * Does what does not fit reach the system?  A stream without a buffer may get one first, and
 * lines may go on.
 */
static inline bool
is_written_by_blocks(const FILE *file)
{
	return file->_IO_write_end != NULL && file->_IO_write_end == file->_IO_buf_end;
}

/* A call that reaches the system, or may. */
typedef struct StreamCall
{
	bool		begun;			/* false: it is no event, or one only when it
								 * is known that it has reached the system */
	FILE	   *file;
	PfsOperation op;
	PfsInstrumentId instrument; /* of the latter; PFS_NO_INSTRUMENT: no event */
	uint32		flags;
	uint64		start;
	const void *frame;
	size_t		held;			/* unread or unwritten bytes before it */
} StreamCall;

/* Finds out what the event of a call is that may turn out to be one. */
static void
begin_late(StreamCall *call, PfsThread *t)
{
	const PfsFd *file = NULL;
	PfsInstrumentId instrument = pfs_fd_instrument(fileno(call->file), call->op, &file);
	uint32		flags = instrument != PFS_NO_INSTRUMENT ? pfs_wait_flags(t, instrument) : 0;

	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	call->instrument = instrument;
	call->flags = flags;
	call->start = pfs_wait_clock(flags);
}

/* Begins a call.  reaches: it is certain that it reaches the system. */
static void
begin_call(StreamCall *call, FILE *file, PfsOperation op, bool reaches, const void *frame)
{
	PfsThread  *t = pfs_my_thread;

	*call = (StreamCall)
	{
		.file = file, .op = op, .instrument = PFS_NO_INSTRUMENT, .frame = frame,
			.held = op == PFS_OP_READ ? unread(file) : unwritten(file)
	};
	if (t == NULL || pfs_is_all_off())
		return;
	if (reaches)
		call->begun = pfs_fd_wait_begin(t, fileno(file), op, PFS_EVENT_NO_OFFSET, frame);
	else
		begin_late(call, t);
}

/*
 * Ends a call.  bytes: what the system has got or given; PFS_EVENT_NO_BYTES: the call has
 * failed.
 */
static void
end_call(StreamCall *call, int64 bytes)
{
	PfsThread  *t = pfs_my_thread;

	if (!call->begun && call->instrument != PFS_NO_INSTRUMENT && bytes > 0)
	{
		const PfsFd *file = pfs_fd_get(fileno(call->file));
		PfsWait    *e = pfs_wait_begin(t, call->instrument, call->flags, call->op, PFS_OBJECT_FILE, PFS_EVENT_NO_OFFSET,
									   pfs_frames_source(call->frame));

		if (e == NULL)
			return;
		e->object.file.counted = pfs_fd_counted(file);
		pfs_wait_start_at(t, e, call->start);
		call->begun = true;
	}
	if (call->begun)
		pfs_fd_wait_end(t, fileno(call->file), bytes);
}

/* Bytes that a call has read or written, of which the caller has got or given `moved`. */
static inline int64
bytes_read(const StreamCall *call, size_t moved)
{
	return Max((int64) (moved + unread(call->file) - call->held), 0);
}

static inline int64
bytes_written(const StreamCall *call, size_t moved)
{
	return Max((int64) (call->held + moved - unwritten(call->file)), 0);
}

/* ---- reading ---- */

/* The part of wrap_fread() that is not served from the stream's buffer; a jump leads here. */
static pg_noinline size_t
read_from_system(void *buf, size_t size, size_t n, FILE *file)
{
	StreamCall	call;
	size_t		result;

	if (unlikely(feof_unlocked(file)) || pfs_is_all_off())
		return pfs_real.fread(buf, size, n, file);
	begin_call(&call, file, PFS_OP_READ, true, FRAME);
	result = pfs_real.fread(buf, size, n, file);
	end_call(&call, bytes_read(&call, result * size));
	return result;
}

/*
 * A session's start reads its caches by thousands of these: two jumps, no frame.
 * So read_from_system() returns to the server, too, and its frame is the
 * wrapper's.
 */
static size_t
wrap_fread(void *buf, size_t size, size_t n, FILE *file)
{
	if (likely(is_buffered(file, size * n)))
		return pfs_real.fread_buffered(buf, size, n, file);
	return read_from_system(buf, size, n, file);
}

/* The wrapper of a call that reads a line or a character: is it served from the buffer, and how much has it brought? */
#define WRAP_READ(type, name, params, args, is_served, moved) \
static type \
wrap_##name params \
{ \
	StreamCall	call; \
	type		result; \
\
	if (likely(is_served)) \
		return pfs_real.name args; \
	begin_call(&call, file, PFS_OP_READ, true, FRAME); \
	result = pfs_real.name args; \
	end_call(&call, bytes_read(&call, moved)); \
	return result; \
}

WRAP_READ(char *, fgets, (char *buf, int size, FILE *file), (buf, size, file),
		  size <= 1 || has_read_line(file, size - 1), result != NULL ? strlen(result) : 0)
WRAP_READ(int, fgetc, (FILE *file), (file), has_read(file, 1), result != EOF)
WRAP_READ(int, getc, (FILE *file), (file), has_read(file, 1), result != EOF)

/*
 * What fscanf() calls, by the standard that the server was compiled for; the later one is not
 * in every glibc.
 */
extern int	vfscanf_99(FILE *file, const char *format, va_list args) __asm__("__isoc99_vfscanf");
extern int	vfscanf_23(FILE *file, const char *format, va_list args) __asm__("__isoc23_vfscanf") __attribute__((weak));

/*
 * The wrapper of fscanf(), which cannot be called with arguments that are not known.  How many
 * characters it takes, it does not say: the buffer was filled anew if it ends elsewhere, or the
 * next character lies further in front.
 */
#define WRAP_FSCANF(name, real) \
static int \
wrap_##name(FILE *file, const char *format, ...) \
{ \
	const char *end = file->_IO_read_end; \
	const char *next = file->_IO_read_ptr; \
	StreamCall	call; \
	va_list		args; \
	int			result; \
\
	begin_call(&call, file, PFS_OP_READ, !has_read(file, 1), FRAME); \
	va_start(args, format); \
	result = real(file, format, args); \
	va_end(args); \
	end_call(&call, file->_IO_read_end != end || file->_IO_read_ptr < next \
			 ? file->_IO_read_end - file->_IO_read_base : 0); \
	return result; \
}

WRAP_FSCANF(isoc99_fscanf, vfscanf_99)
WRAP_FSCANF(isoc23_fscanf, vfscanf_23)

/* ---- writing ---- */

/* The wrapper of a call that writes so many bytes. */
#define WRAP_WRITE(type, name, params, args, bytes, has_failed) \
static type \
wrap_##name params \
{ \
	size_t		length = bytes; \
	StreamCall	call; \
	type		result; \
\
	if (likely(stays_in_buffer(file, length))) \
		return pfs_real.name args; \
	begin_call(&call, file, PFS_OP_WRITE, is_written_by_blocks(file), FRAME); \
	result = pfs_real.name args; \
	end_call(&call, has_failed ? PFS_EVENT_NO_BYTES : bytes_written(&call, length)); \
	return result; \
}

WRAP_WRITE(size_t, fwrite, (const void *buf, size_t size, size_t n, FILE *file), (buf, size, n, file), size * n, result != n)
WRAP_WRITE(int, fputc, (int c, FILE *file), (c, file), 1, result == EOF)
WRAP_WRITE(int, fputs, (const char *s, FILE *file), (s, file), strlen(s), result == EOF)

static int
wrap_fflush(FILE *file)
{
	StreamCall	call;
	int			result;

	if (file == NULL || unwritten(file) == 0)
		return pfs_real.fflush(file);
	begin_call(&call, file, PFS_OP_WRITE, true, FRAME);
	result = pfs_real.fflush(file);
	end_call(&call, result == 0 ? bytes_written(&call, 0) : PFS_EVENT_NO_BYTES);
	return result;
}

/* ---- going elsewhere ---- */

/*
 * The wrapper of a call that goes elsewhere in the file.  It writes what has gathered.  Of a
 * stream that is read it reads the block to which it goes, but for what lies in the buffer; the
 * offset of the buffer's end tells.
 */
#define WRAP_SEEK(name, params, args) \
static int \
wrap_##name params \
{ \
	bool		writes = unwritten(file) > 0; \
	off_t		offset = file->_offset; \
	StreamCall	call; \
	int			result; \
\
	begin_call(&call, file, writes ? PFS_OP_WRITE : PFS_OP_READ, writes, FRAME); \
	result = pfs_real.name args; \
	if (result != 0) \
		end_call(&call, PFS_EVENT_NO_BYTES); \
	else if (writes) \
		end_call(&call, bytes_written(&call, 0)); \
	else \
		end_call(&call, file->_offset != offset ? file->_IO_read_end - file->_IO_read_base : 0); \
	return result; \
}

WRAP_SEEK(fseek, (FILE *file, long offset_there, int whence), (file, offset_there, whence))
WRAP_SEEK(fseeko, (FILE *file, off_t offset_there, int whence), (file, offset_there, whence))

/*
 * Closing a stream writes what has gathered, which is an event of its own.  The time of both
 * calls of the system is known as one, and is the write's: so the other event has none.  A jump
 * leads here, as to read_from_system(), so the wrapper's frame is gone.
 */
static pg_noinline int
close_and_write(FILE *file, PfsThread *t)
{
	int			fd = fileno(file);
	const PfsFd *known = (uint32) fd < (uint32) pfs_nfds ? pfs_fd_get(fd) : NULL;
	PfsFd		closed = {.kind = PFS_FILE_UNKNOWN};
	int64		bytes = unwritten(file);
	bool		begun = pfs_fd_wait_begin(t, fd, PFS_OP_WRITE, PFS_EVENT_NO_OFFSET, FRAME);
	int			result;

	/* Its instance may go as soon as it is closed; the event still names it. */
	if (known != NULL)
	{
		closed = *known;
		closed.state = &closed.word;
	}
	pfs_fd_closed(fd);
	result = pfs_real.fclose(file);
	if (!begun)
		return result;
	pfs_fd_wait_end(t, -1, result == 0 ? bytes : PFS_EVENT_NO_BYTES);
	if (pfs_fd_close_begin(t, &closed, ~PFS_FLAG_TIMED, FRAME))
		pfs_fd_wait_end(t, -1, PFS_EVENT_NO_BYTES);
	return result;
}

/* Closes a stream.  One that has something to write is two events: the write, and the close. */
static int
wrap_fclose(FILE *file)
{
	PfsThread  *t = pfs_my_thread;
	int			fd;
	bool		begun;
	int			result;

	if (t == NULL)
		return pfs_real.fclose(file);
	if (unwritten(file) > 0)
		return close_and_write(file, t);
	fd = fileno(file);
	begun = (uint32) fd < (uint32) pfs_nfds && pfs_fd_close_begin(t, &pfs_fds[fd], ~0, FRAME);
	pfs_fd_closed(fd);
	result = pfs_real.fclose(file);
	if (begun)
		pfs_fd_wait_end(t, -1, PFS_EVENT_NO_BYTES);
	return result;
}

/*
 * Reads from a stream's buffer take no lock of it: the server has one thread, and its streams
 * are its own.  That saves more than it costs to look how full the buffer is.  Where another
 * library stands before the C library's function, that is called.
 */
void
pfs_instr_stdio_start(void)
{
	Dl_info		called;
	Dl_info		unlocked;

	pfs_real.fread_buffered = pfs_real.fread;
	if (pfs_real.fread != NULL && dladdr(pfs_real.fread, &called) && dladdr(fread_unlocked, &unlocked) &&
		called.dli_fbase == unlocked.dli_fbase)
		pfs_real.fread_buffered = fread_unlocked;
}

#define CALL(symbol, name) PFS_CALL(symbol, name, "wait/io/file/%")

const PfsGotPatch pfs_stdio_calls[] = {
	CALL("fread", fread),
	CALL("fgets", fgets),
	CALL("fgetc", fgetc),
	CALL("getc", getc),
	CALL("_IO_getc", getc),
	CALL("__isoc99_fscanf", isoc99_fscanf),
	CALL("__isoc23_fscanf", isoc23_fscanf),
	CALL("fwrite", fwrite),
	CALL("fputc", fputc),
	CALL("putc", fputc),
	CALL("_IO_putc", fputc),
	CALL("fputs", fputs),
	CALL("fflush", fflush),
	CALL("fseek", fseek),
	CALL("fseeko", fseeko),
	CALL("fseeko64", fseeko),
	CALL("fclose", fclose),
	{NULL},
};
