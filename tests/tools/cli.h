/*
 * cli.h - run the kustos command from a test, as a shell or a person would.
 *
 * The program is ./kustos, or the one that the environment variable KUSTOS
 * names.  Whatever fails in here fails the test.  A program that is started
 * dies with the test.
 */
#ifndef TEST_CLI_H
#define TEST_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CLI_MS 60000 /* for anything that is quick on an idle machine */

struct cli {
	pid_t pid;
	int in, out, err; /* our ends; the same for a terminal */
	size_t out_len, err_len;
	char out_text[16384]; /* printed so far */
	char err_text[8192];
};

/* Return the name of the program. */
const char *cli_program(void);

/* Start "argv", up to NULL; cli_start() starts the command with these
   arguments. */
void cli_start_argv(struct cli *c, const char *const *argv);
#define cli_start(c, ...)   \
	cli_start_argv((c), \
		(const char *const[]){ cli_program(), __VA_ARGS__, NULL })

/* Start any program on a terminal of its own. */
void cli_start_on_terminal(struct cli *c, const char *const *argv);

/* Write to the program's standard input or terminal; end that input. */
void cli_type(struct cli *c, const char *text);
void cli_eof(struct cli *c);

/* Wait until the program has printed "text" on standard output, or on standard
   error.  Returns what follows the text. */
const char *cli_hears(struct cli *c, const char *text);
const char *cli_hears_error(struct cli *c, const char *text);

/* Wait for the program to end and read the rest of its output.  Returns its
   exit code, or -N if it was killed by signal N. */
int cli_end(struct cli *c);

/* Return whether the program has not ended yet. */
bool cli_runs(const struct cli *c);

/* Return whether there is output that was not read yet.  This does not read
   it. */
bool cli_has_spoken(const struct cli *c);

/* Store up to "most" processes that the program's first thread has started and
   not waited for.  Returns how many there are. */
int cli_children(const struct cli *c, pid_t *pids, int most);

/* From now on, make this process and those that it starts behave as on a kernel
   before 5.3, or in a sandbox of that time.  Returns false where this is
   impossible. */
bool cli_on_an_old_kernel(void);

/* Start the command and wait for it to end. */
#define cli_run(c, ...) (cli_start((c), __VA_ARGS__), cli_end(c))

#endif
