/*
 * pfs_wake.c
 *	  Noting what a session needs when its client's next message has come: the part of
 *	  this room.
 */
#include "postgres.h"

#include "pfs_event_own.h"
#include "pfs_wait_class.h"
#include "pfs_wake.h"

const char	pfs_wake_nothing[PFS_WAKE_LINES * PFS_CACHE_LINE] __attribute__((aligned(PFS_CACHE_LINE)));

#define NOTHING pfs_wake_nothing
#define NO_CELL ((void *const *) NOTHING)	/* its address is NULL */

PFS_HOT PfsWake pfs_wake = {
	.slots = {NOTHING, NOTHING}, .history = {NOTHING, NOTHING, NOTHING},
	.wait_chunks = {NO_CELL, NO_CELL}, .wait_cells = {NOTHING, NOTHING},
	.charged = {NOTHING, NOTHING}, .transaction_cell = NOTHING, .socket = NOTHING, .sql = NOTHING,
	.statement_chunk = NOTHING, .statement_cell = NOTHING, .digests = NOTHING, .digest = NOTHING,
	.digest_state = NOTHING, .prepared = NOTHING, .prepared_entry = NOTHING
};

/* The slot that the next event of the family takes. */
static inline const void *
slot_of(const PfsThread *t, PfsEventFamily family)
{
	const PfsEvents *events = &t->events[family];

	return events->slots != NULL ? (const void *) pfs_event_slot(events, 0) : NOTHING;
}

/* What a wait of the instrument needs. */
static inline void
note_wait(const PfsThread *t, int i, PfsInstrumentId instrument)
{
	pfs_wake.wait_chunks[i] = pfs_block_chunk(&t->summary[PFS_FAMILY_WAITS].cells, instrument);
	pfs_wake.wait_cells[i] = pfs_wake_address(pfs_wait_cell(t, instrument));
	pfs_wake.charged[i] = &t->charged.waits[instrument % PFS_DIGEST_WAITS];
}

void
pfs_wake_note(const PfsThread *t)
{
	pfs_wake.slots[0] = slot_of(t, PFS_STATEMENTS);
	pfs_wake.slots[1] = slot_of(t, PFS_TRANSACTIONS);
	note_wait(t, 0, pfs_fixed_instrument[PFS_INS_IDLE]);
	note_wait(t, 1, pfs_fixed_instrument[PFS_INS_CLIENT_WRITE]);
	pfs_wake.transaction_cell = pfs_wake_address(t->summary[PFS_FAMILY_TRANSACTIONS].cells.cells);
}
