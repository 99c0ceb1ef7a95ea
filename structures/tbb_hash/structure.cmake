# oneTBB's concurrent hash map is in headers, so nothing is linked.
find_path(TBB_INCLUDE tbb/concurrent_hash_map.h)
if(NOT TBB_INCLUDE)
  message(FATAL_ERROR "structures/tbb_hash needs oneTBB: install the package libtbb-dev")
endif()
