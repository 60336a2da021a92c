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

static pg_crc32c
crc_of(const void *bytes, size_t n)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes, n);
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

/* Brings the section's checksum up to what has been put. */
static void
sum_up(PfsSaveWriter *w)
{
	COMP_CRC32C(w->crc, w->buffer + w->ncrc, w->nbuffered - w->ncrc);
	w->ncrc = w->nbuffered;
}

static void
write_buffer(PfsSaveWriter *w)
{
	sum_up(w);
	write_at(w, w->buffer, w->nbuffered, w->length - w->nbuffered);
	w->nbuffered = 0;
	w->ncrc = 0;
}

/* Puts bytes behind those that were put before: into the buffer, which is written when it is full. */
void
pfs_save_put(PfsSaveWriter *w, const void *bytes, size_t n)
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
pfs_save_begin(PfsSaveWriter *w, int fd, uint64 frequency)
{
	PfsSaveHead none = {0};

	memset(w, 0, offsetof(PfsSaveWriter, buffer));
	w->fd = fd;
	w->frequency = frequency;
	pfs_save_put(w, &none, sizeof(none));
}

void
pfs_save_begin_section(PfsSaveWriter *w, const char *name)
{
	memset(&w->section, 0, sizeof(w->section));
	strlcpy(w->section.name, name, sizeof(w->section.name));
	w->section_at = w->length;
	pfs_save_put(w, &w->section, sizeof(w->section));
	sum_up(w);
	INIT_CRC32C(w->crc);
}

/* Writes the section's head, now that its length and its checksum are known. */
void
pfs_save_end_section(PfsSaveWriter *w)
{
	write_buffer(w);
	w->section.length = w->length - w->section_at - sizeof(w->section);
	FIN_CRC32C(w->crc);
	w->section.crc = w->crc;
	w->section.head_crc = crc_of(&w->section, offsetof(PfsSaveSectionHead, head_crc));
	write_at(w, (const char *) &w->section, sizeof(w->section), w->section_at);
	w->nsections++;
}

/*
 * Fills in the head and writes it where room was left for it; false: something could not be
 * written.
 */
bool
pfs_save_end(PfsSaveWriter *w, PfsSaveHead *head)
{
	memcpy(head->magic, PFS_SAVE_MAGIC, sizeof(head->magic));
	head->format = PFS_SAVE_FORMAT;
	head->length = w->length;
	head->nsections = w->nsections;
	head->crc = crc_of(head, offsetof(PfsSaveHead, crc));
	write_buffer(w);
	write_at(w, (const char *) head, sizeof(*head), 0);
	return w->error == 0;
}

/* ---- reading ---- */

const void *
pfs_save_get(PfsSaveReader *r, size_t n)
{
	const char *at = r->at;

	if (n > (size_t) (r->end - r->at))
	{
		r->at = r->end;
		return NULL;
	}
	r->at += n;
	return at;
}

bool
pfs_save_get_into(PfsSaveReader *r, void *to, size_t n)
{
	const void *bytes = pfs_save_get(r, n);

	if (bytes == NULL)
		memset(to, 0, n);
	else
		memcpy(to, bytes, n);
	return bytes != NULL;
}

/* Says what is wrong with a head; only one of a format that is known here can be checked. */
PfsSaveVerdict
pfs_save_check_head(const char *bytes, size_t n, uint64 system_identifier, uint32 major,
					PfsSaveHead *head)
{
	PfsSaveReader file = {.at = bytes, .end = bytes + n};

	if (!pfs_save_get_into(&file, head, sizeof(*head)) ||
		memcmp(head->magic, PFS_SAVE_MAGIC, sizeof(head->magic)) != 0)
		return PFS_SAVE_DAMAGED;
	/* The head of another format may be another one. */
	if (head->format != PFS_SAVE_FORMAT)
		return PFS_SAVE_OTHER_FORMAT;
	if (!EQ_CRC32C(head->crc, crc_of(head, offsetof(PfsSaveHead, crc))) ||
		!IS_VALID_TIMESTAMP(head->saved_at))
		return PFS_SAVE_DAMAGED;
	if (head->system_identifier != system_identifier || head->major != major)
		return PFS_SAVE_OTHER_SYSTEM;
	return PFS_SAVE_GOOD;
}

/*
 * Can the head of a section lie here?  A name is filled up with zeros, which no text of a user
 * has, and the checksum says so.
 */
static bool
get_section_head(const char *at, const char *end, PfsSaveSectionHead *section)
{
	size_t		len;

	if (end - at < sizeof(*section))
		return false;
	memcpy(section, at, sizeof(*section));
	len = strnlen(section->name, sizeof(section->name));
	if (len == 0 || len == sizeof(section->name))
		return false;
	for (size_t i = len; i < sizeof(section->name); i++)
	{
		if (section->name[i] != '\0')
			return false;
	}
	return EQ_CRC32C(section->head_crc, crc_of(section, offsetof(PfsSaveSectionHead, head_crc)));
}

/*
 * Where a head should be and is not, the next one is looked for, so that one damaged head costs
 * one section.
 */
bool
pfs_save_next_section(PfsSaveReader *file, PfsSaveFound *found)
{
	PfsSaveSectionHead section;
	const char *at = file->at;

	memset(found, 0, sizeof(*found));
	if (at == file->end)
		return false;
	while (at < file->end && !get_section_head(at, file->end, &section))
		at++;
	if (at > file->at)
	{
		found->problem = "the head of a section is damaged";
		file->at = at;
		return true;
	}
	memcpy(found->name, section.name, sizeof(found->name));
	at += sizeof(section);
	if (section.length > (uint64) (file->end - at))
	{
		found->problem = "it is cut off";
		file->at = file->end;
		return true;
	}
	found->bytes = (PfsSaveReader)
	{
		.at = at, .end = at + section.length
	};
	file->at = found->bytes.end;
	if (!EQ_CRC32C(section.crc, crc_of(at, section.length)))
		found->problem = "its checksum is wrong";
	return true;
}
