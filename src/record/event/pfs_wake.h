/*
 * pfs_wake.h
 *	  The memory that a session needs at once when its client's next message has come.
 *
 * Where many sessions share a processor, each finds nothing of its own in the caches when
 * it goes on, and none of its pages in the TLB.  A statement would come to one such line
 * after the other, as it finds out where they are.  So their addresses are noted when the
 * session becomes idle, and a byte of each is read when it goes on: no read needs another
 * one's result, and the processor does many at the same time.
 *
 * What is read lies in shared memory or is this library's own, and stays where it is.  An
 * address that is out of date costs a read.
 *
 * Separate from what it is about, which is in three rooms: each notes its own.
 */
#ifndef PFS_WAKE_H
#define PFS_WAKE_H

#include "pfs_event_write.h"

/* What the last statement used, and the next one is likely to use; none is NULL. */
typedef struct PfsWake
{
	/* pfs_wake_note_histories() */
	const void *history[3];		/* where the next events go: a statement's,
								 * its transaction's, a wait's */

	/* pfs_wake_note() */
	const void *slots[2];		/* of the first two of these */
	void	   *const *wait_chunks[2];	/* of an idle wait and a send: where
										 * the address of the thread's cell
										 * lies, that cell, and the one of the
										 * statement */
	const void *wait_cells[2];
	const void *charged[2];
	const void *transaction_cell;

	/* pfs_socket.c: its record */
	const void *socket;

	/* pfs_statement_top.c: what is known of the statement, and its cell */
	const void *sql;
	const void *statement_chunk;
	const void *statement_cell;
	PfsInstrumentId instrument; /* whose these are */

	/*
	 * pfs_digest_pending.c: the process's numbers, those of the digest, and
	 * the state word of its record
	 */
	const void *digests;
	const void *digest;
	const void *digest_state;

	/*
	 * pfs_prepared.c: the record, and what the process has of it.  That is
	 * private memory, and is not read but asked for, which is allowed where
	 * there is none any more.
	 */
	const void *prepared;
	const void *prepared_entry;
} PfsWake;

extern PFS_HIDDEN PfsWake pfs_wake;

/* What an address is that there is not. */
#define PFS_WAKE_LINES	10		/* at most, from one address */
extern PFS_HIDDEN const char pfs_wake_nothing[PFS_WAKE_LINES * PFS_CACHE_LINE];

static inline const void *
pfs_wake_address(const void *p)
{
	return p != NULL ? p : pfs_wake_nothing;
}

/*
 * The session becomes idle behind a statement.  More than the histories has to be noted if it
 * has another instrument than the last one, or a wait has got its cell since.
 */
static inline bool
pfs_wake_is_noted(PfsInstrumentId instrument)
{
	return pfs_wake.instrument == instrument &&
		pfs_wake.wait_cells[0] == pfs_wake_address(*pfs_wake.wait_chunks[0]) &&
		pfs_wake.wait_cells[1] == pfs_wake_address(*pfs_wake.wait_chunks[1]);
}

extern void pfs_wake_note(const PfsThread *t);

/* Behind each statement.  Behind the end of a block, it is not known where an event goes. */
static inline void
pfs_wake_note_histories(const PfsThread *t)
{
	static const PfsEventFamily families[] = {PFS_STATEMENTS, PFS_TRANSACTIONS, PFS_WAITS};

#pragma GCC unroll 3
	for (int i = 0; i < lengthof(families); i++)
	{
		const PfsBlockWriter *to = &t->events[families[i]].finished;

		pfs_wake.history[i] = to->next != to->end ? to->next : pfs_wake_nothing;
	}
}

/* Reads a byte of each of so many cache lines. */
static pg_attribute_always_inline void
pfs_wake_read(const void *from, int lines)
{
#pragma GCC unroll 10
	for (int i = 0; i < lines; i++)
		(void) *((const volatile char *) from + i * PFS_CACHE_LINE);
}

/*
 * The session goes on: reads what has been noted, and what is at the same place for all
 * statements.
 */
static pg_attribute_always_inline void
pfs_wake_up(const PfsThread *t)
{
	const PfsWake *w = &pfs_wake;

	pfs_wake_read(&t->seq, 1);
	pfs_wake_read(&t->mask, 1);
	pfs_wake_read(&t->summary[PFS_FAMILY_WAITS], 1);
	pfs_wake_read(&t->summary[PFS_FAMILY_STATEMENTS], 1);
	pfs_wake_read(&t->summary[PFS_FAMILY_TRANSACTIONS], 1);
	pfs_wake_read(&t->events[PFS_WAITS], 1);
	pfs_wake_read(&t->events[PFS_STATEMENTS], 1);
	pfs_wake_read(&t->events[PFS_TRANSACTIONS], 1);
	pfs_wake_read(&t->waits[0], 1);
	pfs_wake_read(&t->charged, 1);
	pfs_wake_read(pfs_words, 1);
	for (int i = 0; i < 2; i++)
	{
		pfs_wake_read(w->wait_chunks[i], 1);
		pfs_wake_read(w->wait_cells[i], 1);
		pfs_wake_read(w->charged[i], 1);
	}
	pfs_wake_read(w->transaction_cell, 1);
	pfs_wake_read(w->socket, 4);
	pfs_wake_read(w->statement_chunk, 1);
	pfs_wake_read(w->statement_cell, 4);
	pfs_wake_read(w->digests, 1);
	pfs_wake_read(w->digest, 8);
	pfs_wake_read(w->digest_state, 1);
	pfs_wake_read(w->prepared, 2);
	__builtin_prefetch(w->prepared_entry);
	__builtin_prefetch((const char *) w->prepared_entry + PFS_CACHE_LINE);
	pfs_wake_read(w->slots[0], 6);
	pfs_wake_read(w->slots[1], 2);
	for (int i = 0; i < 3; i++)
		pfs_wake_read(w->history[i], 1);
	pfs_wake_read(w->sql, 10);
	pfs_wake_read(&pfs_local, 4);
}

#endif							/* PFS_WAKE_H */
