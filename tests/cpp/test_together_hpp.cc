/* test_together_hpp.cc - barriers, count-down latches, queues and claims of
   <kustos/kustos.hpp> against a server.  Tests what C++ adds to the C calls,
   which have tests of their own.  Run by check_cpp.sh. */
#include "bed.hpp"

#include <kustos/kustos.hpp>

#include <thread>
#include <type_traits>

using std::chrono::system_clock;

template <typename type> static void can_be_moved_and_not_copied()
{
	static_assert(std::is_nothrow_move_constructible_v<type>);
	static_assert(std::is_nothrow_move_assignable_v<type>);
	static_assert(!std::is_copy_constructible_v<type>);
	static_assert(!std::is_copy_assignable_v<type>);
}

static void objects_can_be_moved_and_not_copied()
{
	can_be_moved_and_not_copied<kustos::barrier>();
	can_be_moved_and_not_copied<kustos::double_barrier>();
	can_be_moved_and_not_copied<kustos::countdown>();
	can_be_moved_and_not_copied<kustos::queue>();
	can_be_moved_and_not_copied<kustos::item>();
	can_be_moved_and_not_copied<kustos::consumer>();
	can_be_moved_and_not_copied<kustos::claims>();
	can_be_moved_and_not_copied<kustos::claim>();
}

static void a_barrier_holds_up_who_comes_while_it_is_set(kustos::client &a,
	kustos::client &b)
{
	kustos::barrier one(a, "/cpp/barrier"), other(b, "/cpp/barrier");
	kustos::cancel stop;

	ENSURE(one.try_wait());
	one.set(PATIENCE);
	ENSURE(!other.try_wait() && !other.try_wait(20ms));
	stop.fire();
	ENSURE(thrown([&] { other.wait(stop); }) == KUSTOS_ECANCELED);
	ENSURE(!other.try_wait(PATIENCE, stop));

	std::thread waits([&] { other.wait(); });
	one.remove(PATIENCE);
	waits.join();
}

static void members_go_in_and_out_together(kustos::client &a, kustos::client &b)
{
	kustos::double_barrier one(a, "/cpp/step", 2), other(b, "/cpp/step", 2);

	ENSURE(!one.try_enter(20ms) && !one.inside());
	ENSURE(thrown([&] { one.leave(); }) == KUSTOS_ENOTHELD);
	a.flush(PATIENCE); /* else the other may count its node and enter */
	std::thread goes([&] {
		other.enter();
		ENSURE(other.try_leave(PATIENCE));
	});
	one.enter();
	ENSURE(one.inside());
	one.leave();
	goes.join();
	ENSURE(!one.inside() && !other.inside());
	ENSURE(thrown([&] { kustos::double_barrier(a, "/cpp/step", 0); }) ==
		KUSTOS_EINVAL);
}

static void a_latch_counts_each_once(kustos::client &a, kustos::client &b)
{
	kustos::countdown one(a, "/cpp/latch", 2), other(b, "/cpp/latch");

	one.set(PATIENCE);
	one.join("second", PATIENCE);
	other.done("first", PATIENCE);
	other.done("first", PATIENCE);
	ENSURE(!one.try_wait());
	ENSURE(thrown([&] { other.done(std::string("a\0b", 3), PATIENCE); }) ==
		KUSTOS_EINVAL);
	const kustos::countdown::status seen = other.look(PATIENCE);
	ENSURE(seen.count == 2 && seen.done == 1 && seen.broken == 0);
	ENSURE(!seen.disagree && seen.participants.size() == 2);
	ENSURE(seen.participants[0].id == "first" && seen.participants[0].done);
	ENSURE(seen.participants[1].must && seen.participants[1].alive);
	ENSURE(!seen.participants[1].done);

	/* A participant that joined and left before it was done breaks the
	   latch. */
	one = kustos::countdown(a, "/cpp/latch", 2);
	ENSURE(thrown([&] { other.wait(); }) == KUSTOS_EBROKEN);
	one.done("second", PATIENCE);
	other.wait();
	one.remove(PATIENCE);
	ENSURE(thrown([&] { one.look(PATIENCE); }) == KUSTOS_ENONODE);
}

static void what_was_put_is_taken_once(kustos::client &a, kustos::client &b)
{
	kustos::queue one(a, "/cpp/queue"), other(b, "/cpp/queue");
	std::size_t sure = 9;
	notice put;

	ENSURE(!one.try_take() && one.try_take_many(3, 20ms).empty());
	ENSURE(one.try_take().data().empty());
	one.put("a", PATIENCE);
	one.put_many({ { "b" }, { "c" }, { "d" } }, PATIENCE, nullptr, &sure);
	ENSURE(sure == 3);
	one.put_async({ "e" }, [&](kustos_err err) { put.say(err); });
	one.put_async({ "f" }, {});
	one.flush(PATIENCE);
	ENSURE(put.await(0) == KUSTOS_OK);

	ENSURE(other.count(PATIENCE) == 6);
	ENSURE(other.try_peek(PATIENCE).data() == "a");
	kustos::item first = other.take();
	ENSURE(first && first.data() == "a" && !first.name().empty());
	kustos::item moved = std::move(first);
	ENSURE(!first && first.get() == nullptr && moved.data() == "a");
	first = std::move(moved);
	ENSURE(first.data() == "a" && !moved);
	std::string rest;
	while (rest.size() < 5)
		for (const kustos::item &i : other.try_take_many(2, PATIENCE))
			rest += i.data();
	ENSURE(rest == "bcdef" && !other.try_take());
	ENSURE(thrown([&] { kustos::queue(a, "no path"); }) == KUSTOS_EINVAL);
}

static void an_item_says_what_its_kind_knows(kustos::client &a)
{
	kustos::queue ranked(a, "/cpp/ranked", KUSTOS_QUEUE_PRIORITY);
	kustos::new_item item;

	item.parts = { "two", "parts" };
	item.priority = 7;
	ranked.put(item, PATIENCE);
	item.priority = -3;
	ranked.put(item, PATIENCE);
	kustos::item least = ranked.take();
	ENSURE(least.priority() == -3 && least.data() == "two");
	ENSURE(least.parts().size() == 2 && least.parts()[1] == "parts");
	ENSURE(least.created() > system_clock::time_point());

	kustos::queue late(a, "/cpp/late", KUSTOS_QUEUE_DELAY);
	kustos::new_item due;
	due.data = "much later";
	due.due = system_clock::now() + 24h;
	late.put(due, PATIENCE);
	ENSURE(!late.try_take());
	due.data = "later";
	due.due = system_clock::now() + 50ms;
	late.put(due, PATIENCE);
	kustos::item came = late.try_take(PATIENCE);
	ENSURE(came.data() == "later");
	ENSURE(came.due() - due.due < 1ms && came.due() >= due.due);

	/* Times beyond the range of the C++ clock. */
	due.due = system_clock::time_point::max();
	late.put(due, PATIENCE);
	kustos_item far = {};
	far.due_ms = far.created_ms = INT64_MAX;
	ENSURE(kustos::item_view(&far).due() ==
		system_clock::time_point::max());
	far.created_ms = INT64_MIN;
	ENSURE(kustos::item_view(&far).created() ==
		system_clock::time_point::min());
	far.due_ms = 9223372036854; /* the last within its range */
	ENSURE(kustos::item_view(&far).due().time_since_epoch() ==
		std::chrono::milliseconds(far.due_ms));

	kustos::queue named(a, "/cpp/named", KUSTOS_QUEUE_ID);
	kustos::new_item one;
	one.id = "x";
	named.put_many({ one, one, due }, PATIENCE);
	kustos::new_item zero;
	zero.id = std::string("x\0y", 3);
	ENSURE(thrown([&] { named.put(zero, PATIENCE); }) == KUSTOS_EINVAL);
	ENSURE(thrown([&] { named.remove_id(zero.id, PATIENCE); }) ==
		KUSTOS_EINVAL);
	ENSURE(named.remove_id("x", PATIENCE) == 2);
	ENSURE(named.take().id().empty());
}

static void a_consumer_is_called_until_it_ends(kustos::client &a)
{
	kustos::queue queue(a, "/cpp/consumed");
	notice taken;
	{
		kustos::consumer first = queue.consume(
			[&](const kustos::item_view &i) {
				taken.say(i.data()[0]);
			});
		kustos::consumer consumer;

		consumer = std::move(first);
		queue.put("1", PATIENCE);
		queue.put("2", PATIENCE);
		ENSURE(taken.await(0) == '1' && taken.await(1) == '2');
	}
	queue.put("3", PATIENCE);
	ENSURE(queue.take().data() == "3");
}

static void a_consumer_without_a_function_is_refused(kustos::client &a)
{
	kustos::queue queue(a, "/cpp/nobody");
	kustos::claims claims(a, "/cpp/nobody");

	ENSURE(thrown([&] { queue.consume(nullptr); }) == KUSTOS_EINVAL);
	ENSURE(thrown([&] { claims.consume(nullptr); }) == KUSTOS_EINVAL);
}

/* The queue's folder may not be read by anybody. */
static void a_consumer_that_has_nothing_says_why()
{
	const kustos_acl unread = { KUSTOS_PERM_ALL & ~KUSTOS_PERM_READ,
		"world", "anyone" };
	kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	options.hosts = hosts();
	options.acl = &unread;
	options.acl_count = 1;
	kustos::client client(options);
	kustos::queue queue(client, "/cpp/unread");
	notice failed;
	queue.put("1", PATIENCE);
	kustos::consumer consumer = queue.consume(
		[](const kustos::item_view &) { ENSURE(false); },
		[&](kustos_err err, const std::string &name) {
			ENSURE(name.empty());
			failed.say(err);
		});
	ENSURE(failed.await(0) == KUSTOS_ENOAUTH);
	consumer.stop();
	consumer.stop();
}

static void a_claim_comes_back_unless_it_is_acknowledged(kustos::client &a,
	kustos::client &b)
{
	kustos::queue queue(a, "/cpp/claimed");
	kustos::claims one(a, "/cpp/claimed"), other(b, "/cpp/claimed");
	int64_t token = 0;

	ENSURE(!one.try_next() && !one.try_next(20ms));
	queue.put("job", PATIENCE);
	{
		kustos::claim first = one.next();

		ENSURE(first.data() == "job" && first.deliveries() == 1);
		ENSURE(first.state() == KUSTOS_HOLD_HELD);
		ENSURE(first.remaining() > 0ms);
		token = first.token();
		ENSURE(!other.try_next());
		kustos::claim moved = std::move(first);
		ENSURE(!first && first.token() == 0 && !first.item());
		ENSURE(first.deliveries() == 0 && first.hold() == nullptr);
		ENSURE(thrown([&] { first.ack(); }) == KUSTOS_EINVAL);
	}
	kustos::claim again = other.try_next(PATIENCE);
	ENSURE(again.deliveries() == 2 && again.token() > token);
	again.requeue(PATIENCE);
	ENSURE(!again);
	again = one.try_next(PATIENCE);
	ENSURE(again.deliveries() == 1);
	again.ack(PATIENCE);
	ENSURE(!queue.try_take());
}

static void a_consumer_of_claims_says_what_becomes_of_them(kustos::client &a)
{
	kustos::queue queue(a, "/cpp/verdicts");
	kustos::claims claims(a, "/cpp/verdicts");
	notice given;
	kustos::claim kept;
	kustos::consumer consumer = claims.consume([&](kustos::claim &c) {
		kustos_verdict verdict = KUSTOS_VERDICT_ACK;

		switch (c.data()[0]) {
		case 'r':
			if (c.deliveries() == 1)
				verdict = KUSTOS_VERDICT_RELEASE;
			break;
		case 'e':
			c.ack(PATIENCE);
			break;
		case 'k':
			kept = std::move(c);
			given.say('k');
			return verdict;
		}
		given.say(c ? c.data()[0] : 'e');
		return verdict;
	});

	queue.put("a", PATIENCE);
	ENSURE(given.await(0) == 'a');
	queue.put("r", PATIENCE);
	ENSURE(given.await(1) == 'r' && given.await(2) == 'r');
	queue.put("e", PATIENCE);
	ENSURE(given.await(3) == 'e');
	queue.put("k", PATIENCE);
	ENSURE(given.await(4) == 'k');
	consumer.stop();
	ENSURE(kept.data() == "k" && kept.state() == KUSTOS_HOLD_HELD);
	kept.ack(PATIENCE);
	a.flush(PATIENCE);
	ENSURE(!queue.try_take());
}

int main()
{
	kustos::client a(hosts()), b(hosts());

	a.wait_connected(PATIENCE);
	b.wait_connected(PATIENCE);
	objects_can_be_moved_and_not_copied();
	a_barrier_holds_up_who_comes_while_it_is_set(a, b);
	members_go_in_and_out_together(a, b);
	a_latch_counts_each_once(a, b);
	what_was_put_is_taken_once(a, b);
	an_item_says_what_its_kind_knows(a);
	a_consumer_is_called_until_it_ends(a);
	a_consumer_without_a_function_is_refused(a);
	a_consumer_that_has_nothing_says_why();
	a_claim_comes_back_unless_it_is_acknowledged(a, b);
	a_consumer_of_claims_says_what_becomes_of_them(a);
	std::puts("all is well");
	return 0;
}
