/*
 * peer_process.c - start peers and talk to them.
 */
#include "peer.h"
#include "support/process.h"
#include "support/raw.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_MS 60000 /* for a JVM to start on a busy machine */
#define JAVA_DIR "/usr/share/java/"
#define CURATOR JAVA_DIR "curator-recipes.jar" /* its manifest names the rest */
#define RECIPES JAVA_DIR "zookeeper-recipes-"
#define LOCK_RECIPE RECIPES "lock.jar"
#define QUEUE_RECIPE RECIPES "queue.jar"
#define QUIET JAVA_DIR "slf4j-nop.jar"
#define JAVA                                                                   \
	"java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", \
		"-XX:-UsePerfData", "-Xmx128m", "-cp"
#define PYTHON "/usr/bin/python3" /* the Debian package's */
#define SKIPPED 77
#define MAX_ARGS 16

/* make sets the paths; the defaults are for a run at the top of the tree. */
#ifndef INTEROP_SRC
#define INTEROP_SRC "tests/interop"
#define INTEROP_BUILD INTEROP_SRC
#define INTEROP_EXAMPLES "doc/examples"
#endif

static const char *const names[PEER_KINDS] = { "kustos", "curator", "kazoo",
	"stock kazoo", "kustos as kazoo", "zookeeper" };

static const char *servers; /* NULL: the fixture's */

static const char ours[] = INTEROP_BUILD "/peer";
static const char kazoos[] = INTEROP_SRC "/peer.py";
static const char classes[] = CURATOR ":" QUIET ":" INTEROP_BUILD;
static const char class_file[] = INTEROP_BUILD "/Peer.class";
static const char recipes[] = LOCK_RECIPE ":" QUEUE_RECIPE ":" QUIET
					  ":" INTEROP_BUILD;
static const char recipes_file[] = INTEROP_BUILD "/Recipes.class";

/* The command of each kind; "@" stands for the server's address and "#" for the
   session timeout. */
static const char *const commands[PEER_KINDS][MAX_ARGS] = {
	[PEER_KUSTOS] = { ours, "@", "#" },
	[PEER_CURATOR] = { JAVA, classes, "Peer", "@", "#" },
	[PEER_KAZOO] = { PYTHON, "-B", kazoos, "@", "#" },
	[PEER_KAZOO_STOCK] = { PYTHON, "-B", kazoos, "@", "#", "stock" },
	[PEER_KUSTOS_KAZOO] = { ours, "@", "#", "kazoo" },
	[PEER_ZOOKEEPER] = { JAVA, recipes, "Recipes", "@", "#" },
};

const char *peer_name(enum peer_kind kind)
{
	return names[kind];
}

/* In the new process: run the program with the socket as its input and
   output. */
static int become(int fd, void *arg)
{
	char *const *argv = arg;

	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return 126;
	execvp(argv[0], argv);
	return 127;
}

void peers_connect_to(const char *hosts)
{
	servers = hosts;
}

void peer_launch(struct peer *p, enum peer_kind kind, int session_ms)
{
	char number[16];
	const char *argv[MAX_ARGS + 1] = { NULL };
	int i;

	snprintf(number, sizeof(number), "%d", session_ms);
	for (i = 0; commands[kind][i] != NULL; i++) {
		argv[i] = commands[kind][i];
		if (strcmp(argv[i], "@") == 0)
			argv[i] = servers != NULL ? servers : fixture_address();
		else if (strcmp(argv[i], "#") == 0)
			argv[i] = number;
	}
	p->kind = kind;
	ck_assert_int_eq(child_start(&p->child, become, argv), 0);
}

static void await_ready(struct peer *p)
{
	const char *session = peer_hear(p, "ready", START_MS);

	p->session = (int64_t)strtoull(session, NULL, 16);
	ck_assert_int_ne(p->session, 0);
}

void peers_start(struct peer *peers, const enum peer_kind *kinds, int count,
	int session_ms)
{
	for (int i = 0; i < count; i++)
		peer_launch(&peers[i], kinds[i], session_ms);
	for (int i = 0; i < count; i++)
		await_ready(&peers[i]);
}

void peer_start(struct peer *peer, enum peer_kind kind, int session_ms)
{
	peers_start(peer, &kind, 1, session_ms);
}

void peers_end(struct peer *peers, int count)
{
	for (int i = 0; i < count; i++)
		peer_tell(&peers[i], "exit");
	for (int i = 0; i < count; i++) {
		struct peer *p = &peers[i];

		ck_assert_msg(child_wait(&p->child, PEER_PATIENCE_MS) == 0,
			"%s did not end well", names[p->kind]);
		child_end(&p->child);
	}
}

__attribute__((format(printf, 2, 0))) static void say(struct peer *p,
	const char *format, va_list args)
{
	char line[1024];
	int n = vsnprintf(line, sizeof(line), format, args);

	ck_assert_int_lt(n, (int)sizeof(line));
	ck_assert_msg(child_say(p->child.fd, line) == 0, "%s does not hear: %s",
		names[p->kind], line);
}

void peer_tell(struct peer *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(p, format, args);
	va_end(args);
}

const char *peer_hear(struct peer *p, const char *wanted, int ms)
{
	size_t len = strlen(wanted);

	ck_assert_msg(child_hear(p->child.fd, p->reply, sizeof(p->reply), ms) ==
			0,
		"%s has not said \"%s\" within %d ms", names[p->kind], wanted,
		ms);
	ck_assert_msg(strncmp(p->reply, wanted, len) == 0 &&
			(p->reply[len] == ' ' || p->reply[len] == '\0'),
		"%s said \"%s\" and not \"%s\"", names[p->kind], p->reply,
		wanted);
	return p->reply + len + (p->reply[len] == ' ');
}

void peer_do(struct peer *p, const char *wanted, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(p, format, args);
	va_end(args);
	peer_hear(p, wanted, PEER_PATIENCE_MS);
}

bool peer_silent(struct peer *p)
{
	struct pollfd fd = { p->child.fd, POLLIN, 0 };

	return poll(&fd, 1, 0) == 0;
}

int64_t peer_hear_acquired(struct peer *p, int ms)
{
	return strtoll(peer_hear(p, "acquired", ms), NULL, 10);
}

void peer_kill(struct peer *p)
{
	process_kill(p->child.pid);
	p->child.pid = 0;
	child_end(&p->child);
}

void peer_join(struct peer *p, const char *path, int place)
{
	peer_tell(p, "acquire %s 60000", path);
	line_await(path, place);
}

void line_await(const char *path, int count)
{
	int64_t end = test_now_ms() + PEER_PATIENCE_MS;
	int now;

	while ((now = raw_count_children(fixture_address(), path)) != count) {
		if (now == RAW_NONODE && count == 0)
			return;
		ck_assert_msg(test_now_ms() < end,
			"%s has %d children and not %d", path, now, count);
		test_pause_1ms();
	}
}

/* The answer of "wchp" has a line for each path, and below it a line with a tab
   for each session. */
static bool watches(const struct peer *p, const char *path)
{
	char text[8192], session[32], *rest = NULL;
	bool below = false;

	snprintf(session, sizeof(session), "\t0x%llx", (long long)p->session);
	(void)fourletter(fixture_address(), "wchp", text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
		line = strtok_r(NULL, "\n", &rest)) {
		if (*line != '\t')
			below = strcmp(line, path) == 0;
		else if (below && strcmp(line, session) == 0)
			return true;
	}
	return false;
}

void peer_await_watch(const struct peer *p, const char *path)
{
	test_within(watches(p, path), PEER_PATIENCE_MS);
}

static bool kazoo_is_there(void)
{
	static const char *argv[] = { PYTHON, "-c", "import kazoo", NULL };
	struct child c;
	bool there;

	if (child_start(&c, become, argv) < 0)
		return false;
	there = child_wait(&c, START_MS) == 0;
	child_end(&c);
	return there;
}

#define NO_JAVAC                              \
	"no javac when the tests were built " \
	"(Debian package default-jdk-headless)"

static const char *missing(enum peer_kind kind)
{
	switch (kind) {
	case PEER_CURATOR:
		if (access(CURATOR, R_OK) < 0)
			return "no Curator: " CURATOR " is missing "
			       "(Debian package libcurator-recipes-java)";
		if (access(class_file, R_OK) < 0)
			return NO_JAVAC;
		return NULL;
	case PEER_ZOOKEEPER:
		if (access(LOCK_RECIPE, R_OK) < 0 ||
			access(QUEUE_RECIPE, R_OK) < 0)
			return "no recipes of ZooKeeper: one of " RECIPES
			       "{lock,queue}.jar is missing "
			       "(Debian package libzookeeper-java)";
		if (access(recipes_file, R_OK) < 0)
			return NO_JAVAC;
		return NULL;
	case PEER_KAZOO:
	case PEER_KAZOO_STOCK:
		return kazoo_is_there() ? NULL
					: "no kazoo for " PYTHON
					  " (Debian package python3-kazoo)";
	default:
		return NULL;
	}
}

int interop_main(Suite *suite, const enum peer_kind *kinds)
{
	const char *why = NULL;

	setenv("PYTHONPATH", INTEROP_EXAMPLES, 1);
	for (; why == NULL && *kinds != PEER_KINDS; kinds++)
		why = missing(*kinds);
	if (why == NULL)
		return fixture_main(suite);
	printf("skipped: %s\n", why);
	srunner_free(srunner_create(suite));
	return SKIPPED;
}
