/*
 * pfs_event_read.c
 *	  Readers of running and finished events, and TRUNCATE of the histories: the
 *	  same for all families.
 *
 * pfs_event_write.h has the writer's protocol.  This side retries, allocates and sorts,
 * which no instrument point may do.
 */
#include "postgres.h"

#include "pfs_event_history.h"
#include "pfs_event_list.h"
#include "pfs_event_read.h"
#include "pfs_own_blocks.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

const PfsEventFamilyRead *pfs_event_family_reads = NULL;

/* The events of one thread's blocks that a reader of its history wants, the oldest first. */
typedef struct PfsOwnEvents
{
	uint64		thread_id;
	uint32		rows;			/* that are wanted */
	uint32		n;				/* that were found */
	void	   *events;			/* [rows]: the newest, the i-th that was found
								 * at i % rows */
} PfsOwnEvents;

typedef struct PfsEventReader
{
	PfsEventFamily family;
	PfsEventEmit emit;
	void	   *arg;
	PfsPatience *patience;		/* with owners in the middle of a write
								 * section */
	PfsEvent   *copy;			/* of an event in a block: the one that is
								 * made now */
	PfsOwnEvents *own;			/* of a thread's history; of the long one NULL */
} PfsEventReader;

Size
pfs_event_bytes(PfsEventFamily family, const PfsEvent *event)
{
	return pfs_event_family_reads[family].bytes != NULL ? pfs_event_family_reads[family].bytes(event)
		: pfs_event_families[family].size;
}

const PfsEventSource *
pfs_event_source(PfsEventFamily family)
{
	const PfsEventSource *source = pfs_event_family_reads[family].source;

	return source != NULL && *source->blocks != NULL ? source : NULL;
}

/*
 * Fills in what is not stored because only readers need it: that a running event has no
 * end, NULLs of columns that the kind of event does not have, and what the family adds.
 */
static void
complete_copy(PfsEventFamily family, PfsEvent *e, bool running)
{
	if (running)
	{
		e->timer_end = 0;
		e->end_event_id = 0;
	}
	if (e->nesting_type == PFS_NESTING_NONE)
		e->nesting_event_id = 0;
	if (pfs_event_family_reads[family].complete != NULL)
		pfs_event_family_reads[family].complete(e, running);
}

/* Completes a copy and hands it to the reader that asks for it. */
static void
take_cb(PfsEvent *e, bool running, void *arg)
{
	PfsEventReader *reader = arg;

	complete_copy(reader->family, e, running);
	reader->emit(e, reader->arg);
}

/*
 * Returns the slot of the running event at a level; NULL while the record changes hands.
 * What it says then is checked with the copy.
 */
static const void *
slot_of(const PfsThread *t, PfsEventFamily family, uint32 level)
{
	const PfsEvents *events = &t->events[family];
	const char *slots = pfs_load_relaxed(&events->slots);

	if (family == PFS_WAITS)
		return &t->waits[level];
	if (slots == NULL)
		return NULL;
	return slots + pfs_load_relaxed(&events->slot[level]) % PFS_EVENT_DEPTH_MAX * (size_t) pfs_sizes.event_size[family];
}

/* Makes a reader's copy of what an event has in a block, but for whose it is. */
static void
unpack(PfsEventFamily family, const void *stored, PfsEvent *copy)
{
	if (pfs_event_family_reads[family].unpack != NULL)
		pfs_event_family_reads[family].unpack(stored, copy);
	else
		memcpy(PFS_EVENT_STORED(copy), stored, ((const PfsEventRun *) stored)->size * sizeof(uint64));
}

/*
 * Copies the bytes of an event that runs where it stays.  Returns them, and how many they are; NULL: what was
 * read does not fit together, as the thread has changed it meanwhile.
 */
static void *
copy_in_place(PfsEventFamily family, const PfsEvents *events)
{
	const char *at = pfs_load_relaxed(&events->finished.next);
	uint32		left = pfs_blocks_left(pfs_histories[family], at);
	uint64		kind;
	uint32		bytes;
	void	   *copy;

	if (left < sizeof(kind))
		return NULL;
	kind = pfs_load_acquire((const uint64 *) at);	/* D: pfs_plain_rare() */
	bytes = (kind >> 48) * sizeof(uint64);
	if (bytes < pfs_event_families[family].item_min || bytes > left)
		return NULL;
	copy = palloc(bytes);
	pfs_racy_copy(copy, at, bytes);
	/* Its own word for its size is what is unpacked. */
	*(uint64 *) copy = kind;
	return copy;
}

/*
 * Makes a stable copy of the running event at a level.  Returns false if
 * there is none, or if the patience has run out: the thread stays in a write section,
 * or the event changes during each look.
 */
static bool
copy_running_event(const PfsThread *t, PfsEventFamily family, uint32 level, PfsEvent *copy, PfsPatience *patience)
{
	const PfsEvents *events = &t->events[family];

	pfs_patience_next(patience);
	do
	{
		uint64		before = pfs_seqlock_read_begin(&t->seq);
		uint32		depth = pfs_load_acquire(&events->depth);	/* C */
		bool		is_in_place = depth == (level | PFS_EVENT_IN_PLACE);
		const void *slot = slot_of(t, family, level);
		void	   *stored = NULL;
		PfsWait		wait;

		if (slot == NULL || (!is_in_place && (depth & ~PFS_EVENT_IN_PLACE) <= level))
			return false;
		if (is_in_place)
		{
			stored = copy_in_place(family, events);
			if (stored == NULL)
				continue;
		}
		else if (family == PFS_WAITS)
			pfs_racy_copy(&wait, slot, sizeof(wait));
		else
			pfs_racy_copy(copy, slot, pfs_sizes.event_size[family]);

		/*
		 * What lies in a block lacks an event's begin, which is not looked
		 * at.
		 */
		if (pfs_event_family_reads[family].look != NULL)
			pfs_event_family_reads[family].look(t, stored != NULL ? (PfsEvent *) ((char *) stored - PFS_EVENT_UNSTORED) : copy);
		if (pfs_seqlock_read_valid(&t->seq, before))
		{
			if (stored != NULL || family == PFS_WAITS)
				unpack(family, stored != NULL ? stored : &wait, copy);
			copy->thread_id = pfs_load_relaxed(&t->thread_id);
			copy->role = pfs_load_relaxed(&t->foreground) ? pfs_load_relaxed(&t->role) : InvalidOid;
			if (stored != NULL)
				pfree(stored);
			return true;
		}
		if (stored != NULL)
			pfree(stored);
	} while (pfs_patience_more(patience));
	return false;
}

static inline PfsEvent *
event_at(void *events, PfsEventFamily family, Size i)
{
	return (PfsEvent *) ((char *) events + i * pfs_sizes.event_size[family]);
}

/* Copies a thread's running events, outermost first; returns how many. */
static uint32
copy_running_events(const PfsThread *t, PfsEventFamily family, void *events, PfsPatience *patience)
{
	uint32		n = 0;

	while (n < pfs_event_families[family].depth &&
		   copy_running_event(t, family, n, event_at(events, family, n), patience))
		n++;
	return n;
}

/*
 * Copies and hands on the running events of one thread, outermost first; of a thread
 * that has ended since it was listed, nothing.  An event that began while its
 * consumer was off is left out.
 */
static void
emit_current_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	PfsEventFamily family = reader->family;
	const PfsEventFamilyRead *family_read = &pfs_event_family_reads[family];
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	void	   *events = palloc((Size) pfs_event_families[family].depth * pfs_sizes.event_size[family]);
	uint32		n = copy_running_events(t, family, events, reader->patience);

	/* Otherwise the record belongs to another thread by now. */
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		for (uint32 i = 0; i < n; i++)
		{
			PfsEvent   *e = event_at(events, family, i);

			if ((e->flags & PFS_FLAG_CURRENT) == 0)
				continue;
			if (family_read->running != NULL)
				family_read->running(copy, e, reader->patience);
			take_cb(e, true, reader);
		}
	}
	if (family_read->also_running != NULL)
		family_read->also_running(copy, word, reader->patience, take_cb, reader);
	pfree(events);
}

void
pfs_events_current(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsPatience patience = {0};
	PfsEventReader reader = {family, emit, arg, .patience = &patience};

	pfs_instrument_name_late();
	pfs_threads_each(thread_id, emit_current_cb, &reader);
	pfs_patience_end(&patience);
}

/* ---- blocks ---- */

/* The same of one that lies in the copy of a block, in a run. */
static void
unpack_of_run(PfsEventFamily family, const PfsEventRun *event, const PfsEventRun *run, PfsEvent *copy)
{
	unpack(family, event, copy);
	copy->thread_id = run->thread_id;
	copy->role = run->role;
}

/*
 * Takes the events in the copy of a block that a reader wants, oldest first: for the long
 * history they are handed on, those of a thread's own are kept.  Items are whole in a copy
 * that is known to be one thread's; of any other the walk ends where it makes no sense.
 *
 * An event's flags would tell without unpacking it, but lie elsewhere in each family.
 */
static void
take_block_cb(const char *block, uint32 bytes, uint32 hidden, void *arg)
{
	PfsEventReader *reader = arg;
	PfsOwnEvents *own = reader->own;
	PfsEvent   *copy = reader->copy;
	const PfsEventRun *run = NULL;

	for (uint32 at = 0, size; at < bytes; at += size)
	{
		const PfsEventRun *event = (const PfsEventRun *) (block + at);

		size = event->size * sizeof(uint64);
		if (event->instrument == PFS_NO_INSTRUMENT)
			run = event;
		if (unlikely(size == 0 || size > bytes - at || run == NULL))
			break;
		if (event == run || at < hidden || (own != NULL && run->thread_id != own->thread_id))
			continue;
		unpack_of_run(reader->family, event, run, copy);
		if (own == NULL && (copy->flags & PFS_FLAG_HISTORY_LONG))
			take_cb(copy, false, reader);
		else if (own != NULL && (copy->flags & PFS_FLAG_HISTORY))
			memcpy(event_at(own->events, reader->family, own->n++ % own->rows), copy, pfs_event_bytes(reader->family, copy));
	}
}

/* ---- a thread's history ---- */

/* The i-th newest of the events that were found. */
static inline PfsEvent *
own_event(const PfsEventReader *reader, uint32 i)
{
	return event_at(reader->own->events, reader->family, (reader->own->n - 1 - i) % reader->own->rows);
}

/* Hands on the newest events of a thread's own blocks, newest first. */
static void
emit_own_history(const PfsThread *copy, uint64 word, PfsEventReader *reader)
{
	PfsEventFamily family = reader->family;
	PfsOwnEvents own = {.thread_id = copy->thread_id, .rows = pfs_sizes.history[family]};
	const PfsEvents *events = &((const PfsThread *) pfs_pages_record(pfs_threads, copy->index))->events[family];

	if (own.rows == 0 || pfs_histories[family] == NULL)
		return;
	own.events = palloc((Size) own.rows * pfs_sizes.event_size[family]);
	reader->own = &own;
	reader->copy = palloc(pfs_sizes.event_size[family]);
	pfs_own_blocks_each(pfs_histories[family], &events->finished, &events->history_tail, copy->index, word,
						take_block_cb, reader);
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		for (uint32 i = 0; i < Min(own.n, own.rows); i++)
			take_cb(own_event(reader, i), false, reader);
	}
	pfree(reader->copy);
	pfree(own.events);
}

/*
 * Hands on what a living thread's current block has for the long history, and what the
 * family's other source has of it.
 */
static void
current_block_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	PfsEventFamily family = reader->family;
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	const PfsEventSource *source = pfs_event_source(family);

	pfs_own_blocks_current(pfs_histories[family], &t->events[family].finished, copy->index, word, take_block_cb, reader);
	if (source != NULL)
		source->current(copy, word, reader->emit, reader->arg);
}

/*
 * Hands on all events of the long history, some of them twice, in no order.
 *
 * The threads' current blocks are read before all blocks: one that is given away in
 * between is seen twice, never not at all.
 */
static void
long_each(PfsEventFamily family, PfsEventEmit emit, void *arg)
{
	const PfsEventSource *source = pfs_event_source(family);
	PfsPatience patience = {0};
	PfsEventReader reader = {family, emit, arg, .patience = &patience};

	if (pfs_histories[family] == NULL)
		return;
	reader.copy = palloc(pfs_sizes.event_size[family]);
	pfs_threads_each(0, current_block_cb, &reader);
	pfs_all_blocks_each(pfs_histories[family], take_block_cb, &reader);
	if (source != NULL)
		source->long_history(emit, arg);
	pfs_patience_end(&patience);
	pfree(reader.copy);
}

/* Hands the rows of a list that are of one thread (0: of all) to emit, and frees the list. */
static void
each_of_list(PfsEventList *list, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	pfs_event_list_cut(list);
	for (Size i = 0; i < list->n; i++)
	{
		if (thread_id != 0 && list->events[i]->thread_id != thread_id)
			continue;
		complete_copy(list->family, list->events[i], false);
		emit(list->events[i], arg);
	}
	pfs_event_list_end(list);
}

/*
 * Hands on the history of one thread: the newest of its blocks and of the family's other
 * source, if there is one.
 */
static void
emit_history_cb(const PfsThread *copy, uint64 word, void *arg)
{
	PfsEventReader *reader = arg;
	const PfsEventSource *source = pfs_event_source(reader->family);
	uint32		rows = pfs_sizes.history[reader->family];
	PfsEventList list;
	PfsEventReader into = {reader->family, pfs_event_list_add, &list, .patience = reader->patience};

	if (source == NULL || rows == 0)
	{
		emit_own_history(copy, word, reader);
		return;
	}
	pfs_event_list_start(&list, reader->family, rows);
	emit_own_history(copy, word, &into);
	source->history(copy, word, pfs_event_list_add, &list);
	each_of_list(&list, 0, reader->emit, reader->arg);
}

void
pfs_events_history(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsPatience patience = {0};
	PfsEventReader reader = {family, emit, arg, .patience = &patience};

	pfs_instrument_name_late();
	pfs_threads_each(thread_id, emit_history_cb, &reader);
	pfs_patience_end(&patience);
}

/*
 * Hands the newest events of all threads, ended ones too, to emit, for the table
 * events_..._history_long; of one thread those that are among them.
 */
void
pfs_events_history_long(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg)
{
	PfsEventList list;

	if (pfs_sizes.history_long[family] == 0)
		return;
	pfs_instrument_name_late();
	pfs_event_list_start(&list, family, pfs_sizes.history_long[family]);
	long_each(family, pfs_event_list_add, &list);
	/* The newest of the server are chosen before a thread's are. */
	each_of_list(&list, thread_id, emit, arg);
}

static void
count_cb(const PfsEvent *event, void *arg)
{
	(*(int64 *) arg)++;
}

/*
 * Counts the events that the long history shows, without sorting them: who wants to know
 * how full it is does not wait for what only their order costs.  A block that is given away
 * while this goes on counts twice.
 */
uint64
pfs_events_history_long_count(PfsEventFamily family)
{
	int64		n = 0;

	pfs_instrument_name_late();
	long_each(family, count_cb, &n);
	return Min(n, pfs_sizes.history_long[family]);
}

/* Which events of a thread a TRUNCATE hides. */
typedef struct PfsHidden
{
	PfsEventFamily family;
	bool		history_long;
} PfsHidden;

/* Hides what a thread has recorded so far for the history or the long one. */
static void
hide_cb(const PfsThread *copy, uint64 word, void *arg)
{
	const PfsHidden *hidden = arg;
	const PfsEventSource *source = pfs_event_source(hidden->family);
	PfsThread  *t = pfs_pages_record(pfs_threads, copy->index);
	PfsEvents  *events = &t->events[hidden->family];

	if (hidden->history_long)
		pfs_blocks_hide_owned(pfs_histories[hidden->family], &events->finished);
	else
		pfs_own_blocks_hide(&events->history_tail, pfs_load_acquire(&events->finished.position), copy->index, word);
	if (source != NULL)
		source->hide(copy->index, word, hidden->history_long);
}

int64
pfs_events_history_truncate(PfsEventFamily family)
{
	PfsHidden	hidden = {family, false};
	int64		n = 0;

	pfs_events_history(family, 0, count_cb, &n);
	pfs_threads_each(0, hide_cb, &hidden);
	return n;
}

/*
 * Hides all events that the long history shows now; returns how many those were.
 * Nothing is erased: each block has a word that says what is older.
 */
int64
pfs_events_history_long_truncate(PfsEventFamily family)
{
	const PfsEventSource *source = pfs_event_source(family);
	PfsHidden	hidden = {family, true};
	int64		n = 0;

	if (pfs_histories[family] == NULL || pfs_sizes.history_long[family] == 0)
		return 0;
	pfs_events_history_long(family, 0, count_cb, &n);

	/*
	 * The threads first: what they complete from now on is newer, and what
	 * they have given away before is hidden with all blocks.
	 */
	pfs_threads_each(0, hide_cb, &hidden);
	pfs_blocks_hide(pfs_histories[family]);
	if (source != NULL)
		pfs_blocks_hide(*source->blocks);
	return n;
}
