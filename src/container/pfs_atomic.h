/*
 * pfs_atomic.h
 *	  The few atomic operations that the containers are written with.
 *
 * Separate from PostgreSQL's port/atomics.h because the containers are also
 * built into plain multi-process programs (the hammer, sanitizer and fuzzing
 * builds), where no backend exists.  Every function names its ordering; there
 * is no default.  Shared words are always aligned, so each access is one
 * instruction on x86-64 and aarch64.
 */
#ifndef PFS_ATOMIC_H
#define PFS_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* gcc defines this by itself, clang does not */
#if !defined(__SANITIZE_THREAD__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#define PFS_CACHE_LINE 64

#define pfs_load_relaxed(p)			__atomic_load_n((p), __ATOMIC_RELAXED)
#define pfs_load_acquire(p)			__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define pfs_store_relaxed(p, v)		__atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define pfs_store_release(p, v)		__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define pfs_add_relaxed(p, v)		__atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define pfs_add_seqcst(p, v)		__atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define pfs_sub_seqcst(p, v)		__atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST)
#define pfs_exchange(p, v)			__atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
/* Loads a word; take: exchanges it for zero. */
#define pfs_load_or_take(p, take)	((take) ? pfs_exchange(p, 0) : pfs_load_relaxed(p))
#define pfs_fence_acquire()			__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define pfs_fence_release()			__atomic_thread_fence(__ATOMIC_RELEASE)
#define pfs_fence_seqcst()			__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* Orders a signal handler of the same thread; emits no instruction. */
#define pfs_fence_signal()			__atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Strong compare-and-swap, sequentially consistent; *expected is updated on failure. */
#define pfs_cas(p, expected, desired) \
	__atomic_compare_exchange_n((p), (expected), (desired), false, \
								__ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)

/* Any process: the word is at least this from now on. */
static inline void
pfs_raise_to(uint64_t *word, uint64_t value)
{
	uint64_t	old = pfs_load_relaxed(word);

	while (old < value && !pfs_cas(word, &old, value))
		;
}

/*
 * Add to a word that only this thread writes: one step for its own signal
 * handlers, and for readers elsewhere a relaxed store.
 */
static inline void
pfs_add_local(uint64_t *p, uint64_t v)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
__asm__ __volatile__("addq %1, %0":"+m"(*p):"er"(v):"cc", "memory");
#else
	(void) pfs_add_relaxed(p, v);
#endif
}

/*
 * The same, behind everything stored before.  x86-64 keeps stores in order, so
 * there it is the same instruction.
 */
static inline void
pfs_add_local_release(uint64_t *p, uint64_t v)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	pfs_add_local(p, v);
#else
	(void) __atomic_fetch_add(p, v, __ATOMIC_RELEASE);
#endif
}

/*
 * Add to, or take from, a word that only this thread writes, within a write section
 * of its sequence lock.  One instruction, where a load and a store of the atomic
 * functions would be three.  pfs_drop: has it gone below zero?
 */
static inline void
pfs_bump(uint64_t *p, uint64_t v)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
__asm__("addq %1, %0":"+m"(*p):"er"(v):"cc");
#else
	pfs_store_relaxed(p, pfs_load_relaxed(p) + v);
#endif
}

/* The same, behind everything stored before. */
static inline void
pfs_bump_release(uint64_t *p, uint64_t v)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
__asm__ __volatile__("addq %1, %0":"+m"(*p):"er"(v):"cc", "memory");
#else
	pfs_store_release(p, pfs_load_relaxed(p) + v);
#endif
}

static inline void
pfs_bump32(uint32_t *p)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
__asm__("addl $1, %0":"+m"(*p)::"cc");
#else
	pfs_store_relaxed(p, pfs_load_relaxed(p) + 1);
#endif
}

static inline bool
pfs_drop(uint64_t *p, uint64_t v)
{
	bool		below;
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
__asm__("subq %2, %0":"+m"(*p), "=@ccb"(below):"er"(v));
#else
	uint64_t	old = pfs_load_relaxed(p);

	below = old < v;
	pfs_store_relaxed(p, old - v);
#endif
	return below;
}

/* A hint to the processor inside a bounded spin. */
static inline void
pfs_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb");
#endif
}

#endif							/* PFS_ATOMIC_H */
