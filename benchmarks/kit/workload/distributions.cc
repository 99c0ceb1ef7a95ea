// Implements the random distributions of distributions.h with the formulas of the code of YCSB
// (Yahoo! Cloud Serving Benchmark).
#include "benchmarks/kit/workload/distributions.h"

#include <cmath>

#include "base/check.h"

namespace keydrome::workload {
namespace {

constexpr uint64_t kFnvOffset = 0xcbf29ce484222325u;
constexpr uint64_t kFnvPrime = 1099511628211u;
// YCSB's scrambled Zipf distribution chooses one of this many ranks and hashes it to an item. The
// second constant is the sum of 1 / i^0.99 for i from 1 to the number of ranks.
constexpr uint64_t kScrambledRanks = 10'000'000'001u;
constexpr double kScrambledZetan = 26.46902820178302;

// Returns `sum` plus the zeta terms 1 / i^theta for i from `from` to `to`.
double add_terms(uint64_t from, uint64_t to, double theta, double sum) {
  for (uint64_t i = from; i <= to; ++i) sum += 1 / std::pow(static_cast<double>(i), theta);
  return sum;
}

}  // namespace

uint64_t fnv_63(uint64_t value) {
  uint64_t hash = kFnvOffset;
  for (int octet = 0; octet < 8; ++octet) {
    hash ^= value & 0xff;
    hash *= kFnvPrime;
    value >>= 8;
  }
  return hash >> 63 == 0 ? hash : 0 - hash;
}

GrayZipf::GrayZipf(uint64_t items, double theta)
    : GrayZipf(items, theta, add_terms(1, items, theta, 0)) {}

GrayZipf::GrayZipf(uint64_t items, double theta, double zetan)
    : first_items_(items),
      items_(items),
      theta_(theta),
      zetan_(zetan),
      zeta2_(1 + std::pow(0.5, theta)),
      alpha_(1 / (1 - theta)),
      eta_(eta_of(zetan)) {
  KEYDROME_CHECK(items > 0 && theta > 0 && theta < 1);
}

double GrayZipf::eta_of(double zetan) const {
  const double share = 2.0 / static_cast<double>(first_items_);
  return (1 - std::pow(share, 1 - theta_)) / (1 - zeta2_ / zetan);
}

void GrayZipf::grow(uint64_t items) {
  KEYDROME_CHECK(items >= items_);
  zetan_ = add_terms(items_ + 1, items, theta_, zetan_);
  eta_ = eta_of(zetan_);
  items_ = items;
}

uint64_t GrayZipf::at(double u) const {
  const double scaled = u * zetan_;
  if (scaled < 1) return 0;
  if (scaled < zeta2_) return 1;
  const double rank = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  return static_cast<uint64_t>(rank);
}

double GrayZipf::probability(uint64_t rank) const {
  if (rank == 0) return 1 / zetan_;
  if (rank == 1) return (zeta2_ - 1) / zetan_;
  const auto n = static_cast<double>(items_);
  const auto k = static_cast<double>(rank);
  return (std::pow((k + 1) / n, 1 - theta_) - std::pow(k / n, 1 - theta_)) / eta_;
}

ScrambledZipf::ScrambledZipf(uint64_t items)
    : ranks_(kScrambledRanks, GrayZipf::kTheta, kScrambledZetan), items_(items) {
  KEYDROME_CHECK(items > 0);
}

uint64_t LatestZipf::next(Rng& rng, uint64_t last) {
  if (last > ranks_.items()) ranks_.grow(last);
  return last - ranks_.next(rng);
}

Hotspot::Hotspot(uint64_t items, uint64_t hot_items, double hot_share)
    : items_(items), hot_items_(hot_items), hot_share_(hot_share) {
  KEYDROME_CHECK(hot_items > 0 && hot_items < items);
}

uint64_t Hotspot::next(Rng& rng) const {
  if (unit_interval(rng) < hot_share_) return rng.below(hot_items_);
  return hot_items_ + rng.below(items_ - hot_items_);
}

Exponential::Exponential(double percentile, double range)
    : gamma_(-std::log(1 - percentile / 100) / range) {
  KEYDROME_CHECK(percentile > 0 && percentile < 100 && range > 0);
}

uint64_t Exponential::next(Rng& rng) const {
  return static_cast<uint64_t>(-std::log(1 - unit_interval(rng)) / gamma_);
}

void AcknowledgedCounter::acknowledge(uint64_t item) {
  KEYDROME_CHECK(item >= limit_ && item < next_ && item - limit_ < kWindow);
  done_[item % kWindow] = true;
  while (done_[limit_ % kWindow]) {
    done_[limit_ % kWindow] = false;
    ++limit_;
  }
}

}  // namespace keydrome::workload
