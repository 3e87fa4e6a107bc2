/*
 * report_json.c - print what was measured as one JSON object.
 */
#include "report.h"

#include "json.h"

#include <inttypes.h>
#include <string.h>

static void number(FILE *out, const char *name, double value)
{
	fprintf(out, ",\"%s\":", name);
	if (value >= 0)
		fprintf(out, "%.6g", value);
	else
		fputs("null", out);
}

static void percentiles(FILE *out, const char *name, const struct histogram *h)
{
	bool none = h->count == 0;

	fprintf(out, ",\"%s\":{\"count\":%" PRIu64, name, h->count);
	number(out, "mean", none ? -1 : histogram_mean(h) / 1e6);
	for (int i = 0; i < FIGURES_PERCENTS; i++) {
		int64_t ns = histogram_percentile(h, figures_percents[i]);
		char label[16];

		snprintf(label, sizeof(label), "p%g", figures_percents[i]);
		number(out, figures_percents[i] < 100 ? label : "max",
			none ? -1 : (double)ns / 1e6);
	}
	putc('}', out);
}

static void part(FILE *out, const struct figures *f,
	const struct figures_part *p)
{
	fprintf(out, "\"grants\":%" PRIu64, p->grants);
	number(out, "per_second", (double)p->grants / f->seconds);
	percentiles(out, "wait_ms", &p->wait);
	percentiles(out, "hold_ms", &p->hold);
	number(out, "longest_wait_ms", (double)p->longest_ns / 1e6);
}

static void clients(FILE *out, const struct figures *f)
{
	fputs(",\"each\":[", out);
	for (int i = 0; i < f->plan.clients; i++) {
		fputs(i > 0 ? ",{" : "{", out);
		part(out, f, &f->parts[i]);
		fprintf(out, ",\"reads\":%s}",
			bench_reads(&f->plan, i) ? "true" : "false");
	}
	putc(']', out);
}

static void sides(FILE *out, const struct figures *f)
{
	if (f->plan.readers == 0)
		return;
	fputs(",\"of_readers\":{", out);
	part(out, f, &f->readers);
	fputs("},\"of_writers\":{", out);
	part(out, f, &f->writers);
	putc('}', out);
}

/* Print what the run cost: for each grant, if that is known and there was a
   grant. */
static void cost(FILE *out, const struct figures *f)
{
	number(out, "requests_per_grant",
		figures_per_grant(f, f->client_requests));
	number(out, "server_packets_per_grant",
		figures_per_grant(f, f->server_requests));
	number(out, "server_bytes_per_grant",
		figures_per_grant(f, f->server_bytes));
	fputs(",\"server_count_missing\":", out);
	if (*f->why_not != '\0')
		json_string(out, f->why_not, strlen(f->why_not));
	else
		fputs("null", out);
	number(out, "client_cpu_s", f->client_cpu_s);
	number(out, "server_cpu_s", f->server_cpu_s);
}

static void over_time(FILE *out, const struct figures *f)
{
	number(out, "slice_s",
		(double)f->plan.options->duration_ms / 1000 / BOARD_SLICES);
	fputs(",\"slices\":[", out);
	for (int i = 0; i < BOARD_SLICES; i++)
		fprintf(out, "%s%u", i > 0 ? "," : "", f->slices[i]);
	fprintf(out, "],\"killed\":%d,\"take_over_s\":[", f->killed);
	for (int i = 0; i < f->taken_over && i < BOARD_KILLS; i++)
		fprintf(out, "%s%.6f", i > 0 ? "," : "", f->take_overs_s[i]);
	putc(']', out);
}

static void run(FILE *out, const struct figures *f)
{
	fprintf(out, "{\"clients\":%d,\"threads\":%d,\"processes\":%d",
		f->plan.clients, f->plan.options->threads, f->plan.processes);
	fprintf(out, ",\"readers\":%d,\"leases\":", f->plan.readers);
	if (bench_takes_leases(f->plan.options))
		fprintf(out, "%d", f->plan.leases);
	else
		fputs("null", out);
	number(out, "seconds", f->seconds);
	putc(',', out);
	part(out, f, &f->all);
	number(out, "jain", f->jain);
	fprintf(out, ",\"longest_streak\":%u", f->streak);
	fprintf(out, ",\"waiting\":%" PRIu64, f->waiting);
	fprintf(out, ",\"lost\":%" PRIu64, f->lost);
	fprintf(out, ",\"overlaps\":%" PRIu64, f->overlaps);
	cost(out, f);
	sides(out, f);
	clients(out, f);
	over_time(out, f);
	putc('}', out);
}

static void span(FILE *out, const char *name, struct pace_span span)
{
	fprintf(out, ",\"%s\":[%.6g,%.6g]", name, (double)span.least_ns / 1e6,
		(double)span.most_ns / 1e6);
}

void report_json(FILE *out, const struct bench_options *o,
	struct figures *const *runs, int count)
{
	fprintf(out, "{\"recipe\":\"%s\",\"hosts\":", o->recipe);
	json_string(out, o->tool.hosts, strlen(o->tool.hosts));
	fprintf(out, ",\"version\":\"%s\",\"seed\":%" PRIu64, kustos_version(),
		o->seed);
	fprintf(out, ",\"session_ms\":%d", o->tool.session_ms);
	number(out, "rate", o->rate > 0 ? o->rate : -1);
	span(out, "hold_span_ms", o->hold);
	span(out, "think_span_ms", o->think);
	fputs(",\"runs\":[", out);
	for (int i = 0; i < count; i++) {
		fputs(i > 0 ? "," : "", out);
		run(out, runs[i]);
	}
	fputs("]}\n", out);
}
