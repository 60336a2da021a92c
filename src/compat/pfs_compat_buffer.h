/*
 * pfs_compat_buffer.h
 *	  What differs between PostgreSQL 15, 16, 17 and 18 about buffer headers.
 *	  Apart from pfs_compat.h, so that instrument points do not see them.
 */
#ifndef PFS_COMPAT_BUFFER_H
#define PFS_COMPAT_BUFFER_H

#include "storage/buf_internals.h"

/* A page by numbers, as 16 and later have it. */
typedef struct PfsCompatPage
{
	Oid			tablespace;
	Oid			database;
	Oid			filenode;
	ForkNumber	fork;
	BlockNumber block;
} PfsCompatPage;

/* 16 replaced the RelFileNode inside the tag by its three numbers. */
static inline PfsCompatPage
pfs_compat_page_of(const BufferTag *tag)
{
#if PG_VERSION_NUM >= 160000
	PfsCompatPage page = {tag->spcOid, tag->dbOid, tag->relNumber, tag->forkNum, tag->blockNum};
#else
	PfsCompatPage page = {tag->rnode.spcNode, tag->rnode.dbNode, tag->rnode.relNode, tag->forkNum, tag->blockNum};
#endif

	return page;
}

#endif							/* PFS_COMPAT_BUFFER_H */
