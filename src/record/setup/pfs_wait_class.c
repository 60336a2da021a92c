/*
 * pfs_wait_class.c
 *	  The catalogue of wait instruments of the running server.
 *
 * Separate from the instrument array because it is the one place that knows
 * PostgreSQL's wait classes.  Instruments without a wait_event_info are those of the list
 * PFS_FIXED_INSTRUMENTS, and one for each kind of file and each of file_operation_words.
 */
#include "postgres.h"

#include "storage/lock.h"
#include "utils/memutils.h"

#include "pfs_compat.h"
#include "pfs_wait_class.h"

/* Above this number of events a class is taken to be endless. */
#define EVENTS_PER_CLASS_MAX 400

PfsInstrumentId pfs_wait_info_map[PFS_WAIT_INFO_CLASSES][PFS_WAIT_INFO_EVENTS];
PFS_FIXED PfsInstrumentId pfs_fixed_instrument[PFS_NUM_FIXED_INSTRUMENTS];
PFS_FIXED PfsInstrumentId pfs_file_instrument[PFS_NUM_FILE_KINDS][PFS_OP_DIR + 1];

typedef struct PfsWaitClass
{
	uint32		word;
	const char *type;			/* pg_stat_activity.wait_event_type */
	const char *prefix;
	uint8		properties;
	const char *documentation;
} PfsWaitClass;

static const PfsWaitClass wait_classes[] = {
	{PG_WAIT_LWLOCK, "LWLock", "wait/synch/lwlock/", 0,
	"Lightweight locks of this tranche: sleeps in a queue, or acquisitions, as pfs.lwlock_events says."},
	{PG_WAIT_LOCK, "Lock", "wait/lock/", 0,
	"Wait for a heavyweight lock of this type."},
	{PFS_WAIT_BUFFER, PFS_WAIT_BUFFER_TYPE, PFS_WAIT_BUFFER_PREFIX, 0,
		PFS_HAVE_BUFFER_LOCKS ? "Wait for a buffer: for its content lock, or until no other process has it pinned (BufferCleanup)."
	: "Wait until no other process has the buffer pinned."},
	{PG_WAIT_ACTIVITY, "Activity", "wait/activity/", PFS_PROPERTY_IDLE,
	"Main loop of a background process, waiting for work."},
	{PG_WAIT_CLIENT, "Client", "wait/io/socket/", 0,
	"Calls on and waits for the socket of a client or peer."},
	{PG_WAIT_EXTENSION, "Extension", "wait/extension/", 0,
	"Wait announced by an extension."},
	{PG_WAIT_IPC, "IPC", "wait/synch/ipc/", 0,
	"Wait for another process."},
	{PG_WAIT_TIMEOUT, "Timeout", "wait/timeout/", 0,
	"Wait for a time to pass."},
	{PG_WAIT_IO, "IO", "wait/io/file/", 0,
	"File calls under this wait event."},
	{PG_WAIT_INJECTIONPOINT, "InjectionPoint", "wait/extension/", 0,
	"Wait at an injection point."},
};

/* Timeouts that wait for work or for a user's time, not for a resource. */
static const char *const idle_timeouts[] = {
	"CheckpointWriteDelay", "PgSleep", "RecoveryApplyDelay", "RecoveryRetrieveRetryInterval",
};

/* Operations of files that have instruments by kind of file. */
static const char *const file_operation_words[PFS_OP_DIR + 1] = {
	[PFS_OP_OPEN] = "Open",
	[PFS_OP_CREATE] = "Open",
	[PFS_OP_CLOSE] = "Close",
	[PFS_OP_READ] = "Read",
	[PFS_OP_WRITE] = "Write",
	[PFS_OP_SYNC] = "Sync",
	[PFS_OP_FLUSH] = "Flush",
	[PFS_OP_STAT] = "Stat",
	[PFS_OP_CHSIZE] = "Truncate",
	[PFS_OP_DELETE] = "Unlink",
	[PFS_OP_RENAME] = "Rename",
	[PFS_OP_LINK] = "Link",
	[PFS_OP_PREFETCH] = "Prefetch",
	[PFS_OP_ALLOCATE] = "Allocate",
	[PFS_OP_COPY] = "Copy",
	[PFS_OP_DIR] = "Directory",
};

static const char *const file_kind_words[PFS_NUM_FILE_KINDS] = {
	[PFS_FILE_DATA] = "DataFile",
	[PFS_FILE_TEMP] = "TempFile",
	[PFS_FILE_WAL] = "WAL",
	[PFS_FILE_SLRU] = "SLRU",
	[PFS_FILE_TEMP_DATA] = "DataFile",
	[PFS_FILE_OTHER] = "File",
};

/*
 * Events that are not what their class says; their wait_event_info is 0 in versions that
 * do not have them.
 */
static const struct
{
	uint32		word;
	const char *name;
	const char *documentation;
}			moved_events[] =

{
	{PFS_WAIT_SPIN_DELAY, "wait/synch/spinlock/SpinDelay",
	"Sleep between two attempts to get a spinlock."},
	{PFS_WAIT_AIO_COMPLETION, "wait/synch/ipc/AioIoCompletion",
	"Wait for file calls that another process makes; those are its events."},
};

static bool
is_idle_timeout(const char *event)
{
	for (int i = 0; i < lengthof(idle_timeouts); i++)
	{
		if (strcmp(event, idle_timeouts[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Registers the wait event of a class under its name, or finds it.  unnamed: event is its
 * number only.  Allocates nothing, as instrument points call it, too.
 */
static PfsInstrumentId
register_wait_info(const PfsWaitClass *class, uint32 word, const char *event, bool unnamed)
{
	PfsInstrument proto = {0};

	snprintf(proto.name, sizeof(proto.name), "%s%s", class->prefix, event);
	proto.documentation = class->documentation;
	for (int i = 0; i < lengthof(moved_events); i++)
	{
		if (moved_events[i].word == word && word != 0)
		{
			strlcpy(proto.name, moved_events[i].name, sizeof(proto.name));
			proto.documentation = moved_events[i].documentation;
		}
	}
	strlcpy(proto.wait_event, event, sizeof(proto.wait_event));
	proto.wait_event_type = class->type;
	proto.wait_info = word;
	proto.class = PFS_CLASS_WAIT;
	proto.properties = class->properties;
	if (class->word == PG_WAIT_TIMEOUT && is_idle_timeout(event))
		proto.properties |= PFS_PROPERTY_IDLE;
	proto.unnamed = unnamed;
	return pfs_instrument_register(&proto);
}

/*
 * Returns the name of a class's event, for the start; "" if this version has none with
 * that number, NULL when the class has no more of them.
 */
static const char *
builtin_event_name(uint32 class, int event)
{
	const char *name;

	/* Its functions would give the name for any number. */
	if (class == PFS_WAIT_BUFFER && !PFS_HAVE_BUFFER_LOCKS)
		return event == 0 ? "BufferPin" : NULL;
	switch (class)
	{
		case PG_WAIT_EXTENSION:
			return event == 0 ? "Extension" : NULL;
		case PG_WAIT_INJECTIONPOINT:
			return NULL;		/* all of them are named at run time */
		case PG_WAIT_LOCK:
			return event < PFS_NUM_LOCK_TYPES ? LockTagTypeNames[event] : NULL;
		case PG_WAIT_LWLOCK:
			if (event >= LWTRANCHE_FIRST_USER_DEFINED)
				return NULL;
			name = GetLWLockIdentifier(class, event);
			/* numbers that this version does not use */
			return name == NULL || name[0] == '<' ? "" : name;
		default:
			name = pgstat_get_wait_event(class | event);
			return strcmp(name, "unknown wait event") == 0 ? NULL : name;
	}
}

/*
 * Registers the built-in wait events of a class, number by number.  Those that get their
 * names at run time are left to pfs_wait_class_learn().
 */
static void
register_class(const PfsWaitClass *class)
{
	PfsInstrumentId *map = pfs_wait_info_map[PFS_WAIT_INFO_CLASS(class->word)];

	for (int event = 0; event < EVENTS_PER_CLASS_MAX; event++)
	{
		const char *name = builtin_event_name(class->word, event);

		if (name == NULL)
			break;
		if (name[0] != '\0')
			map[event] = register_wait_info(class, class->word | event, name, false);
	}
}

/*
 * Does the server have a wait event of this name, of any class?  Without regard to letter case, as
 * patterns have none: what is WALSync up to 16 is WalSync from 17 on.
 */
static bool
is_server_event(const char *event)
{
	pfs_each_instrument(ins)
	{
		if (ins->wait_info != 0 && pg_strcasecmp(ins->wait_event, event) == 0)
			return true;
	}
	return false;
}

/*
 * Registers an instrument for each kind of file and operation, with names like
 * DataFileOpen.  Where that is a wait event of the server it is WALOtherSync: so WALSync has
 * the calls that the server announces and no others, and patterns of a kind or of an
 * operation match both.
 */
static void
register_file_words(void)
{
	char		word[NAMEDATALEN];

	memset(pfs_file_instrument, 0xFF, sizeof(pfs_file_instrument));
	for (int kind = PFS_FILE_DATA; kind <= PFS_FILE_OTHER; kind++)
	{
		for (int op = 0; op < lengthof(file_operation_words); op++)
		{
			if (file_operation_words[op] == NULL)
				continue;
			snprintf(word, sizeof(word), "%s%s", file_kind_words[kind], file_operation_words[op]);
			if (is_server_event(word))
				snprintf(word, sizeof(word), "%sOther%s", file_kind_words[kind], file_operation_words[op]);
			pfs_file_instrument[kind][op] =
				pfs_instrument_make(PFS_CLASS_WAIT, "File calls that PostgreSQL announces no wait event for.",
									"wait/io/file/%s", word);
		}
	}
}

#define REGISTER_FIXED_INSTRUMENT(slot, its_name, its_class, type, event, its_properties, text) \
	pfs_fixed_instrument[slot] = \
		pfs_instrument_register(&(PfsInstrument) {.name = its_name, .class = its_class, .wait_event_type = type, \
								.wait_event = event, .properties = its_properties, .documentation = text});

/*
 * Registers the instruments of waits: those that a wait_event_info leads to before the
 * others, as instrument points use two of them by name.
 */
void
pfs_wait_class_start(void)
{
	memset(pfs_wait_info_map, 0xFF, sizeof(pfs_wait_info_map));
	for (int i = 0; i < lengthof(wait_classes); i++)
		register_class(&wait_classes[i]);
	PFS_FIXED_INSTRUMENTS(REGISTER_FIXED_INSTRUMENT);
	pfs_fixed_instrument[PFS_INS_CLIENT_READ] = pfs_wait_info_instrument(WAIT_EVENT_CLIENT_READ);
	pfs_fixed_instrument[PFS_INS_CLIENT_WRITE] = pfs_wait_info_instrument(WAIT_EVENT_CLIENT_WRITE);
	register_file_words();
}

static const PfsWaitClass *
class_of_wait_info(uint32 word)
{
	for (int i = 0; i < lengthof(wait_classes); i++)
	{
		if (PFS_WAIT_INFO_CLASS(wait_classes[i].word) == PFS_WAIT_INFO_CLASS(word))
			return &wait_classes[i];
	}
	return NULL;
}

/*
 * Returns the kind of wait of an instrument, NULL if it has none: that of the wait events whose prefix
 * its name has, or a word of ours.  What users see by kinds of wait has them from here.
 */
const char *
pfs_wait_class_name(const PfsInstrument *ins)
{
	if (pfs_instrument_id(ins) == pfs_fixed_instrument[PFS_INS_SPIN_DELAY])
		return "Spin";
	if (pfs_instrument_id(ins) == pfs_fixed_instrument[PFS_INS_IDLE_TRANSACTION])
		return "Idle in transaction";
	for (int i = 0; i < lengthof(wait_classes); i++)
	{
		if (strncmp(ins->name, wait_classes[i].prefix, strlen(wait_classes[i].prefix)) == 0)
			return wait_classes[i].type;
	}
	return NULL;
}

/*
 * Returns the wait event of an instrument, as pg_stat_activity names it.  Of one that got
 * its name late it is what follows the prefix.
 */
const char *
pfs_instrument_wait_event(const PfsInstrument *ins)
{
	if (pfs_load_acquire(&ins->named) != 1)
		return ins->wait_event;
	return ins->late_name + strlen(class_of_wait_info(ins->wait_info)->prefix);
}

/*
 * The tranche's name if this process knows it.  Where names are not local, this is not
 * for instrument points, and the number is one that some lock has.
 */
static const char *
tranche_name(uint32 word)
{
	const char *name = GetLWLockIdentifier(PG_WAIT_LWLOCK, PFS_WAIT_INFO_EVENT(word));

	return name == NULL || strcmp(name, "extension") == 0 ? NULL : name;
}

/* Finds the instrument of a wait_event_info among those registered after the start. */
static PfsInstrumentId
find_wait_info(uint32 word)
{
	pfs_each_instrument_from(ins, pfs_instruments->fixed)
	{
		if (ins->wait_info == word)
			return pfs_instrument_id(ins);
	}
	return PFS_NO_INSTRUMENT;
}

/* Names the instrument of a tranche or custom wait event that was registered by number. */
static void
name_late(PfsInstrument *ins, const char *name)
{
	pfs_instrument_set_name(ins, class_of_wait_info(ins->wait_info)->prefix, name);
}

/*
 * Registers the tranche of an extension or a custom wait event, or finds it, when this
 * process sees it for the first time.  Can run in a critical section, so a tranche is
 * named only where GetLWLockIdentifier() reads arrays; pgstat_get_wait_event() would
 * take a lock and can raise an error.  What is not named is registered by number until a
 * reader names it.
 */
PfsInstrumentId
pfs_wait_class_learn(uint32 word)
{
	const PfsWaitClass *class = class_of_wait_info(word);
	PfsInstrumentId id;
	const char *name = NULL;
	char		number[32];

	if (class == NULL)
		return PFS_NO_INSTRUMENT;
	if (PFS_TRANCHE_NAMES_ARE_LOCAL && class->word == PG_WAIT_LWLOCK &&
		PFS_WAIT_INFO_EVENT(word) >= LWTRANCHE_FIRST_USER_DEFINED)
		name = tranche_name(word);

	id = find_wait_info(word);
	if (id == PFS_NO_INSTRUMENT)
	{
		snprintf(number, sizeof(number), "%s:%u",
				 class->word == PG_WAIT_LWLOCK ? "extension" : class->type, PFS_WAIT_INFO_EVENT(word));
		id = register_wait_info(class, word, name ? name : number, name == NULL);
	}
	else if (name != NULL && pfs_instrument_items[id].unnamed)
		name_late(&pfs_instrument_items[id], name);

	if (PFS_WAIT_INFO_EVENT(word) < PFS_WAIT_INFO_EVENTS)
		pfs_wait_info_map[PFS_WAIT_INFO_CLASS(word)][PFS_WAIT_INFO_EVENT(word)] = id;
	return id;
}

PfsInstrumentId
pfs_wait_class_restore(const char *name)
{
	const PfsWaitClass *class = class_of_wait_info(PG_WAIT_LWLOCK);
	PfsInstrumentId id = pfs_instrument_by_name(name);
	size_t		len = strlen(class->prefix);

	if (id != PFS_NO_INSTRUMENT || !PFS_TRANCHE_NAMES_ARE_LOCAL || strncmp(name, class->prefix, len) != 0)
		return id;
	return register_wait_info(class, 0, name + len, false);
}

/*
 * Names custom wait events (17+).  The server gives a list of their names, and then the
 * wait_event_info of each.
 */
static void
name_custom_events(void)
{
	int			n;
	char	  **names = pfs_compat_custom_wait_names(&n);

	for (int i = 0; i < n; i++)
	{
		PfsInstrumentId id = find_wait_info(pfs_compat_custom_wait_event_info(names[i]));

		if (id != PFS_NO_INSTRUMENT && pfs_instrument_items[id].unnamed)
			name_late(&pfs_instrument_items[id], names[i]);
	}
}

/*
 * Names the instruments that were registered by number, as far as this process can: the
 * tranches that it knows, and all custom wait events, for which it allocates and takes a
 * lock of the server.  So it is for readers alone.
 */
void
pfs_instrument_name_late(void)
{
	if (pfs_instruments == NULL || pfs_load_relaxed(&pfs_instruments->unnamed) == 0)
		return;
	pfs_each_instrument_from(ins, pfs_instruments->fixed)
	{
		if (ins->unnamed && !ins->named &&
			PFS_WAIT_INFO_CLASS(ins->wait_info) == PFS_WAIT_INFO_CLASS(PG_WAIT_LWLOCK))
		{
			const char *name = tranche_name(ins->wait_info);

			if (name != NULL)
				name_late(ins, name);
		}
	}
	name_custom_events();
}
