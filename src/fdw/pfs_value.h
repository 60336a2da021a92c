/*
 * pfs_value.h
 *	  Values as SQL sees them: picoseconds, texts of other sessions, switches.
 */
#ifndef PFS_VALUE_H
#define PFS_VALUE_H

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "pfs_cell.h"
#include "pfs_clock.h"
#include "pfs_table.h"

static inline Datum
pfs_null(bool *isnull)
{
	*isnull = true;
	return (Datum) 0;
}

static inline const char *
pfs_yes_or_no(bool on)
{
	return on ? "YES" : "NO";
}

/* A number that can exceed what a bigint holds: picoseconds, bytes. */
extern Datum pfs_sum_datum(PfsPicoseconds n);

/* The same where the number may have come with a null. */
static inline Datum
pfs_sum_or_null(PfsPicoseconds n, const bool *isnull)
{
	return *isnull ? (Datum) 0 : pfs_sum_datum(n);
}

/* Ticks of the default timer, by which sums go, as picoseconds. */
static inline PfsPicoseconds
pfs_ticks_as_ps(PfsTicks ticks)
{
	return pfs_ticks_to_ps(pfs_timer_default(), ticks);
}

/*
 * A text of the server's own or of this database.  What is invalid, or could not be sent to
 * the client, becomes '?'.
 */
extern Datum pfs_text_datum(const char *str);

/* NULL gives a null. */
extern Datum pfs_text_or_null(const char *str, bool *isnull);

/* An instrument's name; NULL: there is no such instrument. */
extern const char *pfs_event_name(PfsInstrumentId instrument);

/* A text of another database, in the encoding with this number. */
extern char *pfs_text_convert(const char *str, int len, int encoding);

/* The same of a statement's text, without the secrets that it may hold. */
extern char *pfs_text_of_statement(const char *str, int len, int encoding);

/* 1 or 0 from what a user writes for YES or NO, -1 if it is neither; what the latter is told. */
extern int	pfs_parse_switch(const char *value);
#define PFS_SWITCH_VALUES "The values are YES and NO, ON and OFF, TRUE and FALSE, 1 and 0, in any letter case."

/* The timer that a user named; 22023 for NULL or one that is not offered. */
extern PfsTimer pfs_require_timer(const char *name);

/* Column checks: see PfsColumnCheck. */
extern Datum pfs_check_switch(const PfsTable *table, const PfsColumn *column,
							  Datum value, bool isnull);

/* Encoding of a database's texts; PG_SQL_ASCII: unknown. */
extern int	pfs_database_encoding(Oid database);

/* Names by OID, the number where there is no such object any more. palloc'd. */
extern char *pfs_database_name(Oid database);
extern char *pfs_role_name(Oid role);

#endif							/* PFS_VALUE_H */
