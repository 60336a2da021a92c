/*
 * pfs_source.c
 *	  Names of places in the server's code, from its exported symbols.
 *
 * Separate from the events, which store an offset: only readers look names up.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <link.h>

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "pfs_source.h"

/* dl_iterate_phdr() callback: stores the load address of the server binary. */
static int
first_base_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(uintptr_t *) arg = info->dlpi_addr;
	return 1;					/* the main program comes first */
}

/* dladdr() searches thousands of symbols; a server waits in some hundred places. */
#define NAMES_CACHED 1024

/* Bytes, terminator included; longer names are cut. */
#define NAME_SIZE 65

typedef struct PfsSourceName
{
	uint32		offset;			/* 0: empty */
	char		name[NAME_SIZE];
} PfsSourceName;

/*
 * Returns the name of a place in the server's code, for readers of events.  Names are
 * cached in a process-local table, made at the first call; two places that hash to one
 * entry replace each other.
 */
const char *
pfs_source_name(uint32 offset)
{
	static PfsSourceName *names = NULL;
	PfsSourceName *entry;
	uintptr_t	address;
	Dl_info		info;

	if (offset == 0)
		return NULL;
	if (names == NULL)
		names = MemoryContextAllocZero(TopMemoryContext, NAMES_CACHED * sizeof(PfsSourceName));
	entry = &names[murmurhash32(offset) % NAMES_CACHED];
	if (entry->offset == offset)
		return entry->name;

	dl_iterate_phdr(first_base_cb, &address);
	address += offset;
	entry->offset = offset;
	if (dladdr((void *) address, &info) && info.dli_sname != NULL)
		snprintf(entry->name, sizeof(entry->name), "%s+0x%lx", info.dli_sname,
				 (unsigned long) (address - (uintptr_t) info.dli_saddr));
	else
		snprintf(entry->name, sizeof(entry->name), "postgres+0x%x", offset);
	return entry->name;
}
