/*
 * pfs_frames.h
 *	  Who called: finds the function of the server that waits, by stepping
 *	  over the server's own wrappers along the frame pointers.
 *
 * Debian builds the server with frame pointers.  At load the prologues of the
 * functions that are stepped over are looked at; without them nothing is ever
 * dereferenced and every answer is "unknown".
 */
#ifndef PFS_FRAMES_H
#define PFS_FRAMES_H

#include "pfs.h"

/* Frames that are looked at before giving up. */
#define PFS_FRAMES_MAX 8

/* Postmaster, once.  NULL, or a static text saying why sources stay unknown. */
extern const char *pfs_frames_start(void);

extern PFS_HIDDEN bool pfs_frames_usable;	/* private to the inline functions
											 * below */
extern PFS_HIDDEN const uintptr_t *pfs_frames_limit;

extern uint32 pfs_frames_walk(const void *frame);
extern bool pfs_frames_walk_finds_spin_delay(const void *frame);

/*
 * What one wrapper found last.  The same two callers give the same source, as
 * the second one is where nearly every walk ends.
 */
typedef struct PfsFramesMemo
{
	uintptr_t	caller;			/* return addresses */
	uintptr_t	outer;			/* 0: the caller is the source */
	uint32		source;
} PfsFramesMemo;

extern uint32 pfs_frames_walk_memo(const void *frame, PfsFramesMemo *memo);

/*
 * frame: __builtin_frame_address(0) of a function that the server called
 * directly.  Returns the return address in the first function above the
 * wrappers as an offset in the server binary, or 0.  Any context.
 */
static inline uint32
pfs_frames_source(const void *frame)
{
	return likely(pfs_frames_usable) ? pfs_frames_walk(frame) : 0;
}

/*
 * The frame of the function that called the one with this frame; NULL if it cannot be
 * followed.  For frames of the server's functions on the main thread's stack.
 */
extern const void *pfs_frames_outer(const void *frame);

/*
 * Return addresses met so far, by their low bits: the offset, with the top bit
 * telling that a walk steps over it.  Private to pfs_frames.c and what follows.
 */
#define PFS_FRAMES_CACHE_SIZE 1024
extern PFS_HIDDEN uint32 pfs_frames_cache[PFS_FRAMES_CACHE_SIZE];
extern PFS_HIDDEN uintptr_t pfs_frames_server_base;

/*
 * Does the memo have the source?  With an outer caller a walk has stepped over the inner one, so
 * that keeps a frame pointer: each time it calls from this place the frame leads to its own, and
 * whether it lies on the stack is not asked again.
 */
static pg_attribute_always_inline bool
pfs_frames_memo_has(const void *frame, const PfsFramesMemo *memo)
{
	const uintptr_t *own = frame;

	return likely(own[1] == memo->caller) &&
		(memo->outer == 0 || likely(((const uintptr_t *) own[0])[1] == memo->outer));
}

/*
 * The same for hot calls.  Not in a signal handler that may have interrupted
 * the same wrapper here.
 */
static inline uint32
pfs_frames_source_memo(const void *frame, PfsFramesMemo *memo)
{
	return pfs_frames_memo_has(frame, memo) ? memo->source : pfs_frames_walk_memo(frame, memo);
}

/*
 * The same where there are many callers, nearly all of them the source itself, and no
 * function is to be called.  False: pfs_frames_walk_memo() has to look.
 */
static inline bool
pfs_frames_source_known(const void *frame, const PfsFramesMemo *memo, uint32 *source)
{
#if defined(__x86_64__)
	const uintptr_t *own = frame;
	uintptr_t	offset = own[1] - pfs_frames_server_base;

	*source = (uint32) offset;
	if (likely(pfs_frames_cache[(offset >> 1) % PFS_FRAMES_CACHE_SIZE] == offset))
		return true;
	if (own[1] == memo->caller)
	{
		const uintptr_t *outer = (const uintptr_t *) own[0];

		*source = memo->source;
		return outer > own && outer < pfs_frames_limit && outer[1] == memo->outer;
	}
	/* An extension's call. */
	*source = 0;
	return offset >> 31 != 0;
#else
	*source = 0;
	return false;
#endif
}

/* Was the sleep that called us asked for by a spinlock's delay? */
static inline bool
pfs_frames_in_spin_delay(const void *frame)
{
	return pfs_frames_usable && pfs_frames_walk_finds_spin_delay(frame);
}

/*
 * frame: that of what the server called instead of longjmp().  Was it asked for by
 * the end of a report, and not by a handler that throws on?  False if unknown.
 */
extern bool pfs_frames_is_raise(const void *frame);

/* ---- the postmaster's proofs ---- */

/*
 * frame: of a function of this library that the server's exported `function` has
 * called, by way of wrappers of this library or without, and that a function of this
 * library has called itself.  Do the frames say so?
 */
extern bool pfs_frames_prove(const void *frame, const char *function);

/* They do not: sources stay unknown from now on, or raises do. */
extern void pfs_frames_stop(void);
extern void pfs_frames_forget_raises(void);

#endif							/* PFS_FRAMES_H */
