/*
 * pfs_methods.h
 *	  The tables of memory-context methods: found and compared in the
 *	  postmaster, written in any process that wants to be called, and put back
 *	  there.
 *
 * The tables lie in memory that is read-only and private to each process: what
 * one process writes, no other sees.
 */
#ifndef PFS_METHODS_H
#define PFS_METHODS_H

#include "pfs_compat_memory.h"

typedef struct PfsMethods
{
	MemoryContextMethods *table;	/* NULL: this version has no such kind */
	MemoryContextMethods original;
	Size		header;			/* of a chunk, within its space */
	Size		fresh_used;		/* total less free space of a context that
								 * never had a chunk; a slab has no block then */
} PfsMethods;

/*
 * Postmaster, where memory can be allocated.  Fills the array by kind; returns
 * NULL, or why the tables are not what this version's should be: then nothing of
 * it may be used.
 */
extern const char *pfs_methods_find(PfsMethods *methods);

/*
 * Replace the entries of a table of methods that are still those of `from` by those of
 * `to`.  False: some are neither, as another library has put its own there; these stay.
 */
extern bool pfs_methods_exchange(MemoryContextMethods *table, const MemoryContextMethods *from,
								 const MemoryContextMethods *to);

/*
 * The same in a kind's own table, which is read-only; instrument points.  Returns 0 or
 * the system's error, and then has written nothing; *others: some entries stay.
 */
extern int	pfs_methods_write(const PfsMethods *methods, const MemoryContextMethods *from,
							  const MemoryContextMethods *to, bool *others);

/* Are the methods in use these, all of them? */
extern bool pfs_methods_are(const MemoryContextMethods *table, const MemoryContextMethods *methods);

/*
 * Postmaster: is an allocation seen by what is written into each kind's table, and a
 * free?  Afterwards the tables are what they were.  NULL, or why not.
 */
extern const char *pfs_methods_prove(const PfsMethods *methods);

/* Is this address in memory that a loaded object has as read-only?  Instrument points. */
extern bool pfs_methods_is_constant(const void *address);

/* Postmaster: remember which memory that is so far; the rest is looked up when met. */
extern void pfs_methods_note_constants(void);

#endif							/* PFS_METHODS_H */
