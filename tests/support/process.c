/*
 * process.c - watch, stop and measure processes by way of /proc.
 */
#include "process.h"
#include "net.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Return the state letter in a "stat" file of /proc, 0 if there is none. */
static char state_in(const char *path)
{
	char line[512];
	const char *end;
	size_t n;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	end = strrchr(line, ')'); /* the name before it may hold anything */
	return end == NULL || end[1] == '\0' ? 0 : end[2];
}

bool process_alive(pid_t pid)
{
	char path[64];
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	state = state_in(path);
	return state != 0 && state != 'Z' && state != 'X';
}

/* Return how many threads have not stopped, -1 if the process is gone. */
static int count_threads_running(pid_t pid)
{
	char path[300];
	struct dirent *e;
	int running = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		char state;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat",
			(int)pid, e->d_name);
		state = state_in(path);
		if (state != 0 && strchr("TtZX", state) == NULL)
			running++;
	}
	closedir(d);
	return running;
}

int process_pause(pid_t pid)
{
	int running;

	if (kill(pid, SIGSTOP) < 0)
		return -1;
	while ((running = count_threads_running(pid)) > 0)
		test_pause_1ms();
	return running == 0 && process_alive(pid) ? 0 : -1;
}

int process_resume(pid_t pid)
{
	return kill(pid, SIGCONT);
}

void process_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (process_alive(pid))
		test_pause_1ms();
}

bool process_holds(pid_t pid, const char *what)
{
	char path[300], link[64];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d != NULL && !found && (e = readdir(d)) != NULL) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", (int)pid,
			e->d_name);
		n = readlink(path, link, sizeof(link));
		found = n == (ssize_t)strlen(what) &&
			memcmp(link, what, (size_t)n) == 0;
	}
	if (d != NULL)
		closedir(d);
	return found;
}

static long status_field(const char *name)
{
	char line[256];
	size_t len = strlen(name);
	long value = -1;
	FILE *f = fopen("/proc/self/status", "re");

	if (f == NULL)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, len) == 0)
			value = strtol(line + len, NULL, 10);
	fclose(f);
	return value;
}

long rss_kb(void)
{
	return status_field("VmRSS:");
}

long private_kb(void)
{
	return status_field("RssAnon:");
}

int thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

bool thread_sleeps(int id)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	return state_in(path) == 'S';
}

int thread_count(void)
{
	return (int)status_field("Threads:");
}

static void *wait_for_end(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

int thread_count_before(void)
{
	pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	int count;

	pthread_mutex_lock(&end);
	if (pthread_create(&thread, NULL, wait_for_end, &end) != 0)
		return -1;
	/* Count while the thread lives: after the join it may still be listed
	   for a moment. */
	count = thread_count() - 1;
	pthread_mutex_unlock(&end);
	pthread_join(thread, NULL);
	return count;
}

int fd_count(void)
{
	struct dirent *e;
	int n = -1; /* do not count the directory's own descriptor */
	DIR *d = opendir("/proc/self/fd");

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}
