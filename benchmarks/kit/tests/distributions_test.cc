// Tests the random distributions in two ways: against figures measured with the code of YCSB, a
// benchmark for key-value stores (vectors/), and with chi-square tests against their exact
// probabilities. The seeds are fixed, so the tests always give the same result.
#include "benchmarks/kit/workload/distributions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace keydrome {
namespace {

constexpr uint64_t kScrambledRanks = 10'000'000'001;
constexpr double kScrambledZetan = 26.46902820178302;

// Returns the rows of a file in vectors/, without comments and the heading.
std::vector<std::vector<std::string>> rows(const std::string& name) {
  std::ifstream file(std::string(KEYDROME_SOURCE_DIR) + "/benchmarks/kit/tests/vectors/" + name);
  std::vector<std::vector<std::string>> found;
  bool heading = true;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    if (!heading) found.push_back(fields);
    heading = false;
  }
  return found;
}

// Returns the number of samples of a test. With this number, one test distinguishes YCSB's
// distribution from an ideal Zipf distribution: it expects a deviation above 10 from the ideal one.
// `./dev soak` takes forty times as many samples and finds smaller errors.
uint64_t draws() { return std::getenv("KEYDROME_SOAK") == nullptr ? 250'000 : 10'000'000; }

// Returns how far the counts deviate from the expected counts, as a standard normal value (Wilson
// and Hilferty, 1931). Adjacent cells are merged until the expected count of each is at least 20.
double deviation(const std::vector<uint64_t>& counted, const std::vector<double>& expected) {
  double chi_square = 0, wanted = 0, got = 0;
  int cells = 0;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    wanted += expected[i];
    got += static_cast<double>(counted[i]);
    if (wanted < 20) continue;
    chi_square += (got - wanted) * (got - wanted) / wanted;
    ++cells;
    wanted = got = 0;
  }
  const double freedom = cells - 1, part = 2 / (9 * freedom);
  return (std::cbrt(chi_square / freedom) - (1 - part)) / std::sqrt(part);
}

// Larger deviations, up or down, have a probability of about one in a thousand.
constexpr double kUnlikely = 3.3;

// Expects that `draw` chooses each item with the given probability. The test passes if two of three
// seeds show no unlikely deviation.
template <typename Draw>
void expect_distribution(const std::vector<double>& probabilities, Draw&& draw) {
  int bad = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    workload::Rng rng(seed, 0, workload::Purpose::kStream);
    std::vector<uint64_t> counted(probabilities.size());
    for (uint64_t i = 0; i < draws(); ++i) {
      const uint64_t item = draw(rng);
      ASSERT_LT(item, counted.size());
      ++counted[item];
    }
    std::vector<double> expected;
    for (const double p : probabilities) expected.push_back(p * static_cast<double>(draws()));
    if (std::abs(deviation(counted, expected)) > kUnlikely) ++bad;
  }
  EXPECT_LT(bad, 2);
}

TEST(YcsbRandom, HashesAsYcsbDoes) {
  const auto table = rows("fnv64_ycsb.csv");
  ASSERT_EQ(table.size(), 30u);
  for (const auto& row : table) {
    EXPECT_EQ(workload::fnv_63(std::stoull(row[0])), std::stoull(row[1])) << row[0];
  }
}

TEST(YcsbRandom, ZipfHasYcsbsConstants) {
  const auto table = rows("zipf_params.csv");
  ASSERT_GE(table.size(), 28u);
  for (const auto& row : table) {
    const uint64_t items = std::stoull(row[0]);
    const double theta = std::stod(row[1]), zetan = std::stod(row[2]);
    // Computing zetan, a sum over all items, would take too long for many items. In this case, the
    // test takes zetan from the table and checks only the values that are derived from zetan.
    const workload::GrayZipf zipf = items > 1'000'000 ? workload::GrayZipf(items, theta, zetan)
                                                      : workload::GrayZipf(items, theta);
    EXPECT_NEAR(zipf.zetan() / std::stod(row[2]), 1, 1e-12) << row[0] << " " << row[1];
    EXPECT_NEAR(zipf.zeta2() / std::stod(row[3]), 1, 1e-12);
    EXPECT_NEAR(zipf.alpha() / std::stod(row[4]), 1, 1e-12);
    if (row[5] != "NaN") {
      EXPECT_NEAR(zipf.eta() / std::stod(row[5]), 1, 1e-11);
    }
  }
}

TEST(YcsbRandom, ZipfGivesYcsbsItems) {
  const auto table = rows("zipf_u_to_item.csv");
  ASSERT_EQ(table.size(), 108u);
  std::map<std::string, workload::GrayZipf> zipfs;  // cached, because the constructor is slow
  for (const auto& row : table) {
    const uint64_t items = std::stoull(row[0]);
    const double theta = std::stod(row[1]);
    const std::string distribution = row[0] + " " + row[1];
    if (!zipfs.contains(distribution)) {
      zipfs.emplace(distribution, items == kScrambledRanks
                                      ? workload::GrayZipf(items, theta, kScrambledZetan)
                                      : workload::GrayZipf(items, theta));
    }
    EXPECT_EQ(zipfs.at(distribution).at(std::stod(row[2])), std::stoull(row[3]))
        << distribution << " " << row[2];
  }
}

TEST(YcsbRandom, ZipfFollowsItsExactDistributionAndNotTheIdealOne) {
  const workload::GrayZipf zipf(1000, 0.99);
  std::vector<double> exact, ideal;
  for (uint64_t k = 0; k < 1000; ++k) {
    exact.push_back(zipf.probability(k));
    ideal.push_back(std::pow(static_cast<double>(k + 1), -0.99) / zipf.zetan());
  }
  EXPECT_NEAR(exact[2], 0.0510396, 1e-7);
  EXPECT_NEAR(ideal[2], 0.0436043, 1e-7);
  expect_distribution(exact, [&](workload::Rng& rng) { return zipf.next(rng); });
  workload::Rng rng(1, 0, workload::Purpose::kStream);
  std::vector<uint64_t> counted(1000);
  for (uint64_t i = 0; i < draws(); ++i) ++counted[zipf.next(rng)];
  for (double& p : ideal) p *= static_cast<double>(draws());
  EXPECT_GT(deviation(counted, ideal), 10);
}

// The scrambled Zipf distribution draws a rank and hashes it to an item. So the exact probability
// of an item is the sum of the probabilities of all ranks that are hashed to the item. The sum is
// computed for the first 2,000,000 ranks, and the other ranks are assumed to be spread evenly.
TEST(YcsbRandom, ScrambledZipfFollowsTheFoldedDistribution) {
  constexpr uint64_t kItems = 1000, kExact = 2'000'000;
  const workload::GrayZipf ranks(kScrambledRanks, 0.99, kScrambledZetan);
  std::vector<double> distribution(kItems);
  double mass = 0;
  for (uint64_t rank = 0; rank < kExact; ++rank) {
    const double p = ranks.probability(rank);
    distribution[workload::fnv_63(rank) % kItems] += p;
    mass += p;
  }
  EXPECT_NEAR(1 - mass, 0.384758, 1e-5);
  for (double& p : distribution) p += (1 - mass) / kItems;
  const workload::ScrambledZipf zipf(kItems);
  expect_distribution(distribution, [&](workload::Rng& rng) { return zipf.next(rng); });
}

TEST(YcsbRandom, LatestNeverGivesTheOldestItem) {
  workload::LatestZipf latest(999);
  const workload::GrayZipf ranks(999, 0.99);
  std::vector<double> distribution(1000);
  for (uint64_t item = 1; item < 1000; ++item) distribution[item] = ranks.probability(999 - item);
  expect_distribution(distribution, [&](workload::Rng& rng) { return latest.next(rng, 999); });
}

// YCSB's workload D has 1,000 records and 2,000,000 operations, and one operation in 20 is an
// insert. The test measures distances from the newest item. It checks that these distances and
// those measured on YCSB can be two samples of one distribution.
TEST(YcsbRandom, LatestGrowsAsInYcsb) {
  const auto table = rows("latest_dynamic_D.csv");
  workload::LatestZipf latest(999);
  workload::Rng rng(4, 0, workload::Purpose::kStream);
  uint64_t last = 999, reads = 0;
  std::vector<uint64_t> counted(table.size());
  for (uint64_t i = 0; i < 2'000'000; ++i) {
    if (rng.below(100) >= 95) {
      ++last;
      continue;
    }
    ++reads;
    const uint64_t distance = last - latest.next(rng, last);
    ++counted[std::min<uint64_t>(distance,
                                 counted.size() - 1)];  // the last row counts all larger ones
  }
  double chi_square = 0;
  int cells = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double theirs = std::stod(table[i][1]), ours = static_cast<double>(counted[i]);
    if (table[i][0] != std::to_string(i) || theirs + ours < 40) continue;
    chi_square += (ours - theirs) * (ours - theirs) / (ours + theirs);
    ++cells;
  }
  ASSERT_GT(cells, 100);
  const double part = 2.0 / (9.0 * cells);
  EXPECT_LT((std::cbrt(chi_square / cells) - (1 - part)) / std::sqrt(part), kUnlikely)
      << chi_square << " in " << cells << " cells, " << reads << " reads";
}

TEST(YcsbRandom, HotspotAndExponentialFollowTheirDistributions) {
  const workload::Hotspot hotspot(1000, 200, 0.8);
  std::vector<double> distribution(1000, 0.2 / 800);
  for (std::size_t i = 0; i < 200; ++i) distribution[i] = 0.8 / 200;
  expect_distribution(distribution, [&](workload::Rng& rng) { return hotspot.next(rng); });

  const workload::Exponential exponential(95, 1000 * 0.8571428571);
  const double gamma = -std::log(0.05) / (1000 * 0.8571428571);
  EXPECT_NEAR(gamma, 0.0034950, 1e-7);
  std::vector<double> tail;
  for (int k = 0; k < 6000; ++k) tail.push_back(std::exp(-gamma * k) * (1 - std::exp(-gamma)));
  tail.back() = std::exp(-gamma * 5999);
  expect_distribution(
      tail, [&](workload::Rng& rng) { return std::min<uint64_t>(exponential.next(rng), 5999); });
}

TEST(YcsbRandom, AReaderNeverSeesAnUnwrittenItem) {
  workload::AcknowledgedCounter counter(10);
  const uint64_t a = counter.next(), b = counter.next(), c = counter.next();
  EXPECT_EQ(counter.limit(), 10u);
  counter.acknowledge(c);
  counter.acknowledge(b);
  EXPECT_EQ(counter.limit(), 10u);
  counter.acknowledge(a);
  EXPECT_EQ(counter.limit(), 13u);
  for (uint64_t i = 0; i < 3 * workload::AcknowledgedCounter::kWindow; ++i) {
    counter.acknowledge(counter.next());
  }
  EXPECT_EQ(counter.limit(), 13 + 3 * workload::AcknowledgedCounter::kWindow);
}

}  // namespace
}  // namespace keydrome
