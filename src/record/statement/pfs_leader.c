/*
 * pfs_leader.c
 *	  What a process and its parallel workers tell each other.
 *
 * A statement is charged with the difference of its process's counters of rows
 * (pfs_rel_local) between its begin and its end.  So what workers have read has only to be
 * added to the leader's counters while the call that started them is still active: then the
 * statement of that call has it, and so have those around it.
 *
 * Two words for each level of such calls lie in the leader's record (PfsThread.workers): rows,
 * and scans by no index.  A worker adds to the words of its call's level, atomically, and the
 * leader takes them, by an exchange, where the call ends.
 *
 * Nothing is lost.  A worker gives behind its last scan, when its transaction is committed or
 * rolled back.  Only then does it tell the leader that it has finished, or does the postmaster
 * tell that it has gone, and the leader waits for either: for the first before the executor's
 * run returns, or a utility, for the second before it calls back that a transaction or a
 * subtransaction has been rolled back.  Both go through a lock or a message queue of the server's,
 * which order the adds before the exchange; so relaxed adds do.  A leader that ends by a FATAL
 * error rolls back, too, and detaches later.
 *
 * Nothing is counted twice, or for another process.  What is taken is not there any more.  A
 * leader's record cannot change hands while a worker gives, as the leader waits for its end;
 * only where the postmaster has died does it not wait, and then no process begins that could get
 * the record.  A worker compares the state word all the same.
 *
 * Nothing is counted for another call.  While a query runs, its leader takes part in it, and calls
 * functions whose queries may start workers of their own: that is the next level.  A worker reads
 * which level it works for when it attaches.  Calls are active one inside another, so the leader
 * is in the call that started the worker then, or in one inside of it.  For that case each call
 * that begins says of which shared memory the workers around it are (PfsLateWorkers), and a worker
 * looks there for its own.  That is not known of utilities: a late worker of CREATE INDEX, while
 * the leader is in a function of the index that has workers, counts for this function's query.
 * Calls deeper than PFS_LEAD_LEVELS share the last words; the innermost one that ends takes what is there.
 *
 * Errors.  The calls that are cut off by a jump are those whose PfsLead lies below the handler
 * on the stack.  They leave the list at the jump, when that part of the stack has not been
 * written again.  Their workers' numbers are taken when the rollback has waited for them.  What
 * was published for them is replaced then, too.  Where jumps are not seen, all calls are of the
 * first level, and none is in the list.
 *
 * Words of a level that are not empty when a call begins are from workers of a call that nobody
 * watched, as everything was off then: they are dropped.
 */
#include "postgres.h"

#include "storage/ipc.h"

#include "pfs_leader.h"

/* How often a worker tries to read what its leader is just writing. */
#define READ_TRIES 1000

const PfsLead *pfs_leading = NULL;

/* What is published: for which call, which is only compared, its level, and how many entries of late. */
static const PfsLead *published = NULL;
static uint32 published_level = 0;
static uint32 published_late = 0;

/* Of a worker: whom it works for; leader NULL: it is none, or does not know yet. */
static struct
{
	PfsThread  *leader;
	uint64		word;			/* state word of the leader's record */
	uint32		level;
}			work;

/* ---- the leader ---- */

/*
 * Says for which call workers work that attach from now on; lead NULL: for none.  Level and entries are
 * nearly always 0, and on lines that nothing else needs.
 */
static void
publish(PfsThread *t, const PfsLead *lead)
{
	static const PfsLead none = {0};
	const PfsLead *now = lead != NULL ? lead : &none;

	pfs_write_begin(t);
	pfs_store_relaxed(&t->leads.db_user, now->key.db_user);
	pfs_store_relaxed(&t->leads.query_id, now->key.query_id);
	if (unlikely(now->level != published_level))
		pfs_store_relaxed(&t->workers.level, now->level);
	if (unlikely(now->nlate != published_late))
		pfs_store_relaxed(&t->workers.nlate, now->nlate);
	pfs_write_end(t);
	published = lead;
	published_level = now->level;
	published_late = now->nlate;
}

/* Takes what workers have given for calls of this level and those inside of them. */
static PfsExamined
take(PfsThread *t, uint32 level)
{
	PfsExamined taken = {0, 0};

	for (; level < PFS_LEAD_LEVELS; level++)
	{
		PfsGiven   *given = &t->workers.given[level];

		if (likely(pfs_load_relaxed(&given->rows) == 0 && pfs_load_relaxed(&given->full_scans) == 0))
			continue;
		taken.rows += pfs_exchange(&given->rows, 0);
		taken.full_scans += pfs_exchange(&given->full_scans, 0);
	}
	return taken;
}

/* Takes it for the statements that are open. */
static void
take_for_statements(PfsThread *t, uint32 level)
{
	PfsExamined taken = take(t, level);

	pfs_rel_local.rows_examined += taken.rows;
	pfs_rel_local.full_scans += taken.full_scans;
}

/* Begins a call: puts it in front of the list, and publishes it for the workers that it is going to start. */
void
pfs_lead_begin(PfsThread *t, PfsLead *lead, PfsDigestKey key, bool nests, const PfsLateWorkers *late, uint32 nlate)
{
	lead->outer = nests ? pfs_leading : NULL;
	lead->key = key;
	lead->level = lead->outer != NULL ? Min(lead->outer->level + 1, PFS_LEAD_LEVELS - 1) : 0;
	lead->nlate = nlate;
	if (nests)
		pfs_leading = lead;
	if (lead->outer == NULL || lead->outer->level != lead->level)
		(void) take(t, lead->level);
	if (pfs_is_writing(t))
		return;
	/* Those of the call around it are there. */
	for (uint32 i = lead->outer != NULL ? lead->outer->nlate : 0; i < nlate; i++)
	{
		pfs_write_begin(t);
		t->workers.late[i] = late[i];
		pfs_write_end(t);
	}
	publish(t, lead);
}

void
pfs_lead_end(PfsThread *t, const PfsLead *lead)
{
	pfs_leading = lead->outer;
	take_for_statements(t, lead->level);
	if (!pfs_is_writing(t))
		publish(t, pfs_leading);
}

void
pfs_lead_cut_off(const void *handler)
{
	while (pfs_leading != NULL && (uintptr_t) pfs_leading < (uintptr_t) handler)
		pfs_leading = pfs_leading->outer;
}

void
pfs_lead_rolled_back(PfsThread *t)
{
	if (proc_exit_inprogress)
		pfs_leading = NULL;
	take_for_statements(t, pfs_leading != NULL ? pfs_leading->level + 1 : 0);
	if (published != pfs_leading && !pfs_is_writing(t))
		publish(t, pfs_leading);
}

/* ---- the worker ---- */

/* Reads for which call it works; false: the leader has changed it meanwhile. */
static bool
read_call(const PfsThread *leader, uint32 segment, PfsDigestKey *key, uint32 *level)
{
	uint64		seq = pfs_seqlock_read_begin(&leader->seq);
	uint32		nlate = Min(pfs_load_relaxed(&leader->workers.nlate), PFS_LATE_WORKERS);

	key->db_user = pfs_load_relaxed(&leader->leads.db_user);
	key->query_id = pfs_load_relaxed(&leader->leads.query_id);
	*level = pfs_load_relaxed(&leader->workers.level);
	for (uint32 i = 0; i < nlate; i++)
	{
		if (leader->workers.late[i].segment != segment)
			continue;
		*key = leader->workers.late[i].key;
		*level = leader->workers.late[i].level;
	}
	return pfs_seqlock_read_valid(&leader->seq, seq);
}

/*
 * If the leader stays in write sections for all READ_TRIES, what was read last is used, which may be a
 * mixture of two calls'.
 */
PfsDigestKey
pfs_work_for(PfsThread *leader, uint64 word, uint32 segment)
{
	PfsDigestKey key = {0, 0};
	uint32		level = 0;

	for (int i = 0; i < READ_TRIES; i++)
	{
		if (read_call(leader, segment, &key, &level))
			break;
		pfs_pause();
	}
	work.leader = leader;
	work.word = word;
	work.level = Min(level, PFS_LEAD_LEVELS - 1);
	return key;
}

const PfsThread *
pfs_work_leader(uint32 *level)
{
	*level = work.level;
	return work.leader != NULL && pfs_pages_word(pfs_threads, work.leader->index) == work.word ? work.leader : NULL;
}

/* Adds what this worker has read to the words of its level in the leader's record, once. */
void
pfs_work_hand_over(void)
{
	PfsThread  *leader = work.leader;
	uint64		rows = pfs_rel_local.rows_examined;
	uint64		full_scans = pfs_rel_local.full_scans;

	if (leader == NULL || (rows == 0 && full_scans == 0))
		return;
	pfs_rel_local.rows_examined = pfs_rel_local.full_scans = 0;
	if (pfs_pages_word(pfs_threads, leader->index) != work.word)
		return;
	pfs_add_relaxed(&leader->workers.given[work.level].rows, rows);
	pfs_add_relaxed(&leader->workers.given[work.level].full_scans, full_scans);
}
