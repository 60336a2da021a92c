/*
 * pfs.h
 *	  The words that every layer of pfs shares: limits, and the families of
 *	  instruments.
 *
 * Layers include this after postgres.h.  It declares no function and no
 * variable: a layer's functions are in the layer's own headers.
 */
#ifndef PFS_H
#define PFS_H

/* PFS_VERSION, the version of the SQL objects that belong to this library, is read from
 * pfs.control: the Makefile defines it for the files that show it. */

/*
 * On variables that instrument points read.  -fvisibility=hidden speaks of
 * definitions only; a declaration without this is reached through the GOT.
 */
#define PFS_HIDDEN __attribute__((visibility("hidden")))

/*
 * On the definitions of variables that nearly every event needs and that only the
 * postmaster sets: processes never get a copy of the pages on which they lie.  What one
 * process has in the processor's caches serves the next one, too.
 */
#define PFS_FIXED __attribute__((section("pfs_fixed")))

/*
 * On those that processes set: they lie on pages of their own, together.  Between the
 * tables of the rest they would be on a dozen, which each process has to have a copy of,
 * and to find again when it runs after others.
 */
#define PFS_HOT __attribute__((section("pfs_hot")))

/*
 * On what each statement needs of either: in front of the others, on as few lines as that fills, without the gaps
 * by which the compiler aligns what is larger.
 */
#define PFS_FIXED_FIRST __attribute__((section("pfs_fixed_first"), aligned(8)))
#define PFS_HOT_FIRST __attribute__((section("pfs_hot_first"), aligned(8)))

/* On those of them that have some lines of their own, so that the others share theirs. */
#define PFS_HOT_STRUCT __attribute__((section("pfs_hot_structs"), aligned(64)))

/* On tables of which an event needs one place, and on what few events need: behind all variables of PFS_FIXED, and of PFS_HOT. */
#define PFS_FIXED_TABLE __attribute__((section("pfs_fixed_tables")))
#define PFS_HOT_TABLE __attribute__((section("pfs_hot_tables")))

/* Bytes, terminator included, of names that users see (CONTRACT: 128, 1024). */
#define PFS_NAME_SIZE		129
#define PFS_FILE_NAME_SIZE	1025

/* Running events of one thread; what is deeper is counted as lost. */
#define PFS_WAIT_DEPTH			5
#define PFS_STAGE_DEPTH			10
#define PFS_STATEMENT_DEPTH		10
#define PFS_TRANSACTION_DEPTH	1

/* Longest histories that a user may ask for. */
#define PFS_HISTORY_SIZE_MAX		1024
#define PFS_HISTORY_LONG_SIZE_MAX	1000000

/* Bytes of a statement's text, and of a plan's, that are kept: by default, and at most. */
#define PFS_SQL_TEXT_DEFAULT	1024
#define PFS_PLAN_TEXT_DEFAULT	4096
#define PFS_TEXT_LENGTH_MAX		65536

/* Seconds after which any other statement replaces a digest's sample. */
#define PFS_SAMPLE_AGE_DEFAULT	60
#define PFS_SAMPLE_AGE_MAX		1048576

/* Not terminated; NULL: none. */
typedef struct PfsText
{
	const char *text;
	uint32		len;
} PfsText;

/* For lists of which each entry is a call of X: the entry's first word; one for each. */
#define PFS_ENUMERATOR(enumerator, ...) enumerator,
#define PFS_PLUS_ONE(...) + 1

/*
 * The families of events, each with the word in the names of its tables, consumers and
 * settings.  Events of a family share current table and histories; idleness is a wait.
 * pfs_families.c says what else a family differs in.
 */
#define PFS_EVENT_FAMILIES(X) \
	X(PFS_WAITS, "waits") \
	X(PFS_STAGES, "stages") \
	X(PFS_STATEMENTS, "statements") \
	X(PFS_TRANSACTIONS, "transactions")

typedef enum PfsEventFamily
{
	PFS_EVENT_FAMILIES(PFS_ENUMERATOR)
} PfsEventFamily;

#define PFS_NUM_EVENT_FAMILIES (0 PFS_EVENT_FAMILIES(PFS_PLUS_ONE))

/*
 * Families of summaries: instruments whose numbers have the same shape.  They lie in
 * the same cells, and are truncated together.  Each with the word in the name of its
 * PfsSummaryKind, pfs_WORD_kind.  Idleness is a wait; cells of errors are SQLSTATEs.
 */
#define PFS_FAMILIES(X) \
	X(PFS_FAMILY_WAITS, wait) \
	X(PFS_FAMILY_MEMORY, memory) \
	X(PFS_FAMILY_STAGES, stage) \
	X(PFS_FAMILY_STATEMENTS, statement) \
	X(PFS_FAMILY_TRANSACTIONS, transaction) \
	X(PFS_FAMILY_ERRORS, error)

typedef enum PfsFamily
{
	PFS_FAMILIES(PFS_ENUMERATOR)
	PFS_NUM_FAMILIES
} PfsFamily;

/*
 * What an instrument can belong to.  The classes of events have a timer: each is listed
 * with its name in setup_timers, the family of its events, and that of its summaries; the
 * other classes with the family of their summaries.
 */
#define PFS_TIMED_CLASSES(X) \
	X(PFS_CLASS_IDLE, "idle", PFS_WAITS, PFS_FAMILY_WAITS) \
	X(PFS_CLASS_WAIT, "wait", PFS_WAITS, PFS_FAMILY_WAITS) \
	X(PFS_CLASS_STAGE, "stage", PFS_STAGES, PFS_FAMILY_STAGES) \
	X(PFS_CLASS_STATEMENT, "statement", PFS_STATEMENTS, PFS_FAMILY_STATEMENTS) \
	X(PFS_CLASS_TRANSACTION, "transaction", PFS_TRANSACTIONS, PFS_FAMILY_TRANSACTIONS)

#define PFS_UNTIMED_CLASSES(X) \
	X(PFS_CLASS_MEMORY, PFS_FAMILY_MEMORY) \
	X(PFS_CLASS_ERROR, PFS_FAMILY_ERRORS)

typedef enum PfsClass
{
	PFS_TIMED_CLASSES(PFS_ENUMERATOR)
	PFS_UNTIMED_CLASSES(PFS_ENUMERATOR)
} PfsClass;

#define PFS_NUM_TIMED_CLASSES (0 PFS_TIMED_CLASSES(PFS_PLUS_ONE))

/* Whose connections and numbers are added up; also how their tables are told apart. */
typedef enum PfsAccountKind
{
	PFS_ACCOUNTS,
	PFS_USERS,
	PFS_HOSTS,
} PfsAccountKind;

#define PFS_NUM_ACCOUNT_KINDS (PFS_HOSTS + 1)

/* pfs.lwlock_events: what is an event of an LWLock. */
typedef enum PfsLwlockEvents
{
	PFS_LWLOCK_WAITS,			/* each sleep in a queue; no detour */
	PFS_LWLOCK_CONTENDED,		/* each acquisition that slept */
	PFS_LWLOCK_ALL,				/* each acquisition */
} PfsLwlockEvents;

/* pfs.plan_nodes: which executions of plans are measured. */
typedef enum PfsPlanNodes
{
	PFS_PLAN_NODES_OFF,
	PFS_PLAN_NODES_BUDGET,
	PFS_PLAN_NODES_ALL,
} PfsPlanNodes;

/* An instrument number; index into the instrument array. */
typedef uint16 PfsInstrumentId;

#define PFS_NO_INSTRUMENT ((PfsInstrumentId) 0xFFFF)

#endif							/* PFS_H */
