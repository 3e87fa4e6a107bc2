/*
 * kustos/claim.hpp - items that come back unless they are acknowledged, in C++.
 * Link with -lkustos-queue (pkg-config kustos-queue).
 * <kustos/claim.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_CLAIM_HPP
#define KUSTOS_CLAIM_HPP

#include <kustos/claim.h>
#include <kustos/item.hpp>

namespace kustos
{

/* A claim of an item, or nothing.  When this ends, the item goes back where it
   was, unless it was acknowledged or requeued. */
class claim
{
      public:
	claim() = default;

	/* Own a claim of C. */
	explicit claim(kustos_claim *c) noexcept : claim_(c)
	{
	}

	explicit operator bool() const noexcept
	{
		return claim_ != nullptr;
	}

	/* Acknowledge.  Whatever this throws, the claim is nothing afterwards.
	   KUSTOS_ELOST: the item is or was another's. */
	void ack(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(
			kustos_claim_ack(claim_.release(), until.get(), c));
	}

	/* Put the item back at the end of the queue. */
	void requeue(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(
			kustos_claim_requeue(claim_.release(), until.get(), c));
	}

	/* Does not wait. */
	void release() noexcept
	{
		claim_.reset();
	}

	/* Valid as long as the claim. */
	item_view item() const noexcept
	{
		return item_view(claim_ ? kustos_claim_item(get()) : nullptr);
	}

	std::string_view data() const noexcept
	{
		return item().data();
	}

	/* How often the item was claimed, including this claim; 0 if this is
	   nothing. */
	int deliveries() const noexcept
	{
		return claim_ ? kustos_claim_deliveries(get()) : 0;
	}

	enum kustos_hold_state state() const noexcept
	{
		return claim_ ? kustos_hold_state(hold()) : KUSTOS_HOLD_LOST;
	}

	std::chrono::milliseconds remaining() const noexcept
	{
		return std::chrono::milliseconds(
			claim_ ? kustos_hold_remaining_ms(hold()) : 0);
	}

	/* 0 if this is nothing. */
	int64_t token() const noexcept
	{
		return claim_ ? kustos_hold_token(hold()) : 0;
	}

	/* The hold of C, which belongs to the claim. */
	kustos_hold *hold() const noexcept
	{
		return claim_ ? kustos_claim_hold(get()) : nullptr;
	}

	kustos_claim *get() const noexcept
	{
		return claim_.get();
	}

      private:
	friend class claims;

	kustos_claim *give_up() noexcept
	{
		return claim_.release();
	}

	std::unique_ptr<kustos_claim, detail::with<kustos_claim_release>> claim_;
};

/* Claims items of a queue.  Its claims may outlive it. */
class claims
{
      public:
	using options = kustos_claims_options;

	claims(const client &c, const std::string &path,
		const options *o = nullptr)
	{
		kustos_claims *made = nullptr;

		detail::check(kustos_claims_create(c.get(), detail::text(path),
			o, &made));
		claims_.reset(made);
	}

	claim next(kustos_cancel *c = nullptr)
	{
		kustos_claim *made = nullptr;

		detail::check(
			kustos_claim_next(get(), KUSTOS_FOREVER, c, &made));
		return claim(made);
	}

	/* Nothing if there was none by "until", or the wait was canceled. */
	claim try_next(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		kustos_claim *made = nullptr;

		detail::granted(
			kustos_claim_next(get(), until.get(), c, &made));
		return claim(made);
	}

	/* Call "fn" with each item that is claimed, on a thread of the
	   consumer's own.  It returns what is to be done with the item; the
	   return value is ignored if it ends or keeps the claim itself.  The
	   consumer must end before the claims. */
	consumer consume(std::function<kustos_verdict(claim &)> fn,
		consumer::failed_fn failed = {})
	{
		auto t = std::make_shared<told>(
			told{ std::move(fn), std::move(failed) });
		kustos_consumer *made = nullptr;

		detail::check(
			kustos_claims_consume(get(), t->item ? give : nullptr,
				told::on_failed, t.get(), &made));
		return consumer(made, std::move(t));
	}

	kustos_claims *get() const noexcept
	{
		return claims_.get();
	}

      private:
	using told = detail::told<std::function<kustos_verdict(claim &)>>;

	static kustos_verdict give(void *arg, kustos_claim *raw) noexcept
	{
		claim given(raw);
		const kustos_verdict verdict = static_cast<told *>(arg)->item(
			given);

		return given.give_up() ? verdict : KUSTOS_VERDICT_KEEP;
	}

	std::unique_ptr<kustos_claims, detail::with<kustos_claims_destroy>>
		claims_;
};

} // namespace kustos
#endif
