/*
 * hammer_server.c
 *	  What the library's code that is tested here needs of the server and of the rest of the
 *	  library.
 *
 * Separate from the tests, as all of them share it.
 */
#include "postgres.h"

#include "../hammer.h"
#include "miscadmin.h"
#include "storage/ipc.h"

/* Not the server's. */
#undef qsort

#include "pfs_instrument.h"
#include "pfs_shared.h"
#include "pfs_summary.h"
#include "pfs_thread.h"

/* ---- of the server ---- */

volatile sig_atomic_t InterruptPending = false;
sigjmp_buf *PG_exception_stack = NULL;
ErrorContextCallback *error_context_stack = NULL;

void
ProcessInterrupts(void)
{
}

/* Nothing raises an error. */
void
pg_re_throw(void)
{
	abort();
}

void
before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
}

void
cancel_before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
}

/* A reader copies next: let the owner come near, or pass. */
void *
palloc(Size size)
{
	static HammerRng rng = {.state = 1};

	for (uint32 spins = hammer_random(&rng, hammer_random(&rng, 400) + 1); spins > 0; spins--)
		pfs_pause();
	return malloc(size);
}

void *
repalloc_huge(void *pointer, Size size)
{
	return realloc(pointer, size);
}

void
pfree(void *pointer)
{
	free(pointer);
}

void
pg_qsort(void *base, size_t n, size_t size, int (*compare) (const void *, const void *))
{
	qsort(base, n, size, compare);
}

/* ---- of the library ---- */

PfsPages   *pfs_threads = NULL;
PfsSizes	pfs_sizes;
static PfsSharedWords words;
PfsSharedWords *pfs_words = &words;
