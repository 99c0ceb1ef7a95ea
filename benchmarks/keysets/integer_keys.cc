// Implements the sets of integer keys of the benchmark "keysets": uniform, dense, normal,
// lognormal, points along a Hilbert curve, and keys with a given number of line segments. The
// segments are the lines that a learned index needs to predict the rank (position in key order) of
// every key (segments.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "benchmarks/keysets/key_sets.h"
#include "benchmarks/keysets/zipf.h"
#include "benchmarks/kit/workload/distributions.h"

namespace keydrome::keysets {
namespace {

constexpr int64_t kDomainEnd = int64_t{1} << 62;
constexpr int64_t kDenseFirst = 42;
constexpr uint32_t kNormalEnd = 28, kLogNormalEnd = 24;  // number of low bits that are uniform
constexpr double kNormalMean = 0x1.0p33, kNormalDeviation = 0x1.0p30;
constexpr double kLogNormalSigma = 2, kLogNormalUnit = 0x1.0p18;

// Returns `count` different values of `random` in ascending order. Replaces repeated values with
// new ones.
template <typename Random>
std::vector<int64_t> distinct(uint32_t count, const Random& random) {
  std::vector<int64_t> keys;
  keys.reserve(count);
  while (keys.size() < count) {
    while (keys.size() < count) keys.push_back(random());
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  return keys;
}

// Returns a random number from the standard normal distribution (G. Box and M. Muller, 1958). Uses
// two numbers of `rng`.
double normal(workload::Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - workload::unit_interval(rng)));
  return radius * std::cos(2 * std::numbers::pi * workload::unit_interval(rng));
}

// Returns a key whose high bits are a value of `random`, and whose low `bits` bits are uniform. The
// fraction of the value is dropped, because the last bits of logarithms differ between machines.
// A value outside the domain is replaced with a new one.
template <typename Random>
int64_t with_random_end(uint32_t bits, workload::Rng& rng, const Random& random) {
  while (true) {
    const double start = random();
    if (start < 0 || start >= static_cast<double>(kDomainEnd >> bits)) continue;
    return static_cast<int64_t>(start) << bits |
           static_cast<int64_t>(rng.below(uint64_t{1} << bits));
  }
}

// Generates random points on a plane, in clusters. Returns each point as its position along a
// Hilbert curve (D. Hilbert, 1891).
class HilbertPoints {
 public:
  explicit HilbertPoints(workload::Rng& rng) : rng_(&rng), popularity_(kClusters, kZipf) {
    for (Cluster& cluster : clusters_) {
      const double halvings = kWidest + workload::unit_interval(rng) * (kNarrowest - kWidest);
      cluster = {.x = workload::unit_interval(rng) * kSide,
                 .y = workload::unit_interval(rng) * kSide,
                 .deviation = kSide * std::exp2(-halvings)};
    }
  }

  int64_t next() {
    while (true) {
      const Cluster& cluster = clusters_[popularity_.next(*rng_)];
      const double x = cluster.x + normal(*rng_) * cluster.deviation;
      const double y = cluster.y + normal(*rng_) * cluster.deviation;
      if (x >= 0 && x < kSide && y >= 0 && y < kSide) {
        return position(static_cast<uint64_t>(x), static_cast<uint64_t>(y));
      }
    }
  }

 private:
  static constexpr uint32_t kClusters = 1'000;
  static constexpr double kZipf = 1.0;
  static constexpr double kWidest = 4, kNarrowest = 12;  // deviation: side / 2^4 to side / 2^12
  static constexpr uint32_t kOrder = 31;
  static constexpr double kSide = static_cast<double>(uint64_t{1} << kOrder);

  struct Cluster {
    double x, y, deviation;
  };

  // Returns the position of a point along the curve. For each square, from the largest to the
  // smallest, appends the number of the quarter that contains the point. The quarters are numbered
  // in the order of the curve. In the first and last quarter the curve is reflected.
  static int64_t position(uint64_t x, uint64_t y) {
    uint64_t distance = 0;
    for (uint32_t bit = kOrder; bit-- > 0;) {
      const uint64_t right = x >> bit & 1, upper = y >> bit & 1;
      distance = distance << 2 | ((3 * right) ^ upper);
      if (upper != 0) continue;
      if (right != 0) {
        x = ~x;
        y = ~y;
      }
      std::swap(x, y);
    }
    return static_cast<int64_t>(distance);
  }

  workload::Rng* rng_;
  ZipfTable popularity_;
  std::array<Cluster, kClusters> clusters_{};
};

// A data set of the study GRE (C. Wongkham et al., PVLDB 2022) with its numbers of segments, for
// errors within 32 (local) and 4,096 (global).
struct Published {
  std::string_view name;
  uint64_t local, global;
};
constexpr uint64_t kPublishedKeys = 200'000'000;
// The numbers of segments that GRE publishes for the data sets after which these sets are named.
constexpr std::array kPublished = {
    Published{"synth_gre_books", 262'604, 97}, Published{"synth_gre_osm", 661'115, 5'495},
    Published{"synth_gre_fb", 1'055'308, 1'687}, Published{"synth_gre_genome", 1'290'208, 1'426}};

// Returns keys that need the target's numbers of line segments.
//
// The keys form pieces with equally many keys. Pieces with small gaps and pieces with large gaps
// alternate and make the local segments. Longer pieces, which also change the size of the gaps,
// make the global segments. If a piece has more than four times as many keys as the permitted error
// of a rank, no line fits two adjacent pieces. Each key is a random number from the first half of
// its gap, so chance adds no further segments.
std::vector<int64_t> with_corners(Hardness target, uint32_t count, workload::Rng& rng) {
  constexpr int64_t kClose = 16, kFarLocal = 1'024, kFarGlobal = 64;
  std::vector<int64_t> keys;
  keys.reserve(count);
  int64_t cell = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const bool far = i * target.local / count % 2 == 1;
    const bool far_global = i * target.global / count % 2 == 1;
    const int64_t gap = kClose * (far ? kFarLocal : 1) * (far_global ? kFarGlobal : 1);
    keys.push_back(cell + static_cast<int64_t>(rng.below(static_cast<uint64_t>(gap / 2))));
    cell += gap;
  }
  return keys;
}

}  // namespace

std::optional<Hardness> target_hardness(std::string_view name, uint32_t count) {
  const auto scaled = [&](uint64_t published) {
    return std::max(uint64_t{1}, (published * count + kPublishedKeys / 2) / kPublishedKeys);
  };
  for (const Published& set : kPublished) {
    if (set.name == name) return Hardness{scaled(set.local), scaled(set.global)};
  }
  return std::nullopt;
}

std::vector<int64_t> integer_keys(std::string_view name, uint32_t count, workload::Rng& rng) {
  if (const auto target = target_hardness(name, count)) return with_corners(*target, count, rng);
  if (name == "dense") {
    std::vector<int64_t> keys(count);
    std::iota(keys.begin(), keys.end(), kDenseFirst);
    return keys;
  }
  if (name == "uniform") {
    return distinct(count, [&] { return rng.between(0, kDomainEnd - 1); });
  }
  if (name == "normal") {
    const auto start = [&] { return kNormalMean + normal(rng) * kNormalDeviation; };
    return distinct(count, [&] { return with_random_end(kNormalEnd, rng, start); });
  }
  if (name == "lognormal") {
    const auto start = [&] { return std::exp(kLogNormalSigma * normal(rng)) * kLogNormalUnit; };
    return distinct(count, [&] { return with_random_end(kLogNormalEnd, rng, start); });
  }
  KEYDROME_CHECK(name == "synth_hilbert");
  HilbertPoints points(rng);
  return distinct(count, [&] { return points.next(); });
}

int64_t absent_key(const std::vector<int64_t>& keys, workload::Rng& rng) {
  const auto gaps = static_cast<uint64_t>(keys.size() - 1);
  if (static_cast<uint64_t>(keys.back() - keys.front()) == gaps) {
    return keys.back() + 1 + static_cast<int64_t>(rng.below(keys.size()));
  }
  while (true) {
    const uint64_t rank = rng.below(gaps);
    if (keys[rank + 1] - keys[rank] > 1) return rng.between(keys[rank] + 1, keys[rank + 1] - 1);
  }
}

}  // namespace keydrome::keysets
