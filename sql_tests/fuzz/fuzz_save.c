/*
 * fuzz_save.c
 *	  The file that survives a restart: its heads, and what checks each of its sections.
 *
 * Input: a byte that says what comes; then
 *
 *	  'f'	a file
 *	  'w'	a file of which only the bytes of sections are as they come: heads and checksums
 *			are made right, as random bytes have none
 *	  0..	the section of this number, alone
 *
 * As the server does, what passes its check is read again, as it is used.
 */
#include "postgres.h"

#include "port/pg_crc32c.h"

#include "pfs_save_digest_bytes.h"
#include "pfs_save_load_bytes.h"

#include "fuzz.h"

#define SYSTEM_IDENTIFIER UINT64CONST(0x1234567812345678)
#define MAJOR 15

/* Sums over all that is read, so that each byte is looked at. */
static uint64 seen;

static void
see_text(const char *text, uint32 len)
{
	FUZZ_CHECK((text == NULL) == (len == 0));
	for (uint32 i = 0; i < len; i++)
	{
		FUZZ_CHECK(text[i] != '\0');
		seen += text[i];
	}
}

static void
see_totals(const PfsSavedTotals *totals)
{
	FUZZ_CHECK(totals->sum < PFS_SAVE_PS_MAX && totals->min < PFS_SAVE_PS_MAX && totals->max < PFS_SAVE_PS_MAX);
	FUZZ_CHECK(totals->count_timed + totals->count_untimed <= PG_INT64_MAX);
}

static void
use_digests(PfsSaveReader *r)
{
	PfsSavedDigest d;

	FUZZ_CHECK(pfs_save_get_frequency(r) > 0);
	while (pfs_save_get_record(r, pfs_save_digest_fields, &d))
	{
		FUZZ_CHECK(d.key.query_id != 0 || d.key.db_user == 0);
		see_totals(&d.time);
		for (int i = 0; i < PFS_NUM_COUNTERS; i++)
			FUZZ_CHECK(d.n[i] < PFS_SAVE_PS_MAX);
		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
			FUZZ_CHECK(d.buckets[b] <= PG_INT64_MAX / 2);
		FUZZ_CHECK(IS_VALID_TIMESTAMP(d.first_seen) && IS_VALID_TIMESTAMP(d.last_seen) && IS_VALID_TIMESTAMP(d.sample_seen));
		see_text(d.text, d.text_len);
		see_text(d.sample, d.sample_len);
	}
	FUZZ_CHECK(pfs_save_is_read(r));
}

/* Passes by the names, and reads them again. */
static void
use_names(PfsSaveReader *r)
{
	PfsSaveReader names;

	pfs_save_skip_names(r);
	names = (PfsSaveReader)
	{
		.at = r->names, .end = r->end
	};
	for (uint32 i = 0; i < r->nnames; i++)
	{
		uint32		len;
		const char *name = pfs_save_get_text(&names, PFS_NAME_SIZE - 1, &len);

		FUZZ_CHECK(len < PFS_NAME_SIZE);
		see_text(name, len);
	}
	FUZZ_CHECK(names.at == r->at);
}

static void
use_waits(PfsSaveReader *r)
{
	PfsSavedWait wait;

	use_names(r);
	while (pfs_save_get_record(r, pfs_save_wait_fields, &wait))
	{
		FUZZ_CHECK(wait.instrument < r->nnames);
		see_totals(&wait.totals);
	}
	FUZZ_CHECK(pfs_save_is_read(r));
}

static void
use_rows(PfsSaveReader *r)
{
	PfsSavedRows rows;

	while (pfs_save_get_record(r, pfs_save_rows_fields, &rows))
	{
		FUZZ_CHECK(rows.key.query_id != 0 || rows.key.db_user == 0);
		FUZZ_CHECK(OidIsValid(rows.relation));
		see_totals(&rows.all);
		for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
			FUZZ_CHECK(rows.counts[i] <= PG_INT64_MAX / 2);
	}
	FUZZ_CHECK(pfs_save_is_read(r));
}

static void
use_resets(PfsSaveReader *r)
{
	PfsSavedReset reset;

	while (pfs_save_get_record(r, pfs_save_reset_fields, &reset))
	{
		FUZZ_CHECK(reset.table != NULL && reset.len < NAMEDATALEN && IS_VALID_TIMESTAMP(reset.time));
		see_text(reset.table, reset.len);
	}
	FUZZ_CHECK(pfs_save_is_read(r));
}

/* What is used of a period is what the server's rings and tables take. */
static void
use_load(PfsSaveReader *r)
{
	PfsSavedClasses classes;
	uint8		ring;
	PfsLoadHead head;
	PfsLoadRow	rows[PFS_LOAD_ROWS_MAX];
	PfsLoadBytes bytes;

	FUZZ_CHECK(pfs_save_get_load_names(r, &classes));
	while (pfs_save_get_period(r, &classes, &ring, &head, rows))
	{
		FUZZ_CHECK(ring < PFS_SAVE_RINGS && head.nrows <= PFS_LOAD_ROWS_MAX && head.begin <= head.end);
		for (int i = 0; i < head.nrows; i++)
		{
			FUZZ_CHECK(rows[i].key.class < PFS_NUM_LOAD_CLASSES && rows[i].key.type < PFS_NUM_LOAD_TYPES);
			FUZZ_CHECK(rows[i].key.instrument < r->nnames || rows[i].key.instrument >= PFS_LOAD_REMAINDER);
		}
		/* The server writes it again. */
		FUZZ_CHECK(pfs_load_encode(&bytes, &head, rows, head.nrows) <= sizeof(bytes));
	}
	FUZZ_CHECK(pfs_save_is_read(r));
}

static void
use_load_texts(PfsSaveReader *r)
{
	PfsSavedText saved;

	while (pfs_save_get_record(r, pfs_save_load_text_fields, &saved))
	{
		FUZZ_CHECK(saved.len > 0 && saved.len <= PFS_SAVE_LOAD_TEXT_MAX);
		see_text(saved.text, saved.len);
	}
	FUZZ_CHECK(pfs_save_is_read(r));
}

/* The sections, as the server has them. */
static const struct
{
	const char *name;
	bool		(*check) (PfsSaveReader *r);
	void		(*use) (PfsSaveReader *r);
}			sections[] =

{
	{"digests", pfs_save_check_digests, use_digests},
	{"digest_waits", pfs_save_check_waits, use_waits},
	{"resets", pfs_save_check_resets, use_resets},
	{"load_history", pfs_save_check_load, use_load},
	{"load_texts", pfs_save_check_load_texts, use_load_texts},
	{"digest_rows", pfs_save_check_rows, use_rows},
};

static void
try_section(int i, const PfsSaveReader *bytes)
{
	PfsSaveReader r = *bytes;
	PfsSaveReader again = *bytes;

	if (!sections[i].check(&r))
		return;
	FUZZ_CHECK(r.at == r.end);
	sections[i].use(&again);
}

/* Reads a file as the server does, but for the versions of sections; false: it is put aside. */
static bool
try_file(const char *file, size_t n)
{
	PfsSaveHead head;
	PfsSaveReader r;

	if (pfs_save_check_file(file, n, SYSTEM_IDENTIFIER, MAJOR, &head) != PFS_SAVE_GOOD)
		return false;
	FUZZ_CHECK(head.length == n && IS_VALID_TIMESTAMP(head.saved_at));
	for (int i = 0; i < lengthof(sections); i++)
	{
		if (pfs_save_find_section(file, n, sections[i].name, &r))
			try_section(i, &r);
	}
	return true;
}

/* Makes heads and checksums right, as far as there are whole heads. */
static void
make_right(char *file, size_t n)
{
	PfsSaveHead head;
	size_t		at = sizeof(head);
	pg_crc32c	crc;

	if (n < sizeof(head))
		return;
	memcpy(&head, file, sizeof(head));
	memcpy(head.magic, PFS_SAVE_MAGIC, sizeof(head.magic));
	head.format = PFS_SAVE_FORMAT;
	head.major = MAJOR;
	head.system_identifier = SYSTEM_IDENTIFIER;
	head.length = n;
	head.nsections = 0;
	while (n - at >= sizeof(PfsSaveSectionHead))
	{
		PfsSaveSectionHead section;

		memcpy(&section, file + at, sizeof(section));
		section.name[PFS_SAVE_NAME_SIZE - 1] = '\0';
		section.length = Min(section.length, n - at - sizeof(section));
		INIT_CRC32C(crc);
		COMP_CRC32C(crc, file + at + sizeof(section), section.length);
		COMP_CRC32C(crc, &section, offsetof(PfsSaveSectionHead, crc));
		FIN_CRC32C(crc);
		section.crc = crc;
		memcpy(file + at, &section, sizeof(section));
		at += sizeof(section) + section.length;
		head.nsections++;
	}
	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &head, offsetof(PfsSaveHead, crc));
	FIN_CRC32C(crc);
	head.crc = crc;
	memcpy(file, &head, sizeof(head));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *bytes;

	if (size == 0)
		return 0;
	bytes = fuzz_copy(data + 1, size - 1);
	if (data[0] == 'w')
		make_right(bytes, size - 1);
	if (data[0] == 'f' || data[0] == 'w')
		(void) try_file(bytes, size - 1);
	else
	{
		PfsSaveReader r = {.at = bytes, .end = bytes + size - 1};

		try_section(data[0] % lengthof(sections), &r);
	}
	free(bytes);
	fuzz_free_all();
	return 0;
}
