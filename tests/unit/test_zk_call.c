/*
 * test_zk_call.c - zk_call.h: the library refuses a request for lack of memory,
 * but its completion may still come.
 */
#include "unit.h"

#include "zk_call.h"

static struct ku_zk_calls calls;
static struct ku_zk_call *call;
static const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS };
static int told, refused;

static void done(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	ck_assert_int_eq(reply->rc, KU_ZK_CONNECTIONLOSS);
	told++;
}

/* Another thread answers it at this very moment. */
static void done_meanwhile(void *arg, const struct ku_zk_reply *reply)
{
	refused = ku_zk_call_refuse(&calls, call, KU_ZK_MARSHALLINGERROR);
	done(arg, reply);
}

static void begin(ku_zk_done_fn *fn)
{
	told = 0;
	ku_zk_calls_init(&calls);
	call = ku_zk_call_create(&calls, fn, NULL, NULL);
	ck_assert_ptr_nonnull(call);
}

START_TEST(L01_a_request_that_was_refused_is_not_answered)
{
	const int rc = _i == 0 ? KU_ZK_MARSHALLINGERROR : KU_ZK_INVALIDSTATE;

	begin(done);
	ck_assert_int_eq(ku_zk_call_refuse(&calls, call, rc), rc);
	if (_i == 0)
		ku_zk_call_finish(call, &lost);
	ck_assert_int_eq(told, 0);
	ck_assert_ptr_null(calls.first);
	ku_zk_calls_end(&calls);
}
END_TEST

START_TEST(L01_a_request_that_is_being_answered_is_not_refused)
{
	begin(done_meanwhile);
	ku_zk_call_finish(call, &lost);
	ck_assert_int_eq(refused, KU_ZK_OK);
	ck_assert_int_eq(told, 1);
	ku_zk_calls_end(&calls);
}
END_TEST

START_TEST(L01_nor_is_one_that_was_answered)
{
	begin(done);
	ku_zk_call_finish(call, &lost);
	ck_assert_int_eq(
		ku_zk_call_refuse(&calls, call, KU_ZK_MARSHALLINGERROR),
		KU_ZK_OK);
	ck_assert_int_eq(told, 1);
	ku_zk_calls_end(&calls);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zk_call");
	TCase *tcase = tcase_create("refused");

	tcase_add_loop_test(tcase,
		L01_a_request_that_was_refused_is_not_answered, 0, 2);
	tcase_add_test(tcase,
		L01_a_request_that_is_being_answered_is_not_refused);
	tcase_add_test(tcase, L01_nor_is_one_that_was_answered);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
