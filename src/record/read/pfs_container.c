/*
 * pfs_container.c
 *	  Rows of pfs.containers, and of the containers as memory instruments.
 *
 * Everything here is computed when it is asked for; each container keeps its own
 * counters.
 */
#include "postgres.h"

#include "pfs_container.h"
#include "pfs_event_history.h"
#include "pfs_event_read.h"
#include "pfs_shared.h"
#include "pfs_summary.h"
#include "pfs_thread_sets.h"

/* Adds bytes to a row, some of which were never written to. */
static void
add_bytes(PfsContainerRow *row, size_t bytes, size_t unused)
{
	row->stats.bytes_reserved += bytes;
	row->stats.bytes_resident += bytes - unused;
}

/* Fills the row of a part's pages, with the bytes that the part has beside them. */
static void
pages_row(const PfsPart *part, PfsContainerRow *row)
{
	PfsPages   *pages = *part->pages;

	row->name = pfs_pages_name(pages);
	row->record_size = pfs_pages_record_size(pages);
	pfs_pages_stats(pages, &row->stats);
	/* What lies beside the records, such as totals, counts as bytes only. */
	if (part->beside != NULL)
		add_bytes(row, part->beside(), 0);
	if (part->sets != NULL)
		add_bytes(row, pfs_thread_sets_bytes(part->sets), pfs_thread_sets_unused(part->sets));
}

/*
 * Fills the row of a container that is one block: all of its bytes are reserved and
 * resident.
 */
static void
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
}

/*
 * Fills the row of a container whose memory is counted with another one: that of thread
 * records, or that of the long history, whose blocks are threads' own first; so it has no
 * bytes of its own.
 */
static void
in_thread_row(PfsContainerRow *row, PfsEventFamily family, const char *name, uint32 per_thread, uint64 lost)
{
	block_row(row, name, pfs_sizes.event_size[family], (uint64) per_thread * pfs_sizes.threads,
			  pfs_pages_used(pfs_threads) * per_thread, lost, 0);
}

void
pfs_container_of_instruments(int i, PfsContainerRow *row)
{
	uint64		each = sizeof(PfsInstrument) + sizeof(uint32);

	block_row(row, "instruments", each, pfs_instruments->max,
			  Min(pfs_instruments->count, pfs_instruments->max),
			  pfs_instruments->lost, pfs_instruments->max * each);
}

/*
 * Fills the i-th row of the families of events, three of each: current, history, long
 * history, the last without the records in use.
 */
void
pfs_container_of_events(int i, PfsContainerRow *row)
{
	PfsEventFamily family = i / 3;
	const PfsEventFamilyInfo *info = &pfs_event_families[family];
	uint32		size = pfs_sizes.event_size[family];
	const PfsEventSource *source = pfs_event_source(family);
	PfsBlocks  *blocks = pfs_histories[family];

	if (i % 3 == 0)
		in_thread_row(row, family, info->current, info->depth, pfs_shared_threads->too_deep[family]);
	else if (i % 3 == 1)
		in_thread_row(row, family, info->history, pfs_sizes.history[family], 0);
	else if (blocks == NULL)
		block_row(row, info->history_long, size, 0, 0, 0, 0);
	else
	{
		block_row(row, info->history_long, size, pfs_sizes.history_long[family], 0, pfs_blocks_lost(blocks), pfs_blocks_bytes(blocks));
		/* It becomes resident as it fills. */
		row->stats.bytes_resident = pfs_blocks_resident_bytes(blocks);
		if (source != NULL)
		{
			row->stats.records_lost += pfs_blocks_lost(*source->blocks);
			row->stats.bytes_reserved += pfs_blocks_bytes(*source->blocks);
			row->stats.bytes_resident += pfs_blocks_resident_bytes(*source->blocks);
		}
	}
}

/*
 * Counts the events of a long history, by reading it: which of the stored ones it shows is
 * known by no number that is kept.
 */
void
pfs_container_count_events(int i, PfsContainerRow *row)
{
	PfsEventFamily family = i / 3;

	if (i % 3 != 2 || pfs_histories[family] == NULL)
		return;
	row->stats.records_used = pfs_events_history_long_count(family);
	row->stats.records_high_water = row->stats.records_used;
}

/*
 * Fills the row of the server's own counters of a family, with its histograms:
 * its counters of threads, accounts, users and hosts lie in those containers.
 */
void
pfs_container_of_family(int i, PfsContainerRow *row)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[i];
	uint32		n = pfs_summary[i].ncells;
	uint32		used = kind->used != NULL ? kind->used() : pfs_instruments->ncells[i];
	uint64		bytes = pfs_summary_server_size(i);

	block_row(row, kind->container, n > 0 ? bytes / n : 0, n, used, kind->lost != NULL ? kind->lost() : 0, bytes);
}

/* Of a part's rows that of its pages is the first. */
bool
pfs_container_row(int i, bool count_used, PfsContainerRow *row)
{
	pfs_each_part(part)
	{
		if (part->pages != NULL && i-- == 0)
		{
			pages_row(part, row);
			return true;
		}
		if (i < part->nrows)
		{
			part->row(i, row);
			if (count_used && part->count_used != NULL)
				part->count_used(i, row);
			return true;
		}
		i -= part->nrows;
	}
	return false;
}

/* The instruments memory/pfs/%, by row of pfs.containers. */
static PfsInstrumentId container_instruments[PFS_CONTAINERS_MAX];

/*
 * Registers an instrument memory/pfs/% for each container, once, at the server's
 * start.  Names of containers are constants, so each start gives the same rows.
 */
void
pfs_containers_register(void)
{
	PfsContainerRow row;

	for (int i = 0; i < PFS_CONTAINERS_MAX && pfs_container_row(i, false, &row); i++)
	{
		PfsInstrument proto = {.class = PFS_CLASS_MEMORY, .properties = PFS_PROPERTY_BUILT_IN};

		snprintf(proto.name, sizeof(proto.name), "memory/pfs/%s", row.name);
		proto.documentation = "What a container of pfs itself holds; always on.";
		container_instruments[i] = pfs_instrument_register(&proto);
	}
	Assert(!pfs_container_row(PFS_CONTAINERS_MAX, false, &row));
}

PfsInstrumentId
pfs_container_instrument(int i)
{
	return container_instruments[i];
}

/*
 * Shows a container's row as a memory instrument's totals.  Low-water and high-water
 * marks are not kept: the low ones stay zero, the high ones are the present values.
 */
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
