# The headers for C++.  The test is a script, as no other part of Kustos needs a
# compiler for C++: it compiles for itself, against what is installed.

if WITH_ALL
TESTS += %D%/check_cpp.sh
endif
EXTRA_DIST += %D%/check_cpp.sh %D%/bed.hpp %D%/test_hpp.cc \
	%D%/test_together_hpp.cc
