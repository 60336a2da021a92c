/*
 * pfs_rule_list.c
 *	  Lists of rules in shared memory: inserting, changing and removing rules.
 *
 * Writers hold the setup lock and are in a write section of the list's sequence lock
 * while they change anything.  So a reader takes all that one call inserts, changes or
 * removes into account, or nothing of it, and does not miss both a rule that was removed
 * and the one that replaced it.  A writer copies some bytes there and neither waits nor
 * raises errors, but it can lose its processor: readers wait with patience
 * (pfs_patience.h), or not at all.
 *
 * Separate from what the rules mean (pfs_actor.c, pfs_object_rules.c), as both lists
 * change in the same way.
 */
#include "postgres.h"

#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "pfs_rule_list.h"
#include "pfs_setup.h"

/* Records of one page. */
#define RULES_PER_PAGE 128

/* The word of switches of a rule, which is behind its key. */
static uint64 *
switches_of(const PfsRuleList *list, const void *rule)
{
	return (uint64 *) ((char *) unconstify(void *, rule) + list->key_size);
}

/* The i-th rule of an array. */
static const void *
nth_rule(const PfsRuleList *list, const void *rules, int i)
{
	return (const char *) rules + pfs_rules_size(list) * i;
}

/*
 * Begin and end of a change of rules, whose time pfs.status has a use for.  The caller
 * holds the lock.
 */
static void
begin_change(PfsRuleList *list)
{
	pfs_store_relaxed(&list->shared->changed, GetCurrentTimestamp());
	pfs_seqlock_write_begin(&list->shared->seq);
}

static void
end_change(PfsRuleList *list)
{
	pfs_seqlock_write_end(&list->shared->seq);
}

/* Finds the rule with this key.  The caller holds the lock, so the rule stays. */
static bool
find_key(PfsRuleList *list, const void *rule, PfsRuleRef *ref)
{
	uint32		pos = 0;

	while ((ref->index = pfs_pages_next(list->pages, &pos, &ref->word)) != PFS_NO_RECORD)
	{
		if (memcmp(pfs_pages_record(list->pages, ref->index), rule, list->key_size) == 0)
			return true;
	}
	return false;
}

/*
 * Tells whether n more rules fit, and counts one loss if not.  A container of size 0 is
 * off and loses nothing.  The caller holds the lock.
 */
static bool
has_room(PfsRuleList *list, uint64 n)
{
	if (pfs_pages_used(list->pages) + n <= list->pages->records_max)
		return true;
	if (list->pages->records_max > 0)
		pfs_pages_count_lost(list->pages);
	return false;
}

/*
 * Tells whether a rule could be inserted now, so that INSERT can raise its error at the
 * row which causes it.  Nothing is reserved: pfs_rules_insert() checks again.
 */
PfsRuleResult
pfs_rules_check(PfsRuleList *list, const void *rule, int others)
{
	PfsRuleRef	ref;
	PfsRuleResult result = PFS_RULES_DONE;

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	if (find_key(list, rule, &ref))
		result = PFS_RULES_DUPLICATE;
	else if (!has_room(list, (uint64) others + 1))
		result = PFS_RULES_FULL;
	LWLockRelease(pfs_setup->lock);
	return result;
}

/*
 * Inserts one rule, if there is room for it.  The caller is in a write section, or alone
 * at the start.  As records are allocated and freed under the lock only, every allocation
 * succeeds for a caller that has asked has_room().
 */
static void
insert_rule(PfsRuleList *list, const void *rule)
{
	uint32		index = pfs_pages_allocate(list->pages, &list->hint);

	if (index == PFS_NO_RECORD)
		return;
	memcpy(pfs_pages_record(list->pages, index), rule, pfs_rules_size(list));
	pfs_pages_publish(list->pages, index);
}

/*
 * Inserts the rules of one INSERT, all of them or none.  Returns why it inserted none, with
 * *which as the index of the first duplicate; the caller raises the error, and has
 * compared the rules with each other.
 */
PfsRuleResult
pfs_rules_insert(PfsRuleList *list, const void *rules, int n, int *which)
{
	PfsRuleResult result = PFS_RULES_DONE;
	PfsRuleRef	ref;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	*which = 0;
	while (*which < n && !find_key(list, nth_rule(list, rules, *which), &ref))
		(*which)++;
	if (*which < n)
		result = PFS_RULES_DUPLICATE;
	else if (!has_room(list, n))
		result = PFS_RULES_FULL;
	else
	{
		begin_change(list);
		for (int i = 0; i < n; i++)
			insert_rule(list, nth_rule(list, rules, i));
		end_change(list);
	}
	LWLockRelease(pfs_setup->lock);
	return result;
}

/* Changes the switches of a rule.  The caller holds the lock. */
static void
write_switches(PfsRuleList *list, uint32 index, uint64 switches)
{
	begin_change(list);
	pfs_store_relaxed(switches_of(list, pfs_pages_record(list->pages, index)), switches);
	end_change(list);
}

/*
 * Gives the rule with this key these switches, or inserts it, for the functions
 * pfs.set_actor() and pfs.set_object().  The caller raises the error if the container is
 * full.
 */
PfsRuleResult
pfs_rules_set(PfsRuleList *list, const void *rule)
{
	PfsRuleResult result = PFS_RULES_DONE;
	PfsRuleRef	ref;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	if (find_key(list, rule, &ref))
		write_switches(list, ref.index, *switches_of(list, rule));
	else if (has_room(list, 1))
	{
		begin_change(list);
		insert_rule(list, rule);
		end_change(list);
	}
	else
		result = PFS_RULES_FULL;
	LWLockRelease(pfs_setup->lock);
	return result;
}

/*
 * Changes switches of a rule that a scan has read, for UPDATE.  Another session may have
 * removed it since, and its record may hold another rule by now: then the state word
 * differs and nothing is changed.
 */
void
pfs_rules_update(PfsRuleList *list, PfsRuleRef ref, uint64_t bits, uint64_t switches)
{
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	if (pfs_pages_word(list->pages, ref.index) == ref.word)
	{
		uint64		present = *switches_of(list, pfs_pages_record(list->pages, ref.index));

		write_switches(list, ref.index, (present & ~bits) | switches);
	}
	LWLockRelease(pfs_setup->lock);
}

/*
 * Removes a rule, and returns 1, if it is still the one that was read.  The caller is in
 * a write section.
 */
static int64
remove_rule(PfsRuleList *list, PfsRuleRef ref)
{
	if (!pfs_pages_claim(list->pages, ref.index, ref.word))
		return 0;
	pfs_pages_free(list->pages, ref.index);
	return 1;
}

/* Removes the rules that a DELETE has read, in one write section. */
void
pfs_rules_remove(PfsRuleList *list, const PfsRuleRef *refs, int n)
{
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	begin_change(list);
	for (int i = 0; i < n; i++)
		(void) remove_rule(list, refs[i]);
	end_change(list);
	LWLockRelease(pfs_setup->lock);
}

/* Removes the rule with the key of this one, or all rules (NULL), in one write section; returns how many it removed. */
int64_t
pfs_rules_remove_key(PfsRuleList *list, const void *rule)
{
	PfsRuleRef	ref;
	uint32		pos = 0;
	int64		removed = 0;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	if (rule == NULL || find_key(list, rule, &ref))
	{
		begin_change(list);
		if (rule != NULL)
			removed = remove_rule(list, ref);
		else
		{
			while ((ref.index = pfs_pages_next(list->pages, &pos, &ref.word)) != PFS_NO_RECORD)
				removed += remove_rule(list, ref);
		}
		end_change(list);
	}
	LWLockRelease(pfs_setup->lock);
	return removed;
}

/* Takes the container of rules from the segment. */
void
pfs_rules_lay_out(PfsRuleList *list, PfsSegment *seg, uint32_t records_max)
{
	Assert(pfs_rules_size(list) <= PFS_RULE_SIZE_MAX);
	list->pages = pfs_pages_create(seg, list->name, pfs_rules_size(list), records_max, RULES_PER_PAGE);
}

/* Inserts the rules that a server starts with: no process has read any. */
void
pfs_rules_start(PfsRuleList *list, const void *rules, int n)
{
	pfs_seqlock_write_begin(&list->shared->seq);
	for (int i = 0; i < n; i++)
		insert_rule(list, nth_rule(list, rules, i));
	pfs_seqlock_write_end(&list->shared->seq);
}
