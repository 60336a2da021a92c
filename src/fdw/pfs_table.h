/*
 * pfs_table.h
 *	  What a foreign table of pfs is: one declarative entry with a few optional
 *	  callbacks, and what the plumbing offers to them.
 *
 * This is all that src/fdw/tables sees of the plumbing; it names no plan node.
 * The plumbing in turn knows a table only by its entry.
 */
#ifndef PFS_TABLE_H
#define PFS_TABLE_H

#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"

#include "pfs.h"
#include "pfs_pages.h"

typedef struct PfsColumn PfsColumn;
typedef struct PfsTable PfsTable;
typedef struct PfsScan PfsScan;

/*
 * A condition "column = constant" on such a column can reduce the copy; on a time of
 * periods also one with another comparison, and several of them.
 */
typedef enum PfsKey
{
	PFS_KEY_NONE,
	PFS_KEY_THREAD_ID,
	PFS_KEY_EVENT_ID,
	PFS_KEY_EVENT_NAME,
	PFS_KEY_RESOLUTION,
	PFS_KEY_PERIOD_START,
	PFS_KEY_PERIOD_END,
} PfsKey;

#define PFS_NUM_KEYS (PFS_KEY_PERIOD_END + 1)

/* Is it a time, with bounds? */
static inline bool
pfs_key_is_time(PfsKey key)
{
	return key == PFS_KEY_PERIOD_START || key == PFS_KEY_PERIOD_END;
}

/* Bounds of a time, both included. */
typedef struct PfsTimeRange
{
	TimestampTz min;
	TimestampTz max;
} PfsTimeRange;

/*
 * The release that a column came with.  Whichever list it stands in, it is behind
 * all columns of older releases where SQL sees it, as ALTER TABLE can only append.
 */
typedef enum PfsSince
{
	PFS_SINCE_1_0,
	PFS_SINCE_1_1,
	PFS_SINCE_1_2,
} PfsSince;

#define PFS_NUM_RELEASES (PFS_SINCE_1_2 + 1)

/*
 * Checks a value that SQL wants to write and returns it as it will read
 * afterwards.  Raises 22023 for anything that the column does not take.
 */
typedef Datum (*PfsColumnCheck) (const PfsTable *table, const PfsColumn *column,
								 Datum value, bool isnull);

struct PfsColumn
{
	const char *name;
	Oid			type;			/* these two come from the list: pfs_columns.h */
	int			width;			/* usual bytes, for the planner; 0: the type's */
	PfsKey		key;
	bool		hidden;			/* NULL without the rights of the row's role */
	PfsColumnCheck check;		/* not NULL: the column can be written */
	PfsColumnCheck check_new;	/* of an INSERT, where UPDATE cannot write */
	const char *by_default;		/* what an INSERT that leaves it out writes */
	PfsSince	since;			/* 0: PFS_SINCE_1_0 */
};

/* More containers than a table's rows come from. */
#define PFS_TABLE_CONTAINERS 4

/*
 * Which row.  Travels as ctid from the scan to the write: the slot as its block,
 * the version folded into its offset.  Tables whose slots never change hands
 * leave the version at 0.
 */
typedef struct PfsRowId
{
	uint32		slot;
	uint16		version;		/* as pfs_row_version() folds it */
} PfsRowId;

/* Offsets of a ctid start from 1. */
static inline uint16
pfs_row_version(uint64 version)
{
	return (uint16) (version % PG_UINT16_MAX + 1);
}

/* Values to write; arrays by column.  Checked already. */
typedef struct PfsNewRow
{
	const bool *set;			/* in the SET list; of an INSERT: every column */
	const Datum *values;
	const bool *isnull;
} PfsNewRow;

struct PfsTable
{
	const char *name;
	const char *row_is;			/* pfs.tables.a_row_is */
	const char *truncate_effect;	/* pfs.tables.truncate_effect */
	bool		without_memory; /* has rows where pfs is switched off, too */
	const PfsColumn *columns;
	int			ncolumns;
	Size		row_size;		/* of the C rows, as the list of columns has
								 * them */
	Size		(*size_of_row) (void);	/* instead, where a setting decides */
	bool		rows_vary;		/* in size: they come by pfs_scan_add_copy() */

	/*
	 * Rows are values without pointers, which copy() adds and does not look
	 * at again: those beyond work_mem go to a file.  For tables that a
	 * setting can make larger than anybody's memory.
	 */
	bool		spills;

	/*
	 * For callbacks that several tables share: which of the families of
	 * events or summaries it shows, and what of it, such as the level; and of
	 * a table of rules which ones.
	 */
	int			family;
	int			part;
	const struct PfsRuleTable *rules;

	/*
	 * Rows now, for the planner: so many for each record that the containers
	 * have, 0: one; without containers so many in all.  estimate: instead,
	 * where that says too little; cheap.
	 */
	PfsPages  **containers[PFS_TABLE_CONTAINERS];
	double		usual_rows;
	double		(*estimate) (const PfsTable *table);

	/*
	 * Collect the rows with pfs_scan_add().  May leave out what the scan's
	 * keys exclude, and what only serves columns that are not needed.  Called
	 * once per scan, in the scan's memory; where pfs is switched off, only
	 * with without_memory.
	 */
	void		(*copy) (PfsScan *scan);

	/*
	 * One column of a collected row, by its number in `columns`; made from
	 * the list of columns.  *isnull comes in as false.  May palloc; the
	 * memory lives as long as the row is the current one.
	 */
	Datum		(*get) (PfsScan *scan, const void *row, int column, bool *isnull);

	/* Optional.  The row's role, for hidden columns; InvalidOid: nobody's. */
	Oid			(*role) (const void *row);

	/*
	 * Optional.  Another role whose rights hidden columns ask for as well;
	 * InvalidOid: none.
	 */
	Oid			(*also_role) (const void *row);
	/* Optional; needed for update and delete. */
	PfsRowId	(*identity) (const void *row);

	/*
	 * Optional: changes, applied when the statement has succeeded.  update
	 * and remove cannot fail any more; a row that has gone is passed over.
	 *
	 * ignores: this column of this row reads NULL whatever is written to it,
	 * which has to be NULL or a value that the column takes.
	 *
	 * check_insert is asked at each new row, the last one of the array,
	 * whether the table could take all of them; it raises the error if not.
	 * insert takes all or none.  It raises the same errors, before it has
	 * changed anything, if another session was faster in between.
	 */
	void		(*update) (const PfsTable *table, PfsRowId row, const PfsNewRow *values);
	bool		(*ignores) (PfsRowId row, int column);
	void		(*check_insert) (const PfsTable *table, const PfsNewRow *rows, int nrows);
	void		(*insert) (const PfsTable *table, const PfsNewRow *rows, int nrows);
	void		(*remove) (const PfsTable *table, const PfsRowId *rows, int nrows);

	/*
	 * Optional.  TRUNCATE and pfs.reset(), where pfs is switched on; returns
	 * how many rows left.  truncate_part: of tables that share it.
	 */
	void		(*check_truncate) (void);	/* optional: called before any
											 * table is truncated; raises an
											 * error if this one cannot be */
	int64		(*truncate) (void);
	int64		(*truncate_part) (const PfsTable *table);
	void		(*truncated) (void);	/* optional: called behind */
	bool		in_reset_all;	/* pfs.reset() without a name resets it */
};

/* One scan of one table, as its callbacks see it. */
struct PfsScan
{
	const PfsTable *table;
	const bool *needed;			/* by column: will be asked for */

	/*
	 * Conditions that are constant for the statement; 0, PFS_NO_INSTRUMENT:
	 * any.
	 */
	uint64		thread_id;
	uint64		event_id;
	PfsInstrumentId instrument;
	const Interval *resolution; /* NULL: any */
	PfsTimeRange period_start;
	PfsTimeRange period_end;

	void	   *table_private;	/* the table's own, in the scan's memory */
	struct PfsScanName *names;	/* that were looked up; NULL: none yet */

	/* The copy; tables use pfs_scan_add(). */
	Size		row_size;
	MemoryContext rows_context;
	char	   *rows;
	Size		nrows;
	Size		max_rows;
	struct BufFile *file;		/* those that had no room, of a table that
								 * spills; NULL: none */
};

/* Room for one more row, zeroed.  The pointer is valid until the next call. */
extern void *pfs_scan_add(PfsScan *scan);

/* The same of tables whose rows vary in size: a copy of so many bytes. */
extern void pfs_scan_add_copy(PfsScan *scan, const void *row, Size bytes);

/* Leaves the rows of the copy that a function wants; it may read catalogues. */
extern void pfs_scan_keep(PfsScan *scan, bool (*keep) (const void *row));

/* Leaves one of the rows that begin with the same bytes, to which the others have been added. */
extern void pfs_scan_unite(PfsScan *scan, Size key_size, void (*add) (void *to, const void *row));

/*
 * Names as pfs_database_name() and pfs_role_name() have them, kept for further rows: they live
 * until another one takes the place.
 */
extern const char *pfs_scan_database_name(PfsScan *scan, Oid database);
extern const char *pfs_scan_role_name(PfsScan *scan, Oid role);

/* -1: the column is not to be changed; else the YES or NO to be written. */
extern int	pfs_new_switch(const PfsNewRow *values, int column);

/*
 * All tables, in the order of IMPORT FOREIGN SCHEMA.  Set once, when the library is loaded
 * (tables/pfs_tables.c).
 */
extern const PfsTable *const *pfs_tables;
extern int	pfs_num_tables;

/* Views over them that the SQL script makes, for pfs.tables. */
typedef struct PfsView
{
	const char *name;
	const char *row_is;
} PfsView;

extern const PfsView pfs_views[];
extern const int pfs_num_views;

/* NULL if there is none. */
extern const PfsTable *pfs_table_by_name(const char *name);

/* "enabled, timed", or NULL: no column can be written.  palloc'd. */
extern char *pfs_writable_columns(const PfsTable *table);

#endif							/* PFS_TABLE_H */
