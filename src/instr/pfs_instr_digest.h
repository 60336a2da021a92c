/*
 * pfs_instr_digest.h
 *	  The texts of digests, made at parse analysis, or where a cached plan is executed.
 */
#ifndef PFS_INSTR_DIGEST_H
#define PFS_INSTR_DIGEST_H

#include "pfs_compat_hooks.h"
#include "pfs_instr.h"
#include "pfs_statement_open.h"

/*
 * A query has been analysed: its digest gets its text, if it has none or one that is no
 * statement as clients write them.  jumble NULL: its constants are not known, the text
 * stays as it is.
 */
extern void pfs_digest_text_parsed(PfsThread *t, const PfsStatementSource *source, const JumbleState *jumble);

/*
 * A statement begins to be executed: its digest gets a provisional text, if it has none.  Called for
 * those that pfs_digest_may_lack_text() names; outside of write sections, may allocate.
 */
extern void pfs_digest_text_executed(PfsThread *t, const PfsStatementSource *source);

#endif							/* PFS_INSTR_DIGEST_H */
