/*
 * pfs_note.h
 *	  Notes that sessions leave: the container that 190_additions.pl adds.
 */
#ifndef PFS_NOTE_H
#define PFS_NOTE_H

#include "pfs_pages.h"
#include "pfs_thread.h"

#define PFS_NOTE_SIZE 64

typedef struct PfsNote
{
	uint64		thread_id;		/* whose; written before the record is
								 * published */
	char		text[PFS_NOTE_SIZE];
} PfsNote;

typedef struct PfsSharedNotes
{
	uint64		empty;			/* notes without a text, atomic */
} PfsSharedNotes;

extern PfsPages *pfs_notes;
extern PfsSharedNotes *pfs_shared_notes;

/* Takes the container. */
extern void pfs_notes_lay_out(PfsSegment *seg);

/* False: the note has no text, or there is no room. */
extern bool pfs_note_add(const PfsThread *t, const char *text);

/* Frees all notes; returns how many. */
extern int	pfs_notes_remove(void);

#endif							/* PFS_NOTE_H */
