/*
 * pfs_instr_twophase.h
 *	  Which transaction COMMIT PREPARED or ROLLBACK PREPARED is about to finish.
 */
#ifndef PFS_INSTR_TWOPHASE_H
#define PFS_INSTR_TWOPHASE_H

/*
 * The full identifier of the prepared transaction of this name; 0: there is none.
 * For the utility hook only.
 */
extern uint64 pfs_prepared_trx_id(const char *gid);

#endif							/* PFS_INSTR_TWOPHASE_H */
