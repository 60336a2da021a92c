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
#include "pfs_instr_features.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_table.h"
#include "pfs_memory.h"
#include "pfs_plain.h"
#include "pfs_program_call.h"
#include "pfs_rel_io.h"
#include "pfs_socket.h"
#include "pfs_statement_open.h"

static inline bool
is_client_socket(int fd)
{
	return PFS_IMPORT(MyProcPort) != NULL && PFS_IMPORT(MyProcPort)->sock == fd;
}

/* The instrument for a call on a socket that is not the client's. */
static PfsInstrumentId
instrument_of_other(void)
{
	uint32		wait_info = pfs_wait_event_info();

	return wait_info != 0 ? pfs_wait_info_instrument(wait_info) : pfs_fixed_instrument[PFS_INS_OTHER_SOCKET];
}

/* A call on the client's socket of this kind: its instrument, and its operation. */
static pg_attribute_always_inline PfsInstrumentId
instrument_of_client(PfsClientWait kind)
{
	return pfs_fixed_instrument[kind == PFS_CLIENT_READS ? PFS_INS_CLIENT_READ : PFS_INS_CLIENT_WRITE];
}

static pg_attribute_always_inline PfsOperation
operation_of_client(PfsClientWait kind)
{
	return kind == PFS_CLIENT_READS ? PFS_OP_RECV : PFS_OP_SEND;
}

/* Where it is counted; of an idle wait, the bytes that end it. */
static pg_attribute_always_inline PfsCallsPart
part_of_client(PfsClientWait kind)
{
	return kind == PFS_CLIENT_WRITES ? PFS_CALLS_WRITE : PFS_CALLS_READ;
}

/* Makes an event of a call that has moved bytes, between these two readings.  s: the record of the socket, or NULL. */
static pg_noinline void
make_event(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsSocket *s, uint64 start, uint64 now,
		   ssize_t bytes, PfsOperation op, uint32 source)
{
	PfsWait    *e = pfs_wait_begin(t, instrument, flags, op, PFS_OBJECT_SOCKET, PFS_EVENT_NO_OFFSET, source);

	if (e == NULL)
		return;
	pfs_wait_set_bytes(e, bytes);
	pfs_socket_instant(t, e, s, start, now);
}

/* What every statement needs to know of calls on its client's socket. */
static PFS_HOT_FIRST struct
{
	const PfsWaitLookup *idle_lookup;	/* of the idle wait that runs where it
										 * stays; NULL: there is none, or it
										 * runs in a slot */
	/* Where the server looks for a message, and sends. */
	PfsFramesMemo looks;
	PfsFramesMemo writes;
}			client;

/* Where it reads in a statement. */
static PFS_HOT_TABLE PfsFramesMemo reads;

/* Are bytes of a message counted, which are no event? */
static inline bool
are_bytes_counted(const PfsThread *t)
{
	return (pfs_wait_flags(t, instrument_of_client(PFS_CLIENT_READS)) & PFS_FLAG_ENABLED) != 0;
}

/*
 * Behind a wait for the client's socket: the next one may be usual.  So is then what it counts beside: in the place of
 * the socket, with the end of an idle wait the bytes that have ended it.  Both are looked at behind the lookup's
 * generation.
 */
static void
make_lookup(PfsThread *t, PfsClientWait kind, PfsInstrumentId instrument, uint64 bits)
{
	PfsWaitLookup *lookup = &pfs_client_lookups[kind];

	pfs_wait_lookup_make(lookup, t, instrument, bits);
	if (!pfs_socket_has_place(part_of_client(kind)) ||
		(kind < PFS_CLIENT_READS && (!are_bytes_counted(t) || pfs_memory_is_stale())))
		lookup->generation = 0;
}

/*
 * Makes the event of a call on the client's socket where it stays, which was never seen running, if it is usual in all;
 * false: nothing was done.
 */
static pg_attribute_always_inline bool
record_in_place(PfsThread *t, PfsClientWait kind, uint64 start, uint64 now, ssize_t bytes, uint32 source)
{
	const PfsWaitLookup *lookup = &pfs_client_lookups[kind];
	uint64		ticks = likely(now > start) ? now - start : 0;
	PfsPendingCalls *p;
	PfsWait    *e;

	/* What it sends is still the statement's that has run. */
	if (unlikely(bytes > PG_INT32_MAX || !pfs_wait_is_undisturbed(t, PFS_SLOW_OVER)))
		return false;
	pfs_write_begin(t);
	e = pfs_wait_lookup_fill(t, lookup, pfs_local.parent, source);
	p = pfs_socket_local.places[part_of_client(kind)];
	if (unlikely(e == NULL || !pfs_wait_lookup_count(lookup, pfs_histogram_bucket(ticks), ticks)))
	{
		pfs_write_end(t);
		return false;
	}
	pfs_pending_calls_add(p, ticks, bytes);
	t->last_event_id = e->event_id;
	e->timer_start = start;
	e->object.address = (uintptr_t) pfs_socket_local.mine;
	pfs_wait_lookup_done(t, lookup, e, start + ticks, (int32) bytes);
	return pfs_wait_lookup_leave(t, true);
}

/* Makes it otherwise; the next one may be usual. */
static pg_noinline ssize_t
record_any(PfsClientWait kind, uint32 flags, uint64 start, uint64 now, ssize_t bytes, const void *frame, PfsFramesMemo *memo)
{
	PfsThread  *t = pfs_my_thread;
	PfsInstrumentId instrument = instrument_of_client(kind);
	PfsOperation op = operation_of_client(kind);

	make_event(t, instrument, flags, pfs_socket_local.mine, start, now, bytes, op, pfs_frames_source_memo(frame, memo));
	make_lookup(t, kind, instrument, pfs_event_kind(instrument, op, PFS_OBJECT_SOCKET));
	return bytes;
}

/*
 * Behind a call on the client's socket that was usual when it began, at `start`: it is an event if it has moved bytes,
 * which is begun only now, when it is over.
 */
static pg_attribute_always_inline ssize_t
end_of_client(PfsClientWait kind, uint64 start, ssize_t bytes, const void *frame, PfsFramesMemo *memo)
{
	uint64		now = pfs_read_cycles();

	if (likely(bytes > 0) && unlikely(!pfs_frames_memo_has(frame, memo) ||
									  !record_in_place(pfs_my_thread, kind, start, now, bytes, memo->source)))
		return record_any(kind, pfs_client_lookups[kind].usual, start, now, bytes, frame, memo);
	return bytes;
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
	return (pfs_local.not_usual & ~(PFS_SLOW_UNNAMED | PFS_SLOW_PROGRESS | PFS_SLOW_LWLOCK | PFS_SLOW_OVER)) != 0 ||
		(pfs_load_relaxed(&t->seq.word) & 1) != 0 || pfs_memory_is_counted || pfs_program_innermost != NULL;
}

/*
 * Inside a write section: the session has found no message at this reading of the default timer, and begins to wait for
 * one.  The wait runs where it stays, if it is usual in all; false: nothing was done.
 */
static pg_attribute_always_inline bool
usual_idle_begins(PfsThread *t, bool in_transaction, uint64 now, uint32 source)
{
	const PfsWaitLookup *lookup = &pfs_client_lookups[in_transaction ? PFS_CLIENT_IDLE_TRANSACTION : PFS_CLIENT_IDLE];

	/* However many events there were, what is in nothing is near. */
	PfsParent	none = {t->last_event_id, PFS_NESTING_NONE};
	PfsWait    *e;

	if (unlikely(!pfs_wait_lookup_holds(lookup) || t->events[PFS_WAITS].depth != 0))
		return false;
	e = pfs_wait_lookup_fill(t, lookup, none, source);
	if (unlikely(e == NULL))
		return false;
	t->last_event_id = e->event_id;
	e->timer_start = now;
	e->bytes = PFS_WAIT_NO_BYTES;
	pfs_wait_lookup_show(t);
	pfs_local.idle = e;
	client.idle_lookup = lookup;
	return true;
}

/* The same in a slot, at a reading of any timer. */
static pg_noinline void
begin_idle_in_slot(PfsThread *t, bool in_transaction, PfsTimestamp now, uint32 source)
{
	PfsInstrumentId instrument = pfs_fixed_instrument[in_transaction ? PFS_INS_IDLE_TRANSACTION : PFS_INS_IDLE];
	uint32		flags = pfs_wait_flags(t, instrument);

	client.idle_lookup = NULL;
	if (flags & PFS_FLAG_ENABLED)
		pfs_idle_begin(t, instrument, flags, (flags & PFS_FLAG_TIMED) ? pfs_timestamp_of(flags, now) : 0, source);
}

/* Has looked for the client's next message, with nothing to find: any statement ends. */
static pg_noinline void
general_idle(PfsThread *t, PfsTimestamp now, const void *frame, PfsFramesMemo *memo)
{
	uint32		source = pfs_frames_source_memo(frame, memo);
	bool		in_transaction = IsTransactionOrTransactionBlock();

	if (unlikely(has_put_off(t) || pfs_memory_is_stale()))
		settle(t);
	pfs_write_begin(t);
	if (!pfs_are_hooks_off())
		pfs_statement_idle(t, now);
	if (unlikely(now.timer != PFS_FLAGS_TIMER(pfs_local.usual) || !usual_idle_begins(t, in_transaction, now.at, source)))
		begin_idle_in_slot(t, in_transaction, now, source);
	pfs_write_end(t);
	pfs_error_idle(t);
}

/*
 * The same where a plain statement has run; false: it is not as usual.  What the process may have put off
 * besides, pfs_plain_ends() asks.
 */
static pg_attribute_always_inline bool
plain_idle(PfsThread *t, PfsTimestamp now, const PfsFramesMemo *memo)
{
	bool		ended;

	if (pfs_plain.state != PFS_PLAIN_RAN || unlikely(now.timer != PFS_FLAGS_TIMER(pfs_local.usual) || pfs_is_writing(t) ||
													 pfs_program_innermost != NULL))
		return false;
	pfs_write_begin(t);
	ended = pfs_plain_ends(t, now.at);
	if (likely(ended))
	{
		/*
		 * All transactions but failed ones, which it is in none of, are
		 * known.
		 */
		bool		in_transaction = pfs_transaction.lxid != InvalidLocalTransactionId;

		if (unlikely(!usual_idle_begins(t, in_transaction, now.at, memo->source)))
		{
			now.timer = PFS_FLAGS_TIMER(pfs_local.usual);
			begin_idle_in_slot(t, in_transaction, now, memo->source);
		}
	}
	pfs_write_end(t);
	return ended;
}

/*
 * The same while statements are off: none ends.  The lookup of a usual wait was made when the process had followed the
 * switches of memory (make_lookup()).
 */
static pg_attribute_always_inline bool
quiet_idle(PfsThread *t, PfsTimestamp now, const PfsFramesMemo *memo)
{
	bool		in_transaction;
	bool		begun;

	if (!pfs_are_hooks_off() || unlikely(now.timer != PFS_FLAGS_TIMER(pfs_local.usual) || has_put_off(t)))
		return false;
	in_transaction = IsTransactionOrTransactionBlock();
	pfs_write_begin(t);
	begun = usual_idle_begins(t, in_transaction, now.at, memo->source);
	pfs_write_end(t);
	if (likely(begun))
		pfs_error_idle(t);
	return begun;
}

/*
 * The session has looked for its client's next message, at this reading, and there was none: its
 * statement ends, and it begins to wait.
 */
static pg_attribute_always_inline void
becomes_idle(PfsThread *t, PfsTimestamp now, const void *frame, PfsFramesMemo *memo)
{
	if (unlikely(!pfs_frames_memo_has(frame, memo)) || (!plain_idle(t, now, memo) && !quiet_idle(t, now, memo)))
		general_idle(t, now, frame, memo);
	if (unlikely(PFS_HAS_IDLE_LOOKS))
		PFS_IDLE_LOOKS(t);
}

/* Inside a write section: counts the bytes of a message, which are no event. */
static inline void
count_bytes(PfsThread *t, ssize_t bytes)
{
	if (are_bytes_counted(t))
		pfs_socket_count_bytes(t, bytes);
}

/*
 * Where the next statement has not begun as a plain one: could it have?  That something has been switched on for
 * which hooks pass on is noticed here, whatever they have met since.
 */
static inline void
look_for_plain(PfsThread *t)
{
	if (pfs_are_hooks_off())
		(void) pfs_plain_stays_off();
	if (unlikely(pfs_plain.state == PFS_PLAIN_NONE) && pfs_hooks_are_noted() && !pfs_tables_are_watched)
		pfs_plain_look(t);
}

/*
 * Inside a write section, which it ends: with an idle wait, at this reading of a timer or 0, a message has come that may
 * begin any statement; or the connection's end.
 */
static pg_noinline void
arrives_any(PfsThread *t, PfsTimestamp now, ssize_t bytes)
{
	/*
	 * Where hooks pass on no statement begins, unless something has been
	 * switched on.
	 */
	if (bytes > 0 && (!pfs_are_hooks_off() || !pfs_plain_stays_off()))
		pfs_statement_arrived(t, now);
	pfs_write_end(t);
	look_for_plain(t);
}

/*
 * An idle wait ends that is not as usual: what was switched in the meantime holds from here on.  The next
 * wait may be usual.
 */
static pg_noinline ssize_t
idle_ends_any(PfsThread *t, uint64 end, ssize_t bytes)
{
	uint32		flags = pfs_local.idle->flags;
	PfsInstrumentId instrument = pfs_local.idle->instrument;
	PfsTimestamp now = {end, PFS_FLAGS_TIMER(flags)};

	if (pfs_is_writing(t))
		return bytes;
	if (pfs_memory_is_stale())
		pfs_memory_sync(t);
	pfs_write_begin(t);
	pfs_wait_leave_place(t);
	pfs_idle_end(t, now.at);
	if (bytes > 0)
	{
		count_bytes(t, bytes);
		make_lookup(t, instrument == pfs_fixed_instrument[PFS_INS_IDLE] ? PFS_CLIENT_IDLE : PFS_CLIENT_IDLE_TRANSACTION,
					instrument, pfs_event_kind(instrument, PFS_OP_NONE, PFS_OBJECT_NONE));
	}
	if ((flags & PFS_FLAGS_USUAL) == pfs_local.usual && bytes > 0 && pfs_plain_arrives(t, now.at))
	{
		pfs_write_end(t);
		return bytes;
	}
	if ((flags & PFS_FLAG_TIMED) == 0)
		now.at = 0;
	arrives_any(t, now, bytes);
	return bytes;
}

/*
 * The idle wait ends, by a call that has brought so many bytes, which it returns, or the end of the connection.  By the
 * lookup, nothing has been switched.
 */
static pg_noinline ssize_t
idle_ends(ssize_t bytes)
{
	PfsThread  *t = pfs_my_thread;
	const PfsWaitLookup *lookup = client.idle_lookup;
	PfsWait    *e = pfs_local.idle;
	PfsTimestamp now;

	if (unlikely(lookup == NULL))
		return idle_ends_any(t, pfs_wait_read_end(t, e->flags), bytes);
	now.at = pfs_read_cycles();
	if (unlikely(bytes == 0 || pfs_is_writing(t)))
		return idle_ends_any(t, now.at, bytes);
	pfs_write_begin(t);

	/*
	 * What the session has done meanwhile may have taken numbers that are no
	 * waits'.
	 */
	if (unlikely(!pfs_wait_is_in_place(t) || t->last_event_id != e->event_id ||
				 !pfs_wait_lookup_end(t, lookup, e, now.at, now.at - e->timer_start, PFS_WAIT_NO_BYTES)))
	{
		pfs_write_end(t);
		return idle_ends_any(t, now.at, bytes);
	}
	(void) pfs_history_room(t, PFS_WAITS, PFS_WAIT_LINE);
	pfs_local.idle = NULL;
	pfs_socket_local.places[PFS_CALLS_READ]->bytes += bytes;

	/*
	 * While statements are off none begins, unless something has been
	 * switched on.
	 */
	if (likely(pfs_plain_arrives(t, now.at)) || (pfs_are_hooks_off() && !pfs_plain_is_stale()))
		pfs_write_end(t);
	else
	{
		now.timer = PFS_FLAGS_TIMER(lookup->usual);
		arrives_any(t, now, bytes);
	}
	return bytes;
}

/* Inside a write section: a statement ends, if one is over, and the next one begins at this reading. */
static void
next_arrives(PfsThread *t, PfsTimestamp now)
{
	bool		usual = now.timer == PFS_FLAGS_TIMER(pfs_local.usual);

	if (!usual || !pfs_plain_ends(t, now.at))
		pfs_statement_is_over(t, now);
	if (!usual || !pfs_plain_arrives(t, now.at))
		pfs_statement_arrived(t, now);
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
	if (pfs_plain.state != PFS_PLAIN_ARRIVED)
		next_arrives(t, looked);
	count_bytes(t, bytes);
	pfs_write_end(t);
	pfs_error_watch();
	pfs_error_flush(t);
	look_for_plain(t);
}

/*
 * Behind a call that receives, which began when all was off, but something had been switched since, or is to be looked at
 * while the session is idle.  Between two statements no other socket than the client's is read.
 */
static void
look_at_switches(ssize_t bytes)
{
	if (PFS_HAS_IDLE_LOOKS)
		PFS_IDLE_LOOKS(pfs_my_thread);
	if (!pfs_plain_stays_off() && MyProcPort != NULL && pfs_between_statements())
		did_not_wait(pfs_my_thread, pfs_timestamp_now(), bytes);
}

/*
 * While all is off: is nothing to be done with a call that receives?  It is asked before the call, so that this only passes
 * on: a session that waits for its client asks once more when bytes have come.
 */
static pg_attribute_always_inline bool
is_quiet(void)
{
	return !pfs_plain_is_stale() && likely(!PFS_HAS_IDLE_LOOKS);
}

/* A call that moves bytes on a socket that is not the client's; frame: of the wrapper. */
#define CALL_OF_OTHER(name, params, args, op) \
static pg_noinline ssize_t \
other_##name(const void *frame, PFS_UNPACK params) \
{ \
	PfsThread  *t = pfs_my_thread; \
	PfsInstrumentId instrument = instrument_of_other(); \
	uint32		flags = instrument != PFS_NO_INSTRUMENT ? pfs_wait_flags(t, instrument) : 0; \
	uint64		start = (flags & PFS_FLAG_ENABLED) ? pfs_wait_clock(flags) : 0; \
	ssize_t		result = pfs_real.name args; \
\
	if ((flags & PFS_FLAG_ENABLED) != 0 && result > 0) \
	{ \
		uint64		now = pfs_wait_read_end(t, flags); \
\
		make_event(t, instrument, flags, NULL, start, now, result, op, pfs_frames_source(frame)); \
	} \
	return result; \
}

/* The wrapper of one that is never made on the client's. */
#define WRAP_OTHER(name, params, args, op) \
CALL_OF_OTHER(name, params, args, op) \
\
static ssize_t \
wrap_##name params \
{ \
	if (pfs_is_all_off() || unlikely(pfs_my_thread == NULL)) \
		return pfs_real.name args; \
	return other_##name(FRAME, PFS_UNPACK args); \
}

/*
 * One that is no wait for the client's next message, where something is on.  kind: which wait it is on the client's
 * socket; memo: of its source.  This and what follows are reached by jumps, so that their frames are the wrappers',
 * and who only passes on saves no registers.
 */
#define CALL(name, params, args, kind, memo) \
CALL_OF_OTHER(name, params, args, operation_of_client(kind)) \
\
static pg_noinline ssize_t \
any_##name params \
{ \
	PfsThread  *t = pfs_my_thread; \
	uint32		flags; \
	uint64		start; \
	ssize_t		result; \
\
	flags = pfs_wait_flags(t, instrument_of_client(kind)); \
	if ((flags & PFS_FLAG_ENABLED) == 0) \
		return pfs_real.name args; \
	start = pfs_wait_clock(flags); \
	result = pfs_real.name args; \
	if (result > 0) \
		(void) record_any(kind, flags, start, pfs_wait_read_end(t, flags), result, FRAME, memo); \
	return result; \
} \
\
static pg_noinline ssize_t \
call_##name params \
{ \
	uint64		start; \
	ssize_t		result; \
\
	if (unlikely(!is_client_socket(fd))) \
		return other_##name(FRAME, PFS_UNPACK args); \
	if (unlikely(!pfs_wait_lookup_holds(&pfs_client_lookups[kind]))) \
		return any_##name args; \
	start = pfs_read_cycles(); \
	result = pfs_real.name args; \
	return end_of_client(kind, start, result, FRAME, memo); \
}

/* What receives: in an idle wait, which bytes end; between two statements; and with all off. */
#define CALL_RECV(name, params, args) \
CALL(name, params, args, PFS_CLIENT_READS, &reads) \
\
static pg_noinline ssize_t \
idle_##name params \
{ \
	ssize_t		result = pfs_real.name args; \
\
	return likely(result >= 0) ? idle_ends(result) : result; \
} \
\
static pg_noinline ssize_t \
look_##name params \
{ \
	PfsTimestamp looked = pfs_timestamp_now(); \
	ssize_t		result = pfs_real.name args; \
\
	if (likely(result < 0)) \
		becomes_idle(pfs_my_thread, looked, FRAME, &client.looks); \
	else \
		did_not_wait(pfs_my_thread, looked, result); \
	return result; \
} \
\
static pg_noinline ssize_t \
off_##name params \
{ \
	ssize_t		result = pfs_real.name args; \
\
	if (likely(pfs_my_thread != NULL)) \
		look_at_switches(result); \
	return result; \
}

/*
 * The wrapper of a call that receives: the client's next message, or the rest of one, where the
 * server waits for it, or what a statement reads.  It attaches the process.
 *
 * The server looks for the next message, waits in epoll_wait() if there is none, looks again, and so on
 * until bytes come: so from the first of these calls on the session is idle.  Where an idle wait is open, or a plain
 * statement has run, nothing else has to be asked: then the process has a client and a record, and something is on.
 */
#define WRAP_RECV(name, params, args) \
CALL_RECV(name, params, args) \
\
static ssize_t \
wrap_##name params \
{ \
	if (pfs_local.idle != NULL && likely(PFS_IMPORT(MyProcPort)->sock == fd)) \
		return idle_##name args; \
	if (pfs_is_all_off()) \
		return likely(is_quiet()) ? pfs_real.name args : off_##name args; \
	if (likely(pfs_plain.state == PFS_PLAIN_RAN) && likely(PFS_IMPORT(MyProcPort)->sock == fd)) \
		return look_##name args; \
	if (unlikely(pfs_thread_here() == NULL)) \
		return pfs_real.name args; \
	if (is_client_socket(fd) && pfs_between_statements()) \
		return look_##name args; \
	return call_##name args; \
}

WRAP_RECV(recv, (int fd, void *buf, size_t len, int how), (fd, buf, len, how))
/* What recv() is in builds that check sizes of buffers. */
WRAP_RECV(recv_chk, (int fd, void *buf, size_t len, size_t size, int how), (fd, buf, len, size, how))

CALL(send, (int fd, const void *buf, size_t len, int how), (fd, buf, len, how), PFS_CLIENT_WRITES, &client.writes)

static ssize_t
wrap_send(int fd, const void *buf, size_t len, int how)
{
	if (pfs_is_all_off() || unlikely(pfs_my_thread == NULL))
		return pfs_real.send(fd, buf, len, how);
	return call_send(fd, buf, len, how);
}

WRAP_OTHER(recvfrom, (int fd, void *buf, size_t len, int how, struct sockaddr *from, socklen_t *fromlen),
		   (fd, buf, len, how, from, fromlen), PFS_OP_RECV)
WRAP_OTHER(sendto, (int fd, const void *buf, size_t len, int how, const struct sockaddr *to, socklen_t tolen),
		   (fd, buf, len, how, to, tolen), PFS_OP_SEND)

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

#define PATCH(symbol, name) PFS_CALL(symbol, name, "wait/io/socket/%")

const PfsGotPatch pfs_socket_calls[] = {
	PATCH("recv", recv),
	PATCH("__recv_chk", recv_chk),
	PATCH("send", send),
	PATCH("recvfrom", recvfrom),
	PATCH("sendto", sendto),
	PATCH("connect", connect),
	{NULL},
};
