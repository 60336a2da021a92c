/*
 * pfs_register.h
 *	  What the rooms are told of what lies above them.
 */
#ifndef PFS_REGISTER_H
#define PFS_REGISTER_H

/*
 * When the library is loaded, before anything else of the rooms is called.  Children
 * inherit it.
 */
extern void pfs_record_register(void);

/* Of that, the list of parts, and the tables of families. */
extern void pfs_parts_register(void);
extern void pfs_families_register(void);

#endif							/* PFS_REGISTER_H */
