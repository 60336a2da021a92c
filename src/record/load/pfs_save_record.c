/*
 * pfs_save_record.c
 *	  Records with named fields: writing them, and reading what may be anything.
 */
#include "postgres.h"

#include "datatype/timestamp.h"

#include "pfs_clock.h"
#include "pfs_histogram.h"
#include "pfs_save_record.h"

typedef unsigned __int128 Number;

/* Of 128 bits, seven a byte. */
#define NUMBER_BYTES_MAX	19

/* A bucket's number and its count, each as a number of up to 64 bits. */
#define BUCKETS_BYTES_MAX	(PFS_HISTOGRAM_BUCKETS * 2 * 10)

/* ---- writing ---- */

static char *
number_to_bytes(char *at, Number number)
{
	while (number >= 0x80)
	{
		*at++ = (char) ((uint8) number | 0x80);
		number >>= 7;
	}
	*at++ = (char) number;
	return at;
}

static void
put_number(PfsSaveWriter *w, Number number)
{
	char		bytes[NUMBER_BYTES_MAX];

	pfs_save_put(w, bytes, number_to_bytes(bytes, number) - bytes);
}

static void
put_bytes(PfsSaveWriter *w, const char *bytes, uint32 len)
{
	put_number(w, len);
	pfs_save_put(w, bytes, len);
}

/* Most buckets are empty: those that are not, each behind its number. */
static void
put_buckets(PfsSaveWriter *w, const uint64 *buckets)
{
	char		bytes[BUCKETS_BYTES_MAX];
	char	   *at = bytes;

	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (buckets[b] != 0)
			at = number_to_bytes(number_to_bytes(at, b), buckets[b]);
	}
	put_bytes(w, bytes, at - bytes);
}

/* A number that is a member of a struct, as store_number() stores it: on machines whose lowest byte comes first. */
static Number
load_number(const PfsSaveField *field, const char *member, uint64 frequency)
{
	Number		number = 0;

	memcpy(&number, member, field->size);
	return field->type == PFS_SAVE_TICKS ? number * PFS_PS_PER_SECOND / frequency : number;
}

/* Says how fields of a type are written. */
static PfsSaveWire
wire_of(PfsSaveType type)
{
	switch (type)
	{
		case PFS_SAVE_TEXT:
		case PFS_SAVE_BUCKETS:
			return PFS_WIRE_BYTES;
		case PFS_SAVE_TIME:
			return PFS_WIRE_SIGNED;
		default:
			return PFS_WIRE_NUMBER;
	}
}

/* Puts a member of a record as its type says. */
static void
put_field(PfsSaveWriter *w, const PfsSaveField *field, const char *record)
{
	const char *member = record + field->offset;

	switch (field->type)
	{
		case PFS_SAVE_TEXT:
			put_bytes(w, ((const PfsText *) member)->text, ((const PfsText *) member)->len);
			break;
		case PFS_SAVE_BUCKETS:
			put_buckets(w, (const uint64 *) member);
			break;
		case PFS_SAVE_TIME:
			put_number(w, (uint64) *(const int64 *) member << 1 ^ (uint64) (*(const int64 *) member >> 63));
			break;
		default:
			put_number(w, load_number(field, member, w->frequency));
	}
}

/* Puts the list of records and fields, by which another version finds what it knows. */
void
pfs_save_begin_records(PfsSaveWriter *w, const PfsSaveFormat *format)
{
	pfs_save_begin_section(w, format->name);
	put_number(w, format->nrecords);
	for (int i = 0; i < format->nrecords; i++)
	{
		const PfsSaveRecord *record = format->records[i];

		Assert(record->size <= PFS_SAVE_RECORD_SIZE);
		put_bytes(w, record->name, strlen(record->name));
		put_number(w, record->nfields);
		for (int f = 0; f < record->nfields; f++)
		{
			put_bytes(w, record->fields[f].name, strlen(record->fields[f].name));
			put_number(w, wire_of(record->fields[f].type));
		}
	}
}

void
pfs_save_put_record(PfsSaveWriter *w, const PfsSaveFormat *format, int kind, const void *record)
{
	put_number(w, kind);
	for (int f = 0; f < format->records[kind]->nfields; f++)
		put_field(w, &format->records[kind]->fields[f], record);
}

/* ---- reading ---- */

/* Reads a number; false: it does not end in time, or has more than 128 bits. */
static bool
get_number(PfsSaveReader *r, Number *number)
{
	*number = 0;
	for (int i = 0; i < NUMBER_BYTES_MAX && r->at < r->end; i++)
	{
		uint8		byte = (uint8) *r->at++;

		/* Of the last byte only two bits are left. */
		if (i == NUMBER_BYTES_MAX - 1 && byte > 3)
			return false;
		*number |= (Number) (byte & 0x7F) << (7 * i);
		if ((byte & 0x80) == 0)
			return true;
	}
	return false;
}

static bool
get_small_number(PfsSaveReader *r, uint32 max, uint32 *number)
{
	Number		n;

	if (!get_number(r, &n) || n > max)
		return false;
	*number = (uint32) n;
	return true;
}

/* Bytes where they lie, led to by a reader of their own. */
static bool
get_bytes(PfsSaveReader *r, PfsSaveReader *bytes)
{
	uint32		len;

	if (!get_small_number(r, PG_UINT32_MAX, &len))
		return false;
	bytes->at = pfs_save_get(r, len);
	bytes->end = bytes->at == NULL ? NULL : bytes->at + len;
	return bytes->at != NULL;
}

/* Reads a number of up to 128 bits, signed ones as int64 is signed. */
static bool
get_wire_number(PfsSaveReader *r, uint8 wire, Number *number)
{
	if (!get_number(r, number))
		return false;
	if (wire == PFS_WIRE_SIGNED)
	{
		if (*number > PG_UINT64_MAX)
			return false;
		*number = (uint64) (*number >> 1) ^ -(uint64) (*number & 1);
	}
	return true;
}

/* Buckets up to the end of their bytes. */
static bool
get_buckets(PfsSaveReader *r, uint64 *buckets)
{
	PfsSaveReader bytes;
	Number		bucket;
	Number		count;

	if (!get_bytes(r, &bytes))
		return false;
	while (bytes.at < bytes.end)
	{
		if (!get_number(&bytes, &bucket) || !get_number(&bytes, &count) || bucket >= PFS_HISTOGRAM_BUCKETS ||
			count > PG_INT64_MAX / 2)
			return false;
		buckets[bucket] = (uint64) count;
	}
	return true;
}

static bool
get_string(PfsSaveReader *r, PfsText *string)
{
	PfsSaveReader bytes;

	if (!get_bytes(r, &bytes) || bytes.end - bytes.at > PFS_SAVE_TEXT_MAX)
		return false;
	string->len = bytes.end - bytes.at;
	string->text = string->len == 0 ? NULL : bytes.at;
	return true;
}

static bool
is_text(const PfsText *string)
{
	return string->len == 0 || memchr(string->text, '\0', string->len) == NULL;
}

/*
 * Stores a number in its member; false: it is out of the range that the type and the member have.  Ticks are rounded up, so
 * that those come out that were written.
 */
static bool
store_number(const PfsSaveField *field, char *member, Number number, uint64 frequency)
{
	if (field->type == PFS_SAVE_TIME)
	{
		*(int64 *) member = (int64) (uint64) number;
		return IS_VALID_TIMESTAMP(*(int64 *) member);
	}
	if ((field->type == PFS_SAVE_SUM || field->type == PFS_SAVE_TICKS) && number >= PFS_SAVE_PS_MAX)
		return false;
	if (field->type == PFS_SAVE_COUNT && number > PG_INT64_MAX / 2)
		return false;
	if (field->type == PFS_SAVE_TICKS)
	{
		number = (number * frequency + PFS_PS_PER_SECOND - 1) / PFS_PS_PER_SECOND;
		if (field->size == sizeof(uint64))
			number = Min(number, PG_UINT64_MAX);
	}
	if (field->size < sizeof(number) && number >> (8 * field->size) != 0)
		return false;
	memcpy(member, &number, field->size);
	return true;
}

/*
 * Reads a field into its member, whose wire it can have.  False: a value that it cannot have, or
 * there is none.
 */
static bool
get_field(PfsSaveRecords *r, uint8 wire, const PfsSaveField *field, char *record)
{
	char	   *member = record + field->offset;
	Number		number;

	switch (field->type)
	{
		case PFS_SAVE_TEXT:
			return get_string(&r->bytes, (PfsText *) member) && is_text((const PfsText *) member);
		case PFS_SAVE_BUCKETS:
			return get_buckets(&r->bytes, (uint64 *) member);
		default:
			return get_wire_number(&r->bytes, wire, &number) && store_number(field, member, number, r->frequency);
	}
}

/* Passes over a field. */
static bool
skip_field(PfsSaveReader *r, uint8 wire)
{
	PfsSaveReader bytes;
	Number		number;

	return wire == PFS_WIRE_BYTES ? get_bytes(r, &bytes) : get_wire_number(r, wire, &number);
}

/*
 * Can a field be read that lies there so?  A field of the same name may have become another
 * type.
 */
static bool
wire_fits(PfsSaveType type, uint8 wire)
{
	switch (type)
	{
		case PFS_SAVE_TEXT:
		case PFS_SAVE_BUCKETS:
			return wire == PFS_WIRE_BYTES;
		case PFS_SAVE_TIME:
			return wire == PFS_WIRE_SIGNED;
		default:
			return wire == PFS_WIRE_NUMBER;
	}
}

/* ---- what a section's records are here ---- */

static bool
is_name(const char *name, const PfsSaveReader *bytes)
{
	size_t		len = bytes->end - bytes->at;

	return strlen(name) == len && memcmp(name, bytes->at, len) == 0;
}

static int8
kind_of(const PfsSaveFormat *format, const PfsSaveReader *name)
{
	for (int i = 0; i < format->nrecords; i++)
	{
		if (is_name(format->records[i]->name, name))
			return i;
	}
	return -1;
}

static int16
field_of(const PfsSaveRecord *record, const PfsSaveReader *name, uint8 wire)
{
	for (int i = 0; i < record->nfields; i++)
	{
		if (is_name(record->fields[i].name, name))
			return wire_fits(record->fields[i].type, wire) ? i : -1;
	}
	return -1;
}

/* Reads a section's list of records and fields. */
static bool
get_map(PfsSaveReader *r, const PfsSaveFormat *format, PfsSaveMap *map)
{
	uint32		nkinds;
	uint32		n = 0;

	if (!get_small_number(r, PFS_SAVE_KINDS_MAX, &nkinds))
		return false;
	map->nkinds = nkinds;
	for (int i = 0; i < nkinds; i++)
	{
		PfsSaveReader name;
		uint32		nfields;

		if (!get_bytes(r, &name) || !get_small_number(r, PFS_SAVE_FIELDS_MAX - n, &nfields))
			return false;
		map->kinds[i].kind = kind_of(format, &name);
		map->kinds[i].first = n;
		map->kinds[i].nfields = nfields;
		for (; n < map->kinds[i].first + nfields; n++)
		{
			uint32		wire;

			if (!get_bytes(r, &name) || !get_small_number(r, PG_UINT8_MAX, &wire) ||
				(wire != PFS_WIRE_NUMBER && wire != PFS_WIRE_SIGNED && wire != PFS_WIRE_BYTES))
				return false;
			map->fields[n].wire = wire;
			map->fields[n].field = map->kinds[i].kind < 0 ? -1 :
				field_of(format->records[map->kinds[i].kind], &name, wire);
		}
	}
	return true;
}

/* Finds out what the records of a section are here, and leads r to the first one. */
bool
pfs_save_open_records(PfsSaveRecords *r, PfsSaveMap *map, const PfsSaveFormat *format,
					  const PfsSaveFound *found)
{
	memset(r, 0, sizeof(*r));
	r->format = format;
	r->map = map;
	r->bytes = found->bytes;
	if (get_map(&r->bytes, format, map))
		return true;
	strlcpy(r->problem, "its list of fields cannot be read", sizeof(r->problem));
	return false;
}

/* The kind of the next record, in the file; -1: there are no more, or r->problem. */
static int
next_kind(PfsSaveRecords *r)
{
	uint32		kind;

	if (r->bytes.at == r->bytes.end)
		return -1;
	if (!get_small_number(&r->bytes, PG_UINT32_MAX, &kind) || kind >= r->map->nkinds)
	{
		strlcpy(r->problem, "it has a record of no kind", sizeof(r->problem));
		return -1;
	}
	return kind;
}

/* Reads a record field by field, as the section lists them; one of an unknown kind is passed over. */
int
pfs_save_get_record(PfsSaveRecords *r, void *record)
{
	int			file_kind;

	while (r->problem[0] == '\0' && (file_kind = next_kind(r)) >= 0)
	{
		int			kind = r->map->kinds[file_kind].kind;
		int			first = r->map->kinds[file_kind].first;
		const PfsSaveRecord *own = kind < 0 ? NULL : r->format->records[kind];

		if (own != NULL)
			memset(record, 0, own->size);
		for (int i = first; i < first + r->map->kinds[file_kind].nfields; i++)
		{
			const PfsSaveField *field = r->map->fields[i].field < 0 ? NULL : &own->fields[r->map->fields[i].field];

			if (field != NULL ? get_field(r, r->map->fields[i].wire, field, record) :
				skip_field(&r->bytes, r->map->fields[i].wire))
				continue;
			snprintf(r->problem, sizeof(r->problem), "field \"%s\" of a record \"%s\" is damaged",
					 field != NULL ? field->name : "?", own != NULL ? own->name : "?");
			return -1;
		}
		if (own == NULL)
			continue;
		if (own->is_possible != NULL && !own->is_possible(record, r))
		{
			snprintf(r->problem, sizeof(r->problem), "there cannot be such a record \"%s\"", own->name);
			return -1;
		}
		r->nread[kind]++;
		return kind;
	}
	return -1;
}

/* Reads all records, and uses none. */
bool
pfs_save_check_records(const PfsSaveFormat *format, const PfsSaveFound *found, char *problem,
					   size_t size)
{
	PfsSaveRecords r;
	PfsSaveMap	map;
	PfsSavedAny record;

	if (pfs_save_open_records(&r, &map, format, found))
	{
		while (pfs_save_get_record(&r, &record) >= 0)
			;
	}
	strlcpy(problem, r.problem, size);
	return problem[0] == '\0';
}

/* ---- records of several sections ---- */

static const PfsSaveField event_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedEvent, name, PFS_SAVE_TEXT),
};

const PfsSaveRecord pfs_save_event_record = PFS_SAVE_RECORD("event", event_fields, PfsSavedEvent);

static const PfsSaveField reset_fields[] = {
	PFS_SAVE_MEMBER(PfsSavedReset, table, PFS_SAVE_TEXT),
	PFS_SAVE_MEMBER(PfsSavedReset, time, PFS_SAVE_TIME),
};

const PfsSaveRecord pfs_save_reset_record = PFS_SAVE_RECORD("reset", reset_fields, PfsSavedReset);
