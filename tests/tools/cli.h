/*
 * cli.h - run the kustos command from a test, as a shell or a person would.
 *
 * The program is ./kustos, or what the environment's KUSTOS names.  What cannot
 * be done fails the test.  A program that is started dies with the test.
 */
#ifndef TEST_CLI_H
#define TEST_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CLI_MS 60000 /* for whatever takes no time on an idle machine */

struct cli {
	pid_t pid;
	int in, out, err; /* our ends; of a terminal all the same */
	size_t out_len, err_len;
	char out_text[16384]; /* what it has printed so far */
	char err_text[8192];
};

/* Return the name of the program. */
const char *cli_program(void);

/* Start "argv", up to NULL; or the program with these arguments. */
void cli_start_argv(struct cli *c, const char *const *argv);
#define cli_start(c, ...)   \
	cli_start_argv((c), \
		(const char *const[]){ cli_program(), __VA_ARGS__, NULL })

/* Start any program, on a terminal of its own. */
void cli_start_on_terminal(struct cli *c, const char *const *argv);

/* Write to its standard input, or on its terminal; end its input. */
void cli_type(struct cli *c, const char *text);
void cli_eof(struct cli *c);

/* Wait until it has printed "text" on standard output, or on standard error,
   and return what follows that. */
const char *cli_hears(struct cli *c, const char *text);
const char *cli_hears_error(struct cli *c, const char *text);

/* Wait for its end and for all that it had to say.  Returns its exit code, or
   -N if it died of signal N. */
int cli_end(struct cli *c);

/* Return whether it has not ended yet. */
bool cli_runs(const struct cli *c);

/* Has it printed anything that was not read yet?  This does not read it. */
bool cli_has_spoken(const struct cli *c);

/* Put the processes that its first thread has started, and that it has not
   waited for, up to so many.  Return how many that are. */
int cli_children(const struct cli *c, pid_t *pids, int most);

/* From here on in this process, and in what it starts, it is as on a kernel before
   5.3, or in a sandbox of its time.  Returns false where that cannot be had. */
bool cli_on_an_old_kernel(void);

/* Start it and wait for its end. */
#define cli_run(c, ...) (cli_start((c), __VA_ARGS__), cli_end(c))

#endif
