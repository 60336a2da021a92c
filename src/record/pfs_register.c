/*
 * pfs_register.c
 *	  Tells the rooms what lies above them: the list of parts, the tables of families, and
 *	  the functions of higher rooms that lower ones call.
 *
 * A room names no function and no variable of a higher one; so the rooms depend on each
 * other in one direction for the linker, too.  Where a lower one has to call upwards, it
 * declares a struct of callbacks, which is filled in here.
 */
#include "postgres.h"

#include "pfs_attach.h"
#include "pfs_charge.h"
#include "pfs_digest_rows.h"
#include "pfs_digest_wait.h"
#include "pfs_process.h"
#include "pfs_register.h"

void
pfs_record_register(void)
{
	pfs_parts_register();
	pfs_families_register();
	pfs_process.attach_cb = pfs_thread_attach;
	pfs_process.identify_cb = pfs_thread_identify_now;
	pfs_process.prepare_cb = pfs_wait_prepare;
	pfs_charge.full_cb = pfs_digest_waits_flush_all;
	pfs_charge.statement_cb = pfs_statement_charged;
	pfs_charge.rows_cb = pfs_digest_rows_add;
}
