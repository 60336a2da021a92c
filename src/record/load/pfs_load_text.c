/*
 * pfs_load_text.c
 *	  Texts of the statements that the load history names.
 *
 * A container of items: the statement's key, and its text.  The writer has an index of it in
 * private memory, which it makes anew when it was not the last one to write: that was another
 * recorder, or the one that read the file, or the texts are those of new memory after a crash.  Readers make one of
 * their own.
 *
 * Texts belong to a generation of the load history: TRUNCATE of that hides them at once, from
 * the file, too, and whoever writes next removes them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_digest.h"
#include "pfs_guc.h"
#include "pfs_load_ring.h"
#include "pfs_load_text.h"
#include "pfs_shared.h"

PfsSharedLoadTexts *pfs_shared_load_texts = NULL;

static PfsItems *texts = NULL;

/* An item: the key, then the text. */
#define ITEM_BYTES(len) (sizeof(PfsLoadTextKey) + (len))

/* Of an index: which statement is where. */
typedef struct TextPlace
{
	PfsLoadTextKey key;
	uint32		place;
} TextPlace;

static HTAB *writers_index = NULL;

/* An item on its way, [ITEM_BYTES(the longest text)] and what makes it a multiple of 8. */
static char *buffer = NULL;

/* Takes the container, if there are texts and periods that name their statements. */
void
pfs_load_texts_lay_out(PfsSegment *seg)
{
	uint32		longest = pfs_sizes.digest_text;
	size_t		beside = sizeof(PfsSharedLoadTexts) + sizeof(PfsItems) + PFS_LOAD_TEXTS * PFS_ITEM_PLACE_BYTES + 4 * PFS_CACHE_LINE;
	size_t		chunks = (size_t) PFS_LOAD_TEXTS * pfs_item_chunks(ITEM_BYTES(longest));
	bool		any = false;

	texts = NULL;
	pfs_shared_load_texts = NULL;
	for (int r = 0; r < PFS_NUM_LOAD_RESOLUTIONS; r++)
		any |= pfs_load_history_size[r] > 0;
	if (!any || longest == 0 || pfs_sizes.digests == 0)
		return;
	chunks = Min(chunks, (PFS_LOAD_TEXT_BYTES - beside) / PFS_ITEM_CHUNK_BYTES);
	pfs_shared_load_texts = pfs_segment_take(seg, sizeof(PfsSharedLoadTexts), PFS_CACHE_LINE);
	texts = pfs_items_create(seg, "load_texts", PFS_LOAD_TEXTS, chunks);
}

/* Are the texts those of what has not been truncated since? */
static bool
are_current(void)
{
	return texts != NULL && pfs_load_acquire(&pfs_shared_load_texts->generation) == pfs_load_relaxed(&pfs_shared_load->generation);
}

/* ---- index ---- */

/* Makes an index of all places, in a memory context. */
static HTAB *
make_index(MemoryContext context)
{
	HASHCTL		ctl = {.keysize = sizeof(PfsLoadTextKey), .entrysize = sizeof(TextPlace), .hcxt = context};
	HTAB	   *index = hash_create("pfs load texts", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);

	for (uint32 place = 0; place < pfs_load_relaxed(&texts->places_opened); place++)
	{
		PfsLoadTextKey key;

		if (pfs_load_text_copy(place, &key, NULL, 0) >= 0)
			((TextPlace *) hash_search(index, &key, HASH_ENTER, NULL))->place = place;
	}
	return index;
}

/* ---- the writer ---- */

/* Removes texts of a generation that has gone, and gets the index of what is left. */
static void
prepare_to_write(void)
{
	if (buffer == NULL)
		buffer = MemoryContextAlloc(TopMemoryContext, TYPEALIGN(8, ITEM_BYTES(pfs_sizes.digest_text)));
	if (writers_index != NULL && pfs_shared_load_texts->writer == MyProcPid && are_current())
		return;
	if (!are_current())
	{
		uint32		generation = pfs_load_relaxed(&pfs_shared_load->generation);

		for (uint32 place = 0; place < texts->places_opened; place++)
			pfs_items_drop(texts, place);
		pfs_store_release(&pfs_shared_load_texts->generation, generation);
	}
	if (writers_index != NULL)
		hash_destroy(writers_index);
	writers_index = make_index(TopMemoryContext);
	pfs_shared_load_texts->writer = MyProcPid;
}

/* Removes a place's text, if it has one. */
static void
remove_text(uint32 place)
{
	PfsLoadTextKey key;

	if (pfs_load_text_copy(place, &key, NULL, 0) >= 0)
		(void) hash_search(writers_index, &key, HASH_REMOVE, NULL);
	pfs_items_drop(texts, place);
}

/*
 * The place whose text was named longest ago; or one without a text, if that will do as well.
 * PFS_LOAD_TEXTS: there is none.
 */
static uint32
oldest_place(bool empty_will_do)
{
	uint32		oldest = PFS_LOAD_TEXTS;

	if (empty_will_do && texts->places_opened < texts->nplaces)
		return texts->places_opened;
	for (uint32 place = 0; place < texts->places_opened; place++)
	{
		if (pfs_items_bytes(texts, place) > 0)
		{
			if (oldest == PFS_LOAD_TEXTS || pfs_shared_load_texts->named[place] < pfs_shared_load_texts->named[oldest])
				oldest = place;
		}
		else if (empty_will_do)
			return place;
	}
	return oldest;
}

/* Stores a text that is not there, instead of as many as it needs. */
static void
store_text(const PfsLoadTextKey *key, const char *text, uint32 len)
{
	uint32		place = oldest_place(true);

	remove_text(place);
	len = Min(len, pfs_sizes.digest_text);
	memcpy(buffer, key, sizeof(*key));
	memcpy(buffer + sizeof(*key), text, len);
	while (!pfs_items_put(texts, place, buffer, ITEM_BYTES(len)))
	{
		uint32		victim = oldest_place(false);

		if (victim == PFS_LOAD_TEXTS)
			return;
		remove_text(victim);
		texts->lost++;
	}
	pfs_shared_load_texts->named[place] = pfs_shared_load_texts->clock;
	((TextPlace *) hash_search(writers_index, key, HASH_ENTER, NULL))->place = place;
}

/* Notes that statements are named now, and brings the texts that are not there yet. */
void
pfs_load_texts_name(const PfsLoadRow *rows, int nrows)
{
	if (texts == NULL)
		return;
	prepare_to_write();
	pfs_shared_load_texts->clock++;
	for (int i = 0; i < nrows; i++)
	{
		const PfsLoadKey *key = &rows[i].key;
		PfsLoadTextKey wanted = {key->query_id, key->database, key->user};
		PfsDigestKey digest;
		TextPlace  *found;
		char	   *text;
		uint32		len;

		if (key->statement != PFS_LOAD_STATEMENT)
			continue;
		found = hash_search(writers_index, &wanted, HASH_FIND, NULL);
		if (found != NULL)
		{
			pfs_shared_load_texts->named[found->place] = pfs_shared_load_texts->clock;
			continue;
		}
		digest = pfs_digest_key(key->database, key->user, key->query_id);
		text = pfs_digest_text_of(&digest, &len);

		if (text == NULL)
			continue;
		store_text(&wanted, text, len);
		pfree(text);
	}
}

void
pfs_load_text_put(const PfsLoadTextKey *key, const char *text, uint32 len)
{
	if (texts == NULL)
		return;
	prepare_to_write();
	if (hash_search(writers_index, key, HASH_FIND, NULL) != NULL)
		return;
	pfs_shared_load_texts->clock++;
	store_text(key, text, len);
}

/* ---- any process ---- */

/* Copies key and text of a place. */
int
pfs_load_text_copy(uint32 place, PfsLoadTextKey *key, char *to, uint32 room)
{
	char	   *item = palloc(sizeof(PfsLoadTextKey) + room);
	uint32		bytes = !are_current() ? 0 : pfs_items_copy(texts, place, item, sizeof(PfsLoadTextKey) + room);

	if (bytes >= sizeof(PfsLoadTextKey))
	{
		memcpy(key, item, sizeof(*key));
		if (room > 0)
			memcpy(to, item + sizeof(*key), Min(bytes - sizeof(*key), room));
	}
	pfree(item);
	return bytes < sizeof(PfsLoadTextKey) ? -1 : (int) (bytes - sizeof(PfsLoadTextKey));
}

HTAB *
pfs_load_texts_index(void)
{
	return texts == NULL ? NULL : make_index(CurrentMemoryContext);
}

/*
 * Finds the text of a statement.  The digest's goes first: it may have got a better one than
 * it had when the history named it.
 */
char *
pfs_load_text_find(HTAB *index, const PfsLoadTextKey *key, uint32 *len)
{
	PfsDigestKey digest = pfs_digest_key(key->database, key->user, key->query_id);
	uint32		room = TYPEALIGN(8, pfs_sizes.digest_text);
	PfsLoadTextKey there;
	TextPlace  *found;
	char	   *text;
	int			n;

	text = pfs_digest_text_of(&digest, len);

	if (text != NULL || index == NULL)
		return text;

	found = hash_search(index, key, HASH_FIND, NULL);
	if (found == NULL)
		return NULL;
	text = palloc(room);

	n = pfs_load_text_copy(found->place, &there, text, room);
	if (n < 0 || memcmp(&there, key, sizeof(there)) != 0)
		return NULL;
	*len = Min(n, (int) room);
	return text;
}

void
pfs_load_texts_row(int i, PfsContainerRow *row)
{
	pfs_load_items_row(texts, "load_texts", row);
	if (texts != NULL)
	{
		row->stats.bytes_reserved += sizeof(PfsSharedLoadTexts);
		row->stats.bytes_resident += offsetof(PfsSharedLoadTexts, named) + texts->places_opened * sizeof(uint64);
	}
}

void
pfs_load_texts_reset_lost(void)
{
	if (texts != NULL)
		pfs_store_relaxed(&texts->lost, 0);
}
