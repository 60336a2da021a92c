/*
 * pfs_relro.c
 *	  Writing pointers to functions in the server's read-only data.
 *
 * Separate from what the pointers are for (pfs_methods.c, instr): how long a page is
 * writable, and that nobody else's pointer is overwritten, is the same for all of them.
 */
#include "postgres.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pfs_relro.h"

typedef struct Range
{
	uintptr_t	start;
	uintptr_t	end;
} Range;

/* Of the main program; found at the first question, in the postmaster. */
static Range code;
static Range relro;

static Range
range_of(const struct dl_phdr_info *info, const ElfW(Phdr) * ph)
{
	uintptr_t	start = info->dlpi_addr + ph->p_vaddr;

	return (Range)
	{
		start, start + ph->p_memsz
	};
}

static int
main_program_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X))
			code = range_of(info, ph);
		else if (ph->p_type == PT_GNU_RELRO)
			relro = range_of(info, ph);
	}
	return 1;					/* the main program comes first; stop */
}

static inline void
find_ranges(void)
{
	if (code.end == 0)
		dl_iterate_phdr(main_program_cb, NULL);
}

bool
pfs_relro_has(const void *start, size_t size)
{
	find_ranges();
	return (uintptr_t) start >= relro.start && (uintptr_t) start + size <= relro.end;
}

bool
pfs_relro_is_code(const void *address)
{
	find_ranges();
	return (uintptr_t) address >= code.start && (uintptr_t) address < code.end;
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
		end = Min(end, relro.end & ~(page_size - 1));
		if (end > start)
			(void) mprotect((void *) start, end - start, PROT_READ);
	}
	errno = save_errno;
	return err;
}
