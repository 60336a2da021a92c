/*
 * embedded.S
 *	  The files of page/ that reports and flame graphs contain, as strings.
 */
	.section .rodata

	.macro embed name, file
	.global \name
\name:
	.incbin "\file"
	.byte 0
	.endm

	embed page_report_css, "page/report.css"
	embed page_report_js, "page/report.js"
	embed page_flame_css, "page/flame.css"
	embed page_flame_js, "page/flame.js"
	embed page_uplot_css, "page/uPlot.min.css"
	embed page_uplot_js, "page/uPlot.iife.min.js"
	embed page_uplot_license, "page/uPlot.LICENSE"

	.section .note.GNU-stack, "", %progbits
