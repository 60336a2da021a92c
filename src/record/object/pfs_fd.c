/*
 * pfs_fd.c
 *	  The process's table of descriptors.
 *
 * Private memory from mmap(), one entry per possible descriptor; only entries
 * in use become resident.  Filled at open(), or by one readlink() for a
 * descriptor that was opened before this process attached.
 *
 * Separate from pfs_file.c, which knows files by path and is shared.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pfs_fd.h"
#include "pfs_file_sum.h"
#include "pfs_wait_lookup.h"

/* Descriptors above this are looked up anew at each call. */
#define FDS_MAX 65536

PFS_HOT PfsFd *pfs_fds = NULL;
PFS_HOT int pfs_nfds = 0;

static const uint64 no_record = 0;
static int	highest_fd = -1;	/* of those that were counted */

/* By place of this process: the one descriptor whose last call says that it was counted there. */
static PfsFd *callers[PFS_PENDING_FILE_SETS * PFS_PENDING_WAYS];

/*
 * Maps the process's table of descriptors, when a process attaches: one entry for each
 * descriptor that it may open, up to FDS_MAX.  Without memory every call on a file
 * looks its descriptor up anew.
 */
static void
start(PfsThread *t)
{
	struct rlimit limit;
	rlim_t		n = 1024;
	void	   *memory;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		n = Min(limit.rlim_cur, FDS_MAX);
	memory = mmap(NULL, n * sizeof(PfsFd), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return;					/* every call looks its descriptor up */
	pfs_fds = memory;
	pfs_nfds = (int) n;
}

/*
 * Takes back this process's share in a file's open_count, if the entry has one and its
 * file is still the same.  The record is not named (pfs_object_enter()), so that in between it can
 * become another file's, whose count is then one too low, but never below 0.  Returns whether
 * nobody has the file open any more.
 */
static bool
uncount(PfsFd *entry)
{
	PfsFile    *file = pfs_pages_record(pfs_files, entry->index);
	uint32		n = 0;

	if (entry->is_open && pfs_pages_word(pfs_files, entry->index) == entry->word)
	{
		n = pfs_load_relaxed(&file->open_count);
		while (n > 0 && !pfs_cas(&file->open_count, &n, n - 1))
			;
	}
	entry->is_open = false;
	return n == 1;
}

static void
forget_all(PfsThread *t)
{
	for (int fd = 0; fd <= highest_fd; fd++)
		(void) uncount(&pfs_fds[fd]);
	highest_fd = -1;
	/* Nobody goes by what is known of a descriptor without a thread. */
	pfs_nfds = 0;
}

const PfsPart pfs_part_files = {
	.name = "files",
	.size = sizeof(*pfs_shared_files),
	.address = (void **) &pfs_shared_files,
	.lay_out = pfs_files_lay_out,
	.start = pfs_file_start,
	.begin = start,
	.detach = forget_all,
	.pages = &pfs_files,
};

/*
 * Fills an entry for a file that has been found.  count: raise its open_count, and note in the
 * entry that it was.
 */
static void
fill(PfsFd *entry, const PfsFileFound *file, bool count)
{
	*entry = (PfsFd)
	{
		.kind = file->kind, .state = &no_record, .index = file->kind
	};
	if (file->index == PFS_NO_RECORD)
		return;
	entry->word = file->word;
	entry->index = file->index;
	entry->state = (const uint64 *) &pfs_files->state[file->index];
	if (count)
		pfs_add_relaxed(&((PfsFile *) pfs_pages_record(pfs_files, file->index))->open_count, 1);
	entry->is_open = count;
}

/* Finds a file by its path, and makes its instance if need be. */
static void
identify(PfsFileFound *file, const char *path)
{
	char		buf[PFS_FILE_NAME_SIZE];
	const char *canonical = pfs_file_canonical(path, buf);

	file->index = pfs_file_open(canonical, &file->word);
	file->kind = pfs_file_kind(canonical);
}

/* *file is brought up to date if it has no instance, or has got another one since. */
void
pfs_fd_opened(int fd, const char *path, PfsFileFound *file)
{
	if (fd < 0 || fd >= pfs_nfds)
		return;
	(void) uncount(&pfs_fds[fd]);	/* closed behind our back */
	if (file->index == PFS_NO_RECORD || pfs_pages_word(pfs_files, file->index) != file->word)
		identify(file, path);
	fill(&pfs_fds[fd], file, true);
	highest_fd = Max(highest_fd, fd);
}

/* Forgets a descriptor, and removes its file's instance if nobody wants that any more. */
void
pfs_fd_closed(int fd)
{
	PfsFd	   *entry;

	if (fd < 0 || fd >= pfs_nfds)
		return;
	entry = &pfs_fds[fd];
	if (uncount(entry))
		pfs_file_unused(entry->index, entry->word);
	memset(entry, 0, sizeof(PfsFd));
}

static PfsFd **
caller_of(const PfsPending *place)
{
	return &callers[(const PfsPendingCalls *) place - (const PfsPendingCalls *) pfs_my_pending[PFS_COUNTED_FILES]];
}

void
pfs_fd_leave_place(PfsThread *t, PfsPending *place, bool stays)
{
	PfsFd	  **caller = caller_of(place);

	if (*caller != NULL)
		(*caller)->generation = 0;
	*caller = NULL;
}

void
pfs_fd_called(PfsFd *file, uint64 generation, int part, PfsFdCall call)
{
	static const PfsWaitLookup never = {.wait_info = PG_UINT32_MAX};
	PfsFd	  **caller = caller_of(&call.place->place);

	if (*caller != NULL && *caller != file)
		(*caller)->generation = 0;
	*caller = file;
	if (file->generation != generation)
		file->last[0].lookup = file->last[1].lookup = &never;
	file->last[part] = call;
	file->generation = generation;
}

/*
 * Asks the system what a descriptor is, by one readlink(), and fills its entry.  Only a
 * file that the server opens by a path of its own gets an instance: what is deleted, in
 * shared memory or in a tablespace that is seen without pg_tblspc gets a kind at most.
 */
static void
look(int fd, PfsFd *entry, bool count)
{
	static const char deleted[] = " (deleted)";
	char		link[64];
	char		path[PFS_FILE_NAME_SIZE + 64];
	ssize_t		length;
	PfsFileFound file;

	memset(entry, 0, sizeof(*entry));
	entry->kind = PFS_FILE_NOT_A_FILE;
	entry->state = &no_record;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return;					/* "socket:[1]", "anon_inode:...", or unknown */
	path[length] = '\0';
	if (length > (ssize_t) sizeof(deleted) &&
		strcmp(path + length - (sizeof(deleted) - 1), deleted) == 0)
	{
		/* It was unlinked: the kind is still known, an instance is not. */
		char		buf[PFS_FILE_NAME_SIZE];

		path[length - (sizeof(deleted) - 1)] = '\0';
		entry->kind = pfs_file_kind(pfs_file_canonical(path, buf));
		entry->index = entry->kind;
		return;
	}
	if (strncmp(path, "/dev/shm/", 9) == 0)
	{
		/* Shared memory segments go by shm_unlink(); an instance would stay. */
		entry->kind = PFS_FILE_OTHER;
		entry->index = entry->kind;
		return;
	}
	if (strncmp(path, "/dev/", 5) == 0)
		return;					/* terminals, /dev/null */
	if (pfs_file_is_tablespace_path(path))
	{
		/* The server knows it by a path through pg_tblspc, we do not. */
		entry->kind = pfs_file_kind(path) == PFS_FILE_TEMP ? PFS_FILE_TEMP : PFS_FILE_DATA;
		entry->index = entry->kind;
		return;
	}
	identify(&file, path);
	fill(entry, &file, count);
}

/*
 * Finds out what a descriptor is, for pfs_fd_get(), where its entry is empty or its
 * file has been removed or renamed; also at each call on a descriptor that the table is
 * too small for, whose result is valid until the next call.  A signal handler that has
 * interrupted a write section gets no answer.  errno is kept.  It is a
 * write section of its own: the caller is outside of one, and attached.
 */
const PfsFd *
pfs_fd_look(int fd)
{
	static PfsFd beyond;		/* for descriptors outside the table */
	static const PfsFd unknown = {.kind = PFS_FILE_NOT_A_FILE};
	bool		inside = (uint32) fd < (uint32) pfs_nfds;
	PfsFd	   *entry = inside ? &pfs_fds[fd] : &beyond;
	int			save_errno = errno;

	if (pfs_is_writing(pfs_my_thread))
		return &unknown;
	pfs_write_begin(pfs_my_thread);
	look(fd, entry, inside);
	if (entry->is_open)
		highest_fd = Max(highest_fd, fd);
	pfs_write_end(pfs_my_thread);
	errno = save_errno;
	return entry;
}
