/*
 * pfs_got.h
 *	  Replaces the server binary's pointers to functions of shared libraries.
 *
 * The dynamic linker keeps, per imported function, a slot with its address
 * (JUMP_SLOT or GLOB_DAT relocation).  Debian's binaries are linked so that
 * these slots are final and read-only when a module is loaded; a slot's page
 * is made writable for the one store and read-only again.  Done once, in the
 * postmaster, while it has one thread: every child inherits it.
 */
#ifndef PFS_GOT_H
#define PFS_GOT_H

typedef enum PfsGotResult
{
	PFS_GOT_PENDING,			/* not tried */
	PFS_GOT_PATCHED,
	PFS_GOT_NOT_IMPORTED,		/* this binary does not call the function */
	PFS_GOT_PROTECTED,			/* the page could not be made writable; see
								 * error */
	PFS_GOT_UNCHANGED,			/* the page was said to be writable, and has
								 * its old content */
	PFS_GOT_UNSUPPORTED,		/* no dynamic section that we understand */
	PFS_GOT_UNRESOLVED,			/* the slot is not bound yet, and no library
								 * has the function */
	PFS_GOT_UNSEEN,				/* set by whoever called the function to see:
								 * calls do not pass the slot */
} PfsGotResult;

/* Relocations that make slots; a mask. */
typedef enum PfsGotKind
{
	PFS_GOT_JUMP_SLOT = 1,
	PFS_GOT_GLOB_DAT = 2,
} PfsGotKind;

typedef struct PfsGotPatch
{
	const char *symbol;			/* without version */
	void	   *replacement;
	void	  **original;		/* gets the slot's old content, which is what
								 * the replacement calls; set before the slot
								 * changes */
	const char *needed_by;		/* the caller's; not looked at here */
	PfsGotResult result;
	uint32		kinds;			/* of the slots that were changed */
	int			error;			/* errno of PFS_GOT_PROTECTED */
} PfsGotPatch;

/* Fill result of every patch.  Never raises; a slot is changed wholly or not at all. */
extern void pfs_got_patch(PfsGotPatch *patches, int npatches);

#endif							/* PFS_GOT_H */
