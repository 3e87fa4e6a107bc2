# Tests of single modules, without a server and without sleeping.  Each has one
# line here, and a second if it wraps functions (see fault.h).

check_LIBRARIES += libunit.a
libunit_a_SOURCES = \
	%D%/fault.c %D%/fault.h \
	%D%/steer_bed.h \
	%D%/unit.h

fault_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc \
	-Wl,--wrap=realloc,--wrap=pthread_mutex_init

unit_tests += %D%/test_board
unit_tests += %D%/test_cancel
%C%_test_cancel_LDFLAGS = $(fault_ldflags) -Wl,--wrap=pthread_mutex_lock
unit_tests += %D%/test_cancel_locks
%C%_test_cancel_locks_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock
unit_tests += %D%/test_clock
unit_tests += %D%/test_config
unit_tests += %D%/test_config_taken
unit_tests += %D%/test_error
unit_tests += %D%/test_fairness
unit_tests += %D%/test_figures
unit_tests += %D%/test_footprint
unit_tests += %D%/test_heir
unit_tests += %D%/test_histogram
unit_tests += %D%/test_hosts
unit_tests += %D%/test_item
unit_tests += %D%/test_item_frame
unit_tests += %D%/test_item_name
%C%_test_item_name_LDFLAGS = $(fault_ldflags)
unit_tests += %D%/test_item_sort
%C%_test_item_sort_SOURCES = %D%/test_item_sort.c tools/item_sort.c \
	tools/item_sort.h
unit_tests += %D%/test_json
%C%_test_json_SOURCES = %D%/test_json.c tools/json.c tools/json.h
unit_tests += %D%/test_lease
unit_tests += %D%/test_legacy
unit_tests += %D%/test_lookup
%C%_test_lookup_LDFLAGS = $(fault_ldflags) \
	-Wl,--wrap=getaddrinfo,--wrap=pthread_detach,--wrap=strdup \
	-Wl,--wrap=pthread_mutex_destroy
unit_tests += %D%/test_maker
unit_tests += %D%/test_mntr
unit_tests += %D%/test_muster
unit_tests += %D%/test_name
%C%_test_name_LDFLAGS = $(fault_ldflags)
unit_tests += %D%/test_pace
unit_tests += %D%/test_probe
unit_tests += %D%/test_queue_head
unit_tests += %D%/test_random
%C%_test_random_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getrandom
unit_tests += %D%/test_rank
unit_tests += %D%/test_rank_order
unit_tests += %D%/test_rank_room
unit_tests += %D%/test_record
%C%_test_record_SOURCES = %D%/test_record.c tools/json.c tools/json.h
%C%_test_record_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gethostname
unit_tests += %D%/test_retry
unit_tests += %D%/test_seat_rule
unit_tests += %D%/test_show
%C%_test_show_SOURCES = %D%/test_show.c tools/show.c tools/show.h \
	tools/json.c tools/json.h
unit_tests += %D%/test_shun
unit_tests += %D%/test_stats
unit_tests += %D%/test_steer
unit_tests += %D%/test_steer_edges
unit_tests += %D%/test_steer_only
unit_tests += %D%/test_steer_random
unit_tests += %D%/test_steer_servers
unit_tests += %D%/test_tally
%C%_test_tally_LDFLAGS = $(fault_ldflags)
unit_tests += %D%/test_timer
unit_tests += %D%/test_tool_open
%C%_test_tool_open_SOURCES = %D%/test_tool_open.c tools/tool.c tools/tool.h \
	tools/access.c tools/access.h tools/show.c tools/show.h \
	tools/json.c tools/json.h
%C%_test_tool_open_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=kustos_client_open
unit_tests += %D%/test_unfit
unit_tests += %D%/test_waker
%C%_test_waker_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_cond_signal
unit_tests += %D%/test_witness
unit_tests += %D%/test_zk_call
unit_tests += %D%/test_zk_fd
unit_tests += %D%/test_zk_flow
%C%_test_zk_flow_SOURCES = %D%/test_zk_flow.c lib/zk_flow.c lib/zk_flow.h
%C%_test_zk_flow_CFLAGS = $(AM_CFLAGS) # an object of its own
