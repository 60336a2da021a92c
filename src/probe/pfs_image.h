/*
 * pfs_image.h
 *	  The main program, as the dynamic linker has mapped it: its segments, and what it
 *	  exports.
 */
#ifndef PFS_IMAGE_H
#define PFS_IMAGE_H

#include <link.h>
#include <sys/types.h>

/* Addresses. */
typedef struct PfsAddresses
{
	uintptr_t	start;
	uintptr_t	end;			/* behind the last one */
} PfsAddresses;

typedef struct PfsImage
{
	uintptr_t	base;
	uintptr_t	end;			/* behind the last loaded byte */
	PfsAddresses text;			/* of the executable segment */
	off_t		text_offset;	/* of its first byte in the file */
	PfsAddresses data;			/* of the writable segment */
	int			ndata;			/* how many such there are */
	PfsAddresses relro;			/* what the linker has made read-only */
	const		ElfW(Dyn) * dynamic;	/* NULL: it has none */
} PfsImage;

/* Found at the first question, in the postmaster.  What there is none of is empty. */
extern const PfsImage *pfs_image(void);

/*
 * The address of what is exported by this name, and its bytes; NULL, and 0: nothing is.  It can be another
 * library's: the caller looks whether it is the server's.
 */
extern void *pfs_image_symbol(const char *name, size_t *size);

static inline bool
pfs_addresses_have(const PfsAddresses *addresses, const void *address)
{
	return (uintptr_t) address >= addresses->start && (uintptr_t) address < addresses->end;
}

/* Where a segment of a loaded object lies. */
static inline PfsAddresses
pfs_addresses_of(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
	uintptr_t	start = info->dlpi_addr + segment->p_vaddr;

	return (PfsAddresses)
	{
		start, start + segment->p_memsz
	};
}

#endif							/* PFS_IMAGE_H */
