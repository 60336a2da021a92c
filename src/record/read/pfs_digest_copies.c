/*
 * pfs_digest_copies.c
 *	  Adding up copies of what digests have counted of waits and of rows.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_digest_copies.h"

/* Orders copies by digest, then by what they are of. */
static int
compare_copies(const void *a, const void *b)
{
	const PfsDigestCopy *x = a;
	const PfsDigestCopy *y = b;

	if (x->key.query_id != y->key.query_id)
		return x->key.query_id < y->key.query_id ? -1 : 1;
	if (x->key.db_user != y->key.db_user)
		return x->key.db_user < y->key.db_user ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Sorts the copies at the first call. */
bool
pfs_digest_copies_next(PfsDigestCopies *copies, PfsDigestCopy *sum)
{
	const PfsDigestCopy *first = &copies->items[copies->next];

	if (copies->next == 0)
		qsort(copies->items, copies->n, sizeof(PfsDigestCopy), compare_copies);
	if (copies->next == copies->n)
		return false;
	CHECK_FOR_INTERRUPTS();
	memset(sum, 0, sizeof(*sum));
	sum->key = first->key;
	sum->what = first->what;
	sum->kind = first->kind;
	for (; copies->next < copies->n && compare_copies(first, &copies->items[copies->next]) == 0; copies->next++)
	{
		const PfsDigestCopy *copy = &copies->items[copies->next];

		pfs_totals_add(&sum->totals, &copy->totals);
		for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
			sum->counts[i] += copy->counts[i];
	}
	return true;
}
