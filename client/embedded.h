/*
 * embedded.h
 *	  The files of page/, as strings: an HTML page of ours loads nothing.
 */
#ifndef EMBEDDED_H
#define EMBEDDED_H

extern const char page_report_css[];
extern const char page_report_js[];
extern const char page_flame_css[];
extern const char page_flame_js[];
extern const char page_uplot_css[];
extern const char page_uplot_js[];
extern const char page_uplot_license[];

#endif
