/*
 * pfs_table_tallies.c
 *	  tallies_summary_{global,by_thread,by_account,by_user,by_host}.
 */
#include "postgres.h"

#include "pfs_levels.h"
#include "pfs_tables.h"
#include "pfs_tally.h"

PFS_LEVEL_ROW(TallyRow, PfsTallyCell);

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	X(t, count_star, bigint, count, row->totals.count, "How often it was tallied.") \
	X(t, sum_amount, bigint, count, row->totals.amount, "How much of it.")

PFS_LEVEL_TABLE(tallies_by_thread, TALLIES, THREAD, TallyRow, COLUMNS, PFS_TALLY_COLOURS, "tallies_summary_by_thread", "own",
				"one colour of one living thread", PFS_THREAD_EFFECT, "Tallies by living thread.");
PFS_LEVEL_TABLE(tallies_by_account, TALLIES, ACCOUNT, TallyRow, COLUMNS, PFS_TALLY_COLOURS, "tallies_summary_by_account", "own",
				"one colour of one account", PFS_ACCOUNT_EFFECT, "Tallies by account.");
PFS_LEVEL_TABLE(tallies_by_user, TALLIES, USER, TallyRow, COLUMNS, PFS_TALLY_COLOURS, "tallies_summary_by_user", "own",
				"one colour of one user", PFS_USER_EFFECT, "Tallies by user.");
PFS_LEVEL_TABLE(tallies_by_host, TALLIES, HOST, TallyRow, COLUMNS, PFS_TALLY_COLOURS, "tallies_summary_by_host", "own",
				"one colour of one client address", PFS_HOST_EFFECT, "Tallies by client address.");
PFS_LEVEL_TABLE(tallies_global, TALLIES, GLOBAL, TallyRow, COLUMNS, PFS_TALLY_COLOURS, "tallies_summary_global", "own",
				"one colour", "zeroes all levels", "Tallies of the whole server.");
