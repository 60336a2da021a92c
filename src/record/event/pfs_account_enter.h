/*
 * pfs_account_enter.h
 *	  A session gets its account, user and host.
 */
#ifndef PFS_ACCOUNT_ENTER_H
#define PFS_ACCOUNT_ENTER_H

#include "pfs_account.h"

/*
 * Find or make the records, pin them, and count a connection.  user_name NULL: the
 * background's.  Instrument points.  Where there is no room, a record that no session uses is
 * evicted, or else the record of all others is shared; the container counts both.  False: there may
 * be room when the caller comes back, as eviction is forbidden at this moment; nothing is
 * pinned then, and no connection counted.
 */
extern bool pfs_account_enter(PfsAccountRefs *refs, const char *user_name, const char *host_name, bool may_come_back);

#endif							/* PFS_ACCOUNT_ENTER_H */
