/*
 * kustos/queue.hpp - put items in, each is taken out once, in C++.
 * Link with -lkustos-queue (pkg-config kustos-queue).
 * <kustos/queue.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_QUEUE_HPP
#define KUSTOS_QUEUE_HPP

#include <kustos/item.hpp>
#include <kustos/queue.h>

namespace kustos
{

/* Items that are taken are gone, whatever becomes of their taker; for items
   that come back see <kustos/claim.hpp>. */
class queue
{
      public:
	using options = kustos_queue_options;

	queue(const client &c, const std::string &path,
		const options *o = nullptr)
	{
		kustos_queue *made = nullptr;

		detail::check(kustos_queue_create(c.get(), detail::text(path),
			o, &made));
		queue_.reset(made);
	}

	queue(const client &c, const std::string &path, kustos_queue_kind kind)
		: queue(c, path, of(kind))
	{
	}

	/* After KUSTOS_ETIMEDOUT and KUSTOS_ECANCELED the item may be there all
	   the same; so these are thrown as well, as KUSTOS_EFULL is. */
	void put(std::string_view data, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_queue_put(get(), data.data(), data.size(),
			until.get(), c));
	}

	void put(const new_item &i, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		const detail::raw_items raw(&i, 1);

		detail::check(kustos_queue_put_item(get(), raw.get(),
			until.get(), c));
	}

	/* Many in one transaction, in this order; "*sure" receives how many are
	   there for certain, also if this throws. */
	void put_many(const std::vector<new_item> &items, deadline until = {},
		kustos_cancel *c = nullptr, std::size_t *sure = nullptr)
	{
		const detail::raw_items raw(items.data(), items.size());

		if (sure)
			*sure = 0;
		detail::check(kustos_queue_put_many(get(), raw.get(),
			items.size(), until.get(), c, sure));
	}

	/* Put in the background; waits only while too much waits in memory.
	   "done", which may be empty, is called on a thread of the client. */
	void put_async(const new_item &i, std::function<void(kustos_err)> done,
		deadline until = {}, kustos_cancel *c = nullptr)
	{
		const detail::raw_items raw(&i, 1);

		detail::with_end(std::move(done), [&](auto fn, void *arg) {
			return kustos_queue_put_item_async(get(), raw.get(),
				until.get(), c, fn, arg);
		});
	}

	/* Wait until the outcome of all earlier puts is known. */
	void flush(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_queue_flush(get(), until.get(), c));
	}

	item take(kustos_cancel *c = nullptr)
	{
		kustos_item *i = nullptr;

		detail::check(kustos_queue_poll(get(), KUSTOS_FOREVER, c, &i));
		return item(i);
	}

	/* Nothing if there was none by "until", or the wait was canceled. */
	item try_take(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		kustos_item *i = nullptr;

		detail::granted(kustos_queue_poll(get(), until.get(), c, &i));
		return item(i);
	}

	/* Up to "max" items, as soon as there is one. */
	std::vector<item> try_take_many(std::size_t max,
		deadline until = deadline::now(), kustos_cancel *c = nullptr)
	{
		std::vector<kustos_item *> raw(max > 0 ? max : 1);
		std::vector<item> taken;
		std::size_t count = 0;

		taken.reserve(max);
		if (detail::granted(kustos_queue_poll_many(get(), max,
			    until.get(), c, raw.data(), &count)))
			for (std::size_t i = 0; i < count; i++)
				taken.emplace_back(raw[i]);
		return taken;
	}

	/* The first item, which stays where it is. */
	item try_peek(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		kustos_item *i = nullptr;

		detail::granted(kustos_queue_peek(get(), until.get(), c, &i));
		return item(i);
	}

	/* Return how many items there are: all children of the node count. */
	std::size_t count(deadline until = {}, kustos_cancel *c = nullptr)
	{
		std::size_t n = 0;

		detail::check(kustos_queue_count(get(), until.get(), c, &n));
		return n;
	}

	/* Return how many had this id, in a queue of the kind KUSTOS_QUEUE_ID.
	   */
	std::size_t remove_id(const std::string &id, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		std::size_t removed = 0;

		detail::check(kustos_queue_remove_id(get(), detail::text(id),
			until.get(), c, &removed));
		return removed;
	}

	/* Call "fn" with each item, on a thread of the consumer's own.  Up to
	   "max" are taken at once.  The consumer must end before the queue. */
	consumer consume(std::function<void(const item_view &)> fn,
		consumer::failed_fn failed = {}, std::size_t max = 1)
	{
		auto t = std::make_shared<told>(
			told{ std::move(fn), std::move(failed) });
		kustos_consumer *made = nullptr;

		detail::check(kustos_queue_consume(get(), max,
			t->item ? give : nullptr, told::on_failed, t.get(),
			&made));
		return consumer(made, std::move(t));
	}

	kustos_queue *get() const noexcept
	{
		return queue_.get();
	}

      private:
	using told = detail::told<std::function<void(const item_view &)>>;

	queue(const client &c, const std::string &path, const options &o)
		: queue(c, path, &o)
	{
	}

	static options of(kustos_queue_kind kind)
	{
		options o = KUSTOS_QUEUE_OPTIONS_INIT;

		o.kind = kind;
		return o;
	}

	static void give(void *arg, kustos_item *const *items,
		std::size_t count) noexcept
	{
		for (std::size_t i = 0; i < count; i++)
			static_cast<told *>(arg)->item(item_view(items[i]));
	}

	std::unique_ptr<kustos_queue, detail::with<kustos_queue_destroy>> queue_;
};

} // namespace kustos
#endif
