/*
 * pfs_instr_socket.c
 *	  Calls on sockets.
 *
 * The server's client sockets do not block: what blocks is the latch wait
 * before them (pfs_instr_wait.c).  So a call here is a finished event, and one
 * that moves no byte is none.  The call that brings the first byte of the next
 * message ends the idle wait, also below TLS, whose reads come through here; it
 * is no event, but its bytes count.  Separate from the waits for that reason: no event
 * here outlives its call.
 */
#include "postgres.h"

#include "libpq/libpq-be.h"

#include "pfs_digest_pending.h"
#include "pfs_error.h"
#include "pfs_event_open.h"
#include "pfs_instr.h"
#include "pfs_memory.h"
#include "pfs_prepared.h"
#include "pfs_socket.h"
#include "pfs_statement_open.h"

static inline bool
is_client_socket(int fd)
{
	return MyProcPort != NULL && MyProcPort->sock == fd;
}

/* The instrument for a call on fd that moves bytes. */
static PfsInstrumentId
socket_instrument(int fd, PfsFixedInstrument client)
{
	uint32		wait_info;

	if (likely(is_client_socket(fd)))
		return pfs_fixed_instrument[client];
	wait_info = pfs_wait_event_info();
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
static inline void
begin(PfsSocketCall *call, PfsThread *t, int fd, PfsFixedInstrument client)
{
	call->flags = 0;
	call->instrument = socket_instrument(fd, client);
	call->socket = is_client_socket(fd) ? pfs_my_socket : NULL;
	if (unlikely(call->instrument == PFS_NO_INSTRUMENT))
		return;
	call->flags = pfs_wait_flags(t, call->instrument);
	call->start = (call->flags & PFS_FLAG_ENABLED) ? pfs_wait_clock(call->flags) : 0;
}

/*
 * Makes an event of a call that has moved bytes; it is begun only now, when it is over.
 */
static inline void
end(PfsSocketCall *call, PfsThread *t, ssize_t bytes, PfsOperation op, const void *frame,
	PfsFramesMemo *memo)
{
	PfsWait    *e;
	uint64		now;

	if ((call->flags & PFS_FLAG_ENABLED) == 0 || bytes <= 0)
		return;
	now = pfs_wait_read_end(t, call->flags);
	e = pfs_wait_begin(t, call->instrument, call->flags, op, PFS_OBJECT_SOCKET,
					   PFS_EVENT_NO_OFFSET, pfs_frames_source_memo(frame, memo));
	if (e == NULL)
		return;
	pfs_wait_set_bytes(e, bytes);
	pfs_socket_instant(t, e, call->socket, op == PFS_OP_RECV ? PFS_CALLS_READ : PFS_CALLS_WRITE,
					   call->start, now, bytes);
}

/* Bytes of what most statements put into blocks, in cache lines (bench/transaction --sessions). */
#define USUAL_WAITS			(2 * PFS_CACHE_LINE)
#define USUAL_STATEMENT		(6 * PFS_CACHE_LINE)
#define USUAL_TRANSACTION	(2 * PFS_CACHE_LINE)

/*
 * Asks for the memory that a session's next statement needs, when it was idle and the message
 * has come: where many sessions share a processor it is in no cache, and comes now while the
 * kernel copies the message.
 */
static pg_attribute_always_inline void
expect_statement(const PfsThread *t)
{
	if (pfs_open_waits.n == 0)
		return;
	pfs_expect_lines(pfs_words, 1);
	pfs_expect_lines(t, 2);
	pfs_expect_lines(&t->events[PFS_WAITS], 1);
	pfs_expect_lines(&t->waits[0], 1);
	pfs_history_expect(t, PFS_WAITS, USUAL_WAITS);
	pfs_history_expect(t, PFS_STATEMENTS, USUAL_STATEMENT);
	pfs_history_expect(t, PFS_TRANSACTIONS, USUAL_TRANSACTION);
	pfs_summary_expect(t, PFS_FAMILY_WAITS, pfs_fixed_instrument[PFS_INS_IDLE], 1);
	pfs_summary_expect(t, PFS_FAMILY_WAITS, pfs_fixed_instrument[PFS_INS_IDLE_TRANSACTION], 1);
	pfs_summary_expect(t, PFS_FAMILY_WAITS, pfs_fixed_instrument[PFS_INS_CLIENT_WRITE], 1);
	pfs_socket_expect();
	pfs_summary_expect(t, PFS_FAMILY_STATEMENTS, pfs_statement_cell(pfs_sql.top.instrument), 2);
	pfs_summary_expect(t, PFS_FAMILY_TRANSACTIONS, 0, 2);
	pfs_pending_digests_expect();
	pfs_expect_lines(pfs_prepared_last, 1);
}

/*
 * Ends the idle wait with the call that brings the first bytes of the client's next
 * message, and begins the next statement. What was switched in the meantime holds from
 * here on.
 */
static inline void
end_idle(PfsThread *t, ssize_t result)
{
	PfsOpenWait *idle;
	PfsTimestamp now = {0, 0};

	if (result < 0 || pfs_is_writing(t))
		return;
	if (unlikely(pfs_memory_is_stale()))
		pfs_memory_sync(t);
	idle = pfs_open_top(PFS_OPEN_IDLE);
	if (idle != NULL)
	{
		uint32		flags = idle->event->flags;
		uint64		end = pfs_wait_read_end(t, flags);

		pfs_open_finish(t, end);
		if (flags & PFS_FLAG_TIMED)
		{
			now.at = end;
			now.timer = PFS_FLAGS_TIMER(flags);
		}
	}
	if (result == 0)
		return;
	/* Where the message was there already, no wait has seen to it. */
	if (unlikely(pfs_local.slow & PFS_SLOW_IDENTITY))
		pfs_process.identify_cb(t);
	pfs_statement_arrived(t, now);
	pfs_error_watch();
	pfs_error_flush(t);
	if (pfs_wait_flags(t, pfs_fixed_instrument[PFS_INS_CLIENT_READ]) & PFS_FLAG_ENABLED)
		pfs_socket_bytes(t, pfs_my_socket, result);
}

/*
 * The wrapper of a call that moves bytes.  client: its instrument on the client's socket; messages: it receives the
 * client's next message, or the rest of one, and attaches the process.
 */
#define WRAP(name, params, args, client, op, messages) \
static ssize_t \
wrap_##name params \
{ \
	static PFS_HOT PfsFramesMemo memo; \
	PfsThread  *t = (messages) ? pfs_thread_here() : pfs_my_thread; \
	PfsSocketCall call; \
	ssize_t		result; \
\
	if (unlikely(t == NULL)) \
		return pfs_real.name args; \
	/* Bytes between two statements belong to the next one, and end the idle wait. */ \
	if ((messages) && is_client_socket(fd) && pfs_between_statements()) \
	{ \
		expect_statement(t); \
		result = pfs_real.name args; \
		end_idle(t, result); \
		return result; \
	} \
	begin(&call, t, fd, client); \
	result = pfs_real.name args; \
	end(&call, t, result, op, FRAME, &memo); \
	return result; \
}

WRAP(recv, (int fd, void *buf, size_t len, int flags), (fd, buf, len, flags), PFS_INS_CLIENT_READ, PFS_OP_RECV, true)
/* What recv() is in builds that check sizes of buffers. */
WRAP(recv_chk, (int fd, void *buf, size_t len, size_t size, int flags), (fd, buf, len, size, flags),
	 PFS_INS_CLIENT_READ, PFS_OP_RECV, true)
WRAP(send, (int fd, const void *buf, size_t len, int flags), (fd, buf, len, flags),
	 PFS_INS_CLIENT_WRITE, PFS_OP_SEND, false)
/* These two are of sockets that are not the client's. */
WRAP(recvfrom, (int fd, void *buf, size_t len, int flags, struct sockaddr *from, socklen_t *fromlen),
	 (fd, buf, len, flags, from, fromlen), PFS_INS_CLIENT_READ, PFS_OP_RECV, false)
WRAP(sendto, (int fd, const void *buf, size_t len, int flags, const struct sockaddr *to, socklen_t tolen),
	 (fd, buf, len, flags, to, tolen), PFS_INS_CLIENT_WRITE, PFS_OP_SEND, false)

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
