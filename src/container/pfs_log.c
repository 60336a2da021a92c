/*
 * pfs_log.c
 *	  The log of many writers: claiming, storing, reading, truncating.
 *
 * A lane is a ring of groups.  Positions in a lane count groups and never wrap:
 * position p is group p % groups in lap p / groups.  A group's word says up to
 * which slot its current lap is claimed; a slot's word says which item is in
 * it.  README.md has the argument.
 */
#include "pfs_log.h"

/* A reader that keeps meeting a writer in the same slot gives up soon. */
#define PFS_LOG_READ_TRIES	4

/*
 * Groups beyond the capacity.  Each writer that sleeps in the middle holds one,
 * and without any to spare a log of a few items would lose more than it keeps
 * when there are more writers than processors.
 */
#define PFS_LOG_SPARE_GROUPS 4

/* A group's word: lap, and how many of its slots are claimed (0 .. 16). */
#define FILL_BITS			5
#define FILL(word)			((uint32_t) (word) & ((1 << FILL_BITS) - 1))
#define LAP(word)			((word) >> FILL_BITS)
#define GROUP_WORD(lap, fill) (((lap) << FILL_BITS) | (fill))

/*
 * A lane's position: lap and group side by side, which orders them without a
 * division.  40 bits of laps: at a million items a second, three years for the
 * smallest lane of 80 slots.
 */
#define GROUP_BITS			24
#define POSITION(lap, group) ((uint64_t) (lap) << GROUP_BITS | (group))
#define POSITION_LAP(position) ((position) >> GROUP_BITS)
#define POSITION_GROUP(position) ((uint32_t) (position) & ((1 << GROUP_BITS) - 1))

typedef struct PfsSharedLogLane
{
	/*
	 * Highest position that was ever claimed from; only grows.  Writers of
	 * the lane read it at every claim and raise it once per group.
	 */
	uint64_t	position __attribute__((aligned(PFS_CACHE_LINE)));
	/* truncators raise, readers read; items up to this word are hidden */
	uint64_t	tail __attribute__((aligned(PFS_CACHE_LINE)));
	uint64_t	lost;			/* writers add */
} PfsSharedLogLane;

struct PfsLog
{
	/* set at creation, never changes */
	uint32_t	nlanes;
	uint32_t	ngroups;		/* per lane */
	uint32_t	item_size;
	size_t		groups_stride;	/* words from one lane's groups to the next's */
	size_t		slots_stride;	/* bytes from one lane's slots to the next's */
	size_t		bytes;
	PfsSharedLogLane *lanes;	/* [nlanes] */
	uint64_t   *groups;			/* writers, by compare-and-swap */
	char	   *slots;			/* items, each led by its word */
};

static inline PfsSeqlock *
slot_lock(const PfsLog *log, uint32_t lane, uint32_t slot)
{
	return (PfsSeqlock *) (log->slots + lane * log->slots_stride +
						   (size_t) slot * log->item_size);
}

/*
 * The word of the item in the i-th slot of a group in a lap: even, never 0,
 * and growing along the lane's positions, so it is the order as well.
 */
static inline uint64_t
done_word(const PfsLog *log, uint64_t lap, uint32_t group, uint32_t i)
{
	return 2 * ((lap * log->ngroups + group) * PFS_LOG_GROUP + i + 1);
}

/*
 * Lays out the lanes: each can hold all items that the log promises, and some groups
 * more, which writers may be filling.
 */
PfsLog *
pfs_log_create(PfsSegment *seg, uint32_t lanes, uint32_t capacity, uint32_t item_size)
{
	size_t		start = seg->used;
	uint32_t	ngroups;
	size_t		groups_stride;
	size_t		slots_stride;
	PfsLog	   *log;
	PfsSharedLogLane *lane;
	uint64_t   *groups;
	char	   *slots;

	if (capacity == 0 || lanes == 0)
		return NULL;
	ngroups = (capacity - 1) / PFS_LOG_GROUP + 1 + PFS_LOG_SPARE_GROUPS;
	if (ngroups > 1 << GROUP_BITS)
		ngroups = 1 << GROUP_BITS;	/* 2^28 items: more than is ever asked for */
	groups_stride = (ngroups * sizeof(uint64_t) + PFS_CACHE_LINE - 1) /
		PFS_CACHE_LINE * (PFS_CACHE_LINE / sizeof(uint64_t));
	slots_stride = ((size_t) ngroups * PFS_LOG_GROUP * item_size + PFS_CACHE_LINE - 1) /
		PFS_CACHE_LINE * PFS_CACHE_LINE;

	log = pfs_segment_take(seg, sizeof(PfsLog), PFS_CACHE_LINE);
	lane = pfs_segment_take(seg, lanes * sizeof(PfsSharedLogLane), PFS_CACHE_LINE);
	groups = pfs_segment_take(seg, lanes * groups_stride * sizeof(uint64_t), PFS_CACHE_LINE);
	slots = pfs_segment_take(seg, lanes * slots_stride, PFS_CACHE_LINE);
	if (seg->base == NULL)
		return NULL;

	log->nlanes = lanes;
	log->ngroups = ngroups;
	log->item_size = item_size;
	log->groups_stride = groups_stride;
	log->slots_stride = slots_stride;
	log->bytes = seg->used - start;
	log->lanes = lane;
	log->groups = groups;
	log->slots = slots;
	return log;
}

/*
 * Whether the claimed slots of a group are all stored.  K: pairs with the
 * release (L) in pfs_log_slot_end; the next writer's stores come after the last
 * one's.  The slots above fill were complete when the group was taken for this
 * lap, and nobody was allowed near them since.
 */
static bool
group_complete(const PfsLog *log, uint32_t lane, uint32_t group, uint64_t word)
{
	const char *slot = (const char *) slot_lock(log, lane, group * PFS_LOG_GROUP);
	uint64_t	done = done_word(log, LAP(word), group, 0);
	uint64_t	end = done + 2 * FILL(word);

	for (; done != end; done += 2, slot += log->item_size)
	{
		if (pfs_load_acquire(&((const PfsSeqlock *) slot)->word) != done)
			return false;
	}
	return true;
}

/*
 * Claims slots of the first group with room, from the lane's position on.  A group
 * that is full, or that writers of the last lap have not finished, is passed over; if
 * all are, the items count as lost.  Nobody waits for anybody.
 */
bool
pfs_log_claim(PfsLog *log, uint32_t lane, uint32_t want, PfsLogClaim *claim)
{
	PfsSharedLogLane *shared;
	uint64_t   *groups;
	uint64_t	seen;
	uint64_t	lap;
	uint32_t	group;
	uint32_t	next;

	if (lane >= log->nlanes)
		lane %= log->nlanes;
	shared = &log->lanes[lane];
	groups = log->groups + lane * log->groups_stride;
	seen = pfs_load_acquire(&shared->position);
	lap = POSITION_LAP(seen);
	group = POSITION_GROUP(seen);

	for (uint32_t visited = 0; visited < log->ngroups;)
	{
		uint64_t	word = pfs_load_acquire(&groups[group]);
		uint32_t	fill = 0;
		uint32_t	count = want;

		if (LAP(word) > lap)
		{
			/* The lane is a lap ahead of us. */
			lap = LAP(word);
			continue;
		}
		if (LAP(word) == lap)
			fill = FILL(word);
		if (fill < PFS_LOG_GROUP &&
			(LAP(word) == lap || group_complete(log, lane, group, word)))
		{
			if (count > PFS_LOG_GROUP - fill)
				count = PFS_LOG_GROUP - fill;
			if (!pfs_cas(&groups[group], &word, GROUP_WORD(lap, fill + count)))
				continue;

			/*
			 * Raise the position before anything is stored: a claim that
			 * begins after this one ends gets a later slot.  Truncation and
			 * the order of one writer's items rest on that.
			 */
			while (seen < POSITION(lap, group) &&
				   !pfs_cas(&shared->position, &seen, POSITION(lap, group)))
				;
			claim->lane = lane;
			claim->first = group * PFS_LOG_GROUP + fill;
			claim->count = count;
			claim->done_word = done_word(log, lap, group, fill);
			claim->slots = (char *) slot_lock(log, lane, claim->first);
			next = group + 1 == log->ngroups ? 0 : group + 1;
			claim->next = (const char *) slot_lock(log, lane, next * PFS_LOG_GROUP);
			__builtin_prefetch(&groups[next], 1);
			return true;
		}

		/* Full, or its writers have not finished: leave it to them. */
		visited++;
		if (++group == log->ngroups)
		{
			group = 0;
			lap++;
		}
	}
	pfs_add_relaxed(&shared->lost, want);
	return false;
}

void
pfs_log_store(PfsLog *log, const PfsLogClaim *claim, uint32_t i, const void *item)
{
	pfs_log_store_sized(claim, i, item, log->item_size);
}

uint32_t
pfs_log_lanes(const PfsLog *log)
{
	return log->nlanes;
}

uint32_t
pfs_log_slots(const PfsLog *log)
{
	return log->ngroups * PFS_LOG_GROUP;
}

/* The position is raised before anything is stored, see pfs_log_claim(). */
uint32_t
pfs_log_used_slots(const PfsLog *log, uint32_t lane)
{
	uint64_t	position = pfs_load_acquire(&log->lanes[lane].position);

	return POSITION_LAP(position) > 0 ? pfs_log_slots(log) : (POSITION_GROUP(position) + 1) * PFS_LOG_GROUP;
}

/* Copies a slot from between two write sections of whoever stores into it. */
bool
pfs_log_read(const PfsLog *log, uint32_t lane, uint32_t slot, void *dst)
{
	const PfsSeqlock *lock = slot_lock(log, lane, slot);

	for (int tries = 0; tries < PFS_LOG_READ_TRIES; tries++)
	{
		uint64_t	word = pfs_seqlock_read_begin(lock);

		if ((word & 1) == 0)
		{
			/* Items behind the tail are newer than the truncation. */
			if (word <= pfs_load_acquire(&log->lanes[lane].tail))
				return false;
			pfs_racy_copy(dst, lock, log->item_size);
			if (pfs_seqlock_read_valid(lock, word))
			{
				((PfsSeqlock *) dst)->word = word;
				return true;
			}
		}
		pfs_pause();
	}
	return false;
}

/* Counts the items that readers can see now, without copying any. */
uint64_t
pfs_log_count(const PfsLog *log)
{
	uint64_t	n = 0;

	for (uint32_t lane = 0; lane < log->nlanes; lane++)
	{
		uint64_t	tail = pfs_load_acquire(&log->lanes[lane].tail);
		uint32_t	used = pfs_log_used_slots(log, lane);

		for (uint32_t slot = 0; slot < used; slot++)
		{
			uint64_t	word = pfs_load_relaxed(&slot_lock(log, lane, slot)->word);

			n += (word & 1) == 0 && word > tail;
		}
	}
	return n;
}

/*
 * Moves each lane's tail behind the newest item that is stored.  A concurrent
 * truncation may move it further, never back.
 */
void
pfs_log_truncate(PfsLog *log)
{
	for (uint32_t lane = 0; lane < log->nlanes; lane++)
	{
		uint64_t   *tail = &log->lanes[lane].tail;
		uint64_t	old = pfs_load_relaxed(tail);
		uint64_t	newest = 0;

		uint32_t	used = pfs_log_used_slots(log, lane);

		for (uint32_t slot = 0; slot < used; slot++)
		{
			uint64_t	word = pfs_load_acquire(&slot_lock(log, lane, slot)->word);

			/* odd: being stored now, may stay */
			if ((word & 1) == 0 && word > newest)
				newest = word;
		}
		while (newest > old && !pfs_cas(tail, &old, newest))
			;
	}
}

uint64_t
pfs_log_lost(const PfsLog *log)
{
	uint64_t	lost = 0;

	for (uint32_t lane = 0; lane < log->nlanes; lane++)
		lost += pfs_load_relaxed(&log->lanes[lane].lost);
	return lost;
}

void
pfs_log_reset_lost(PfsLog *log)
{
	for (uint32_t lane = 0; lane < log->nlanes; lane++)
		pfs_store_relaxed(&log->lanes[lane].lost, 0);
}

size_t
pfs_log_bytes(const PfsLog *log)
{
	return log->bytes;
}

/* All but the slots that no item was stored to yet. */
size_t
pfs_log_resident_bytes(const PfsLog *log)
{
	size_t		unused = 0;

	for (uint32_t lane = 0; lane < log->nlanes; lane++)
		unused += pfs_log_slots(log) - pfs_log_used_slots(log, lane);
	return log->bytes - unused * log->item_size;
}
