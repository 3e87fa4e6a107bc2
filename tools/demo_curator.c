/*
 * demo_curator.c - Curator's figures, by way of the driver in bench/peers.
 *
 * Curator's workers are threads of one JVM with a session each, which costs it
 * less than processes would.
 */
#include "demo.h"

#include "support/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PEERS
#define PEERS "bench/peers" /* seen from the top of the source tree */
#endif
#define JARS "/usr/share/java/"
#define RECIPES JARS "curator-recipes.jar"
#define COMPILE_MS 30000
#define PATIENCE_MS 20000 /* for a JVM to start, and sessions */

static const char source[] = PEERS "/CuratorMutex.java";

/* A program, and what its standard input and output are. */
struct program {
	const char *const *argv;
	bool talks;
};

static int run_program(int fd, void *arg)
{
	const struct program *p = arg;

	if (p->talks && (dup2(fd, 0) < 0 || dup2(fd, 1) < 0))
		return 1;
	execvp(p->argv[0], (char *const *)p->argv);
	return 127;
}

/* Return whether a program can be run, and ends with exit code 0. */
static bool succeeds(const char *const *argv, int ms)
{
	struct program program = { argv, false };
	struct child child;

	if (child_start(&child, run_program, &program) < 0)
		return false;
	int code = child_wait(&child, ms);
	child_end(&child);
	return code == 0;
}

static bool in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[512];

	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, name);
		if (access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

const char *demo_curator_missing(void)
{
	if (access(RECIPES, R_OK) < 0)
		return RECIPES " is missing "
			       "(Debian package libcurator-recipes-java)";
	if (access(source, R_OK) < 0)
		return "its driver in bench/peers is missing";
	if (!in_path("javac"))
		return "there is no javac "
		       "(Debian package default-jdk-headless)";
	return NULL;
}

/* Return the value of NAME=VALUE in an answer, -1 if there is none. */
static double value(const char *answer, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = answer; at != NULL; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return atof(at + len + 1);
	}
	return -1;
}

static double in_ms(double us)
{
	return us < 0 ? -1 : us / 1000;
}

static const char *understand(const char *answer, struct demo_figures *out)
{
	double ops = value(answer, "ops");
	double us = value(answer, "us");

	if (ops <= 0 || us <= 0)
		return "its driver failed";
	out->per_second = ops / us * 1e6;
	out->handoff_ms = us / ops / 1000;
	out->p50_ms = in_ms(value(answer, "p50_us"));
	out->p90_ms = in_ms(value(answer, "p90_us"));
	out->p99_ms = in_ms(value(answer, "p99_us"));
	out->max_ms = in_ms(value(answer, "max_us"));
	out->fewest = value(answer, "fewest");
	out->most = value(answer, "most");
	out->jain = value(answer, "jain");
	return NULL;
}

const char *demo_curator(const char *address, const char *dir,
	struct demo_time asked, struct demo_figures *out)
{
	char classes[512], question[128], answer[512];

	snprintf(classes, sizeof(classes),
		"%s:" RECIPES ":" JARS "slf4j-nop.jar", dir);
	const char *compile[] = { "javac", "-cp", classes, "-sourcepath", PEERS,
		"-d", dir, source, NULL };
	const char *drive[] = { "java", "-cp", classes, "CuratorMutex", address,
		NULL };
	struct program program = { drive, true };
	struct child child;

	if (!succeeds(compile, COMPILE_MS))
		return "javac could not compile its driver";
	if (child_start(&child, run_program, &program) < 0)
		return "java could not be started";
	snprintf(question, sizeof(question), "own /demo/curator %d %d %d %d",
		DEMO_WORKERS, DEMO_WORKERS, asked.lead_ms, asked.ms);
	bool told = child_say(child.fd, question) == 0 &&
		child_hear(child.fd, answer, sizeof(answer), PATIENCE_MS) == 0;
	child_end(&child);
	return told ? understand(answer, out) : "its driver did not answer";
}
