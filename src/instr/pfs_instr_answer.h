/*
 * pfs_instr_answer.h
 *	  What the server answers its client, where no hook sees what is done.
 */
#ifndef PFS_INSTR_ANSWER_H
#define PFS_INSTR_ANSWER_H

/*
 * A command at top level has been executed, at the end of its last hook: if ActivePortal has
 * stored its rows, it sends them from here on.
 */
extern void pfs_portal_executed(void);

/* Until the session waits for its client: a statement has run that others follow in its string. */
extern void pfs_answers_watch(void);

#endif							/* PFS_INSTR_ANSWER_H */
