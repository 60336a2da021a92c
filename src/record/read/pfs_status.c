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
#include "pfs_memory.h"
#include "pfs_object_rules.h"
#include "pfs_part.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_status.h"

/* What rows of pfs.status are made of: all containers, looked at once. */
struct PfsStatus
{
	PfsContainerRow containers[PFS_CONTAINERS_MAX];
	int			n;
	uint64		reserved;		/* bytes of all */
	uint64		resident;
};

/*
 * Resets all losses and high-water marks of containers, and the counters of all parts:
 * TRUNCATE of containers and of status.
 */
void
pfs_containers_reset(void)
{
	if (!pfs_is_active())
		return;
	for (const PfsPart *part = pfs_parts; part < pfs_parts + pfs_num_parts; part++)
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
}

PfsStatus *
pfs_status_make(void)
{
	PfsStatus  *status = palloc0(sizeof(PfsStatus));

	while (status->n < PFS_CONTAINERS_MAX && pfs_container_row(status->n, &status->containers[status->n]))
	{
		status->reserved += status->containers[status->n].stats.bytes_reserved;
		status->resident += status->containers[status->n].stats.bytes_resident;
		status->n++;
	}
	return status;
}

/* Rows of pfs.status that are no part's: before the others. */
typedef enum StatusRow
{
	STATUS_START_TIME,
	STATUS_SETTINGS_REFUSED,
	STATUS_BYTES_RESERVED,
	STATUS_BYTES_RESIDENT,
	STATUS_FENCE,
	STATUS_TOTALS_SINCE,
	STATUS_SAVED_AT,
	STATUS_TABLE_SINCE,
} StatusRow;

#define NUM_STATUS_ROWS (STATUS_TABLE_SINCE + 1)

static const char *const status_names[] = {
	[STATUS_START_TIME] = "pfs_start_time",
	[STATUS_SETTINGS_REFUSED] = "pfs_settings_refused",
	[STATUS_BYTES_RESERVED] = "pfs_bytes_reserved",
	[STATUS_BYTES_RESIDENT] = "pfs_bytes_resident",
	[STATUS_FENCE] = "pfs_fence",
	[STATUS_TOTALS_SINCE] = "pfs_totals_since",
	[STATUS_SAVED_AT] = "pfs_saved_at",
	[STATUS_TABLE_SINCE] = "pfs_table_io_since",
};

StaticAssertDecl(lengthof(status_names) == NUM_STATUS_ROWS, "a row of status has no name");

/*
 * Writes a time in UTC, as SQL takes it back whatever the settings of the session are;
 * nothing for 0.
 */
static void
write_time(TimestampTz time, char *value, size_t size)
{
	struct pg_tm tm;
	fsec_t		fsec;
	char text[	MAXDATELEN + 1];

	value[0] = '\0';
	if (time == 0 || timestamp2tm(time, NULL, &tm, &fsec, NULL, NULL) != 0)
		return;
	EncodeDateTime(&tm, fsec, false, 0, NULL, USE_ISO_DATES, text);
	snprintf(value, size, "%s+00", text);
}

/* Writes the value of a row that is no part's. */
static void
own_row(const PfsStatus *status, StatusRow row, char *value, size_t size)
{
	switch (row)
	{
		case STATUS_START_TIME:
			strlcpy(value, timestamptz_to_str(pfs_clock->start_time), size);
			break;
		case STATUS_SETTINGS_REFUSED:
			snprintf(value, size, "%u", pfs_setup->settings_refused);
			break;
		case STATUS_BYTES_RESERVED:
			snprintf(value, size, UINT64_FORMAT, status->reserved);
			break;
		case STATUS_BYTES_RESIDENT:
			snprintf(value, size, UINT64_FORMAT, status->resident);
			break;
		case STATUS_FENCE:
			strlcpy(value, pfs_fence_name(), size);
			break;
		case STATUS_TOTALS_SINCE:
			write_time(pfs_reset_time("events_statements_summary_by_digest"), value, size);
			break;
		case STATUS_SAVED_AT:
			write_time((TimestampTz) pfs_load_relaxed(&pfs_setup->saved_at), value, size);
			break;
		case STATUS_TABLE_SINCE:
			write_time(pfs_object_rules_counted_since(), value, size);
			break;
	}
}

/*
 * Finds the part that has the i-th of all parts' counters, and makes *i the
 * counter's place in it.  Past the last counter it returns NULL, and *i is what is
 * left of it.
 */
static const PfsPart *
find_counter(int *i)
{
	for (const PfsPart *part = pfs_parts; part < pfs_parts + pfs_num_parts; part++)
	{
		int			n = 0;

		while (n < PFS_PART_COUNTERS && part->counters[n].name != NULL)
			n++;
		if (*i < n)
			return part;
		*i -= n;
	}
	return NULL;
}

/*
 * Writes name and value of the i-th row of pfs.status; false past the end.  First
 * come the rows that are no part's, then the counters of the parts, then the losses
 * of each container.
 */
bool
pfs_status_row(const PfsStatus *status, int i, char *name, size_t name_size, char *value, size_t value_size)
{
	const PfsPart *part;

	if (!pfs_is_active())
		return false;
	if (i < NUM_STATUS_ROWS)
	{
		strlcpy(name, status_names[i], name_size);
		own_row(status, (StatusRow) i, value, value_size);
		return true;
	}
	i -= NUM_STATUS_ROWS;
	part = find_counter(&i);
	if (part != NULL)
	{
		strlcpy(name, part->counters[i].name, name_size);
		snprintf(value, value_size, UINT64_FORMAT, pfs_load_relaxed(pfs_part_counter(part, i)));
		return true;
	}
	if (i >= status->n)
		return false;
	snprintf(name, name_size, "pfs_%s_lost", status->containers[i].name);
	snprintf(value, value_size, UINT64_FORMAT, status->containers[i].stats.records_lost);
	return true;
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
