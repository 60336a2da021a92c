/*
 * pfs_methods.c
 *	  Finding, comparing and writing the tables of memory-context methods.
 *
 * A context leads to its kind's table.  Before anything is written the tables are
 * compared with what the version's should be: where they lie, where their entries
 * point to, and, in the array of 16 and later, that each kind is at its number
 * and the unused rows are all alike.
 */
#include "postgres.h"

#include "pfs_image.h"
#include "pfs_methods.h"
#include "pfs_relro.h"

#define RANGES_MAX 64

/* Read-only memory of what was loaded when the postmaster looked. */
static PfsAddresses constants[RANGES_MAX];
static int	nconstants = 0;

/* Does the table lie in read-only data, and do all entries point into the server's text? */
static bool
has_entries(const MemoryContextMethods *table)
{
	const void *entries[] = {
		table->alloc, table->free_p, table->realloc, table->reset, table->delete_context,
		table->get_chunk_space, table->is_empty, table->stats,
	};

	if (!pfs_relro_has(table, sizeof(*table)))
		return false;
	for (int i = 0; i < lengthof(entries); i++)
	{
		if (!pfs_relro_is_code(entries[i]))
			return false;
	}
	return true;
}

#if PFS_METHODS_IN_ARRAY

/* Row 0 belongs to no kind; so do the others that must look like it. */
static bool
is_array(const PfsMethods *methods)
{
	const MemoryContextMethods *first = methods[PFS_ALLOC_SET].table - pfs_compat_method_id(PFS_ALLOC_SET);

	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		if (methods[kind].table != NULL && methods[kind].table != first + pfs_compat_method_id(kind))
			return false;
	}
	for (int id = 0; id < pfs_compat_method_id(PFS_ALLOC_SET); id++)
	{
		if (!pfs_relro_has(first + id, sizeof(*first)) || first[id].alloc != NULL || first[id].reset != NULL ||
			first[id].free_p != first[0].free_p || first[id].realloc != first[0].realloc ||
			!pfs_relro_is_code(first[id].free_p) || !pfs_relro_is_code(first[id].realloc))
			return false;
	}
	return true;
}

#else

static bool
is_array(const PfsMethods *methods)
{
	for (PfsAllocator kind = 1; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		for (PfsAllocator other = 0; other < kind; other++)
		{
			if (methods[kind].table != NULL && methods[kind].table == methods[other].table)
				return false;
		}
	}
	return true;
}

#endif

static void
describe(PfsMethods *methods, PfsAllocator kind, MemoryContext scratch)
{
	PfsMethods *m = &methods[kind];
	MemoryContextCounters counters = {0};

	m->table = (MemoryContextMethods *) scratch->methods;
	m->original = *m->table;
	m->header = pfs_compat_chunk_header(kind);
	m->original.stats(scratch, NULL, NULL, &counters, false);
	m->fresh_used = counters.totalspace - counters.freespace;
}

/* Before 16 the header is what the space of a chunk of known size is more. */
static void
measure_header(PfsMethods *m, MemoryContext scratch)
{
	void	   *pointer = MemoryContextAlloc(scratch, 64);

	if (m->header == 0 && !PFS_METHODS_IN_ARRAY)
		m->header = GetMemoryChunkSpace(pointer) - 64;
}

/*
 * Finds the method table of each kind of allocator by a scratch context; returns why not,
 * or NULL.
 */
const char *
pfs_methods_find(PfsMethods *methods)
{
	memset(methods, 0, PFS_NUM_ALLOCATORS * sizeof(PfsMethods));
	for (PfsAllocator kind = 0; kind < PFS_NUM_ALLOCATORS; kind++)
	{
		MemoryContext scratch = pfs_compat_scratch_context(kind);

		if (scratch == NULL)
			continue;
		describe(methods, kind, scratch);
		if (has_entries(methods[kind].table))
			measure_header(&methods[kind], scratch);
		MemoryContextDelete(scratch);
		if (!has_entries(methods[kind].table))
			return pfs_relro_is_code(methods[kind].table)
				? "the server is not position-independent: its tables of memory-context methods lie beside its code"
				: "a table of memory-context methods is not the server's own";
	}
	if (!is_array(methods))
		return "the tables of memory-context methods are not as this version has them";
	if (TopMemoryContext->methods != methods[PFS_ALLOC_SET].table)
		return "another library has replaced the methods of a memory context";
	return NULL;
}

/* All members are pointers to functions. */
#define NUM_ENTRIES (sizeof(MemoryContextMethods) / sizeof(void *))

/*
 * Replaces the entries that are as expected; false: another library has replaced some.  Nearly always
 * all are as expected.
 */
bool
pfs_methods_exchange(MemoryContextMethods *table, const MemoryContextMethods *from,
					 const MemoryContextMethods *to)
{
	if (likely(pfs_methods_are(table, from)))
	{
		*table = *to;
		return true;
	}
	return pfs_relro_exchange((void **) table, (void *const *) from, (void *const *) to, NUM_ENTRIES);
}

bool
pfs_methods_are(const MemoryContextMethods *table, const MemoryContextMethods *methods)
{
	return memcmp(table, methods, sizeof(*table)) == 0;
}

/* The same in the server's table; returns errno. */
int
pfs_methods_write(const PfsMethods *methods, const MemoryContextMethods *from,
				  const MemoryContextMethods *to, bool *others)
{
	return pfs_relro_write((void **) methods->table, (void *const *) from, (void *const *) to, NUM_ENTRIES, others);
}

/* ---- constants ---- */

static bool
is_constant(const ElfW(Phdr) * ph)
{
	return ph->p_type == PT_LOAD && (ph->p_flags & (PF_R | PF_W)) == PF_R;
}

static int
note_constants_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum && nconstants < RANGES_MAX; i++)
	{
		if (is_constant(&info->dlpi_phdr[i]))
			constants[nconstants++] = pfs_addresses_of(info, &info->dlpi_phdr[i]);
	}
	return 0;
}

static int
find_constant_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		PfsAddresses range = pfs_addresses_of(info, &info->dlpi_phdr[i]);

		if (is_constant(&info->dlpi_phdr[i]) && pfs_addresses_have(&range, arg))
			return 1;
	}
	return 0;
}

void
pfs_methods_note_constants(void)
{
	nconstants = 0;
	dl_iterate_phdr(note_constants_cb, NULL);
}

bool
pfs_methods_is_constant(const void *address)
{
	for (int i = 0; i < nconstants; i++)
	{
		if (pfs_addresses_have(&constants[i], address))
			return true;
	}
	/* Of a library that was loaded since; the server never unloads one. */
	return dl_iterate_phdr(find_constant_cb, unconstify(void *, address)) != 0;
}
