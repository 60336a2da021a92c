/*
 * pfs_note.c
 *	  Notes that sessions leave.
 */
#include "postgres.h"

#include "pfs_note.h"
#include "pfs_shared.h"

#define NOTES_PER_PAGE 100

PfsPages   *pfs_notes = NULL;
PfsSharedNotes *pfs_shared_notes = NULL;

void
pfs_notes_lay_out(PfsSegment *seg)
{
	pfs_notes = pfs_pages_create(seg, "note_instances", sizeof(PfsNote), pfs_sizes.notes, NOTES_PER_PAGE);
}

bool
pfs_note_add(const PfsThread *t, const char *text)
{
	static uint32 hint = 0;
	uint32		index;
	PfsNote    *note;

	if (text[0] == '\0')
	{
		pfs_add_relaxed(&pfs_shared_notes->empty, 1);
		return false;
	}
	index = pfs_pages_allocate(pfs_notes, &hint);
	if (index == PFS_NO_RECORD)
		return false;
	note = pfs_pages_record(pfs_notes, index);
	note->thread_id = t->thread_id;
	strlcpy(note->text, text, sizeof(note->text));
	pfs_pages_publish(pfs_notes, index);
	return true;
}

int
pfs_notes_remove(void)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;
	int			n = 0;

	while ((index = pfs_pages_next(pfs_notes, &pos, &word)) != PFS_NO_RECORD)
	{
		if (!pfs_pages_claim(pfs_notes, index, word))
			continue;
		pfs_pages_free(pfs_notes, index);
		n++;
	}
	return n;
}
