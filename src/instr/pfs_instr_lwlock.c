/*
 * pfs_instr_lwlock.c
 *	  Acquisitions of LWLocks, by detours: which lock, how long, who holds it.
 *
 * With `contended` an acquisition is counted when it is over, and is an event if
 * it slept: the event begins with the first sleep, which follows the begin of the
 * acquisition within a few hundred cycles, because reading the clock at each
 * begin would cost more than the acquisition.  With `all` every acquisition is an
 * event with two readings of the clock, and releases are watched, too, to know
 * who holds what.
 *
 * What the process has looked up of a tranche is cached in a PfsWaitLookup; an
 * acquisition that finds one needs no instrument and no flags.
 *
 * An acquisition in progress is in pfs_acquisition.  There is never a second one:
 * these functions do not call each other, and no signal handler calls them.
 * The wrappers of sem_wait() and of naps find it there: a sleep inside is no event
 * of its own, but one more of its `spins`.  So most acquisitions of `all` are
 * never seen running; they are written whole when they are over.
 *
 * An error can leave an acquisition ("too many LWLocks taken"); then its event is
 * ended by LWLockReleaseAll(), which error unwinding calls first of all, or by the
 * next acquisition.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "access/transam.h"

#include "pfs_compat.h"
#include "pfs_detour.h"
#include "pfs_event_instant.h"
#include "pfs_guc.h"
#include "pfs_instr.h"
#include "pfs_instr_buffer.h"
#include "pfs_instr_lwlock.h"
#include "pfs_instr_prove.h"
#include "pfs_event_open.h"
#include "pfs_lwlock_event.h"
#include "pfs_probe_row.h"
#include "pfs_shared.h"

PfsAcquisition pfs_acquisition;

/* Who acquires through a function that is no source, as the lock manager is. */
static PfsFramesMemo sources;

/* The functions behind the wrappers: trampolines. */
static struct
{
	bool		(*acquire) (LWLock *lock, LWLockMode mode);
	bool		(*conditional_acquire) (LWLock *lock, LWLockMode mode);
	bool		(*acquire_or_wait) (LWLock *lock, LWLockMode mode);
	bool		(*wait_for_var) (LWLock *lock, void *variable, uint64 old, uint64 *new);
	void		(*release) (LWLock *lock);
	void		(*release_clear_var) (LWLock *lock, void *variable, uint64 value);
	void		(*release_all) (void);
	void		(*disown) (LWLock *lock);
}			real;

static inline PfsInstrumentId
instrument_of(const LWLock *lock)
{
	return pfs_wait_info_instrument(PG_WAIT_LWLOCK | lock->tranche);
}

/* What is wanted of an instrument that this process may not know yet. */
static pg_attribute_always_inline uint32
flags_of(const PfsThread *t, PfsInstrumentId instrument)
{
	return likely(instrument != PFS_NO_INSTRUMENT) ? pfs_wait_flags(t, instrument) : 0;
}

/* ---- events that are seen running ---- */

/*
 * Shows the acquisition in progress among the running events, if one is wanted of it.
 * frame: of a wrapper inside of it.
 */
static void
show(PfsThread *t, const void *frame)
{
	PfsAcquisition *a = &pfs_acquisition;
	PfsWait    *e;

	if (pfs_lwlock_events_now == PFS_LWLOCK_CONTENDED)
	{
		PfsInstrumentId instrument = instrument_of(a->lock);

		/* The mode is in the queue's entry, as we are about to sleep. */
		a->kind = pfs_lwlock_kind(instrument, MyProc->lwWaitMode, false);
		a->flags = flags_of(t, instrument);
	}
	else if (a->lookup != NULL)
	{
		/* A conditional acquire does not come here. */
		a->kind = pfs_lwlock_kind(a->lookup->instrument, a->mode, false);
		a->flags = a->lookup->usual;
	}
	a->asked = true;
	pfs_local.slow |= PFS_SLOW_LWLOCK;
	a->interrupted = false;
	a->instance = PFS_NO_RECORD;
	if ((a->flags & PFS_FLAG_ENABLED) == 0)
		return;
	e = pfs_wait_begin(t, (PfsInstrumentId) a->kind, a->flags, (a->kind >> 16) & 0xFF, PFS_OBJECT_LWLOCK,
					   PFS_EVENT_NO_OFFSET, pfs_frames_source(frame));
	if (e == NULL)
		return;
	e->object.address = (uintptr_t) a->lock;
	e->spins = 0;
	if (pfs_lwlock_events_now == PFS_LWLOCK_ALL)
		pfs_wait_start_at(t, e, a->start);
	else
		pfs_wait_start(t, e);
	a->event = e;
}

void
pfs_lwlock_before_sleep(PfsThread *t, const void *frame)
{
	PfsAcquisition *a = &pfs_acquisition;

	if (!a->asked)
		show(t, frame);
	if (a->event == NULL || a->interrupted)
		return;
	if (a->instance == PFS_NO_RECORD)
		a->instance = pfs_lwlock_instance(a->lock, (PfsInstrumentId) a->kind);
	pfs_store_relaxed(&a->event->spins, a->event->spins + 1);
}

void
pfs_lwlock_before_nap(PfsThread *t, const void *frame)
{
	if (pfs_lwlock_events_now == PFS_LWLOCK_ALL && !pfs_acquisition.asked)
		show(t, frame);
}

/*
 * Ends the event of an acquisition that is over, and of which it was asked whether to show
 * it.  False: it was not shown.  Its event is the innermost one, unless a caught error has left
 * others above it.
 */
static pg_noinline bool
finish_shown(bool acquired)
{
	PfsAcquisition *a = &pfs_acquisition;
	PfsWait    *e = a->event;
	PfsThread  *t = pfs_my_thread;
	uint64		end;

	a->event = NULL;
	a->asked = false;
	pfs_local.slow &= ~PFS_SLOW_LWLOCK;
	if (e == NULL)
		return false;
	if (t == NULL || t->events[PFS_WAITS].depth == 0 || pfs_is_writing(t) ||
		e != &t->waits[t->events[PFS_WAITS].depth - 1])
		return true;
	end = pfs_wait_read_end(t, e->flags);
	if (!acquired)
		e->flags |= PFS_EVENT_NOT_ACQUIRED;
	pfs_write_begin(t);
	/* Before it leaves its slot. */
	if (e->spins > 0 && end > e->timer_start)
		pfs_lwlock_wait_ended(e->flags, end - e->timer_start);
	if (e->spins > 0 && a->instance != PFS_NO_RECORD)
		pfs_lwlock_count(a->instance, e, end);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth - 1, end);
	pfs_write_end(t);
	return true;
}

/* ---- contended ---- */

typedef bool (*PfsTake) (LWLock *lock, LWLockMode mode);

/* An acquisition without an event of its own. */
static void
count_only(PfsThread *t, const LWLock *lock)
{
	PfsInstrumentId instrument = instrument_of(lock);
	uint32		flags = flags_of(t, instrument);

	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	pfs_wait_count_only(t, instrument, flags);
	pfs_lwlock_cache_lookup(t, lock->tranche, instrument);
}

/*
 * The end of an acquisition that has slept, or of which something is not as its tranche's
 * cached lookup has it; hands its result on.
 */
static pg_noinline bool
contended_end(PfsTake take, bool result, const LWLock *lock)
{
	if (!pfs_acquisition.asked || !finish_shown(result || take == real.acquire))
		count_only(pfs_my_thread, lock);
	return result;
}

/* What the process has cached of the lock's tranche; NULL: nothing, or it does not hold any more. */
static inline const PfsWaitLookup *
lookup_of(const LWLock *lock)
{
	const PfsWaitLookup *lookup = &pfs_lwlock_lookups[lock->tranche];
	const PfsThread *t = pfs_my_thread;

	return likely(lock->tranche < lengthof(pfs_lwlock_lookups) && t != NULL) && pfs_wait_lookup_holds(lookup) ? lookup : NULL;
}

/*
 * Takes the lock, and counts that.  All that the acquisition leaves for the case that it
 * has to sleep is its lock.  With a cached lookup it costs 5 to 13 cycles, by the processor
 * (bench/lwlocks).
 */
static pg_attribute_always_inline bool
contended_take(PfsTake take, LWLock *lock, LWLockMode mode)
{
	const PfsWaitLookup *lookup = lookup_of(lock);
	bool		result;

	if (unlikely(lookup == NULL) && pfs_thread_here() == NULL)
		return take(lock, mode);
	pfs_acquisition.lock = lock;
	pfs_acquisition.lookup = lookup;
	result = take(lock, mode);
	lock = unconstify(LWLock *, pfs_acquisition.lock);
	lookup = pfs_acquisition.lookup;
	pfs_acquisition.lock = NULL;
	if (likely(!pfs_acquisition.asked && lookup != NULL && pfs_lwlock_count_only(pfs_my_thread, lookup)))
		return result;
	return contended_end(take, result, lock);
}

static bool
contended_acquire(LWLock *lock, LWLockMode mode)
{
	return contended_take(real.acquire, lock, mode);
}

static bool
contended_conditional_acquire(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();
	const PfsWaitLookup *lookup = lookup_of(lock);

	if (t != NULL && (lookup == NULL || !pfs_lwlock_count_only(t, lookup)))
		count_only(t, lock);
	return real.conditional_acquire(lock, mode);
}

static bool
contended_acquire_or_wait(LWLock *lock, LWLockMode mode)
{
	return contended_take(real.acquire_or_wait, lock, mode);
}

/* ---- all ---- */

static pg_attribute_always_inline void
begin(const LWLock *lock, uint32 kind, LWLockMode mode, uint32 flags, uint64 start)
{
	pfs_acquisition.lock = lock;
	pfs_acquisition.lookup = NULL;
	pfs_acquisition.kind = kind;
	pfs_acquisition.mode = mode;
	pfs_acquisition.flags = flags;
	pfs_acquisition.start = start;
}

/*
 * Ends an acquisition that was shown, or whose event cannot be a short record.  What
 * pfs_acquisition has but for the lock still holds.  frame: of the wrapper.
 */
static void
end_any(const LWLock *lock, uint32 kind, uint32 flags, bool acquired, uint64 end, const void *frame)
{
	const PfsAcquisition *a = &pfs_acquisition;
	uint32		source;

	if ((unlikely(a->asked) && finish_shown(acquired)) || (flags & PFS_FLAG_ENABLED) == 0)
		return;
	if (!pfs_frames_source_known(frame, &sources, &source))
		source = pfs_frames_walk_memo(frame, &sources);
	pfs_wait_instant_any(pfs_my_thread, kind, flags | (acquired ? 0 : PFS_EVENT_NOT_ACQUIRED), (uintptr_t) lock,
						 source, a->start, end);
}

/* The same of one with a cached lookup, whose record is filled in; hands its result on. */
static pg_noinline bool
end_planned(bool result, uint64 ticks, const void *frame)
{
	const PfsAcquisition *a = &pfs_acquisition;
	const PfsLwlockEvent *e = pfs_lwlock_next(pfs_my_lwlocks);

	end_any(pfs_lwlock_of(e), pfs_lwlock_kind(a->lookup->instrument, a->mode, (e->flags & PFS_LWLOCK_TRY) != 0),
			a->lookup->usual, (e->flags & PFS_EVENT_NOT_ACQUIRED) == 0, a->start + ticks, frame);
	return result;
}

static pg_noinline bool
end_block(bool result)
{
	pfs_lwlock_flush(pfs_my_thread, pfs_my_lwlocks);
	return result;
}

/*
 * Note the begin of an acquisition for which there is no cached lookup: its flags are
 * looked up, and the clock that they say is read.  False: the process has no record, and
 * only the lock and the mode are noted.
 */
static pg_noinline bool
begin_uncached(const LWLock *lock, LWLockMode mode, bool try)
{
	PfsThread  *t = pfs_thread_here();
	PfsInstrumentId instrument = instrument_of(lock);
	uint32		flags = t != NULL ? flags_of(t, instrument) : 0;

	begin(lock, pfs_lwlock_kind(instrument, mode, try), mode, flags, t != NULL ? pfs_wait_clock(flags) : 0);
	return t != NULL;
}

/* The end of such an acquisition; the next one of its tranche finds a cached lookup. */
static pg_noinline bool
end_uncached(bool result, bool acquired, uint64 held, const void *frame)
{
	const PfsAcquisition *a = &pfs_acquisition;
	const LWLock *lock = (const LWLock *) (uintptr_t) (held & ~(uint64) LW_SHARED);
	uint32		flags = a->flags;

	end_any(lock, a->kind, flags, acquired,
			flags & PFS_FLAG_ENABLED ? pfs_wait_read_end(pfs_my_thread, flags) : 0, frame);
	pfs_lwlock_cache_lookup(pfs_my_thread, lock->tranche, (PfsInstrumentId) a->kind);
	return result;
}

/*
 * Takes the lock, and records that.  Nearly every acquisition finds a cached lookup of its
 * tranche (PfsWaitLookup), and its event is written whole when it is over: 89 cycles,
 * of which two readings of the clock are 43 (bench/lwlocks).  So no function is called
 * but the server's and, once in some thirty events, the flush, and what the end
 * needs is in pfs_acquisition: registers that outlive a call have to be saved.  always:
 * there is no return without the lock; LWLockAcquire() returns whether it had to sleep.
 */
static pg_attribute_always_inline bool
all_take(PfsTake take, LWLock *lock, LWLockMode mode, bool try, bool always)
{
	PfsAcquisition *a = &pfs_acquisition;
	const PfsWaitLookup *lookup = lookup_of(lock);
	PfsLwlockHolder *mine;
	PfsLwlockEvent *e;
	PfsLwlockRecorded recorded;
	uint64		held;
	uint64		ticks;
	bool		result;
	bool		acquired;

	if (likely(lookup != NULL))
	{
		a->lock = lock;
		a->lookup = lookup;
		a->mode = mode;
		/* The clock is read last, and first. */
		a->start = pfs_read_cycles();
	}
	else if (!begin_uncached(lock, mode, try))
	{
		lock = unconstify(LWLock *, a->lock);
		a->lock = NULL;
		return take(lock, a->mode);
	}
	result = take(unconstify(LWLock *, a->lock), a->mode);
	ticks = pfs_read_cycles() - a->start;
	acquired = always || result;
	mine = pfs_my_lwlocks;
	held = (uintptr_t) a->lock | a->mode;
	a->lock = NULL;
	if (acquired)
		pfs_lwlock_note_taken(mine, held);
	lookup = a->lookup;
	if (unlikely(lookup == NULL))
		return end_uncached(result, acquired, held, FRAME);
	e = pfs_lwlock_next(mine);
	pfs_lwlock_fill(e, lookup, held, (try ? PFS_LWLOCK_TRY : 0) | (acquired ? 0 : PFS_EVENT_NOT_ACQUIRED),
					a->start, ticks);
	recorded = PFS_LWLOCK_UNUSUAL;
	if (likely(pfs_frames_source_known(FRAME, &sources, &e->source)))
		recorded = pfs_lwlock_record(pfs_my_thread, mine, e, lookup, ticks);
	if (likely(recorded == PFS_LWLOCK_RECORDED))
		return result;
	if (recorded == PFS_LWLOCK_BLOCK_FULL)
		return end_block(result);
	return end_planned(result, ticks, FRAME);
}

static bool
all_acquire(LWLock *lock, LWLockMode mode)
{
	return all_take(real.acquire, lock, mode, false, true);
}

static bool
all_conditional_acquire(LWLock *lock, LWLockMode mode)
{
	return all_take(real.conditional_acquire, lock, mode, true, false);
}

static bool
all_acquire_or_wait(LWLock *lock, LWLockMode mode)
{
	return all_take(real.acquire_or_wait, lock, mode, false, false);
}

/* One that was not taken last, or by a process that is not attached. */
static pg_noinline void
release_any(LWLock *lock)
{
	if (pfs_my_lwlocks != NULL)
		pfs_lwlock_note_released_other(pfs_my_lwlocks, lock);
	real.release(lock);
}

static void
all_release(LWLock *lock)
{
	if (likely(pfs_my_lwlocks != NULL && pfs_lwlock_note_released_last(pfs_my_lwlocks, lock)))
		real.release(lock);
	else
		release_any(lock);
}

static void
all_release_clear_var(LWLock *lock, void *variable, uint64 value)
{
	if (likely(pfs_my_lwlocks != NULL))
		pfs_lwlock_note_released(pfs_my_lwlocks, lock);
	real.release_clear_var(lock, variable, value);
}

/* The lock stays taken, by nobody. */
static void
all_disown(LWLock *lock)
{
	if (likely(pfs_my_lwlocks != NULL))
		pfs_lwlock_note_released(pfs_my_lwlocks, lock);
	real.disown(lock);
}

/* ---- both ---- */

/*
 * Waits for a lock without taking it, so only an event if it sleeps, in either
 * mode.
 */
static bool
any_wait_for_var(LWLock *lock, void *variable, uint64 old, uint64 *new)
{
	PfsThread  *t = pfs_thread_here();
	PfsInstrumentId instrument;
	uint32		flags;
	bool		result;

	if (unlikely(t == NULL))
		return real.wait_for_var(lock, variable, old, new);
	instrument = instrument_of(lock);
	flags = flags_of(t, instrument);
	begin(lock, pfs_lwlock_kind(instrument, LW_EXCLUSIVE, false), LW_EXCLUSIVE, flags, pfs_wait_clock(flags));
	result = real.wait_for_var(lock, variable, old, new);
	pfs_acquisition.lock = NULL;
	if (unlikely(pfs_acquisition.asked))
		(void) finish_shown(false);
	return result;
}

/* Error unwinding, and the end of a process. */
static void
any_release_all(void)
{
	pfs_acquisition.lock = NULL;
	if (unlikely(pfs_acquisition.asked))
		(void) finish_shown(false);
	if (pfs_my_lwlocks != NULL)
		pfs_store_release(&pfs_my_lwlocks->n, 0);
	real.release_all();
}

/* ---- setting the detours ---- */

/*
 * LWLockUpdateVar() takes and releases nothing; LWLockReleaseDisowned() releases
 * what nobody holds since LWLockDisown().
 */
static const struct
{
	PfsDetour	detour;			/* without its replacement */
	void	   *wrapper[PFS_LWLOCK_ALL + 1];	/* by mode; NULL: not needed */
	void		(*look) (PfsProbeRow *row, int number); /* of the row, when set */
}			points[] =

{
	{{"LWLockAcquire", .original = (void **) &real.acquire}, .wrapper = {NULL, contended_acquire, all_acquire}},
	{{"LWLockConditionalAcquire", .original = (void **) &real.conditional_acquire},
	.wrapper = {NULL, contended_conditional_acquire, all_conditional_acquire}},
	{{"LWLockAcquireOrWait", .original = (void **) &real.acquire_or_wait},
	.wrapper = {NULL, contended_acquire_or_wait, all_acquire_or_wait}},
	{{"LWLockWaitForVar", .original = (void **) &real.wait_for_var},
	.wrapper = {NULL, any_wait_for_var, any_wait_for_var}},
	{{"LWLockRelease", .original = (void **) &real.release}, .wrapper = {NULL, NULL, all_release}},
	{{"LWLockReleaseClearVar", .original = (void **) &real.release_clear_var},
	.wrapper = {NULL, NULL, all_release_clear_var}},
	{{"LWLockReleaseAll", .original = (void **) &real.release_all},
	.wrapper = {NULL, any_release_all, any_release_all}},
	/* in 18 */
	{{"LWLockDisown", .original = (void **) &real.disown, .optional = true}, .wrapper = {NULL, NULL, all_disown}},
	/* from 19 on; content locks were LWLocks before */
	{{"LockBufferInternal", .original = (void **) &pfs_buffer_lock_real, .optional = true, .alone = true},
	.wrapper = {NULL, pfs_buffer_lock_counted, pfs_buffer_lock_timed}, .look = pfs_buffer_lock_look},
};

static const char *const mode_names[] = {[PFS_LWLOCK_WAITS] = "waits",[PFS_LWLOCK_CONTENDED] = "contended",[PFS_LWLOCK_ALL] = "all"};

/* ---- the postmaster's proof ---- */

/* What real held, and how many calls have passed the wrappers. */
static bool (*proved_acquire) (LWLock *lock, LWLockMode mode);
static void (*proved_release) (LWLock *lock);
static int	acquired;
static int	released;

/* So many have to: ours, and the server's own, one in each mode. */
#define PROVED_CALLS 3

static bool
look_at_acquire(LWLock *lock, LWLockMode mode)
{
	acquired++;
	return proved_acquire(lock, mode);
}

static void
look_at_release(LWLock *lock)
{
	released++;
	proved_release(lock);
}

/*
 * Why do the detours not work?  NULL: they do.  The wrappers have nothing to record in the
 * postmaster, and hand calls on through `real`: ours, and some of the server's own.
 */
static const char *
prove(void)
{
	LWLock	   *lock = &GetNamedLWLockTranche("pfs")->lock;

	proved_acquire = real.acquire;
	proved_release = real.release;
	real.acquire = look_at_acquire;
	real.release = proved_release == NULL ? NULL : look_at_release;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	LWLockRelease(lock);
	/* The server's own functions. */
	(void) ReadNextFullTransactionId(); /* shared */
	pfs_shared_find();			/* exclusive */
	real.acquire = proved_acquire;
	real.release = proved_release;
	if (acquired == 0 || (real.release != NULL && released == 0))
		return "a call went past it";
	if (acquired < PROVED_CALLS || (real.release != NULL && released < PROVED_CALLS))
		return "a call inside the server went past it";
	return pfs_prove_server_is_lto() ?
		"the server was optimized across files (-flto): its own calls may lead to copies of it" : NULL;
}

/* ---- reports ---- */

/* Reports one detour as a row of pfs.probes; detour NULL: this mode does not need it. */
static void
report(int point, const PfsDetour *detour, PfsLwlockEvents wanted)
{
	PfsProbeRow row = {.mechanism = "detour", .target = points[point].detour.symbol};

	/* What this version does not have is not missing. */
	if (points[point].detour.optional && dlsym(RTLD_DEFAULT, row.target) == NULL)
		return;
	if (detour == NULL)
	{
		row.status = "off";
		snprintf(row.detail, sizeof(row.detail), "not needed with pfs.lwlock_events = %s", mode_names[wanted]);
	}
	else if (detour->result == PFS_DETOUR_ACTIVE)
	{
		row.status = "active";
		row.look = points[point].look;
	}
	else
	{
		row.status = "unavailable";
		strlcpy(row.detail, detour->result == PFS_DETOUR_PENDING
				? "another detour could not be set" : detour->reason, sizeof(row.detail));
	}
	pfs_probe_report(&row);
}

/*
 * Writes to the log which detours could not be set: the first one for whose sake none is,
 * or, where they are, each that stands alone.
 */
static void
complain(const PfsDetour *detours, int n)
{
	bool		are_set = pfs_lwlock_events_now != PFS_LWLOCK_WAITS;

	for (int i = 0; i < n; i++)
	{
		const PfsDetour *d = &detours[i];

		if (d->result != PFS_DETOUR_REFUSED && (d->result != PFS_DETOUR_MISSING || d->optional))
			continue;
		if (are_set)
			ereport(LOG,
					(errmsg("pfs: the detour of %s() is unavailable", d->symbol),
					 errdetail("%s: %s.", d->symbol, d->reason)));
		else if (!d->alone)
		{
			ereport(LOG,
					(errmsg("pfs: detours are unavailable, pfs.lwlock_events is taken as \"waits\""),
					 errdetail("%s: %s.", d->symbol, d->reason),
					 errhint("SELECT * FROM pfs.probes WHERE mechanism = 'detour' says why.")));
			return;
		}
	}
}

/*
 * Sets the detours that the mode needs, proves them, and reports all. If one of them
 * cannot be set or proved, none stays, and the mode is that without detours: pfs_lwlock_events_now.
 */
void
pfs_instr_lwlock_start(void)
{
	const PfsLwlockEvents wanted = pfs_lwlock_events;
	PfsDetour	detours[lengthof(points)] = {{0}};
	const PfsDetour *detour = detours;
	int			n = 0;

	for (int p = 0; p < lengthof(points); p++)
	{
		if (points[p].wrapper[wanted] == NULL)
			continue;
		detours[n] = points[p].detour;
		detours[n++].replacement = points[p].wrapper[wanted];
	}
	if (n > 0)
	{
		if (pfs_detour_patch(detours, n))
		{
			const char *why_not = prove();

			if (why_not == NULL)
				pfs_lwlock_events_now = wanted;
			else
				pfs_detour_take_back(detours, n, why_not);
		}
		complain(detours, n);
	}
	for (int p = 0; p < lengthof(points); p++)
		report(p, points[p].wrapper[wanted] == NULL ? NULL : detour++, wanted);

	/*
	 * A process can hold locks when it attaches, and only the server knows
	 * which.
	 */
	if (pfs_lwlock_events_now == PFS_LWLOCK_ALL && !pfs_compat_lists_held_lwlocks())
		pfs_prove_report("", "detour", "ForEachLWLockHeldByMe",
						 "this server has no such function: of the locks that a process held before its first event,"
						 " those of buffers and extensions are unknown");
}
