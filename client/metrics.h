/*
 * metrics.h
 *	  What a server says as metrics: the families, reading them, both formats of Prometheus.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdbool.h>

#include "buffer.h"
#include "server.h"

/* The lines of one server, for each family apart: those of several servers go together. */
typedef struct Metrics
{
	Buffer	   *lines;			/* by family */
} Metrics;

extern Metrics *metrics_new(void);
extern void metrics_free(Metrics *metrics);

/*
 * Reads all families from a server; name is its label.  deadline is of clock_ms():
 * the server's time_limit becomes what is left of it.  On false nothing is
 * in metrics, and the server says why.
 */
extern bool metrics_read(Metrics *metrics, Server *server, const char *name, long deadline);

/* Adds the families about the reading itself. */
extern void metrics_add_reading(Metrics *metrics, const char *name, bool up, double seconds);

/* Writes what several servers said, as Prometheus' text format or as OpenMetrics. */
extern void metrics_write(Buffer *out, Metrics *const *servers, int n, bool openmetrics);

#endif
