/*
 * pfs_progress.c
 *	  Phases of the commands that report their progress, and which of a
 *	  command's parameters count the work of each.
 *
 * The server keeps one array of parameters for a command.  Each phase uses its own
 * pair of them, work done and all work, and the server clears a pair or uses it
 * again as soon as the phase is over, often before it says that the next one has
 * begun.  So the work of a phase is looked at while it lasts, never goes back, and is
 * complete when the command has gone on to what comes next.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_am_d.h"

#include "pfs_compat_progress.h"
#include "pfs_progress.h"

/* The most phases of a command. */
#define PHASES_MAX 16

/*
 * The phase "building index" takes blocks of the table first and tuples of the index
 * afterwards.  A B-tree says more about where it is, and these follow the phases that
 * all access methods have.
 */
#define BUILD_BTREE 10
#define BUILD_LOAD (BUILD_BTREE + PROGRESS_BTREE_PHASE_LEAF_LOAD)

/* Work done and all work, and the instrument, which is made at the start. */
#define WORK(completed, estimated) completed, estimated, PFS_NO_INSTRUMENT
#define NO_WORK WORK(PFS_PROGRESS_NONE, PFS_PROGRESS_NONE)
#define WAITED_FOR WORK(PROGRESS_WAITFOR_DONE, PROGRESS_WAITFOR_TOTAL)
#define SCANNED_BLOCKS WORK(PROGRESS_SCAN_BLOCKS_DONE, PROGRESS_SCAN_BLOCKS_TOTAL)
#define INDEX_TUPLES WORK(PROGRESS_CREATEIDX_TUPLES_DONE, PROGRESS_CREATEIDX_TUPLES_TOTAL)
#define VACUUMED_INDEXES WORK(PFS_VACUUM_INDEXES_PROCESSED, PFS_VACUUM_INDEXES_TOTAL)
#define STREAMED_BYTES WORK(PROGRESS_BASEBACKUP_BACKUP_STREAMED, PROGRESS_BASEBACKUP_BACKUP_TOTAL)

/* Phases in the order of the server's numbers.  They are constant but for their instruments. */
static struct
{
	ProgressCommandType command;
	const char *word;
	int			phase;			/* its parameter; PFS_PROGRESS_NONE: there is
								 * only one phase */
	PfsProgressPhase phases[PHASES_MAX];
}			commands[] =

{
	{PROGRESS_COMMAND_VACUUM, "vacuum", PROGRESS_VACUUM_PHASE,
		{
			{"initializing", NO_WORK},
			{"scanning_heap", WORK(PROGRESS_VACUUM_HEAP_BLKS_SCANNED, PROGRESS_VACUUM_TOTAL_HEAP_BLKS)},
			{"vacuuming_indexes", VACUUMED_INDEXES},
			{"vacuuming_heap", WORK(PROGRESS_VACUUM_HEAP_BLKS_VACUUMED, PROGRESS_VACUUM_TOTAL_HEAP_BLKS)},
			{"cleaning_up_indexes", VACUUMED_INDEXES},
			{"truncating_heap", NO_WORK},
			{"performing_final_cleanup", NO_WORK},
		},
	},
	{PROGRESS_COMMAND_ANALYZE, "analyze", PROGRESS_ANALYZE_PHASE,
		{
			{"initializing", NO_WORK},
			{"acquiring_sample_rows", WORK(PROGRESS_ANALYZE_BLOCKS_DONE, PROGRESS_ANALYZE_BLOCKS_TOTAL)},
			/* Blocks begin again with each child. */
			{"acquiring_inherited_sample_rows", WORK(PROGRESS_ANALYZE_CHILD_TABLES_DONE, PROGRESS_ANALYZE_CHILD_TABLES_TOTAL)},
			{"computing_statistics", NO_WORK},
			{"computing_extended_statistics", WORK(PROGRESS_ANALYZE_EXT_STATS_COMPUTED, PROGRESS_ANALYZE_EXT_STATS_TOTAL)},
			{"finalizing_analyze", NO_WORK},
		},
	},
	{PFS_REWRITE_COMMAND, PFS_REWRITE_WORD, PFS_REWRITE_PHASE,
		{
			{"initializing", NO_WORK},
			{"seq_scanning_heap", WORK(PFS_REWRITE_BLKS_SCANNED, PFS_REWRITE_BLKS_TOTAL)},
			{"index_scanning_heap", WORK(PFS_REWRITE_TUPLES_SCANNED, PFS_PROGRESS_NONE)},
			{"sorting_tuples", NO_WORK},

			/*
			 * What has been scanned for the sort is all that there is to
			 * write.
			 */
			{"writing_new_heap", WORK(PFS_REWRITE_TUPLES_WRITTEN, PFS_REWRITE_TUPLES_SCANNED)},
			PFS_REWRITE_CATCHING_UP
			{"swapping_relation_files", NO_WORK},
			{"rebuilding_index", WORK(PFS_REWRITE_INDEX_REBUILD_COUNT, PFS_PROGRESS_NONE)},
			{"performing_final_cleanup", NO_WORK},
		},
	},
	{PROGRESS_COMMAND_CREATE_INDEX, "create_index", PROGRESS_CREATEIDX_PHASE,
		{
			{"initializing", NO_WORK},
			{"waiting_for_writers_before_build", WAITED_FOR},
			{"building_index", SCANNED_BLOCKS},
			{"waiting_for_writers_before_validation", WAITED_FOR},
			{"index_validation_scanning_index", SCANNED_BLOCKS},
			{"index_validation_sorting_tuples", NO_WORK},
			{"index_validation_scanning_table", SCANNED_BLOCKS},
			{"waiting_for_old_snapshots", WAITED_FOR},
			{"waiting_for_readers_before_marking_dead", WAITED_FOR},
			{"waiting_for_readers_before_dropping", WAITED_FOR},

			[BUILD_BTREE] = {"building_index_initializing", NO_WORK},
			[BUILD_BTREE + PROGRESS_BTREE_PHASE_INDEXBUILD_TABLESCAN - 1] =
			{"building_index_scanning_table", SCANNED_BLOCKS},
			[BUILD_BTREE + PROGRESS_BTREE_PHASE_PERFORMSORT_1 - 1] =
			{"building_index_sorting_live_tuples", NO_WORK},
			[BUILD_BTREE + PROGRESS_BTREE_PHASE_PERFORMSORT_2 - 1] =
			{"building_index_sorting_dead_tuples", NO_WORK},
			[BUILD_BTREE + PROGRESS_BTREE_PHASE_LEAF_LOAD - 1] =
			{"building_index_loading_tuples_in_tree", INDEX_TUPLES},
			/* Other access methods that count tuples do so behind the scan. */
			[BUILD_LOAD] = {"building_index_loading_tuples", INDEX_TUPLES},
		},
	},
	{PROGRESS_COMMAND_BASEBACKUP, "basebackup", PROGRESS_BASEBACKUP_PHASE,
		{
			{"initializing", NO_WORK},
			{"waiting_for_checkpoint_to_finish", NO_WORK},
			{"estimating_backup_size", NO_WORK},
			{"streaming_database_files", STREAMED_BYTES},
			{"waiting_for_wal_archiving_to_finish", NO_WORK},
			{"transferring_wal_files", STREAMED_BYTES},
		},
	},
	{PROGRESS_COMMAND_COPY, "copy", PFS_PROGRESS_NONE,
		{
			{"copying", WORK(PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_BYTES_TOTAL)},
		},
	},
};

StaticAssertDecl(BUILD_LOAD < PHASES_MAX, "all phases of CREATE INDEX have their places");

/*
 * Registers an instrument for each phase of each command, between the other stages and
 * the statements: pfs_stage_cell() counts on all stages being registered in one go.
 * Places without a phase keep PFS_NO_INSTRUMENT.
 */
void
pfs_progress_start(void)
{
	static const char documentation[] =
	"Phase of a command that reports its progress; noticed by the next wait or call, so late by that much.";

	for (int c = 0; c < lengthof(commands); c++)
	{
		for (PfsProgressPhase *p = commands[c].phases; p < commands[c].phases + PHASES_MAX; p++)
			p->instrument = p->word == NULL ? PFS_NO_INSTRUMENT
				: pfs_instrument_make(PFS_CLASS_STAGE, documentation, "stage/progress/%s/%s", commands[c].word, p->word);
	}
}

/*
 * Returns the place of the current phase in the list of its command, by the server's number of
 * it.  While an index is built, the subphase of a B-tree decides, and for other access methods whether
 * tuples are counted already.
 */
static int64
number_of_phase(int command, int64 phase, const int64 *params)
{
	if (command == PROGRESS_COMMAND_CREATE_INDEX && phase == PROGRESS_CREATEIDX_PHASE_BUILD)
	{
		int64		sub = params[PROGRESS_CREATEIDX_SUBPHASE];

		if (params[PROGRESS_CREATEIDX_ACCESS_METHOD_OID] == BTREE_AM_OID)
			return sub >= PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE && sub <= PROGRESS_BTREE_PHASE_LEAF_LOAD
				? BUILD_BTREE + sub - 1 : phase;
		return params[PROGRESS_CREATEIDX_TUPLES_TOTAL] > 0 ? BUILD_LOAD : phase;
	}
	return phase;
}

/* Returns the phase that a command is in by its parameters. */
const PfsProgressPhase *
pfs_progress_phase(int command, const int64 *params)
{
	/* The command that was asked for last. */
	static int	last = 0;
	int			c = last;
	int64		phase;

	if (commands[c].command != command)
	{
		for (c = 0; c < lengthof(commands) && commands[c].command != command; c++)
			;
		if (c == lengthof(commands))
			return NULL;
		last = c;
	}
	if (commands[c].phase == PFS_PROGRESS_NONE)
		return &commands[c].phases[0];
	phase = number_of_phase(command, params[commands[c].phase], params);
	return phase >= 0 && phase < PHASES_MAX ? &commands[c].phases[phase] : NULL;
}

/* Returns the phase of an instrument, NULL: it is no phase's. */
static const PfsProgressPhase *
phase_of(PfsInstrumentId instrument)
{
	for (int c = 0; c < lengthof(commands); c++)
	{
		for (int p = 0; p < PHASES_MAX; p++)
		{
			if (commands[c].phases[p].instrument == instrument)
				return &commands[c].phases[p];
		}
	}
	return NULL;
}

/*
 * Updates the work of a stage from the parameters of its command, for pfs_stage.c, with
 * the process's own parameters or with a copy of another process's.
 *
 * The parameters may be those of a later phase.  If that one uses the same pair, all work
 * of ours was done; if not, our pair still has its last values.  An estimate that was
 * cleared says the same: the phase is complete.  Values that went back are those of
 * another run of the phase, which is left to the caller.
 */
bool
pfs_progress_work(PfsInstrumentId instrument, const PfsProgressPhase *now, const int64 *params, bool over,
				  int64 *completed, int64 *estimated)
{
	const PfsProgressPhase *phase = now;
	bool		ended = over;
	int64		done;
	int64		all;

	if (now == NULL)
		return true;
	if (unlikely(now->instrument != instrument))
	{
		ended = true;
		phase = phase_of(instrument);
		if (phase == NULL)
			return true;
		if (phase->completed == now->completed)
		{
			pfs_progress_complete(completed, estimated);
			return true;
		}
	}
	if (phase->completed == PFS_PROGRESS_NONE)
		return true;
	done = params[phase->completed];
	all = phase->estimated == PFS_PROGRESS_NONE ? 0 : params[phase->estimated];
	if (*estimated > 0 && all <= 0)
	{
		/* Cleared, as the phase is about to end. */
		pfs_progress_complete(completed, estimated);
		return true;
	}
	/* A scan that is at its first block says that it has read all of them. */
	if (phase->completed == PROGRESS_SCAN_BLOCKS_DONE && done == all && *completed <= 0 && !ended)
		done = 0;
	if (done < *completed || (*estimated > 0 && all < *estimated))
		return false;
	*completed = done;
	if (all > 0)
		*estimated = all;
	return true;
}
