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
	PFS_FILE_OTHER,
} PfsFileKind;

#endif							/* PFS_FILE_KIND_H */
