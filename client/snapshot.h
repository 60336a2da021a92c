/*
 * snapshot.h
 *	  What the summaries of a server said at one moment, in memory and as a file.
 *
 * A snapshot keeps tables as the server gave them, column by column under their names,
 * so a server with more or fewer tables or columns needs no other program.  What a column is
 * follows from its name: see snapshot_add_table().  A file is JSON; docs/report.md has
 * its format.  A reader takes nothing of a file on trust.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "number.h"
#include "server.h"
#include "sink.h"

/* Version of the format.  A program reads its own version and all before it. */
#define SNAPSHOT_FORMAT 1

typedef enum CellKind
{
	CELL_KEY,					/* a row's identity: leading columns only */
	CELL_COUNTER,				/* grows, and two of them have a difference */
	CELL_STATE,					/* anything else: extremes, texts, what is now */
} CellKind;

typedef struct SnapshotTable
{
	char	   *name;			/* without schema */
	int64_t		reset;			/* microseconds since 1970; 0: not known */
	int			num_columns;
	int			num_keys;		/* the first columns */
	char	  **columns;
	CellKind   *kinds;
	int			num_rows;
	int			max_rows;
	char	  **cells;			/* by row and column; NULL: null */
} SnapshotTable;

/* A table that is not in the snapshot, and why. */
typedef struct SnapshotGap
{
	char	   *name;
	char	   *reason;
} SnapshotGap;

/* The facts of a server, by name, in this order in files and reports. */
#define SNAPSHOT_FACTS(X) \
	X(system_identifier) \
	X(version) \
	X(version_num) \
	X(pfs_version) \
	X(database) \
	X(role) \
	X(host) \
	X(port) \
	X(cluster_name) \
	X(data_directory) \
	X(in_recovery) \
	X(postmaster_started) \
	X(pfs_started) \
	X(sees_all) \
	X(time_zone)

typedef enum SnapshotFact
{
#define SNAPSHOT_FACT_NUMBER(name) FACT_##name,
	SNAPSHOT_FACTS(SNAPSHOT_FACT_NUMBER)
	NUM_FACTS
} SnapshotFact;

extern const char *const snapshot_fact_names[NUM_FACTS];

typedef struct Snapshot
{
	int64_t		taken;			/* microseconds since 1970 by the server's
								 * clock */
	char	   *facts[NUM_FACTS];	/* NULL: not known */
	int			num_tables;
	SnapshotTable *tables;
	int			num_gaps;
	SnapshotGap *gaps;
} Snapshot;

/* Takes one; what cannot be read is a gap.  Ends the program if there is no connection. */
extern Snapshot *snapshot_take(Server *server);
extern void snapshot_write(const Snapshot *snapshot, Sink *sink);

/*
 * Reads a file's bytes.  Returns NULL if they are no snapshot, with the reason in *wrong, to be
 * freed.
 */
extern Snapshot *snapshot_parse(const char *data, size_t length, char **wrong);
extern Snapshot *snapshot_read_or_die(const char *file);
extern void snapshot_free(Snapshot *snapshot);

/* The time that a fact holds, microseconds since 1970; 0: it holds none, as a file can hold anything. */
extern int64_t fact_time(const char *fact);

/* NULL: it has no such table. */
extern const SnapshotTable *snapshot_table(const Snapshot *snapshot, const char *name);
extern int	table_column(const SnapshotTable *table, const char *name); /* -1: none */
extern const char *table_cell(const SnapshotTable *table, int row, int column); /* NULL also for column
																				 * -1 */
extern bool table_number(const SnapshotTable *table, int row, int column, Number *number);

/* For those who make tables: texts are copied. */
extern SnapshotTable *snapshot_add_table(Snapshot *snapshot, const char *name, int num_columns, const char *const *columns);
extern void table_add_row(SnapshotTable *table, const char *const *cells);
extern void snapshot_add_gap(Snapshot *snapshot, const char *name, const char *reason);

#endif
