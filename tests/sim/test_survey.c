/*
 * test_survey.c - a survey, which reads all nodes of a line at once, cannot
 * begin.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "survey.h"

static struct bench bench;
static struct kustos_client *client;
static int ends;

static void setup(void)
{
	ends = 0;
	(void)lone_setup(&bench, 0);
	client = lone_connected(&bench, &ku_zk_sim);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void over(struct ku_survey *survey)
{
	(void)survey;
	ends++;
}

/* The caller that waits for the survey learns the error, once. */
START_TEST(a_survey_of_which_nothing_can_be_read_ends)
{
	struct ku_survey survey;

	ck_assert_int_eq(ku_survey_init_node(&survey, client, "/node"),
		KUSTOS_OK);
	ck_assert_int_eq(survey.list[0].contender.style, KUSTOS_STYLE_NODE);
	survey.done = over;
	client->session.auth_failed = true;
	ku_survey_read(&survey);
	client->session.auth_failed = false;
	ck_assert_int_eq(ends, 1);
	ck_assert_int_eq(survey.err, KUSTOS_EAUTH);
	ku_survey_free(&survey);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("surveys in the simulator");
	TCase *t = tcase_create("nodes read at once");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_survey_of_which_nothing_can_be_read_ends);
	suite_add_tcase(s, t);
	return unit_main(s);
}
