/*
 * test_lookup.c - lookup.h: what a resolver answers, to a lookup that is waited
 * for and to one that was abandoned.
 */
#include "fault.h"
#include "unit.h"

#include "hosts.h"
#include "lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static struct ku_hosts hosts;
static sem_t answers; /* that the resolver may give */
static sem_t told;
static sem_t freed; /* lookups, or their mutexes */
static int asked, fails;

int __real_getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **found);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __real_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread);
int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
static int detached;

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
}

static int count_of(sem_t *sem)
{
	int count = -1;

	(void)sem_getvalue(sem, &count);
	return count;
}

/* Names that begin with "a" are one server, all others are another. */
int __wrap_getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **found)
{
	struct addrinfo numeric = *hints;

	__atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
	wait_for(&answers);
	if (node == NULL || fails != 0)
		return node == NULL ? EAI_NONAME : fails;
	numeric.ai_flags |= AI_NUMERICHOST;
	return __real_getaddrinfo(node[0] == 'a' ? "192.0.2.1" : "192.0.2.2",
		service, &numeric, found);
}

/* Uses malloc(), which can be made to fail, as all other allocations do. */
char *__wrap_strdup(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	return copy != NULL ? strcpy(copy, text) : NULL;
}

int __wrap_pthread_detach(pthread_t thread)
{
	detached++;
	return __real_pthread_detach(thread);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	int rc = __real_pthread_mutex_destroy(mutex);

	sem_post(&freed);
	return rc;
}

static void tell(void *arg)
{
	ck_assert_ptr_eq(arg, &told);
	sem_post(&told);
}

static void setup(void)
{
	char why[KU_HOSTS_WHY];

	ck_assert_int_eq(ku_hosts_parse(&hosts, "a.test:1,b.test:2", why),
		KUSTOS_OK);
	sem_init(&answers, 0, 0);
	sem_init(&told, 0, 0);
	sem_init(&freed, 0, 0);
	asked = fails = detached = 0;
}

static void teardown(void)
{
	ku_hosts_free(&hosts);
}

static void let_answer(void)
{
	for (int i = 0; i < hosts.count; i++)
		sem_post(&answers);
}

static struct ku_lookup *begin(void)
{
	struct ku_lookup *lookup = ku_lookup_start(&hosts, tell, &told);

	ck_assert_ptr_nonnull(lookup);
	ck_assert_int_eq(detached, 1);
	return lookup;
}

START_TEST(what_was_found_is_there_when_that_is_told_and_not_before)
{
	struct ku_lookup *lookup = begin();
	struct ku_addresses out;
	enum kustos_err err;
	const char *why = NULL;

	ck_assert(!ku_lookup_take(lookup, &out, &err, &why));
	fails = _i == 1 ? EAI_NONAME : 0;
	let_answer();
	wait_for(&told);
	ck_assert(ku_lookup_take(lookup, &out, &err, &why));
	ck_assert_int_eq(count_of(&freed), 1);
	if (_i == 1) {
		ck_assert_int_eq(err, KUSTOS_EDISCONNECTED);
		ck_assert_str_eq(why, gai_strerror(EAI_NONAME));
		ck_assert_int_eq(out.count, 0);
		return;
	}
	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_int_eq(out.count, 2);
	ck_assert_str_eq(out.list[0].text, "192.0.2.1:1");
	ck_assert_str_eq(out.list[1].text, "192.0.2.2:2");
	ku_addresses_free(&out);
}
END_TEST

/* The lookup's thread frees it; or the abandoning caller, if the thread has
   ended. */
START_TEST(what_is_forgotten_is_not_told)
{
	struct ku_lookup *lookup = begin();

	if (_i == 0)
		ku_lookup_abandon(lookup);
	let_answer();
	if (_i == 1) {
		wait_for(&told);
		ku_lookup_abandon(lookup);
	}
	wait_for(&freed);
	ck_assert_int_eq(count_of(&told), 0);
	ku_lookup_abandon(NULL);
}
END_TEST

START_TEST(without_memory_for_all_of_it_nobody_is_asked)
{
	struct ku_lookup *lookup = NULL;
	int skip, refused = 1;

	for (skip = 0; refused; skip++) {
		fault_after(skip);
		lookup = ku_lookup_start(&hosts, tell, &told);
		refused = fault_end();
		ck_assert_int_eq(lookup == NULL, refused);
	}
	/* All but the lookup's own memory and mutex. */
	ck_assert_int_eq(count_of(&freed), skip - 1 - 2);
	/* The lookup, its mutex, the list, the chroot and two names. */
	ck_assert_int_ge(skip, 6 + 1);
	let_answer();
	wait_for(&told);
	ck_assert_int_eq(__atomic_load_n(&asked, __ATOMIC_SEQ_CST), 2);
	ku_lookup_abandon(lookup);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lookup");
	TCase *tcase = tcase_create("lookups");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase,
		what_was_found_is_there_when_that_is_told_and_not_before, 0, 2);
	tcase_add_loop_test(tcase, what_is_forgotten_is_not_told, 0, 2);
	tcase_add_test(tcase, without_memory_for_all_of_it_nobody_is_asked);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
