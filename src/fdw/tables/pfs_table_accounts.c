/*
 * pfs_table_accounts.c
 *	  accounts, users, hosts: how many connections there are and were.
 *
 * All three read records of one kind, PfsAccount, so they share a file.
 */
#include "postgres.h"

#include "pfs_account_read.h"
#include "pfs_levels.h"
#include "pfs_summary.h"
#include "pfs_tables.h"
#include "pfs_value.h"

static void
add_account_cb(const PfsAccount *account, void *arg)
{
	*(PfsAccount *) pfs_scan_add(arg) = *account;
}

#define USER_COLUMN(X, t) \
	X(t, user_name, text, none, row->named ? row->user_name : NULL, \
	  "The authenticated role; NULL for background processes, (others) for roles that gave their places away.", \
	  .width = 12)

#define HOST_COLUMN(X, t) \
	X(t, host, text, none, row->named ? row->host_name : NULL, \
	  "Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that " \
	  "gave their places away.", .width = 12)

#define CONNECTIONS_COLUMNS(X, t) \
	X(t, current_connections, bigint, count, row->current, "Connections now.") \
	X(t, total_connections, bigint, count, row->total, \
	  "Connections since the last TRUNCATE.")

#define ACCOUNTS_COLUMNS(X, t) USER_COLUMN(X, t) HOST_COLUMN(X, t) CONNECTIONS_COLUMNS(X, t)
#define USERS_COLUMNS(X, t) USER_COLUMN(X, t) CONNECTIONS_COLUMNS(X, t)
#define HOSTS_COLUMNS(X, t) HOST_COLUMN(X, t) CONNECTIONS_COLUMNS(X, t)

/* The functions of one of the tables; KIND: which records. */
#define ACCOUNT_TABLE_FUNCTIONS(t, KIND, LIST) \
PFS_COLUMNS(t, PfsAccount, LIST) \
static void \
t##_copy(PfsScan *scan) \
{ \
	pfs_accounts_read(KIND, add_account_cb, scan); \
} \
static int64 \
t##_truncate(void) \
{ \
	return pfs_summary_truncate_accounts(KIND); \
}

ACCOUNT_TABLE_FUNCTIONS(accounts, PFS_ACCOUNTS, ACCOUNTS_COLUMNS)
ACCOUNT_TABLE_FUNCTIONS(users, PFS_USERS, USERS_COLUMNS)
ACCOUNT_TABLE_FUNCTIONS(hosts, PFS_HOSTS, HOSTS_COLUMNS)

const PfsTable pfs_table_accounts = {
	PFS_TABLE("accounts", accounts, "MySQL",
			  "one user on one client address",
			  "removes rows without a connection, moves the counters of threads and accounts upward",
			  "Accounts: users on client addresses. Failed logins and parallel workers do not count; background "
			  "processes share one row with NULLs. TRUNCATE removes rows without a connection and pushes the "
			  "summaries of threads and accounts upward."),
	.row_size = sizeof(PfsAccount),
	.container = &pfs_accounts[PFS_ACCOUNTS].pages,
	.copy = accounts_copy,
	.truncate = accounts_truncate,
};

const PfsTable pfs_table_users = {
	PFS_TABLE("users", users, "MySQL",
			  "one user",
			  "removes rows without a connection, moves the counters below upward, discards those of users",
			  "Users that are or were connected. Background processes share one row with NULL. TRUNCATE removes "
			  "rows without a connection; the summaries below are pushed upward, those of users discarded."),
	.row_size = sizeof(PfsAccount),
	.container = &pfs_accounts[PFS_USERS].pages,
	.copy = users_copy,
	.truncate = users_truncate,
};

const PfsTable pfs_table_hosts = {
	PFS_TABLE("hosts", hosts, "MySQL",
			  "one client address",
			  "removes rows without a connection, moves the counters below upward",
			  "Client addresses that are or were connected. Background processes share one row with NULL. TRUNCATE "
			  "removes rows without a connection and pushes the summaries below upward."),
	.row_size = sizeof(PfsAccount),
	.container = &pfs_accounts[PFS_HOSTS].pages,
	.copy = hosts_copy,
	.truncate = hosts_truncate,
};
