/*
 * pfs_instr_socket.c
 *	  Calls on sockets.
 *
 * The server's client sockets do not block: what blocks is the latch wait
 * before them (pfs_instr_wait.c).  So a call here is a finished event, and one
 * that moves no byte is none.  Between statements it is other: the call that looks for
 * the next message and finds none begins the idle wait, and the one that brings its first
 * byte ends it, also below TLS, whose reads come through here; that is no event, but its
 * bytes count.
 */
#include "postgres.h"

#include "access/xact.h"
#include "libpq/libpq-be.h"

#include "pfs_error.h"
#include "pfs_event_instant.h"
#include "pfs_event_open.h"
#include "pfs_instr.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_table.h"
#include "pfs_memory.h"
#include "pfs_plain.h"
#include "pfs_prepared.h"
#include "pfs_program_call.h"
#include "pfs_rel_io.h"
#include "pfs_socket.h"
#include "pfs_statement_open.h"

static inline bool
is_client_socket(int fd)
{
	return MyProcPort != NULL && MyProcPort->sock == fd;
}

/* The instrument for a call on a socket that is not the client's. */
static PfsInstrumentId
instrument_of_other(void)
{
	uint32		wait_info = pfs_wait_event_info();

	return wait_info != 0 ? pfs_wait_info_instrument(wait_info) : pfs_fixed_instrument[PFS_INS_OTHER_SOCKET];
}

/* One call in progress. */
typedef struct PfsSocketCall
{
	uint64		start;
	PfsSocket  *socket;			/* its record, or NULL */
	uint32		flags;			/* 0: no event */
	PfsInstrumentId instrument;
} PfsSocketCall;

/* Notes when the call begins, if it may be an event. */
static pg_attribute_always_inline PfsSocketCall
begin(const PfsThread *t, int fd, PfsFixedInstrument client)
{
	bool		is_client = likely(is_client_socket(fd));
	PfsSocketCall call = {.socket = is_client ? pfs_my_socket : NULL};

	call.instrument = is_client ? pfs_fixed_instrument[client] : instrument_of_other();
	if (unlikely(call.instrument == PFS_NO_INSTRUMENT))
		return call;
	call.flags = pfs_wait_flags(t, call.instrument);
	if (likely(call.flags & PFS_FLAG_ENABLED))
		call.start = pfs_wait_clock(call.flags);
	return call;
}

/* Makes an event of a call that has moved bytes, and has ended at this reading. */
static pg_noinline void
make_event(PfsThread *t, PfsSocketCall call, uint64 now, ssize_t bytes, PfsOperation op, uint32 source)
{
	PfsWait    *e = pfs_wait_begin(t, call.instrument, call.flags, op, PFS_OBJECT_SOCKET, PFS_EVENT_NO_OFFSET, source);

	if (e == NULL)
		return;
	pfs_wait_set_bytes(e, bytes);
	pfs_socket_instant(t, e, call.socket, op == PFS_OP_RECV ? PFS_CALLS_READ : PFS_CALLS_WRITE,
					   call.start, now, bytes);
}

/* Makes the event where it stays, if it is one as nearly all are; false: nothing was done. */
static pg_attribute_always_inline bool
record_in_place(PfsThread *t, PfsSocketCall call, uint64 now, ssize_t bytes, PfsOperation op, uint32 source)
{
	uint64		ticks = likely(now > call.start) ? now - call.start : 0;
	bool		made;

	if (unlikely(!pfs_wait_is_usual_instant(t, call.flags) || call.socket == NULL))
		return false;
	pfs_write_begin(t);
	made = likely(pfs_socket_is_current(call.socket)) &&
		likely(pfs_wait_instant(t, pfs_event_kind(call.instrument, op, PFS_OBJECT_SOCKET), call.flags,
								(uintptr_t) call.socket, bytes, source, call.start, ticks));
	if (likely(made))
	{
		PfsSocketCell *cell = &call.socket->cells[op == PFS_OP_RECV ? PFS_CALLS_READ : PFS_CALLS_WRITE];

		pfs_cell_add(&cell->calls, ticks);
		pfs_bump(&cell->bytes, bytes);
	}
	pfs_write_end(t);
	return made;
}

/* Behind the call: it is an event if it has moved bytes, which is begun only now, when it is over. */
static pg_attribute_always_inline void
end(PfsThread *t, PfsSocketCall call, ssize_t bytes, PfsOperation op, const void *frame, PfsFramesMemo *memo)
{
	uint64		now;
	uint32		source;

	if (unlikely((call.flags & PFS_FLAG_ENABLED) == 0 || bytes <= 0))
		return;
	now = pfs_wait_read_end(t, call.flags);
	source = pfs_frames_source_memo(frame, memo);
	if (unlikely(!record_in_place(t, call, now, bytes, op, source)))
		make_event(t, call, now, bytes, op, source);
}

/*
 * Between two statements the process is in its main line and in no write section: it does what it
 * has put off.
 */
static pg_noinline void
settle(PfsThread *t)
{
	if (pfs_is_writing(t) || (pfs_memory_is_counted && (t->memory.seq.word & 1) != 0))
		pfs_thread_repair(t);
	if (pfs_program_innermost != NULL)
		pfs_program_end_above(0);
	pfs_look_at_thread(t, true);
	if (pfs_memory_is_stale())
		pfs_memory_sync(t);
	if (pfs_local.slow & PFS_SLOW_OPEN)
	{
		/* What an error ended is over. */
		pfs_open_end_stale_now(t);
		pfs_rel_lock_look(t);
	}
}

static inline bool
has_put_off(const PfsThread *t)
{
	return (pfs_local.not_usual & ~(PFS_SLOW_UNNAMED | PFS_SLOW_PROGRESS | PFS_SLOW_LWLOCK)) != 0 ||
		(pfs_load_relaxed(&t->seq.word) & 1) != 0 || pfs_memory_is_counted || pfs_memory_is_stale() ||
		pfs_program_innermost != NULL;
}

/* Has looked for the client's next message, with nothing to find: any statement ends. */
static pg_noinline void
general_idle(PfsThread *t, PfsTimestamp now, uint32 source)
{
	PfsInstrumentId instrument;
	uint32		flags;

	if (unlikely(has_put_off(t)))
		settle(t);
	instrument = pfs_fixed_instrument[IsTransactionOrTransactionBlock() ? PFS_INS_IDLE_TRANSACTION : PFS_INS_IDLE];
	flags = pfs_wait_flags(t, instrument);
	pfs_write_begin(t);
	pfs_statement_idle(t, now);
	if (likely(flags & PFS_FLAG_ENABLED))
		pfs_idle_begin(t, instrument, flags, (flags & PFS_FLAG_TIMED) ? pfs_timestamp_of(flags, now) : 0, source);
	pfs_write_end(t);
	pfs_error_idle(t);
}

/*
 * The session has looked for its client's next message, at this reading, and there was none: its
 * statement ends, and it begins to wait.
 */
static inline void
becomes_idle(PfsThread *t, PfsTimestamp now, const void *frame, PfsFramesMemo *memo)
{
	uint32		source = pfs_frames_source_memo(frame, memo);

	if (unlikely(pfs_plain.state != PFS_PLAIN_RAN) || unlikely(now.timer != PFS_FLAGS_TIMER(pfs_local.usual)) ||
		unlikely(has_put_off(t)) || unlikely(!pfs_plain_becomes_idle(t, now.at, source)))
		general_idle(t, now, source);
	if (unlikely(pfs_prepared_count > 0))
		pfs_prepared_look(t);
}

/* Inside a write section: counts the bytes of a message, which are no event. */
static pg_attribute_always_inline void
count_bytes(const PfsThread *t, ssize_t bytes)
{
	if (likely(pfs_wait_flags(t, pfs_fixed_instrument[PFS_INS_CLIENT_READ]) & PFS_FLAG_ENABLED))
		pfs_socket_bytes(pfs_my_socket, bytes);
}

/* Where the next statement has not begun as a plain one: could it have? */
static inline void
look_for_plain(PfsThread *t)
{
	if (unlikely(pfs_plain.state == PFS_PLAIN_NONE) && pfs_hooks_are_noted() && !pfs_tables_are_watched)
		pfs_plain_look(t);
}

/*
 * The idle wait ends, by a call that has brought bytes, or the end of the connection: what was
 * switched in the meantime holds from here on.
 */
static inline void
idle_ends(PfsThread *t, ssize_t bytes)
{
	uint32		flags = pfs_open_waits.idle->flags;
	PfsTimestamp now = {pfs_wait_read_end(t, flags), PFS_FLAGS_TIMER(flags)};

	if (unlikely(pfs_is_writing(t)))
		return;
	if (unlikely(pfs_memory_is_stale()))
		pfs_memory_sync(t);
	pfs_write_begin(t);
	pfs_idle_end(t, now.at);
	if (likely((flags & PFS_FLAGS_USUAL) == pfs_local.usual && bytes > 0) && likely(pfs_plain_arrives(t, now.at)))
	{
		count_bytes(t, bytes);
		pfs_write_end(t);
		return;
	}
	if (unlikely((flags & PFS_FLAG_TIMED) == 0))
		now.at = 0;
	if (bytes > 0)
	{
		pfs_statement_arrived(t, now);
		count_bytes(t, bytes);
	}
	pfs_write_end(t);
	look_for_plain(t);
}

/* The message was there when the session looked for it, at this reading: it did not have to wait. */
static void
did_not_wait(PfsThread *t, PfsTimestamp looked, ssize_t bytes)
{
	if (bytes <= 0 || pfs_is_writing(t))
		return;
	if (pfs_memory_is_stale())
		pfs_memory_sync(t);
	/* No wait has seen to it. */
	if (pfs_local.slow & PFS_SLOW_IDENTITY)
		pfs_process.identify_cb(t);
	pfs_write_begin(t);

	/*
	 * Of what has arrived, and of which nothing is known yet, this is another
	 * part.
	 */
	if (pfs_plain.state != PFS_PLAIN_ARRIVED &&
		(pfs_plain.state != PFS_PLAIN_RAN || looked.timer != PFS_FLAGS_TIMER(pfs_local.usual) ||
		 !pfs_plain_ends(t, looked.at) || !pfs_plain_arrives(t, looked.at)))
		pfs_statement_arrived(t, looked);
	count_bytes(t, bytes);
	pfs_write_end(t);
	pfs_error_watch();
	pfs_error_flush(t);
	look_for_plain(t);
}

/* A call that moves bytes, which is no wait for the client's next message.  client: its instrument on the client's socket. */
#define WRAP(name, wrapper, params, args, client, op) \
static ssize_t \
wrapper params \
{ \
	static PFS_HOT PfsFramesMemo memo; \
	PfsThread  *t = pfs_my_thread; \
	PfsSocketCall call; \
	ssize_t		result; \
\
	if (unlikely(t == NULL) || pfs_is_all_off()) \
		return pfs_real.name args; \
	call = begin(t, fd, client); \
	result = pfs_real.name args; \
	end(t, call, result, op, FRAME, &memo); \
	return result; \
}

/*
 * The wrapper of a call that receives: the client's next message, or the rest of one, where the
 * server waits for it, or what a statement reads.  It attaches the process.
 *
 * The server looks for the next message, waits in epoll_wait() if there is none, looks again, and so on
 * until bytes come: so from the first of these calls on the session is idle.
 */
#define WRAP_RECV(name, params, args) \
WRAP(name, receive_##name, params, args, PFS_INS_CLIENT_READ, PFS_OP_RECV) \
\
static ssize_t \
wrap_##name params \
{ \
	static PFS_HOT PfsFramesMemo idle_memo; \
	PfsThread  *t = pfs_thread_here(); \
	PfsTimestamp looked; \
	ssize_t		result; \
\
	if (unlikely(t == NULL)) \
		return pfs_real.name args; \
	if (pfs_is_all_off()) \
	{ \
		result = pfs_real.name args; \
		if (unlikely(pfs_prepared_count > 0)) \
			pfs_prepared_look(t); \
		if (unlikely(!pfs_plain_stays_off()) && is_client_socket(fd) && pfs_between_statements()) \
			did_not_wait(t, pfs_timestamp_now(), result); \
		return result; \
	} \
	if (likely(is_client_socket(fd))) \
	{ \
		if (pfs_open_waits.idle != NULL) \
		{ \
			result = pfs_real.name args; \
			if (likely(result >= 0)) \
				idle_ends(t, result); \
			return result; \
		} \
		if (likely(pfs_between_statements())) \
		{ \
			looked = pfs_timestamp_now(); \
			result = pfs_real.name args; \
			if (likely(result < 0)) \
				becomes_idle(t, looked, FRAME, &idle_memo); \
			else \
				did_not_wait(t, looked, result); \
			return result; \
		} \
	} \
	return receive_##name args; \
}

WRAP_RECV(recv, (int fd, void *buf, size_t len, int flags), (fd, buf, len, flags))
/* What recv() is in builds that check sizes of buffers. */
WRAP_RECV(recv_chk, (int fd, void *buf, size_t len, size_t size, int flags), (fd, buf, len, size, flags))

WRAP(send, wrap_send, (int fd, const void *buf, size_t len, int flags), (fd, buf, len, flags),
	 PFS_INS_CLIENT_WRITE, PFS_OP_SEND)
/* These two are of sockets that are not the client's. */
WRAP(recvfrom, wrap_recvfrom, (int fd, void *buf, size_t len, int flags, struct sockaddr *from, socklen_t *fromlen),
	 (fd, buf, len, flags, from, fromlen), PFS_INS_CLIENT_READ, PFS_OP_RECV)
WRAP(sendto, wrap_sendto, (int fd, const void *buf, size_t len, int flags, const struct sockaddr *to, socklen_t tolen),
	 (fd, buf, len, flags, to, tolen), PFS_INS_CLIENT_WRITE, PFS_OP_SEND)

/* Unlike the others it can block. */
static int
wrap_connect(int fd, const struct sockaddr *address, socklen_t len)
{
	PfsThread  *t = pfs_my_thread;
	PfsWait    *e = pfs_plain_begin(t, pfs_fixed_instrument[PFS_INS_OTHER_SOCKET], PFS_OP_WAIT, FRAME);
	int			result = pfs_real.connect(fd, address, len);

	if (e != NULL)
		pfs_socket_wait_end(t, e, NULL);
	return result;
}

#define CALL(symbol, name) PFS_CALL(symbol, name, "wait/io/socket/%")

const PfsGotPatch pfs_socket_calls[] = {
	CALL("recv", recv),
	CALL("__recv_chk", recv_chk),
	CALL("send", send),
	CALL("recvfrom", recvfrom),
	CALL("sendto", sendto),
	CALL("connect", connect),
	{NULL},
};
