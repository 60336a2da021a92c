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

/* A page begins so, up to its styles. */
#define PAGE_HEAD(title) \
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" \
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; " \
	"script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n" \
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" title "</title>\n<style>\n"

#endif
