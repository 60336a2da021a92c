/*
 * pfs_relro.h
 *	  Pointers to functions that the server binary keeps in read-only data: is this
 *	  such memory, and exchanging some of the pointers.
 *
 * The dynamic linker fills these structs and arrays in and makes their pages read-only
 * (RELRO).  The pages are private: what one process writes, no other sees, and the postmaster's
 * children begin with what it wrote.
 */
#ifndef PFS_RELRO_H
#define PFS_RELRO_H

/* Do so many bytes lie in read-only data of the main program? */
extern bool pfs_relro_has(const void *start, size_t size);

/* Is this an address in the main program's code? */
extern bool pfs_relro_is_code(const void *address);

/*
 * Replaces those of n pointers that are still the ones in `from` by those in `to`.  False: some
 * are neither, as another library has put its own there; these stay.
 */
extern bool pfs_relro_exchange(void **pointers, void *const *from, void *const *to, size_t n);

/*
 * The same in read-only memory, whose pages are writable for that long only; instrument points.
 * Returns 0 or the system's error, and then has written nothing; *others: some pointers
 * stay.
 */
extern int	pfs_relro_write(void **pointers, void *const *from, void *const *to, size_t n, bool *others);

#endif							/* PFS_RELRO_H */
