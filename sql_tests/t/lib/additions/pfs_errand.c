/*
 * pfs_errand.c
 *	  Errands: finding, making, counting, removing.
 */
#include "postgres.h"

#include "pfs_errand.h"
#include "pfs_hash.h"
#include "pfs_local.h"
#include "pfs_shared.h"

#define ERRANDS_PER_PAGE 100

PfsPages   *pfs_errands = NULL;
static PfsHash *by_number = NULL;

static bool
has_number(const void *record, const void *number)
{
	return ((const PfsErrand *) record)->number == *(const uint64 *) number;
}

static void
lay_out(PfsSegment *seg)
{
	pfs_errands = pfs_pages_create(seg, "errand_instances", sizeof(PfsErrand), pfs_sizes.errands, ERRANDS_PER_PAGE);
	by_number = pfs_hash_create(seg, pfs_errands, pfs_sizes.errands, has_number);
}

/* What was counted of an errand that has gone goes with it. */
static void
add_cb(void *errand, const PfsPending *place)
{
	if (errand == NULL)
		return;
	pfs_add_relaxed(&((PfsErrand *) errand)->count, ((const PfsPendingErrand *) place)->count);
	pfs_add_relaxed(&((PfsErrand *) errand)->miles, ((const PfsPendingErrand *) place)->miles);
}

static const PfsPendingShape shape = {.sets = 1, .ways = PFS_PENDING_WAYS, .size = sizeof(PfsPendingErrand)};

const PfsCountedKind pfs_counted_errands = {
	.shape = &shape,
	.objects = &pfs_errands,
	.add = add_cb,
};

const PfsPart pfs_part_errands = {
	.name = "errands",
	.lay_out = lay_out,
	.pages = &pfs_errands,
	.sets = &pfs_pending_sets[PFS_COUNTED_ERRANDS],
};

static void
fill_cb(void *errand, const void *number, void *arg)
{
	*(PfsErrand *) errand = (PfsErrand)
	{
		.number = *(const uint64 *) number
	};
}

bool
pfs_errand_run(PfsThread *t, uint64 number, uint64 miles)
{
	static uint32 hint = 0;
	bool		created;
	uint64		word;
	uint32		index = pfs_hash_insert(by_number, pfs_hash_bytes(&number, sizeof(number)), &number, fill_cb, NULL, &hint,
										&word, &created);
	uint64		object = PFS_COUNTED_OBJECT(index, word);
	PfsPending *p;

	if (index == PFS_NO_RECORD)
		return false;			/* counted there */
	pfs_write_begin(t);
	p = pfs_pending_find(PFS_COUNTED_ERRANDS, &shape, object, 0);
	if (p == NULL)
		p = pfs_pending_get(t, PFS_COUNTED_ERRANDS, object, 0);
	((PfsPendingErrand *) p)->count++;
	((PfsPendingErrand *) p)->miles += miles;
	pfs_pending_put(t, PFS_COUNTED_ERRANDS, p);
	pfs_write_end(t);
	return true;
}

bool
pfs_errand_remove(uint64 number)
{
	uint64		hash = pfs_hash_bytes(&number, sizeof(number));
	uint64		word;
	uint32		index = pfs_hash_find(by_number, hash, &number, &word);

	if (index == PFS_NO_RECORD || !pfs_may_remove_objects() || !pfs_hash_remove(by_number, hash, index, word))
		return false;
	pfs_object_removed(PFS_COUNTED_ERRANDS, index);
	return true;
}
