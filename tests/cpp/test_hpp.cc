/* test_hpp.cc - locks, the semaphore and elections of <kustos/kustos.hpp>
   against a server.  Tests what C++ adds to the C calls, which have tests of
   their own.  Run by check_cpp.sh. */
#include "bed.hpp"

#include <kustos/kustos.hpp>
#include <kustos/node.h>

#include <new>
#include <shared_mutex>
#include <thread>
#include <type_traits>

static thread_local int failing; /* the n-th allocation from now; 0: none */

void *operator new(std::size_t size)
{
	void *p = failing > 0 && --failing == 0 ? nullptr : std::malloc(size);

	if (p == nullptr)
		throw std::bad_alloc();
	return p;
}

void operator delete(void *p) noexcept
{
	std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
	std::free(p);
}

static void a_deadline_is_a_duration_or_a_point_in_time()
{
	const kustos_deadline before = kustos_after_ms(0);

	ENSURE(kustos::deadline().get() == KUSTOS_FOREVER);
	ENSURE(kustos::deadline(0s).get() == KUSTOS_NOW);
	ENSURE(kustos::deadline(-1h).get() == KUSTOS_NOW);
	ENSURE(kustos::deadline(1ns).get() > before);
	ENSURE(kustos::deadline(1h).get() >= before + 3600 * 1000000000LL);
	ENSURE(kustos::deadline(std::chrono::hours::max()).get() ==
		KUSTOS_FOREVER);
	ENSURE(kustos::deadline(std::chrono::duration<double>(1e300)).get() ==
		KUSTOS_FOREVER);
	const auto now = std::chrono::steady_clock::now();
	ENSURE(kustos::deadline(now - 1s).get() == KUSTOS_NOW);
	ENSURE(kustos::deadline(now + 1h).get() > before);
	ENSURE(kustos::deadline(now + 1h).get() <= kustos_after_ms(3600000));
	using far = std::chrono::time_point<std::chrono::steady_clock,
		std::chrono::hours>;
	ENSURE(kustos::deadline(now.min()).get() == KUSTOS_NOW);
	ENSURE(kustos::deadline(now.max()).get() == KUSTOS_FOREVER);
	ENSURE(kustos::deadline(far::min()).get() == KUSTOS_NOW);
	ENSURE(kustos::deadline(far::max()).get() == KUSTOS_FOREVER);
}

static void objects_can_be_moved_and_not_copied()
{
	static_assert(std::is_nothrow_move_constructible_v<kustos::hold>);
	static_assert(std::is_nothrow_move_assignable_v<kustos::hold>);
	static_assert(!std::is_copy_constructible_v<kustos::hold>);
	static_assert(!std::is_copy_assignable_v<kustos::hold>);
	static_assert(std::is_nothrow_move_constructible_v<kustos::client>);
	static_assert(!std::is_copy_constructible_v<kustos::client>);
	static_assert(std::is_nothrow_move_constructible_v<kustos::mutex>);
	static_assert(!std::is_copy_constructible_v<kustos::mutex>);
}

static void a_hold_is_given_back_when_it_ends(kustos::client &a,
	kustos::client &b)
{
	kustos::mutex one(a, "/cpp/hold"), other(b, "/cpp/hold");
	int64_t token = 0;
	{
		kustos::hold held = one.acquire();

		ENSURE(held && held.state() == KUSTOS_HOLD_HELD);
		ENSURE(held.remaining() > 0ms);
		ENSURE(held.path().rfind("/cpp/hold/", 0) == 0);
		token = held.token();
		ENSURE(!other.try_acquire());
		ENSURE(!other.try_acquire(20ms));

		kustos::hold moved = std::move(held);
		ENSURE(!held && held.token() == 0 && held.path().empty());
		ENSURE(held.state() == KUSTOS_HOLD_LOST);
		ENSURE(moved.token() == token);
		held.release(); /* an empty hold: no error */
		ENSURE(!other.try_acquire());
	}
	kustos::hold held = other.acquire();
	ENSURE(held.token() > token);
	/* The assignment releases the hold that was there. */
	held = kustos::hold();
	kustos::hold again = one.try_acquire(PATIENCE);
	ENSURE(again);
	again.release();
	ENSURE(!again);
}

static void a_mutex_is_one_for_the_standard_library(kustos::client &a,
	kustos::client &b)
{
	kustos::mutex one(a, "/cpp/standard"), other(b, "/cpp/standard");
	{
		std::lock_guard<kustos::mutex> guard(one);

		ENSURE(one.token() > 0 && one.state() == KUSTOS_HOLD_HELD);
		ENSURE(!other.try_lock());
		ENSURE(!other.try_lock_for(20ms));
		std::unique_lock<kustos::mutex> late(other, std::defer_lock);
		ENSURE(!late.try_lock_until(
			std::chrono::steady_clock::now() + 20ms));
	}
	ENSURE(one.token() == 0);
	std::unique_lock<kustos::mutex> guard(other, PATIENCE);
	ENSURE(guard.owns_lock());
	guard.unlock();
	ENSURE(other.unlock() == KUSTOS_ENOTHELD);

	kustos::simple node(a, "/cpp/simple"), same(b, "/cpp/simple");
	std::unique_lock<kustos::simple> alone(node);
	ENSURE(!same.try_acquire());
	ENSURE(same.token() == 0 && node.token() > 0);
}

static void what_goes_wrong_is_thrown_with_its_number(kustos::client &a)
{
	ENSURE(thrown([&] { kustos::mutex(a, "no path"); }) == KUSTOS_EINVAL);
	ENSURE(thrown([&] { kustos::semaphore(a, "/cpp/none", 0); }) ==
		KUSTOS_EINVAL);
	ENSURE(thrown([&] { kustos::client nobody(""); }) == KUSTOS_EINVAL);
	const std::string zero("/cpp/n\0one", 10);
	ENSURE(thrown([&] { kustos::mutex(a, zero); }) == KUSTOS_EINVAL);
	ENSURE(thrown([&] { kustos::latch(a, "/cpp/id", zero); }) ==
		KUSTOS_EINVAL);
	kustos::client away("127.0.0.1:1");
	ENSURE(thrown([&] { away.wait_connected(20ms); }) == KUSTOS_ETIMEDOUT);
	kustos::mutex far(away, "/cpp/far");
	ENSURE(!far.try_lock_for(20ms));
	ENSURE(thrown([&] { far.try_lock(); }) == KUSTOS_EDISCONNECTED);
}

static void a_cancel_object_ends_a_wait(kustos::client &a, kustos::client &b)
{
	kustos::mutex one(a, "/cpp/cancel"), other(b, "/cpp/cancel");
	kustos::cancel stop;
	kustos::hold held = one.acquire();
	notice ended;
	std::thread waits([&] {
		ended.say(thrown([&] { other.acquire(stop); }));
		ENSURE(!other.try_acquire(PATIENCE, stop));
	});

	ENSURE(!stop.fired());
	stop.fire();
	ENSURE(ended.await(0) == KUSTOS_ECANCELED);
	waits.join();
	ENSURE(stop.fired());
}

/* If another client deletes the node, the holder is notified, and its release
   returns the error. */
static void who_loses_it_is_told(kustos::client &a, kustos::client &b)
{
	kustos::mutex mutex(a, "/cpp/lost");
	kustos::hold held = mutex.acquire();
	notice lost;

	held.on_lost([&] { lost.say(1); });
	held.on_lost([&] { lost.say(2); });
	kustos::hold moved = std::move(held);
	ENSURE(kustos_delete(b.get(), moved.path().c_str(), -1,
		       kustos_after_ms(20000), nullptr) == KUSTOS_OK);
	ENSURE(lost.await(0) == 2);
	ENSURE(moved.state() == KUSTOS_HOLD_LOST);
	ENSURE(thrown([&] { moved.release(); }) == KUSTOS_ELOST);
	ENSURE(!moved);
}

/* An empty function removes the callback that was set. */
static void who_wants_to_hear_nothing_is_not_told(kustos::client &a,
	kustos::client &b)
{
	kustos::mutex mutex(a, "/cpp/quiet");
	kustos::hold held = mutex.acquire();
	notice lost;

	held.on_lost([&] { lost.say(1); });
	held.on_lost(nullptr);
	ENSURE(kustos_delete(b.get(), held.path().c_str(), -1,
		       kustos_after_ms(20000), nullptr) == KUSTOS_OK);
	while (held.state() != KUSTOS_HOLD_LOST)
		std::this_thread::yield();
	ENSURE(!lost.came_within(20ms));
	ENSURE(thrown([&] { held.release(); }) == KUSTOS_ELOST);
}

/* Whichever allocation fails, the callback that was set before stays. */
static void a_callback_that_is_refused_for_memory_replaces_none(
	kustos::client &a, kustos::client &b)
{
	kustos::mutex mutex(a, "/cpp/memory");
	bool refused = true;

	for (int n = 1; refused; n++) {
		kustos::hold held = mutex.acquire();
		notice lost;
		const std::string path = held.path();

		held.on_lost([&] { lost.say(1); });
		std::function<void()> other = [&] { lost.say(2); };
		refused = false;
		failing = n;
		try {
			held.on_lost(std::move(other));
		} catch (const std::bad_alloc &) {
			refused = true;
		}
		failing = 0;
		ENSURE(kustos_delete(b.get(), path.c_str(), -1,
			       kustos_after_ms(20000), nullptr) == KUSTOS_OK);
		ENSURE(lost.await(0) == (refused ? 1 : 2));
		ENSURE(refused || n > 2);
	}
}

static void readers_share_and_a_writer_becomes_one(kustos::client &a,
	kustos::client &b)
{
	kustos::rwlock one(a, "/cpp/rw"), other(b, "/cpp/rw");
	{
		std::shared_lock<kustos::rwlock> first(one);
		std::shared_lock<kustos::rwlock> second(other, PATIENCE);

		ENSURE(second.owns_lock());
		ENSURE(!other.try_acquire(KUSTOS_WRITE));
	}
	{
		std::unique_lock<kustos::rwlock> writer(one, PATIENCE);

		ENSURE(writer.owns_lock());
		ENSURE(!other.try_lock_shared() && !other.try_lock());
		ENSURE(one.token(KUSTOS_WRITE) > 0);
		ENSURE(one.token(KUSTOS_READ) == 0);
	}
	kustos::hold writer = one.acquire(KUSTOS_WRITE);
	const int64_t token = writer.token();
	kustos::hold reader = one.downgrade(std::move(writer));
	ENSURE(!writer && reader.token() == token);
	ENSURE(other.try_acquire(KUSTOS_READ, PATIENCE));
	ENSURE(!other.try_acquire(KUSTOS_WRITE, 20ms));
}

static void a_semaphore_has_room_for_so_many(kustos::client &a,
	kustos::client &b)
{
	kustos::semaphore one(a, "/cpp/room", 2), other(b, "/cpp/room", 2);
	kustos::hold first = one.acquire();

	ENSURE(one.max() == 2);
	ENSURE(other.try_acquire_many(2, 20ms).empty());
	{
		kustos::hold second = other.try_acquire(PATIENCE);

		ENSURE(second && !one.try_acquire(20ms));
	}
	first.release();
	ENSURE(other.try_acquire_many(2, PATIENCE).size() == 2);
}

static void several_locks_are_held_together_or_not_at_all(kustos::client &a,
	kustos::client &b)
{
	kustos::mutex mutex(a, "/cpp/all/b"), other(b, "/cpp/all/b");
	kustos::rwlock rw(a, "/cpp/all/a"), other_rw(b, "/cpp/all/a");
	kustos::simple simple(a, "/cpp/all/d");
	kustos::semaphore sem(a, "/cpp/all/c", 1);
	const std::vector<kustos_lockable> all = { mutex.lockable(),
		rw.lockable(KUSTOS_WRITE), sem.lockable(), simple.lockable() };
	kustos::hold one = other.acquire();

	ENSURE(!kustos::try_acquire_all(all));
	ENSURE(!kustos::try_acquire_all(all, 20ms));
	one.release();
	{
		kustos::hold held = kustos::acquire_all(all);

		ENSURE(held.state() == KUSTOS_HOLD_HELD);
		ENSURE(kustos_hold_part(held.get(), 3) != nullptr);
		ENSURE(!other.try_acquire());
		ENSURE(!other_rw.try_acquire(KUSTOS_READ));
	}
	ENSURE(other.try_acquire(PATIENCE));
	ENSURE(other_rw.try_acquire(KUSTOS_READ, PATIENCE));
	ENSURE(thrown([&] { kustos::acquire_all({}); }) == KUSTOS_EINVAL);
}

/* A contender that was just asked to join the line may not be there yet. */
template <class Call> static void once_they_wait(Call hand_over)
{
	const auto end = std::chrono::steady_clock::now() + PATIENCE;
	kustos_err err = KUSTOS_EABSENT;

	while (err == KUSTOS_EABSENT && std::chrono::steady_clock::now() < end)
		err = thrown(hand_over);
	ENSURE(err == KUSTOS_OK);
}

static void a_latch_tells_who_leads(kustos::client &a, kustos::client &b)
{
	notice gained, lost;
	kustos::latch one(
		a, "/cpp/latch", "one", [&](int64_t term) { gained.say(term); },
		[&](int64_t term) { lost.say(term); });
	kustos::latch other(b, "/cpp/latch", "other");

	ENSURE(!one.try_wait() && !one.leads() && one.term() == 0);
	one.start();
	one.wait();
	const int64_t term = gained.await(0);
	ENSURE(one.leads() && one.term() == term);

	kustos::latch moved = std::move(one);
	other.start();
	ENSURE(!other.try_wait(20ms));
	moved.set_data("still here", PATIENCE);
	ENSURE(thrown([&] { other.set_data("me too"); }) == KUSTOS_ENOTHELD);
	ENSURE(thrown([&] { moved.hand_over("nobody"); }) == KUSTOS_EABSENT);
	once_they_wait([&] { moved.hand_over("other", PATIENCE); });
	ENSURE(lost.await(0) == term);
	ENSURE(other.try_wait(PATIENCE) && other.term() > term);
	once_they_wait([&] { other.hand_over_to_next(PATIENCE); });
	ENSURE(moved.try_wait(PATIENCE) && moved.term() == gained.await(1));
	moved.close();
	ENSURE(other.try_wait(PATIENCE));
}

static void a_selector_leads_while_its_function_runs(kustos::client &a,
	kustos::client &b)
{
	static_assert(std::is_nothrow_move_constructible_v<kustos::selector>);
	notice led, other_led;
	kustos::selector one(a, "/cpp/selector", "one",
		[&](const kustos::selector::term &term) {
			ENSURE(term.state() == KUSTOS_HOLD_HELD);
			led.say(term.token());
			kustos::semaphore full(a, "/cpp/selector-full", 1);
			const kustos::hold held = full.acquire();
			ENSURE(thrown([&] { full.acquire(term.stop()); }) ==
				KUSTOS_ECANCELED);
			ENSURE(term.over());
		});
	kustos::selector other(b, "/cpp/selector", "other",
		[&](const auto &term) { other_led.say(term.token()); });

	ENSURE(thrown([&] {
		kustos::selector(a, "/cpp/selector", "none", {});
	}) == KUSTOS_EINVAL);
	ENSURE(thrown([&] { one.requeue(); }) == KUSTOS_EINVAL);
	ENSURE(one.state() == KUSTOS_SELECTOR_IDLE && !one.interrupt());
	one.start();
	const int64_t term = led.await(0);
	ENSURE(one.leads());
	kustos::selector moved = std::move(one);
	other.start();
	ENSURE(moved.interrupt());
	ENSURE(other_led.await(0) > term);
	moved.requeue();
	ENSURE(led.await(1) > other_led.await(0));
	ENSURE(moved.token() == led.await(1) && other.token() == 0);
	moved.set_data("still here", PATIENCE);
	ENSURE(thrown([&] { moved.hand_over("nobody"); }) == KUSTOS_EABSENT);
	other.requeue();
	once_they_wait([&] { moved.hand_over("other", PATIENCE); });
	ENSURE(other_led.await(1) > led.await(1));
	moved.close();
	ENSURE(moved.state() == KUSTOS_SELECTOR_CLOSED && !moved.leads());
}

static void a_latch_has_all_options(kustos::client &a, kustos::client &b)
{
	notice gained, lost;
	kustos::latch::options o = KUSTOS_LATCH_OPTIONS_INIT;
	kustos::latch by_default(a, "/cpp/options", nullptr);

	o.id = "one";
	o.one_node = 1;
	kustos::latch one(
		a, "/cpp/options/node", &o,
		[&](kustos_hold *h) {
			ENSURE(kustos_hold_path(h) ==
				std::string("/cpp/options/node"));
			gained.say(kustos_hold_token(h));
		},
		[&](kustos_hold *h) { lost.say(kustos_hold_token(h)); });
	kustos::latch quiet(b, "/cpp/options/node", &o);

	one.start();
	one.wait();
	quiet.start();
	ENSURE(gained.await(0) == one.term());
	ENSURE(thrown([&] { one.hand_over_to_next(); }) == KUSTOS_EUNSUPPORTED);
	one.close();
	ENSURE(lost.await(0) == gained.await(0));
	ENSURE(quiet.try_wait(PATIENCE) && quiet.term() > gained.await(0));
	by_default.start();
	by_default.wait();
	o.reserved = 1;
	ENSURE(thrown([&] { kustos::latch(a, "/cpp/options", &o); }) ==
		KUSTOS_EINVAL);
}

static void a_selector_has_all_options(kustos::client &a)
{
	notice led;
	kustos::selector::options o = KUSTOS_SELECTOR_OPTIONS_INIT;

	o.requeues = 1;
	o.dialect = KUSTOS_DIALECT_KAZOO;
	kustos::selector one(a, "/cpp/kazoo", &o, [&](const auto &term) {
		ENSURE(std::string(kustos_hold_path(term.hold()))
				.find("__lock__") != std::string::npos);
		led.say(term.token());
	});

	one.start();
	ENSURE(led.await(1) > led.await(0));
	one.close();
	ENSURE(thrown([&] {
		kustos::selector(a, "/cpp/kazoo", &o, nullptr);
	}) == KUSTOS_EINVAL);
	kustos::selector by_default(a, "/cpp/kazoo", nullptr,
		[](const auto &) {});
	ENSURE(by_default.state() == KUSTOS_SELECTOR_IDLE);
}

/* Reports when it is destroyed. */
class witness
{
      public:
	explicit witness(notice &gone) : gone_(gone)
	{
	}

	witness(const witness &) = delete;
	witness &operator=(const witness &) = delete;

	~witness()
	{
		gone_.say(1);
	}

      private:
	notice &gone_;
};

static void one_that_is_assigned_over_ends_before_its_functions(
	kustos::client &a)
{
	notice leads, gone, told, latch_gone;
	auto work = std::make_shared<witness>(gone);
	kustos::selector one(a, "/cpp/assigned", "one",
		[&leads, &gone, work](const kustos::selector::term &term) {
			leads.say(term.token());
			while (!term.over())
				std::this_thread::sleep_for(1ms);
			ENSURE(!gone.came_within(50ms));
		});

	work.reset();
	one.start();
	leads.await(0);
	one = kustos::selector(a, "/cpp/assigned", "other",
		[&](const auto &term) { leads.say(term.token()); });
	gone.await(0);
	one.start();
	ENSURE(leads.await(1) > leads.await(0));

	auto listens = std::make_shared<witness>(latch_gone);
	kustos::latch latch(a, "/cpp/assigned-latch", "one",
		[&told, &latch_gone, listens](int64_t term) {
			told.say(term);
			ENSURE(!latch_gone.came_within(50ms));
		});
	listens.reset();
	latch.start();
	told.await(0);
	latch = kustos::latch(a, "/cpp/assigned-latch", "other");
	latch_gone.await(0);
	latch.start();
	latch.wait();
	ENSURE(latch.term() > told.await(0));
}

int main()
{
	kustos::client a(hosts()), b(hosts());

	a.wait_connected(PATIENCE);
	b.wait_connected(PATIENCE);
	ENSURE(a.state() == KUSTOS_STATE_CONNECTED && a.lease() > 0ms);
	a_deadline_is_a_duration_or_a_point_in_time();
	objects_can_be_moved_and_not_copied();
	a_hold_is_given_back_when_it_ends(a, b);
	a_mutex_is_one_for_the_standard_library(a, b);
	what_goes_wrong_is_thrown_with_its_number(a);
	a_cancel_object_ends_a_wait(a, b);
	who_loses_it_is_told(a, b);
	who_wants_to_hear_nothing_is_not_told(a, b);
	a_callback_that_is_refused_for_memory_replaces_none(a, b);
	readers_share_and_a_writer_becomes_one(a, b);
	a_semaphore_has_room_for_so_many(a, b);
	several_locks_are_held_together_or_not_at_all(a, b);
	a_latch_tells_who_leads(a, b);
	a_selector_leads_while_its_function_runs(a, b);
	a_latch_has_all_options(a, b);
	a_selector_has_all_options(a);
	one_that_is_assigned_over_ends_before_its_functions(a);
	a.flush(PATIENCE);
	kustos::client c = std::move(a);
	c.close(PATIENCE);
	std::puts("all is well");
	return 0;
}
