/*
 * pfs_charge.c
 *	  The table in which waits are charged to the running statement: the places of its
 *	  instruments.
 */
#include "postgres.h"

#include "pfs_charge.h"

PFS_FIXED PfsChargeCallbacks pfs_charge;
uint32		pfs_charge_node = 0;

StaticAssertDecl(PFS_DIGEST_WAITS == 64, "a word says which are used");

/*
 * Makes all places of the table free, when other instruments or nodes have taken every one.  The
 * waits counted so far go to their digest.
 */
static void
forget_all(void)
{
	pfs_charge.full_cb();
	for (int i = 0; i < PFS_DIGEST_WAITS; i++)
		pfs_my_thread->digest_waits[i].key = 0;
}

/* The process has got a place for waits of no node since the last call. */
static bool of_no_node = true;

void
pfs_digest_waits_of_nodes(void)
{
	bool		entered;

	if (!of_no_node || pfs_local.waits == NULL)
		return;
	entered = pfs_write_enter(pfs_my_thread);
	forget_all();
	of_no_node = false;
	if (entered)
		pfs_write_end(pfs_my_thread);
}

void
pfs_digest_waits_flush(void)
{
	bool		entered;

	if (pfs_local.waits_used == 0)
		return;
	entered = pfs_write_enter(pfs_my_thread);
	pfs_charge.full_cb();
	if (entered)
		pfs_write_end(pfs_my_thread);
}

/*
 * Exchanges two entries, so that the instrument that has waited last lies where the
 * fast path looks for it.  No place becomes empty, so the search from its home on still
 * finds the other one.
 */
static void
change_places(PfsDigestWait *a, PfsDigestWait *b)
{
	PfsDigestWait was_a = *a;
	uint64		both = a->bit | b->bit;
	uint64		used = pfs_local.waits_used & both;

	*a = *b;
	a->bit = was_a.bit;
	was_a.bit = b->bit;
	*b = was_a;
	if (used != 0 && used != both)
		pfs_local.waits_used ^= both;
}

/*
 * Adds a wait to the table where pfs_digest_wait_add() cannot: its instrument is not in
 * its home place, or a node waits, or it is untimed or by another timer.  The entry is found or made by
 * linear probing, and moved to the home place, so that the next one takes the fast
 * path.  `ticks` are those of the default timer.  If the table is full, it is emptied
 * into the digest first.
 */
void
pfs_digest_wait_add_slow(PfsInstrumentId instrument, bool timed, uint64 ticks)
{
	uint32		home = instrument % PFS_DIGEST_WAITS;
	uint32		key = PFS_DIGEST_WAIT_KEY(instrument, pfs_charge_node);
	uint32		i = home;
	PfsDigestWait *items = pfs_my_thread->digest_waits;
	PfsDigestWait *w;

	while (items[i].key != key && items[i].key != 0)
	{
		i = (i + 1) % PFS_DIGEST_WAITS;
		if (i == home)
			forget_all();
	}
	w = &items[i];
	if (w->key == 0)
	{
		pfs_digest_wait_clear(w);
		w->key = key;
		if (pfs_charge_node == 0)
			of_no_node = true;
		w->bit = UINT64_C(1) << i;
	}
	else if (i != home)
	{
		change_places(w, &items[home]);
		w = &items[home];
	}
	pfs_local.waits_used |= w->bit;
	if (!timed)
		w->counts.untimed++;
	else
		pfs_digest_wait_count(w, ticks);
}
