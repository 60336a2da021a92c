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

/* Version of the SQL objects that belong to this library. */
#define PFS_VERSION "1.1"

/*
 * On variables that instrument points read.  -fvisibility=hidden speaks of
 * definitions only; a declaration without this is reached through the GOT.
 */
#define PFS_HIDDEN __attribute__((visibility("hidden")))

/*
 * On the definitions of variables that nearly every event needs: they lie on pages of
 * their own, together.  Between the tables of the rest they would be on a dozen,
 * which each process has to have a copy of, and to find again when it runs after others.
 */
#define PFS_HOT __attribute__((section("pfs_hot")))

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

/* Bytes of a statement's text that are kept: by default, and at most. */
#define PFS_SQL_TEXT_DEFAULT	1024
#define PFS_TEXT_LENGTH_MAX		65536

/* Seconds after which any other statement replaces a digest's sample. */
#define PFS_SAMPLE_AGE_DEFAULT	60
#define PFS_SAMPLE_AGE_MAX		1048576

/* What an instrument can belong to; those up to transactions have a timer. */
typedef enum PfsClass
{
	PFS_CLASS_IDLE,
	PFS_CLASS_WAIT,
	PFS_CLASS_STAGE,
	PFS_CLASS_STATEMENT,
	PFS_CLASS_TRANSACTION,
	PFS_CLASS_MEMORY,
	PFS_CLASS_ERROR,
} PfsClass;

#define PFS_NUM_TIMED_CLASSES (PFS_CLASS_TRANSACTION + 1)

/*
 * Instruments whose numbers have the same shape: they lie in the same cells, and
 * are truncated together.
 */
typedef enum PfsFamily
{
	PFS_FAMILY_WAITS,			/* idle, too */
	PFS_FAMILY_MEMORY,
	PFS_FAMILY_STAGES,
	PFS_FAMILY_STATEMENTS,
	PFS_FAMILY_TRANSACTIONS,
	PFS_FAMILY_ERRORS,			/* cells are SQLSTATEs */
} PfsFamily;

#define PFS_NUM_FAMILIES (PFS_FAMILY_ERRORS + 1)

/* Events of a family share current table and histories; idleness is a wait. */
typedef enum PfsEventFamily
{
	PFS_WAITS,
	PFS_STAGES,
	PFS_STATEMENTS,
	PFS_TRANSACTIONS,
} PfsEventFamily;

#define PFS_NUM_EVENT_FAMILIES (PFS_TRANSACTIONS + 1)

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

/* An instrument number; index into the instrument array. */
typedef uint16 PfsInstrumentId;

#define PFS_NO_INSTRUMENT ((PfsInstrumentId) 0xFFFF)

#endif							/* PFS_H */
