/*
 * save_flip.c
 *	  A plain program that reads the file that survives a restart as the server does, and
 *	  then with each of its bytes changed, and cut off behind each of them.
 *
 * usage: save_flip FILE MAJOR
 *
 * Prints how many files it has read, and what it has read of the one without fault; ends with
 * status 1 if a changed one passes for that, or if one byte costs more than the section that it is in.
 */
#include "postgres.h"

#include "pfs_save_digest_bytes.h"
#include "pfs_save_load_bytes.h"

#define SECTIONS_MAX 32

static uint64 system_identifier;
static uint32 major;

static const PfsSaveFormat *const formats[] = {
	&pfs_save_digests_format, &pfs_save_waits_format, &pfs_save_rows_format,
	&pfs_save_load_format, &pfs_save_load_texts_format, &pfs_save_nodes_format,
};

/* What the server makes of a file. */
typedef struct Verdict
{
	bool		is_read;		/* its head is good */
	bool		complete;		/* nothing is wrong with it */
	int			nsections;
	size_t		ends[SECTIONS_MAX]; /* of those that can be used */
} Verdict;

static Verdict
verdict_on(const char *bytes, size_t n)
{
	Verdict		v = {0};
	PfsSaveHead head;
	PfsSaveReader file = {.at = bytes + sizeof(head), .end = bytes + n};
	PfsSaveFound found;

	v.is_read = pfs_save_check_head(bytes, n, system_identifier, major, &head) == PFS_SAVE_GOOD;
	if (!v.is_read)
		return v;
	v.complete = head.length == n;
	while (pfs_save_next_section(&file, &found))
	{
		char		problem[160];
		bool		good = found.problem == NULL;

		for (int i = 0; i < lengthof(formats) && good; i++)
			good = strcmp(formats[i]->name, found.name) != 0 || pfs_save_check_records(formats[i], &found, problem, sizeof(problem));
		if (good && v.nsections < SECTIONS_MAX)
			v.ends[v.nsections++] = found.bytes.end - bytes;
		else
			v.complete = false;
	}
	return v;
}

/*
 * A copy of exactly so many bytes, so that a tool for it notices a byte that is read behind
 * them.
 */
static char *
copy_of(const char *bytes, size_t n)
{
	char	   *copy = malloc(n > 0 ? n : 1);

	memcpy(copy, bytes, n);
	return copy;
}

/* Digests of a file, which is good. */
static uint32
count_digests(const char *bytes, size_t n)
{
	PfsSaveHead head;
	PfsSaveReader file = {.at = bytes + sizeof(head), .end = bytes + n};
	PfsSaveFound found;
	PfsSaveRecords r;
	PfsSaveMap	map;
	PfsSavedAny record;

	memcpy(&head, bytes, sizeof(head));
	while (pfs_save_next_section(&file, &found))
	{
		if (strcmp(found.name, pfs_save_digests_format.name) != 0)
			continue;
		if (pfs_save_open_records(&r, &map, &pfs_save_digests_format, &found))
		{
			while (pfs_save_get_record(&r, &record) >= 0)
				;
		}
		return r.nread[PFS_SAVED_DIGESTS_DIGEST];
	}
	return 0;
}

int
main(int argc, char **argv)
{
	static char bytes[1 << 20];
	FILE	   *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
	size_t		n = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;
	long		tried = 0;
	long		wrong = 0;
	PfsSaveHead head;
	Verdict		whole;

	if (n < sizeof(head) || n == sizeof(bytes))
	{
		fprintf(stderr, "no file, or one that is too large\n");
		return 2;
	}
	memcpy(&head, bytes, sizeof(head));
	system_identifier = head.system_identifier;
	major = atoi(argv[2]);
	whole = verdict_on(bytes, n);
	if (!whole.complete || whole.nsections != head.nsections)
	{
		fprintf(stderr, "the file itself is not used\n");
		return 2;
	}
	for (size_t i = 0; i < n; i++)
	{
		static const uint8 changes[] = {0x01, 0x80, 0xFF};
		char	   *copy = copy_of(bytes, n);
		int			nended = 0;
		Verdict		v;

		for (int c = 0; c < lengthof(changes); c++)
		{
			copy[i] = bytes[i] ^ changes[c];
			tried++;
			v = verdict_on(copy, n);
			if (v.complete || v.is_read != (i >= sizeof(head)) || (v.is_read && v.nsections != whole.nsections - 1))
			{
				printf("byte %zu with %02x changed: %s, %d sections\n", i, changes[c], v.complete ? "not noticed" : "noticed", v.nsections);
				wrong++;
			}
		}
		free(copy);
		copy = copy_of(bytes, i);
		tried++;
		v = verdict_on(copy, i);
		while (nended < whole.nsections && whole.ends[nended] <= i)
			nended++;
		if (v.complete || v.nsections != nended)
		{
			printf("a file of %zu bytes: %s, %d sections\n", i, v.complete ? "not noticed" : "noticed", v.nsections);
			wrong++;
		}
		free(copy);
	}
	printf("%ld files, %d sections, %u digests\n", tried, whole.nsections, count_digests(bytes, n));
	return wrong > 0;
}
