// Chooses items at random with the distributions of YCSB (B. Cooper et al., SoCC 2010), such as
// "zipfian 0.99". Workloads use them to choose keys.
//
// The classes follow YCSB's published code and not the textbook, so that names mean the same as in
// YCSB. YCSB's Zipfian is the approximation of J. Gray et al. (SIGMOD 1994, "Quickly generating
// billion-record synthetic databases"). Compared with an exact Zipf distribution, this
// approximation chooses the third most frequent item, which has rank 2, 17 % more often. YCSB's
// scrambled form chooses among 10^10 + 1 ranks and hashes the result. The tests compare the classes
// with figures that YCSB's code computed (tests/vectors/).
//
// Each call next(rng) uses one number of the caller's Rng, except Hotspot::next(). Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload/rng.h"

namespace keydrome::workload {

// Returns a number in [0, 1), uniform, with 53 random bits.
inline double unit_interval(Rng& rng) { return static_cast<double>(rng.next() >> 11) * 0x1.0p-53; }

// Returns the FNV-1a hash of the eight bytes of `value`, lowest byte first. The result is the
// absolute value of the hash as a signed number, so it has at most 63 bits.
uint64_t fnv_63(uint64_t value);

// Gray's approximation of a Zipf distribution over the ranks 0 .. items-1. Rank 0 is the most
// frequent.
class GrayZipf {
 public:
  static constexpr double kTheta = 0.99;

  // Computes a sum of `items` terms, so its cost grows with `items`. REQUIRES (checked): items > 0,
  // 0 < theta < 1.
  GrayZipf(uint64_t items, double theta);
  // Takes the sum, `zetan`, from the caller instead of computing it.
  GrayZipf(uint64_t items, double theta, double zetan);

  // Extends the distribution to `items` ranks, at the cost of adding one term for each new rank to
  // the sum. Afterwards, as in YCSB, the constant eta is computed from the new sum and from n, the
  // number of ranks at construction. So an extended distribution differs from a new one of the same
  // size: ranks 0 and 1 are right, but the ranks from 2 to about 2 * items / n never occur.
  // REQUIRES (checked): `items` is at least the current number of ranks.
  void grow(uint64_t items);

  // Returns the rank that belongs to a random number `u` in [0, 1).
  uint64_t at(double u) const;
  uint64_t next(Rng& rng) const { return at(unit_interval(rng)); }

  // Returns the exact probability of a rank. The result is valid only before grow(). For tests and
  // documentation.
  double probability(uint64_t rank) const;

  uint64_t items() const { return items_; }
  double zetan() const { return zetan_; }
  double zeta2() const { return zeta2_; }
  double alpha() const { return alpha_; }
  double eta() const { return eta_; }

 private:
  double eta_of(double zetan) const;

  uint64_t first_items_, items_;                // number of ranks at construction, and now
  double theta_, zetan_, zeta2_, alpha_, eta_;  // the names of Gray's paper
};

// Zipfian ranks among 10^10 + 1 ranks, hashed into 0 .. items-1. The most frequent item has a
// probability of about 3.8 % if there are many items. If there are few items, further ranks are
// hashed to the same item and make it more frequent.
class ScrambledZipf {
 public:
  explicit ScrambledZipf(uint64_t items);
  uint64_t next(Rng& rng) const { return fnv_63(ranks_.next(rng)) % items_; }

 private:
  GrayZipf ranks_;
  uint64_t items_;
};

// Prefers the newest items. The result is `last` minus a Zipfian rank below `last`, so item 0 is
// never chosen.
class LatestZipf {
 public:
  // REQUIRES: last > 0.
  explicit LatestZipf(uint64_t last) : ranks_(last, GrayZipf::kTheta) {}
  // REQUIRES: `last` is not less than in earlier calls.
  uint64_t next(Rng& rng, uint64_t last);

 private:
  GrayZipf ranks_;
};

// Chooses one of the first `hot_items` items with probability `hot_share`, and otherwise one of the
// other items.
class Hotspot {
 public:
  // REQUIRES (checked): 0 < hot_items < items.
  Hotspot(uint64_t items, uint64_t hot_items, double hot_share);
  // Returns an item. Uses two numbers of `rng`.
  uint64_t next(Rng& rng) const;

 private:
  uint64_t items_, hot_items_;
  double hot_share_;
};

// Exponential distribution. `percentile` percent of the values are below `range`; the other values
// have no upper bound.
class Exponential {
 public:
  // REQUIRES (checked): 0 < percentile < 100, range > 0.
  Exponential(double percentile, double range);
  uint64_t next(Rng& rng) const;

 private:
  double gamma_;
};

// Numbers new items and tracks which of them have been written, so that readers choose only written
// items. An item may be written only if it is less than kWindow items after the oldest unwritten
// item (2^20 items, as in YCSB).
class AcknowledgedCounter {
 public:
  static constexpr uint64_t kWindow = uint64_t{1} << 20;

  // The next new item has the number `first`. All items below `first` have been written.
  explicit AcknowledgedCounter(uint64_t first) : next_(first), limit_(first), done_(kWindow) {}

  // Returns the number of a new item.
  uint64_t next() { return next_++; }
  // Marks an item from next() as written. REQUIRES (checked): the item is less than kWindow items
  // after the oldest item that has not been written.
  void acknowledge(uint64_t item);
  // Returns the number of the first item that has not been written.
  uint64_t limit() const { return limit_; }

 private:
  uint64_t next_, limit_;
  // By item modulo kWindow: true if the item has been written, but an older item has not.
  std::vector<bool> done_;
};

}  // namespace keydrome::workload
