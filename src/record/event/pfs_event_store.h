/*
 * pfs_event_store.h
 *	  Copying events of a family to the long history, for families whose events use part
 *	  of their slots.  Here and inline, as it is compiled for each of them.
 *
 * The copies are most of what the long history costs, and halve with registers that are
 * twice as wide.
 */
#ifndef PFS_EVENT_STORE_H
#define PFS_EVENT_STORE_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "pfs_event_write.h"

/*
 * Copies events to all slots of a claim; bytes() says how many bytes of an event mean
 * something.
 */
static pg_attribute_always_inline void
pfs_event_store_plain(const PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size,
					  size_t (*bytes) (const PfsEvent *))
{
	for (uint32 i = 0; i < claim->count; i++)
		pfs_log_store_part(claim, i, pick[i], item_size, bytes(pick[i]));
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/*
 * Does what pfs_event_store_plain() does, on processors that have AVX: two registers, or
 * a cache line, at a time.  It may copy up to the end of the line in which the event ends.
 */
static pg_attribute_always_inline void
__attribute__((target("avx")))
pfs_event_store_avx(const PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size,
					size_t (*bytes) (const PfsEvent *))
{
	char	   *slot = claim->slots;

	for (uint32 i = 0; i < claim->count; i++, slot += item_size)
	{
		const __m256i *from = (const __m256i *) pick[i];
		const char *end = (const char *) from + bytes(pick[i]);
		__m256i    *to = (__m256i *) slot;

		/* The leading word of an event is odd: pfs_event.h. */
		pfs_log_slot_begin(claim, i, slot);
		/* Sizes of slots are whole cache lines. */
		for (; (const char *) from < end; from += 2, to += 2)
		{
			_mm256_storeu_si256(to, _mm256_loadu_si256(from));
			_mm256_storeu_si256(to + 1, _mm256_loadu_si256(from + 1));
		}
		pfs_log_slot_end(claim, i, slot);
	}
}

/* Defines PfsEventFamilyInfo.store of a family, by its function for bytes. */
#define PFS_EVENT_STORE(name, bytes) \
static void __attribute__((target("avx"))) \
name##_avx(const PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size) \
{ \
	pfs_event_store_avx(claim, pick, item_size, bytes); \
} \
\
void \
name(const PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size) \
{ \
	if (pfs_local.avx) \
		name##_avx(claim, pick, item_size); \
	else \
		pfs_event_store_plain(claim, pick, item_size, bytes); \
}
#else
#define PFS_EVENT_STORE(name, bytes) \
void \
name(const PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size) \
{ \
	pfs_event_store_plain(claim, pick, item_size, bytes); \
}
#endif

#endif							/* PFS_EVENT_STORE_H */
