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

#include "pfs_compat.h"
#include "pfs_detour.h"
#include "pfs_event_instant.h"
#include "pfs_instr.h"
#include "pfs_instr_lwlock.h"
#include "pfs_lwlock.h"
#include "pfs_status.h"

#define FRAME __builtin_frame_address(0)

PfsAcquisition pfs_acquisition;

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
	return pfs_word_instrument(PG_WAIT_LWLOCK | lock->tranche);
}

StaticAssertDecl(LW_EXCLUSIVE == 0 && LW_SHARED == 1 && PFS_OP_SHARED_LOCK + 1 == PFS_OP_EXCLUSIVE_LOCK &&
				 PFS_OP_TRY_SHARED_LOCK + 1 == PFS_OP_TRY_EXCLUSIVE_LOCK, "operations in another order");

static inline PfsOperation
operation_of(LWLockMode mode, bool try)
{
	return (try ? PFS_OP_TRY_EXCLUSIVE_LOCK : PFS_OP_EXCLUSIVE_LOCK) - (mode & LW_SHARED);
}

/* ---- events that are seen running ---- */

/*
 * Show the acquisition in progress among the running events.  frame: of a wrapper
 * inside of it.
 */
static void
show(PfsThread *t, const void *frame)
{
	PfsAcquisition *a = &pfs_acquisition;
	PfsWaitEvent *e;

	if (pfs_lwlock_events_now == PFS_LWLOCK_CONTENDED)
	{
		/* The mode is in the queue's entry, as we are about to sleep. */
		a->operation = operation_of(MyProc->lwWaitMode, false);
		a->instrument = instrument_of(a->lock);
		a->flags = a->instrument == PFS_NO_INSTRUMENT ? 0 : pfs_wait_flags(t, a->instrument);
	}
	a->asked = true;
	a->interrupted = false;
	a->instance = PFS_NO_RECORD;
	if ((a->flags & PFS_FLAG_ENABLED) == 0)
		return;
	e = pfs_wait_begin(t, a->instrument, a->flags, a->operation, PFS_OBJECT_LWLOCK,
					   PFS_EVENT_NO_OFFSET, pfs_frames_source(frame));
	if (e == NULL)
		return;
	e->object_instance = (uintptr_t) a->lock;
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
		a->instance = pfs_lwlock_instance(a->lock, a->instrument);
	pfs_store_relaxed(&a->event->spins, a->event->spins + 1);
}

void
pfs_lwlock_before_nap(PfsThread *t, const void *frame)
{
	if (pfs_lwlock_events_now == PFS_LWLOCK_ALL && !pfs_acquisition.asked)
		show(t, frame);
}

/*
 * The acquisition in progress is over, and it was asked whether to show it.  False:
 * it was not shown.  Its event is the innermost one, unless a caught error has left
 * others above it.
 */
static pg_noinline bool
finish_shown(bool acquired)
{
	PfsAcquisition *a = &pfs_acquisition;
	PfsWaitEvent *e = a->event;
	PfsThread  *t = pfs_my_thread;
	uint64		end;

	a->event = NULL;
	a->asked = false;
	if (e == NULL)
		return false;
	if (t == NULL || t->wait_depth == 0 || pfs_is_changing(t) ||
		e != pfs_ring_spare(&t->waits, t->wait_depth - 1))
		return true;
	end = pfs_wait_read_end(t, e->flags);
	if (!acquired)
		e->flags |= PFS_EVENT_NOT_ACQUIRED;
	pfs_change_begin(t);
	/* Before it leaves its slot. */
	if (e->spins > 0 && a->instance != PFS_NO_RECORD)
		pfs_lwlock_count(a->instance, e, end);
	pfs_wait_finish(t, e, t->wait_depth - 1, end);
	pfs_change_end(t);
	return true;
}

/* ---- contended ---- */

/* An acquisition without an event of its own. */
static pg_attribute_always_inline void
count_only(PfsThread *t, const LWLock *lock)
{
	PfsInstrumentId instrument = instrument_of(lock);
	uint32		flags;

	if (unlikely(instrument == PFS_NO_INSTRUMENT))
		return;
	flags = pfs_wait_flags(t, instrument);
	if (likely(flags & PFS_FLAG_ENABLED))
		pfs_wait_count_only(t, instrument, flags);
}

/* All that an acquisition leaves for the case that it has to sleep is its lock. */
static bool
contended_acquire(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();
	bool		result;

	if (unlikely(t == NULL))
		return real.acquire(lock, mode);
	pfs_acquisition.lock = lock;
	result = real.acquire(lock, mode);
	pfs_acquisition.lock = NULL;
	if (unlikely(pfs_acquisition.asked) && finish_shown(true))
		return result;
	count_only(t, lock);
	return result;
}

static bool
contended_conditional_acquire(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();

	if (likely(t != NULL))
		count_only(t, lock);
	return real.conditional_acquire(lock, mode);
}

static bool
contended_acquire_or_wait(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();
	bool		result;

	if (unlikely(t == NULL))
		return real.acquire_or_wait(lock, mode);
	pfs_acquisition.lock = lock;
	result = real.acquire_or_wait(lock, mode);
	pfs_acquisition.lock = NULL;
	if (unlikely(pfs_acquisition.asked) && finish_shown(result))
		return result;
	count_only(t, lock);
	return result;
}

/* ---- all ---- */

/* What an acquisition of `all` keeps in registers between begin and end. */
typedef struct PfsBegun
{
	PfsInstrumentId instrument;
	uint32		flags;
	PfsOperation operation;
	uint64		start;
} PfsBegun;

/* Begin an acquisition.  The clock is read last. */
static pg_attribute_always_inline PfsBegun
begin(PfsThread *t, const LWLock *lock, PfsOperation operation)
{
	PfsBegun	b = {instrument_of(lock), 0, operation, 0};

	if (likely(b.instrument != PFS_NO_INSTRUMENT))
		b.flags = pfs_wait_flags(t, b.instrument);
	/* flags, instrument, operation, not asked; little-endian */
	pfs_acquisition.what = b.flags | (uint64) b.instrument << 32 | (uint64) operation << 48;
	pfs_acquisition.lock = lock;
	if (likely(b.flags & PFS_FLAG_ENABLED))
		pfs_acquisition.start = b.start = pfs_wait_clock(b.flags);
	return b;
}

static pg_attribute_always_inline void
end(PfsThread *t, const PfsBegun *b, const LWLock *lock, const void *frame, bool acquired)
{
	uint64		now;

	pfs_acquisition.lock = NULL;
	if (unlikely(pfs_acquisition.asked) && finish_shown(acquired))
		return;
	if ((b->flags & PFS_FLAG_ENABLED) == 0)
		return;
	now = pfs_wait_read_end(t, b->flags);
	pfs_wait_instant(t, b->instrument, acquired ? b->flags : b->flags | PFS_EVENT_NOT_ACQUIRED,
					 b->operation, PFS_OBJECT_LWLOCK, (uintptr_t) lock,
					 pfs_frames_source_direct(frame), b->start, now);
}

static bool
all_acquire(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();
	PfsBegun	b;
	bool		result;

	if (unlikely(t == NULL))
		return real.acquire(lock, mode);
	b = begin(t, lock, operation_of(mode, false));
	result = real.acquire(lock, mode);
	end(t, &b, lock, FRAME, true);
	pfs_lwlock_note_taken(pfs_my_lwlocks, lock, mode == LW_SHARED);
	return result;
}

static bool
all_conditional_acquire(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();
	PfsBegun	b;
	bool		result;

	if (unlikely(t == NULL))
		return real.conditional_acquire(lock, mode);
	b = begin(t, lock, operation_of(mode, true));
	result = real.conditional_acquire(lock, mode);
	end(t, &b, lock, FRAME, result);
	if (result)
		pfs_lwlock_note_taken(pfs_my_lwlocks, lock, mode == LW_SHARED);
	return result;
}

static bool
all_acquire_or_wait(LWLock *lock, LWLockMode mode)
{
	PfsThread  *t = pfs_thread_here();
	PfsBegun	b;
	bool		result;

	if (unlikely(t == NULL))
		return real.acquire_or_wait(lock, mode);
	b = begin(t, lock, operation_of(mode, false));
	result = real.acquire_or_wait(lock, mode);
	end(t, &b, lock, FRAME, result);
	if (result)
		pfs_lwlock_note_taken(pfs_my_lwlocks, lock, mode == LW_SHARED);
	return result;
}

static void
all_release(LWLock *lock)
{
	if (likely(pfs_my_lwlocks != NULL))
		pfs_lwlock_note_released(pfs_my_lwlocks, lock);
	real.release(lock);
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
	bool		result;

	if (unlikely(t == NULL))
		return real.wait_for_var(lock, variable, old, new);
	(void) begin(t, lock, PFS_OP_EXCLUSIVE_LOCK);
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
	const char *symbol;
	void	   *wrapper[PFS_LWLOCK_ALL + 1];	/* by mode; NULL: not needed */
	void	  **real;
	bool		optional;
}			points[] =

{
	{"LWLockAcquire", {NULL, contended_acquire, all_acquire}, (void **) &real.acquire, false},
	{"LWLockConditionalAcquire", {NULL, contended_conditional_acquire, all_conditional_acquire},
	(void **) &real.conditional_acquire, false},
	{"LWLockAcquireOrWait", {NULL, contended_acquire_or_wait, all_acquire_or_wait},
	(void **) &real.acquire_or_wait, false},
	{"LWLockWaitForVar", {NULL, any_wait_for_var, any_wait_for_var}, (void **) &real.wait_for_var, false},
	{"LWLockRelease", {NULL, NULL, all_release}, (void **) &real.release, false},
	{"LWLockReleaseClearVar", {NULL, NULL, all_release_clear_var}, (void **) &real.release_clear_var, false},
	{"LWLockReleaseAll", {NULL, any_release_all, any_release_all}, (void **) &real.release_all, false},
	/* from 18 on */
	{"LWLockDisown", {NULL, NULL, all_disown}, (void **) &real.disown, true},
};

static const char *const mode_names[] = {
	[PFS_LWLOCK_WAITS] = "waits",[PFS_LWLOCK_CONTENDED] = "contended",[PFS_LWLOCK_ALL] = "all",
};

static void
report(int point, const PfsDetour *detour, PfsLwlockEvents wanted)
{
	PfsProbeRow row = {0};

	snprintf(row.name, sizeof(row.name), "detour/%s", points[point].symbol);
	row.mechanism = "detour";
	row.target = points[point].symbol;
	if (detour == NULL)
	{
		row.status = "off";
		snprintf(row.detail, sizeof(row.detail), "not needed with pfs.lwlock_events = %s", mode_names[wanted]);
	}
	else if (detour->result == PFS_DETOUR_ACTIVE)
		row.status = "active";
	else
	{
		row.status = "unavailable";
		strlcpy(row.detail, detour->result == PFS_DETOUR_PENDING
				? "another detour could not be set" : detour->reason, sizeof(row.detail));
	}
	pfs_probe_report(&row);
}

/* One line for the log: the first that is to blame. */
static void
complain(const PfsDetour *detours, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (detours[i].result != PFS_DETOUR_REFUSED &&
			(detours[i].result != PFS_DETOUR_MISSING || detours[i].optional))
			continue;
		ereport(LOG,
				(errmsg("pfs: detours are unavailable, pfs.lwlock_events is taken as \"waits\""),
				 errdetail("%s: %s.", detours[i].symbol, detours[i].reason),
				 errhint("SELECT * FROM pfs.probes WHERE mechanism = 'detour' says why.")));
		return;
	}
}

void
pfs_instr_lwlock_start(PfsLwlockEvents wanted)
{
	PfsDetour	detours[lengthof(points)] = {{0}};
	int			number[lengthof(points)];
	int			n = 0;

	for (int p = 0; p < lengthof(points); p++)
	{
		number[p] = -1;
		if (points[p].wrapper[wanted] == NULL)
			continue;
		detours[n].symbol = points[p].symbol;
		detours[n].replacement = points[p].wrapper[wanted];
		detours[n].original = points[p].real;
		detours[n].optional = points[p].optional;
		number[p] = n++;
	}
	if (n > 0)
	{
		if (pfs_detour_patch(detours, n))
			pfs_lwlock_events_now = wanted;
		else
			complain(detours, n);
	}
	for (int p = 0; p < lengthof(points); p++)
		report(p, number[p] < 0 ? NULL : &detours[number[p]], wanted);
}
