/*
 * pfs_file.c
 *	  File instances: names, kinds, making and removing.
 *
 * Separate from pfs_file_sum.c, which has what was counted for each file, and from
 * pfs_fd.c, which finds a file by descriptor.  Everything here runs at instrument points
 * around open(), unlink() and rename(): no lock, no allocation, no error.
 */
#include "postgres.h"

#include "common/relpath.h"
#include "miscadmin.h"

#include "pfs_file.h"
#include "pfs_file_sum.h"
#include "pfs_hash.h"
#include "pfs_shared.h"

PfsPages   *pfs_files = NULL;
PfsPages   *pfs_file_names = NULL;
PfsHash    *pfs_file_index = NULL;
PfsSharedFiles *pfs_shared_files = NULL;

/* Guesses at what one page should hold: some 64 kB of each kind of record. */
#define FILES_PER_PAGE 256
#define LONG_NAMES_PER_PAGE 32
/* One file in this many may have a name longer than PFS_FILE_INLINE_NAME. */
#define FILES_PER_LONG_NAME 16

/* Removals between two looks at what can be freed; how many are freed then. */
#define FREE_EVERY		16
#define FREE_AT_ONCE	64

/* In UTF-8. */
#define ELLIPSIS "\xE2\x80\xA6"

static uint32 file_hint;
static uint32 name_hint;

static const struct
{
	const char *prefix;
	PfsFileKind kind;
}			kinds[] =

{
	{"base/", PFS_FILE_DATA},
	{"global/", PFS_FILE_DATA},
	{"pg_tblspc/", PFS_FILE_DATA},
	{"pg_wal/", PFS_FILE_WAL},
	{"pg_xact/", PFS_FILE_SLRU},
	{"pg_multixact/", PFS_FILE_SLRU},
	{"pg_subtrans/", PFS_FILE_SLRU},
	{"pg_commit_ts/", PFS_FILE_SLRU},
	{"pg_serial/", PFS_FILE_SLRU},
	{"pg_notify/", PFS_FILE_SLRU},
};

/* Without symbolic links, each with a slash at its end; empty: unknown. */
static char real_data_dir[MAXPGPATH + 1];
static char real_wal_dir[MAXPGPATH + 1];

/*
 * Stores the path without symbolic links, with a slash at its end; leaves `real` as it
 * is if there is none.
 */
static void
resolve(const char *path, char *real, size_t size)
{
	char	   *resolved = realpath(path, NULL);

	if (resolved != NULL)
		snprintf(real, size, "%s/", resolved);
	free(resolved);
}

static bool file_has_name(const void *record, const void *key);

/* Takes the containers of files and of long names, and the index by name. */
void
pfs_files_lay_out(PfsSegment *seg)
{
	pfs_files = pfs_pages_create(seg, "file_instances", sizeof(PfsFile), pfs_sizes.files, FILES_PER_PAGE);
	pfs_file_names = pfs_pages_create(seg, "file_long_names", TYPEALIGN(8, PFS_FILE_NAME_SIZE),
									  pfs_sizes.files / FILES_PER_LONG_NAME, LONG_NAMES_PER_PAGE);
	pfs_file_index = pfs_hash_create(seg, pfs_files, pfs_sizes.files, file_has_name);
}

void
pfs_file_start(void)
{
	resolve(DataDir, real_data_dir, sizeof(real_data_dir));
	resolve("pg_wal", real_wal_dir, sizeof(real_wal_dir));
}

bool
pfs_file_is_tablespace_path(const char *path)
{
	return path[0] == '/' && strstr(path, "/" TABLESPACE_VERSION_DIRECTORY "/") != NULL;
}

static bool
starts_with(const char *path, const char *prefix)
{
	return prefix[0] != '\0' && strncmp(path, prefix, strlen(prefix)) == 0;
}

/* An absolute path below the data directory, seen from there. */
static const char *
relative(const char *path, char *buf)
{
	size_t		dir = strlen(DataDir);

	if (strncmp(path, DataDir, dir) == 0 && path[dir] == '/')
		return path + dir + 1;
	if (starts_with(path, real_data_dir))
		return path + strlen(real_data_dir);
	if (starts_with(path, real_wal_dir))
	{
		snprintf(buf, PFS_FILE_NAME_SIZE, "pg_wal/%s", path + strlen(real_wal_dir));
		return buf;
	}
	return path;
}

/*
 * Returns the name by which a file is known: below the data directory if it lies there,
 * else the whole path.  It is a part of `path`, or lies in `buf` (PFS_FILE_NAME_SIZE
 * bytes).  One that is too long is cut at the front, as its end says most, and begins
 * with an ellipsis.  No system call is made, so symbolic links other than the data
 * directory and pg_wal are not followed.
 */
const char *
pfs_file_canonical(const char *path, char *buf)
{
	size_t		length;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '/' && DataDir != NULL)
		path = relative(path, buf);
	length = strlen(path);
	if (length < PFS_FILE_NAME_SIZE)
		return path;

	/*
	 * Cut at the front, not inside a character: continuation bytes are
	 * 10xxxxxx.
	 */
	path += length - (PFS_FILE_NAME_SIZE - 1 - 3);
	while (((unsigned char) *path & 0xC0) == 0x80)
		path++;
	snprintf(buf, PFS_FILE_NAME_SIZE, ELLIPSIS "%s", path);
	return buf;
}

/*
 * What a file in the directories of relations is.  Those of relations are named by number;
 * those of temporary ones by t<number>_.
 */
static PfsFileKind
kind_there(const char *canonical)
{
	const char *slash = strrchr(canonical, '/');
	const char *base = slash ? slash + 1 : canonical;
	bool		temporary = base[0] == 't';

	if (temporary)
		base++;
	if (base[0] < '0' || base[0] > '9')
		return PFS_FILE_OTHER;
	return temporary ? PFS_FILE_TEMP_DATA : PFS_FILE_DATA;
}

/*
 * Returns a file's kind by where its canonical path lies.  In the directories of
 * relations, only what is named like a relation's file is data.
 */
PfsFileKind
pfs_file_kind(const char *canonical)
{
	if (strstr(canonical, "pgsql_tmp") != NULL)
		return PFS_FILE_TEMP;
	/* No prefix begins otherwise. */
	if (canonical[0] != 'p' && canonical[0] != 'b' && canonical[0] != 'g')
		return PFS_FILE_OTHER;
	for (int i = 0; i < lengthof(kinds); i++)
	{
		if (canonical[0] != kinds[i].prefix[0] || !starts_with(canonical, kinds[i].prefix))
			continue;
		/* pg_control, pg_filenode.map and PG_VERSION lie there, too. */
		return kinds[i].kind == PFS_FILE_DATA ? kind_there(canonical) : kinds[i].kind;
	}
	return PFS_FILE_OTHER;
}

/*
 * Returns the name of a file, from its record or from the container of long names.  In
 * a record that is being recycled the index of the long name can be anything: it is
 * checked.
 */
static const char *
name_of(const PfsFile *file)
{
	uint32		index = pfs_load_relaxed(&file->long_name);

	if (index == PFS_NO_RECORD || index >= pfs_file_names->records_max)
		return file->name;
	return pfs_pages_record(pfs_file_names, index);
}

/*
 * What a record has of a name that has no record of its own: all of it, or its end, which says
 * most.
 */
static const char *
kept_of(const char *name, size_t length)
{
	return name + length - Min(length, PFS_FILE_INLINE_NAME - 1);
}

/*
 * The record can be recycled while it is compared, so nothing is believed:
 * lengths are bounded here, and the index checks the record's state word after.
 */
static bool
file_has_name(const void *record, const void *key)
{
	const PfsFile *file = record;
	size_t		length = strlen(key);

	if (pfs_load_relaxed(&file->name_length) != length)
		return false;
	/* The hash, which is that of the whole name, says what is not kept. */
	if (pfs_load_relaxed(&file->long_name) == PFS_NO_RECORD)
		return memcmp(file->name, kept_of(key, length), Min(length, PFS_FILE_INLINE_NAME - 1)) == 0;
	return memcmp(name_of(file), key, length) == 0;
}

static uint64
hash_of(const char *canonical)
{
	return pfs_hash_bytes(canonical, strlen(canonical));
}

/*
 * Fills in a new record, for the hash table, before others can find it.  A long name
 * has a record of its own, *arg, which the caller frees if the file's record is not used
 * after all.  Where there is no room for one, the end of the name is kept.
 */
static void
fill_file_cb(void *record, const void *key, void *arg)
{
	PfsFile    *file = record;
	uint32	   *long_name = arg;
	size_t		length = strlen(key);

	pfs_store_relaxed(&file->gone, 0);
	file->hash = hash_of(key);
	file->kind = pfs_file_kind(key);
	/* One that is too long begins with an ellipsis, and lies there, too. */
	file->outside = *(const char *) key == '/' || starts_with(key, ELLIPSIS);
	file->open_count = 0;
	file->sums = 0;
	file->first_event = 0;
	file->long_name = PFS_NO_RECORD;
	if (length >= PFS_FILE_INLINE_NAME)
	{
		file->long_name = pfs_pages_allocate(pfs_file_names, &name_hint);
		if (file->long_name != PFS_NO_RECORD)
		{
			memcpy(pfs_pages_record(pfs_file_names, file->long_name), key, length + 1);
			pfs_pages_publish(pfs_file_names, file->long_name);
		}
	}
	*long_name = file->long_name;
	if (file->long_name == PFS_NO_RECORD)
		strlcpy(file->name, kept_of(key, length), sizeof(file->name));
	pfs_store_relaxed(&file->name_length, (uint16) length);
}

static void
free_long_name(uint32 index)
{
	pfs_pages_discard(pfs_file_names, pfs_pages_record(pfs_file_names, index));
}

/*
 * Finds the instance of a file by its canonical name, or makes it; returns its number,
 * and its state word in *word.  PFS_NO_RECORD: the container is full, and has counted
 * the loss.
 */
uint32
pfs_file_open(const char *canonical, uint64 *word)
{
	uint32		long_name = PFS_NO_RECORD;
	bool		created;
	uint32		index = pfs_hash_insert(pfs_file_index, hash_of(canonical), canonical, fill_file_cb, &long_name,
										&file_hint, word, &created);

	/*
	 * Another process was faster, or there was no room: the long name is free
	 * again.
	 */
	if (!created && long_name != PFS_NO_RECORD)
		free_long_name(long_name);
	return index;
}

/*
 * Gives a DIRTY record, which this process has, back to the container, with its long
 * name and its sums.
 */
static void
free_file(uint32 index)
{
	PfsFile    *file = pfs_pages_record(pfs_files, index);
	uint32		long_name = file->long_name;

	pfs_file_sums_free(file);
	pfs_store_relaxed(&file->gone, 0);
	if (long_name != PFS_NO_RECORD)
		free_long_name(long_name);
	pfs_pages_free(pfs_files, index);
}

/* Puts a removed file on the list of those that wait to be freed. */
static void
release(uint32 index)
{
	PfsFile    *file = pfs_pages_record(pfs_files, index);
	uint32		head = pfs_load_relaxed(&pfs_shared_files->to_free);

	do
		file->next_to_free = head;
	while (!pfs_cas(&pfs_shared_files->to_free, &head, index + 1));
}

/* Frees files that wait for it, but none that a process still counts a call for.  Where counters may move. */
static void
free_some(void)
{
	uint32		files[FREE_AT_ONCE];
	uint32		next;
	uint64		in_use;
	int			n = 0;

	for (next = pfs_exchange(&pfs_shared_files->to_free, 0); next != 0;)
	{
		uint32		index = next - 1;

		next = ((PfsFile *) pfs_pages_record(pfs_files, index))->next_to_free;
		if (n < FREE_AT_ONCE)
			files[n++] = index;
		else
			release(index);
	}
	in_use = n > 0 ? pfs_objects_in_use(PFS_COUNTED_FILES, files, n) : 0;
	for (int i = 0; i < n; i++)
	{
		if (in_use & (UINT64_C(1) << i))
			release(files[i]);
		else
			free_file(files[i]);
	}
}

/* The same, if counters may move at this moment; else a later removal frees them. */
static void
try_to_free(PfsThread *t)
{
	bool		entered;

	if (t == NULL)
		return;
	entered = pfs_write_enter(t);
	if (pfs_may_move(PFS_COUNTED_FILES))
		free_some();
	if (entered)
		pfs_write_end(t);
}

/*
 * Keeps a removed file's record as a tombstone, in the place of an older one, which is
 * to be freed.  In a container with many tombstones that is done in batches, as it
 * looks at all threads.  The caller has taken the file out of the index, so it alone
 * has the record.
 */
static void
bury(uint32 index)
{
	PfsFile    *file = pfs_pages_record(pfs_files, index);
	uint32		n = Min(PFS_FILE_TOMBSTONES, pfs_sizes.files / 4);
	uint64		number = pfs_add_relaxed(&pfs_shared_files->buried, 1);
	uint32		before = index + 1;

	if (n > 0)
	{
		pfs_store_release(&file->gone, 1);
		before = pfs_exchange(&pfs_shared_files->tombstones[number % n], index + 1);
	}
	if (before != 0)
		release(before - 1);
	if (n < PFS_FILE_TOMBSTONES || number % FREE_EVERY == 0)
		try_to_free(pfs_my_thread);
}

void
pfs_file_removed(const char *path)
{
	char		buf[PFS_FILE_NAME_SIZE];
	const char *canonical = pfs_file_canonical(path, buf);
	uint64		hash = hash_of(canonical);
	uint64		word;
	uint32		index = pfs_hash_find(pfs_file_index, hash, canonical, &word);

	if (index != PFS_NO_RECORD && pfs_hash_remove(pfs_file_index, hash, index, word))
		bury(index);
}

/* Whoever opens it at this moment has it open as one that was removed, which is nothing special. */
void
pfs_file_unused(uint32 index, uint64 word)
{
	const PfsFile *file = pfs_pages_record(pfs_files, index);
	PfsThread  *t = pfs_my_thread;

	if (!file->outside || pfs_pages_used(pfs_files) <= pfs_files->records_max / 2 || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	if (pfs_hash_remove(pfs_file_index, file->hash, index, word))
		bury(index);
	pfs_write_end(t);
}

/*
 * Removes the instances of all files below a directory, which has got another name.  It
 * looks at all files, so the caller calls it for directories only.
 */
void
pfs_file_directory_removed(const char *path)
{
	char		buf[PFS_FILE_NAME_SIZE];
	char		name[PFS_FILE_NAME_SIZE];
	const char *canonical = pfs_file_canonical(path, buf);
	size_t		length = strlen(canonical);

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_files, &at);)
	{
		if (pfs_file_name(at.index, at.word, name) && strncmp(name, canonical, length) == 0 && name[length] == '/' &&
			pfs_hash_remove(pfs_file_index, hash_of(name), at.index, at.word))
			bury(at.index);
	}
}

/*
 * Copies the name of the file that had this record and state word, for readers, and
 * returns whether it could: also of a file that was removed since, for as long as its
 * tombstone is there.  buf has PFS_FILE_NAME_SIZE bytes.  The state is checked before
 * the copy and behind it, so a name is never that of the record's next file.
 */
bool
pfs_file_name(uint32 index, uint64 word, char *buf)
{
	const PfsFile *file;
	uint64		tombstone = (word & ~PFS_STATE_MASK) | PFS_STATE_DIRTY;
	uint64		now;

	if (pfs_files == NULL || index >= pfs_files->records_max || word == 0)
		return false;
	file = pfs_pages_record(pfs_files, index);
	now = pfs_pages_word(pfs_files, index);
	if (now != word && !(now == tombstone && pfs_load_acquire(&file->gone)))
		return false;
	strlcpy(buf, name_of(file), PFS_FILE_NAME_SIZE);
	pfs_fence_acquire();

	/* A new owner clears `gone` before it writes the name. */
	now = pfs_pages_word(pfs_files, index);
	return now == word || (now == tombstone && pfs_load_relaxed(&file->gone));
}
