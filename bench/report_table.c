/*
 * report_table.c - print what was measured, for people.
 */
#include "report.h"

#include <inttypes.h>

#define MOST_CLIENTS 20 /* that have a line each */

static void heading(FILE *out)
{
	fprintf(out, "\n%-14s%9s%8s %9s%9s%9s%9s%9s\n", "", "grants", "per s",
		"p50 ms", "p90", "p99", "p99.9", "max");
}

/* Print a row: a count, how many in a second, and how long. */
static void row(FILE *out, const struct figures *f, const char *name,
	const struct histogram *h)
{
	fprintf(out, "%-14s%9" PRIu64 "%8.0f ", name, h->count,
		(double)h->count / f->seconds);
	for (int i = 0; i < FIGURES_PERCENTS; i++)
		if (h->count > 0)
			fprintf(out, "%9.2f",
				(double)histogram_percentile(h,
					figures_percents[i]) /
					1e6);
		else
			fprintf(out, "%9s", "-");
	putc('\n', out);
}

typedef const struct histogram *times_fn(const struct figures_part *part);

static const struct histogram *waits(const struct figures_part *part)
{
	return &part->wait;
}

static const struct histogram *holds(const struct figures_part *part)
{
	return &part->hold;
}

static void rows_of_clients(FILE *out, const struct figures *f, times_fn *times)
{
	int count = f->plan.clients;

	for (int i = 0; i < count && i < MOST_CLIENTS && count > 1; i++) {
		char name[32];

		snprintf(name, sizeof(name), "  client %d%s", i + 1,
			bench_reads(&f->plan, i) ? " (r)" : "");
		row(out, f, name, times(&f->parts[i]));
	}
	if (count > MOST_CLIENTS)
		fprintf(out, "  and %d more; --csv and --json have them all\n",
			count - MOST_CLIENTS);
}

/* Print the rows of readers and writers, and of each client. */
static void rows_of_parts(FILE *out, const struct figures *f, times_fn *times)
{
	if (f->plan.readers > 0) {
		row(out, f, "  readers", times(&f->readers));
		row(out, f, "  writers", times(&f->writers));
	}
	rows_of_clients(out, f, times);
}

/* Unless a time was asked for, holds are as short as can be for everyone, and
   one row tells that. */
static void rows(FILE *out, const struct figures *f)
{
	heading(out);
	row(out, f, "wait", &f->all.wait);
	rows_of_parts(out, f, waits);
	row(out, f, "hold", &f->all.hold);
	if (f->plan.options->hold.most_ns > 0)
		rows_of_parts(out, f, holds);
	putc('\n', out);
}

/* --- What is said in words ----------------------------------------------- */

static void fairness(FILE *out, const struct figures *f)
{
	fprintf(out,
		"fairness      %.4f (Jain's index; 1 is even), longest wait "
		"%.2f ms,\n"
		"              at most %u in a row for one %s\n",
		f->jain, (double)f->all.longest_ns / 1e6, f->streak,
		f->plan.clients > 1 ? "client" : "thread");
	if (f->waiting > 0)
		fprintf(out,
			"waiting       %" PRIu64
			" at the end; not in the percentiles\n",
			f->waiting);
}

static void each(FILE *out, const struct figures *f, double sum,
	const char *unit)
{
	fprintf(out, "%.2f %s", figures_per_grant(f, sum), unit);
}

static void cost(FILE *out, const struct figures *f)
{
	if (f->all.grants == 0)
		return;
	fputs("per grant     ", out);
	if (f->client_requests >= 0)
		each(out, f, f->client_requests, "requests by the clients; ");
	if (f->server_requests < 0) {
		fprintf(out, "the server's count is not known:\n%14s%s\n", "",
			f->why_not);
		return;
	}
	each(out, f, f->server_requests, "packets to the server");
	if (f->server_bytes >= 0)
		fprintf(out, ", of %.0f bytes",
			figures_per_grant(f, f->server_bytes));
	putc('\n', out);
}

static void cpu(FILE *out, const struct figures *f)
{
	fputs("processor     ", out);
	if (f->client_cpu_s >= 0)
		fprintf(out, "clients %.2f s", f->client_cpu_s);
	else
		fputs("clients not known, as some were killed", out);
	if (f->server_cpu_s >= 0)
		fprintf(out, ", servers %.2f s", f->server_cpu_s);
	else
		fputs("; servers not known (--server-pid)", out);
	fprintf(out, ", in %.2f s\n", f->seconds);
}

static void take_overs(FILE *out, const struct figures *f)
{
	if (f->plan.options->kills == 0)
		return;
	fprintf(out, "take-over     %d of %d holders that were killed:",
		f->taken_over, f->killed);
	for (int i = 0; i < f->taken_over && i < BOARD_KILLS; i++)
		fprintf(out, "%s %.3f s", i > 0 ? "," : "", f->take_overs_s[i]);
	fprintf(out, "\n              (sessions are for %d ms)\n",
		f->plan.options->tool.session_ms);
}

static void safety(FILE *out, const struct figures *f)
{
	if (f->lost > 0)
		fprintf(out,
			"lost          %" PRIu64 " holds, to the end of a "
			"session\n",
			f->lost);
	if (bench_meets(f->plan.options))
		return; /* there is no such thing as too many */
	fprintf(out,
		f->overlaps == 0 ? "checked       never too many at a time\n"
				 : "OVERLAPS      %" PRIu64
				   " times there were too many at a time\n",
		f->overlaps);
}

static void count_of(FILE *out, int count, const char *one, const char *more)
{
	fprintf(out, "%d %s", count, count == 1 ? one : more);
}

static void title(FILE *out, const struct figures *f)
{
	const struct bench_options *o = f->plan.options;

	fprintf(out, "%s: ", o->recipe);
	count_of(out, f->plan.clients, "client", "clients");
	fputs(" with ", out);
	count_of(out, o->threads, "thread", "threads");
	fputs(" in ", out);
	count_of(out, f->plan.processes, "process", "processes");
	if (f->plan.readers > 0)
		fprintf(out, ", %d read", f->plan.readers);
	fputs(", ", out);
	if (o->form.kind == LOCK_SEMAPHORE)
		count_of(out, f->plan.leases, "lease, ", "leases, ");
	if (bench_has_items(o))
		count_of(out, f->plan.leases, "item, ", "items, ");
	if (o->rate > 0)
		fprintf(out, "%g starts per second, ", o->rate);
	fprintf(out, "for %.1f s\n", f->seconds);
}

void report_table(FILE *out, const struct figures *f)
{
	title(out, f);
	rows(out, f);
	fairness(out, f);
	cost(out, f);
	cpu(out, f);
	take_overs(out, f);
	safety(out, f);
}
