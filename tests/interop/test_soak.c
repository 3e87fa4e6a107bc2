/*
 * test_soak.c - processes of three kinds use one recipe of an ensemble, while
 * servers, connections and the processes themselves fail.  What ours say that
 * they have, they have.  When nothing fails any more everybody is served, and
 * nothing stays behind.  Each scene is one recipe.
 *
 * "make check-soak" runs this, for SOAK_SECONDS in each scene.  SOAK_SEED chooses
 * the faults, SOAK_VERBOSE names them, and CK_RUN_CASE chooses one scene.
 *
 * Servers of 3.8.0 can lose what they have confirmed when they are killed
 * (kustos(7)).  If a failure does not come again with the same seed, first look
 * into their logs (TEST_SERVER_LOG): after "Unexpected extra paths under session"
 * a server has nodes that the others do not have, and its clients wait for them.
 *
 * Processes of other kinds are not judged: they do not know that they have lost
 * something, and some do not survive all faults.  If one reports an error it is
 * replaced.
 */
#include "soak.h"

static const struct soak_scene *const scenes[] = { &soak_mutex, &soak_rwlock,
	&soak_semaphore, &soak_latch, &soak_selector, &soak_queue,
	&soak_claims };
#define SCENES ((int)(sizeof(scenes) / sizeof(*scenes)))

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO,
	PEER_KINDS };

START_TEST(what_ours_have_they_have_whatever_fails)
{
	soak_play(scenes[_i], (unsigned)(soak_setting("SOAK_SEED", 1) + _i),
		1000 * soak_setting("SOAK_SECONDS", 60));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("soak");

	for (int i = 0; i < SCENES; i++)
		tcase_add_loop_test(
			fixture_bare_case(s, scenes[i]->name,
				soak_setting("SOAK_SECONDS", 60) + 1000),
			what_ours_have_they_have_whatever_fails, i, i + 1);
	return interop_main(s, kinds);
}
