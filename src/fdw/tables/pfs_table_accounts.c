/*
 * pfs_table_accounts.c
 *	  accounts, users, hosts: how many connections there are and were.
 */
#include "postgres.h"

#include "pfs_summary.h"
#include "pfs_tables.h"
#include "pfs_value.h"

static void
add_account_cb(const PfsAccount *account, void *arg)
{
	*(PfsAccount *) pfs_scan_add(arg) = *account;
}

static Datum
name_datum(const PfsAccount *account, const char *name, bool *isnull)
{
	return account->named ? pfs_text_datum(name) : pfs_null(isnull);
}

enum
{
	USER_NAME,
	HOST,
	CURRENT_CONNECTIONS,
	TOTAL_CONNECTIONS,
};

static const PfsColumn account_columns[] = {
	[USER_NAME] = {"user_name", TEXTOID, .width = 12},
	[HOST] = {"host", TEXTOID, .width = 12},
	[CURRENT_CONNECTIONS] = {"current_connections", INT8OID},
	[TOTAL_CONNECTIONS] = {"total_connections", INT8OID},
};

static void
accounts_copy(PfsScan *scan)
{
	pfs_accounts_each(PFS_ACCOUNTS, add_account_cb, scan);
}

static Datum
accounts_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsAccount *account = row;

	switch (column)
	{
		case USER_NAME:
			return name_datum(account, account->user_name, isnull);
		case HOST:
			return name_datum(account, account->host_name, isnull);
		case CURRENT_CONNECTIONS:
			return Int64GetDatum((int64) account->current);
		default:
			return Int64GetDatum((int64) account->total);
	}
}

static double
accounts_estimate(void)
{
	return pfs_accounts_estimate(PFS_ACCOUNTS);
}

static int64
accounts_truncate(void)
{
	return pfs_summary_truncate_accounts(PFS_ACCOUNTS);
}

enum
{
	NAME,
	NAME_CURRENT_CONNECTIONS,
	NAME_TOTAL_CONNECTIONS,
};

static const PfsColumn user_columns[] = {
	[NAME] = {"user_name", TEXTOID, .width = 12},
	[NAME_CURRENT_CONNECTIONS] = {"current_connections", INT8OID},
	[NAME_TOTAL_CONNECTIONS] = {"total_connections", INT8OID},
};

static const PfsColumn host_columns[] = {
	[NAME] = {"host", TEXTOID, .width = 12},
	[NAME_CURRENT_CONNECTIONS] = {"current_connections", INT8OID},
	[NAME_TOTAL_CONNECTIONS] = {"total_connections", INT8OID},
};

static Datum
by_name_get(const PfsAccount *account, const char *name, int column, bool *isnull)
{
	switch (column)
	{
		case NAME:
			return name_datum(account, name, isnull);
		case NAME_CURRENT_CONNECTIONS:
			return Int64GetDatum((int64) account->current);
		default:
			return Int64GetDatum((int64) account->total);
	}
}

static void
users_copy(PfsScan *scan)
{
	pfs_accounts_each(PFS_USERS, add_account_cb, scan);
}

static Datum
users_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	return by_name_get(row, ((const PfsAccount *) row)->user_name, column, isnull);
}

static double
users_estimate(void)
{
	return pfs_accounts_estimate(PFS_USERS);
}

static int64
users_truncate(void)
{
	return pfs_summary_truncate_accounts(PFS_USERS);
}

static void
hosts_copy(PfsScan *scan)
{
	pfs_accounts_each(PFS_HOSTS, add_account_cb, scan);
}

static Datum
hosts_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	return by_name_get(row, ((const PfsAccount *) row)->host_name, column, isnull);
}

static double
hosts_estimate(void)
{
	return pfs_accounts_estimate(PFS_HOSTS);
}

static int64
hosts_truncate(void)
{
	return pfs_summary_truncate_accounts(PFS_HOSTS);
}

const PfsTable pfs_table_accounts = {
	.name = "accounts",
	.row_is = "one user on one client address",
	.truncate_effect = "removes rows without a connection, pushes the numbers of threads and accounts upward",
	.columns = account_columns,
	.ncolumns = lengthof(account_columns),
	.row_size = sizeof(PfsAccount),
	.estimate = accounts_estimate,
	.copy = accounts_copy,
	.get = accounts_get,
	.truncate = accounts_truncate,
};

const PfsTable pfs_table_users = {
	.name = "users",
	.row_is = "one user",
	.truncate_effect = "removes rows without a connection, pushes the numbers below upward, discards those of users",
	.columns = user_columns,
	.ncolumns = lengthof(user_columns),
	.row_size = sizeof(PfsAccount),
	.estimate = users_estimate,
	.copy = users_copy,
	.get = users_get,
	.truncate = users_truncate,
};

const PfsTable pfs_table_hosts = {
	.name = "hosts",
	.row_is = "one client address",
	.truncate_effect = "removes rows without a connection, pushes the numbers below upward",
	.columns = host_columns,
	.ncolumns = lengthof(host_columns),
	.row_size = sizeof(PfsAccount),
	.estimate = hosts_estimate,
	.copy = hosts_copy,
	.get = hosts_get,
	.truncate = hosts_truncate,
};
