/*
 * pfs_instr_method.c
 *	  Structs of methods of tables and indexes: whose they are, giving a process ours, and
 *	  their rows of pfs.probes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"

#include "pfs_instr.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_table.h"
#include "pfs_probe_row.h"
#include "pfs_relro.h"

/* A function of the server in another one's place: not the struct that we know. */
PfsMethodJudgement
pfs_method_struct_judge(const PfsCompatMethod *methods, int n)
{
	PfsMethodJudgement judgement = PFS_METHODS_ARE_SERVERS;

	for (int i = 0; i < n; i++)
	{
		if (methods[i].found == methods[i].expected)
			continue;
		if (methods[i].found == NULL || methods[i].expected == NULL || pfs_relro_is_code(methods[i].found))
			return PFS_METHODS_ARE_UNKNOWN;
		judgement = PFS_METHODS_ARE_CHAINED;
	}
	return judgement;
}

/* Exchanges the methods of this process, one by one. */
int
pfs_method_struct_switch(const PfsMethodStruct *methods, bool on)
{
	bool		others;
	int			err = pfs_relro_write(methods->place, on ? methods->real : methods->ours, on ? methods->ours : methods->real,
									  methods->n, &others);

	if (err == 0 && others)
		pfs_hook_called(PFS_HOOK_METHODS_REPLACED);
	return err;
}

/* Fills in the row when it is read: has a process found another library's methods? */
static void
look_cb(PfsProbeRow *row, int unused)
{
	if (pfs_hook_was_seen(PFS_HOOK_METHODS_REPLACED))
		strlcpy(row->detail, "another library has replaced methods in some processes since; calls of those go past pfs",
				sizeof(row->detail));
}

/* Reports methods as a row of pfs.probes, with why they cannot be watched or what is different. */
void
pfs_method_struct_report(const char *access_method, PfsMethodJudgement judgement, const char *why_not)
{
	PfsProbeRow row = {.mechanism = "method_table", .target = access_method, .status = "active"};

	if (why_not != NULL)
	{
		row.status = "unavailable";
		strlcpy(row.detail, why_not, sizeof(row.detail));
	}
	else
	{
		row.look = look_cb;
		if (judgement == PFS_METHODS_ARE_CHAINED)
			strlcpy(row.detail, "another library had replaced methods before; it is called, and each call is timed",
					sizeof(row.detail));
	}
	pfs_probe_report(&row);
}

/* ---- access methods of extensions ---- */

/*
 * Fills in the row when it is read, in a session: names the access methods of its database whose
 * handlers are not the server's.
 */
static void
look_at_access_methods_cb(PfsProbeRow *row, int unused)
{
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	size_t		used;

	if (!IsTransactionState())
		return;
	rel = table_open(AccessMethodRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_am	am = (Form_pg_am) GETSTRUCT(tuple);

		/* Another name for one of the server's is watched, too. */
		if (am->amhandler < FirstNormalObjectId)
			continue;
		row->status = "unavailable";
		used = strlen(row->detail);
		snprintf(row->detail + used, sizeof(row->detail) - used, "%s%s", used == 0 ? "not watched: " : ", ",
				 NameStr(am->amname));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Makes the row of access methods that are not watched. */
void
pfs_access_methods_report(void)
{
	PfsProbeRow row = {.name = "method_table/extensions", .mechanism = "method_table",
	.target = "access methods of extensions", .status = "active", .look = look_at_access_methods_cb};

	pfs_probe_report(&row);
}
