/*
 * pfs_save_names.c
 *	  Instruments in the file.
 */
#include "postgres.h"

#include "utils/memutils.h"

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
pfs_save_put_names(PfsSaveWriter *w, const PfsSaveFormat *format, int kind)
{
	uint32		n = pfs_instrument_count();

	for (uint32 i = 0; i < n; i++)
	{
		const PfsInstrument *ins = pfs_instrument_at(i);
		const char *name = has_name(ins) ? pfs_instrument_name(ins) : "";
		PfsSavedEvent event = {{name, strlen(name)}};

		pfs_save_put_record(w, format, kind, &event);
	}
	return n;
}

/* Takes names out of the file; whose they are is looked up later. */
PfsSavedName *
pfs_save_take_names(const PfsSaveRecords *records, int kind)
{
	PfsSaveRecords r = *records;
	PfsSavedAny record;
	Size		room = 256;
	PfsSavedName *names = palloc(room * sizeof(PfsSavedName));

	while (pfs_save_get_kind(&r, kind, &record))
	{
		const PfsSavedEvent *event = (const PfsSavedEvent *) &record;
		uint32		n = r.nread[kind];

		if (n > room)
			names = repalloc_huge(names, (room *= 2) * sizeof(PfsSavedName));
		names[n - 1] = (PfsSavedName)
		{
			event->name.text, event->name.len, PFS_NO_INSTRUMENT
		};
	}
	return names;
}

/* Looks up whose name it is, once. */
PfsInstrumentId
pfs_saved_instrument(PfsSavedName *saved)
{
	char		name[PFS_NAME_SIZE] = {0};

	/* No instrument has a longer name. */
	if (saved->name != NULL && saved->len < sizeof(name))
	{
		memcpy(name, saved->name, saved->len);
		saved->instrument = pfs_wait_class_restore(name);
	}
	saved->name = NULL;
	return saved->instrument;
}
