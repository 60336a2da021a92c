/*
 * hammer_server.c
 *	  What the library's code that is tested here needs of the server and of the rest of the
 *	  library.
 *
 * Separate from the tests, as all of them share it.
 */
#include "postgres.h"

#include <time.h>

#include "hammer_server.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

/* Not the server's. */
#undef qsort

#include "pfs_cell_views.h"
#include "pfs_clock.h"
#include "pfs_departed.h"
#include "pfs_plain_state.h"
#include "pfs_rebuild.h"
#include "pfs_rel_read.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* ---- of the server ---- */

volatile sig_atomic_t InterruptPending = false;
volatile uint32 InterruptHoldoffCount = 0;
sigjmp_buf *PG_exception_stack = NULL;
ErrorContextCallback *error_context_stack = NULL;
MemoryContext CurrentMemoryContext = NULL;

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

/* A reader copies next: let the owner come near, or pass; or many of them. */
void *
palloc(Size size)
{
	static HammerRng rng = {.state = 1};

	if (hammer_random(&rng, 100) == 0)
		usleep(300);
	for (uint32 spins = hammer_random(&rng, hammer_random(&rng, 400) + 1); spins > 0; spins--)
		pfs_pause();
	return malloc(size);
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return palloc(size);
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
initStringInfo(StringInfo str)
{
	*str = (StringInfoData)
	{
		.data = malloc(1024), .maxlen = 1024
	};
}

void
resetStringInfo(StringInfo str)
{
	str->len = 0;
}

/* By its name for the linker: the type of its second argument is not that of all versions. */
extern void append(StringInfo str, const void *data, int len) __asm__("appendBinaryStringInfo");

__attribute__((used))
void
append(StringInfo str, const void *data, int len)
{
	while (str->len + len > str->maxlen)
		str->data = realloc(str->data, str->maxlen *= 2);
	memcpy(str->data + str->len, data, len);
	str->len += len;
}

void
pg_qsort(void *base, size_t n, size_t size, int (*compare) (const void *, const void *))
{
	qsort(base, n, size, compare);
}

/* The C library has it, or the server's port. */
__attribute__((weak))
size_t
strlcpy(char *to, const char *from, size_t size)
{
	size_t		len = strlen(from);

	memcpy(to, from, Min(len + 1, size));
	to[size - 1] = '\0';
	return len;
}

/* ---- of the library ---- */

PfsPages   *pfs_threads = NULL;
PfsThread  *pfs_my_thread = NULL;
PfsSizes	pfs_sizes;
PfsSharedThreads *pfs_shared_threads = NULL;
size_t		pfs_thread_cells_at[PFS_NUM_FAMILIES];
PfsInstrument *pfs_instrument_items = NULL;
PfsInstrumentId pfs_transaction_instrument = 0;
PfsInstrumentId pfs_first_statement = 0;

/* The words of tests that have none of their own. */
static PfsSharedWords words;
PfsSharedWords *pfs_words = &words;
