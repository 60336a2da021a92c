/*
 * fuzz_list.c
 *	  Patterns, and the texts of pfs.instruments and pfs.consumers.
 *
 * Input: a name, a line feed, the text.
 */
#include "postgres.h"

#include "pfs_setup.h"
#include "pfs_setup_list.h"

#include "fuzz.h"

const char *
pfs_consumer_name(PfsConsumer c)
{
	return c % 2 == 0 ? "events_waits_current" : "global_instrumentation";
}

/* The same question, answered from a table of all prefixes. */
static bool
match_slow(const char *pattern, const char *name)
{
	size_t		np = strlen(pattern);
	size_t		nn = strlen(name);
	bool	   *row = calloc(nn + 1, sizeof(bool));
	bool		result;

	row[0] = true;
	for (size_t p = 0; p < np; p++)
	{
		bool		before = row[0];

		row[0] = before && pattern[p] == '%';
		for (size_t n = 1; n <= nn; n++)
		{
			bool		old = row[n];

			if (pattern[p] == '%')
				row[n] = old || row[n - 1];
			else
				row[n] = before && (pattern[p] == '?' || pg_tolower((unsigned char) pattern[p]) ==
									pg_tolower((unsigned char) name[n - 1]));
			before = old;
		}
	}
	result = row[nn];
	free(row);
	return result;
}

static char *
first_problem(const char *list, bool consumers)
{
	return pfs_setup_list_problem(&list, consumers);
}

/* What is left of a text says the same of each name as the text, and nothing of it is bad. */
static void
check_rest(const char *list, const char *name)
{
	char	   *rest = fuzz_string((const uint8_t *) list, strlen(list));

	pfs_setup_leave_out(rest, false);
	FUZZ_CHECK(strlen(rest) <= strlen(list));
	FUZZ_CHECK(first_problem(rest, false) == NULL);
	if (first_problem(list, false) == NULL)
		FUZZ_CHECK(strcmp(rest, list) == 0);
	else
		FUZZ_CHECK(strlen(rest) < strlen(list));

	/*
	 * A pattern that is bad for its length or for being empty matches all the
	 * same.
	 */
	if (strlen(list) < PFS_NAME_SIZE && name[0] != '\0')
		FUZZ_CHECK(pfs_list_value(rest, name) == pfs_list_value(list, name));
	free(rest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t		name_len = end == NULL ? 0 : end - data;
	char	   *name = fuzz_string(data, name_len);
	char	   *list = fuzz_string(data + (end == NULL ? 0 : name_len + 1), size - (end == NULL ? 0 : name_len + 1));
	char	   *problem = first_problem(list, false);
	PfsListValue value = pfs_list_value(list, name);
	const char *at = list;
	char		pattern[PFS_NAME_SIZE];
	bool		any = false;

	FUZZ_CHECK(value >= PFS_LIST_NONE && value <= PFS_LIST_COUNTED);
	FUZZ_CHECK(pfs_pattern_match(list, name) == match_slow(list, name));
	while (pfs_list_next_pattern(&at, pattern, sizeof(pattern)))
	{
		const char *before = at;

		FUZZ_CHECK(at >= list && at <= list + strlen(list) && before == at);
		FUZZ_CHECK(strlen(pattern) < sizeof(pattern));
		if (problem == NULL)
			FUZZ_CHECK(pattern[0] != '\0');
		any |= match_slow(pattern, name);
	}
	FUZZ_CHECK(*at == '\0');
	/* Of a text without a fault every entry counts. */
	if (problem == NULL)
		FUZZ_CHECK(any == (value != PFS_LIST_NONE));
	/* And each consumers' text is an instruments' text. */
	if (first_problem(list, true) == NULL)
		FUZZ_CHECK(problem == NULL);
	check_rest(list, name);
	free(name);
	free(list);
	fuzz_free_all();
	return 0;
}
