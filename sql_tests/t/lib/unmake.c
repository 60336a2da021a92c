/*
 * unmake.c
 *	  To be preloaded (LD_PRELOAD) into a server whose mechanisms should fail.
 *
 * FORGET		what is written into the main program's protected pages is gone when they
 *				are protected again
 * BYPASS		names of functions: the program's calls of them go past their slots
 * RETHROW		an error's jump has a function more between it and errfinish()
 * KEEP			madvise(MADV_REMOVE) says yes and does nothing
 * KERNEL		what uname() says
 *
 * x86-64 only.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static uintptr_t base;
static uintptr_t end;
static unsigned char *text;
static size_t text_size;
static ElfW(Dyn) * dynamic;

static int
main_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_DYNAMIC)
			dynamic = (ElfW(Dyn) *) (base + ph->p_vaddr);
		if (ph->p_type != PT_LOAD)
			continue;
		if (base + ph->p_vaddr + ph->p_memsz > end)
			end = base + ph->p_vaddr + ph->p_memsz;
		if (ph->p_flags & PF_X)
		{
			text = (unsigned char *) (base + ph->p_vaddr);

			text_size = ph->p_filesz;
		}
	}
	return 1;
}

/* ---- FORGET ---- */

static char saved[65536];
static char *saved_from;

int
mprotect(void *address, size_t len, int protection)
{
	int			in_program = base != 0 && (uintptr_t) address >= base && (uintptr_t) address < end;

	if (getenv("FORGET") != NULL && in_program && len <= sizeof(saved))
	{
		if (protection & PROT_WRITE)
			memcpy(saved, saved_from = address, len);
		else if (saved_from == address)
		{
			memcpy(address, saved, len);
			saved_from = NULL;
		}
	}
	return syscall(SYS_mprotect, address, len, protection);
}

/* ---- BYPASS, RETHROW ---- */

static void **
slot_of(const char *name)
{
	const		ElfW(Rela) * rela = NULL;
	const		ElfW(Sym) * symbols = NULL;
	const char *strings = NULL;
	size_t		n = 0;

	for (const ElfW(Dyn) * dyn = dynamic; dyn->d_tag != DT_NULL; dyn++)
	{
		if (dyn->d_tag == DT_JMPREL)
			rela = (const ElfW(Rela) *) dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_PLTRELSZ)
			n = dyn->d_un.d_val / sizeof(ElfW(Rela));
		else if (dyn->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *) dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_STRTAB)
			strings = (const char *) dyn->d_un.d_ptr;
	}
	for (size_t i = 0; i < n; i++)
	{
		if (strcmp(strings + symbols[ELF64_R_SYM(rela[i].r_info)].st_name, name) == 0)
			return (void **) (base + rela[i].r_offset);
	}
	return NULL;
}

/* Write "mov $target,%rax; jmp *%rax". */
static void
write_jump(unsigned char *code, const void *target)
{
	unsigned char *page = (unsigned char *) ((uintptr_t) code & ~(uintptr_t) 4095);

	syscall(SYS_mprotect, page, 8192, PROT_READ | PROT_WRITE);
	memcpy(code, "\x48\xb8", 2);
	memcpy(code + 2, &target, sizeof(target));
	memcpy(code + 10, "\xff\xe0", 2);
	syscall(SYS_mprotect, page, 8192, PROT_READ | PROT_EXEC);
}

/* The stub of a function jumps by its slot; now it jumps to what the slot held. */
static void
bypass(const char *name)
{
	void	  **slot = slot_of(name);

	for (size_t i = 0; slot != NULL && i + 16 <= text_size; i++)
	{
		int32_t		distance;

		if (text[i] != 0xff || text[i + 1] != 0x25)
			continue;
		memcpy(&distance, text + i + 2, sizeof(distance));
		if ((uintptr_t) (text + i + 6) + (intptr_t) distance != (uintptr_t) slot)
			continue;
		write_jump(text + i - (text[i - 1] == 0xf2), *slot);
		return;
	}
}

static void **jump_slot;

static __attribute__((noinline))
void
jump_from_here(void)
{
	sigjmp_buf **handler = dlsym(RTLD_DEFAULT, "PG_exception_stack");

	((void (*) (struct __jmp_buf_tag *, int)) *jump_slot) (**handler, 1);
	abort();
}

/* In the place of pg_re_throw(). */
static void
throw_from_here(void)
{
	jump_from_here();
	abort();
}

__attribute__((constructor)) static void
unmake(void)
{
	const char *names = getenv("BYPASS");
	void	   *rethrow = dlsym(RTLD_DEFAULT, "pg_re_throw");
	char		copy[256];

	dl_iterate_phdr(main_program, NULL);
	/* Other programs inherit the environment, too. */
	if (rethrow == NULL)
		return;
	if (names != NULL && strlen(names) < sizeof(copy))
	{
		strcpy(copy, names);
		for (char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " "))
			bypass(name);
	}
	if (getenv("RETHROW") != NULL && (jump_slot = slot_of("__longjmp_chk")) != NULL)
		write_jump(rethrow, throw_from_here);
}

/* ---- KEEP, KERNEL ---- */

int
madvise(void *address, size_t len, int advice)
{
	if (getenv("KEEP") != NULL && advice == MADV_REMOVE)
		return 0;
	return syscall(SYS_madvise, address, len, advice);
}

int
uname(struct utsname *name)
{
	int			result = syscall(SYS_uname, name);

	if (getenv("KERNEL") != NULL)
		strcpy(name->sysname, getenv("KERNEL"));
	return result;
}
