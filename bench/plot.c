/*
 * plot.c - draw what was measured.
 */
#include "plot.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PANEL 360 /* pixels high */
#define STEP 1.1  /* from one point of a distribution to the next */

bool plot_writable(const char *file)
{
	struct stat it;
	bool there = lstat(file, &it) == 0; /* if only as a link */
	int fd;

	if (strcmp(file, "-") == 0)
		return true;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		tool_say("--plot: cannot write to %s: %s", file,
			strerror(errno));
		return false;
	}
	close(fd);
	if (!there)
		unlink(file); /* until there is something to draw */
	return true;
}

static bool is_text(const char *file)
{
	size_t len = strlen(file);

	return strcmp(file, "-") == 0 ||
		(len > 4 && strcmp(file + len - 4, ".txt") == 0);
}

static bool ends_as_svg(const char *file)
{
	char end[16] = "";
	FILE *in = fopen(file, "r");

	if (in == NULL)
		return false;
	if (fseek(in, -(long)(sizeof(end) - 1), SEEK_END) == 0)
		end[fread(end, 1, sizeof(end) - 1, in)] = '\0';
	fclose(in);
	return strstr(end, "</svg>") != NULL;
}

bool plot_is_whole(const char *file)
{
	struct stat it;
	bool there;

	if (strcmp(file, "-") == 0)
		return true;
	there = stat(file, &it) == 0;
	if (there && !S_ISREG(it.st_mode))
		return true;
	if (there && (is_text(file) ? it.st_size > 0 : ends_as_svg(file)))
		return true;
	tool_say("--plot: %s is not whole; is the disk full?", file);
	return false;
}

/* --- The figures --------------------------------------------------------- */

/* Print the wait that all but one in X did not exceed, for growing X. */
static void waits(FILE *out, const char *name, const struct histogram *h)
{
	fprintf(out, "$%s << EOD\n", name);
	for (int i = 0; pow(STEP, i) < (double)h->count; i++) {
		double x = pow(STEP, i);
		double ms = (double)histogram_percentile(h, 100 - 100 / x) /
			1e6;

		fprintf(out, "%g %g\n", x, ms > 0.001 ? ms : 0.001);
	}
	fprintf(out, "%g %g\nEOD\n", (double)h->count + 1,
		(double)h->max / 1e6 + 0.001);
}

static void over_time(FILE *out, int run, const struct figures *f)
{
	double slice_s = (double)f->plan.options->duration_ms / 1000 /
		BOARD_SLICES;

	fprintf(out, "$time%d << EOD\n", run);
	for (int i = 0; i < BOARD_SLICES && i * slice_s < f->seconds; i++)
		fprintf(out, "%g %g\n", (i + 0.5) * slice_s,
			f->slices[i] / slice_s);
	fputs("EOD\n", out);
}

static void growth(FILE *out, struct figures *const *runs, int count)
{
	fputs("$growth << EOD\n", out);
	for (int i = 0; i < count; i++)
		fprintf(out, "%d %g %g %g\n", runs[i]->plan.workers,
			(double)runs[i]->all.grants / runs[i]->seconds,
			(double)histogram_percentile(&runs[i]->all.wait, 50) /
				1e6,
			(double)histogram_percentile(&runs[i]->all.wait, 99) /
				1e6);
	fputs("EOD\n", out);
}

static void figures(FILE *out, struct figures *const *runs, int count)
{
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "wait%d", i);
		waits(out, name, &runs[i]->all.wait);
		over_time(out, i, runs[i]);
		if (runs[i]->plan.readers == 0)
			continue;
		snprintf(name, sizeof(name), "read%d", i);
		waits(out, name, &runs[i]->readers.wait);
		snprintf(name, sizeof(name), "write%d", i);
		waits(out, name, &runs[i]->writers.wait);
	}
	growth(out, runs, count);
}

/* --- The panels ---------------------------------------------------------- */

/* Draw a line for each run, from one block of figures, titled by the number of
   clients. */
static void lines(FILE *out, const char *block, const char *title,
	struct figures *const *runs, int count)
{
	for (int i = 0; i < count; i++)
		fprintf(out, "'$%s%d' using 1:2 with lines title \"%d %s\", ",
			block, i, runs[i]->plan.clients, title);
}

static void panel_waits(FILE *out, struct figures *const *runs, int count)
{
	fputs("set logscale xy\n"
	      "set xlabel 'percentile of the waits'\n"
	      "set xtics ('0' 1, '50 %%' 2, '90 %%' 10, '99 %%' 100,"
	      " '99.9 %%' 1000, '99.99 %%' 1e4, '99.999 %%' 1e5)\n"
	      "set key above width 3\n"
	      "plot ",
		out);
	if (runs[0]->plan.readers > 0) {
		lines(out, "read", "clients, read", runs, count);
		lines(out, "write", "clients, write", runs, count);
	} else {
		lines(out, "wait", "clients", runs, count);
	}
	fputs("\nunset logscale\nset xtics auto\n", out);
}

static void panel_time(FILE *out, struct figures *const *runs, int count)
{
	fputs("set xlabel 's'\nset ylabel 'grants per second'\n"
	      "set yrange [0:*]\nset key above\nplot ",
		out);
	lines(out, "time", "clients", runs, count);
	fputs("\nset yrange [*:*]\n", out);
}

static void panel_growth(FILE *out)
{
	fputs("set xlabel 'threads that contend'\n"
	      "set ylabel 'grants per second'\n"
	      "set y2label 'wait, ms'\n"
	      "set logscale x 2\nset ytics nomirror\nset y2tics\n"
	      "set yrange [0:*]\nset y2range [0:*]\nset key above\n"
	      "plot '$growth' using 1:2 with linespoints"
	      " title 'grants per second',"
	      " '' using 1:3 axes x1y2 with linespoints title 'median wait',"
	      " '' using 1:4 axes x1y2 with linespoints title '99 % wait'\n",
		out);
}

/* Print the name of a file for gnuplot: a quote in it is doubled, and the end
   of a line stands outside the quotes.  It begins with "/" or "./", since a
   name that began with '|' would be a command. */
static void quoted(FILE *out, const char *text)
{
	fputs(*text == '/' ? "'" : "'./", out);
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			fputs("'.\"\\n\".'", out);
		else
			putc(*text, out);
		if (*text == '\'')
			putc('\'', out);
	}
	putc('\'', out);
}

static void set_output(FILE *out, const char *file)
{
	fputs("set output ", out);
	quoted(out, file);
	putc('\n', out);
}

static void text_script(FILE *out, const char *file,
	struct figures *const *runs, int count)
{
	fputs("set terminal dumb size 78,22 noenhanced\n", out);
	if (strcmp(file, "-") != 0)
		set_output(out, file);
	figures(out, runs, count);
	fprintf(out, "set title 'kustos bench: %s, wait in ms'\n",
		runs[0]->plan.options->recipe);
	fputs("set ylabel 'ms'\n", out); /* a longer one is left out */
	panel_waits(out, runs, count);
}

void plot_script(FILE *out, const char *file, struct figures *const *runs,
	int count)
{
	const struct bench_options *o = runs[0]->plan.options;
	int panels = count > 1 ? 3 : 2;

	if (is_text(file)) {
		text_script(out, file, runs, count);
		return;
	}
	fprintf(out,
		"set terminal svg size 860,%d font 'sans,13' background "
		"'white'\n",
		panels * PANEL);
	set_output(out, file);
	figures(out, runs, count);
	fprintf(out,
		"set multiplot layout %d,1 title 'kustos bench: %s'\n"
		"set grid\nset style data lines\n"
		"set linetype 1 lc rgb '#0060ad' lw 2\n"
		"set linetype 2 lc rgb '#dd6a00' lw 2\n"
		"set linetype 3 lc rgb '#2a9d3a' lw 2\n",
		panels, o->recipe);
	fputs("set ylabel 'wait, ms'\n", out);
	panel_waits(out, runs, count);
	panel_time(out, runs, count);
	if (count > 1)
		panel_growth(out);
	fputs("unset multiplot\nunset output\n", out);
}
