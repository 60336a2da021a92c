/*
 * pfs_imports.h
 *	  Addresses of what a statement needs of the server and of the C library, on two cache lines.
 *
 * A library reaches another one's variables and functions through a table of addresses that the linker makes (the
 * GOT), in the order of a hash of their names: sixteen of its lines for a point lookup, each of which is in no cache
 * when a session runs after others.  The loader fills this struct in, too.
 *
 * Whoever is not on the way of each statement names the variable or function itself.
 */
#ifndef PFS_IMPORTS_H
#define PFS_IMPORTS_H

#include "access/xact.h"
#include "catalog/namespace.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "tcop/pquery.h"
#include "utils/fmgrprotos.h"
#include "utils/portal.h"
#include "utils/wait_event.h"

#include "pfs.h"

#define PFS_IMPORTS(X) \
	X(MyProcPort) \
	X(MyProc) \
	X(MyDatabaseId) \
	X(ActivePortal) \
	X(XactIsoLevel) \
	X(XactReadOnly) \
	X(namespace_search_path) \
	X(my_wait_event_info) \
	X(pgBufferUsage) \
	X(pgWalUsage) \
	X(GetOuterUserId) \
	X(GetCurrentStatementStartTimestamp) \
	X(GetTopFullTransactionIdIfAny) \
	X(pg_trigger_depth) \
	X(strcmp) \
	X(memcpy)

#define PFS_IMPORT_FIELD(name) __typeof__(name) *name##_at;

typedef struct PfsImports
{
	PFS_IMPORTS(PFS_IMPORT_FIELD)
} PfsImports;

extern PFS_HIDDEN PfsImports pfs_imports;

/* The variable, or the function. */
#define PFS_IMPORT(name) (*pfs_imports.name##_at)

#endif							/* PFS_IMPORTS_H */
