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

static void
add_account_cb(const PfsAccount *account, void *arg)
{
	*(PfsAccount *) pfs_scan_add(arg) = *account;
}

#define CONNECTIONS_COLUMNS(X, t) \
	X(t, current_connections, bigint, count, pfs_connections_now(row->connections), "Connections now.") \
	X(t, total_connections, bigint, count, pfs_connections_total(row->connections), "Connections since the last TRUNCATE.")

#define ACCOUNTS_COLUMNS(X, t) PFS_USER_COLUMN(X, t, row) PFS_HOST_COLUMN(X, t, row) CONNECTIONS_COLUMNS(X, t)
#define USERS_COLUMNS(X, t) PFS_USER_COLUMN(X, t, row) CONNECTIONS_COLUMNS(X, t)
#define HOSTS_COLUMNS(X, t) PFS_HOST_COLUMN(X, t, row) CONNECTIONS_COLUMNS(X, t)

PFS_COLUMNS(accounts, PfsAccount, ACCOUNTS_COLUMNS)
PFS_COLUMNS(users, PfsAccount, USERS_COLUMNS)
PFS_COLUMNS(hosts, PfsAccount, HOSTS_COLUMNS)

static void
copy(PfsScan *scan)
{
	pfs_accounts_read(scan->table->part, add_account_cb, scan);
}

static int64
truncate_part(const PfsTable *table)
{
	return pfs_summary_truncate_accounts(table->part);
}

/* What the tables have besides their columns; KIND: which records. */
#define ACCOUNT_TABLE(KIND) \
	.part = KIND, \
	.containers = {&pfs_accounts[KIND].pages}, \
	.copy = copy, \
	.truncate_part = truncate_part

const PfsTable pfs_table_accounts = {
	PFS_TABLE("accounts", accounts, "MySQL",
			  "one user on one client address",
			  "removes rows without a connection, moves the counters of threads and accounts upward",
			  "Accounts: users on client addresses. Failed logins and parallel workers do not count; background "
			  "processes share one row with NULLs. TRUNCATE removes rows without a connection and pushes the "
			  "summaries of threads and accounts upward."),
	ACCOUNT_TABLE(PFS_ACCOUNTS),
};

const PfsTable pfs_table_users = {
	PFS_TABLE("users", users, "MySQL",
			  "one user",
			  "removes rows without a connection, moves the counters below upward, discards those of users",
			  "Users that are or were connected. Background processes share one row with NULL. TRUNCATE removes "
			  "rows without a connection; the summaries below are pushed upward, those of users discarded."),
	ACCOUNT_TABLE(PFS_USERS),
};

const PfsTable pfs_table_hosts = {
	PFS_TABLE("hosts", hosts, "MySQL",
			  "one client address",
			  "removes rows without a connection, moves the counters below upward",
			  "Client addresses that are or were connected. Background processes share one row with NULL. TRUNCATE "
			  "removes rows without a connection and pushes the summaries below upward."),
	ACCOUNT_TABLE(PFS_HOSTS),
};
