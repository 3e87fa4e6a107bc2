/* claim_fixture.c - what tests of claims share. */
#include "claim_fixture.h"

#include <stdio.h>
#include <string.h>

struct kustos_claims *claims, *claims_others;

struct kustos_claims_options claims_options(enum kustos_queue_kind kind)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;

	o.kind = kind;
	return o;
}

struct kustos_claims *claims_new(struct kustos_client *owner, const char *path,
	const struct kustos_claims_options *options)
{
	struct kustos_claims *made = NULL;

	check_err(kustos_claims_create(owner, path, options, &made), KUSTOS_OK);
	ck_assert_ptr_nonnull(made);
	return made;
}

void claim_pair_open(int timeout_ms)
{
	queue_pair_open(timeout_ms);
	claims = claims_new(client, QUEUE, NULL);
	claims_others = claims_new(other, QUEUE, NULL);
}

int claim_marks(void)
{
	return fixture_children(LOCKS);
}

void claim_pair_close(void)
{
	proxy_set_mode(proxy, PROXY_PASS);
	kustos_claims_destroy(claims);
	kustos_claims_destroy(claims_others);
	test_eventually(claim_marks() == 0, 5000);
	queue_pair_close();
}

struct kustos_claim *claim_expect(struct kustos_claims *from, const char *text)
{
	struct kustos_claim *claim = NULL;

	check_err(kustos_claim_next(from, SOON, NULL, &claim), KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(claim)->data, text);
	ck_assert_uint_eq(kustos_claim_item(claim)->len, strlen(text));
	return claim;
}

enum kustos_err claim_try(struct kustos_claims *from)
{
	struct kustos_claim *claim = NULL;
	enum kustos_err err = kustos_claim_next(from, KUSTOS_NOW, NULL, &claim);

	ck_assert_int_eq(err == KUSTOS_OK, claim != NULL);
	kustos_claim_release(claim);
	return err;
}

void claim_ack(struct kustos_claim *claim, enum kustos_err expected)
{
	check_err(kustos_claim_ack(claim, SOON, NULL), expected);
}

void claim_put_raw(const char *path, const char *head, const void *data,
	int len, char made[128])
{
	char whole[128], *created = NULL;

	snprintf(whole, sizeof(whole), "%s/%s", path, head);
	check_err(kustos_create(other, whole, data, (size_t)len,
			  KUSTOS_CREATE_SEQUENTIAL | KUSTOS_CREATE_PARENTS,
			  SOON, NULL, &created, NULL),
		KUSTOS_OK);
	if (made != NULL)
		snprintf(made, 128, "%s", created);
	kustos_free(created);
}

void claim_put_framed(const char *head, const char *text)
{
	char frame[64] = "\0\1\0\1\1\0\0\0";
	int len = (int)strlen(text);

	frame[8] = (char)len;
	memcpy(frame + 9, text, (size_t)len);
	frame[9 + len] = 2;
	claim_put_raw(FRAMED, head, frame, 10 + len, NULL);
}

static void told(struct claimed *claimed, enum kustos_err err)
{
	claimed->err = err;
	__atomic_add_fetch(&claimed->calls, 1, __ATOMIC_SEQ_CST);
}

void claim_told(void *arg, enum kustos_err err, struct kustos_claim *claim)
{
	struct claimed *claimed = arg;

	claimed->claim = claim;
	told(claimed, err);
}

void claim_ended(void *arg, enum kustos_err err)
{
	told(arg, err);
}

enum kustos_err claimed_wait(const struct claimed *claimed)
{
	test_eventually(__atomic_load_n(&claimed->calls, __ATOMIC_SEQ_CST) > 0,
		5000);
	ck_assert_int_eq(claimed->calls, 1);
	return claimed->err;
}

void claim_ack_later(struct kustos_claim *claim, kustos_deadline deadline,
	struct claimed *end)
{
	check_err(
		kustos_claim_ack_async(claim, deadline, NULL, claim_ended, end),
		KUSTOS_OK);
}
