/*
 * pfs_save_load_bytes.c
 *	  How the load history lies in the file: putting it there, and reading what may be
 *	  anything.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_save_load_bytes.h"

/* ---- names ---- */

/* Writes the words of all classes, by their numbers here. */
void
pfs_save_put_classes(PfsSaveWriter *w)
{
	uint8		n = PFS_NUM_LOAD_CLASSES;

	pfs_save_put(w, &n, sizeof(n));
	for (int class = 0; class < PFS_NUM_LOAD_CLASSES; class++)
		pfs_save_put_text(w, pfs_load_class_name(class), strlen(pfs_load_class_name(class)));
}

/* Reads both lists: classes, then events, whose names are read again by who wants them. */
bool
pfs_save_get_load_names(PfsSaveReader *r, PfsSavedClasses *classes)
{
	pfs_save_get_into(r, &classes->n, sizeof(classes->n));
	if (classes->n > PFS_NUM_LOAD_CLASSES)
		r->failed = true;
	for (int i = 0; i < classes->n && !r->failed; i++)
	{
		char		name[NAMEDATALEN] = {0};
		uint32		len;
		const char *text = pfs_save_get_text(r, NAMEDATALEN - 1, &len);

		if (text != NULL)
			memcpy(name, text, len);
		if (!pfs_load_class_by_name(name, &classes->classes[i]))
			r->failed = true;
	}
	pfs_save_skip_names(r);
	return !r->failed;
}

/* ---- periods ---- */

void
pfs_save_put_period(PfsSaveWriter *w, uint8 ring, const PfsLoadBytes *bytes, uint32 nbytes)
{
	pfs_save_put(w, &ring, sizeof(ring));
	pfs_save_put(w, &nbytes, sizeof(nbytes));
	pfs_save_put(w, bytes->bytes, nbytes);
}

/* Is this a head that a period can have? */
static bool
is_head(const PfsLoadHead *head)
{
	return IS_VALID_TIMESTAMP(head->begin) && IS_VALID_TIMESTAMP(head->end) && head->begin <= head->end &&
		head->resolution > 0 && head->resolution <= 600;
}

/* Is this a row that one can have?  Makes the number of its class this server's. */
static bool
take_row(PfsLoadRow *row, const PfsSavedClasses *classes, uint32 nnames)
{
	PfsLoadKey *key = &row->key;

	if (key->class >= classes->n || row->count > PG_INT64_MAX / 2)
		return false;
	if (key->instrument != PFS_LOAD_REMAINDER && key->instrument != PFS_LOAD_CPU_NAME && key->instrument >= nnames)
		return false;
	key->class = classes->classes[key->class];
	return true;
}

/* Reads a period; its bytes are copied first, as they lie anywhere. */
bool
pfs_save_get_period(PfsSaveReader *r, const PfsSavedClasses *classes, uint8 *ring, PfsLoadHead *head, PfsLoadRow *rows)
{
	PfsLoadBytes copy;
	uint32		nbytes;
	const void *bytes;

	if (r->failed || r->at == r->end)
		return false;
	pfs_save_get_into(r, ring, sizeof(*ring));
	pfs_save_get_into(r, &nbytes, sizeof(nbytes));
	bytes = nbytes < sizeof(PfsLoadHead) || nbytes > sizeof(copy) ? NULL : pfs_save_get(r, nbytes);
	if (bytes == NULL || *ring >= PFS_SAVE_RINGS)
	{
		r->failed = true;
		return false;
	}
	memcpy(copy.bytes, bytes, nbytes);
	*head = copy.head;
	if (!is_head(head) || !pfs_load_decode(&copy, nbytes, rows))
		r->failed = true;
	for (int i = 0; i < head->nrows && !r->failed; i++)
	{
		if (!take_row(&rows[i], classes, r->nnames))
			r->failed = true;
	}
	return !r->failed;
}

/* A whole section of periods. */
bool
pfs_save_check_load(PfsSaveReader *r)
{
	PfsSavedClasses classes;
	uint8		ring;
	PfsLoadHead head;
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];

	if (!pfs_save_get_load_names(r, &classes))
		return false;
	while (pfs_save_get_period(r, &classes, &ring, &head, rows))
		;
	return pfs_save_is_read(r);
}

/* ---- texts ---- */

/* A text; one that is empty is none. */
void
pfs_save_load_text_fields(PfsSaveCodec *c, void *text)
{
	PfsSavedText *saved = text;

	(void) pfs_save_field(c, &saved->key.database, sizeof(saved->key.database));
	(void) pfs_save_field(c, &saved->key.user, sizeof(saved->key.user));
	(void) pfs_save_field(c, &saved->key.query_id, sizeof(saved->key.query_id));
	if (pfs_save_text_field(c, &saved->text, &saved->len, PFS_SAVE_LOAD_TEXT_MAX) && saved->text == NULL)
		c->from->failed = true;
}

/* A whole section of texts. */
bool
pfs_save_check_load_texts(PfsSaveReader *r)
{
	PfsSavedText text;

	return pfs_save_check_records(r, pfs_save_load_text_fields, &text);
}
