/*
 * pfs_socket_read.c
 *	  Readers and truncation of sockets and of the counters of their calls;
 *	  pfs_socket.c has the owner's side, and how the two go together.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_fence.h"
#include "pfs_owned.h"
#include "pfs_shared.h"
#include "pfs_socket.h"

static inline bool
is_live(const PfsSocket *copy)
{
	return copy->generation >= copy->collected;
}

/*
 * Hands a copy of each socket, made between two write sections of its owner, to emit.  Callers
 * that need an exact sum take the turn, and end the patience.
 */
static void
each(PfsSocketEmit emit, void *arg, PfsPatience *patience)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_sockets, &at);)
	{
		const PfsSocket *s = pfs_pages_record(pfs_sockets, at.index);
		PfsSocket	copy;

		CHECK_FOR_INTERRUPTS();
		if (pfs_owned_copy(pfs_sockets, at.index, at.word, &s->thread, &copy, sizeof(copy), patience))
			emit(&copy, at.index, arg);
	}
}

void
pfs_sockets_each(PfsSocketEmit emit, void *arg)
{
	PfsPatience patience = {0};

	each(emit, arg, &patience);
	pfs_patience_end(&patience);
}

/*
 * Waits until the moves to the totals that have begun so far are done; false if one
 * of them goes on for longer than the patience.
 */
static bool
wait_for_moves(PfsPatience *patience)
{
	uint64		begun = pfs_load_acquire(&pfs_shared_sockets->moves_begun);

	while (pfs_load_acquire(&pfs_shared_sockets->moves_done) < begun)
	{
		if (!pfs_patience_more(patience))
			return false;
	}
	return true;
}

static void
add_cell(PfsCalls *to, const PfsSocketCell *cell)
{
	pfs_totals_add_cell(&to->parts[cell->part], &cell->calls);
	to->bytes[cell->part] += cell->bytes;
}

typedef struct PfsSocketReader
{
	PfsSocketTotalsEmit emit;
	void	   *arg;
} PfsSocketReader;

/*
 * Hands on one row for each instrument that a socket has cells of, in the order of
 * its first cells.  Cells that a truncation has taken count as empty.
 */
static void
by_instance_cb(const PfsSocket *copy, uint32 index, void *arg)
{
	PfsSocketReader *reader = arg;
	uint32		done = 0;

	for (int i = 0; i < PFS_SOCKET_CELLS; i++)
	{
		PfsCalls	sums = {0};

		if ((done & (1 << i)) || copy->cells[i].instrument == PFS_NO_INSTRUMENT)
			continue;
		for (int j = i; j < PFS_SOCKET_CELLS; j++)
		{
			if (copy->cells[j].instrument != copy->cells[i].instrument)
				continue;
			done |= 1 << j;
			if (is_live(copy))
				add_cell(&sums, &copy->cells[j]);
		}
		reader->emit(copy->cells[i].instrument, (uintptr_t) pfs_pages_record(pfs_sockets, index), &sums, reader->arg);
	}
}

void
pfs_sockets_by_instance(PfsSocketTotalsEmit emit, void *arg)
{
	PfsSocketReader reader = {emit, arg};

	pfs_turn_take(PFS_TURN_SOCKETS, false);
	pfs_sockets_each(by_instance_cb, &reader);
	pfs_turn_give(PFS_TURN_SOCKETS, false);
}

static void
sum_cb(const PfsSocket *copy, uint32 index, void *arg)
{
	PfsCalls   *by_event = arg;

	for (int i = 0; i < PFS_SOCKET_CELLS && is_live(copy); i++)
	{
		if (copy->cells[i].instrument < pfs_instruments->max)
			add_cell(&by_event[copy->cells[i].instrument], &copy->cells[i]);
	}
}

/* How often a sum is repeated that owners disturb; then it is taken as it is. */
#define SUM_TRIES 1000

/*
 * Hands on the counters of all sockets by instrument, those of closed ones too.
 * Sessions that end move their counters to the totals meanwhile, so the sum is
 * repeated until none did.  On a server where they end so fast that no reading is
 * undisturbed, or where one is stopped in the middle of it, the last reading is
 * given.
 */
void
pfs_sockets_by_event(PfsSocketTotalsEmit emit, void *arg)
{
	uint32		instruments = pfs_instruments == NULL ? 0 : pfs_instruments->max;
	Size		size = instruments * sizeof(PfsCalls);
	PfsCalls   *by_event;
	PfsPatience patience = {0};

	if (instruments == 0)
		return;
	by_event = palloc(size);
	pfs_turn_take(PFS_TURN_SOCKETS, false);
	for (int i = 0; i < SUM_TRIES; i++)
	{
		uint64		done = pfs_load_acquire(&pfs_shared_sockets->moves_done);	/* B */
		uint64		begun = pfs_load_acquire(&pfs_shared_sockets->moves_begun);

		memset(by_event, 0, size);
		each(sum_cb, by_event, &patience);
		pfs_calls_totals_read(pfs_socket_totals, by_event);
		pfs_fence_acquire();	/* A */
		if (begun == done && pfs_load_relaxed(&pfs_shared_sockets->moves_begun) == begun)
			break;
		pfs_patience_next(&patience);
		if (begun != done && !wait_for_moves(&patience))
			break;
	}
	pfs_turn_give(PFS_TURN_SOCKETS, false);
	pfs_patience_end(&patience);
	for (uint32 i = 0; i < instruments; i++)
	{
		PfsTotals	all = {0};

		if (pfs_totals_count(pfs_calls_all(&by_event[i], &all)) > 0 || by_event[i].bytes[PFS_CALLS_READ] > 0)
			emit(i, 0, &by_event[i], arg);
	}
	pfree(by_event);
}

/* ---- truncation ---- */

typedef struct Truncation
{
	uint64		generation;
	uint64		events;
} Truncation;

/*
 * Takes the counters of one socket for a truncation and moves them to the totals,
 * unless the owner has done so itself.
 */
static void
collect_cb(const PfsSocket *copy, uint32 index, void *arg)
{
	Truncation *truncation = arg;
	PfsSocket  *s = pfs_pages_record(pfs_sockets, index);
	uint64		collected = copy->collected;

	/*
	 * Its owner has begun anew by itself, or has no event since the last
	 * time.
	 */
	if (copy->generation >= truncation->generation || collected > copy->generation)
		return;

	/*
	 * If the record changes hands between the copy and this, its word has
	 * another value: ENDED, or at least the new generation.
	 */
	if (pfs_cas(&s->collected, &collected, truncation->generation))
		truncation->events += pfs_socket_push_cells(copy->cells);
}

/*
 * Moves the counters of all sockets to the totals by instrument and, with
 * totals_too, empties those as well.  Returns how many events left the table.
 * Behind the fence every owner sees the new generation before its next event; what
 * owners have moved themselves by then is in `left`.
 */
static int64
truncate_sockets(bool totals_too)
{
	Truncation	truncation = {0};
	PfsPatience patience = {.of_reset = true};

	pfs_turn_take(PFS_TURN_SOCKETS, true);
	HOLD_INTERRUPTS();
	pfs_exchange(&pfs_shared_sockets->left, 0);
	truncation.generation = pfs_add_seqcst(&pfs_words->socket_truncations, 1) + 1;
	pfs_words_changed();
	pfs_fence_everywhere();
	each(collect_cb, &truncation, &patience);
	/* Owners that have raised `collected` before we came may still be adding. */
	pfs_patience_next(&patience);
	(void) wait_for_moves(&patience);
	truncation.events += pfs_exchange(&pfs_shared_sockets->left, 0);

	/* All that was in the records is in the totals by now. */
	if (totals_too)
		truncation.events = pfs_calls_totals_clear(pfs_socket_totals, true);
	RESUME_INTERRUPTS();
	pfs_turn_give(PFS_TURN_SOCKETS, true);
	pfs_patience_end(&patience);
	pfs_reset_time_note("socket_summary_by_instance");
	pfs_reset_time_note("events_waits_summary_by_instance");
	return (int64) truncation.events;
}

int64
pfs_sockets_push(void)
{
	return truncate_sockets(false);
}

int64
pfs_sockets_clear(void)
{
	return truncate_sockets(true);
}
