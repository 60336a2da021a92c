/*
 * fuzz_text.c
 *	  Texts of statements and sessions: cut into a slot, converted, looked
 *	  through for secrets.
 *
 * Input: encodings of writer, reader and the reader's client, how much is kept, the statement's place,
 * then the text.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "utils/timestamp.h"

#include "pfs_shared.h"
#include "pfs_statement_open.h"
#include "pfs_value.h"

#include "fuzz.h"

PfsSizes	pfs_sizes;

static void
check_valid(const char *str, size_t len)
{
	FUZZ_CHECK(pg_encoding_verifymbstr(fuzz_database_encoding, str, len) == (int) len);
}

/* As the server sends it: it converts, or is checked only. */
static void
check_client(const char *str, size_t len)
{
	char	   *sent = malloc(len * MAX_CONVERSION_GROWTH + 1);

	if (fuzz_database_encoding == PG_SQL_ASCII && fuzz_client_encoding != PG_SQL_ASCII)
		FUZZ_CHECK(pg_encoding_verifymbstr(fuzz_client_encoding, str, len) == (int) len);
	else if (fuzz_client_encoding != fuzz_database_encoding && fuzz_client_encoding != PG_SQL_ASCII &&
			 FindDefaultConversionProc(fuzz_database_encoding, fuzz_client_encoding) != InvalidOid)
		FUZZ_CHECK(pg_do_encoding_conversion_buf(1, fuzz_database_encoding, fuzz_client_encoding, (unsigned char *) str,
												 (int) len, (unsigned char *) sent, (int) len * MAX_CONVERSION_GROWTH + 1, true) == (int) len);
	free(sent);
}

/* As the server hands it on: valid, and whole. */
static void
check_slot(const char *str, size_t len, FuzzInput *in)
{
	size_t		location = fuzz_take(in, 1);
	size_t		part = fuzz_take(in, 1);
	PfsStatementEvent *event;
	char	   *copy;
	char	   *path;

	len = strnlen(str, len);
	len = pg_encoding_verifymbstr(fuzz_database_encoding, str, len);
	if (location > len || pg_encoding_verifymbstr(fuzz_database_encoding, str, location) != (int) location)
		location = 0;
	if (part > len - location ||
		pg_encoding_verifymbstr(fuzz_database_encoding, str + location, part) != (int) part)
		part = 0;
	copy = fuzz_string(str, len);
	path = fuzz_string(str, len);
	namespace_search_path = path;
	event = malloc(offsetof(PfsStatementEvent, texts) + PFS_SCHEMA_SIZE + pfs_sizes.sql_text + PFS_MESSAGE_SIZE);
	/* The second time the schema is the one that was found. */
	for (int i = 0; i < 2; i++)
		pfs_statement_put_text(event, copy, (int) location, (int) part);
	FUZZ_CHECK(event->schema_len <= PFS_SCHEMA_SIZE && event->text_len <= pfs_sizes.sql_text);
	check_valid(event->texts, event->schema_len);
	check_valid(event->texts + event->schema_len, event->text_len);
	if (event->text_len > 0)
		FUZZ_CHECK(strchr(" \t\n\r", event->texts[event->schema_len + event->text_len - 1]) == NULL);
	free(event);
	namespace_search_path = NULL;
	free(path);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput	in = {data, size};
	int			from = fuzz_take(&in, 1) % (PG_ENCODING_BE_LAST + 1);
	char	   *str;
	char	   *converted;
	char	   *hidden;
	size_t		len;

	fuzz_database_encoding = fuzz_take(&in, 1) % (PG_ENCODING_BE_LAST + 1);
	fuzz_client_encoding = fuzz_take(&in, 1) % _PG_LAST_ENCODING_;
	pfs_sizes.sql_text = fuzz_take(&in, 1);
	check_slot((const char *) in.data + Min(in.size, 2), in.size - Min(in.size, 2), &in);

	/* Another database's bytes, cut anywhere: no byte behind them is there. */
	len = strnlen((const char *) in.data, in.size);
	str = fuzz_copy(in.data, len);
	if (len > 0)
	{
		converted = pfs_text_convert(str, (int) len, from);
		check_valid(converted, strlen(converted));
		hidden = pfs_text_of_statement(str, (int) len, from);
		check_valid(hidden, strlen(hidden));
	}
	free(str);

	/* Any bytes at all. */
	str = fuzz_string(in.data, len);
	hidden = DatumGetPointer(pfs_text_datum(str));
	FUZZ_CHECK(VARSIZE_ANY_EXHDR(hidden) <= len);
	check_valid(VARDATA_ANY(hidden), VARSIZE_ANY_EXHDR(hidden));
	check_client(VARDATA_ANY(hidden), VARSIZE_ANY_EXHDR(hidden));
	free(str);
	fuzz_free_all();
	return 0;
}
