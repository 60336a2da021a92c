/*
 * pfs_instrument.h
 *	  The instruments: what can be measured, under which name, and the word of
 *	  flags that an instrument point tests.
 *
 * The array only grows.  Those that PostgreSQL's version defines are there
 * before the first process starts; extension tranches and custom wait events
 * are added when first seen, by whoever sees them, without a lock.
 */
#ifndef PFS_INSTRUMENT_H
#define PFS_INSTRUMENT_H

#include "pfs_atomic.h"
#include "pfs_clock.h"
#include "pfs_sizes.h"

/*
 * The effective flags of an instrument: its own switches with those of all
 * consumers above its family included, so that an instrument point tests one
 * word.  Read once at the begin of an event and kept for its end.
 */
#define PFS_FLAG_ENABLED		0x01	/* collect at all */
#define PFS_FLAG_TIMED			0x02
#define PFS_FLAG_THREAD			0x04	/* thread_instrumentation */
#define PFS_FLAG_CURRENT		0x08
#define PFS_FLAG_HISTORY_LONG	0x10
#define PFS_FLAG_HISTORY		0x100000	/* apart from that as the counts
											 * of PFS_BLOCK_COUNTS are */
#define PFS_FLAG_MEMORY			0x40	/* some memory instrument is on: in
										 * the flags of all, so that any event
										 * notices it */
#define PFS_FLAG_DIGEST			0x80	/* of statements: statements_digest */
#define PFS_FLAG_TIMER_SHIFT	8	/* three bits: PfsTimer of the class */
#define PFS_FLAG_TIMER_MASK		0x700
#define PFS_FLAGS_TIMER(flags)	((PfsTimer) (((flags) & PFS_FLAG_TIMER_MASK) >> PFS_FLAG_TIMER_SHIFT))

/* Properties shown to the user. */
#define PFS_PROPERTY_IDLE		0x01	/* waits for work, not for a resource */
#define PFS_PROPERTY_CONTAINS_WAITS 0x04	/* its times have those of other
											 * waits */
#define PFS_PROPERTY_BUILT_IN	0x02	/* cannot be switched; global tables
										 * only */

/*
 * One instrument.  Everything but the switches is written before `ready` is
 * set and never changes, except the name of an instrument that could not be
 * named when it was first seen: that is kept apart and published once.
 */
typedef struct PfsInstrument
{
	char		name[PFS_NAME_SIZE];	/* use pfs_instrument_name() */
	char		late_name[PFS_NAME_SIZE];	/* once `named` is set */
	char		wait_event[NAMEDATALEN];	/* as pg_stat_activity says it, or
											 * "" */
	const char *wait_event_type;	/* the same; NULL: none.  Static string,
									 * inherited from the postmaster */
	const char *documentation;	/* static string, or NULL */
	uint32		wait_info;		/* wait_event_info, 0 if none */
	uint16		cell;			/* its number in the family's blocks */
	uint8		class;			/* PfsClass */
	uint8		properties;		/* PFS_PROPERTY_* */
	bool		unnamed;		/* `name` has a number only: see late_name */
	uint8		named;			/* release-stored after late_name */
	uint8		ready;			/* release-stored last by who registers */
	uint8		enabled;		/* switches: written under the setup lock, or
								 * by */
	uint8		timed;			/* who registers before `ready` */
} PfsInstrument;

typedef struct PfsSharedInstruments
{
	uint32		count;			/* claimed slots, at most max; atomic */
	uint32		lost;			/* not registered because the array was full */
	uint32		unnamed;		/* instruments that wait for a name; atomic */
	uint32		max;			/* set at start */
	uint32		fixed;			/* registered at start; these never move */
	uint32		ncells[PFS_NUM_FAMILIES];	/* given out; atomic.  Not of
											 * waits */
} PfsSharedInstruments;

/* The prefix that makes the name of a memory context that of an instrument. */
#define PFS_MEMORY_PREFIX "memory/context/"

/* The prefix of the stages of statements. */
#define PFS_STAGE_PREFIX "stage/sql/"

/* And these. */
#define PFS_TABLE_PREFIX "wait/io/table/"

/*
 * What nearly every event reads and only SQL changes, each word by itself: on as few
 * pages as it can be.
 */
typedef struct PfsSharedWords
{
	/*
	 * Raised behind each change of a word below, but for the flags of an
	 * instrument that registers and indexes_handed_over, and behind that of a
	 * thread's mask by another process: who finds it unchanged has to look at
	 * none of them.  See pfs_words_changed().
	 */
	uint64		generation;

	/*
	 * What an event of the class has before its instrument is known: the
	 * flags of a timed instrument; 0: no instrument of the class is on.
	 */
	uint32		class_flags[PFS_NUM_TIMED_CLASSES];

	/*
	 * TRUNCATEs so far, by those who truncate: pfs_summary_truncate.c and the
	 * like.  Those of the first kinds are on the line of what is above them,
	 * as each statement reads both.
	 */
	uint64		object_truncations[PFS_NUM_COUNTED_OBJECTS];	/* from 1 on */
	uint64		truncations[PFS_NUM_FAMILIES];
	uint64		indexes_handed_over;	/* to other OIDs: what is known by an
										 * OID is forgotten */

	uint32		statement_counts;	/* what statements count that costs:
									 * PFS_COUNTS_... */
	bool		memory_wanted;	/* some context instrument is on, and the
								 * consumers above */
	uint32		flags[FLEXIBLE_ARRAY_MEMBER];	/* by instrument: effective
												 * ones, atomic */
} PfsSharedWords;

/* Set once in the postmaster, inherited by every process; NULL when off. */
extern PFS_HIDDEN PfsSharedInstruments *pfs_instruments;
extern PFS_HIDDEN PfsInstrument *pfs_instrument_items;	/* [max] */
extern PFS_HIDDEN PfsSharedWords *pfs_words;

/*
 * For readers: number of slots to look at; skip those that are not ready.
 * First names what this process can name.  Backends only, may palloc.
 */
extern uint32 pfs_instrument_count(void);

/* Only that: before events are read.  Does nothing while pfs is off. */
extern void pfs_instrument_name_late(void);

/* NULL if not ready. */
extern PfsInstrument *pfs_instrument_at(PfsInstrumentId id);

/* The next one that is ready, from this slot on; NULL behind the last one.  While pfs is active. */
extern PfsInstrument *pfs_instrument_from(uint32 id);

static inline PfsInstrumentId
pfs_instrument_id(const PfsInstrument *ins)
{
	return ins - pfs_instrument_items;
}

/*
 * Goes through the instruments that are ready, all or those from a slot on, in the order of
 * their numbers, those that register meanwhile included.
 */
#define pfs_each_instrument_from(ins, from) \
	for (PfsInstrument *ins = pfs_instrument_from(from); ins != NULL; \
		 ins = pfs_instrument_from(pfs_instrument_id(ins) + 1))
#define pfs_each_instrument(ins) pfs_each_instrument_from(ins, 0)

/* What users see; valid for ever. */
extern const char *pfs_instrument_name(const PfsInstrument *ins);

/* As pg_stat_activity says it, or "". */
extern const char *pfs_instrument_wait_event(const PfsInstrument *ins);

/* While pfs is active.  The first one of this exact name; PFS_NO_INSTRUMENT if there is none. */
extern PfsInstrumentId pfs_instrument_by_name(const char *name);

/* The same.  Does one have this name?  Without regard to letter case, as where one registers. */
extern bool pfs_instrument_exists(const char *name);

/* The same.  Has one behind this one the same name, which it got late? */
extern bool pfs_instrument_has_homonym(PfsInstrumentId id);

/*
 * Register, or find, by name.  At server start and from instrument points:
 * no lock, no allocation.  Applies the start-up and run-time patterns.
 * PFS_NO_INSTRUMENT, with a loss counted, when the array is full.
 */
extern PfsInstrumentId pfs_instrument_register(const PfsInstrument *proto);

/* The same of one that has nothing but these.  At server start only. */
extern PfsInstrumentId pfs_instrument_make(PfsClass class, const char *documentation, const char *format,...)
			pg_attribute_printf(3, 4);

/* Publish the name of an unnamed instrument; its patterns are applied again. */
extern void pfs_instrument_set_name(PfsInstrument *ins, const char *prefix, const char *name);

/* Postmaster: takes the arrays; registers what the server's waits and commands are. */
struct PfsSegment;
extern void pfs_instruments_lay_out(struct PfsSegment *seg);
extern void pfs_instruments_start(void);
extern void pfs_instruments_end_start(void);

/* TRUNCATE of containers. */
extern void pfs_instruments_reset_lost(void);

/*
 * Which cell of a family's blocks an instrument has: waits by their numbers, as
 * the hot path knows no other; the rest in the order of registration.  No cell,
 * or another family: UINT16_MAX and PFS_NO_INSTRUMENT.
 */
extern uint32 pfs_cell_of_instrument(PfsFamily family, PfsInstrumentId id);
extern PfsInstrumentId pfs_instrument_of_cell(PfsFamily family, uint32 cell);

/*
 * Says that words have changed, for those that compare the generation alone.  A truncator calls it
 * before its fence, so that whoever is not in a write section behind that sees both.
 */
static inline void
pfs_words_changed(void)
{
	pfs_add_seqcst(&pfs_words->generation, 1);
}

/* The effective flags now. */
static inline uint32
pfs_instrument_flags(PfsInstrumentId id)
{
	return pfs_load_relaxed(&pfs_words->flags[id]);
}

#endif							/* PFS_INSTRUMENT_H */
