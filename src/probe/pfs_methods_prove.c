/*
 * pfs_methods_prove.c
 *	  The postmaster's proof that methods which are written into the tables of
 *	  memory contexts are called.
 *
 * Separate from pfs_methods.c, which a process needs again and again: this is done
 * once, and what is written here only looks.
 */
#include "postgres.h"

#include "pfs_methods.h"

/* Of the kind that is being proved. */
static MemoryContextMethods original;
static bool allocation_seen;
static bool free_seen;

static void *
look_at_alloc(PFS_ALLOC_PARAMS)
{
	allocation_seen = true;
	return original.alloc(PFS_ALLOC_ARGS);
}

static void
look_at_free(PFS_FREE_PARAMS)
{
	free_seen = true;
	original.free_p(PFS_FREE_ARGS);
}

/* One allocation and one free in a small context of this kind. */
static const char *
prove(const PfsMethods *methods, PfsAllocator kind)
{
	static char message[128];
	MemoryContext scratch = pfs_compat_scratch_context(kind);
	MemoryContextMethods entries = methods->original;
	bool		others;
	int			err;

	original = methods->original;
	allocation_seen = false;
	/* Nothing is ever freed in a bump context. */
	free_seen = kind == PFS_BUMP;
	entries.alloc = look_at_alloc;
	if (!free_seen)
		entries.free_p = look_at_free;
	err = pfs_methods_write(methods, &methods->original, &entries, &others);
	if (err == 0)
	{
		void	   *pointer = MemoryContextAlloc(scratch, 64);

		if (kind != PFS_BUMP)
			pfree(pointer);
		err = pfs_methods_write(methods, &entries, &methods->original, &others);
	}
	MemoryContextDelete(scratch);
	if (err != 0)
	{
		snprintf(message, sizeof(message), "could not make a table of memory-context methods writable: %s", strerror(err));
		return message;
	}
	if (!allocation_seen || !free_seen)
		return "an allocation and a free went past a table of memory-context methods";
	return NULL;
}

const char *
pfs_methods_prove(const PfsMethods *methods)
{
	const char *why_not = NULL;

	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS && why_not == NULL; kind++)
	{
		if (methods[kind].table != NULL)
			why_not = prove(&methods[kind], kind);
	}
	return why_not;
}
