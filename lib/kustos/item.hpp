/*
 * kustos/item.hpp - what goes into a queue and comes out, and consumers, in
 * C++.
 * Link with -lkustos (pkg-config kustos).
 * <kustos/item.h> and <kustos/consumer.h> document what is promised; the calls
 * are in <kustos/queue.hpp> and <kustos/claim.hpp>.
 */
#ifndef KUSTOS_ITEM_HPP
#define KUSTOS_ITEM_HPP

#include <kustos/consumer.h>
#include <kustos/core.hpp>
#include <kustos/item.h>

namespace kustos
{

/* An item to be put.  What it refers to must exist until the call has returned.
   */
struct new_item {
	std::string_view data = {};
	std::vector<std::string_view> parts = {}; /* if any: instead of "data" */
	std::int32_t priority = KUSTOS_PRIORITY_DEFAULT; /* the lowest is first */
	std::chrono::system_clock::time_point due = {};
	std::string id = {};
};

/* An item that belongs to somebody else. */
class item_view
{
      public:
	explicit item_view(const kustos_item *i) noexcept : item_(i)
	{
	}

	explicit operator bool() const noexcept
	{
		return item_ != nullptr;
	}

	std::string_view data() const noexcept
	{
		return item_ ? view(item_->data, item_->len)
			     : std::string_view();
	}

	std::vector<std::string_view> parts() const
	{
		std::vector<std::string_view> all;

		for (std::size_t i = 0; item_ && i < item_->count; i++)
			all.push_back(view(item_->parts[i].data,
				item_->parts[i].len));
		return all;
	}

	/* This and the following need an item, not nothing. */
	std::string name() const
	{
		return item_->name;
	}

	std::int32_t priority() const noexcept
	{
		return item_->priority;
	}

	std::chrono::system_clock::time_point due() const noexcept
	{
		return at(item_->due_ms);
	}

	/* By the server's clock. */
	std::chrono::system_clock::time_point created() const noexcept
	{
		return at(item_->created_ms);
	}

	std::string id() const
	{
		return item_->id ? item_->id : "";
	}

	const kustos_item *get() const noexcept
	{
		return item_;
	}

      protected:
	const kustos_item *item_;

      private:
	static std::string_view view(const void *data, std::size_t len) noexcept
	{
		return std::string_view(static_cast<const char *>(data), len);
	}

	/* The clock counts in finer units, and so ends in the year 2262: a time
	   beyond its range becomes the last, or the first, in it. */
	static std::chrono::system_clock::time_point at(int64_t ms) noexcept
	{
		using point = std::chrono::system_clock::time_point;
		using std::chrono::milliseconds;
		const auto last = std::chrono::duration_cast<milliseconds>(
			point::max().time_since_epoch());
		const auto first = std::chrono::duration_cast<milliseconds>(
			point::min().time_since_epoch());

		if (milliseconds(ms) > last)
			return point::max();
		return milliseconds(ms) < first ? point::min()
						: point(milliseconds(ms));
	}
};

/* An item that was taken, or nothing; freed when it ends. */
class item : public item_view
{
      public:
	item() noexcept : item_view(nullptr)
	{
	}

	/* Own an item of C. */
	explicit item(kustos_item *i) noexcept : item_view(i), owned_(i)
	{
	}

	item(item &&other) noexcept : item()
	{
		*this = std::move(other);
	}

	item &operator=(item &&other) noexcept
	{
		owned_ = std::move(other.owned_);
		item_ = owned_.get();
		other.item_ = other.owned_.get();
		return *this;
	}

      private:
	std::unique_ptr<kustos_item, detail::with<kustos_item_free>> owned_;
};

/* Calls a function for each item, until it is stopped or ends: no call begins
   after that, and a call that runs is waited for.  An exception that leaves a
   function ends the program.  A consumer must end before the queue or the
   claims that it consumes, and not in its own functions. */
class consumer
{
      public:
	/* "name" is empty if no item could be had, which is tried again. */
	using failed_fn =
		std::function<void(kustos_err err, const std::string &name)>;

	consumer() = default;

	/* Own a consumer of C, and what its functions are called with. */
	consumer(kustos_consumer *c, std::shared_ptr<void> told) noexcept
		: told_(std::move(told)), consumer_(c)
	{
	}

	consumer(consumer &&other) = default;

	/* In this order: the functions go when nothing calls them any more. */
	consumer &operator=(consumer &&other) noexcept
	{
		consumer_ = std::move(other.consumer_);
		told_ = std::move(other.told_);
		return *this;
	}

	void stop() noexcept
	{
		consumer_.reset();
	}

	kustos_consumer *get() const noexcept
	{
		return consumer_.get();
	}

      private:
	std::shared_ptr<void> told_; /* outlives the consumer */
	std::unique_ptr<kustos_consumer, detail::with<kustos_consumer_stop>>
		consumer_;
};

namespace detail
{

/* What a consumer calls. */
template <typename item_fn> struct told {
	item_fn item;
	consumer::failed_fn failed;

	static void on_failed(void *arg, kustos_err err,
		const char *name) noexcept
	{
		const consumer::failed_fn &fn = static_cast<told *>(arg)->failed;

		if (fn)
			fn(err, name ? name : "");
	}
};

/* Items to be put, as C has them. */
class raw_items
{
      public:
	raw_items(const new_item *items, std::size_t count)
		: parts_(count), raw_(count > 0 ? count : 1)
	{
		for (std::size_t i = 0; i < count; i++)
			set(raw_[i], parts_[i], items[i]);
	}

	const kustos_new_item *get() const noexcept
	{
		return raw_.data();
	}

      private:
	static void set(kustos_new_item &raw, std::vector<kustos_part> &parts,
		const new_item &i)
	{
		for (const std::string_view part : i.parts)
			parts.push_back({ part.data(), part.size() });
		raw.data = i.data.data();
		raw.len = i.data.size();
		raw.parts = parts.empty() ? nullptr : parts.data();
		raw.count = parts.size();
		raw.priority = i.priority;
		raw.due_ms = std::chrono::ceil<std::chrono::milliseconds>(
			i.due.time_since_epoch())
				     .count();
		raw.id = detail::text(i.id);
	}

	std::vector<std::vector<kustos_part>> parts_;
	std::vector<kustos_new_item> raw_;
};

} // namespace detail

} // namespace kustos
#endif
