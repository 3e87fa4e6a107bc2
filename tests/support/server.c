/*
 * server.c - a real ZooKeeper server under the control of a test.
 */
#include "server.h"
#include "net.h"
#include "process.h"
#include "reaper.h"
#include "server_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JAVA_DIR "/usr/share/java/"
#define CLASSES "/etc/zookeeper/conf:" JAVA_DIR "zookeeper.jar"
#define LOGGING ":" JAVA_DIR "slf4j-simple.jar" /* if it is there */
#define MAIN "org.apache.zookeeper.server."
#define START_MS 30000 /* for a machine that is busy with other tests */
#define STOP_MS START_MS
#define MAX_ARGS 40
#define DIR_SIZE 288
#define PATH_SIZE (DIR_SIZE + 16) /* of what is in there */

struct server {
	struct reaper *reaper;
	int slot;
	bool ensemble;
	bool log;
	bool shipped;
	int tick_ms;
	int min_session_ms;
	int max_session_ms;
	int port;
	char ip[32];
	char address[48];
	char dir[DIR_SIZE];
	char *config;
	char *jvm;
};

const char *server_missing(void)
{
	const char *path = getenv("PATH");
	char file[512];

	if (access(JAVA_DIR "zookeeper.jar", R_OK) < 0)
		return "no ZooKeeper server: " JAVA_DIR "zookeeper.jar "
		       "is missing (Debian package zookeeper)";
	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/java", (int)len, path);
		if (access(file, X_OK) == 0)
			return NULL;
		path += len + (path[len] == ':');
	}
	return "no Java in $PATH to run a ZooKeeper server "
	       "(Debian package default-jre-headless)";
}

static char *copy(const char *text)
{
	return strdup(text == NULL ? "" : text);
}

struct server *server_prepare(const struct server_options *options)
{
	static const struct server_options none;
	const struct server_options *o = options == NULL ? &none : options;
	struct server *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->slot = -1;
	s->log = o->log || getenv("TEST_SERVER_LOG") != NULL;
	s->shipped = o->shipped;
	s->tick_ms = o->tick_ms > 0 ? o->tick_ms : 200;
	s->min_session_ms = o->min_session_ms > 0 ? o->min_session_ms : 400;
	s->max_session_ms = o->max_session_ms > 0 ? o->max_session_ms : 60000;
	snprintf(s->ip, sizeof(s->ip), "%s", o->ip ? o->ip : "127.0.0.1");
	s->config = copy(o->config);
	s->jvm = copy(o->jvm);
	s->reaper = reaper_get();
	if (s->config == NULL || s->jvm == NULL || s->reaper == NULL)
		goto fail;
	s->slot = reaper_slot(s->reaper);
	s->port = reaper_reserve(s->reaper, s->slot, s->ip);
	if (s->port < 0)
		goto fail;
	snprintf(s->address, sizeof(s->address), "%s:%d", s->ip, s->port);
	snprintf(s->dir, sizeof(s->dir), "%s/%d", reaper_dir(s->reaper),
		s->slot);
	return s;
fail:
	server_free(s);
	return NULL;
}

int server_port(struct server *s)
{
	return reaper_reserve(s->reaper, s->slot, s->ip);
}

/* Put the name of the directory with snapshots and logs into "path". */
static void stored(const struct server *s, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/data/version-2", s->dir);
}

static FILE *create(const struct server *s, const char *name)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	return fopen(path, "we");
}

static int write_id(const struct server *s, int id)
{
	char path[PATH_SIZE];
	FILE *f;

	snprintf(path, sizeof(path), "%s/data", s->dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -1;
	f = create(s, "data/myid");
	if (f == NULL)
		return -1;
	fprintf(f, "%d\n", id);
	return fclose(f) == 0 ? 0 : -1;
}

int server_configure(struct server *s, const char *peers, int id)
{
	FILE *f = create(s, "zoo.cfg");

	if (f == NULL)
		return -1;
	/* The path is relative, as an absolute one may contain characters that
	   mean something in this file. */
	fprintf(f, "dataDir=./data\nclientPortAddress=%s\nclientPort=%d\n",
		s->ip, s->port);
	fprintf(f, "tickTime=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n",
		s->tick_ms, s->min_session_ms, s->max_session_ms);
	fprintf(f,
		"maxClientCnxns=0\nadmin.enableServer=false\n"
		"4lw.commands.whitelist=*\n%s\n%s",
		s->config, peers == NULL ? "" : peers);
	if (fclose(f) != 0)
		return -1;
	s->ensemble = peers != NULL;
	return s->ensemble ? write_id(s, id) : 0;
}

/* Put "more", which ends with NULL, behind the "n" that are there. */
static int add(const char **argv, int n, const char *const *more)
{
	while (*more != NULL)
		argv[n++] = *more++;
	return n;
}

#define LOG_HEADER 16 /* bytes, before the first transaction */

/* A server that is killed just as it begins a log leaves one without a whole
   header.  Version 3.8.0 does not start with such a log, which holds nothing. */
static void remove_headless_logs(const struct server *s)
{
	char path[PATH_SIZE];
	const struct dirent *d;
	struct stat st;

	stored(s, path);
	DIR *dir = opendir(path);
	while (dir != NULL && (d = readdir(dir)) != NULL)
		if (strncmp(d->d_name, "log.", 4) == 0 &&
			fstatat(dirfd(dir), d->d_name, &st, 0) == 0 &&
			st.st_size < LOG_HEADER)
			unlinkat(dirfd(dir), d->d_name, 0);
	if (dir != NULL)
		closedir(dir);
}

int server_launch(struct server *s)
{
	/* With these the server starts in half a second, stays small and does
	   not wait for the disk. */
	static const char *const quick[] = {
		"-XX:TieredStopAtLevel=1",
		"-Xmx256m",
		"-XX:+UseSerialGC",
		"-Xshare:auto",
		"-XX:-UsePerfData",
		"-Dzookeeper.forceSync=no",
		"-Dzookeeper.preAllocSize=1024",
		NULL,
	};
	const char *const messages[] = {
		s->log ? "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
		       : "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		NULL,
	};
	const char *argv[MAX_ARGS + 1] = { "java" };
	char *jvm = strdup(s->jvm);
	char *rest = jvm;
	char *arg;
	int n = 1;
	int err;

	if (jvm == NULL)
		return -1;
	if (!s->shipped)
		n = add(argv, n, quick);
	n = add(argv, n, messages);
	while ((arg = strsep(&rest, " ")) != NULL)
		if (*arg != '\0' && n < MAX_ARGS - 4)
			argv[n++] = arg;
	argv[n++] = "-cp";
	argv[n++] = CLASSES LOGGING;
	argv[n++] = s->ensemble ? MAIN "quorum.QuorumPeerMain"
				: MAIN "ZooKeeperServerMain";
	argv[n] = "zoo.cfg";
	remove_headless_logs(s);
	err = reaper_spawn(s->reaper, s->slot, argv);
	free(jvm);
	return err;
}

void server_complain(const struct server *s)
{
	char path[PATH_SIZE];
	char line[256];
	FILE *f;

	fprintf(stderr, "server %s %s; its output:\n", s->address,
		server_pid(s) == 0 ? "has ended" : "does not answer");
	snprintf(path, sizeof(path), "%s/log", s->dir);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		fprintf(stderr, "| %s", line);
	if (f != NULL)
		fclose(f);
}

struct server *server_start(const struct server_options *options)
{
	struct server *s = server_prepare(options);

	if (s == NULL) {
		fprintf(stderr, "no directory or port for a server\n");
		return NULL;
	}
	if (server_configure(s, NULL, 0) < 0 || server_launch(s) < 0 ||
		server_wait(s, START_MS) < 0) {
		server_complain(s);
		server_free(s);
		return NULL;
	}
	return s;
}

void server_free(struct server *s)
{
	if (s == NULL)
		return;
	if (s->slot >= 0)
		reaper_drop(s->reaper, s->slot);
	free(s->config);
	free(s->jvm);
	free(s);
}

const char *server_address(const struct server *s)
{
	return s->address;
}

const char *server_dir(const struct server *s)
{
	return s->dir;
}

pid_t server_pid(const struct server *s)
{
	return reaper_pid(s->reaper, s->slot);
}

int server_kill(struct server *s)
{
	reaper_signal(s->reaper, s->slot, SIGKILL);
	return 0;
}

int server_stop(struct server *s)
{
	int64_t end = test_now_ms() + STOP_MS;

	if (reaper_signal(s->reaper, s->slot, SIGTERM) < 0)
		return 0;
	reaper_signal(s->reaper, s->slot, SIGCONT); /* it may be paused */
	while (server_pid(s) != 0) {
		if (test_now_ms() > end)
			return -1;
		test_pause_1ms();
	}
	return 0;
}

int server_pause(struct server *s)
{
	pid_t pid = server_pid(s);

	return pid == 0 ? -1 : process_pause(pid);
}

int server_resume(struct server *s)
{
	pid_t pid = server_pid(s);

	return pid == 0 ? -1 : process_resume(pid);
}

int server_restart(struct server *s)
{
	server_kill(s);
	if (server_launch(s) == 0 && server_wait(s, START_MS) == 0)
		return 0;
	server_complain(s);
	return -1;
}

int server_wipe(struct server *s)
{
	char path[PATH_SIZE];

	if (server_pid(s) != 0)
		return -1;
	/* The file beside it, with the number in the ensemble, must stay. */
	stored(s, path);
	return access(path, F_OK) < 0 ? 0 : remove_tree(path);
}

int server_wait(struct server *s, int ms)
{
	int64_t begun = test_now_ms();

	while (!fourletter_serves(s->address, begun)) {
		if (test_now_ms() > begun + ms || server_pid(s) == 0)
			return -1;
		test_pause_1ms();
	}
	return 0;
}
