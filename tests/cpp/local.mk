# The test of the C++ headers is a script, because nothing else in Kustos needs
# a C++ compiler.  It compiles its programs itself, against what is installed.

if WITH_ALL
TESTS += %D%/check_cpp.sh
endif
EXTRA_DIST += %D%/check_cpp.sh %D%/bed.hpp %D%/test_hpp.cc \
	%D%/test_together_hpp.cc
