/*
 * pfs_exit.h
 *	  The server's list of functions that it calls at the end of a process.
 */
#ifndef PFS_EXIT_H
#define PFS_EXIT_H

/*
 * Postmaster: where on_shmem_exit() keeps function and argument, pair by pair, and how
 * many pairs there are.  NULL, or why they were not found.  Nothing is registered when
 * it returns NULL.
 */
extern const char *pfs_exit_find(void **list, int **used);

#endif							/* PFS_EXIT_H */
