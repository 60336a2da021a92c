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

/* Instruments that no wait_event_info announces. */
typedef enum PfsFixedInstrument
{
	PFS_INS_IDLE,
	PFS_INS_IDLE_TRANSACTION,
	PFS_INS_SPIN_DELAY,
	PFS_INS_PG_SLEEP,			/* pg_usleep() without a wait event */
	PFS_INS_SEMAPHORE_ABSORB,
	PFS_INS_LATCH_WAIT,			/* WaitLatch() without a wait event */
	PFS_INS_CHILD_PROCESS,
	PFS_INS_OTHER_SOCKET,
	PFS_INS_CLIENT_READ,		/* those of PostgreSQL's wait events */
	PFS_INS_CLIENT_WRITE,
} PfsFixedInstrument;

#define PFS_NUM_FIXED_INSTRUMENTS (PFS_INS_CLIENT_WRITE + 1)

extern PFS_HIDDEN PfsInstrumentId pfs_fixed_instrument[PFS_NUM_FIXED_INSTRUMENTS];

/* By kind of file and operation, for calls without a wait_event_info. */
extern PFS_HIDDEN PfsInstrumentId pfs_file_instrument[PFS_FILE_OTHER + 1][PFS_OP_DIR + 1];

extern void pfs_wait_class_start(void);

/*
 * Slow path of pfs_wait_info_instrument(): this process sees the wait_event_info for the
 * first time.
 */
extern PfsInstrumentId pfs_wait_class_learn(uint32 word);

/* Give names to those instruments that this process can name. */
extern void pfs_wait_class_name_late(void);

/* PFS_NO_INSTRUMENT: not seen by this process yet, or beyond the end of the map. */
static inline PfsInstrumentId
pfs_wait_info_instrument_known(uint32 word)
{
	uint32		class = PFS_WAIT_INFO_CLASS(word);
	uint32		event = PFS_WAIT_INFO_EVENT(word);

	if (likely(class < PFS_WAIT_INFO_CLASSES && event < PFS_WAIT_INFO_EVENTS))
		return pfs_wait_info_map[class][event];
	return PFS_NO_INSTRUMENT;
}

static inline PfsInstrumentId
pfs_wait_info_instrument(uint32 word)
{
	PfsInstrumentId id = pfs_wait_info_instrument_known(word);

	return likely(id != PFS_NO_INSTRUMENT) ? id : pfs_wait_class_learn(word);
}

#endif							/* PFS_WAIT_CLASS_H */
