/*
 * cmd_ls.c - kustos ls: who holds a lock, and who waits for it.
 */
#include "layout.h"
#include "show.h"
#include "standing.h"
#include "tool.h"

#include <kustos/node.h>

#include <stdio.h>

static const char help[] =
	"Usage: kustos ls [OPTION]... PATH\n"
	"\n"
	"List who holds the lock at PATH and who waits for it, in order:\n"
	"since when, with which session, in which library's style of names,\n"
	"and the data they stored.  For a semaphore at PATH, list who holds\n"
	"its leases and who waits.\n"
	"\n"
	"      --extra-marks TEXT[,TEXT]...\n"
	"                        names with TEXT before their number are\n"
	"                        contenders as well\n"
	"      --json            print one JSON object\n";

static const char codes[] =
	"Exit codes: 0; 117 if PATH does not exist, 123 if no server\n"
	"answers, 124 for another failure, 125 for a usage error.\n";

static const struct option long_options[] = {
	TOOL_OPTION_MARKS,
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* Is the path a plain barrier instead of a line?  Like "kustos top", this goes
   by nothing but the data of the node. */
static bool is_gate(struct kustos_client *client, const char *path,
	kustos_deadline end)
{
	struct kustos_stat stat;
	char *data = NULL;
	size_t len = 0;
	enum kustos_err err = kustos_get(client, path, end, NULL, &data, &len,
		&stat);
	bool is = err == KUSTOS_OK && data != NULL && stat.cversion == 0 &&
		layout_says_gate(data, len);

	kustos_free(data);
	return is;
}

static void show(const struct tool *tool, struct kustos_client *client,
	const char *path, const struct kustos_participants *list)
{
	kustos_deadline end = kustos_after_ms(tool->session_ms);

	if (tool->json)
		show_list_json(stdout, path, list);
	else if (list->count + list->foreign > 0 || !is_gate(client, path, end))
		show_list(stdout, path, list);
	else {
		show_text(stdout, path);
		puts(": no line here, but a barrier that is set");
	}
}

static int list_path(const struct tool *tool, const char *path,
	const char *marks)
{
	struct standing standing;
	struct kustos_client *client;
	enum kustos_err err;
	int code = tool_connect(tool, &client);

	if (code != TOOL_OK)
		return code;
	err = standing_get(client, path, marks,
		kustos_after_ms(tool->session_ms), &standing);
	if (err == KUSTOS_OK)
		show(tool, client, path, standing.list);
	else
		code = tool_failed(tool, "cannot list", path, err);
	standing_free(&standing);
	tool_close(client);
	return tool_flush(code);
}

static int run(int argc, char **argv)
{
	const char *marks = NULL;
	struct tool tool;
	int option;

	tool_init(&tool, &tool_ls);
	while ((option = getopt_long(argc, argv, "vh", long_options, NULL)) !=
		-1)
		if (!(option == TOOL_OPT_MARKS ? tool_take_marks(&tool, &marks)
					       : tool_common(&tool, option)))
			return tool.exit_code;
	if (argc - optind != 1)
		return tool_usage(&tool, "%s",
			optind == argc ? "no PATH given"
				       : "more than one PATH");
	tool.paths = argv + optind;
	tool.path_count = 1;
	return list_path(&tool, argv[optind], marks);
}

const struct tool_subcommand tool_ls = { "ls", run,
	"list who holds a lock and who waits", help, tool_help_common, codes };
