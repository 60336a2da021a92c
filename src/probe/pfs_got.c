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

#include "pfs_got.h"
#include "pfs_image.h"
#include "pfs_relro.h"

#if defined(__x86_64__)
#define PFS_RELOC_JUMP_SLOT R_X86_64_JUMP_SLOT
#define PFS_RELOC_GLOB_DAT	R_X86_64_GLOB_DAT
#else							/* pfs_platform.c refuses all others */
#define PFS_RELOC_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define PFS_RELOC_GLOB_DAT	R_AARCH64_GLOB_DAT
#endif

/* What the dynamic section of the main program says of its slots. */
typedef struct PfsDynamic
{
	const		ElfW(Sym) * symbols;
	const char *strings;
	const		ElfW(Rela) * rela[2];	/* DT_JMPREL, DT_RELA */
	size_t		nrela[2];
} PfsDynamic;

/* Reads it; false: it is none that we understand. */
static bool
read_dynamic(PfsDynamic *dynamic, const PfsImage *image)
{
	size_t		bytes[2] = {0, 0};

	/* The linker has already added the base to these pointers (glibc). */
	for (const ElfW(Dyn) * dyn = image->dynamic; dyn != NULL && dyn->d_tag != DT_NULL; dyn++)
	{
		switch (dyn->d_tag)
		{
			case DT_SYMTAB:
				dynamic->symbols = (const ElfW(Sym) *) dyn->d_un.d_ptr;
				break;
			case DT_STRTAB:
				dynamic->strings = (const char *) dyn->d_un.d_ptr;
				break;
			case DT_JMPREL:
				dynamic->rela[0] = (const ElfW(Rela) *) dyn->d_un.d_ptr;
				break;
			case DT_PLTRELSZ:
				bytes[0] = dyn->d_un.d_val;
				break;
			case DT_RELA:
				dynamic->rela[1] = (const ElfW(Rela) *) dyn->d_un.d_ptr;
				break;
			case DT_RELASZ:
				bytes[1] = dyn->d_un.d_val;
				break;
		}
	}
	for (int i = 0; i < 2; i++)
		dynamic->nrela[i] = dynamic->rela[i] == NULL ? 0 : bytes[i] / sizeof(ElfW(Rela));

	/* A libc that does not relocate the section leaves small offsets here. */
	return dynamic->symbols != NULL && dynamic->strings != NULL &&
		(uintptr_t) dynamic->symbols >= image->base &&
		(uintptr_t) dynamic->strings >= image->base;
}

/* Stores the replacement into one slot, whose page is writable for that long only. */
static void
patch_slot(const PfsImage *image, PfsGotPatch *patch, void **slot, PfsGotKind kind)
{
	void	   *content = *slot;
	void	   *old = content;
	bool		others;
	int			err;

	if (content == patch->replacement)
		return;

	/*
	 * With lazy binding the slot still points into the program's own PLT;
	 * calling that would resolve the symbol and overwrite our patch.
	 */
	if ((uintptr_t) old >= image->base && (uintptr_t) old < image->end)
		old = dlsym(RTLD_DEFAULT, patch->symbol);
	if (old == NULL)
	{
		patch->result = PFS_GOT_UNRESOLVED;
		return;
	}
	if (*patch->original == NULL)
		*patch->original = old;

	patch->kinds |= kind;
	err = pfs_relro_write(slot, &content, &patch->replacement, 1, &others);
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
	const PfsImage *image = pfs_image();
	PfsDynamic	dynamic = {0};
	bool		usable = read_dynamic(&dynamic, image);

	for (int p = 0; p < npatches; p++)
		patches[p].result = usable ? PFS_GOT_NOT_IMPORTED : PFS_GOT_UNSUPPORTED;
	if (!usable)
		return;

	for (int table = 0; table < 2; table++)
	{
		for (size_t r = 0; r < dynamic.nrela[table]; r++)
		{
			const		ElfW(Rela) * rela = &dynamic.rela[table][r];
			uint32		type = ELF64_R_TYPE(rela->r_info);
			const char *name;

			if (type != PFS_RELOC_JUMP_SLOT && type != PFS_RELOC_GLOB_DAT)
				continue;
			name = dynamic.strings + dynamic.symbols[ELF64_R_SYM(rela->r_info)].st_name;
			for (int p = 0; p < npatches; p++)
			{
				if (strcmp(name, patches[p].symbol) == 0)
					patch_slot(image, &patches[p], (void **) (image->base + rela->r_offset),
							   type == PFS_RELOC_JUMP_SLOT ? PFS_GOT_JUMP_SLOT : PFS_GOT_GLOB_DAT);
			}
		}
	}
}
