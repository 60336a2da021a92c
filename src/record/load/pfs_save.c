/*
 * pfs_save.c
 *	  The file that survives a restart: when it is written and read.
 *
 * Written.  By the recorder every pfs.save_interval, and by the postmaster when it ends
 * behind a clean stop, when nobody else is left.  Always to a new file, which then takes the
 * place of the old one: there is never half of one.  What cannot be written, as on a full
 * disk, costs the save and one LOG line.
 *
 * Read.  By the postmaster, when it makes the shared memory, so after a crash, too: then the
 * file is as old as the last save.  It has another name while it is read, so one that kills
 * its reader is not read again.  What is not for this server is put aside.  Of what is damaged
 * in part the rest is used, and a copy is put aside.
 *
 * In pg_stat_tmp, which base backups leave out: a standby has its own.  Nothing in the server
 * cleans that folder.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "common/file_perm.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pfs_guc.h"
#include "pfs_recorder.h"
#include "pfs_save.h"
#include "pfs_setup.h"

/* The files, in the data directory, which is the current folder. */
#define NEW_FILE		PFS_SAVE_FILE ".new"	/* being written */
#define READ_FILE		PFS_SAVE_FILE ".reading"
#define BAD_FILE		PFS_SAVE_FILE ".bad"	/* put aside */
#define FOLDER			"pg_stat_tmp"

/*
 * A save that failed is tried again after so many milliseconds, or the interval, if that is
 * shorter.
 */
#define RETRY_INTERVAL	60000

/*
 * One that is asked for comes so many milliseconds after the last one: a reset truncates one
 * table after the other.
 */
#define ASKED_INTERVAL	1000

#define SECTION_POINTER(section) &section,

static const PfsSaveSection *const sections[] = {
	PFS_SAVE_SECTIONS(SECTION_POINTER)
};

/* ---- writing ---- */

/*
 * When this process saved last, or was called first; and whether that failed, which has been
 * logged then.
 */
static TimestampTz asked_at = 0;
static bool last_failed = false;

/* Puts all sections.  Errors of theirs, as of memory, are raised. */
static void
put_sections(PfsSaveWriter *w)
{
	for (int i = 0; i < lengthof(sections) && w->error == 0; i++)
	{
		const PfsSaveSection *section = sections[i];

		pfs_save_begin_records(w, section->format);
		section->write(w);
		pfs_save_end_section(w);
	}
}

/*
 * As pg_fsync() does on Linux, but unseen by the instruments: the new file would be among
 * the file instances under a name that is gone a moment later.
 */
static int
sync_file(int fd)
{
	return enableFsync ? fsync(fd) : 0;
}

/* Makes a rename last. */
static int
sync_folder(void)
{
	int			fd = open(FOLDER, O_RDONLY | O_CLOEXEC);
	int			error = 0;

	if (fd < 0)
		return errno;
	if (sync_file(fd) != 0 && errno != EBADF && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

/* Writes a whole new file and lets it take the place of the old one; errno, 0: done. */
static int
write_file(PfsSaveWriter *w, int fd, PfsSaveHead *head)
{
	pfs_save_begin(w, fd, pfs_clock->frequency[pfs_timer_default()]);
	put_sections(w);
	if (!pfs_save_end(w, head))
		return w->error;
	if (sync_file(fd) != 0 || rename(NEW_FILE, PFS_SAVE_FILE) != 0)
		return errno;
	return sync_folder();
}

static void
log_failure(const char *why)
{
	if (last_failed)
		return;
	last_failed = true;
	ereport(LOG,
			(errmsg("pfs: could not write file \"%s\": %s", NEW_FILE, why),
			 errdetail("What was counted is not kept for the next start; an older file stays.")));
}

/*
 * Saves now.  Nothing goes on to the caller but that it could not: the server works on
 * without.
 */
bool
pfs_save_now(void)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "pfs save", ALLOCSET_DEFAULT_SIZES);
	PfsSaveHead head = {
		.major = PG_MAJORVERSION_NUM,
		.system_identifier = GetSystemIdentifier(),
		.saved_at = GetCurrentTimestamp(),
	};
	volatile int fd;
	volatile bool done = false;

	(void) unlink(NEW_FILE);
	fd = open(NEW_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		log_failure(strerror(errno));
	else
	{
		MemoryContextSwitchTo(context);
		PG_TRY();
		{
			int			error = write_file(palloc(sizeof(PfsSaveWriter)), fd, &head);

			if (error != 0)
				log_failure(strerror(error));
			done = error == 0;
		}
		PG_CATCH();
		{
			ErrorData  *edata;

			MemoryContextSwitchTo(context);
			edata = CopyErrorData();
			FlushErrorState();
			log_failure(edata->message);
		}
		PG_END_TRY();
		close(fd);
		if (!done)
			(void) unlink(NEW_FILE);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (done)
	{
		last_failed = false;
		pfs_store_relaxed(&pfs_setup->saved_at, head.saved_at);
	}
	return done;
}

/* Milliseconds from the last save to the next one. */
static int64
wait_after_save(void)
{
	int64		interval = (int64) pfs_save_interval * 1000;

	return last_failed ? Min(interval, RETRY_INTERVAL) : interval;
}

/*
 * Saves for whoever has asked for it.  What was truncated is in no file then: not in one that was put
 * aside, either.  Who asks from here on asks for another save.
 */
static void
save(void)
{
	bool		asked = pfs_exchange(&pfs_shared_recorder->save_asked, 0) != 0;
	bool		done = pfs_save_now();

	if (asked && done)
		(void) unlink(BAD_FILE);
	else if (asked)
		pfs_store_release(&pfs_shared_recorder->save_asked, 1);
}

/*
 * Saves if it is asked for, or the interval has passed since the last time that this was due;
 * where that did not work, a minute at most.  The setting is looked at each time, as a reload may
 * change it.
 */
long
pfs_save_tick(void)
{
	TimestampTz now;
	int64		left;
	int64		passed;

	if (!pfs_save_on || pfs_save_interval == 0)
		return -1;
	now = GetCurrentTimestamp();

	/*
	 * The first save is an interval after the start; so is one behind a clock
	 * that was set back.
	 */
	if (asked_at == 0 || now < asked_at)
		asked_at = now;
	passed = (now - asked_at) / 1000;
	left = wait_after_save() - passed;
	if (pfs_load_relaxed(&pfs_shared_recorder->save_asked) != 0 && !last_failed)
		left = Min(left, ASKED_INTERVAL - passed);
	if (left > 0)
		return (long) left;
	asked_at = now;
	save();
	return (long) wait_after_save();
}

/*
 * Has the server been stopped as it should be?  An immediate stop ends the postmaster with
 * status 0, too, and leaves behind whatever the processes that it killed were in the middle
 * of.
 */
static bool
is_stopped_cleanly(void)
{
	bool		crc_ok = false;
	ControlFileData *control = get_controlfile(DataDir, &crc_ok);
	bool		clean = crc_ok && (control->state == DB_SHUTDOWNED || control->state == DB_SHUTDOWNED_IN_RECOVERY);

	pfree(control);
	return clean;
}

/* The postmaster ends, or makes shared memory anew behind a crash; or a server of one user ends. */
static void
stop_cb(int code, Datum arg)
{
	if (code != 0 || IsUnderPostmaster || !pfs_save_on)
		return;
	/* An error is FATAL in an exit, and the callbacks that are left follow. */
	if (is_stopped_cleanly())
		save();
}

/* ---- reading ---- */

/* Why a file cannot be read at all; NULL: it can. */
static const char *
problem_of(const char *bytes, size_t n, PfsSaveHead *head)
{
	static const char *const problems[] = {
		[PFS_SAVE_GOOD] = NULL,
		[PFS_SAVE_DAMAGED] = "it is damaged",
		[PFS_SAVE_OTHER_FORMAT] = "another version of pfs wrote it",
		[PFS_SAVE_OTHER_SYSTEM] = "another server, or another major version of PostgreSQL, wrote it",
	};

	return problems[pfs_save_check_head(bytes, n, GetSystemIdentifier(), PG_MAJORVERSION_NUM,
										head)];
}

/*
 * How many bytes of a file to read: as many as its head says, if it has them, and without a head
 * that can be one no more than that.  Memory is asked for on no other word.
 */
static size_t
bytes_to_read(int fd, off_t size)
{
	PfsSaveHead head;
	ssize_t		n = pread(fd, &head, sizeof(head), 0);

	if (n != sizeof(head) || problem_of((const char *) &head, n, &head) != NULL)
		return Min(size, sizeof(head));
	/* One more tells that the file goes on. */
	return (uint64) size > head.length ? Max(head.length, sizeof(head)) + 1 : size;
}

/* Reads a whole file, or what can be its head, into palloc'd memory; NULL: errno says why not. */
static char *
read_file(const char *path, size_t *size)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char	   *bytes = NULL;
	size_t		n = 0;
	size_t		wanted = 0;
	int			save_errno;

	*size = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0)
	{
		wanted = bytes_to_read(fd, st.st_size);
		if ((bytes = palloc_extended(wanted + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM)) == NULL)
			errno = ENOMEM;
	}
	while (bytes != NULL && n < wanted)
	{
		ssize_t		got = read(fd, bytes + n, wanted - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			bytes = NULL;		/* left to its context */
		if (got <= 0)
			break;
		n += got;
	}
	save_errno = errno;
	close(fd);
	errno = save_errno;
	*size = n;
	return bytes;
}

static void
put_aside(const char *why)
{
	bool		kept = rename(READ_FILE, BAD_FILE) == 0;

	if (!kept)
		(void) unlink(READ_FILE);
	ereport(LOG,
			(errmsg("pfs: file \"%s\" is not read: %s", PFS_SAVE_FILE, why),
			 kept ? errdetail("It is now \"%s\".", BAD_FILE) : 0));
}

/* Puts a copy aside of what has been read in part: the next save would be without the rest. */
static void
put_copy_aside(void)
{
	(void) unlink(BAD_FILE);
	if (link(READ_FILE, BAD_FILE) == 0)
		ereport(LOG,
				(errmsg("pfs: what could be read of file \"%s\" is used", PFS_SAVE_FILE),
				 errdetail("The whole file is kept as \"%s\".", BAD_FILE)));
	else
		ereport(LOG,
				(errmsg("pfs: what could be read of file \"%s\" is used", PFS_SAVE_FILE),
				 errdetail("It could not be kept as \"%s\": %m", BAD_FILE)));
}

static void
log_section(const char *name, const char *why)
{
	if (name[0] == '\0')
		ereport(LOG,
				(errmsg("pfs: a section of file \"%s\" is not read: %s", PFS_SAVE_FILE, why)));
	else
		ereport(LOG,
				(errmsg("pfs: section \"%s\" of file \"%s\" is not read: %s",
						name, PFS_SAVE_FILE, why)));
}

/*
 * Finds the sections that are known here, in a file whose head is good, and checks them.  The first one of a
 * name counts; those that are not known are passed over.  False: something of the file cannot be read.
 */
static bool
find_sections(const char *bytes, size_t n, const PfsSaveHead *head, PfsSaveFound *known)
{
	PfsSaveReader file = {
		.at = bytes + sizeof(*head),
		.end = bytes + Max(Min(n, head->length), sizeof(*head)),
	};
	PfsSaveFound found;
	bool		all_good = n == head->length;

	if (!all_good)
		ereport(LOG,
				(errmsg("pfs: file \"%s\" has %s bytes than the " UINT64_FORMAT " that it should have",
						PFS_SAVE_FILE, n < head->length ? "fewer" : "more", head->length)));
	while (pfs_save_next_section(&file, &found))
	{
		char		problem[160] = "";
		int			i = 0;

		while (i < lengthof(sections) && strcmp(sections[i]->format->name, found.name) != 0)
			i++;
		if (found.problem != NULL)
			strlcpy(problem, found.problem, sizeof(problem));
		else if (i == lengthof(sections) || known[i].bytes.at != NULL)
			continue;
		else if (pfs_save_check_records(sections[i]->format, &found,
										problem, sizeof(problem)))
			known[i] = found;
		if (problem[0] == '\0')
			continue;
		log_section(found.name, problem);
		all_good = false;
	}
	return all_good;
}

/* Uses all of a file whose head is good that can be read, in the order of the list. */
static void
use_file(const char *bytes, size_t n, const PfsSaveHead *head)
{
	PfsSaveFound known[lengthof(sections)] = {0};

	if (!find_sections(bytes, n, head, known))
		put_copy_aside();
	for (int i = 0; i < lengthof(sections); i++)
	{
		PfsSaveRecords r;
		PfsSaveMap	map;

		if (known[i].bytes.at != NULL &&
			pfs_save_open_records(&r, &map, sections[i]->format, &known[i]))
		{
			r.frequency = pfs_clock->frequency[pfs_timer_default()];
			sections[i]->use(&r);
		}
	}
	pfs_setup->saved_at = head->saved_at;
}

/* Reads the file, if there is one, under its other name. */
static void
read_and_use(void)
{
	PfsSaveHead head;
	const char *problem;
	size_t		n;
	char	   *bytes;

	/* A start that has not come to its end did not give the name back. */
	if (access(READ_FILE, F_OK) == 0)
		put_aside("a start did not survive reading it");
	if (rename(PFS_SAVE_FILE, READ_FILE) != 0)
	{
		if (errno != ENOENT)
			ereport(LOG,
					(errmsg("pfs: could not rename file \"%s\" to \"%s\": %m", PFS_SAVE_FILE, READ_FILE)));
		return;
	}
	bytes = read_file(READ_FILE, &n);
	problem = bytes == NULL ? strerror(errno) : problem_of(bytes, n, &head);
	if (problem != NULL)
	{
		put_aside(problem);
		return;
	}
	use_file(bytes, n, &head);
	if (rename(READ_FILE, PFS_SAVE_FILE) != 0)
		ereport(LOG,
				(errmsg("pfs: could not rename file \"%s\" to \"%s\": %m", READ_FILE, PFS_SAVE_FILE)));
}

/*
 * Reads the file and sees to it that the next one is written.  Nothing that happens here
 * keeps the server from starting.
 */
void
pfs_save_start(void)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext context;

	if (!pfs_save_on)
		return;
	context = AllocSetContextCreate(TopMemoryContext, "pfs save", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		read_and_use();
	}
	PG_CATCH();
	{
		/* Of memory: the file is as good as before. */
		EmitErrorReport();
		FlushErrorState();
		(void) rename(READ_FILE, PFS_SAVE_FILE);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	on_shmem_exit(stop_cb, (Datum) 0);
}
