// In which order new keys come.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome::inserts {

struct Shape {
  uint32_t threads = 1;
  uint32_t records = 0;  // loaded before; hotspots only
  uint32_t inserts = 1;  // of each thread
  uint32_t hot_permille = 1;
};

// The key of a thread's i-th insert. Calls come in turn for all threads: i ascending, and for each
// i the threads in their order.
class KeyOrder {
 public:
  virtual ~KeyOrder() = default;
  virtual int64_t key(uint32_t thread, uint32_t i) = 0;
};

// Loaded records lie that far from each other, and a hotspot's keys between them.
inline constexpr int64_t kGap = int64_t{1} << 20;

// monotone_shared: 0, 1, 2, … taken by whoever comes next.
// monotone_blocks: each thread takes blocks of a thousand.
// monotone_timestamp: a clock's ticks, one in each turn, and the number of the thread below them.
// bulk_sorted, bulk_reverse, bulk_random, bulk_interleaved, bulk_autocommit: the thread's own part
// of
//   0 .. threads * inserts - 1, ascending, descending, shuffled, four ascending runs in turn,
//   ascending.
// hotspot, hotspot_moving: uniform in a stretch of the loaded keys, that share of them long, which
//   stays where it is or moves ten times.
std::unique_ptr<KeyOrder> key_order(std::string_view instance, const Shape& shape, uint64_t seed);

}  // namespace keydrome::inserts
