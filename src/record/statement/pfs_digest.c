/*
 * pfs_digest.c
 *	  The container of digests: finding, making, samples, texts.
 *
 * Adding.  Whoever adds to a digest has it pinned meanwhile (pfs_ref.h): two atomic
 * steps on a line that belongs to the digest alone.  So nobody adds to a digest that is
 * evicted, and whoever comes later does not find it: then the counters go to a digest of
 * the same key that is made anew, or to all others.  Each number is added once, to a
 * record that exists, and leaves it with all others in one move; no total is ever short
 * of one, or has it twice.
 *
 * Making room.  pfs_digest_evict.c removes a digest and moves its counters to all others.
 */
#include "postgres.h"

#include "pfs_digest.h"
#include "pfs_digest_evict.h"
#include "pfs_node.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/* Records of one page; waits are a cache line each. */
#define DIGESTS_PER_PAGE	32
#define WAITS_PER_PAGE		1024

/* Kinds of waits that a shape has, on average, within reason. */
#define WAITS_PER_DIGEST	6

/* A digest that is evicted is out of the index soon. */
#define ENTER_TRIES			64

/* How many digests one caller makes room by: others may take what it got. */
#define ROOM_TRIES			3

PfsDigestSet pfs_digests;
PfsDigestSet pfs_plans;
PFS_FIXED PfsPages *pfs_digest_waits = NULL;
PfsSharedDigests *pfs_shared_digests = NULL;
PfsSharedBlock pfs_digest_other_waits;

PFS_HOT_FIRST uint64 pfs_digests_without_text = 0;
bool		pfs_text_is_made = false;

/* Age in seconds at which a sample is replaced; 0: never. */
static int	sample_age = PFS_SAMPLE_AGE_DEFAULT;

static bool
has_key(const void *record, const void *p)
{
	const PfsDigest *d = record;
	const PfsPlanKey *key = p;

	return pfs_digest_same_key(&d->key, &key->digest) && d->plan_id == key->plan_id;
}

/* Bytes of a set beside its records. */
static size_t
size_beside(uint32 records)
{
	return records == 0 ? 0 : sizeof(PfsSharedDigestSet) + records * sizeof(PfsDigestRefSlot);
}

size_t
pfs_digests_extra_size(void)
{
	return pfs_sizes.digests == 0 ? 0 : size_beside(pfs_sizes.digests) + size_beside(pfs_sizes.plans) +
		sizeof(PfsSharedDigests) +
		pfs_shared_block_size(pfs_sizes.cells[PFS_FAMILY_WAITS], sizeof(PfsSharedCell));
}

static void
lay_out_set(PfsSegment *seg, PfsDigestSet *set, const char *name, uint32 records, uint32 text, uint32 sample)
{
	size_t		size = offsetof(PfsDigest, texts) + text + sample;

	set->pages = pfs_pages_create(seg, name, TYPEALIGN(PFS_CACHE_LINE, size), records, DIGESTS_PER_PAGE);
	set->index = pfs_hash_create(seg, set->pages, records, has_key);
	set->ref_slots = pfs_segment_take(seg, records * sizeof(PfsDigestRefSlot), PFS_CACHE_LINE);
	set->shared = pfs_segment_take(seg, sizeof(PfsSharedDigestSet), PFS_CACHE_LINE);
	set->text = text;
}

/* Takes both sets, and the waits of all others. */
void
pfs_digests_lay_out(PfsSegment *seg)
{
	uint32		ncells = pfs_sizes.digests == 0 ? 0 : pfs_sizes.cells[PFS_FAMILY_WAITS];

	lay_out_set(seg, &pfs_digests, "digests", pfs_sizes.digests, pfs_sizes.digest_text, pfs_sizes.sql_text);
	lay_out_set(seg, &pfs_plans, "plans", pfs_sizes.plans, pfs_sizes.plan_text, 0);
	pfs_digest_waits = pfs_pages_create(seg, "digest_waits", sizeof(PfsChained), pfs_sizes.digests * WAITS_PER_DIGEST,
										WAITS_PER_PAGE);
	pfs_digest_other_waits = (PfsSharedBlock)
	{
		pfs_segment_take(seg, pfs_shared_block_size(ncells, sizeof(PfsSharedCell)), PFS_CACHE_LINE),
			ncells, sizeof(PfsSharedCell)
	};
}

void
pfs_digest_set_sample_age(int seconds)
{
	sample_age = seconds;
}

/*
 * Should the sweep that evicts come by PFS_DIGEST_USAGE_MAX times within a second, it evicts a digest that is in use, too,
 * and the next look makes the digest anew.
 */
uint64
pfs_digest_next_look(uint64 sample_seen, uint64 now)
{
	uint64		second = pfs_clock->frequency[pfs_timer_default()];

	return sample_age == 0 ? now + second : Min(now + second, sample_seen + sample_age * second);
}

/* ---- offsets ---- */

/*
 * How long the offset of a digest's last statement is taken to hold: clocks that
 * differ by one part in a million are ten microseconds apart then.
 */
#define OFFSET_SECONDS 10

void
pfs_digest_look_at_offset(PfsDigestOffset *offset, uint64 now)
{
	if (now - pfs_load_relaxed(&offset->taken) > OFFSET_SECONDS * pfs_clock->frequency[pfs_timer_default()])
		pfs_digest_offset_store(offset, now, pfs_clock_offset(now));
}

/* Offsets race with those of other processes. */
void
pfs_digest_note_others(PfsDigestSet *set, uint64 first, int64 first_offset, uint64 last, const PfsDigestOffset *last_offset)
{
	PfsDigest  *others = &set->shared->others;
	uint64		old = pfs_load_relaxed(&others->first_seen);

	/* Dates before the server's start may be one reading. */
	if (first == old && first_offset < pfs_load_relaxed(&others->first_offset))
		pfs_store_relaxed(&others->first_offset, first_offset);
	while (old == 0 || first < old)
	{
		if (!pfs_cas(&others->first_seen, &old, first))
			continue;
		pfs_store_relaxed(&others->first_offset, first_offset);
		break;
	}
	if (last <= pfs_load_relaxed(&others->last_seen))
		return;
	pfs_digest_offset_store(&others->last_offset, last_offset->taken, last_offset->value);
	pfs_raise_to(&others->last_seen, last);
}

/* ---- finding and making ---- */

/* Fills in a new record, for the hash table.  It can be pinned from here on. */
static void
fill_cb(void *record, const void *p, void *arg)
{
	const PfsPlanKey *key = p;
	const PfsDigestSet *set = arg;
	PfsDigest  *d = record;
	PfsDigestRefSlot *ref_slot = &set->ref_slots[pfs_pages_index(set->pages, d)];

	memset(d, 0, offsetof(PfsDigest, texts));
	d->key = key->digest;
	d->plan_id = key->plan_id;
	d->first_seen = d->last_seen = pfs_timer_read(pfs_timer_default());
	d->first_offset = pfs_clock_offset(d->first_seen);
	d->last_offset.taken = d->first_seen;
	d->last_offset.value = d->first_offset;
	pfs_store_relaxed(&ref_slot->usage, 1);
	pfs_ref_reuse(&ref_slot->ref);
}

/*
 * Makes a digest that the caller has not found; PFS_NO_RECORD: there is no room.  Where
 * there is none, as is usual once there have been more shapes than places, it is made.
 */
static uint32
insert(PfsDigestSet *set, const PfsPlanKey *key, uint64 hash, uint64 *word)
{
	bool		created;

	for (int room = 0;; room++)
	{
		uint32		index = pfs_hash_insert_new(set->index, hash, key, fill_cb, set, &set->hint, word, &created);

		if (index != PFS_NO_RECORD)
			return index;
		if (room == ROOM_TRIES || !pfs_digest_evict(set))
			return PFS_NO_RECORD;
	}
}

uint32
pfs_plan_make(const PfsDigestKey *digest, uint64 plan_id)
{
	PfsDigestSet *set = pfs_digest_set(plan_id);
	PfsPlanKey	key = {*digest, plan_id};
	uint64		word;
	bool		created;

	return pfs_hash_insert(set->index, pfs_plan_hash(&key), &key, fill_cb, set, &set->hint, &word, &created);
}

/* NULL: no room, none and not `make`, or always evicted before it could be pinned. */
PfsPinnedDigest *
pfs_plan_enter(const PfsDigestKey *digest, uint64 plan_id, bool make)
{
	static PfsPinnedDigest pinned;
	PfsDigestSet *set = pfs_digest_set(plan_id);
	PfsPlanKey	key = {*digest, plan_id};
	uint64		hash = pfs_plan_hash(&key);

	for (int tries = 0; tries < ENTER_TRIES; tries++)
	{
		uint64		word;
		uint32		index = pfs_hash_find(set->index, hash, &key, &word);

		if (index == PFS_NO_RECORD && make)
			index = insert(set, &key, hash, &word);
		if (index == PFS_NO_RECORD)
			return NULL;
		pinned = (PfsPinnedDigest)
		{
			set, word, &set->pages->state[index], pfs_pages_record(set->pages, index), &set->ref_slots[index]
		};
		if (pfs_ref_pin(&pinned.ref_slot->ref, pinned.state, word))
			return &pinned;
		pfs_pause();
	}
	return NULL;
}

void
pfs_plan_add_waits(const PfsDigestKey *key, uint64 plan_id, uint32 node, PfsInstrumentId instrument, const PfsTotals *waits)
{
	PfsPinnedDigest *pinned = pfs_plan_enter(key, plan_id, false);

	pfs_node_add_waits(pinned != NULL ? pfs_load_acquire(&pinned->digest->nodes) : 0, node, instrument, waits);
	pfs_digest_leave(pinned);
}

/* ---- samples ---- */

/* Stores a statement as the sample, unless another process is storing one. */
void
pfs_digest_put_sample(PfsDigest *d, const PfsDigestEnd *end, int64 offset)
{
	uint64		word = pfs_load_relaxed(&d->sample.word);
	uint32		len = Min(end->sample->text_len, pfs_sizes.sql_text);

	if ((word & 1) != 0 || !pfs_cas(&d->sample.word, &word, word + 1))
		return;
	pfs_fence_release();		/* A of pfs_seqlock.h */
	pfs_store_relaxed(&d->sample_seen, end->now);
	pfs_store_relaxed(&d->sample_ticks, end->ticks);
	pfs_store_relaxed(&d->sample_offset, offset);
	pfs_store_relaxed(&d->sample_len, len);
	memcpy(d->texts + pfs_sizes.digest_text, pfs_statement_text(end->sample), len);
	pfs_seqlock_write_end(&d->sample);
}

bool
pfs_digest_is_sample_old(uint64 sample_seen, uint64 now)
{
	/* Another process may have taken one that ended later. */
	return sample_age > 0 && now > sample_seen && now - sample_seen > sample_age * pfs_clock->frequency[pfs_timer_default()];
}

bool
pfs_digest_wants_sample(uint64 sample_ticks, uint64 sample_seen, const PfsDigestEnd *end)
{
	return end->ticks > sample_ticks || pfs_digest_is_sample_old(sample_seen, end->now);
}

/*
 * Makes a statement the sample of its digest if it is the slowest or that is old, and
 * says what the sample is then.
 */
void
pfs_digest_take_sample(const PfsDigestEnd *end, int64 offset, uint64 *sample_seen, uint64 *sample_ticks)
{
	PfsPinnedDigest *pinned = pfs_digest_enter(&end->key, true);
	PfsDigest  *d;

	if (pinned == NULL)
		return;
	d = pinned->digest;
	/* As the record's other dates, unless these are from before the start. */
	if (pfs_load_relaxed(&d->last_seen) > pfs_clock->zero[pfs_timer_default()])
		offset = pfs_load_relaxed(&d->last_offset.value);
	if (pfs_digest_wants_sample(pfs_load_relaxed(&d->sample_ticks), pfs_load_relaxed(&d->sample_seen), end))
		pfs_digest_put_sample(d, end, offset);
	*sample_seen = pfs_load_relaxed(&d->sample_seen);
	*sample_ticks = pfs_load_relaxed(&d->sample_ticks);
	pfs_digest_leave(pinned);
}

/* ---- texts ---- */

uint32
pfs_plan_find(const PfsDigestKey *digest, uint64 plan_id, uint64 *word)
{
	PfsPlanKey	key = {*digest, plan_id};

	return pfs_hash_find(pfs_digest_set(plan_id)->index, pfs_plan_hash(&key), &key, word);
}

/* A digest that is given up meanwhile may give either answer. */
PfsDigestTextState
pfs_digest_has_text(const PfsThread *t, const PfsDigestKey *key)
{
	uint64		word;
	uint32		index;

	if ((pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STATEMENT]) & pfs_load_relaxed(&t->mask) &
		 PFS_FLAG_DIGEST) == 0 || key->query_id == 0 || pfs_sizes.digest_text == 0)
		return PFS_TEXT_READY;
	index = pfs_digest_find(key, &word);
	return index == PFS_NO_RECORD ? PFS_TEXT_NONE
		: pfs_load_relaxed(&((PfsDigest *) pfs_pages_record(pfs_digests.pages, index))->text_state);
}

/* The same of a plan. */
bool
pfs_plan_lacks_text(const PfsDigestKey *key, uint64 plan_id, bool at_once)
{
	uint64		word;
	uint32		index;

	if (pfs_sizes.plan_text == 0)
		return false;
	index = pfs_plan_find(key, plan_id, &word);
	if (index == PFS_NO_RECORD)
		return at_once;
	return pfs_load_relaxed(&((PfsDigest *) pfs_pages_record(pfs_plans.pages, index))->text_state) < PFS_TEXT_READY;
}

bool
pfs_digest_note_text(uint32 index, uint64 query_id)
{
	const PfsDigest *d = pfs_pages_record(pfs_digests.pages, index);

	if (pfs_sizes.digest_text == 0 || pfs_load_relaxed(&d->text_state) != PFS_TEXT_NONE)
		return false;
	pfs_digests_without_text |= UINT64_C(1) << query_id % 64;
	return true;
}

/*
 * Gives a digest or a plan its text, of whole characters, which it lacks.  Makes the record if need be; a text that
 * another process is writing stays.
 */
static void
put_text(const PfsDigestKey *key, uint64 plan_id, const PfsPlanFacts *facts, const char *str, uint32 len, bool provisional)
{
	PfsPinnedDigest *pinned = pfs_plan_enter(key, plan_id, true);
	uint32		none = PFS_TEXT_NONE;
	uint32		worse = PFS_TEXT_PROVISIONAL;
	PfsDigest  *d;

	if (pinned == NULL)
		return;
	d = pinned->digest;
	/* Unless another process has the right to write it, or it is as good. */
	if (pfs_cas(&d->text_state, &none, PFS_TEXT_COMING) ||
		(!provisional && pfs_cas(&d->text_state, &worse, PFS_TEXT_REPLACED)))
	{
		/*
		 * Pairs with the one in copy_text() of readers: no byte before
		 * REPLACED.
		 */
		pfs_fence_release();
		len = Min(len, pinned->set->text);
		memcpy(d->texts, str, len);
		if (facts != NULL)
			d->plan = *facts;
		pfs_store_relaxed(&d->text_len, len);
		pfs_store_release(&d->text_state, provisional ? PFS_TEXT_PROVISIONAL : PFS_TEXT_READY);
	}
	pfs_digest_leave(pinned);
}

void
pfs_digest_put_text(const PfsDigestKey *key, const char *str, uint32 len, bool provisional)
{
	put_text(key, 0, NULL, str, len, provisional);
}

void
pfs_plan_put_text(const PfsDigestKey *key, uint64 plan_id, const PfsPlanFacts *facts, const char *str, uint32 len)
{
	put_text(key, plan_id, facts, str, len, false);
}
