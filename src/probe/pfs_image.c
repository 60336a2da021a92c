/*
 * pfs_image.c
 *	  The main program: its segments, and what it exports.
 *
 * Separate from the ways to get called, which all look there.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "pfs_image.h"

static PfsImage image;

/* dl_iterate_phdr() callback: notes the segments of the main program. */
static int
describe_main_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	image.base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * segment = &info->dlpi_phdr[i];
		PfsAddresses addresses = pfs_addresses_of(info, segment);

		if (segment->p_type == PT_DYNAMIC)
			image.dynamic = (const ElfW(Dyn) *) addresses.start;
		else if (segment->p_type == PT_GNU_RELRO)
			image.relro = addresses;
		if (segment->p_type != PT_LOAD)
			continue;
		image.end = Max(image.end, addresses.end);
		if (segment->p_flags & PF_X)
		{
			image.text = addresses;
			image.text_offset = segment->p_offset;
		}
		if (segment->p_flags & PF_W)
		{
			image.data = addresses;
			image.ndata++;
		}
	}
	return 1;					/* the main program comes first; stop */
}

const PfsImage *
pfs_image(void)
{
	if (image.end == 0)
		dl_iterate_phdr(describe_main_cb, NULL);
	return &image;
}

void *
pfs_image_symbol(const char *name, size_t *size)
{
	void	   *address = dlsym(RTLD_DEFAULT, name);
	Dl_info		info;

	ElfW(Sym) * symbol = NULL;

	*size = 0;
	if (address == NULL || !dladdr1(address, &info, (void **) &symbol, RTLD_DL_SYMENT) || symbol == NULL)
		return NULL;
	*size = symbol->st_size;
	return address;
}
