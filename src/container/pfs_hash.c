/*
 * pfs_hash.c
 *	  The lock-free index over record pages: find, insert, remove.
 *
 * What makes it work: a slot refers to a record only while one process owns
 * that record (DIRTY) or it is live (ALLOCATED), because whoever gives a record
 * up clears the slot first; and a key is always in the record before the slot.
 * So a slot is never trusted, only used to get at the record, whose own word
 * and key decide.  README.md has the proof.
 */
#include <unistd.h>

#include "pfs_hash.h"
#include "pfs_seqlock.h"

/*
 * Slots that a key may be in: eight cache lines, or as many as there are
 * places where a window begins.  The last window goes on behind those, so none
 * wraps.
 */
#define PFS_HASH_WINDOW		64

/*
 * How often an insertion that meets another one, or a removal, of the same key
 * begins again.  With the pauses in between that is about 0.2 ms: whoever sleeps longer in the middle costs us a loss.
 */
#define PFS_HASH_TRIES		32
#define PFS_HASH_PAUSES_MAX 256

struct PfsHash
{
	/* set at creation, never changes */
	PfsPages   *pages;
	PfsHashEqual equal;
	uint64_t	mask;			/* number of slots where windows begin - 1 */
	uint32_t	window;			/* slots that a key may be in */

	/*
	 * Tag in the high half, record index + 1 in the low; 0 is empty.  Set by
	 * the inserting process by compare-and-swap, cleared by the record's
	 * owner.
	 */
	uint64_t   *slots;

	/*
	 * By the place where a window begins: so many of its slots, from the
	 * first one on, its keys have been in.  It is raised before a slot is
	 * taken, and never gets less.  Nearly always it is a few.
	 */
	uint8_t    *reach;
};

_Static_assert(PFS_HASH_WINDOW <= UINT8_MAX, "a window's reach fits");

typedef enum PfsHashRival
{
	RIVAL_NONE,
	RIVAL_DIRTY,				/* being inserted or removed */
	RIVAL_LIVE
} PfsHashRival;

static inline uint64_t
slot_value(uint64_t hash, uint32_t index)
{
	return (hash & UINT64_C(0xFFFFFFFF00000000)) | (index + 1);
}

/* The position comes from the low half, the tag from the high one. */
static inline uint64_t *
window_of(const PfsHash *h, uint64_t hash)
{
	return &h->slots[hash & h->mask];
}

/*
 * The end of the slots that the window's keys can be in.  Who has to see a slot that another process has taken sees
 * its reach, which that has raised before; so it is loaded behind whatever orders the two.
 */
static inline const uint64_t *
end_of(const PfsHash *h, uint64_t hash)
{
	return window_of(h, hash) + pfs_load_acquire(&h->reach[hash & h->mask]);
}

/*
 * The first slot from this one on with the key's tag, or the end.  Most
 * slots are empty or another key's, and who does not find a key has looked at
 * all of them.  (A tag of 0 also matches empty slots: look_at() knows better.)
 */
static inline uint64_t *
next_match(uint64_t *slot, const uint64_t *end, uint64_t hash)
{
	while (slot < end && pfs_load_relaxed(slot) >> 32 != hash >> 32)
		slot++;
	return slot;
}

/*
 * Lays out the slots: at least twice as many as records, and a window more, so that no
 * search wraps around.
 */
PfsHash *
pfs_hash_create(PfsSegment *seg, PfsPages *pages, uint32_t records_max, PfsHashEqual equal)
{
	uint64_t	nslots = 2;
	uint32_t	window;
	uint64_t   *slots;
	uint8_t    *reach;
	PfsHash    *h;

	while (nslots < 2 * (uint64_t) records_max)
		nslots *= 2;
	h = pfs_segment_take(seg, sizeof(PfsHash), PFS_CACHE_LINE);
	window = nslots < PFS_HASH_WINDOW ? nslots : PFS_HASH_WINDOW;
	slots = pfs_segment_take(seg, (nslots + window - 1) * sizeof(uint64_t), PFS_CACHE_LINE);
	reach = pfs_segment_take(seg, nslots, PFS_CACHE_LINE);
	if (seg->base == NULL)
		return NULL;
	h->pages = pages;
	h->equal = equal;
	h->mask = nslots - 1;
	h->window = window;
	h->slots = slots;
	h->reach = reach;
	return h;
}

/*
 * The record in this slot, if it has the key and is not FREE.  A word that is
 * ALLOCATED before and after the comparison vouches for it, as its version is
 * never used twice.  A DIRTY one does not (a withdrawn record can be DIRTY
 * again with the same word, for another key): RIVAL_DIRTY may be a false alarm,
 * which costs a retry.  The opposite mistake cannot be: a record does not
 * change its key while its owner keeps it.
 */
static PfsHashRival
look_at(PfsHash *h, uint64_t hash, uint64_t *slot, const void *key,
		uint32_t *index, uint64_t *word)
{
	for (;;)
	{
		uint64_t	value = pfs_load_acquire(slot); /* M: pairs with N */
		uint64_t	before;
		bool		same;

		if (value == 0 || (value ^ hash) >> 32 != 0)
			return RIVAL_NONE;
		*index = (uint32_t) value - 1;
		before = pfs_pages_word(h->pages, *index);
		if ((before & PFS_STATE_MASK) == PFS_STATE_FREE)
			return RIVAL_NONE;	/* given up since we read the slot */
		same = h->equal(pfs_pages_record(h->pages, *index), key);
		pfs_fence_acquire();	/* as F in pfs_pages_copy */
		*word = pfs_pages_word(h->pages, *index);
		if (*word != before)
			continue;			/* changed hands or state: what is it now? */
		if (!same)
			return RIVAL_NONE;
		return (before & PFS_STATE_MASK) == PFS_STATE_ALLOCATED ?
			RIVAL_LIVE : RIVAL_DIRTY;
	}
}

/*
 * Looks at the slots of the key's window that have its hash bits.  A record that is
 * inserted or removed meanwhile may be found or not.
 */
uint32_t
pfs_hash_find(PfsHash *h, uint64_t hash, const void *key, uint64_t *word)
{
	uint64_t   *slot = window_of(h, hash);
	const uint64_t *end = end_of(h, hash);

	for (slot = next_match(slot, end, hash); slot < end; slot = next_match(slot + 1, end, hash))
	{
		uint32_t	index;

		if (look_at(h, hash, slot, key, &index, word) == RIVAL_LIVE)
			return index;
	}
	return PFS_NO_RECORD;
}

/* Keys of the hash's window can be in so many of its slots from now on. */
static void
raise_reach(PfsHash *h, uint64_t hash, uint32_t slots)
{
	uint8_t    *reach = &h->reach[hash & h->mask];
	uint8_t		old = pfs_load_relaxed(reach);

	while (old < slots && !pfs_cas(reach, &old, (uint8_t) slots))
		;
}

/* Put value into the first empty slot of the window; NULL if there is none. */
static uint64_t *
enter(PfsHash *h, uint64_t hash, uint64_t value)
{
	uint64_t   *slot = window_of(h, hash);

	for (uint32_t i = 0; i < h->window; i++)
	{
		uint64_t	empty = 0;

		if (pfs_load_relaxed(&slot[i]) != 0)
			continue;
		raise_reach(h, hash, i + 1);
		/* N: the key is in the record first.  Pairs with M. */
		if (pfs_cas(&slot[i], &empty, value))
			return &slot[i];
	}
	return NULL;
}

/*
 * Whether anyone else has the key, looked for in the window except our
 * own slot.  A live one is the answer, so it goes before a dirty one.
 */
static PfsHashRival
find_rival(PfsHash *h, uint64_t hash, const void *key, const uint64_t *mine,
		   uint32_t *index, uint64_t *word)
{
	PfsHashRival worst = RIVAL_NONE;
	uint64_t   *slot = window_of(h, hash);
	const uint64_t *end = end_of(h, hash);

	for (slot = next_match(slot, end, hash); slot < end; slot = next_match(slot + 1, end, hash))
	{
		if (slot == mine)
			continue;
		switch (look_at(h, hash, slot, key, index, word))
		{
			case RIVAL_NONE:
				break;
			case RIVAL_DIRTY:
				worst = RIVAL_DIRTY;
				break;
			case RIVAL_LIVE:
				return RIVAL_LIVE;
		}
	}
	return worst;
}

/* Two processes that met must not meet again in step. */
static void
back_off(uint64_t *seed, uint32_t tries)
{
	uint32_t	range = UINT32_C(4) << (tries < 6 ? tries : 6);

	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	for (uint32_t n = (uint32_t) (*seed >> 33) & (range - 1) & (PFS_HASH_PAUSES_MAX - 1); n > 0; n--)
		pfs_pause();
}

uint32_t
pfs_hash_insert(PfsHash *h, uint64_t hash, const void *key, PfsHashFill fill,
				void *arg, uint32_t *hint, uint64_t *word, bool *created)
{
	uint32_t	found = pfs_hash_find(h, hash, key, word);

	*created = false;
	if (found != PFS_NO_RECORD)
		return found;
	return pfs_hash_insert_new(h, hash, key, fill, arg, hint, word, created);
}

/*
 * Inserts a record for a key that was not found.  It is filled before it enters a slot;
 * if another process inserts the same key meanwhile, at least one of the two withdraws,
 * and tries again after a pause.
 */
uint32_t
pfs_hash_insert_new(PfsHash *h, uint64_t hash, const void *key, PfsHashFill fill,
					void *arg, uint32_t *hint, uint64_t *word, bool *created)
{
	uint32_t	found;
	uint32_t	mine;
	uint64_t	seed = 0;

	*created = false;
	mine = pfs_pages_allocate(h->pages, hint);
	if (mine == PFS_NO_RECORD)
		return PFS_NO_RECORD;
	fill(pfs_pages_record(h->pages, mine), key, arg);

	for (uint32_t tries = 0; tries < PFS_HASH_TRIES; tries++)
	{
		uint64_t   *slot = enter(h, hash, slot_value(hash, mine));
		PfsHashRival rival;

		if (slot == NULL)
			break;

		/*
		 * P: our slot is visible before we look at the others'.  Pairs with
		 * the same fence of whoever inserts the same key: of two, at least
		 * the one whose fence is later sees the other's slot and withdraws.
		 */
		pfs_fence_seqcst();
		rival = find_rival(h, hash, key, slot, &found, word);
		if (rival == RIVAL_NONE)
		{
			*word = pfs_pages_publish(h->pages, mine);
			*created = true;
			return mine;
		}
		/* Withdraw; nobody else writes a slot that refers to our record. */
		pfs_store_release(slot, 0);
		if (rival == RIVAL_LIVE)
		{
			pfs_pages_free(h->pages, mine);
			return found;
		}
		if (tries == 0)
			seed = (uint64_t) getpid() ^ (uintptr_t) hint ^ (uint64_t) mine << 32;
		back_off(&seed, tries);
		found = pfs_hash_find(h, hash, key, word);
		if (found != PFS_NO_RECORD)
		{
			pfs_pages_free(h->pages, mine);
			return found;
		}
	}
	pfs_pages_count_lost(h->pages);
	pfs_pages_free(h->pages, mine);
	return PFS_NO_RECORD;
}

/* Clears the record's slot in the window of this hash; only who may do so calls it. */
static void
leave_slot(PfsHash *h, uint64_t hash, uint32_t index)
{
	uint64_t	value = slot_value(hash, index);
	uint64_t   *slot = window_of(h, hash);

	for (const uint64_t *end = end_of(h, hash); slot < end; slot++)
	{
		if (pfs_load_relaxed(slot) == value)
		{
			pfs_store_release(slot, 0);
			break;
		}
	}
}

/* Claims the record and clears its slot; the caller frees the record. */
bool
pfs_hash_remove(PfsHash *h, uint64_t hash, uint32_t index, uint64_t word)
{
	if (!pfs_pages_claim(h->pages, index, word))
		return false;

	/*
	 * Ours now, so this slot is ours to clear: a record is in one slot at
	 * most. It is cleared before the caller frees the record (release in
	 * pfs_pages_free), so the next owner's slot is never the one we clear.
	 */
	leave_slot(h, hash, index);
	return true;
}

/*
 * Enters the record in a slot of its new key, changes the key, and clears the slot of the old one.  Who finds the
 * new slot before the key has changed compares the old key and passes by; who misses the record under the old key,
 * because the key has changed or the slot is clear, finds the new slot behind an acquire fence (V): it was entered
 * before both, which are stored by release (U).
 */
bool
pfs_hash_move(PfsHash *h, uint64_t from, uint64_t to, uint32_t index, PfsHashSetKey set, const void *key)
{
	if (enter(h, to, slot_value(to, index)) == NULL)
		return false;
	pfs_fence_release();		/* U: pairs with V, in those who search */
	set(pfs_pages_record(h->pages, index), key);
	leave_slot(h, from, index);
	return true;
}

/*
 * Multiply to 128 bits and fold: every bit of the input reaches every bit of
 * the result.  Keys are short (names, numbers, paths), read 8 bytes at a time.
 */
static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t) a * b;

	return (uint64_t) product ^ (uint64_t) (product >> 64);
}

/* Hashes a key of any length: each of its bits reaches each bit of the value. */
uint64_t
pfs_hash_bytes(const void *data, size_t len)
{
	/* odd constants with about half their bits set */
	const uint64_t k0 = UINT64_C(0x9E3779B97F4A7C15);
	const uint64_t k1 = UINT64_C(0xC2B2AE3D27D4EB4F);
	const unsigned char *p = data;
	uint64_t	hash = k0 ^ len;
	uint64_t	last = 0;

	for (; len >= 8; len -= 8, p += 8)
	{
		uint64_t	word;

		memcpy(&word, p, 8);
		hash = mix(hash ^ word, k0) + k1;
	}
	memcpy(&last, p, len);
	hash = mix(hash ^ last, k1);
	return mix(hash ^ k0, k1);
}
