/*
 * pfs_program.h
 *	  Programs: functions, procedures and trigger functions, with what was counted of
 *	  their calls and of the statements inside them.
 *
 * A program has a record that all processes add to, and in each process that calls it an
 * entry that leads there.  pfs_program.c has the protocol.
 *
 * Separate from pfs_program_call.h, which knows the calls that are open: a record
 * outlives them.
 */
#ifndef PFS_PROGRAM_H
#define PFS_PROGRAM_H

#include "pfs_event_cell.h"
#include "pfs_pages.h"
#include "pfs_private.h"
#include "pfs_ref.h"

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
 * the record is freed; all else is added to by whoever has it pinned (pfs_ref.h).  Times
 * are ticks of the default timer.
 */
typedef struct PfsProgram
{
	PfsProgramKey key;
	PfsSharedCell calls;
	PfsSharedCell kept;			/* calls of one view only, see below; only
								 * truncators add */
	PfsSharedStatementCell statements;	/* those that began inside of it */
} PfsProgram;

/*
 * Two of SQL's tables show the same calls, and are truncated each by itself.  TRUNCATE of one
 * takes the calls of a record to kept, where the other one goes on showing them;
 * *pfs_program_kept_for is whose they are, the same for all records.
 */
typedef enum PfsProgramView
{
	PFS_PROGRAM_OF_STATEMENTS,	/* events_statements_summary_by_program */
	PFS_PROGRAM_OF_OBJECTS,		/* objects_summary_global_by_type */
} PfsProgramView;

extern uint32 *pfs_program_kept_for;	/* truncators in their turn */

/* Beside each record, outside of its memory: a line of its own. */
typedef struct PfsProgramRefSlot
{
	uint64		ref;			/* pfs_ref.h */
	uint64		is_gone;		/* the function was dropped: whoever unpins
								 * the record last removes it */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsProgramRefSlot;

/* What is collected of a program. */
#define PFS_PROGRAM_ENABLED 0x1
#define PFS_PROGRAM_TIMED	0x2

/* What a process knows of a program that it has called; never freed while it is in use. */
typedef struct PfsProgramEntry
{
	PfsIndexLink by_program;	/* key: PFS_PROGRAM_WORD; first */
	uint64		word;			/* state word of the record */
	uint32		index;			/* the record; PFS_NO_RECORD: it has none */
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

/* Takes the container, its index and the reference count slots. */
extern void pfs_programs_lay_out(PfsSegment *seg);

/* Bytes beside the container: reference count slots. */
extern size_t pfs_programs_beside(void);

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

/* ---- the same, inside or outside of write sections; no system call ---- */

/* A call is over; ticks of the default timer, if it is timed. */
extern void pfs_program_count_call(const PfsProgramEntry *entry, bool timed, uint64 ticks);

/*
 * A statement inside the program has ended: flags and ticks as in pfs_count_statement(), rare: what
 * pfs_counters_rare() says, memory as in PfsStatement.
 */
extern void pfs_program_count_statement(const PfsProgramEntry *entry, uint32 flags, uint64 ticks, const uint64 *n,
										const uint64 *rare, uint64 memory);

/* ---- any process ---- */

/* Pins a record, as long as its slot has this state word; false: it has gone. */
extern bool pfs_program_enter(uint32 index, uint64 word);

/* Unpins it; removes it if its function was dropped meanwhile. */
extern void pfs_program_leave(uint32 index, uint64 word);

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
extern void pfs_programs_read(PfsProgramView view, PfsProgramEmit emit, void *arg);

/* Zeroes all counters of a view; returns how many calls it had counted. */
extern int64 pfs_programs_truncate(PfsProgramView view);

#endif							/* PFS_PROGRAM_H */
