/*
 * pfs_wait_class.h
 *	  From PostgreSQL's values of wait_event_info to instruments, and the instruments
 *	  of calls that PostgreSQL has no wait event for.
 */
#ifndef PFS_WAIT_CLASS_H
#define PFS_WAIT_CLASS_H

#include "pfs_file_kind.h"
#include "pfs_instrument.h"
#include "pfs_operation.h"

/*
 * A wait_event_info is class << 24 | event; classes are 1 to 11, events nearly all
 * small.
 */
#define PFS_WAIT_INFO_CLASS(word)	((word) >> 24)
#define PFS_WAIT_INFO_EVENT(word)	((word) & 0xFFFF)
#define PFS_WAIT_INFO_CLASSES		16
#define PFS_WAIT_INFO_EVENTS			512

/*
 * From wait_event_info to instrument.  Filled in the postmaster; a process adds the
 * extension tranches and custom wait events that it sees.
 */
extern PFS_HIDDEN PfsInstrumentId pfs_wait_info_map[PFS_WAIT_INFO_CLASSES][PFS_WAIT_INFO_EVENTS];

/*
 * Instruments that no wait_event_info announces: how instrument points call it, name,
 * class, what pg_stat_activity says of such a wait (type and event; NULL and "": nothing),
 * properties, documentation.
 */
#define PFS_FIXED_INSTRUMENTS(X) \
	X(PFS_INS_IDLE, "idle", PFS_CLASS_IDLE, "Client", "ClientRead", PFS_PROPERTY_IDLE, \
	  "A session waits for its next command, outside a transaction.") \
	X(PFS_INS_IDLE_TRANSACTION, "idle/transaction", PFS_CLASS_IDLE, "Client", "ClientRead", PFS_PROPERTY_IDLE, \
	  "A session waits for its next command, inside a transaction.") \
	X(PFS_INS_SPIN_DELAY, "wait/synch/spinlock/SpinDelay", PFS_CLASS_WAIT, NULL, "", 0, \
	  "Sleep between two attempts to get a spinlock.") \
	X(PFS_INS_OTHER_SLEEP, "wait/timeout/OtherSleep", PFS_CLASS_WAIT, NULL, "", 0, \
	  "Sleep that PostgreSQL announces no wait event for.") \
	X(PFS_INS_SEMAPHORE_ABSORB, "wait/synch/ipc/SemaphoreAbsorb", PFS_CLASS_WAIT, NULL, "", 0, \
	  "Semaphore call without a wait event: takes back a wake-up that came for another wait.") \
	X(PFS_INS_LATCH_WAIT, "wait/synch/ipc/LatchWait", PFS_CLASS_WAIT, NULL, "", 0, \
	  "Wait for a latch that the caller announces no wait event for.") \
	X(PFS_INS_CHILD_PROCESS, "wait/synch/ipc/ChildProcess", PFS_CLASS_WAIT, NULL, "", 0, \
	  "Wait for a program that the server started, without a wait event.") \
	X(PFS_INS_OTHER_SOCKET, "wait/io/socket/OtherSocket", PFS_CLASS_WAIT, NULL, "", 0, \
	  "Calls on sockets other than the client's, without a wait event.") \
	X(PFS_INS_TABLE, "wait/io/table/handler", PFS_CLASS_WAIT, NULL, "", PFS_PROPERTY_CONTAINS_WAITS, \
	  "What one scan or command does with the rows of one table, by one index or by none.")

typedef enum PfsFixedInstrument
{
	PFS_FIXED_INSTRUMENTS(PFS_ENUMERATOR)
	PFS_INS_CLIENT_READ,		/* those of PostgreSQL's wait events */
	PFS_INS_CLIENT_WRITE,
} PfsFixedInstrument;

#define PFS_NUM_FIXED_INSTRUMENTS (PFS_INS_CLIENT_WRITE + 1)

extern PFS_HIDDEN PfsInstrumentId pfs_fixed_instrument[PFS_NUM_FIXED_INSTRUMENTS];

/* By kind of file and operation, for calls without a wait_event_info. */
extern PFS_HIDDEN PfsInstrumentId pfs_file_instrument[PFS_NUM_FILE_KINDS][PFS_OP_DIR + 1];

extern void pfs_wait_class_start(void);

/* The kind of wait that an instrument is, as load_history has it; NULL: none. */
extern const char *pfs_wait_class_name(const PfsInstrument *ins);

/*
 * Slow path of pfs_wait_info_instrument(): this process sees the wait_event_info for the
 * first time.
 */
extern PfsInstrumentId pfs_wait_class_learn(uint32 word);

/*
 * Postmaster, at the start: the instrument of this name, which was there in an earlier
 * server.  Made for the tranche of an extension, if whoever sees that first gives it this
 * name.  PFS_NO_INSTRUMENT: there is none.
 */
extern PfsInstrumentId pfs_wait_class_restore(const char *name);

/* The instrument of a wait_event_info that this process meets.  Instrument points. */
static inline PfsInstrumentId
pfs_wait_info_instrument(uint32 word)
{
	uint32		class = PFS_WAIT_INFO_CLASS(word);
	uint32		event = PFS_WAIT_INFO_EVENT(word);
	PfsInstrumentId id = PFS_NO_INSTRUMENT;

	if (likely(class < PFS_WAIT_INFO_CLASSES && event < PFS_WAIT_INFO_EVENTS))
		id = pfs_wait_info_map[class][event];
	return likely(id != PFS_NO_INSTRUMENT) ? id : pfs_wait_class_learn(word);
}

#endif							/* PFS_WAIT_CLASS_H */
