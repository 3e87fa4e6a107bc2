/*
 * report_csv.c - print what was measured as lines with commas.
 */
#include "report.h"

#include <inttypes.h>

void report_csv_heading(FILE *out)
{
	fputs("recipe,clients,threads,processes,client,reads,seconds,grants,"
	      "per_second,wait_p50_ms,wait_p90_ms,wait_p99_ms,wait_p99.9_ms,"
	      "wait_max_ms,hold_p50_ms,hold_p90_ms,hold_p99_ms,"
	      "hold_p99.9_ms,hold_max_ms,longest_wait_ms,jain,"
	      "longest_streak,waiting,lost,overlaps,requests_per_grant,"
	      "server_packets_per_grant,server_bytes_per_grant,client_cpu_s,"
	      "server_cpu_s,killed,taken_over,take_over_max_s\n",
		out);
}

/* Print a value, or an empty field if it is not known. */
static void known(FILE *out, double value)
{
	if (value >= 0)
		fprintf(out, ",%.6g", value);
	else
		putc(',', out);
}

static void percentiles(FILE *out, const struct histogram *h)
{
	for (int i = 0; i < FIGURES_PERCENTS; i++)
		known(out,
			h->count == 0 ? -1
				      : (double)histogram_percentile(h,
						figures_percents[i]) /
					1e6);
}

/* "client" is "all" or a number. */
static void part(FILE *out, const struct figures *f, const char *client,
	bool reads, const struct figures_part *p)
{
	fprintf(out, "%s,%d,%d,%d,%s,%d,%.6g,%" PRIu64 ",%.6g",
		f->plan.options->recipe, f->plan.clients,
		f->plan.options->threads, f->plan.processes, client, reads,
		f->seconds, p->grants, (double)p->grants / f->seconds);
	percentiles(out, &p->wait);
	percentiles(out, &p->hold);
	fprintf(out, ",%.6g", (double)p->longest_ns / 1e6);
}

static void all(FILE *out, const struct figures *f)
{
	double most = -1;

	part(out, f, "all", false, &f->all);
	fprintf(out, ",%.6g,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64, f->jain,
		f->streak, f->waiting, f->lost, f->overlaps);
	known(out, figures_per_grant(f, f->client_requests));
	known(out, figures_per_grant(f, f->server_requests));
	known(out, figures_per_grant(f, f->server_bytes));
	known(out, f->client_cpu_s);
	known(out, f->server_cpu_s);
	for (int i = 0; i < f->taken_over && i < BOARD_KILLS; i++)
		if (f->take_overs_s[i] > most)
			most = f->take_overs_s[i];
	fprintf(out, ",%d,%d", f->killed, f->taken_over);
	known(out, most);
	putc('\n', out);
}

void report_csv(FILE *out, const struct figures *f)
{
	all(out, f);
	for (int i = 0; i < f->plan.clients; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i + 1);
		part(out, f, name, bench_reads(&f->plan, i), &f->parts[i]);
		fputs(",,,,,,,,,,,,,\n", out); /* of all only */
	}
}
