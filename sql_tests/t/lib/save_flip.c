/*
 * save_flip.c
 *	  A plain program that reads the file that survives a restart as the server does, and
 *	  then with each of its bytes changed, and cut off behind each of them.
 *
 * usage: save_flip FILE MAJOR
 *
 * Prints how many files it has read, and what it has read of the one without fault; ends with
 * status 1 if a changed one passes for that.
 */
#include "postgres.h"

#include "pfs_save_digest_bytes.h"
#include "pfs_save_load_bytes.h"

static uint64 system_identifier;
static uint32 major;

static const struct
{
	const char *name;
	bool		(*check) (PfsSaveReader *r);
}			sections[] =

{
	{"digests", pfs_save_check_digests},
	{"digest_waits", pfs_save_check_waits},
	{"resets", pfs_save_check_resets},
	{"load_history", pfs_save_check_load},
	{"load_texts", pfs_save_check_load_texts},
	{"digest_rows", pfs_save_check_rows},
};

/* Does the server use this file, where the versions of its sections are right? */
static bool
is_used(const char *bytes, size_t n)
{
	PfsSaveHead head;
	PfsSaveReader r;

	if (pfs_save_check_file(bytes, n, system_identifier, major, &head) != PFS_SAVE_GOOD)
		return false;
	for (int i = 0; i < lengthof(sections); i++)
	{
		if (pfs_save_find_section(bytes, n, sections[i].name, &r) && !sections[i].check(&r))
			return false;
	}
	return true;
}

/* A copy of exactly so many bytes, so that a tool for it notices a byte that is read behind them. */
static char *
copy_of(const char *bytes, size_t n)
{
	char	   *copy = malloc(n > 0 ? n : 1);

	memcpy(copy, bytes, n);
	return copy;
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
	PfsSaveReader r;
	PfsSavedDigest d;
	int			ndigests = 0;

	if (n < sizeof(head) || n == sizeof(bytes))
	{
		fprintf(stderr, "no file, or one that is too large\n");
		return 2;
	}
	memcpy(&head, bytes, sizeof(head));
	system_identifier = head.system_identifier;
	major = atoi(argv[2]);
	if (!is_used(bytes, n) || !pfs_save_find_section(bytes, n, "digests", &r))
	{
		fprintf(stderr, "the file itself is not used\n");
		return 2;
	}
	(void) pfs_save_get_frequency(&r);
	while (pfs_save_get_record(&r, pfs_save_digest_fields, &d))
		ndigests++;
	for (size_t i = 0; i < n; i++)
	{
		static const uint8 changes[] = {0x01, 0x80, 0xFF};
		char	   *copy = copy_of(bytes, n);

		for (int c = 0; c < lengthof(changes); c++)
		{
			copy[i] = bytes[i] ^ changes[c];
			tried++;
			if (is_used(copy, n))
			{
				printf("byte %zu with %02x changed is not noticed\n", i, changes[c]);
				wrong++;
			}
		}
		free(copy);
		copy = copy_of(bytes, i);
		tried++;
		if (is_used(copy, i))
		{
			printf("a file of %zu bytes is not noticed\n", i);
			wrong++;
		}
		free(copy);
	}
	printf("%ld files, %d digests\n", tried, ndigests);
	return wrong > 0;
}
