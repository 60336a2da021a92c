/*
 * pfs_event_read.h
 *	  What families of events differ in for readers: events that lie elsewhere, columns
 *	  that only readers fill in.  Apart from pfs_event.h, as no instrument point knows any
 *	  of it.
 */
#ifndef PFS_EVENT_READ_H
#define PFS_EVENT_READ_H

#include "pfs_patience.h"
#include "pfs_thread.h"

/* Takes one event; running: it has not ended.  What it points to is the caller's. */
typedef void (*PfsEventTake) (PfsEvent *event, bool running, void *arg);

/*
 * Events of a family that have ended and lie beside its blocks: those of each
 * thread (copy and word, as pfs_threads_each() has them) that are in its history, and
 * those that its current block has for the long history; and those of all blocks.
 */
typedef struct PfsEventSource
{
	PfsBlocks **blocks;			/* that these lie in; of NULL, nothing is
								 * called */
	void		(*history) (const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg);
	void		(*current) (const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg);
	void		(*long_history) (PfsEventEmit emit, void *arg);

	/* TRUNCATE: what one thread has recorded so far. */
	void		(*hide) (uint32 thread_index, uint64 word, bool history_long);
} PfsEventSource;

/*
 * NULL: the event's struct and nothing behind it means something; an event lies in a block as in a slot; no events
 * lie elsewhere, none that are running either; nothing lies outside of the record; no column is filled in by readers.
 */
typedef struct PfsEventFamilyRead
{
	/* Bytes that mean something in a reader's copy. */
	size_t		(*bytes) (const PfsEvent *event);

	/*
	 * Makes a reader's copy, but for whose it is, of what lies in a block; of
	 * waits also of a slot.
	 */
	void		(*unpack) (const void *from, PfsEvent *to);
	const PfsEventSource *source;

	/*
	 * Hands on running events that lie beside the stack; a copy, and its
	 * word.
	 */
	void		(*also_running) (const PfsThread *thread, uint64 word, PfsPatience *patience, PfsEventTake take, void *arg);

	/*
	 * Adds to the copy of a running event what lies outside of the record. If
	 * the event has ended meanwhile, the copy is thrown away; so it is if the
	 * thread has recorded anything, which may be the reader itself: look
	 * takes no lock.
	 */
	void		(*look) (const PfsThread *thread, PfsEvent *copy);

	/*
	 * Completes the copy of a running event by what lies outside of the
	 * record, and may wait for that; thread: a copy.
	 */
	void		(*running) (const PfsThread *thread, PfsEvent *copy, PfsPatience *patience);

	/* running: the event's end is NULL already */
	void		(*complete) (PfsEvent *event, bool running);
} PfsEventFamilyRead;

/*
 * The families, each by its number.  Set once, when the library is loaded
 * (../pfs_families.c).  Beside PfsEventFamilyInfo, which instrument points index.
 */
extern const PfsEventFamilyRead *pfs_event_family_reads;

/* Where else events of a family lie; NULL: nowhere. */
extern const PfsEventSource *pfs_event_source(PfsEventFamily family);

/* Waits: acquisitions of LWLocks; their columns; runs of work on tables. */
extern const PfsEventSource pfs_lwlock_event_source;
extern void pfs_wait_event_complete(PfsEvent *event, bool running);
extern void pfs_wait_event_unpack(const void *from, PfsEvent *to);
extern void pfs_rel_runs_current(const PfsThread *thread, uint64 word, PfsPatience *patience, PfsEventTake take, void *arg);

/* Stages, statements, transactions. */
extern void pfs_stage_event_running(const PfsThread *thread, PfsEvent *copy, PfsPatience *patience);
extern void pfs_statement_event_complete(PfsEvent *event, bool running);
extern void pfs_transaction_event_look(const PfsThread *thread, PfsEvent *copy);
extern void pfs_transaction_event_complete(PfsEvent *event, bool running);

#endif							/* PFS_EVENT_READ_H */
