/*
 * pfs_setup.h
 *	  The switches: consumers, timers per class, instruments by pattern, kinds
 *	  of background threads.
 *
 * Changes come from SQL, one process at a time (an LWLock), and are published
 * as single words that instrument points read.  Both the tables and the
 * pfs.set_* functions end here.
 */
#ifndef PFS_SETUP_H
#define PFS_SETUP_H

#include "datatype/timestamp.h"

#include "pfs_compat.h"
#include "pfs_instrument.h"
#include "storage/lwlock.h"

typedef enum PfsConsumer
{
	PFS_CONSUMER_GLOBAL,
	PFS_CONSUMER_THREAD,

	/*
	 * current, history and history_long of each family, in the order of
	 * PfsEventFamily
	 */
	PFS_CONSUMER_CURRENT,
	PFS_CONSUMER_STATEMENTS_CPU = PFS_CONSUMER_CURRENT + 3 * PFS_NUM_EVENT_FAMILIES,
	PFS_CONSUMER_STATEMENTS_DIGEST,
	PFS_CONSUMER_PLANS,
} PfsConsumer;

#define PFS_NUM_CONSUMERS (PFS_CONSUMER_PLANS + 1)

/* Kinds of threads, as setup_threads lists them (background ones only). */
typedef struct PfsThreadKind
{
	char		name[PFS_NAME_SIZE];	/* thread/checkpointer, ... */
	bool		background;
	const char *documentation;
} PfsThreadKind;

#define PFS_MAX_RULES 256

/* A pattern that pfs.set_instruments has to remember for later instruments. */
typedef struct PfsRule
{
	char		pattern[PFS_NAME_SIZE];
	int8		enabled;		/* -1: leave */
	int8		timed;
} PfsRule;

typedef struct PfsRules
{
	uint32		n;
	PfsRule		items[PFS_MAX_RULES];	/* oldest first */
} PfsRules;

/* What statements count only if it is wanted. */
#define PFS_COUNTS_CPU		0x1 /* events_statements_cpu is on */
#define PFS_COUNTS_MEMORY	0x2 /* some memory instrument is */
#define PFS_COUNTS_PLANS	0x4 /* plans are, with digests; of
								 * statements_counts alone */

typedef struct PfsSharedSetup
{
	LWLock	   *lock;			/* writers of this struct and of switches */
	uint64		generation;		/* raised before effective flags are
								 * recomputed */
	uint8		consumer[PFS_NUM_CONSUMERS];	/* the rows' own values */
	uint8		timer[PFS_NUM_TIMED_CLASSES];	/* PfsTimer */
	uint8		kind_enabled[PFS_NUM_BACKEND_TYPES];
	uint8		kind_history[PFS_NUM_BACKEND_TYPES];
	uint32		current_rules;	/* which of `rules` holds; release-stored when
								 * that is complete */
	TimestampTz saved_at;		/* when the file was written last that a
								 * restart reads; 0: never.  Atomic */
	TimestampTz table_since;	/* since when rows of tables have been counted
								 * without a break; 0: they are not */
	TimestampTz memory_since;	/* since when the memory contexts that are on
								 * now have been counted without a break; 0:
								 * none is */
	PfsRules	rules[2];		/* see remember_rule() */
} PfsSharedSetup;

extern PfsSharedSetup *pfs_setup;

static inline const PfsRules *
pfs_setup_rules(void)
{
	return &pfs_setup->rules[pfs_load_acquire(&pfs_setup->current_rules)];
}

/*
 * The texts of pfs.instruments and pfs.consumers.  What is wrong with the next bad
 * entry from *list on, as a palloc'd sentence that names it, and *list is moved behind
 * it; NULL: none is bad.
 */
extern char *pfs_setup_list_problem(const char **list, bool consumers);

/* Takes the bad entries out of a text; one that has none stays as it is. */
extern void pfs_setup_leave_out(char *list, bool consumers);

/* Postmaster: the start-up values of everything. */
extern void pfs_setup_start(void);

/* `%` any characters, `?` one, no other special; letter case is ignored. */
extern bool pfs_pattern_match(const char *pattern, const char *name);

/* Initial switches of an instrument that registers now. */
extern void pfs_setup_defaults(const PfsInstrument *ins, uint8 *enabled, uint8 *timed);

/* What an instrument of this name is without any list or rule: memory is off. */
extern bool pfs_setup_is_on_by_default(const char *name);

/* Effective flags from an instrument's switches and the consumers now. */
extern uint32 pfs_setup_flags(const PfsInstrument *ins);

/* At start, when the first instruments are there. */
extern void pfs_setup_refresh(void);

/* The text of pfs.instruments that this server started with.  Set once, in the postmaster; inherited. */
extern const char *pfs_start_instruments;

extern const char *pfs_consumer_name(PfsConsumer c);

/* Is it on at a start where nobody says anything else? */
extern bool pfs_consumer_default(PfsConsumer c);

/* idle, wait, ... of those with a timer.  By name: case-sensitive, exact; -1 if there is none. */
extern const char *const pfs_class_names[PFS_NUM_TIMED_CLASSES];
extern int	pfs_class_by_name(const char *name);

/*
 * Changes, each at once visible to the next event of every process.  Values:
 * -1 leaves as is, else 0 or 1.  Backends only, not in a critical section.
 */
extern void pfs_setup_set_instrument(PfsInstrumentId id, int enabled, int timed);
extern int64 pfs_setup_set_instruments(const char *pattern, int enabled, int timed);	/* remembers */
extern void pfs_setup_set_consumer(PfsConsumer c, bool enabled);
extern int64 pfs_setup_set_consumers(const char *pattern, bool enabled);	/* YES: parents too */
extern void pfs_setup_set_timer(PfsClass c, PfsTimer timer);
extern void pfs_setup_set_thread_kind(int kind, int enabled, int history);

/* By BackendType.  Made in the postmaster, where pfs is on, by pfs_thread_kinds_start(); inherited. */
extern PfsThreadKind pfs_thread_kinds[PFS_NUM_BACKEND_TYPES];
extern void pfs_thread_kinds_start(void);

/* "client backend" behind "thread/": "thread/client_backend". */
extern void pfs_thread_make_name(char *dst, size_t size, const char *prefix, const char *words);

/* The ALTER SYSTEM lines that make the present set-up the next start's. palloc'd. */
extern char *pfs_setup_sql(void);

#endif							/* PFS_SETUP_H */
