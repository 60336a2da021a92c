/*
 * pfs_hash.h
 *	  A lock-free index from a key to a record of a PfsPages container.
 *
 * The table holds (hash tag, record index) words; keys live in the records.
 * Lookup and insertion touch a bounded window of slots.  A record is removed
 * through its own state word: who claims it clears its slot and frees it.
 * No two ALLOCATED records ever have the same key, unless one got it by pfs_hash_move().  README.md has the
 * proof.
 */
#ifndef PFS_HASH_H
#define PFS_HASH_H

#include "pfs_pages.h"

typedef struct PfsHash PfsHash;

/* True if the record's key equals key.  The record may change while compared. */
typedef bool (*PfsHashEqual) (const void *record, const void *key);

/* Fill a fresh record, its key included, from key and arg. */
typedef void (*PfsHashFill) (void *record, const void *key, void *arg);

/* Lay out in seg an index over pages; NULL in the sizing pass. */
extern PfsHash *pfs_hash_create(PfsSegment *seg, PfsPages *pages, uint32_t records_max, PfsHashEqual equal);

/* Returns the record's index and *word, or PFS_NO_RECORD. */
extern uint32_t pfs_hash_find(PfsHash *h, uint64_t hash, const void *key, uint64_t *word);

/*
 * Find or insert.  Returns PFS_NO_RECORD, with a loss counted in the pages,
 * when the pages or the key's window are full.  *created tells which.
 */
extern uint32_t pfs_hash_insert(PfsHash *h, uint64_t hash, const void *key,
								PfsHashFill fill, void *arg, uint32_t *hint,
								uint64_t *word, bool *created);

/* The same without looking first, for a key that is probably not there. */
extern uint32_t pfs_hash_insert_new(PfsHash *h, uint64_t hash, const void *key,
									PfsHashFill fill, void *arg, uint32_t *hint,
									uint64_t *word, bool *created);

/*
 * Take the record out of the index; it stays DIRTY and belongs to the caller,
 * who reads what it needs and calls pfs_pages_free.  False if another process
 * was faster.
 */
extern bool pfs_hash_remove(PfsHash *h, uint64_t hash, uint32_t index, uint64_t word);

/* Stores a new key in a record that others look at: what `equal` reads of it that changes is one word. */
typedef void (*PfsHashSetKey) (void *record, const void *key);

/*
 * Give an ALLOCATED record another key, under which it is found from now on; its word, and all who know it by
 * its number, go on.  False, and nothing has changed: the new key's window is full.  The caller sees to it that the
 * record is not removed, nor moved by another process, meanwhile.  A search during the call may miss it under both
 * keys; one for the old key, then for the new one, then for the old one again, or the other way round, finds it.  A
 * record that is inserted under the new key meanwhile, or was there before, stays: then two have it.
 */
extern bool pfs_hash_move(PfsHash *h, uint64_t from, uint64_t to, uint32_t index, PfsHashSetKey set, const void *key);

/* A 64-bit hash of bytes, good in all bits. */
extern uint64_t pfs_hash_bytes(const void *data, size_t len);

#endif							/* PFS_HASH_H */
