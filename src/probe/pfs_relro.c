/*
 * pfs_relro.c
 *	  Writing pointers to functions in the server's read-only data.
 *
 * Separate from what the pointers are for (pfs_got.c, pfs_methods.c, instr): how long a page is
 * writable, and that nobody else's pointer is overwritten, is the same for all of them.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "pfs_image.h"
#include "pfs_relro.h"

bool
pfs_relro_has(const void *start, size_t size)
{
	const PfsAddresses *relro = &pfs_image()->relro;

	return (uintptr_t) start >= relro->start && (uintptr_t) start + size <= relro->end;
}

bool
pfs_relro_is_code(const void *address)
{
	return pfs_addresses_have(&pfs_image()->text, address);
}

/* Replaces the pointers that are as expected; false: another library has replaced some. */
bool
pfs_relro_exchange(void **pointers, void *const *from, void *const *to, size_t n)
{
	bool		all = true;

	for (size_t i = 0; i < n; i++)
	{
		if (pointers[i] == from[i])
			pointers[i] = to[i];
		else if (pointers[i] != to[i])
			all = false;
	}
	return all;
}

/*
 * The same in read-only memory; returns errno.  The linker protects whole pages only; what it
 * left writable stays so.
 */
int
pfs_relro_write(void **pointers, void *const *from, void *const *to, size_t n, bool *others)
{
	uintptr_t	page_size = sysconf(_SC_PAGESIZE);
	uintptr_t	start = (uintptr_t) pointers & ~(page_size - 1);
	uintptr_t	end = TYPEALIGN(page_size, (uintptr_t) (pointers + n));
	int			save_errno = errno;
	int			err = 0;

	*others = false;
	if (mprotect((void *) start, end - start, PROT_READ | PROT_WRITE) != 0)
		err = errno;
	else
	{
		*others = !pfs_relro_exchange(pointers, from, to, n);
		end = Min(end, pfs_image()->relro.end & ~(page_size - 1));
		if (end > start)
			(void) mprotect((void *) start, end - start, PROT_READ);
	}
	errno = save_errno;
	return err;
}
