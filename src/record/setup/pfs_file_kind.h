/*
 * pfs_file_kind.h
 *	  Kinds of files: each has instruments of its own for calls without a
 *	  wait_event_info.  Apart from pfs_file.h, as the catalogue of instruments knows
 *	  no file.
 */
#ifndef PFS_FILE_KIND_H
#define PFS_FILE_KIND_H

/* What a path is, told by where it lies in the data directory. */
typedef enum PfsFileKind
{
	PFS_FILE_UNKNOWN,			/* descriptor not looked at yet */
	PFS_FILE_NOT_A_FILE,		/* socket, pipe, epoll, ... */
	PFS_FILE_DATA,				/* base, global, pg_tblspc */
	PFS_FILE_TEMP,				/* pgsql_tmp, and temporary files by name */
	PFS_FILE_WAL,				/* pg_wal */
	PFS_FILE_SLRU,				/* pg_xact, pg_multixact, pg_subtrans, ... */
	PFS_FILE_TEMP_DATA,			/* a session's temporary relation: calls on it
								 * have the names of those on DATA */
	PFS_FILE_OTHER,
} PfsFileKind;

#define PFS_NUM_FILE_KINDS (PFS_FILE_OTHER + 1)

/* What a file is for, as users see it; what files that have gone have counted is kept by this. */
typedef enum PfsFileUse
{
	PFS_USE_RELATION,
	PFS_USE_TEMPORARY,
	PFS_USE_WAL,
	PFS_USE_SLRU,
	PFS_USE_OTHER,
} PfsFileUse;

#define PFS_NUM_FILE_USES (PFS_USE_OTHER + 1)

/* Of a kind that is not known, and of any other number: PFS_USE_OTHER. */
static inline PfsFileUse
pfs_file_use(uint32 kind)
{
	switch (kind)
	{
		case PFS_FILE_DATA:
			return PFS_USE_RELATION;
		case PFS_FILE_TEMP:
		case PFS_FILE_TEMP_DATA:
			return PFS_USE_TEMPORARY;
		case PFS_FILE_WAL:
			return PFS_USE_WAL;
		case PFS_FILE_SLRU:
			return PFS_USE_SLRU;
		default:
			return PFS_USE_OTHER;
	}
}

#endif							/* PFS_FILE_KIND_H */
