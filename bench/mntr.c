/*
 * mntr.c - what the servers have counted themselves.
 */
#include "mntr.h"

#include "support/net.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER (64 * 1024)

int64_t mntr_number(const char *answer, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = answer; line != NULL;
		line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 &&
			(line[len] == '\t' || line[len] == ' '))
			return strtoll(line + len, NULL, 10);
		if (*line == '\0')
			break;
	}
	return -1;
}

/* Put "ip:port" of "host:port" into "out". */
static bool resolve(const char *host, char *out, size_t size)
{
	struct addrinfo hints = { .ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(host, ':');
	struct addrinfo *found = NULL;
	char name[256], ip[INET_ADDRSTRLEN] = "";

	snprintf(name, sizeof(name), "%.*s",
		(int)(colon != NULL ? colon - host : (long)strlen(host)), host);
	if (getaddrinfo(name, NULL, &hints, &found) != 0)
		return false;
	getnameinfo(found->ai_addr, found->ai_addrlen, ip, sizeof(ip), NULL, 0,
		NI_NUMERICHOST);
	freeaddrinfo(found);
	snprintf(out, size, "%s:%s", ip, colon != NULL ? colon + 1 : "2181");
	return true;
}

static bool ask_one(const char *host, char *answer, struct mntr *sum, char *why,
	size_t size)
{
	char address[INET_ADDRSTRLEN + 8];

	if (!resolve(host, address, sizeof(address)) ||
		fourletter(address, "mntr", answer, ANSWER) == 0) {
		snprintf(why, size, "%s does not answer \"mntr\"", host);
		return false;
	}
	int64_t packets = mntr_number(answer, "zk_packets_received");
	int64_t bytes = mntr_number(answer, "zk_bytes_received_count");
	if (packets < 0) {
		snprintf(why, size,
			"%s does not allow \"mntr\" (4lw.commands.whitelist)",
			host);
		return false;
	}
	sum->packets += packets;
	sum->bytes = sum->bytes < 0 || bytes < 0 ? -1 : sum->bytes + bytes;
	return true;
}

bool mntr_ask(const char *hosts, struct mntr *out, char *why, size_t size)
{
	char *answer = malloc(ANSWER), list[1024];
	bool good = answer != NULL && strlen(hosts) < sizeof(list);
	char *rest = NULL;

	*out = (struct mntr){ 0, 0 };
	snprintf(why, size, "too many servers to ask");
	snprintf(list, sizeof(list), "%.*s", (int)strcspn(hosts, "/"), hosts);
	for (char *host = strtok_r(list, ", ", &rest); good && host != NULL;
		host = strtok_r(NULL, ", ", &rest))
		good = ask_one(host, answer, out, why, size);
	free(answer);
	return good;
}
