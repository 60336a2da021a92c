/*
 * pfs_got.c
 *	  Finds and replaces GOT slots of the main program, x86-64 and aarch64.
 *
 * Separate from the wrappers so that ELF stays in one file.  What we call is
 * the slot's old content, not dlsym()'s answer: a sanitizer, valgrind or an
 * allocator that interposed the function before us keeps working.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pfs_got.h"

#if defined(__x86_64__)
#define PFS_RELOC_JUMP_SLOT R_X86_64_JUMP_SLOT
#define PFS_RELOC_GLOB_DAT	R_X86_64_GLOB_DAT
#else							/* pfs_platform.c refuses all others */
#define PFS_RELOC_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define PFS_RELOC_GLOB_DAT	R_AARCH64_GLOB_DAT
#endif

/* The main program, as the dynamic linker mapped it. */
typedef struct PfsImage
{
	uintptr_t	base;
	uintptr_t	end;			/* behind the last loaded byte */
	uintptr_t	relro_start;
	uintptr_t	relro_end;
	const		ElfW(Sym) * symbols;
	const char *strings;
	const		ElfW(Rela) * rela[2];	/* DT_JMPREL, DT_RELA */
	size_t		nrela[2];
} PfsImage;

/*
 * dl_iterate_phdr() callback: reads the dynamic section of the main program, which comes
 * first.
 */
static int
describe_main_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	PfsImage   *image = arg;
	const		ElfW(Dyn) * dyn = NULL;
	size_t		bytes[2] = {0, 0};

	image->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * ph = &info->dlpi_phdr[i];
		uintptr_t	start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD)
			image->end = Max(image->end, start + ph->p_memsz);
		else if (ph->p_type == PT_DYNAMIC)
			dyn = (const ElfW(Dyn) *) start;
		else if (ph->p_type == PT_GNU_RELRO)
		{
			image->relro_start = start;
			image->relro_end = start + ph->p_memsz;
		}
	}

	/* The linker has already added the base to these pointers (glibc). */
	for (; dyn != NULL && dyn->d_tag != DT_NULL; dyn++)
	{
		switch (dyn->d_tag)
		{
			case DT_SYMTAB:
				image->symbols = (const ElfW(Sym) *) dyn->d_un.d_ptr;
				break;
			case DT_STRTAB:
				image->strings = (const char *) dyn->d_un.d_ptr;
				break;
			case DT_JMPREL:
				image->rela[0] = (const ElfW(Rela) *) dyn->d_un.d_ptr;
				break;
			case DT_PLTRELSZ:
				bytes[0] = dyn->d_un.d_val;
				break;
			case DT_RELA:
				image->rela[1] = (const ElfW(Rela) *) dyn->d_un.d_ptr;
				break;
			case DT_RELASZ:
				bytes[1] = dyn->d_un.d_val;
				break;
		}
	}
	for (int i = 0; i < 2; i++)
		image->nrela[i] = image->rela[i] == NULL ? 0 : bytes[i] / sizeof(ElfW(Rela));

	return 1;					/* the main program comes first; stop */
}

static bool
image_is_usable(const PfsImage *image)
{
	/* A libc that does not relocate the section leaves small offsets here. */
	return image->symbols != NULL && image->strings != NULL &&
		(uintptr_t) image->symbols >= image->base &&
		(uintptr_t) image->strings >= image->base;
}

/* Store into a slot whose page may be read-only.  Returns 0 or errno. */
static int
store_slot(const PfsImage *image, void **slot, void *value)
{
	uintptr_t	page_size = sysconf(_SC_PAGESIZE);
	uintptr_t	page = (uintptr_t) slot & ~(page_size - 1);
	bool		relro = (uintptr_t) slot >= image->relro_start &&
	(uintptr_t) slot < image->relro_end;

	if (mprotect((void *) page, page_size, PROT_READ | PROT_WRITE) != 0)
		return errno;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);

	/*
	 * The last page of the RELRO range can hold data behind it; the linker
	 * protects whole pages only, so what it left writable must stay so.
	 */
	if (relro && page + page_size <= (image->relro_end & ~(page_size - 1)))
		(void) mprotect((void *) page, page_size, PROT_READ);
	return 0;
}

/* Stores the replacement into one slot, whose page is writable for that long only. */
static void
patch_slot(const PfsImage *image, PfsGotPatch *patch, void **slot, PfsGotKind kind)
{
	void	   *old = *slot;
	int			err;

	if (old == patch->replacement)
		return;

	/*
	 * With lazy binding the slot still points into the program's own PLT;
	 * calling that would resolve the symbol and overwrite our patch.
	 */
	if ((uintptr_t) old >= image->base && (uintptr_t) old < image->end)
		old = dlsym(RTLD_DEFAULT, patch->symbol);
	if (old == NULL)
	{
		patch->result = PFS_GOT_UNSUPPORTED;
		return;
	}
	if (*patch->original == NULL)
		*patch->original = old;

	patch->kinds |= kind;
	err = store_slot(image, slot, patch->replacement);
	if (err != 0)
	{
		patch->result = PFS_GOT_PROTECTED;
		patch->error = err;
	}
	else if (*(void *volatile *) slot != patch->replacement)
		patch->result = PFS_GOT_UNCHANGED;
	else if (patch->result == PFS_GOT_NOT_IMPORTED)
		patch->result = PFS_GOT_PATCHED;
}

/* Goes through both relocation tables and patches every slot of the wanted symbols. */
void
pfs_got_patch(PfsGotPatch *patches, int npatches)
{
	PfsImage	image = {0};

	dl_iterate_phdr(describe_main_cb, &image);
	for (int p = 0; p < npatches; p++)
		patches[p].result = image_is_usable(&image) ? PFS_GOT_NOT_IMPORTED : PFS_GOT_UNSUPPORTED;
	if (!image_is_usable(&image))
		return;

	for (int table = 0; table < 2; table++)
	{
		for (size_t r = 0; r < image.nrela[table]; r++)
		{
			const		ElfW(Rela) * rela = &image.rela[table][r];
			uint32		type = ELF64_R_TYPE(rela->r_info);
			const char *name;

			if (type != PFS_RELOC_JUMP_SLOT && type != PFS_RELOC_GLOB_DAT)
				continue;
			name = image.strings + image.symbols[ELF64_R_SYM(rela->r_info)].st_name;
			for (int p = 0; p < npatches; p++)
			{
				if (strcmp(name, patches[p].symbol) == 0)
					patch_slot(&image, &patches[p], (void **) (image.base + rela->r_offset),
							   type == PFS_RELOC_JUMP_SLOT ? PFS_GOT_JUMP_SLOT : PFS_GOT_GLOB_DAT);
			}
		}
	}
}
