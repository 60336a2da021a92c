/*
 * pfs_exit.c
 *	  Finds the server's list of functions that it calls at the end of a process.
 *
 * The list and its length are variables that the server does not export.  So one
 * function is registered, between two looks at all of the server's variables: the list
 * is where the function's address is found, and the length is the one other word that
 * has changed, by one.  Then the length is put back, which takes the function off
 * the list again.
 */
#include "postgres.h"

#include <signal.h>
#include <sys/mman.h>

#include "storage/ipc.h"

#include "pfs_exit.h"
#include "pfs_image.h"

/* What the server registers is looked at, and what else it has: not more than that. */
#define SIZE_MAX_OF_VARIABLES (64 * 1024 * 1024)

#define MARK ((Datum) 0x70667300)

/* Pairs are searched for by it; never called. */
static void
marker_cb(int code, Datum arg)
{
}

typedef struct Pair
{
	void		(*function) (int, Datum);
	Datum		arg;
} Pair;

/* The server's variables: the writable part of the main program. */
typedef struct Variables
{
	char	   *begin;
	size_t		size;
} Variables;

/* The only pair, or NULL. */
static Pair *
find_pair(const Variables *variables)
{
	Pair	   *found = NULL;

	for (char *p = variables->begin; p + sizeof(Pair) <= variables->begin + variables->size; p += sizeof(Datum))
	{
		Pair	   *pair = (Pair *) p;

		if (pair->function != marker_cb || pair->arg != MARK)
			continue;
		if (found != NULL)
			return NULL;
		found = pair;
	}
	return found;
}

/* The only other word that has changed, or NULL. */
static int *
find_changed(const Variables *variables, const char *before, const Pair *pair)
{
	int		   *found = NULL;

	for (size_t i = 0; i + sizeof(int) <= variables->size; i += sizeof(int))
	{
		char	   *now = variables->begin + i;

		if (memcmp(now, before + i, sizeof(int)) == 0 || (now >= (char *) pair && now < (char *) (pair + 1)))
			continue;
		if (found != NULL)
			return NULL;
		found = (int *) now;
	}
	return found;
}

/*
 * Finds the list and its counter by what a registration has changed; returns why not, or
 * NULL.
 */
static const char *
find_in(const Variables *variables, const char *before, void **list, int **used)
{
	Pair	   *pair = find_pair(variables);
	int		   *changed = pair != NULL ? find_changed(variables, before, pair) : NULL;
	int			old;

	if (pair == NULL)
		return "what was registered is not among the server's variables";
	if (changed == NULL)
		return "more than one of the server's variables has changed";
	memcpy(&old, before + ((char *) changed - variables->begin), sizeof(old));
	if (*changed != old + 1 || old < 0 || (char *) (pair - old) < variables->begin)
		return "no variable counts what is registered";
	*changed = old;
	*list = pair - old;
	*used = changed;
	return NULL;
}

/* Registers a callback of its own, looks for what has changed, and takes it back. */
const char *
pfs_exit_find(void **list, int **used)
{
	const PfsImage *image = pfs_image();
	Variables	variables;
	char	   *before;
	const char *why_not;
	sigset_t	all;
	sigset_t	saved;

	*list = NULL;
	*used = NULL;
	variables.begin = (char *) TYPEALIGN(sizeof(Pair), image->data.start);
	variables.size = TYPEALIGN_DOWN(sizeof(Pair), image->data.end - image->data.start - sizeof(Pair));
	/* With two such segments it is no program of a kind that we know. */
	if (image->ndata != 1 || variables.size < sizeof(Pair) || variables.size > SIZE_MAX_OF_VARIABLES)
		return "the server's variables are not where they are expected";
	before = mmap(NULL, variables.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (before == MAP_FAILED)
		return "out of memory";
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &saved);
	memcpy(before, variables.begin, variables.size);
	on_shmem_exit(marker_cb, MARK);
	why_not = find_in(&variables, before, list, used);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	munmap(before, variables.size);
	return why_not;
}
