/*
 * hammer_hash.c
 *	  The index: never two live records of one key, found after insertion, gone
 *	  after removal.
 */
#include <sched.h>

#include "hammer.h"
#include "pfs_hash.h"

#define PRIVATE_KEYS (UINT64_C(1) << 32)	/* keys above belong to one worker */

typedef struct HashRecord
{
	uint64_t	key;
	uint64_t	base;
	uint64_t	pattern[6];
} HashRecord;

typedef struct HashContext
{
	PfsHash    *hash;
	PfsPages   *pages;
	uint32_t	keys;			/* that all workers fight for */
	bool		roomy;			/* room for every key: no insertion may fail */
	bool		colliding;		/* every key has the same hash */
	uint64_t	inserted;
	uint64_t	found;
	uint64_t	removed;
	uint64_t	failed;
} HashContext;

typedef struct FillArg
{
	uint64_t	base;
} FillArg;

static bool
equal(const void *record, const void *key)
{
	return pfs_load_relaxed(&((const HashRecord *) record)->key) == *(const uint64_t *) key;
}

static void
fill(void *record, const void *key, void *arg)
{
	HashRecord *r = record;

	pfs_store_relaxed(&r->key, *(const uint64_t *) key);
	pfs_store_relaxed(&r->base, ((FillArg *) arg)->base);
	hammer_fill(r->pattern, 0, 6, ((FillArg *) arg)->base);
}

static uint64_t
hash_of(const HashContext *x, uint64_t key)
{
	/* one tag and one window for all: every comparison goes to the record */
	return x->colliding ? 0 : pfs_hash_bytes(&key, sizeof(key));
}

/*
 * Whether a second live record has the key.  first's word is the same before
 * and after the second was seen alive, so both lived at that moment.
 */
static void
check_unique(HashContext *x, uint64_t key, uint32_t first, uint64_t word)
{
	uint32_t	pos = 0;
	uint32_t	index;
	uint64_t	other;

	while ((index = pfs_pages_next(x->pages, &pos, &other)) != PFS_NO_RECORD)
	{
		HashRecord	r;

		if (index == first || !pfs_pages_copy(x->pages, index, 0, &r, sizeof(r), &other) || r.key != key)
			continue;
		HAMMER_CHECK(pfs_pages_word(x->pages, first) != word,
					 "two live records of key %lu: %u and %u", key, first, index);
		return;
	}
}

/* A record that stays as it is during a search is found by it. */
static void
check_found(HashContext *x, uint64_t key, uint32_t index, uint64_t word)
{
	uint64_t	got_word;
	uint32_t	got = pfs_hash_find(x->hash, hash_of(x, key), &key, &got_word);

	if (got == index && got_word == word)
		return;
	HAMMER_CHECK(pfs_pages_word(x->pages, index) != word,
				 "key %lu is in record %u, but %u was found", key, index, got);
}

static void
check_content(HashContext *x, uint64_t key, uint32_t index, uint64_t word)
{
	HashRecord	r;
	uint64_t	got;

	if (pfs_pages_copy(x->pages, index, 0, &r, sizeof(r), &got) && got == word)
		HAMMER_CHECK(r.key == key && hammer_whole(r.pattern, 0, 6, r.base),
					 "record %u of key %lu has key %lu", index, key, r.key);
}

static void
remove_key(HashContext *x, uint64_t key, uint32_t index, uint64_t word)
{
	uint64_t	hash = hash_of(x, key);
	const HashRecord *r = pfs_pages_record(x->pages, index);
	uint64_t	got_word;

	if (!pfs_hash_remove(x->hash, hash, index, word))
	{
		HAMMER_CHECK(pfs_pages_word(x->pages, index) != word, "cannot remove record %u", index);
		return;
	}
	HAMMER_CHECK(!pfs_hash_remove(x->hash, hash, index, word), "removed record %u twice", index);
	/* Ours alone now. */
	HAMMER_CHECK(pfs_load_relaxed(&r->key) == key &&
				 hammer_whole(r->pattern, 0, 6, pfs_load_relaxed(&r->base)),
				 "removed record %u is not of key %lu", index, key);
	HAMMER_CHECK(pfs_hash_find(x->hash, hash, &key, &got_word) != index, "removed record %u was found", index);
	pfs_pages_free(x->pages, index);
	pfs_add_relaxed(&x->removed, 1);
}

static void
hash_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	HashContext *x = context;
	uint32_t	hint = 0;
	uint64_t	mine = 0;		/* private key that is inserted, or 0 */
	uint32_t	my_index = 0;
	uint64_t	my_word = 0;

	for (uint64_t counter = 0; hammer_going(); counter++)
	{
		uint32_t	dice = hammer_random(rng, 100);
		uint64_t	key = hammer_random(rng, x->keys);
		FillArg		arg = {(uint64_t) id << 40 ^ counter};
		uint64_t	word;
		uint32_t	index;
		bool		created;

		if (dice < 45)
		{
			index = pfs_hash_insert(x->hash, hash_of(x, key), &key, fill, &arg, &hint, &word, &created);
			if (index == PFS_NO_RECORD)
			{
				pfs_add_relaxed(&x->failed, 1);
				continue;
			}
			pfs_add_relaxed(created ? &x->inserted : &x->found, 1);
			if (created || dice == 0)
				check_unique(x, key, index, word);
			check_content(x, key, index, word);
			check_found(x, key, index, word);
		}
		else if (dice < 90)
		{
			index = pfs_hash_find(x->hash, hash_of(x, key), &key, &word);
			if (index == PFS_NO_RECORD)
				continue;
			check_content(x, key, index, word);
			if (dice < 80)
				remove_key(x, key, index, word);
		}
		else if (mine == 0)
		{
			mine = PRIVATE_KEYS * id + counter;
			my_index = pfs_hash_insert(x->hash, hash_of(x, mine), &mine, fill, &arg, &hint, &my_word, &created);
			if (my_index == PFS_NO_RECORD)
			{
				HAMMER_CHECK(!x->roomy, "no room for a key of one's own");
				pfs_add_relaxed(&x->failed, 1);
				mine = 0;
				continue;
			}
			HAMMER_CHECK(created, "someone else inserted a key of mine");
		}
		else
		{
			index = pfs_hash_find(x->hash, hash_of(x, mine), &mine, &word);
			HAMMER_CHECK(index == my_index && word == my_word, "key of mine is not found");
			if (dice < 95)
			{
				remove_key(x, mine, my_index, my_word);
				HAMMER_CHECK(pfs_hash_find(x->hash, hash_of(x, mine), &mine, &word) == PFS_NO_RECORD,
							 "removed key of mine is found");
				mine = 0;
			}
		}
	}
	if (mine != 0 && !hammer_failed())
		remove_key(x, mine, my_index, my_word);
}

/* Remove all; then every record and slot must be usable again. */
static void
check_all_usable(HashContext *x)
{
	uint32_t	pos = 0;
	uint32_t	index;
	uint32_t	hint = 0;
	uint64_t	word;
	PfsPagesStats stats;

	while ((index = pfs_pages_next(x->pages, &pos, &word)) != PFS_NO_RECORD)
		remove_key(x, ((HashRecord *) pfs_pages_record(x->pages, index))->key, index, word);
	pfs_pages_stats(x->pages, &stats);
	HAMMER_CHECK(stats.records_used == 0, "%lu records are in use", stats.records_used);
	HAMMER_CHECK(stats.records_lost == x->failed, "%lu lost, %lu failed", stats.records_lost, x->failed);
	if (x->colliding)
		return;
	for (uint64_t key = 0; key < x->pages->records_max; key++)
	{
		FillArg		arg = {key};
		bool		created;

		index = pfs_hash_insert(x->hash, hash_of(x, key), &key, fill, &arg, &hint, &word, &created);
		HAMMER_CHECK(index != PFS_NO_RECORD && created, "key %lu finds no room: a slot was not cleared", key);
	}
	for (uint64_t key = 0; key < x->pages->records_max; key++)
		HAMMER_CHECK(pfs_hash_find(x->hash, hash_of(x, key), &key, &word) != PFS_NO_RECORD,
					 "key %lu of a full index is not found", key);
}

/* After kills, keys can be out of use, but not more than one each. */
static void
check_after_kills(HashContext *x, uint32_t kills)
{
	uint32_t	hint = 0;
	uint32_t	failed = 0;
	uint32_t	stuck = 0;

	for (uint32_t i = 0; i < x->pages->pages_max; i++)
		stuck += x->pages->page_state[i] == PFS_PAGE_OPENING || x->pages->page_state[i] == PFS_PAGE_RETIRING;
	for (uint64_t key = 0; key < x->keys; key++)
	{
		FillArg		arg = {key};
		uint64_t	word;
		bool		created;
		uint32_t	index = pfs_hash_insert(x->hash, hash_of(x, key), &key, fill, &arg, &hint, &word, &created);

		if (index == PFS_NO_RECORD)
		{
			failed++;
			continue;
		}
		check_unique(x, key, index, word);
		check_content(x, key, index, word);
		check_found(x, key, index, word);
		remove_key(x, key, index, word);
	}
	/* private keys of victims, and keys that they held when killed */
	HAMMER_CHECK(failed <= kills || x->pages->records_max <= kills * x->pages->records_per_page,
				 "%u keys of %u fail after %u kills, %u pages stuck", failed, x->keys, kills, stuck);
}

/* Lays out a context of so many bytes, and an index of so many records. */
static void *
lay_out(HammerSegment *s, size_t size, uint32_t records_max, PfsPages **pages, PfsHash **hash)
{
	void	   *context = NULL;

	for (hammer_segment_begin(s); hammer_segment_pass(s);)
	{
		context = pfs_segment_take(&s->seg, size, PFS_CACHE_LINE);
		*pages = pfs_pages_create(&s->seg, "hash", sizeof(HashRecord), records_max, 64);
		*hash = pfs_hash_create(&s->seg, *pages, records_max, equal);
	}
	return context;
}

static void
run_hash(uint32_t records_max, uint32_t keys, bool roomy, bool colliding)
{
	HammerSegment s;
	PfsPages   *pages;
	PfsHash    *hash;
	HashContext *x = lay_out(&s, sizeof(*x), records_max, &pages, &hash);
	uint32_t	kills;
	char		name[100];

	x->hash = hash;
	x->pages = pages;
	x->keys = keys;
	x->roomy = roomy && !hammer_options.kill;
	x->colliding = colliding;
	kills = hammer_run(hash_worker, x);
	if (!hammer_failed())
	{
		if (hammer_options.kill)
			check_after_kills(x, kills);
		else
			check_all_usable(x);
	}
	snprintf(name, sizeof(name), "hash, %u records, %u keys%s%s", records_max, keys,
			 colliding ? ", all colliding" : "", hammer_options.kill ? ", killing" : "");
	hammer_done(name, "%lu inserted, %lu found, %lu removed, %lu failed, %u kills",
				x->inserted, x->found, x->removed, x->failed, kills);
	hammer_segment_end(&s);
}

/*
 * ---- records that get other keys ----
 *
 * Each worker gives its record one key of a pair, then the other one.  Everybody looks for everybody's: who has
 * looked for one key, for the other and for the first one again has found the record, unless it was moved twice
 * meanwhile.
 */
typedef struct MoveContext
{
	PfsHash    *hash;
	uint64_t	records[HAMMER_WORKERS_MAX];	/* index + 1 */
	uint64_t	begun[HAMMER_WORKERS_MAX];
	uint64_t	done[HAMMER_WORKERS_MAX];
	uint64_t	searches;
	uint64_t	again;			/* of them, that found it by the third look */
} MoveContext;

static void
set_key(void *record, const void *key)
{
	pfs_store_release(&((HashRecord *) record)->key, *(const uint64_t *) key);
}

static uint32_t
find_moving(MoveContext *x, uint64_t key)
{
	uint64_t	word;

	return pfs_hash_find(x->hash, pfs_hash_bytes(&key, sizeof(key)), &key, &word);
}

static void
look_for(MoveContext *x, uint32_t place, uint64_t key)
{
	uint64_t	record = pfs_load_acquire(&x->records[place]);
	uint64_t	done = pfs_load_acquire(&x->done[place]);
	uint32_t	index;
	bool		again = false;

	if (record == 0)
		return;
	index = find_moving(x, key);
	if (index == PFS_NO_RECORD)
		index = find_moving(x, key ^ 1);
	if (index == PFS_NO_RECORD)
	{
		pfs_fence_acquire();
		index = find_moving(x, key);
		again = true;
	}
	pfs_fence_seqcst();
	if (pfs_load_acquire(&x->begun[place]) - done > 1)
		return;
	HAMMER_CHECK(index == record - 1, "record %lu of place %u is not found: %u", record - 1, place, index);
	pfs_add_relaxed(&x->searches, 1);
	pfs_add_relaxed(&x->again, again);
}

static void
move_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	MoveContext *x = context;
	uint64_t	key = place * 2;
	FillArg		arg = {id};
	uint32_t	hint = 0;
	uint64_t	word;
	bool		created;
	uint32_t	index = pfs_hash_insert(x->hash, pfs_hash_bytes(&key, sizeof(key)), &key, fill, &arg, &hint, &word, &created);

	HAMMER_CHECK(index != PFS_NO_RECORD && created, "no room for a record of one's own");
	pfs_store_release(&x->records[place], (uint64_t) index + 1);
	while (hammer_going())
	{
		uint64_t	other = key ^ 1;

		pfs_add_seqcst(&x->begun[place], 1);
		HAMMER_CHECK(pfs_hash_move(x->hash, pfs_hash_bytes(&key, sizeof(key)), pfs_hash_bytes(&other, sizeof(other)), index,
								   set_key, &other), "no slot for a key of one's own");
		pfs_add_seqcst(&x->done[place], 1);
		HAMMER_CHECK(find_moving(x, key) == PFS_NO_RECORD, "the key that was left is found");
		HAMMER_CHECK(find_moving(x, other) == index, "the new key is not found");
		key = other;
		for (int i = 0; i < 20 && !hammer_failed(); i++)
		{
			uint32_t	whose = hammer_random(rng, hammer_options.processes);

			look_for(x, whose, whose * 2 + hammer_random(rng, 2));
		}
	}
}

static void
run_moves(void)
{
	HammerSegment s;
	PfsPages   *pages;
	PfsHash    *hash;
	MoveContext *x;

	/* A worker that is killed in the middle leaves its record in two slots. */
	if (hammer_options.kill)
		return;
	x = lay_out(&s, sizeof(*x), HAMMER_WORKERS_MAX, &pages, &hash);
	x->hash = hash;
	(void) hammer_run(move_worker, x);
	hammer_done("hash, other keys", "%lu searches, %lu found it again", x->searches, x->again);
	hammer_segment_end(&s);
}

/*
 * ---- new keys ----
 *
 * All workers insert the same keys, one after the other and at about the same time, none of which was there
 * before: nearly all windows get their first key, or one more than they have ever had.  Whoever knows of a record,
 * and the worker that was first says which it is, finds it.
 */
#define NEW_KEYS 60000

typedef struct NewContext
{
	PfsHash    *hash;
	uint64_t	laps[HAMMER_WORKERS_MAX];	/* keys that the worker is through
											 * with */
	uint64_t	records[NEW_KEYS];	/* index + 1; 0: nobody has it yet */
	uint64_t	taken;			/* keys that a worker found taken when it came */
} NewContext;

/* Waits for those that are far behind. */
static void
keep_step(const NewContext *x, uint64_t key)
{
	for (int other = 0; other < hammer_options.processes; other++)
	{
		while (pfs_load_acquire(&x->laps[other]) + 2 < key && hammer_going())
			sched_yield();
	}
}

static void
new_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	NewContext *x = context;
	uint32_t	hint = 0;

	for (uint64_t key = 0; key < NEW_KEYS && hammer_going(); key++)
	{
		FillArg		arg = {id};
		uint64_t	hash = pfs_hash_bytes(&key, sizeof(key));
		uint64_t	nobody = 0;
		uint64_t	word;
		bool		created;
		uint32_t	index;

		if (pfs_load_acquire(&x->records[key]) != 0)
			index = pfs_hash_find(x->hash, hash, &key, &word);
		else
		{
			/* An insertion gives up where another one sleeps in the middle. */
			while ((index = pfs_hash_insert(x->hash, hash, &key, fill, &arg, &hint, &word, &created)) == PFS_NO_RECORD &&
				   hammer_going())
				sched_yield();
		}
		HAMMER_CHECK(index != PFS_NO_RECORD || !hammer_going(), "key %lu is not found", key);
		if (index == PFS_NO_RECORD)
			return;
		if (!pfs_cas(&x->records[key], &nobody, (uint64_t) index + 1))
		{
			HAMMER_CHECK(nobody == (uint64_t) index + 1, "key %lu is in records %lu and %u", key, nobody - 1, index);
			pfs_add_relaxed(&x->taken, 1);
		}
		HAMMER_CHECK(pfs_hash_find(x->hash, hash, &key, &word) == index, "key %lu is not found again", key);
		pfs_store_release(&x->laps[place], key + 1);
		keep_step(x, key);
	}
}

static void
run_new(void)
{
	HammerSegment s;
	PfsPages   *pages;
	PfsHash    *hash;
	NewContext *x;

	/* Nobody waits for a worker that is killed. */
	if (hammer_options.kill)
		return;
	x = lay_out(&s, sizeof(*x), 2 * NEW_KEYS, &pages, &hash);
	x->hash = hash;
	(void) hammer_run(new_worker, x);
	hammer_done("hash, new keys", "%lu keys, %lu taken", x->laps[0], x->taken);
	hammer_segment_end(&s);
}

/* The hash function: no bit of the result ignores a bit of the key. */
static void
run_function(void)
{
	char		bytes[40];
	uint64_t	constant = UINT64_MAX;

	for (size_t len = 0; len <= sizeof(bytes); len++)
	{
		uint64_t	hash;

		memset(bytes, 0, sizeof(bytes));
		hash = pfs_hash_bytes(bytes, len);
		if (len > 0 && hash == pfs_hash_bytes(bytes, len - 1))
			hammer_fail("length %zu does not matter", len);
		for (size_t bit = 0; bit < len * 8; bit++)
		{
			uint64_t	changed;

			bytes[bit / 8] ^= 1 << (bit % 8);
			changed = hash ^ pfs_hash_bytes(bytes, len);
			bytes[bit / 8] ^= 1 << (bit % 8);
			if (__builtin_popcountll(changed) < 10 || __builtin_popcountll(changed) > 54)
				hammer_fail("bit %zu of %zu bytes changes %d bits", bit, len, __builtin_popcountll(changed));
			constant &= ~changed;
		}
	}
	if (constant != 0)
		hammer_fail("bits %lx never change", constant);
	hammer_done("hash, function", "0 to 40 bytes");
}

void
hammer_hash(void)
{
	run_function();
	run_hash(1, 1, false, false);
	run_hash(2, 2, false, false);
	run_hash(7, 3, false, false);
	run_hash(7, 30, false, false);
	run_hash(1000, 1, true, false);
	run_hash(1000, 4, true, true);
	run_hash(1000, 600, true, false);
	run_hash(1000, 3000, false, false);
	run_moves();
	run_new();
}
