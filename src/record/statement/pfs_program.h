/*
 * pfs_program.h
 *	  Programs: functions, procedures and trigger functions, with what was counted of
 *	  their calls and of the statements inside them.
 *
 * A program has a record, and in each process that calls it an entry that leads there.  A process
 * counts in places of its own first: programs are a kind of the ledger (pfs_pending.h).
 *
 * Separate from pfs_program_call.h, which knows the calls that are open: a record
 * outlives them.
 */
#ifndef PFS_PROGRAM_H
#define PFS_PROGRAM_H

#include "pfs_event_cell.h"
#include "pfs_pending.h"
#include "pfs_private.h"

typedef enum PfsProgramType
{
	PFS_PROGRAM_FUNCTION,
	PFS_PROGRAM_PROCEDURE,
	PFS_PROGRAM_TRIGGER,		/* a function of triggers or of event triggers */
} PfsProgramType;

/* A program in one word, and back. */
#define PFS_PROGRAM_WORD(type, function) ((uint64) (type) << 32 | (function))
#define PFS_PROGRAM_TYPE(word) ((PfsProgramType) ((word) >> 32))
#define PFS_PROGRAM_FUNCTION_OID(word) ((Oid) (word))

typedef struct PfsProgramKey
{
	uint64		database;
	uint64		program;		/* PFS_PROGRAM_WORD */
} PfsProgramKey;

/*
 * In shared memory.  The key is written before the record can be found, and stays until
 * the record is freed; all else is added to.  Times are ticks of the default timer.
 */
typedef struct PfsProgram
{
	PfsProgramKey key;
	PfsSharedCell calls;
	PfsSharedCell kept;			/* calls of one view, see PfsCellView; only
								 * truncators add */
	PfsSharedStatementCell statements;	/* those that began inside of it */
} PfsProgram;

/* A place. */
typedef struct PfsPendingProgram
{
	PfsPendingCounts calls;		/* object: the record; key: 0 */
	PfsStatementCell statements;
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingProgram;

static const PfsPendingShape pfs_pending_program_shape = {.sets = 16, .ways = PFS_PENDING_WAYS, .size = sizeof(PfsPendingProgram)};

/* Its parts that are truncated each by itself; not PFS_PENDING_OBJECT. */
#define PFS_PROGRAM_CALLS		2
#define PFS_PROGRAM_STATEMENTS	3

/* What is collected of a program. */
#define PFS_PROGRAM_ENABLED 0x1
#define PFS_PROGRAM_TIMED	0x2

/* What a process knows of a program that it has called; never freed while it is in use. */
typedef struct PfsProgramEntry
{
	PfsIndexLink by_program;	/* key: PFS_PROGRAM_WORD; first */
	uint64		object;			/* the record, PFS_COUNTED_OBJECT; 0: it has
								 * none */
	uint8		flags;			/* PFS_PROGRAM_* */
	uint64		rules;			/* by which they were decided,
								 * pfs_object_rules_resolved(); 0: by none, so
								 * nothing is collected */
	uint64		pool;			/* of a free entry: see pfs_private.h */
} PfsProgramEntry;

static inline uint64
pfs_program_word(const PfsProgramEntry *entry)
{
	return entry->by_program.key;
}

/* Container program_instances; NULL: pfs is off. */
extern PFS_HIDDEN PfsPages *pfs_programs;

/* Takes the container and its index. */
extern void pfs_programs_lay_out(PfsSegment *seg);

/* ---- the process that calls; outside of write sections: no lock, no error ---- */

/*
 * The entry of a program of this database, made if need be, which may ask the system for
 * memory; NULL: it gives none, and a loss is counted.
 */
extern PfsProgramEntry *pfs_program_find(PfsProgramType type, Oid function);

/* Forgets all programs if the process has called very many; only while no entry is in use. */
extern void pfs_program_forget_many(void);

/* A call of it begins that is to be counted: its record is there from now on, if there is room. */
extern void pfs_program_prepare(PfsProgramEntry *entry);

/* A call is over; ticks of the default timer, if it is timed.  Inside or outside of a write section. */
extern void pfs_program_count_call(const PfsProgramEntry *entry, bool timed, uint64 ticks);

/*
 * Inside a write section: a statement inside the program has ended: flags and ticks as in pfs_count_statement(), rare: what
 * pfs_counters_rare() says, memory as in PfsStatement.
 */
extern void pfs_program_count_statement(const PfsProgramEntry *entry, uint32 flags, uint64 ticks, const uint64 *n,
										const uint64 *rare, uint64 memory);

/* ---- any process ---- */

/* Has a function of this database a record? */
extern bool pfs_program_is_known(Oid function);

/* A function was dropped, or the database (InvalidOid): removes the records. */
extern void pfs_program_drop(Oid database, Oid function);

/* ---- readers; backends only ---- */

/* A private copy; of objects, without statements. */
typedef struct PfsProgramRow
{
	PfsProgramKey key;
	PfsTotals	calls;
	PfsStatementTotals statements;
} PfsProgramRow;

/* emit may raise errors. */
typedef void (*PfsProgramEmit) (const PfsProgramRow *row, void *arg);
extern void pfs_programs_read(PfsCellView view, PfsProgramEmit emit, void *arg);

/* Zeroes all counters of a view; returns how many calls it had counted. */
extern int64 pfs_programs_truncate(PfsCellView view);

#endif							/* PFS_PROGRAM_H */
