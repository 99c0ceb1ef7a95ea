// The random item choosers of YCSB (B. Cooper et al., SoCC 2010), so that "zipfian 0.99" means here
// what it means there.
//
// They follow the published core, not the textbook: its Zipfian is the approximation of J. Gray et
// al. (SIGMOD 1994, "Quickly generating billion-record synthetic databases"), in which item 2 comes
// up 17 % more often than a Zipf law says; its scrambled form always draws among 10^10 items and
// hashes. The tests hold them to that core's own figures (tests/vectors/).
//
// Every chooser draws from the caller's Rng, once per item unless it says otherwise. Not
// thread-safe; referee only, never inside the clock.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome {

// Uniform in [0, 1), with 53 random bits.
inline double unit_interval(Rng& rng) { return static_cast<double>(rng.next() >> 11) * 0x1.0p-53; }

// FNV-1a over the eight octets of `value`, lowest first, taken as a signed number without its sign:
// at most 63 bits.
uint64_t fnv_63(uint64_t value);

// Gray's approximation of a Zipf law over ranks 0 .. items-1. Rank 0 is the most frequent one.
class GrayZipf {
 public:
  static constexpr double kTheta = 0.99;

  // Adds up `items` terms; items > 0, 0 < theta < 1.
  GrayZipf(uint64_t items, double theta);
  // With the sum given.
  GrayZipf(uint64_t items, double theta, double zetan);

  // Makes it one over `items` ranks, at least as many as before, at the cost of the added terms. As
  // in YCSB, eta then mixes the new sum with the first size, so that a grown one is another law:
  // the ranks behind the first two become rare.
  void grow(uint64_t items);

  // The rank at a number of [0, 1).
  uint64_t at(double u) const;
  uint64_t next(Rng& rng) const { return at(unit_interval(rng)); }

  // How likely a rank is, exactly; for tests and documentation. Only before it grew.
  double probability(uint64_t rank) const;

  uint64_t items() const { return items_; }
  double zetan() const { return zetan_; }
  double zeta2() const { return zeta2_; }
  double alpha() const { return alpha_; }
  double eta() const { return eta_; }

 private:
  double eta_of(double zetan) const;

  uint64_t first_items_, items_;
  double theta_, zetan_, zeta2_, alpha_, eta_;
};

// Zipfian ranks among 10^10 + 1 items, hashed into 0 .. items-1: the hottest one gets 3.8 % however
// many there are.
class ScrambledZipf {
 public:
  explicit ScrambledZipf(uint64_t items);
  uint64_t next(Rng& rng) const { return fnv_63(ranks_.next(rng)) % items_; }

 private:
  GrayZipf ranks_;
  uint64_t items_;
};

// The newest item most often: `last` minus a Zipfian rank below `last`. Item 0 never comes up.
class LatestZipf {
 public:
  // Begins with `last` > 0 as the newest item.
  explicit LatestZipf(uint64_t last) : ranks_(last, GrayZipf::kTheta) {}
  // `last` never shrinks.
  uint64_t next(Rng& rng, uint64_t last);

 private:
  GrayZipf ranks_;
};

// With probability `hot_share` one of the first `hot_items`, else one of the others.
class Hotspot {
 public:
  // 0 < hot_items < items.
  Hotspot(uint64_t items, uint64_t hot_items, double hot_share);
  // Draws twice.
  uint64_t next(Rng& rng) const;

 private:
  uint64_t items_, hot_items_;
  double hot_share_;
};

// Exponential: `percentile` percent of the items lie below `range`. Not bounded.
class Exponential {
 public:
  // 0 < percentile < 100, range > 0.
  Exponential(double percentile, double range);
  uint64_t next(Rng& rng) const;

 private:
  double gamma_;
};

// Numbers new items, and says up to which one all have been written: readers choose among those.
// The window bounds how far a slow writer may stay behind (2^20, as in YCSB).
class AcknowledgedCounter {
 public:
  static constexpr uint64_t kWindow = uint64_t{1} << 20;

  // The next new item is `first`; those below are there.
  explicit AcknowledgedCounter(uint64_t first) : next_(first), limit_(first), done_(kWindow) {}

  uint64_t next() { return next_++; }
  // Item `item` of next() has been written. At most kWindow items wait for an older one (checked).
  void acknowledge(uint64_t item);
  // How many items, from 0 on without a gap, have been written.
  uint64_t limit() const { return limit_; }

 private:
  uint64_t next_, limit_;
  std::vector<bool> done_;  // by item modulo kWindow: written, but an older one is not
};

}  // namespace keydrome
