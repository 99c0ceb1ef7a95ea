// Implements the random distributions of the benchmark "linkbench" (operations, links per node)
// with the published constants.
#include "benchmarks/linkbench/distributions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "benchmarks/kit/workload/distributions.h"

namespace keydrome::linkbench {
namespace {

// Probabilities of the operations in units of 10^-9, the precision of the published percentages.
constexpr uint64_t kParts = 1'000'000'000;
constexpr std::array<uint64_t, kOperations> kShares = {
    89'886'601,  29'907'664,  80'122'125, 48'863'567, 5'261'142,
    507'119'145, 129'326'683, 25'732'789, 73'664'370, 10'115'914};

constexpr double kWithLinks = 0.8025;
constexpr double kBodyShare = 0.572, kBodyScale = 2.56, kBodyShape = -2.85;
constexpr double kTailShare = 0.0394, kTailShape = -0.596, kTailEnd = 7900;

constexpr double kMultigetEnd = 0.382;
constexpr double kMultigetMax = 128;

}  // namespace

Operation random_operation(workload::Rng& rng) {
  uint64_t left = rng.below(kParts);
  uint32_t operation = 0;
  while (left >= kShares[operation]) left -= kShares[operation++];
  return static_cast<Operation>(operation);
}

double share_above(uint32_t links) {
  if (links == 0) return kWithLinks;
  const double x = links;
  return kBodyShare * std::pow(1 + x / kBodyScale, kBodyShape) +
         kTailShare * std::pow(x, kTailShape) * std::exp(-x / kTailEnd);
}

std::vector<uint32_t> out_degrees(uint32_t nodes) {
  std::vector<uint32_t> degrees(nodes);
  uint32_t links = 0;
  double above = share_above(links) * nodes;
  for (uint32_t rank = nodes; rank-- > 0;) {
    while (above > rank + 0.5) above = share_above(++links) * nodes;
    degrees[rank] = links;
  }
  return degrees;
}

uint32_t random_multiget(workload::Rng& rng) {
  const double failures =
      std::floor(std::log1p(-workload::unit_interval(rng)) / std::log1p(-kMultigetEnd));
  return static_cast<uint32_t>(std::min(1 + failures, kMultigetMax));
}

}  // namespace keydrome::linkbench
