/*
 * pfs_instrument.c
 *	  The instrument array: registration without locks, lookup by name.
 *
 * Slots are claimed in order by a compare-and-swap on `count`, after looking
 * at every slot below it, so no two instruments register with one name.  Two that
 * were registered by their numbers can get the same name later, if an extension has
 * given it to two tranches.  A slot is
 * visible once `ready` is set (A, pairs with the acquire loads of readers).  A
 * process that registers and finds a claimed slot which is not ready waits for a
 * bounded time, as its owner is some dozens of instructions away from setting it:
 * what takes longer, comparing its name with patterns, is done before the claim.
 *
 * Separate from the catalogue, as this file knows no instrument by name.
 */
#include "postgres.h"

#include <sched.h>

#include "pfs_instrument.h"
#include "pfs_atomic.h"
#include "pfs_segment.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/*
 * Looks of a registering process at another one's slot: pauses between the first ones, then
 * the processor goes to who wants it, which may be the slot's owner.
 */
#define READY_PAUSES	1000
#define READY_YIELDS	200

#define NO_CELL UINT16_MAX

PFS_FIXED PfsSharedInstruments *pfs_instruments = NULL;
PFS_FIXED PfsInstrument *pfs_instrument_items = NULL;
PFS_FIXED_FIRST PfsSharedWords *pfs_words = NULL;

/* The instruments of a family's cells, in shared memory; NULL for waits. */
static PfsInstrumentId *of_cell[PFS_NUM_FAMILIES];

/* Takes the array, the words that events read, and the cells from the segment. */
void
pfs_instruments_lay_out(PfsSegment *seg)
{
	pfs_instrument_items = pfs_segment_take(seg, pfs_sizes.instruments * sizeof(PfsInstrument), PFS_CACHE_LINE);
	pfs_words = pfs_segment_take(seg, offsetof(PfsSharedWords, flags) + pfs_sizes.instruments * sizeof(uint32),
								 PFS_CACHE_LINE);
	for (PfsFamily family = PFS_FAMILY_WAITS + 1; family < PFS_NUM_FAMILIES; family++)
		of_cell[family] = pfs_segment_take(seg, pfs_sizes.cells[family] * sizeof(PfsInstrumentId), PFS_CACHE_LINE);
}

PfsInstrument *
pfs_instrument_at(PfsInstrumentId id)
{
	PfsInstrument *ins = &pfs_instrument_items[id];

	return id < pfs_instruments->max && pfs_load_acquire(&ins->ready) ? ins : NULL;
}

PfsInstrument *
pfs_instrument_from(uint32 id)
{
	uint32		n = pfs_load_acquire(&pfs_instruments->count);
	PfsInstrument *ins = NULL;

	while (ins == NULL && id < n)
		ins = pfs_instrument_at(id++);
	return ins;
}

const char *
pfs_instrument_name(const PfsInstrument *ins)
{
	return pfs_load_acquire(&ins->named) == 1 ? ins->late_name : ins->name;
}

/*
 * Finds an instrument of this name among the first n slots, without regard to letter
 * case.  Waits for slots that are claimed and not ready; *unsure: one of them did not
 * become ready in time, so nobody knows whether it has the name.
 */
static PfsInstrumentId
find_name(const char *name, uint32 n, bool *unsure)
{
	*unsure = false;
	for (uint32 i = 0; i < n; i++)
	{
		PfsInstrument *ins = &pfs_instrument_items[i];

		for (int look = 0; !pfs_load_acquire(&ins->ready); look++)
		{
			if (look >= READY_PAUSES + READY_YIELDS)
			{
				*unsure = true;
				return PFS_NO_INSTRUMENT;
			}
			if (look < READY_PAUSES)
				pfs_pause();
			else
				sched_yield();
		}
		if (pg_strcasecmp(pfs_instrument_name(ins), name) == 0)
			return (PfsInstrumentId) i;
	}
	return PFS_NO_INSTRUMENT;
}

/*
 * Finds an instrument by its name for a backend, from this slot on.  Unlike find_name() it
 * passes over slots that are not ready, and first names what this process can name.
 */
static PfsInstrumentId
find_from(uint32 from, const char *name, int (*compare) (const char *a, const char *b))
{
	pfs_instrument_name_late();
	pfs_each_instrument_from(ins, from)
	{
		if (compare(pfs_instrument_name(ins), name) == 0)
			return pfs_instrument_id(ins);
	}
	return PFS_NO_INSTRUMENT;
}

PfsInstrumentId
pfs_instrument_by_name(const char *name)
{
	return find_from(0, name, strcmp);
}

bool
pfs_instrument_exists(const char *name)
{
	return find_from(0, name, pg_strcasecmp) != PFS_NO_INSTRUMENT;
}

bool
pfs_instrument_has_homonym(PfsInstrumentId id)
{
	return find_from(id + 1, pfs_instrument_name(pfs_instrument_at(id)), strcmp) != PFS_NO_INSTRUMENT;
}

/* Computes the switches of an instrument, and returns the generation of the setup that they are of. */
static uint64
compute_switches(PfsInstrument *ins)
{
	uint64		generation = pfs_load_acquire(&pfs_setup->generation);

	pfs_setup_defaults(ins, &ins->enabled, &ins->timed);
	return generation;
}

/*
 * Publishes an instrument that registers, or gets its name, now, with the switches of a
 * generation of the setup, and its flags.  Takes no lock, so the setup may change meanwhile:
 * the process that changes it raises the generation first and walks the array afterwards, so
 * either it sees our slot or we see its generation and compute again.
 */
static pg_noinline void
publish_switches(PfsInstrument *ins, uint64 generation)
{
	for (;;)
	{
		pfs_store_relaxed(&pfs_words->flags[pfs_instrument_id(ins)], pfs_setup_flags(ins));
		pfs_store_release(&ins->ready, 1);	/* A */
		pfs_fence_seqcst();
		if (pfs_load_relaxed(&pfs_setup->generation) == generation)
			break;
		generation = compute_switches(ins);
	}
	pfs_words_changed();
}

#define FAMILY_OF_TIMED(class, name, events, family) [class] = family,
#define FAMILY_OF_UNTIMED(class, family) [class] = family,

/* Whose summaries count the instruments of a class. */
static const PfsFamily family_of_class[] = {
	PFS_TIMED_CLASSES(FAMILY_OF_TIMED)
	PFS_UNTIMED_CLASSES(FAMILY_OF_UNTIMED)
};

/*
 * Returns the cell of an instrument that registers: waits have the instrument's number,
 * the other families the next free one.  NO_CELL if the instrument needs none, or, with a
 * loss counted, if all are taken.
 */
static uint16
flush_cell(PfsInstrumentId id)
{
	const PfsInstrument *ins = &pfs_instrument_items[id];
	PfsFamily	family = family_of_class[ins->class];
	uint32		cell;

	if (family == PFS_FAMILY_WAITS)
		return id;
	/* The cells of errors are SQLSTATEs. */
	if ((ins->properties & PFS_PROPERTY_BUILT_IN) || family == PFS_FAMILY_ERRORS)
		return NO_CELL;
	cell = pfs_add_relaxed(&pfs_instruments->ncells[family], 1);
	if (cell >= pfs_sizes.cells[family])
	{
		pfs_sub_seqcst(&pfs_instruments->ncells[family], 1);
		pfs_add_relaxed(&pfs_instruments->lost, 1);
		return NO_CELL;
	}
	pfs_store_relaxed(&of_cell[family][cell], id);
	return cell;
}

uint32
pfs_cell_of_instrument(PfsFamily family, PfsInstrumentId id)
{
	const PfsInstrument *ins = pfs_instrument_at(id);

	return ins != NULL && family_of_class[ins->class] == family ? ins->cell : NO_CELL;
}

PfsInstrumentId
pfs_instrument_of_cell(PfsFamily family, uint32 cell)
{
	PfsInstrumentId id = cell;

	if (of_cell[family] != NULL)
		id = pfs_load_relaxed(&of_cell[family][cell]);
	return pfs_cell_of_instrument(family, id) == cell ? id : PFS_NO_INSTRUMENT;
}

/*
 * Registers an instrument, or finds the one that has its name, for the postmaster at the
 * start and for any process that sees a tranche or custom wait event first.  The caller
 * fills in what describes the instrument; cell, switches and flags are set here.  When
 * another process claims the slot first, the slots that came meanwhile are compared, too.
 * Without a free slot, or with one that does not become ready, a loss is counted.
 */
PfsInstrumentId
pfs_instrument_register(const PfsInstrument *proto)
{
	uint32		n = pfs_load_acquire(&pfs_instruments->count);
	PfsInstrument new = *proto;
	uint64		generation;

	new.ready = 0;
	new.named = 0;
	generation = compute_switches(&new);
	for (;;)
	{
		bool		unsure;
		PfsInstrumentId found = find_name(proto->name, Min(n, pfs_instruments->max), &unsure);
		PfsInstrument *ins;

		if (found != PFS_NO_INSTRUMENT)
			return found;
		if (unsure || n >= pfs_instruments->max)
		{
			pfs_add_relaxed(&pfs_instruments->lost, 1);
			return PFS_NO_INSTRUMENT;
		}
		if (!pfs_cas(&pfs_instruments->count, &n, n + 1))
			continue;			/* n is the new count; look at what came */

		ins = &pfs_instrument_items[n];
		*ins = new;
		ins->cell = flush_cell(n);
		if (ins->unnamed)
			pfs_add_relaxed(&pfs_instruments->unnamed, 1);
		publish_switches(ins, generation);
		return (PfsInstrumentId) n;
	}
}

/* Registers an instrument that is described by its class, a static text and its name, a format. */
PfsInstrumentId
pfs_instrument_make(PfsClass class, const char *documentation, const char *format,...)
{
	PfsInstrument proto = {.class = class, .documentation = documentation};
	va_list		args;

	va_start(args, format);
	vsnprintf(proto.name, sizeof(proto.name), format, args);
	va_end(args);
	return pfs_instrument_register(&proto);
}

/*
 * Publishes the name of an instrument that was registered by its number.  Of several
 * processes that know the name the first one does it.  Switches that nobody has changed are
 * computed again, as patterns can match the new name.
 */
void
pfs_instrument_set_name(PfsInstrument *ins, const char *prefix, const char *name)
{
	uint8		expected = 0;
	uint8		enabled;
	uint8		timed;
	bool		changed;

	/* 2: being written by the one process that got here first. */
	if (!pfs_cas(&ins->named, &expected, 2))
		return;
	pfs_setup_defaults(ins, &enabled, &timed);
	changed = enabled != pfs_load_relaxed(&ins->enabled) || timed != pfs_load_relaxed(&ins->timed);
	snprintf(ins->late_name, sizeof(ins->late_name), "%s%s", prefix, name);
	pfs_store_release(&ins->named, 1);
	pfs_sub_seqcst(&pfs_instruments->unnamed, 1);
	if (!changed)
		publish_switches(ins, compute_switches(ins));
}

void
pfs_instruments_reset_lost(void)
{
	pfs_store_relaxed(&pfs_instruments->lost, 0);
}
