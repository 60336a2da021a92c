/*
 * pfs_sections.c
 *	  Where the pages begin that have the variables of nearly every event (PFS_FIXED,
 *	  PFS_HOT), and in which order they come.
 *
 * Linked first: the linker lays out sections that it does not know as it meets them,
 * behind .data and before .bss.  No section of pages that processes write may share one with
 * PFS_FIXED, so that comes first and the next one begins a page.
 */
#if defined(__aarch64__)
#define PAGE "65536"			/* the largest that there is */
#else
#define PAGE "4096"
#endif

#define SECTION(name, alignment) \
	".pushsection " name ",\"aw\",%progbits\n\t.balign " alignment "\n" name "_begins:\n\t.popsection\n"

__asm__(SECTION("pfs_fixed_first", PAGE)
		SECTION("pfs_fixed", "64")
		SECTION("pfs_fixed_tables", "64")
		SECTION("pfs_hot_first", PAGE)
		SECTION("pfs_hot", "64")
		SECTION("pfs_hot_structs", "64")
		SECTION("pfs_hot_tables", "64"));
