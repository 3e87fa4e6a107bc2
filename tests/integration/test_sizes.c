/*
 * test_sizes.c - programs that were compiled with another version of the
 * headers: fields that they do not know are left alone, and options that they
 * do not set have their defaults.
 */
#include "client_fixture.h"

#include <kustos/barrier.h>
#include <kustos/claim.h>
#include <kustos/countdown.h>
#include <kustos/election.h>
#include <kustos/mutex.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>
#include <stddef.h>
#include <string.h>

#define T_MS 8000
#define MARK 0x5a

/* Fill in all but the size. */
static void mark(void *memory, size_t size)
{
	memset((char *)memory + sizeof(size_t), MARK, size - sizeof(size_t));
}

/* Check that nothing was written from "known" to "size". */
static void check_marks(const void *memory, size_t known, size_t size)
{
	for (size_t i = known; i < size; i++)
		ck_assert_int_eq(((const char *)memory)[i], MARK);
}

START_TEST(options_that_an_old_program_does_not_know_have_their_defaults)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *c;

	/* As if these fields were somebody else's memory. */
	o.size = offsetof(struct kustos_client_options, session_timeout_ms);
	mark(&o.session_timeout_ms, sizeof(o) - o.size);
	o.session_timeout_ms = -1;
	c = client_open_with(&o);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	ck_assert_int_eq(client_session(c).timeout_ms, 10000);
	client_close(c);
}
END_TEST

START_TEST(options_of_a_newer_program_are_taken_as_far_as_they_are_known)
{
	struct {
		struct kustos_client_options known;
		char more[64];
	} o = { client_options(fixture_address(), T_MS), { 0 } };
	struct kustos_client *c;

	o.known.size = sizeof(o);
	c = client_open_with(&o.known);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	ck_assert_int_eq(client_session(c).timeout_ms, T_MS);
	client_close(c);
}
END_TEST

/* An option that is added must not stand where older headers have padding. */
#define CHECK_END(name, last)                  \
	ck_assert_uint_eq(sizeof(struct name), \
		offsetof(struct name, last) +  \
			sizeof(((struct name *)NULL)->last))

START_TEST(no_struct_with_a_size_ends_in_padding)
{
	CHECK_END(kustos_barrier_options, data_len);
	CHECK_END(kustos_claims_options, reserved);
	CHECK_END(kustos_client_options, resume);
	CHECK_END(kustos_client_stats, latency_max_us);
	CHECK_END(kustos_countdown_options, data_len);
	CHECK_END(kustos_latch_options, reserved);
	CHECK_END(kustos_mutex_options, extra_marks);
	CHECK_END(kustos_queue_options, reserved);
	CHECK_END(kustos_rwlock_options, reserved);
	CHECK_END(kustos_selector_options, resume);
	CHECK_END(kustos_semaphore_options, reason);
	CHECK_END(kustos_session, reserved);
	CHECK_END(kustos_simple_options, reserved);
}
END_TEST

START_TEST(options_without_a_size_are_refused)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *c = NULL;

	o.size = 0;
	ck_assert_int_eq(kustos_client_open(&o, &c), KUSTOS_EINVAL);
	ck_assert_ptr_null(c);
}
END_TEST

START_TEST(a_session_is_told_as_far_as_its_reader_knows_it)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	struct kustos_session all = client_session(c), s;
	const size_t known = offsetof(struct kustos_session, timeout_ms);

	s.size = known;
	mark(&s, sizeof(s));
	ck_assert_int_eq(kustos_client_session(c, &s), KUSTOS_OK);
	ck_assert_int_eq(s.size, known);
	ck_assert(s.session_id == all.session_id && s.epoch == 1);
	check_marks(&s, known, sizeof(s));
	s.size = 0;
	ck_assert_int_eq(kustos_client_session(c, &s), KUSTOS_EINVAL);
	client_close(c);
}
END_TEST

START_TEST(figures_are_told_as_far_as_their_reader_knows_them)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	struct kustos_client_stats s;
	const size_t known = offsetof(struct kustos_client_stats, failed);

	s.size = known;
	mark(&s, sizeof(s));
	ck_assert_int_eq(kustos_client_stats(c, &s), KUSTOS_OK);
	ck_assert_int_eq(s.size, known);
	ck_assert_uint_ge(s.answered, 1);
	check_marks(&s, known, sizeof(s));
	s.size = 0;
	ck_assert_int_eq(kustos_client_stats(c, &s), KUSTOS_EINVAL);
	client_close(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sizes");
	TCase *t = fixture_case(s, "sizes", 10);

	tcase_add_test(t,
		options_that_an_old_program_does_not_know_have_their_defaults);
	tcase_add_test(t,
		options_of_a_newer_program_are_taken_as_far_as_they_are_known);
	tcase_add_test(t, no_struct_with_a_size_ends_in_padding);
	tcase_add_test(t, options_without_a_size_are_refused);
	tcase_add_test(t, a_session_is_told_as_far_as_its_reader_knows_it);
	tcase_add_test(t, figures_are_told_as_far_as_their_reader_knows_them);
	return fixture_main(s);
}
