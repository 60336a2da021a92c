/*
 * pfs_status.c
 *	  Rows of pfs.containers, pfs.status and pfs.probes.
 *
 * Everything here is computed when asked for; the counters live with what they
 * count.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_actor.h"
#include "pfs_digest.h"
#include "pfs_error.h"
#include "pfs_event_write.h"
#include "pfs_fence.h"
#include "pfs_file.h"
#include "pfs_file_sum.h"
#include "pfs_lwlock_event.h"
#include "pfs_memory.h"
#include "pfs_patience.h"
#include "pfs_prepared.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_socket.h"
#include "pfs_status.h"
#include "pfs_summary.h"

#define PROBES_MAX 128
#define CONTAINERS_MAX 48

/* What rows of pfs.status are made of: all containers at one moment. */
struct PfsStatus
{
	PfsContainerRow containers[CONTAINERS_MAX];
	int			n;
	uint64		reserved;		/* bytes of all */
	uint64		resident;
};

/* Postmaster memory, inherited; needed even where pfs is off. */
static PfsProbeRow probes[PROBES_MAX];
static int	nprobes = 0;

PfsSharedHooks *pfs_shared_hooks = NULL;

static bool
pages_row(const PfsPages *pages, PfsContainerRow *row)
{
	row->name = pfs_pages_name(pages);
	row->record_size = pfs_pages_record_size(pages);
	pfs_pages_stats((PfsPages *) pages, &row->stats);
	if (pages == pfs_file_sums)
	{
		/* The totals by event name are no records, but bytes. */
		row->stats.bytes_reserved += pfs_file_totals_size();
		row->stats.bytes_resident += pfs_file_totals_size();
	}
	if (pages == pfs_lwlocks)
	{
		row->stats.bytes_reserved += pfs_lwlock_holders_size();
		row->stats.bytes_resident += pfs_lwlock_holders_size();
	}
	if (pages == pfs_digests)
	{
		row->stats.bytes_reserved += pfs_digests_extra_size();
		row->stats.bytes_resident += pfs_digests_extra_size();
	}
	return true;
}

/* A container that is one block: what is reserved is what it is. */
static bool
block_row(PfsContainerRow *row, const char *name, uint64 record_size, uint64 max, uint64 used,
		  uint64 lost, uint64 bytes)
{
	memset(row, 0, sizeof(*row));
	row->name = name;
	row->record_size = record_size;
	row->stats.records_max = max;
	row->stats.records_used = used;
	row->stats.records_high_water = used;
	row->stats.records_lost = lost;
	row->stats.pages_max = bytes > 0 ? 1 : 0;
	row->stats.pages_resident = bytes > 0 ? 1 : 0;
	row->stats.bytes_reserved = bytes;
	row->stats.bytes_resident = bytes;
	return true;
}

/* Lives inside the thread records: no bytes of its own. */
static bool
in_thread_row(PfsContainerRow *row, PfsEventFamily family, const char *name, uint32 per_thread, uint64 lost)
{
	block_row(row, name, pfs_sizes.event_size[family], (uint64) per_thread * pfs_sizes.threads,
			  (uint64) (pfs_threads_estimate() * per_thread), lost, 0);
	return true;
}

/* Containers of pages, in the order in which pfs.containers shows them. */
static PfsPages *const *const page_containers[] = {
	&pfs_threads,
	&pfs_files,
	&pfs_file_names,
	&pfs_file_sums,
	&pfs_sockets,
	&pfs_prepared,
	&pfs_accounts[PFS_ACCOUNTS].pages,
	&pfs_accounts[PFS_USERS].pages,
	&pfs_accounts[PFS_HOSTS].pages,
	&pfs_thread_histograms,
	&pfs_actors,
	&pfs_lwlocks,
	&pfs_digests,
	&pfs_digest_waits,
};

static bool
instruments_row(PfsContainerRow *row)
{
	uint64		each = sizeof(PfsInstrument) + sizeof(uint32);

	return block_row(row, "instruments", each, pfs_instruments->max,
					 Min(pfs_instruments->count, pfs_instruments->max),
					 pfs_instruments->lost, pfs_instruments->max * each);
}

static void
count_cb(const PfsEvent *event, void *arg)
{
	(*(uint64 *) arg)++;
}

/* What the long history of waits keeps of LWLocks. */
static bool
add_lwlocks(PfsContainerRow *row)
{
	uint64		used = row->stats.records_used;

	if (pfs_lwlock_log == NULL)
		return true;
	pfs_lwlock_log_each(count_cb, &used);
	row->stats.records_used = row->stats.records_high_water = Min(used, row->stats.records_max);
	row->stats.records_lost += pfs_log_lost(pfs_lwlock_log) * PFS_LWLOCK_BLOCK;
	row->stats.bytes_reserved += pfs_log_bytes(pfs_lwlock_log);
	row->stats.bytes_resident += pfs_log_bytes(pfs_lwlock_log);
	return true;
}

/* Current, history and long history of a family. */
static bool
events_row(PfsEventFamily family, int i, PfsContainerRow *row)
{
	const PfsEventFamilyInfo *info = &pfs_event_families[family];
	uint32		size = pfs_sizes.event_size[family];
	PfsLog	   *log = pfs_history_long[family];

	if (i == 0)
		return in_thread_row(row, family, info->current, info->depth,
							 pfs_shared_threads->too_deep[family]);
	if (i == 1)
		return in_thread_row(row, family, info->history, pfs_sizes.history[family], 0);
	if (log == NULL)
		return block_row(row, info->history_long, size, 0, 0, 0, 0);
	return block_row(row, info->history_long, size, pfs_sizes.history_long[family],
					 Min(pfs_log_count(log), pfs_sizes.history_long[family]),
					 pfs_log_lost(log), pfs_log_bytes(log)) &&
		(family != PFS_WAITS || add_lwlocks(row));
}

/* The server's own numbers by instrument, and its histograms. */
static bool
summary_row(PfsContainerRow *row)
{
	uint32		n = pfs_summary[PFS_FAMILY_WAITS].ncells;
	uint64		bytes = pfs_summary_cells_size(PFS_FAMILY_WAITS, n) + pfs_summary_buckets_size(n);

	return block_row(row, "events_waits_summary_global", bytes / n, n, Min(pfs_instruments->count, n), 0, bytes);
}

/* The same of memory; lost: allocations, and processes, that could not be kept account of. */
static bool
memory_row(PfsContainerRow *row)
{
	uint32		n = pfs_summary[PFS_FAMILY_MEMORY].ncells;
	uint64		bytes = pfs_summary_cells_size(PFS_FAMILY_MEMORY, n);

	return block_row(row, "memory_summary_global", n > 0 ? bytes / n : 0, n,
					 pfs_instruments->ncells[PFS_FAMILY_MEMORY],
					 pfs_memory->chunks_lost + pfs_memory->processes_lost, bytes);
}

/*
 * The same of the families of statements, and of errors: their numbers of threads,
 * accounts, users and hosts lie in those containers.
 */
static bool
family_row(PfsContainerRow *row, PfsFamily family, const char *name, uint64 used, uint64 lost)
{
	uint32		n = pfs_summary[family].ncells;
	uint64		bytes = pfs_summary_cells_size(family, n);

	return block_row(row, name, bytes / n, n, used, lost, bytes);
}

static bool
stages_row(PfsContainerRow *row)
{
	return family_row(row, PFS_FAMILY_STAGES, "events_stages_summary_global",
					  pfs_instruments->ncells[PFS_FAMILY_STAGES], 0);
}

static bool
statements_row(PfsContainerRow *row)
{
	return family_row(row, PFS_FAMILY_STATEMENTS, "events_statements_summary_global",
					  pfs_instruments->ncells[PFS_FAMILY_STATEMENTS], 0);
}

static bool
transactions_row(PfsContainerRow *row)
{
	return family_row(row, PFS_FAMILY_TRANSACTIONS, "events_transactions_summary_global",
					  pfs_instruments->ncells[PFS_FAMILY_TRANSACTIONS], 0);
}

/* lost: errors that are counted in the row of all others. */
static bool
errors_row(PfsContainerRow *row)
{
	return family_row(row, PFS_FAMILY_ERRORS, "events_errors_summary_global", pfs_errors_known(), pfs_errors->lost);
}

/* The others. */
static bool (*const other_containers[]) (PfsContainerRow *row) =
{
	instruments_row, summary_row, memory_row, stages_row, statements_row, transactions_row, errors_row,
};

bool
pfs_container_row(int i, PfsContainerRow *row)
{
	if (!pfs_is_active())
		return false;
	if (i < lengthof(page_containers))
		return pages_row(*page_containers[i], row);
	i -= lengthof(page_containers);
	if (i < 3 * PFS_NUM_EVENT_FAMILIES)
		return events_row(i / 3, i % 3, row);
	i -= 3 * PFS_NUM_EVENT_FAMILIES;
	return i < lengthof(other_containers) && other_containers[i] (row);
}

static PfsInstrumentId container_instruments[CONTAINERS_MAX];

/* Names of containers are constants, so each start gives the same rows. */
void
pfs_containers_register(void)
{
	PfsContainerRow row;

	for (int i = 0; i < CONTAINERS_MAX && pfs_container_row(i, &row); i++)
	{
		PfsInstrument proto = {.class = PFS_CLASS_MEMORY, .properties = PFS_PROPERTY_BUILT_IN};

		snprintf(proto.name, sizeof(proto.name), "memory/pfs/%s", row.name);
		proto.documentation = "What a container of pfs itself holds; always on.";
		container_instruments[i] = pfs_instrument_register(&proto);
	}
}

PfsInstrumentId
pfs_container_instrument(int i)
{
	return container_instruments[i];
}

/* Its marks are not kept: it is never less than nothing, or more than reserved. */
void
pfs_container_memory(const PfsContainerRow *row, PfsMemoryTotals *totals)
{
	const PfsPagesStats *s = &row->stats;
	uint64		page = s->pages_resident > 0 ? s->bytes_resident / s->pages_resident : 0;

	*totals = (PfsMemoryTotals)
	{
		.count_alloc = s->pages_resident + s->pages_reclaimed, .count_free = s->pages_reclaimed,
			.bytes_alloc = s->bytes_resident + s->pages_reclaimed * page, .bytes_free = s->pages_reclaimed * page,
			.high_count = s->pages_resident, .high_bytes = s->bytes_resident,
	};
}

void
pfs_containers_reset(void)
{
	if (!pfs_is_active())
		return;
	for (int i = 0; i < lengthof(page_containers); i++)
		pfs_pages_reset_stats(*page_containers[i]);
	pfs_store_relaxed(&pfs_instruments->lost, 0);
	pfs_store_relaxed(&pfs_errors->lost, 0);
	pfs_store_relaxed(&pfs_memory->chunks_lost, 0);
	pfs_store_relaxed(&pfs_memory->processes_lost, 0);
	pfs_store_relaxed(&pfs_shared_threads->reentered, 0);
	pfs_store_relaxed(&pfs_patience->reads_inexact, 0);
	pfs_store_relaxed(&pfs_patience->resets_inexact, 0);
	pfs_store_relaxed(&pfs_patience->repaired, 0);
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		pfs_store_relaxed(&pfs_shared_threads->too_deep[f], 0);
		if (pfs_history_long[f] != NULL)
			pfs_log_reset_lost(pfs_history_long[f]);
	}
	if (pfs_lwlock_log != NULL)
		pfs_log_reset_lost(pfs_lwlock_log);
	pfs_reset_time_note("containers");
	pfs_reset_time_note("status");
}

PfsStatus *
pfs_status_make(void)
{
	PfsStatus  *status = palloc0(sizeof(PfsStatus));

	while (status->n < CONTAINERS_MAX && pfs_container_row(status->n, &status->containers[status->n]))
	{
		status->reserved += status->containers[status->n].stats.bytes_reserved;
		status->resident += status->containers[status->n].stats.bytes_resident;
		status->n++;
	}
	return status;
}

/* Rows of pfs.status that are no container's loss: in this order, before those. */
typedef enum StatusRow
{
	STATUS_START_TIME,
	STATUS_SETTINGS_REFUSED,
	STATUS_BYTES_RESERVED,
	STATUS_BYTES_RESIDENT,
	STATUS_SIGNAL_HANDLER_EVENTS_LOST,	/* counted when a process ends */
	STATUS_READS_INEXACT,
	STATUS_RESETS_INEXACT,
	STATUS_WORDS_REPAIRED,
	STATUS_FENCE,
} StatusRow;

#define NUM_STATUS_ROWS (STATUS_FENCE + 1)

static const char *const status_names[] = {
	[STATUS_START_TIME] = "pfs_start_time",
	[STATUS_SETTINGS_REFUSED] = "pfs_settings_refused",
	[STATUS_BYTES_RESERVED] = "pfs_bytes_reserved",
	[STATUS_BYTES_RESIDENT] = "pfs_bytes_resident",
	[STATUS_SIGNAL_HANDLER_EVENTS_LOST] = "pfs_signal_handler_events_lost",
	[STATUS_READS_INEXACT] = "pfs_reads_inexact",
	[STATUS_RESETS_INEXACT] = "pfs_resets_inexact",
	[STATUS_WORDS_REPAIRED] = "pfs_sequence_words_repaired",
	[STATUS_FENCE] = "pfs_fence",
};

StaticAssertDecl(lengthof(status_names) == NUM_STATUS_ROWS, "a row of status has no name");

static uint64
status_number(const PfsStatus *status, StatusRow row)
{
	switch (row)
	{
		case STATUS_SETTINGS_REFUSED:
			return pfs_setup->settings_refused;
		case STATUS_BYTES_RESERVED:
			return status->reserved;
		case STATUS_BYTES_RESIDENT:
			return status->resident;
		case STATUS_SIGNAL_HANDLER_EVENTS_LOST:
			return pfs_load_relaxed(&pfs_shared_threads->reentered);
		case STATUS_READS_INEXACT:
			return pfs_load_relaxed(&pfs_patience->reads_inexact);
		case STATUS_RESETS_INEXACT:
			return pfs_load_relaxed(&pfs_patience->resets_inexact);
		case STATUS_WORDS_REPAIRED:
			return pfs_load_relaxed(&pfs_patience->repaired);
		case STATUS_START_TIME:
		case STATUS_FENCE:
			break;
	}
	return 0;
}

bool
pfs_status_row(const PfsStatus *status, int i, char *name, size_t name_size, char *value, size_t value_size)
{
	if (!pfs_is_active() || i >= NUM_STATUS_ROWS + status->n)
		return false;
	if (i >= NUM_STATUS_ROWS)
	{
		const PfsContainerRow *row = &status->containers[i - NUM_STATUS_ROWS];

		snprintf(name, name_size, "pfs_%s_lost", row->name);
		snprintf(value, value_size, UINT64_FORMAT, row->stats.records_lost);
		return true;
	}
	strlcpy(name, status_names[i], name_size);
	if (i == STATUS_START_TIME)
		strlcpy(value, timestamptz_to_str(pfs_clock->start_time), value_size);
	else if (i == STATUS_FENCE)
		strlcpy(value, pfs_fence_name(), value_size);
	else
		snprintf(value, value_size, UINT64_FORMAT, status_number(status, (StatusRow) i));
	return true;
}

void
pfs_probe_report(const PfsProbeRow *row)
{
	for (int i = 0; i < nprobes; i++)
	{
		if (strcmp(probes[i].name, row->name) == 0)
		{
			probes[i] = *row;
			return;
		}
	}
	if (nprobes < PROBES_MAX)
		probes[nprobes++] = *row;
}

bool
pfs_probe_row(int i, PfsProbeRow *row)
{
	uint64		replaced = pfs_memory == NULL ? 0 : pfs_load_relaxed(&pfs_memory->processes_replaced);

	if (i >= nprobes)
		return false;
	*row = probes[i];
	if (row->look != NULL)
		row->look(row, row->number);
	/* What processes found later: the tables are each one's own. */
	if (replaced > 0 && row->mechanism != NULL && strcmp(row->mechanism, "method_table") == 0 && row->detail[0] == '\0')
		snprintf(row->detail, sizeof(row->detail),
				 "another library replaced methods in " UINT64_FORMAT " processes; its own stay there", replaced);
	return true;
}
