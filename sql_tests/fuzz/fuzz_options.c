/*
 * fuzz_options.c
 *	  Command lines of the program pfs.
 *
 * Input: the words, apart by line feeds.
 */
#include "fuzz.h"

#include "options.h"

#define MAX_WORDS 64

static const Option own[] = {
	{"seconds", 's', "SECONDS", "a number"},
	{"since", 0, "TIME", "a time"},
	{"session", 0, "PID", "another that begins so"},
	{"reverse", 'r', NULL, "without a value"},
	{NULL}
};

/* Does the part lie within one of the words, up to its end? */
static bool
is_of_word(const char *part, char *const *words, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (part >= words[i] && part <= words[i] + strlen(words[i]))
			return true;
	}
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = fuzz_string(data, size);
	char	   *words[MAX_WORDS];
	int			count = 0;
	Options		options;
	char	   *wrong;
	char	   *rest = text;

	for (char *line; count < MAX_WORDS && (line = strsep(&rest, "\n")) != NULL;)
		words[count++] = fuzz_string(line, strlen(line));
	wrong = parse_options(&options, own, count, (const char *const *) words);
	if (wrong)
		FUZZ_CHECK(strlen(wrong) > 0);
	else
	{
		FUZZ_CHECK(options.num_values + options.num_arguments <= (int) size + 1);
		for (int i = 0; i < options.num_values; i++)
		{
			const OptionValue *value = &options.values[i];

			FUZZ_CHECK(value->option != NULL);
			if (value->option->argument)
				FUZZ_CHECK(is_of_word(value->value, words, count));
			else
				FUZZ_CHECK(value->value[0] == '\0');
			FUZZ_CHECK(option_given(&options, value->option->name));
		}
		for (int i = 0; i < options.num_arguments; i++)
			FUZZ_CHECK(is_of_word(options.arguments[i], words, count));
	}
	free(wrong);
	free_options(&options);
	for (int i = 0; i < count; i++)
		free(words[i]);
	free(text);
	return 0;
}
