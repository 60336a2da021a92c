/*
 * fuzz_save.c
 *	  The file that survives a restart: its heads, and the records of each of its sections.
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

/* Of the timer, and the most that a time of the file becomes by it. */
#define FREQUENCY UINT64CONST(2400000000)
#define TICKS_MAX (PFS_SAVE_PS_MAX / PFS_PS_PER_SECOND * (FREQUENCY + 1))

/* Sums over all that is read, so that each byte is looked at. */
static uint64 seen;

static void
see_text(const PfsText *text)
{
	FUZZ_CHECK((text->text == NULL) == (text->len == 0) && text->len <= PFS_SAVE_TEXT_MAX);
	for (uint32 i = 0; i < text->len; i++)
		seen += text->text[i];
	FUZZ_CHECK(text->len == 0 || memchr(text->text, '\0', text->len) == NULL);
}

static void
see_totals(const PfsDigestKey *key, const PfsTotals *totals)
{
	FUZZ_CHECK(key->query_id != 0 || key->db_user == 0);
	FUZZ_CHECK(totals->sum <= TICKS_MAX);
	FUZZ_CHECK(totals->count_timed + totals->count_untimed <= PG_INT64_MAX);
}

static void
use_digest(const PfsSaveRecords *r, int kind, const PfsSavedAny *record)
{
	const PfsSavedDigest *d = (const PfsSavedDigest *) record;

	if (kind == PFS_SAVED_DIGESTS_TIMER)
		FUZZ_CHECK(((const PfsSavedTimer *) record)->frequency > 0);
	if (kind != PFS_SAVED_DIGESTS_DIGEST)
		return;
	see_totals(&d->row.key, &d->row.totals.time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		FUZZ_CHECK(d->row.totals.n[i] <= Max(TICKS_MAX, PFS_SAVE_PS_MAX));
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		FUZZ_CHECK(d->buckets[b] <= PG_INT64_MAX / 2);
	FUZZ_CHECK(IS_VALID_TIMESTAMP(d->row.first_seen) && IS_VALID_TIMESTAMP(d->row.last_seen) && IS_VALID_TIMESTAMP(d->row.sample_seen));
	see_text(&d->row.text);
	see_text(&d->row.sample);
}

static void
use_wait(const PfsSaveRecords *r, int kind, const PfsSavedAny *record)
{
	const PfsDigestWaitRow *wait = (const PfsDigestWaitRow *) record;

	if (kind == PFS_SAVED_WAITS_EVENT)
		see_text(&((const PfsSavedEvent *) record)->name);
	if (kind != PFS_SAVED_WAITS_WAIT)
		return;
	FUZZ_CHECK(wait->instrument < r->nread[PFS_SAVED_WAITS_EVENT]);
	see_totals(&wait->key, &wait->totals);
}

static void
use_rows(const PfsSaveRecords *r, int kind, const PfsSavedAny *record)
{
	const PfsDigestRowsRow *rows = (const PfsDigestRowsRow *) record;

	if (kind != PFS_SAVED_ROWS_ROWS)
		return;
	FUZZ_CHECK(OidIsValid(rows->relation));
	see_totals(&rows->key, &rows->all);
	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		FUZZ_CHECK(rows->counts[i] <= PG_INT64_MAX / 2);
}

static void
use_node(const PfsSaveRecords *r, int kind, const PfsSavedAny *record)
{
	const PfsNodeRow *node = (const PfsNodeRow *) record;
	const PfsNodeWaitRow *wait = (const PfsNodeWaitRow *) record;

	if (kind == PFS_SAVED_NODES_EVENT)
		see_text(&((const PfsSavedEvent *) record)->name);
	if (kind == PFS_SAVED_NODES_NODE)
	{
		FUZZ_CHECK(node->key.number < PFS_NODES_MAX && node->facts.parent < PFS_NODES_MAX && node->facts.type < PFS_NUM_NODE_TYPES);
		FUZZ_CHECK(node->sums.executions <= PG_INT64_MAX / 2 && node->sums.rows <= PG_INT64_MAX / 2);
	}
	if (kind != PFS_SAVED_NODES_WAIT)
		return;
	FUZZ_CHECK(wait->instrument < r->nread[PFS_SAVED_NODES_EVENT] && wait->key.number < PFS_NODES_MAX);
	see_totals(&wait->key.digest, &wait->totals);
}

static void
use_load(const PfsSaveRecords *r, int kind, const PfsSavedAny *record)
{
	const PfsSavedPeriod *period = (const PfsSavedPeriod *) record;
	const PfsLoadRow *row = (const PfsLoadRow *) record;

	if (kind == PFS_SAVED_LOAD_CLASS)
		see_text(&((const PfsSavedClass *) record)->name);
	if (kind == PFS_SAVED_LOAD_PERIOD)
		FUZZ_CHECK(period->ring >= PFS_NUM_LOAD_RESOLUTIONS || (period->begin <= period->end && period->resolution > 0));
	if (kind != PFS_SAVED_LOAD_ROW)
		return;
	FUZZ_CHECK(r->nread[PFS_SAVED_LOAD_PERIOD] > 0 && row->key.class < r->nread[PFS_SAVED_LOAD_CLASS]);
	FUZZ_CHECK(row->key.instrument < PFS_SAVED_EVENTS + r->nread[PFS_SAVED_LOAD_EVENT]);
	FUZZ_CHECK(row->count <= PG_INT64_MAX / 2);
}

static void
use_load_text(const PfsSaveRecords *r, int kind, const PfsSavedAny *record)
{
	see_text(&((const PfsSavedLoadText *) record)->text);
}

/* The sections, as the server has them. */
static const struct
{
	const PfsSaveFormat *format;
	void		(*use) (const PfsSaveRecords *r, int kind, const PfsSavedAny *record);
}			sections[] =

{
	{&pfs_save_digests_format, use_digest},
	{&pfs_save_waits_format, use_wait},
	{&pfs_save_rows_format, use_rows},
	{&pfs_save_load_format, use_load},
	{&pfs_save_load_texts_format, use_load_text},
	{&pfs_save_nodes_format, use_node},
};

static void
try_section(int i, const PfsSaveFound *found)
{
	char		problem[160];
	PfsSaveRecords r;
	PfsSaveMap	map;
	PfsSavedAny record;
	int			kind;

	if (!pfs_save_check_records(sections[i].format, found, problem, sizeof(problem)))
	{
		FUZZ_CHECK(problem[0] != '\0');
		return;
	}
	FUZZ_CHECK(pfs_save_open_records(&r, &map, sections[i].format, found));
	r.frequency = FREQUENCY;
	while ((kind = pfs_save_get_record(&r, &record)) >= 0)
		sections[i].use(&r, kind, &record);
	FUZZ_CHECK(r.problem[0] == '\0' && r.bytes.at == r.bytes.end);
}

/* Reads a file as the server does. */
static void
try_file(const char *file, size_t n)
{
	PfsSaveHead head;
	PfsSaveReader bytes = {.at = file + sizeof(head), .end = file + n};
	PfsSaveFound found;

	if (pfs_save_check_head(file, n, SYSTEM_IDENTIFIER, MAJOR, &head) != PFS_SAVE_GOOD)
		return;
	FUZZ_CHECK(IS_VALID_TIMESTAMP(head.saved_at));
	while (pfs_save_next_section(&bytes, &found))
	{
		FUZZ_CHECK(strnlen(found.name, sizeof(found.name)) < sizeof(found.name));
		FUZZ_CHECK(found.problem != NULL || found.name[0] != '\0');
		for (int i = 0; i < lengthof(sections) && found.problem == NULL; i++)
		{
			if (strcmp(found.name, sections[i].format->name) == 0)
				try_section(i, &found);
		}
	}
}

static pg_crc32c
crc_of(const char *bytes, size_t n)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes, n);
	FIN_CRC32C(crc);
	return crc;
}

/* Makes heads and checksums right, as far as there are whole heads. */
static void
make_right(char *file, size_t n)
{
	PfsSaveHead head;
	size_t		at = sizeof(head);

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
		const char *bytes = file + at + sizeof(section);

		memcpy(&section, file + at, sizeof(section));
		section.name[PFS_SAVE_NAME_SIZE - 1] = '\0';
		section.length = Min(section.length, n - at - sizeof(section));
		section.crc = crc_of(bytes, section.length);
		section.head_crc = crc_of((char *) &section, offsetof(PfsSaveSectionHead, head_crc));
		memcpy(file + at, &section, sizeof(section));
		at += sizeof(section) + section.length;
		head.nsections++;
	}
	head.crc = crc_of((char *) &head, offsetof(PfsSaveHead, crc));
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
		try_file(bytes, size - 1);
	else
	{
		PfsSaveFound found = {.bytes = {.at = bytes, .end = bytes + size - 1}};

		try_section(data[0] % lengthof(sections), &found);
	}
	free(bytes);
	fuzz_free_all();
	return 0;
}
