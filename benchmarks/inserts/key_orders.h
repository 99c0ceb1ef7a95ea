// Defines the orders in which the threads of the benchmark "inserts" insert new keys.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "benchmarks/kit/workload/rng.h"

namespace keydrome::inserts {

// The parameters of the benchmark that determine an order of keys.
struct Scale {
  uint32_t threads = 1;
  uint32_t records = 0;       // loaded before the timed phase; 0 except for hotspots
  uint32_t inserts = 1;       // inserts of each thread
  uint32_t hot_permille = 1;  // size of the hot range, in permille of `records`
};

// Chooses the key of every insert.
class KeyOrder {
 public:
  virtual ~KeyOrder() = default;
  // Returns the key of a thread's i-th insert. Callers pass i = 0, 1, 2, ... for each thread; the
  // threads take turns, one transaction each.
  virtual int64_t key(uint32_t thread, uint32_t i) = 0;
};

// The distance between the keys of adjacent loaded records. A hotspot inserts keys between them.
inline constexpr int64_t kGap = int64_t{1} << 20;

// Returns the key order of an instance:
//
// - monotone_shared: 0, 1, 2, ...; each insert takes the next key, across all threads.
// - monotone_blocks: each thread takes blocks of 1,000 consecutive keys.
// - monotone_timestamp: i << 16 | thread, for the thread's i-th insert.
// - bulk_sorted, bulk_autocommit: each thread inserts its own part of 0 .. threads * inserts - 1,
//   in ascending order.
// - bulk_reverse, bulk_random: as bulk_sorted, but in descending or random order.
// - bulk_interleaved: as bulk_sorted, but alternating between four ascending runs.
// - hotspot: uniform within a range that covers hot_permille of the loaded keys.
// - hotspot_moving: as hotspot, but the range has ten positions, one after the other.
std::unique_ptr<KeyOrder> key_order(std::string_view instance, const Scale& scale, uint64_t seed);

}  // namespace keydrome::inserts
