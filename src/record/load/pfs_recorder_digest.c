/*
 * pfs_recorder_digest.c
 *	  The recorder reads what the records of digests have counted.
 *
 * It says only whose a part of the sums is (pfs_recorder_sum.c), so nobody is kept from
 * moving counters meanwhile, and no turn is taken.  Who adds to a record says so behind it
 * (PfsDigestRefSlot.changed), and only those are read.  A record that was evicted or removed
 * takes its part of the period with it, which is then no digest's.  A number that has got
 * less was reset: all of it is new.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pfs_recorder_own.h"
#include "pfs_shared.h"

/* A digest's record, as it was read last. */
typedef struct Known
{
	uint64		word;			/* 0: never */
	PfsSumItems numbers;
} Known;

static Known *known;			/* by record */
static PfsSumItems scratch;

/* Reads a record; false: it has gone, or is being given up. */
static bool
read_record(uint32 index, uint64 word, PfsSumItems *to)
{
	const PfsDigest *d = pfs_pages_record(pfs_digests.pages, index);
	const PfsSharedCell *time = &d->counters.time;
	PfsDigestKey key = d->key;
	PfsSumItem *item;
	uint32		n = 0;

	to->n = 0;
	item = pfs_sum_items_add(to, PFS_SUM_OF_DIGEST, PFS_LOAD_CPU_NAME, &key);
	item->count = pfs_load_relaxed(&time->count_timed) + pfs_load_relaxed(&time->count_untimed);
	item->ticks = pfs_load_relaxed(&time->sum_low) + pfs_load_relaxed(&d->extra);
	for (uint32 link = pfs_load_acquire(&d->waits);
		 link != 0 && link <= pfs_digest_waits->records_max && n < pfs_instruments->max;
		 n++)
	{
		const PfsChained *cell = pfs_chain_at(pfs_digest_waits, link);
		uint32		instrument = cell->key;

		link = cell->next;
		if (instrument >= pfs_instruments->max)
			break;
		item = pfs_sum_items_add(to, PFS_SUM_OF_DIGEST, instrument, &key);
		item->count = pfs_load_relaxed(&cell->cell.count_timed) + pfs_load_relaxed(&cell->cell.count_untimed);
		item->ticks = pfs_load_relaxed(&cell->cell.sum_low);
	}
	pfs_fence_acquire();
	return !pfs_ref_is_dead(&pfs_digests.ref_slots[index].ref) && pfs_pages_word(pfs_digests.pages, index) == word;
}

/* Forgets numbers of an earlier reading that have got less since: nothing is taken off for them. */
static void
forget_reset(PfsSumItems *before, const PfsSumItems *now)
{
	for (uint32 i = 0; i < before->n; i++)
	{
		for (uint32 j = 0; j < now->n; j++)
		{
			if (now->items[j].instrument == before->items[i].instrument && now->items[j].count < before->items[i].count)
				before->items[i].count = before->items[i].ticks = 0;
		}
	}
}

/* Adds what a record has more than at its last reading, if it is still there. */
static void
read_one(uint32 index, uint64 word)
{
	Known	   *k = &known[index];

	if (!read_record(index, word, &scratch))
		return;
	if (k->word == word)
	{
		forget_reset(&k->numbers, &scratch);
		pfs_sums_subtract(&k->numbers);
	}
	pfs_sums_add(&scratch);
	k->word = word;
	pfs_sum_items_copy(&k->numbers, &scratch);
}

void
pfs_recorder_digests_start(void)
{
	known = MemoryContextAllocExtended(TopMemoryContext, Max(pfs_sizes.digests, 1) * sizeof(Known),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Adds what records have more than at their last reading. */
void
pfs_recorder_read_digests(void)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_digests.pages, &at);)
	{
		uint32	   *changed = &pfs_digests.ref_slots[at.index].changed;

		if (known[at.index].word == at.word && pfs_load_relaxed(changed) == 0)
			continue;
		/* Who adds behind this says so again. */
		(void) pfs_exchange(changed, 0);
		read_one(at.index, at.word);
	}
}
