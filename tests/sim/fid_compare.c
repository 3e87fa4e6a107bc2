/* fid_compare.c - compare what the users of two worlds were told. */
#include "fid_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of transaction numbers that mean the same transaction, in order. */
static struct {
	int64_t a, b;
} pairs[200000];
static int pair_count;

static bool same_zxid(int64_t a, int64_t b)
{
	int low = 0;
	int high = pair_count;
	int mid;

	if (a == 0 || b == 0)
		return a == b;
	while (low < high) {
		mid = (low + high) / 2;
		if (pairs[mid].a < a)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < pair_count && pairs[low].a == a)
		return pairs[low].b == b;
	if ((low > 0 && pairs[low - 1].b >= b) ||
		(low < pair_count && pairs[low].b <= b))
		return false;
	memmove(&pairs[low + 1], &pairs[low],
		(size_t)(pair_count - low) * sizeof(pairs[0]));
	pairs[low].a = a;
	pairs[low].b = b;
	pair_count++;
	return true;
}

static int by_text(const void *a, const void *b)
{
	const struct fid_entry *left = a;
	const struct fid_entry *right = b;

	if (left->event != right->event)
		return left->event - right->event;
	return strcmp(left->text, right->text);
}

static bool same_entries(const struct fid_session *a,
	const struct fid_session *b, char *why, size_t size)
{
	const struct fid_entry *left = a->log.entries + a->log.compared;
	const struct fid_entry *right = b->log.entries + b->log.compared;
	int n = a->log.count - a->log.compared;
	int i;
	int k;

	for (i = 0; i < n; i++) {
		bool same = strcmp(left[i].text, right[i].text) == 0;

		for (k = 0; k < 3; k++)
			same = same &&
				same_zxid(left[i].zxid[k], right[i].zxid[k]);
		if (same)
			continue;
		snprintf(why, size,
			"session %d, entry %d:\n  %s: %s (%lld "
			"%lld %lld)\n  %s: %s (%lld %lld %lld)",
			a->number, i, a->world->name, left[i].text,
			(long long)left[i].zxid[0], (long long)left[i].zxid[1],
			(long long)left[i].zxid[2], b->world->name,
			right[i].text, (long long)right[i].zxid[0],
			(long long)right[i].zxid[1],
			(long long)right[i].zxid[2]);
		return false;
	}
	return true;
}

static void list(const struct fid_session *session, char *why, size_t size)
{
	const struct fid_log *log = &session->log;
	size_t len;
	int i;

	for (i = log->compared; i < log->count; i++) {
		len = strlen(why);
		snprintf(why + len, size - len, "\n  %s: %s",
			session->world->name, log->entries[i].text);
	}
}

bool fid_compare(struct fid_world *a, struct fid_world *b, bool sorted,
	char *why, size_t size)
{
	struct fid_log *left;
	struct fid_log *right;
	int i;

	for (i = 0; i < FID_SESSIONS; i++) {
		left = &a->sessions[i].log;
		right = &b->sessions[i].log;
		if (left->count != right->count) {
			snprintf(why, size, "session %d: %d and %d entries",
				i + 1, left->count - left->compared,
				right->count - right->compared);
			list(&a->sessions[i], why, size);
			list(&b->sessions[i], why, size);
			return false;
		}
		if (sorted && left->count > 0) {
			qsort(left->entries + left->compared,
				(size_t)(left->count - left->compared),
				sizeof(struct fid_entry), by_text);
			qsort(right->entries + right->compared,
				(size_t)(right->count - right->compared),
				sizeof(struct fid_entry), by_text);
		}
		if (!same_entries(&a->sessions[i], &b->sessions[i], why, size))
			return false;
		left->compared = left->count;
		right->compared = right->count;
	}
	return true;
}
