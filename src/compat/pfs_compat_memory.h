/*
 * pfs_compat_memory.h
 *	  What differs in the methods of memory contexts: their parameters, where
 *	  their tables lie, and what a chunk's header holds.
 *
 * Up to 15 each kind of context has a table of its own, and a method is told the
 * chunk's context.  From 16 on all kinds are rows of one array, by a number that
 * each chunk's header holds, and a method finds the context itself.
 */
#ifndef PFS_COMPAT_MEMORY_H
#define PFS_COMPAT_MEMORY_H

#include "nodes/memnodes.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 160000
#include "utils/memutils_internal.h"
#include "utils/memutils_memorychunk.h"
#endif

/* The kinds of contexts. */
typedef enum PfsAllocator
{
	PFS_ALLOC_SET,
	PFS_GENERATION,
	PFS_SLAB,
	PFS_BUMP,
} PfsAllocator;

#define PFS_NUM_ALLOCATORS (PFS_BUMP + 1)

#if PG_VERSION_NUM >= 170000
#define PFS_HAVE_BUMP 1
#define PFS_ALLOC_PARAMS MemoryContext context, Size size, int flags
#define PFS_ALLOC_ARGS context, size, flags
#else
#define PFS_HAVE_BUMP 0
#define PFS_ALLOC_PARAMS MemoryContext context, Size size
#define PFS_ALLOC_ARGS context, size
#endif

#if PG_VERSION_NUM >= 170000
#define PFS_FREE_PARAMS void *pointer
#define PFS_FREE_ARGS pointer
#define PFS_REALLOC_PARAMS void *pointer, Size size, int flags
#define PFS_REALLOC_ARGS pointer, size, flags
#elif PG_VERSION_NUM >= 160000
#define PFS_FREE_PARAMS void *pointer
#define PFS_FREE_ARGS pointer
#define PFS_REALLOC_PARAMS void *pointer, Size size
#define PFS_REALLOC_ARGS pointer, size
#else
#define PFS_FREE_PARAMS MemoryContext context, void *pointer
#define PFS_FREE_ARGS context, pointer
#define PFS_REALLOC_PARAMS MemoryContext context, void *pointer, Size size
#define PFS_REALLOC_ARGS context, pointer, size
#endif

/* PFS_REALLOC_REST: the parameters of realloc() but for the context. */
#if PG_VERSION_NUM >= 160000
#define PFS_METHODS_IN_ARRAY 1
#define PFS_REALLOC_REST PFS_REALLOC_PARAMS
#define PFS_SPACE_OF_CHUNK(methods, context, pointer) ((methods)->get_chunk_space(pointer))
#else
#define PFS_METHODS_IN_ARRAY 0
#define PFS_REALLOC_REST void *pointer, Size size
#define PFS_SPACE_OF_CHUNK(methods, context, pointer) ((methods)->get_chunk_space(context, pointer))
#endif

/* The number of a kind's row in the array; rows without a kind are stubs. */
#if PFS_METHODS_IN_ARRAY
static inline int
pfs_compat_method_id(PfsAllocator kind)
{
	switch (kind)
	{
		case PFS_ALLOC_SET:
			return MCTX_ASET_ID;
		case PFS_GENERATION:
			return MCTX_GENERATION_ID;
		case PFS_SLAB:
			return MCTX_SLAB_ID;
#if PFS_HAVE_BUMP
		case PFS_BUMP:
			return MCTX_BUMP_ID;
#endif
		default:
			return -1;
	}
}
#endif

/*
 * Bytes of a chunk's header: of all kinds alike from 16 on (bump has none); before,
 * only the kinds know, 0 says so.
 */
static inline Size
pfs_compat_chunk_header(PfsAllocator kind)
{
#if PG_VERSION_NUM >= 160000
	return kind == PFS_BUMP ? 0 : sizeof(MemoryChunk);
#else
	return 0;
#endif
}

/*
 * Space and context of an AllocSet's chunk, read from its header in the way of
 * this version: nearly all chunks are of this kind, and two calls for each would
 * be a third of what counting it costs.  Whoever uses these has compared them with
 * the methods' answers first.  Space: 0 if the header does not say it.
 */
static inline Size
pfs_compat_set_chunk_space(const void *pointer)
{
#if PG_VERSION_NUM >= 160000
	MemoryChunk *chunk = PointerGetMemoryChunk(pointer);

	if (unlikely(MemoryChunkIsExternal(chunk)))
		return 0;
	return (Size) 8 << MemoryChunkGetValue(chunk);
#elif defined(MEMORY_CONTEXT_CHECKING)
	return ((const Size *) pointer)[-3];
#else
	return ((const Size *) pointer)[-2];
#endif
}

/* Does it?  Before 16 the header of every chunk does. */
#if PG_VERSION_NUM >= 160000
#define PFS_SPACE_IS_IN_HEADER(space, headers) ((headers) && likely((space) != 0))

static inline MemoryContext
pfs_compat_set_chunk_context(const void *pointer)
{
	MemoryChunk *chunk = PointerGetMemoryChunk(pointer);

	if (unlikely(MemoryChunkIsExternal(chunk)))
		return NULL;
	return *(MemoryContext *) MemoryChunkGetBlock(chunk);
}
#else
#define PFS_SPACE_IS_IN_HEADER(space, headers) (headers)
#endif

/* A small context of a kind, to look at; NULL where the version has none. */
static inline MemoryContext
pfs_compat_scratch_context(PfsAllocator kind)
{
	switch (kind)
	{
		case PFS_ALLOC_SET:
			return AllocSetContextCreate(TopMemoryContext, "pfs scratch", ALLOCSET_START_SMALL_SIZES);
		case PFS_GENERATION:
			return GenerationContextCreate(TopMemoryContext, "pfs scratch", ALLOCSET_DEFAULT_SIZES);
		case PFS_SLAB:
			return SlabContextCreate(TopMemoryContext, "pfs scratch", SLAB_DEFAULT_BLOCK_SIZE, 64);
		case PFS_BUMP:
#if PFS_HAVE_BUMP
			return BumpContextCreate(TopMemoryContext, "pfs scratch", ALLOCSET_DEFAULT_SIZES);
#else
			return NULL;
#endif
	}
	return NULL;
}

#endif							/* PFS_COMPAT_MEMORY_H */
