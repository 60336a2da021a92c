/*
 * pfs_statement_numbers.h
 *	  The columns of what statements count: events and summaries show the same.
 */
#ifndef PFS_STATEMENT_NUMBERS_H
#define PFS_STATEMENT_NUMBERS_H

#include "pfs_statement.h"

/* As the column of the number shows it. */
extern Datum pfs_statement_number_datum(PfsNumber number, unsigned __int128 value);

#endif							/* PFS_STATEMENT_NUMBERS_H */
