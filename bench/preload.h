/*
 * preload.h
 *	  What the libraries have in common that benchmarks preload into a server: their
 *	  file of words, and clocks in nanoseconds.
 */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The file that this variable of the environment names, shared; NULL if there is none. */
static inline void *
preload_map(const char *variable, size_t size)
{
	const char *name = getenv(variable);
	int			fd = name != NULL ? open(name, O_RDWR) : -1;
	void	   *memory;

	if (fd < 0)
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static inline int64_t
preload_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif							/* PRELOAD_H */
