/*
 * cmd_bench.c - kustos bench: how a recipe behaves when many contend.
 */
#include "bench.h"
#include "gnuplot.h"
#include "plot.h"
#include "report.h"
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
	struct bench_options options;
	struct signals signals;
	struct figures *runs[BENCH_STEPS];
	int count;
};

/* Print the figures of a run as soon as they are known, if the form allows
   that. */
static void report_run(const struct bench *b, const struct figures *f)
{
	if (b->options.tool.json || b->options.csv)
		return;
	if (b->count > 1)
		putchar('\n');
	signals_admit(&b->signals, true); /* the run has left nothing behind */
	report_table(stdout, f);
	fflush(stdout);
	signals_admit(&b->signals, false);
}

static void report_all(const struct bench *b)
{
	if (b->options.tool.json)
		report_json(stdout, &b->options, b->runs, b->count);
	if (b->options.csv)
		report_csv_heading(stdout);
	for (int i = 0; i < b->count && b->options.csv; i++)
		report_csv(stdout, b->runs[i]);
	fflush(stdout); /* a plot may go there as well */
}

static int plot(struct bench *b)
{
	const char *file = b->options.plot;
	FILE *script;
	int code;

	if (file == NULL)
		return TOOL_OK;
	script = gnuplot_script();
	if (script == NULL)
		return TOOL_FAILED;
	plot_script(script, file, b->runs, b->count);
	code = gnuplot_draw(script, &b->signals);
	return code == TOOL_OK && !plot_is_whole(file) ? TOOL_FAILED : code;
}

static int measure(struct bench *b)
{
	int code = TOOL_OK;

	for (int i = 0; i < b->options.steps && code == TOOL_OK; i++) {
		struct bench_plan plan;
		struct figures *f;

		bench_plan(&b->options, i, &plan);
		code = run_plan(&plan, &b->signals, &f);
		if (f == NULL)
			continue;
		b->runs[b->count++] = f;
		report_run(b, f);
	}
	if (b->count > 0) {
		int plotted;

		signals_admit(&b->signals, true);
		report_all(b);
		signals_admit(&b->signals, false);
		plotted = plot(b);
		code = code != TOOL_OK ? code : plotted;
	}
	return code;
}

static int run(int argc, char **argv)
{
	struct bench b;
	int code, flushed;

	memset(&b, 0, sizeof(b));
	if (!bench_parse(&b.options, argc, argv))
		return b.options.tool.exit_code;
	if (b.options.plot != NULL &&
		!(gnuplot_found() && plot_writable(b.options.plot)))
		return TOOL_FAILED;
	if (signals_take(&b.signals) < 0) {
		tool_say("cannot handle signals: %s", strerror(errno));
		return TOOL_FAILED;
	}
	code = measure(&b);
	flushed = tool_flush(TOOL_OK);
	code = code != TOOL_OK ? code : flushed;
	for (int i = 0; i < b.count; i++)
		figures_free(b.runs[i]);
	if (code > TOOL_SIGNAL)
		signals_suffer(code - TOOL_SIGNAL);
	return code;
}

const struct tool_subcommand tool_bench = { "bench", run,
	"how a lock behaves when many contend for it", bench_help,
	tool_help_common, bench_codes };
