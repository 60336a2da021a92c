/*
 * pfs_save_names.c
 *	  Instruments in the file.
 */
#include "postgres.h"

#include "pfs_save_names.h"
#include "pfs_wait_class.h"

/* Is it named in the file? */
static bool
has_name(const PfsInstrument *ins)
{
	return ins != NULL && (ins->class == PFS_CLASS_WAIT || ins->class == PFS_CLASS_IDLE) &&
		(!ins->unnamed || pfs_load_acquire(&ins->named) == 1);
}

/* Puts the names of instruments as they are now. */
uint32
pfs_save_put_names(PfsSaveWriter *w)
{
	uint32		n = pfs_instrument_count();

	pfs_save_put(w, &n, sizeof(n));
	for (uint32 i = 0; i < n; i++)
	{
		const PfsInstrument *ins = pfs_instrument_at(i);
		const char *name = has_name(ins) ? pfs_instrument_name(ins) : "";

		pfs_save_put_text(w, name, strlen(name));
	}
	return n;
}

/* Takes names out of the file; whose they are is looked up later. */
PfsSavedName *
pfs_save_take_names(const PfsSaveReader *r)
{
	PfsSavedName *names = palloc0((Size) Max(r->nnames, 1) * sizeof(PfsSavedName));
	PfsSaveReader from = {.at = r->names, .end = r->end};

	for (uint32 i = 0; i < r->nnames; i++)
	{
		names[i].name = pfs_save_get_text(&from, PFS_NAME_SIZE - 1, &names[i].len);
		names[i].instrument = PFS_NO_INSTRUMENT;
	}
	return names;
}

/* Looks up whose name it is, once. */
PfsInstrumentId
pfs_saved_instrument(PfsSavedName *saved)
{
	char		name[PFS_NAME_SIZE] = {0};

	if (saved->name != NULL)
	{
		memcpy(name, saved->name, saved->len);
		saved->instrument = pfs_wait_class_restore(name);
		saved->name = NULL;
	}
	return saved->instrument;
}
