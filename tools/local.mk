# Programs.  kustos-tour starts a throw-away server of the test bed, hence its
# second library.

noinst_PROGRAMS += kustos-tour
kustos_tour_SOURCES = %D%/tour.c
kustos_tour_LDADD = libsupport.a libkustos.la

EXTRA_DIST += %D%/lint
