/*
 * fuzz_snapshot.c
 *	  Files of snapshots, and reports of two of them.
 *
 * Input: a file, a zero byte, another file.
 */
#include "fuzz.h"

#include <jansson.h>

#include "report.h"

/* What was written to standard output since the last time. */
static char *written;
static size_t written_length;

static void
begin_output(void)
{
	stdout = open_memstream(&written, &written_length);
}

static void
end_output(FILE *real)
{
	fclose(stdout);
	stdout = real;
}

/* No output has these, whatever the file held. */
static void
check_controls(const char *allowed)
{
	for (size_t i = 0; i < written_length; i++)
		FUZZ_CHECK((unsigned char) written[i] >= 0x20 || strchr(allowed, written[i]));
}

/* What was read is written, read and written again: twice the same bytes. */
static void
check_round(const Snapshot *snapshot)
{
	FILE	   *real = stdout;
	Sink	   *sink;
	char	   *first;
	size_t		first_length;
	char	   *wrong;
	Snapshot   *again;

	begin_output();
	sink = sink_open(NULL);
	snapshot_write(snapshot, sink);
	sink_close(sink);
	end_output(real);
	check_controls("\n");
	first = written;
	first_length = written_length;
	again = snapshot_parse(first, first_length, &wrong);
	FUZZ_CHECK(again != NULL);
	begin_output();
	sink = sink_open(NULL);
	snapshot_write(again, sink);
	sink_close(sink);
	end_output(real);
	FUZZ_CHECK(written_length == first_length && memcmp(written, first, first_length) == 0);
	free(first);
	free(written);
	snapshot_free(again);
}

static void
check_report(const Report *report, void (*write) (const Report *, Sink *), const char *allowed, bool json)
{
	FILE	   *real = stdout;
	Sink	   *sink;

	begin_output();
	sink = sink_open(NULL);
	write(report, sink);
	sink_close(sink);
	end_output(real);
	check_controls(allowed);
	if (json)
	{
		json_t	   *root = json_loadb(written, written_length, JSON_DECODE_INT_AS_REAL, NULL);

		FUZZ_CHECK(root != NULL);
		json_decref(root);
	}
	free(written);
}

static Snapshot *
parse(const uint8_t *data, size_t size)
{
	char	   *copy = fuzz_copy(data, size);
	char	   *wrong = NULL;
	Snapshot   *snapshot = snapshot_parse(copy, size, &wrong);

	FUZZ_CHECK((snapshot == NULL) == (wrong != NULL));
	free(copy);
	free(wrong);
	if (snapshot)
		check_round(snapshot);
	return snapshot;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	size_t		first = zero ? (size_t) (zero - data) : size;
	Snapshot   *a = parse(data, first);
	Snapshot   *b = zero ? parse(zero + 1, size - first - 1) : NULL;

	if (a && b)
	{
		Report	   *report;

		/* A pair that the program would refuse ends it, so it is made one. */
		free(a->facts[FACT_system_identifier]);
		a->facts[FACT_system_identifier] = NULL;
		if (a->taken >= b->taken)
			a->taken = b->taken - 1;
		report = report_of_snapshots("snapshots", a, b, NULL, 10);
		check_report(report, report_write_json, "\n", true);
		check_report(report, report_write_text, "\n", false);
		check_report(report, report_write_html, "\n\t", false);
		report_free(report);
	}
	snapshot_free(a);
	snapshot_free(b);
	return 0;
}
