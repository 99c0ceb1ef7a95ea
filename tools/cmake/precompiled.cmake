# Precompiles the headers of the standard library and GoogleTest. The compiler would spend most of its time on these headers.
#
# The headers are precompiled once for libraries and once for tests. Every source must still include all headers that it uses,
# because some builds have no precompiled headers: clang-tidy's, the preset clang, and builds with a compiler cache.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  # GCC raises false alarms in code inlined from libstdc++ (GCC bug 105651). With precompiled headers, GCC does not treat this
  # code as a system header, so the warnings are switched off.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>)
endif()

set(standard_headers
  <algorithm> <array> <atomic> <bit> <charconv> <condition_variable> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring>
  <deque> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <shared_mutex> <span>
  <sstream> <string> <string_view> <thread> <tuple> <utility> <variant> <vector>)

list(TRANSFORM standard_headers REPLACE "<(.+)>" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "int main() { return 0; }\n")
add_library(precompiled_library OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
target_precompile_headers(precompiled_library PRIVATE ${standard_headers})

find_package(GTest REQUIRED)
add_executable(precompiled_test EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
target_link_libraries(precompiled_test PRIVATE GTest::gtest)
target_compile_options(precompiled_test PRIVATE ${KEYDROME_TEST_OPTIONS})
target_precompile_headers(precompiled_test PRIVATE ${standard_headers}
  "$<$<COMPILE_LANGUAGE:CXX>:<gtest/gtest.h$<ANGLE-R>>")
