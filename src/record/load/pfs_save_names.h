/*
 * pfs_save_names.h
 *	  Instruments in the file: a section has their names, and refers to them by number.
 */
#ifndef PFS_SAVE_NAMES_H
#define PFS_SAVE_NAMES_H

#include "pfs_instrument.h"
#include "pfs_save_record.h"

/*
 * A name of the file, not terminated; NULL: none, or looked up: then the instrument that has it
 * now.
 */
typedef struct PfsSavedName
{
	const char *name;
	uint32		len;
	PfsInstrumentId instrument;
} PfsSavedName;

/*
 * Puts records of pfs_save_event_record, which has this place in the format, for all instruments:
 * the names of waits and of idle; of others, and of what has only a number, which says nothing to
 * another server, none.  Returns how many: an instrument that comes later is in the next file.
 */
extern uint32 pfs_save_put_names(PfsSaveWriter *w, const PfsSaveFormat *format, int kind);

/* The names of a section from this place on, as an array in the current context. */
extern PfsSavedName *pfs_save_take_names(const PfsSaveRecords *records, int kind);

/*
 * The instrument of a name, looked up once, and only if it is asked for; PFS_NO_INSTRUMENT: none
 * has it.
 */
extern PfsInstrumentId pfs_saved_instrument(PfsSavedName *saved);

#endif							/* PFS_SAVE_NAMES_H */
