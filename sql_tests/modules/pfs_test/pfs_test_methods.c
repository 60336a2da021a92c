/*
 * pfs_test_methods.c
 *	  Very many memory contexts; and another library that replaces methods of
 *	  memory contexts, as pfs does.
 *
 * The functions are declared by the tests, with the path that PG_LIBDIR names.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "nodes/memnodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_many);
PG_FUNCTION_INFO_V1(pfs_test_swap);
PG_FUNCTION_INFO_V1(pfs_test_unswap);
PG_FUNCTION_INFO_V1(pfs_test_swapped);

PGDLLEXPORT Datum pfs_test_many(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_swap(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_unswap(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_swapped(PG_FUNCTION_ARGS);

/* ---- very many contexts ---- */

static MemoryContext *many = NULL;
static int	nmany = 0;

/*
 * pfs_test_many(contexts int4, chunks int4): make so many contexts "pfs test many" that go with the
 * transaction, if contexts > 0, and allocate so many chunks in each.
 */
Datum
pfs_test_many(PG_FUNCTION_ARGS)
{
	int			contexts_wanted = PG_GETARG_INT32(0);

	if (contexts_wanted > 0)
	{
		nmany = contexts_wanted;
		many = MemoryContextAlloc(TopTransactionContext, nmany * sizeof(MemoryContext));
		for (int i = 0; i < nmany; i++)
			many[i] = AllocSetContextCreate(TopTransactionContext, "pfs test many", ALLOCSET_SMALL_SIZES);
	}
	for (int i = 0; i < nmany; i++)
	{
		for (int n = PG_GETARG_INT32(1); n > 0; n--)
			(void) MemoryContextAlloc(many[i], 16);
	}
	PG_RETURN_VOID();
}

/* ---- as another library does that watches contexts, too ---- */

/* What it calls, and where it was: of one context, or of a kind's table. */
static MemoryContextMethods before;
static MemoryContextMethods theirs;
static const MemoryContextMethods *was;
static MemoryContext where;
static int64 their_allocs = 0;

#if PG_VERSION_NUM >= 170000
static void *
their_alloc(MemoryContext context, Size size, int flags)
{
	their_allocs++;
	return before.alloc(context, size, flags);
}
#else
static void *
their_alloc(MemoryContext context, Size size)
{
	their_allocs++;
	return before.alloc(context, size);
}
#endif

/* In memory that may be read-only. */
static void
write_alloc(const MemoryContextMethods *table, void *alloc)
{
	uintptr_t	page = sysconf(_SC_PAGESIZE);
	uintptr_t	start = (uintptr_t) table & ~(page - 1);
	MemoryContextMethods *writable = unconstify(MemoryContextMethods *, table);

	if (mprotect((void *) start, TYPEALIGN(page, (uintptr_t) (table + 1)) - start, PROT_READ | PROT_WRITE) != 0)
		elog(ERROR, "mprotect: %m");
	writable->alloc = alloc;
}

/* A child of TopMemoryContext. */
static MemoryContext
context_of(const char *name)
{
	MemoryContext context = TopMemoryContext->firstchild;

	while (context != NULL && strcmp(context->name, name) != 0)
		context = context->nextchild;
	if (context == NULL)
		ereport(ERROR, (errmsg("there is no context \"%s\"", name)));
	return context;
}

/*
 * pfs_test_swap(name text, how text): from now on allocations in the context come here first.
 * pointer: the context gets a copy of its methods; entry: they are written where they are;
 * table: the server's own table of AllocSets is, which new contexts have.
 */
Datum
pfs_test_swap(PG_FUNCTION_ARGS)
{
	char	   *how = text_to_cstring(PG_GETARG_TEXT_PP(1));

	where = context_of(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	was = where->methods;
	if (strcmp(how, "table") == 0)
	{
		MemoryContext fresh = AllocSetContextCreate(TopMemoryContext, "pfs test table", ALLOCSET_SMALL_SIZES);

		was = fresh->methods;
		MemoryContextDelete(fresh);
	}
	before = *was;
	theirs = before;
	theirs.alloc = their_alloc;
	if (strcmp(how, "pointer") == 0)
		where->methods = &theirs;
	else
		write_alloc(was, their_alloc);
	PG_RETURN_VOID();
}

/* pfs_test_unswap(): the library goes, and puts back what it found there. */
Datum
pfs_test_unswap(PG_FUNCTION_ARGS)
{
	if (where->methods == &theirs)
		where->methods = was;
	else
		write_alloc(was, before.alloc);
	PG_RETURN_VOID();
}

/* pfs_test_swapped() returns int8: allocations that came there */
Datum
pfs_test_swapped(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(their_allocs);
}
