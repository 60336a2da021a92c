/*
 * pfs_status.c
 *	  Rows of pfs.status and pfs.probes.
 *
 * Everything here is computed when it is asked for; each part keeps its own counters.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "pfs_clock.h"
#include "pfs_container.h"
#include "pfs_fence.h"
#include "pfs_guc.h"
#include "pfs_memory.h"
#include "pfs_object_rules.h"
#include "pfs_part.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_status.h"

/*
 * Resets all losses and high-water marks of containers, and the counters of all parts:
 * TRUNCATE of containers and of status, which both show them.  No row leaves.
 */
int64
pfs_containers_reset(void)
{
	pfs_each_part(part)
	{
		if (part->pages != NULL)
			pfs_pages_reset_stats(*part->pages);
		if (part->reset != NULL)
			part->reset();
		for (int i = 0; i < PFS_PART_COUNTERS && part->counters[i].name != NULL; i++)
			pfs_store_relaxed(pfs_part_counter(part, i), 0);
	}
	pfs_reset_time_note("containers");
	pfs_reset_time_note("status");
	return 0;
}

/* A time in UTC, as SQL takes it back whatever the settings of the session are; nothing for 0. */
static const char *
time_text(TimestampTz time)
{
	struct pg_tm tm;
	fsec_t		fsec;
	char		text[MAXDATELEN + 1];

	if (time == 0 || timestamp2tm(time, NULL, &tm, &fsec, NULL, NULL) != 0)
		return "";
	EncodeDateTime(&tm, fsec, false, 0, NULL, USE_ISO_DATES, text);
	return psprintf("%s+00", text);
}

/*
 * Hands the rows of pfs.status to emit: first those that are no part's, then the counters of
 * the parts, then the losses of each container.  All containers are looked at once.
 */
void
pfs_status_each(PfsStatusEmit emit, void *arg)
{
	PfsContainerRow containers[PFS_CONTAINERS_MAX];
	int			n = 0;
	uint64		reserved = 0;
	uint64		resident = 0;

	for (; n < PFS_CONTAINERS_MAX && pfs_container_row(n, false, &containers[n]); n++)
	{
		reserved += containers[n].stats.bytes_reserved;
		resident += containers[n].stats.bytes_resident;
	}
	emit("pfs_start_time", timestamptz_to_str(pfs_clock->start_time), arg);
	emit("pfs_settings_refused", psprintf("%d", pfs_settings_refused), arg);
	emit("pfs_bytes_reserved", psprintf(UINT64_FORMAT, reserved), arg);
	emit("pfs_bytes_resident", psprintf(UINT64_FORMAT, resident), arg);
	emit("pfs_fence", pfs_fence_name(), arg);
	emit("pfs_totals_since", time_text(pfs_reset_time("events_statements_summary_by_digest")), arg);
	emit("pfs_saved_at", time_text((TimestampTz) pfs_load_relaxed(&pfs_setup->saved_at)), arg);
	emit("pfs_table_io_since", time_text(pfs_object_rules_counted_since()), arg);
	emit("pfs_memory_since", time_text(pfs_load_relaxed(&pfs_setup->memory_since)), arg);
	pfs_each_part(part)
	{
		for (int i = 0; i < PFS_PART_COUNTERS && part->counters[i].name != NULL; i++)
			emit(part->counters[i].name, psprintf(UINT64_FORMAT, pfs_load_relaxed(pfs_part_counter(part, i))), arg);
	}
	for (int i = 0; i < n; i++)
		emit(psprintf("pfs_%s_lost", containers[i].name),
			 psprintf(UINT64_FORMAT, containers[i].stats.records_lost), arg);
}

bool
pfs_probe_row(int i, PfsProbeRow *row)
{
	uint64		replaced = pfs_memory == NULL ? 0 : pfs_load_relaxed(&pfs_memory->processes_replaced);

	if (!pfs_probe_reported(i, row))
		return false;
	/* Processes found this later: each has method tables of its own. */
	if (replaced > 0 && row->mechanism != NULL && strcmp(row->mechanism, "method_table") == 0 && row->detail[0] == '\0')
		snprintf(row->detail, sizeof(row->detail),
				 "another library replaced methods in " UINT64_FORMAT " processes; its own stay there", replaced);
	return true;
}
