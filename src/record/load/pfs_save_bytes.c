/*
 * pfs_save_bytes.c
 *	  The bytes of the file that survives a restart: writing them, and reading what may be
 *	  anything.
 */
#include "postgres.h"

#include <unistd.h>

#include "datatype/timestamp.h"
#include "port/pg_crc32c.h"

#include "pfs_save_bytes.h"

/* The checksum of the file's head, which is in its last field. */
static pg_crc32c
crc_of_head(const PfsSaveHead *head)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, head, offsetof(PfsSaveHead, crc));
	FIN_CRC32C(crc);
	return crc;
}

/* ---- writing ---- */

/* Writes all of it at this place of the file, or notes why that cannot be. */
static void
write_at(PfsSaveWriter *w, const char *bytes, size_t n, uint64 at)
{
	while (n > 0 && w->error == 0)
	{
		ssize_t		done = pwrite(w->fd, bytes, n, (off_t) at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
		{
			w->error = done == 0 || errno == 0 ? ENOSPC : errno;
			return;
		}
		bytes += done;
		at += done;
		n -= done;
	}
}

static void
write_buffer(PfsSaveWriter *w)
{
	write_at(w, w->buffer, w->nbuffered, w->length - w->nbuffered);
	w->nbuffered = 0;
}

/* Bytes that do not count for the section's checksum. */
static void
put_plain(PfsSaveWriter *w, const void *bytes, size_t n)
{
	const char *from = bytes;

	while (n > 0)
	{
		size_t		some = Min(n, sizeof(w->buffer) - w->nbuffered);

		memcpy(w->buffer + w->nbuffered, from, some);
		w->nbuffered += some;
		w->length += some;
		from += some;
		n -= some;
		if (w->nbuffered == sizeof(w->buffer))
			write_buffer(w);
	}
}

/* Begins a file that is empty, with room for its head. */
void
pfs_save_begin(PfsSaveWriter *w, int fd)
{
	PfsSaveHead none = {0};

	memset(w, 0, offsetof(PfsSaveWriter, buffer));
	w->fd = fd;
	put_plain(w, &none, sizeof(none));
}

void
pfs_save_begin_section(PfsSaveWriter *w, const char *name, uint32 version)
{
	memset(&w->section, 0, sizeof(w->section));
	strlcpy(w->section.name, name, sizeof(w->section.name));
	w->section.version = version;
	w->section_at = w->length;
	put_plain(w, &w->section, sizeof(w->section));
	INIT_CRC32C(w->crc);
}

void
pfs_save_put(PfsSaveWriter *w, const void *bytes, size_t n)
{
	COMP_CRC32C(w->crc, bytes, n);
	put_plain(w, bytes, n);
}

void
pfs_save_put_text(PfsSaveWriter *w, const char *text, uint32 len)
{
	pfs_save_put(w, &len, sizeof(len));
	pfs_save_put(w, text, len);
}

/* Writes the section's head, now that its length and its checksum are known. */
void
pfs_save_end_section(PfsSaveWriter *w)
{
	w->section.length = w->length - w->section_at - sizeof(w->section);
	COMP_CRC32C(w->crc, &w->section, offsetof(PfsSaveSectionHead, crc));
	FIN_CRC32C(w->crc);
	w->section.crc = w->crc;
	write_buffer(w);
	write_at(w, (const char *) &w->section, sizeof(w->section), w->section_at);
	w->nsections++;
}

/* Fills in the head and writes it where room was left for it; false: something could not be written. */
bool
pfs_save_end(PfsSaveWriter *w, PfsSaveHead *head)
{
	memcpy(head->magic, PFS_SAVE_MAGIC, sizeof(head->magic));
	head->format = PFS_SAVE_FORMAT;
	head->length = w->length;
	head->nsections = w->nsections;
	head->crc = crc_of_head(head);
	write_buffer(w);
	write_at(w, (const char *) head, sizeof(*head), 0);
	return w->error == 0;
}

/* ---- reading ---- */

const void *
pfs_save_get(PfsSaveReader *r, size_t n)
{
	const char *at = r->at;

	if (r->failed || n > (size_t) (r->end - r->at))
	{
		r->failed = true;
		return NULL;
	}
	r->at += n;
	return at;
}

/* Copies the next n bytes, or zeros. */
void
pfs_save_get_into(PfsSaveReader *r, void *to, size_t n)
{
	const void *bytes = pfs_save_get(r, n);

	if (bytes != NULL)
		memcpy(to, bytes, n);
	else
		memset(to, 0, n);
}

/* Reads a text where it lies: it is not copied, and has no end. */
const char *
pfs_save_get_text(PfsSaveReader *r, uint32 max, uint32 *len)
{
	uint32		n;
	const char *text;

	*len = 0;
	pfs_save_get_into(r, &n, sizeof(n));
	if (n > max)
		r->failed = true;
	text = n == 0 ? NULL : pfs_save_get(r, n);

	if (text == NULL)
		return NULL;
	if (memchr(text, '\0', n) != NULL)
	{
		r->failed = true;
		return NULL;
	}
	*len = n;
	return text;
}

void
pfs_save_skip_names(PfsSaveReader *r)
{
	uint32		len;

	pfs_save_get_into(r, &r->nnames, sizeof(r->nnames));
	/* Instruments have numbers of 16 bits. */
	if (r->nnames >= PFS_NO_INSTRUMENT)
		r->failed = true;
	r->names = r->at;
	for (uint32 i = 0; i < r->nnames && !r->failed; i++)
		(void) pfs_save_get_text(r, PFS_NAME_SIZE - 1, &len);
}

/* ---- records ---- */

bool
pfs_save_field(PfsSaveCodec *c, void *field, size_t n)
{
	if (c->to != NULL)
		pfs_save_put(c->to, field, n);
	else
		pfs_save_get_into(c->from, field, n);
	return c->to == NULL;
}

bool
pfs_save_text_field(PfsSaveCodec *c, const char **text, uint32 *len, uint32 max)
{
	if (c->to != NULL)
		pfs_save_put_text(c->to, *text, *len);
	else
		*text = pfs_save_get_text(c->from, max, len);
	return c->to == NULL;
}

void
pfs_save_time_field(PfsSaveCodec *c, int64 *time)
{
	if (pfs_save_field(c, time, sizeof(*time)) && !IS_VALID_TIMESTAMP(*time))
		c->from->failed = true;
}

void
pfs_save_put_record(PfsSaveWriter *w, PfsSaveFields fields, void *record)
{
	PfsSaveCodec c = {.to = w};

	fields(&c, record);
}

bool
pfs_save_get_record(PfsSaveReader *r, PfsSaveFields fields, void *record)
{
	PfsSaveCodec c = {.from = r};

	if (r->failed || r->at == r->end)
		return false;
	fields(&c, record);
	return !r->failed;
}

bool
pfs_save_check_records(PfsSaveReader *r, PfsSaveFields fields, void *record)
{
	while (pfs_save_get_record(r, fields, record))
		;
	return pfs_save_is_read(r);
}

/* ---- the file ---- */

/* Reads the head of a section, and leads r to its bytes; false: they are not there. */
static bool
get_section(PfsSaveReader *file, PfsSaveSectionHead *section, PfsSaveReader *r)
{
	pfs_save_get_into(file, section, sizeof(*section));
	if (file->failed || section->length > (size_t) (file->end - file->at))
		return false;
	*r = (PfsSaveReader)
	{
		.at = file->at, .end = file->at + section->length, .version = section->version
	};
	file->at = r->end;
	return true;
}

static bool
section_is_whole(const PfsSaveSectionHead *section, const PfsSaveReader *r)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, r->at, section->length);
	COMP_CRC32C(crc, section, offsetof(PfsSaveSectionHead, crc));
	FIN_CRC32C(crc);
	return EQ_CRC32C(crc, section->crc) && memchr(section->name, '\0', sizeof(section->name)) != NULL;
}

/*
 * Checks a file.  A head without fault says whether the rest can be understood; all bytes are
 * looked at before any of them is used.
 */
PfsSaveVerdict
pfs_save_check_file(const char *bytes, size_t n, uint64 system_identifier, uint32 major, PfsSaveHead *head)
{
	PfsSaveReader file = {.at = bytes, .end = bytes + n};
	uint32		nsections = 0;

	pfs_save_get_into(&file, head, sizeof(*head));
	if (file.failed || memcmp(head->magic, PFS_SAVE_MAGIC, sizeof(head->magic)) != 0)
		return PFS_SAVE_DAMAGED;
	/* The head of another format may be another one. */
	if (head->format != PFS_SAVE_FORMAT)
		return PFS_SAVE_OTHER_FORMAT;
	if (!EQ_CRC32C(head->crc, crc_of_head(head)) || head->length != n || !IS_VALID_TIMESTAMP(head->saved_at))
		return PFS_SAVE_DAMAGED;
	if (head->system_identifier != system_identifier || head->major != major)
		return PFS_SAVE_OTHER_SYSTEM;
	for (; file.at < file.end; nsections++)
	{
		PfsSaveSectionHead section;
		PfsSaveReader r;

		if (!get_section(&file, &section, &r) || !section_is_whole(&section, &r))
			return PFS_SAVE_DAMAGED;
	}
	return nsections == head->nsections ? PFS_SAVE_GOOD : PFS_SAVE_DAMAGED;
}

/* Leads r to a section.  The first one of a name counts; the file has been checked. */
bool
pfs_save_find_section(const char *bytes, size_t n, const char *name, PfsSaveReader *r)
{
	PfsSaveReader file = {.at = bytes + sizeof(PfsSaveHead), .end = bytes + n};
	PfsSaveSectionHead section;

	while (file.at < file.end && get_section(&file, &section, r))
	{
		if (strncmp(section.name, name, sizeof(section.name)) == 0)
			return true;
	}
	return false;
}
