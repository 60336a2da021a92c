/*
 * pfs_detour.c
 *	  Sets detours: looks before it leaps, then writes five bytes per function.
 *
 * What is looked at first, for all functions, before anything is written:
 *
 *	- the text in memory is that of the binary's file: nobody else has put a
 *	  jump or a breakpoint there;
 *	- the instructions that the jump displaces are known ones that can be moved
 *	  (pfs_decode.c), lie within the function, and no jump or call of the whole
 *	  binary leads into the middle of them;
 *	- trampolines have a place that is in reach of four-byte distances;
 *	- the system lets a page of this file be executed again after it was written,
 *	  tried on another mapping of the same page (SELinux can forbid it).
 *
 * No page is writable and executable at a time.  While a page of the text is
 * writable nothing can run in it: this process has one thread, all signals are
 * blocked, and what runs is here and in the C library.  If the system refuses
 * in the middle, the page is mapped anew from the file, which is what it was.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pfs_decode.h"
#include "pfs_detour.h"
#include "pfs_image.h"

#if defined(__x86_64__)

#define DETOURS_MAX 32

/* jmp with four bytes of distance. */
#define JUMP_BYTES 5
#define JUMP_OPCODE 0xe9

/*
 * A trampoline's page: per function the moved instructions with a jump back, and
 * a jump to the replacement, which can be anywhere.
 */
#define SLOT_BYTES 64
#define FAR_JUMP_OFFSET 48		/* jmp *0(%rip), and the address behind it */
#define FAR_JUMP_BYTES 14

StaticAssertDecl(PFS_DECODE_MOVED_MAX + JUMP_BYTES <= FAR_JUMP_OFFSET, "moved instructions and their jump back");
StaticAssertDecl(FAR_JUMP_OFFSET + FAR_JUMP_BYTES <= SLOT_BYTES, "a far jump behind them");

/* Trampolines lie below the binary, where no heap grows: this far at most. */
#define NEAR_DISTANCE (UINT64_C(1) << 30)
#define NEAR_STEP (UINT64_C(1) << 16)

/* The server's text, in memory and in its file. */
typedef struct PfsProgram
{
	const PfsImage *image;
	int			file;
} PfsProgram;

/* What is known of one function, by the number of its detour. */
typedef struct PfsPatchPlan
{
	uint8_t    *code;			/* where the jump goes */
	PfsPrologue prologue;
	bool		set;
} PfsPatchPlan;

static size_t page_size;

static void
refuse(PfsDetour *detour, const char *reason, int error)
{
	detour->result = PFS_DETOUR_REFUSED;
	if (error != 0)
		snprintf(detour->reason, sizeof(detour->reason), "%s: %s", reason, strerror(error));
	else
		strlcpy(detour->reason, reason, sizeof(detour->reason));
}

static PfsProgram
open_program(void)
{
	return (PfsProgram)
	{
		pfs_image(), open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
	};
}

static off_t
offset_in_file(const PfsProgram *program, const void *address)
{
	return program->image->text_offset + ((uintptr_t) address - program->image->text.start);
}

/* Is the memory what the file holds? */
static bool
is_as_in_file(const PfsProgram *program, const uint8_t *code, size_t size)
{
	uint8_t		buf[4096];

	for (size_t done = 0; done < size;)
	{
		size_t		n = Min(size - done, sizeof(buf));

		if (pread(program->file, buf, n, offset_in_file(program, code + done)) != (ssize_t) n ||
			memcmp(buf, code + done, n) != 0)
			return false;
		done += n;
	}
	return true;
}

/* Find the function and decide whether its prologue can be moved. */
static void
make_patch_plan(PfsDetour *detour, PfsPatchPlan *plan, const PfsProgram *program)
{
	const PfsAddresses *text = &program->image->text;
	size_t		size;
	uint8_t    *code = pfs_image_symbol(detour->symbol, &size);

	if (code == NULL)
	{
		detour->result = PFS_DETOUR_MISSING;
		strlcpy(detour->reason, "this server does not have it", sizeof(detour->reason));
		return;
	}
	if ((uintptr_t) code < text->start || (uintptr_t) code + size > text->end)
	{
		refuse(detour, "another library has taken its name", 0);
		return;
	}
	if (!is_as_in_file(program, code, size))
	{
		refuse(detour, "its text in memory is not that of the server's file", 0);
		return;
	}
	/* An indirect jump may need it. */
	if (pfs_decode_is_endbr64(code, size))
	{
		code += PFS_ENDBR64_BYTES;
		size -= PFS_ENDBR64_BYTES;
	}
	if (!pfs_decode_prologue(code, size, JUMP_BYTES, &plan->prologue))
	{
		refuse(detour, "it begins with instructions that pfs does not know", 0);
		return;
	}
	if (pfs_decode_returns_to(code, size, 1, plan->prologue.length - 1))
	{
		refuse(detour, "a jump of its own leads into its first instructions", 0);
		return;
	}
	plan->code = code;
}

/* Is its jump to be set, as far as is known? */
static inline bool
is_planned(const PfsDetour *detour, const PfsPatchPlan *plan)
{
	return plan->code != NULL && detour->result == PFS_DETOUR_PENDING;
}

/* No call or jump of the binary may lead behind the first byte of a jump of ours. */
static void
check_jumps(PfsDetour *detours, const PfsPatchPlan *plans, int n, const PfsProgram *program)
{
	const PfsAddresses *text = &program->image->text;
	PfsCodeRange ranges[DETOURS_MAX];
	int			numbers[DETOURS_MAX];
	int			nranges;
	int			found;

	/* It finds one at a time. */
	do
	{
		nranges = 0;
		for (int i = 0; i < n; i++)
		{
			if (!is_planned(&detours[i], &plans[i]))
				continue;
			numbers[nranges] = i;
			ranges[nranges].first = (uintptr_t) plans[i].code + 1;
			ranges[nranges].last = (uintptr_t) plans[i].code + plans[i].prologue.length - 1;
			nranges++;
		}
		found = pfs_decode_leads_to((const uint8_t *) text->start, text->end - text->start, text->start, ranges, nranges);
		if (found >= 0)
			refuse(&detours[numbers[found]], "a jump leads into its first instructions", 0);
	} while (found >= 0);
}

/*
 * May a page of this file be executed after it was written?  Tried on a mapping
 * of its own.  Returns 0 or errno.
 */
static int
rehearse(const PfsProgram *program, const void *code)
{
	off_t		offset = offset_in_file(program, code) & ~(off_t) (page_size - 1);
	char	   *page = mmap(NULL, page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, program->file, offset);
	int			error = 0;

	if (page == MAP_FAILED)
		return errno;
	if (mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0)
		error = errno;
	else
	{
		*(volatile char *) page = *(volatile char *) page;
		if (mprotect(page, page_size, PROT_READ | PROT_EXEC) != 0)
			error = errno;
	}
	munmap(page, page_size);
	return error;
}

/* Writable memory within reach of the whole binary, or NULL. */
static uint8_t *
map_near(const PfsProgram *program, size_t size)
{
	uintptr_t	base = program->image->base;
	uintptr_t	lowest = base > NEAR_DISTANCE ? base - NEAR_DISTANCE : NEAR_STEP;

	for (uintptr_t address = base - NEAR_STEP; address > lowest && address < base; address -= NEAR_STEP)
	{
		void	   *got = mmap((void *) address, size, PROT_READ | PROT_WRITE,
							   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (got == (void *) address)
			return got;
		/* An old kernel takes the address for a wish. */
		if (got != MAP_FAILED)
			munmap(got, size);
	}
	return NULL;
}

/* A jump at `at` to `target`, both near. */
static void
write_jump(uint8_t *to, uintptr_t at, uintptr_t target)
{
	int32_t		distance = (int32_t) (int64_t) (target - (at + JUMP_BYTES));

	to[0] = JUMP_OPCODE;
	memcpy(to + 1, &distance, sizeof(distance));
}

/* The slot of one function; false: out of reach. */
static bool
fill_slot(uint8_t *slot, const PfsDetour *detour, const PfsPatchPlan *plan)
{
	static const uint8_t far_jump[] = {0xff, 0x25, 0, 0, 0, 0};
	uint32_t	length = pfs_decode_move(&plan->prologue, plan->code, slot, (uintptr_t) slot);

	if (length == 0)
		return false;
	write_jump(slot + length, (uintptr_t) slot + length, (uintptr_t) plan->code + plan->prologue.length);
	memcpy(slot + FAR_JUMP_OFFSET, far_jump, sizeof(far_jump));
	memcpy(slot + FAR_JUMP_OFFSET + sizeof(far_jump), &detour->replacement, sizeof(void *));
	return true;
}

/* The first page that these bytes lie in, and how many bytes their pages have. */
static uintptr_t
pages_of(const uint8_t *code, size_t size, size_t *length)
{
	uintptr_t	first = (uintptr_t) code & ~(page_size - 1);

	*length = TYPEALIGN(page_size, (uintptr_t) code + size) - first;
	return first;
}

/*
 * Map pages of the text from the file again, which is what they were.  Also takes
 * back other jumps that were set there.
 */
static void
restore_pages(const PfsProgram *program, const uint8_t *code, size_t size)
{
	size_t		length;
	uintptr_t	first = pages_of(code, size, &length);

	if (mmap((void *) first, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, program->file,
			 offset_in_file(program, (void *) first)) == MAP_FAILED)
		abort();				/* no server can go on without its text */
}

/*
 * Write into the text, signals being blocked.  Returns 0 or errno; then the pages
 * are as the file has them.
 *
 * What forbids the first change of a page can forbid another mapping of it, too (pages of
 * hugetlbfs, sealed ones), so a page that has not been written is left as it is.
 */
static int
write_text(const PfsProgram *program, uint8_t *code, const uint8_t *bytes, size_t size)
{
	size_t		length;
	uintptr_t	first = pages_of(code, size, &length);
	int			error;

	if (mprotect((void *) first, length, PROT_READ | PROT_WRITE) != 0)
	{
		error = errno;
		/* Of two pages the first may be writable now. */
		if (length > page_size && mprotect((void *) first, length, PROT_READ | PROT_EXEC) != 0)
			restore_pages(program, code, size);
		return error;
	}
	memcpy(code, bytes, size);
	if (mprotect((void *) first, length, PROT_READ | PROT_EXEC) == 0)
		return 0;
	error = errno;
	restore_pages(program, code, size);
	return error;
}

/* Take all jumps back that were set. */
static void
take_back(PfsPatchPlan *plans, int n, const PfsProgram *program)
{
	for (int i = 0; i < n; i++)
	{
		if (plans[i].set)
			restore_pages(program, plans[i].code, JUMP_BYTES);
		plans[i].set = false;
	}
}

/* Writes the jumps of those that stand alone, or of the others; false: one has failed. */
static bool
write_jumps(PfsDetour *detours, PfsPatchPlan *plans, int n, const PfsProgram *program, uint8_t *near, bool alone)
{
	for (int i = 0; i < n; i++)
	{
		uint8_t		jump[JUMP_BYTES];
		int			error;

		if (!is_planned(&detours[i], &plans[i]) || detours[i].alone != alone)
			continue;
		write_jump(jump, (uintptr_t) plans[i].code, (uintptr_t) near + i * SLOT_BYTES + FAR_JUMP_OFFSET);
		error = write_text(program, plans[i].code, jump, sizeof(jump));
		if (error != 0)
		{
			refuse(&detours[i], "the system does not let its text be changed", error);
			return false;
		}
		plans[i].set = true;
	}
	return true;
}

/*
 * Writes a jump at the begin of each function, with all signals blocked.  If one fails,
 * those that were written are taken back.  Those that stand alone come first: the first of
 * them that fails takes nothing of the others along.
 */
static bool
set_jumps(PfsDetour *detours, PfsPatchPlan *plans, int n, const PfsProgram *program, uint8_t *near)
{
	sigset_t	all;
	sigset_t	before;
	bool		done;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!write_jumps(detours, plans, n, program, near, true))
		take_back(plans, n, program);
	done = write_jumps(detours, plans, n, program, near, false);
	if (!done)
		take_back(plans, n, program);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return done;
}

/* Did any that is needed fail so far? */
static bool
has_failed(const PfsDetour *detours, int n)
{
	for (int i = 0; i < n; i++)
	{
		if ((detours[i].result == PFS_DETOUR_REFUSED && !detours[i].alone) ||
			(detours[i].result == PFS_DETOUR_MISSING && !detours[i].optional))
			return true;
	}
	return false;
}

/* Trampolines, then the jumps. */
static bool
set_all(PfsDetour *detours, PfsPatchPlan *plans, int n, const PfsProgram *program)
{
	size_t		size = TYPEALIGN(page_size, n * SLOT_BYTES);
	uint8_t    *near = map_near(program, size);

	if (near == NULL)
	{
		refuse(&detours[0], "there is no free memory near the server's text", 0);
		return false;
	}
	memset(near, 0xcc, size);	/* a breakpoint wherever nothing is */
	for (int i = 0; i < n; i++)
	{
		if (is_planned(&detours[i], &plans[i]) && !fill_slot(near + i * SLOT_BYTES, &detours[i], &plans[i]))
			refuse(&detours[i], "its first instructions cannot be moved", 0);
	}
	if (!has_failed(detours, n) && mprotect(near, size, PROT_READ | PROT_EXEC) != 0)
		refuse(&detours[0], "the system does not let new code be executed", errno);
	for (int i = 0; i < n && !has_failed(detours, n); i++)
	{
		int			error = is_planned(&detours[i], &plans[i]) ? rehearse(program, plans[i].code) : 0;

		if (error != 0)
			refuse(&detours[i], "the system does not let its text be changed", error);
	}
	if (has_failed(detours, n))
	{
		munmap(near, size);
		return false;
	}
	for (int i = 0; i < n; i++)
	{
		if (is_planned(&detours[i], &plans[i]))
			*detours[i].original = near + i * SLOT_BYTES;
	}
	if (set_jumps(detours, plans, n, program, near))
		return true;
	munmap(near, size);
	return false;
}

/* The number of threads of this process; 0: unknown. */
static int
count_threads(void)
{
	struct stat st;

	/* One link for each, and two of its own. */
	return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (int) st.st_nlink - 2 : 0;
}

/* Checks all functions before it patches any: all of them or none, but for those that stand alone. */
bool
pfs_detour_patch(PfsDetour *detours, int ndetours)
{
	PfsPatchPlan plans[DETOURS_MAX] = {{0}};
	PfsProgram	program = open_program();
	bool		done = false;

	page_size = sysconf(_SC_PAGESIZE);
	for (int i = 0; i < ndetours; i++)
		detours[i].result = PFS_DETOUR_PENDING;
	if (program.file < 0)
		refuse(&detours[0], "the server's file cannot be read", errno);
	else if (program.image->text.start == 0 || ndetours > DETOURS_MAX)
		refuse(&detours[0], "the server binary has no text that pfs understands", 0);
	else if (count_threads() > 1)
		refuse(&detours[0], "the postmaster has more than one thread", 0);
	else
	{
		for (int i = 0; i < ndetours; i++)
			make_patch_plan(&detours[i], &plans[i], &program);
		if (!has_failed(detours, ndetours))
			check_jumps(detours, plans, ndetours, &program);
		done = !has_failed(detours, ndetours) && set_all(detours, plans, ndetours, &program);
	}
	if (program.file >= 0)
		close(program.file);
	for (int i = 0; i < ndetours; i++)
	{
		if (plans[i].set)
			detours[i].result = PFS_DETOUR_ACTIVE;
	}
	return done;
}

/*
 * The trampolines stay: who calls one by its pointer still gets the original.  Functions
 * that another tool has changed since get the file's text back, too.
 */
void
pfs_detour_take_back(PfsDetour *detours, int ndetours, const char *reason)
{
	PfsProgram	program = open_program();

	for (int i = 0; i < ndetours; i++)
	{
		if (detours[i].result != PFS_DETOUR_ACTIVE)
			continue;
		if (program.file >= 0)
			restore_pages(&program, dlsym(RTLD_DEFAULT, detours[i].symbol), PFS_ENDBR64_BYTES + JUMP_BYTES);
		refuse(&detours[i], reason, 0);
	}
	if (program.file >= 0)
		close(program.file);
}

#else							/* !__x86_64__ */

bool
pfs_detour_patch(PfsDetour *detours, int ndetours)
{
	for (int i = 0; i < ndetours; i++)
	{
		detours[i].result = PFS_DETOUR_REFUSED;
		strlcpy(detours[i].reason, "detours exist for x86-64 only", sizeof(detours[i].reason));
	}
	return false;
}

void
pfs_detour_take_back(PfsDetour *detours, int ndetours, const char *reason)
{
	/* None was set. */
}

#endif							/* __x86_64__ */
