/*
 * pfs_load_code.c
 *	  What is kept of one period as bytes, and back.
 *
 * A row is a byte of flags and class, the instrument's number unless it is CPU's or a
 * remainder, database and user unless they are those of the row before, query_id if there
 * is one, then time, count, longest.  Numbers are written in groups of seven bits, the
 * lowest first, the eighth bit of each byte but the last one set.
 */
#include "postgres.h"

#include "pfs_load_code.h"

/* Of a row's first byte; the class is in the low bits. */
#define CLASS_MASK		0x0F
#define BACKGROUND		0x10
#define STATEMENT		0x20
#define SAME_USER		0x40	/* and database, as the row before */
#define REMAINDER		0x80

StaticAssertDecl(PFS_NUM_LOAD_CLASSES <= CLASS_MASK + 1, "classes do not fit");
StaticAssertDecl(PFS_NUM_LOAD_TYPES == 2, "types do not fit");

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

/* Writes a period; the format is above. */
uint32
pfs_load_encode(PfsLoadBytes *to, const PfsLoadHead *head, const PfsLoadRow *rows, int nrows)
{
	uint8	   *at = to->bytes + sizeof(PfsLoadHead);
	const PfsLoadKey *last = NULL;

	Assert(nrows <= PFS_LOAD_ROWS_MAX);
	to->head = *head;
	to->head.nrows = nrows;
	for (int i = 0; i < nrows; i++)
	{
		const PfsLoadKey *key = &rows[i].key;
		bool		remainder = pfs_load_is_remainder(key);
		bool		same = !remainder && last != NULL && last->database == key->database && last->user == key->user;

		*at++ = key->class | (key->type == PFS_LOAD_BACKGROUND ? BACKGROUND : 0) |
			(key->statement == PFS_LOAD_STATEMENT ? STATEMENT : 0) | (same ? SAME_USER : 0) |
			(remainder ? REMAINDER : 0);
		if (!remainder)
		{
			if (key->class != PFS_LOAD_CPU)
			{
				memcpy(at, &key->instrument, sizeof(key->instrument));
				at += sizeof(key->instrument);
			}
			if (!same)
			{
				at = put_number(at, key->database);
				at = put_number(at, key->user);
				last = key;
			}
			if (key->statement == PFS_LOAD_STATEMENT)
			{
				memcpy(at, &key->query_id, sizeof(key->query_id));
				at += sizeof(key->query_id);
			}
		}
		at = put_number(at, rows[i].time);
		at = put_number(at, rows[i].count);
		at = put_number(at, rows[i].longest);
	}
	return at - to->bytes;
}

/* What is left to be read; at NULL: it was not what it should be. */
typedef struct Rest
{
	const uint8 *at;
	const uint8 *end;
} Rest;

/* Reads a number that is at most max. */
static uint64
get_number(Rest *rest, uint64 max)
{
	uint64		number = 0;

	for (int shift = 0; rest->at != NULL && shift < 70; shift += 7)
	{
		uint8		byte;

		if (rest->at == rest->end)
			break;
		byte = *rest->at++;
		/* Of the tenth byte only one bit is left. */
		if (shift == 63 && byte > 1)
			break;
		number |= (uint64) (byte & 0x7F) << shift;
		if ((byte & 0x80) == 0)
		{
			/* There is one way to write a number. */
			if (number > max || (byte == 0 && shift > 0))
				break;
			return number;
		}
	}
	rest->at = NULL;
	return 0;
}

static void
get_bytes(Rest *rest, void *to, size_t n)
{
	if (rest->at == NULL || rest->end - rest->at < n)
	{
		rest->at = NULL;
		memset(to, 0, n);
		return;
	}
	memcpy(to, rest->at, n);
	rest->at += n;
}

/* Reads a row's key; false: it cannot be one. */
static bool
get_key(Rest *rest, PfsLoadKey *key, const PfsLoadKey *last)
{
	uint8		flags;

	memset(key, 0, sizeof(*key));
	get_bytes(rest, &flags, 1);
	key->class = flags & CLASS_MASK;
	key->type = (flags & BACKGROUND) != 0 ? PFS_LOAD_BACKGROUND : PFS_LOAD_FOREGROUND;
	key->statement = (flags & STATEMENT) != 0 ? PFS_LOAD_STATEMENT : PFS_LOAD_NO_STATEMENT;
	if (key->class >= PFS_NUM_LOAD_CLASSES)
		return false;
	if ((flags & REMAINDER) != 0)
	{
		key->instrument = PFS_LOAD_REMAINDER;
		return (flags & STATEMENT) == 0;
	}
	if (key->class == PFS_LOAD_CPU)
		key->instrument = PFS_LOAD_CPU_NAME;
	else
		get_bytes(rest, &key->instrument, sizeof(key->instrument));
	if (key->instrument == PFS_LOAD_REMAINDER)
		return false;
	if ((flags & SAME_USER) == 0)
	{
		key->database = (Oid) get_number(rest, PG_UINT32_MAX);
		key->user = (Oid) get_number(rest, PG_UINT32_MAX);
	}
	else if (last != NULL)
	{
		key->database = last->database;
		key->user = last->user;
	}
	else
		return false;
	if (key->statement == PFS_LOAD_STATEMENT)
		get_bytes(rest, &key->query_id, sizeof(key->query_id));
	return true;
}

/* Reads a period, of bytes that may be anything. */
bool
pfs_load_decode(const PfsLoadBytes *from, uint32 nbytes, PfsLoadRow *rows)
{
	Rest		rest;
	const PfsLoadKey *last = NULL;

	if (nbytes < sizeof(PfsLoadHead) || nbytes > sizeof(PfsLoadBytes) || from->head.nrows > PFS_LOAD_ROWS_MAX)
		return false;
	rest.at = from->bytes + sizeof(PfsLoadHead);
	rest.end = from->bytes + nbytes;
	for (int i = 0; i < from->head.nrows; i++)
	{
		PfsLoadRow *row = &rows[i];

		if (rest.at == NULL || !get_key(&rest, &row->key, last))
			return false;
		row->time = get_number(&rest, PG_UINT64_MAX);
		row->count = get_number(&rest, PG_UINT64_MAX);
		row->longest = get_number(&rest, PG_UINT64_MAX);
		if (!pfs_load_is_remainder(&row->key))
			last = &row->key;
	}
	return rest.at == rest.end;
}
