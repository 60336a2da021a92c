/*
 * pfs_load_code.c
 *	  What is kept of one period as bytes, and back.
 *
 * A row is a byte of class, type and whether it has a statement; then its numbers, in groups of seven bits, the lowest
 * first, the eighth bit of each byte but the last one set.  Of database and user it is what differs from the row before,
 * and query_id is there as it is, if there is one.
 *
 * Only what was written here is read, as who copies it knows that the copy is whole.
 */
#include "postgres.h"

#include "pfs_load_code.h"

/* Of a row's first byte; the class is in the low bits. */
#define CLASS_MASK		0x0F
#define BACKGROUND		0x10
#define STATEMENT		0x20

StaticAssertDecl(PFS_NUM_LOAD_CLASSES <= CLASS_MASK + 1, "classes do not fit");
StaticAssertDecl(PFS_NUM_LOAD_TYPES == 2, "types do not fit");

/* Added to the number of an instrument: that of CPU and of a remainder, which are most frequent, become small ones. */
#define FIRST_INSTRUMENT	2

#define CLASS_NAME(class, name) [class] = name,

static const char *const class_names[PFS_NUM_LOAD_CLASSES] = {PFS_LOAD_CLASSES(CLASS_NAME)};

const char *
pfs_load_class_name(uint8 class)
{
	return class_names[class];
}

bool
pfs_load_class_by_name(const char *name, uint8 *class)
{
	for (*class = 0; *class < PFS_NUM_LOAD_CLASSES; (*class)++)
	{
		if (strcmp(class_names[*class], name) == 0)
			return true;
	}
	return false;
}

static uint8 *
put_number(uint8 *at, uint64 number)
{
	while (number >= 0x80)
	{
		*at++ = (uint8) number | 0x80;
		number >>= 7;
	}
	*at++ = (uint8) number;
	return at;
}

static uint64
get_number(const uint8 **at)
{
	uint64		number = 0;
	int			shift = 0;

	for (; **at & 0x80; shift += 7)
		number |= (uint64) (*(*at)++ & 0x7F) << shift;
	return number | (uint64) *(*at)++ << shift;
}

/* Writes a period; the format is above. */
uint32
pfs_load_encode(PfsLoadBytes *to, const PfsLoadHead *head, const PfsLoadRow *rows, int nrows)
{
	uint8	   *at = to->bytes + sizeof(PfsLoadHead);
	PfsLoadKey	last = {0};

	Assert(nrows <= PFS_LOAD_ROWS_MAX);
	to->head = *head;
	to->head.nrows = nrows;
	for (int i = 0; i < nrows; i++)
	{
		const PfsLoadKey *key = &rows[i].key;

		*at++ = key->class | (key->type == PFS_LOAD_BACKGROUND ? BACKGROUND : 0) |
			(key->statement == PFS_LOAD_STATEMENT ? STATEMENT : 0);
		at = put_number(at, (PfsInstrumentId) (key->instrument + FIRST_INSTRUMENT));
		at = put_number(at, key->database ^ last.database);
		at = put_number(at, key->user ^ last.user);
		if (key->statement == PFS_LOAD_STATEMENT)
		{
			memcpy(at, &key->query_id, sizeof(key->query_id));
			at += sizeof(key->query_id);
		}
		at = put_number(at, rows[i].time);
		at = put_number(at, rows[i].count);
		at = put_number(at, rows[i].longest);
		last = *key;
	}
	return at - to->bytes;
}

/* Reads what pfs_load_encode() has written. */
void
pfs_load_decode(const PfsLoadBytes *from, PfsLoadRow *rows)
{
	const uint8 *at = from->bytes + sizeof(PfsLoadHead);
	PfsLoadKey	last = {0};

	for (int i = 0; i < from->head.nrows; i++)
	{
		PfsLoadKey	key = {.class = *at & CLASS_MASK, .type = *at & BACKGROUND ? PFS_LOAD_BACKGROUND : PFS_LOAD_FOREGROUND};

		key.statement = *at++ & STATEMENT ? PFS_LOAD_STATEMENT : PFS_LOAD_NO_STATEMENT;
		key.instrument = get_number(&at) - FIRST_INSTRUMENT;
		key.database = get_number(&at) ^ last.database;
		key.user = get_number(&at) ^ last.user;
		if (key.statement == PFS_LOAD_STATEMENT)
		{
			memcpy(&key.query_id, at, sizeof(key.query_id));
			at += sizeof(key.query_id);
		}
		rows[i].key = key;
		rows[i].time = get_number(&at);
		rows[i].count = get_number(&at);
		rows[i].longest = get_number(&at);
		last = key;
	}
}
