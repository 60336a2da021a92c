/*
 * pfs_test_symbol.h
 *	  Functions and variables of pfs.so, by their names in the file's table of symbols:
 *	  nothing that it does not export is known to the linker.
 */
#ifndef PFS_TEST_SYMBOL_H
#define PFS_TEST_SYMBOL_H

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Library
{
	char		path[MAXPGPATH];
	uintptr_t	base;
} Library;

static int
find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	Library    *library = arg;
	const char *name = strrchr(info->dlpi_name, '/');

	if (name == NULL || strcmp(name, "/pfs.so") != 0)
		return 0;
	strlcpy(library->path, info->dlpi_name, sizeof(library->path));
	library->base = info->dlpi_addr;
	return 1;
}

/*
 * The value of the symbol in this table; wanted: "name", or "file.c:name" for one of
 * several functions of a name.  The compiler may have added ".part.0" and the like.
 */
static uintptr_t
find_in_table(const char *image, const Elf64_Shdr *table, const Elf64_Shdr *strings, const char *wanted)
{
	const Elf64_Sym *symbols = (const Elf64_Sym *) (image + table->sh_offset);
	const char *names = image + strings->sh_offset;
	const char *colon = strchr(wanted, ':');
	const char *name = colon != NULL ? colon + 1 : wanted;
	const char *file = "";
	size_t		length = strlen(name);

	for (size_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++)
	{
		const char *this = names + symbols[i].st_name;

		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FILE)
			file = strrchr(this, '/') != NULL ? strrchr(this, '/') + 1 : this;
		else if (symbols[i].st_value != 0 && strncmp(this, name, length) == 0 &&
				 (this[length] == '\0' || this[length] == '.') && strstr(this, ".cold") == NULL &&
				 (colon == NULL || (strlen(file) == colon - wanted && strncmp(file, wanted, colon - wanted) == 0)))
			return symbols[i].st_value;
	}
	return 0;
}

/* The address of a function or variable of pfs.so. */
static void *
symbol(const char *wanted)
{
	Library		library = {.base = 0};
	struct stat st;
	const char *image;
	const Elf64_Shdr *sections;
	uintptr_t	value = 0;
	int			fd;

	if (dl_iterate_phdr(find_library, &library) == 0)
		elog(ERROR, "pfs.so is not loaded");
	fd = open(library.path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0)
		elog(ERROR, "%s: %m", library.path);
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		elog(ERROR, "%s: %m", library.path);
	sections = (const Elf64_Shdr *) (image + ((const Elf64_Ehdr *) image)->e_shoff);
	for (int i = 0; i < ((const Elf64_Ehdr *) image)->e_shnum && value == 0; i++)
	{
		if (sections[i].sh_type == SHT_SYMTAB)
			value = find_in_table(image, &sections[i], &sections[sections[i].sh_link], wanted);
	}
	munmap(unconstify(char *, image), st.st_size);
	if (value == 0)
		elog(ERROR, "pfs.so has no symbol %s", wanted);
	return (void *) (library.base + value);
}

#endif							/* PFS_TEST_SYMBOL_H */
