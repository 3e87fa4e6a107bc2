# The core.  A new file is one line in the list of sources (or of headers).

plain_headers = \
	%D%/kustos/base.h \
	%D%/kustos/cancel.h \
	%D%/kustos/client.h \
	%D%/kustos/hold.h \
	%D%/kustos/lockable.h \
	%D%/kustos/node.h \
	%D%/kustos/participant.h \
	%D%/kustos/retry.h

# The headers of what only queues hand out: not installed without queues.
item_headers = %D%/kustos/consumer.h %D%/kustos/item.h

core_headers = $(plain_headers) $(item_headers)

core_sources = \
	%D%/beat.c %D%/beat.h \
	%D%/cancel.c %D%/cancel.h \
	%D%/candidate.c %D%/candidate.h \
	%D%/candidate_ask.c \
	%D%/candidate_data.c \
	%D%/candidate_errand.c \
	%D%/candidate_impl.h \
	%D%/candidate_over.c \
	%D%/candidate_search.c \
	%D%/client.c %D%/client.h \
	%D%/clock.c %D%/clock.h \
	%D%/close.c \
	%D%/config.c \
	%D%/consumer.c %D%/consumer.h \
	%D%/custody.c %D%/custody.h %D%/custody_impl.h \
	%D%/custody_claim.c %D%/custody_end.c %D%/custody_guard.c \
	%D%/desk.c %D%/desk.h %D%/desk_impl.h \
	%D%/desk_give.c %D%/desk_lend.c \
	%D%/desk_look.c %D%/desk_try.c \
	%D%/dispatch.c %D%/dispatch.h \
	%D%/drive.c %D%/drive.h \
	%D%/env.h \
	%D%/unfit.c %D%/unfit.h \
	%D%/error.c %D%/version.c \
	%D%/footprint.c %D%/footprint.h %D%/footprint_look.c \
	%D%/fork.c %D%/fork.h \
	%D%/gate.c %D%/gate.h %D%/gate_impl.h \
	%D%/gate_lock.c %D%/gate_tell.c %D%/gate_turn.c \
	%D%/heir.c %D%/heir.h \
	%D%/hosts.c %D%/hosts.h \
	%D%/leader.c %D%/leader.h \
	%D%/lease.c %D%/lease.h \
	%D%/legacy.c %D%/legacy.h \
	%D%/hold.c %D%/hold.h \
	%D%/hold_wait.c %D%/hold_wait.h \
	%D%/inside.c %D%/inside.h \
	%D%/item.c %D%/item.h \
	%D%/item_frame.c %D%/item_frame.h \
	%D%/item_name.c %D%/item_name.h \
	%D%/line.c %D%/line.h \
	%D%/line_impl.h \
	%D%/line_crowd.c \
	%D%/line_follow.c \
	%D%/line_look.c %D%/line_proof.c %D%/line_renew.c \
	%D%/line_session.c \
	%D%/line_watch.c \
	%D%/list.h %D%/listener.c \
	%D%/log.c \
	%D%/lockable.c \
	%D%/lookup.c %D%/lookup.h \
	%D%/maker.c %D%/maker.h \
	%D%/manager.c %D%/manager.h \
	%D%/mirror.c %D%/mirror.h \
	%D%/muster.c %D%/muster.h %D%/muster_impl.h \
	%D%/muster_guard.c %D%/muster_look.c \
	%D%/muster_node.c %D%/muster_step.c \
	%D%/muster_rule.c %D%/muster_rule.h \
	%D%/name.c %D%/name.h \
	%D%/node.c \
	%D%/observe.c %D%/observe.h \
	%D%/op.c %D%/op.h \
	%D%/op_create.c \
	%D%/op_list.c \
	%D%/op_new.c \
	%D%/op_resolve.c \
	%D%/op_start.c \
	%D%/others.c %D%/others.h \
	%D%/payload.c %D%/payload.h \
	%D%/participant.c %D%/participant.h \
	%D%/place.c \
	%D%/place_take.c \
	%D%/place_write.c \
	%D%/pool.c %D%/pool.h %D%/pool_impl.h \
	%D%/pool_bid.c %D%/pool_note.c %D%/pool_room.c \
	%D%/probe.c %D%/probe.h \
	%D%/queue.c %D%/queue.h %D%/queue_impl.h \
	%D%/queue_batch.c %D%/queue_catch.c \
	%D%/queue_form.c %D%/queue_order.c \
	%D%/queue_id.c %D%/queue_own.c %D%/queue_room.c \
	%D%/queue_head.c %D%/queue_head.h \
	%D%/queue_poll.c %D%/queue_put.c %D%/queue_return.c \
	%D%/queue_root.c %D%/queue_take.c \
	%D%/random.c %D%/random.h \
	%D%/rank.c %D%/rank.h \
	%D%/receipt.c %D%/receipt.h %D%/receipt_impl.h \
	%D%/receipt_ask.c %D%/receipt_fence.c %D%/receipt_sweep.c \
	%D%/recipe.c %D%/recipe.h \
	%D%/seat.c \
	%D%/seat_rule.c %D%/seat_rule.h \
	%D%/service.h \
	%D%/resolve.c %D%/resolve.h \
	%D%/retry.c %D%/retry.h \
	%D%/risk.c %D%/risk.h \
	%D%/session.c %D%/session.h %D%/session_handle.c \
	%D%/shun.c %D%/shun.h \
	%D%/stats.c %D%/stats.h \
	%D%/steer.c %D%/steer.h \
	%D%/stray.c %D%/stray.h \
	%D%/survey.c %D%/survey.h \
	%D%/thread.c %D%/thread.h \
	%D%/timer.c %D%/timer.h \
	%D%/utf8.h \
	%D%/vigil.c %D%/vigil.h \
	%D%/wait.c %D%/wait.h \
	%D%/waker.c %D%/waker.h \
	%D%/watch.c %D%/watch.h \
	%D%/wire.c %D%/wire.h \
	%D%/witness.c %D%/witness.h \
	%D%/zk.h \
	%D%/zk_call.c %D%/zk_call.h \
	%D%/zk_fd.c %D%/zk_fd.h

# The boundary, over one of the two builds of ZooKeeper's library.
library_sources = %D%/zk_lib.c %D%/zk_lib.h

# Tests of internals link the convenience library, everybody else libkustos.
noinst_LTLIBRARIES += libkustos_core.la
libkustos_core_la_SOURCES = $(core_sources)

if EMBEDDED
noinst_LTLIBRARIES += libkustos_zk.la
libkustos_zk_la_SOURCES = $(library_sources) %D%/zk_st.c %D%/zk_st.h \
	%D%/zk_drive.c \
	%D%/zk_st_calls.c %D%/zk_st_calls.h %D%/zk_flow.c %D%/zk_flow.h
libkustos_core_la_LIBADD = %D%/zk_embedded.lo -lpthread

%D%/zk_embedded.lo: libkustos_zk.la $(ZOOKEEPER_ARCHIVE) $(srcdir)/%D%/embed
	$(AM_V_GEN)LD='$(LD)' OBJCOPY='$(OBJCOPY)' $(srcdir)/%D%/embed \
		.libs/libkustos_zk.a $(ZOOKEEPER_ARCHIVE) $@
CLEANFILES += %D%/zk_embedded.o %D%/zk_embedded.lo
else
libkustos_core_la_SOURCES += $(library_sources) %D%/zk_mt.c \
	%D%/zk_thread.c %D%/zk_thread.h
libkustos_core_la_LIBADD = $(ZOOKEEPER_LIBS)
endif

lib_LTLIBRARIES += libkustos.la
libkustos_la_SOURCES =
libkustos_la_LIBADD = libkustos_core.la
libkustos_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/kustos.map
libkustos_la_DEPENDENCIES = libkustos_core.la %D%/kustos.map

kustosincludedir = $(includedir)/kustos
kustosinclude_HEADERS = $(plain_headers) \
	%D%/kustos/core.hpp %D%/kustos/kustos.hpp

# These headers have a list of their own: automake distributes what a condition leaves
# out of a list, but it cannot know what is in that of the recipes.
if WITH_QUEUE
kustositemdir = $(kustosincludedir)
kustositem_HEADERS = $(item_headers) %D%/kustos/item.hpp
endif

pkgconfig_DATA += %D%/kustos.pc
EXTRA_DIST += %D%/kustos.map %D%/embed
