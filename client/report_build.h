/*
 * report_build.h
 *	  What the files that make a report of two snapshots share.
 */
#ifndef REPORT_BUILD_H
#define REPORT_BUILD_H

#include "difference.h"
#include "report.h"

typedef struct ReportBuild
{
	Report	   *report;
	const Snapshot *earlier;
	const Snapshot *later;
	int			most;			/* rows of a section */
} ReportBuild;

/* The difference of a table; notes in the report what the reader has to know of it, once for each table. */
extern Difference *build_difference(ReportBuild *build, const char *table);

/* Is at least one instrument on whose name begins so? */
extern bool build_is_on(const ReportBuild *build, const char *prefix);

/* Has the instrument this property ("idle", "contains_waits")? */
extern bool build_has_property(const ReportBuild *build, const char *event, const char *property);

/* PostgreSQL's word for the kind of an instrument: IO, Lock, LWLock, … */
extern const char *build_wait_type(const ReportBuild *build, const char *event);

extern void build_statements(ReportBuild *build);
extern void build_tables(ReportBuild *build);

#endif
