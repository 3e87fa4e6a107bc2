/*
 * test_zk_call.c - zk_call.h: a request that the library refuses, perhaps for
 * lack of memory, when its completion may still come; and who has entered.
 */
#include "unit.h"

#include "zk_call.h"

static struct ku_zk_calls calls;
static struct ku_zk_call *call;
static const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS };
static int told, entered;

static void done(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	ck_assert_int_eq(reply->rc, KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(entered, 1);
	told++;
}

static void enter(void *arg)
{
	ck_assert_ptr_eq(arg, &calls);
	entered++;
}

static void leave(void *arg)
{
	ck_assert_ptr_eq(arg, &calls);
	entered--;
}

static void begin(void)
{
	told = 0;
	ku_zk_calls_init(&calls, enter, leave, &calls);
	call = ku_zk_call_create(&calls, done, NULL, NULL);
	ck_assert_ptr_nonnull(call);
}

START_TEST(L01_a_request_that_was_refused_is_not_answered)
{
	const int rc = _i == 0 ? KU_ZK_MARSHALLINGERROR : KU_ZK_INVALIDSTATE;

	begin();
	ck_assert_int_eq(ku_zk_call_refuse(call, rc), rc);
	if (_i == 0)
		ku_zk_call_finish(call, &lost);
	ck_assert_int_eq(told, 0);
	ck_assert_ptr_null(calls.first);
	ku_zk_calls_end(&calls);
}
END_TEST

START_TEST(L01_an_answer_is_told_once_by_who_has_entered)
{
	begin();
	ku_zk_call_finish(call, &lost);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(entered, 0);
	ck_assert_ptr_null(calls.first);
	ku_zk_calls_end(&calls);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zk_call");
	TCase *tcase = tcase_create("refused");

	tcase_add_loop_test(tcase,
		L01_a_request_that_was_refused_is_not_answered, 0, 2);
	tcase_add_test(tcase, L01_an_answer_is_told_once_by_who_has_entered);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
