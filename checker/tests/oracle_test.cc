// certify() against the plain definition, on many small random histories.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "checker/certify.h"
#include "checker/search_orders.h"
#include "checker/tests/random_history.h"
#include "checker/tests/script.h"

namespace keydrome {
namespace {

bool is_right(const History& history) {
  const OrderSearch found = search_orders(history);
  EXPECT_EQ(found.problem, "");
  return found.order && found.dirty_reads.empty();
}

TEST(Oracle, CertifyAgreesWithTheSearchOfAllOrders) {
  const uint64_t rounds = 30'000 * soak_factor();
  std::map<std::string, uint64_t> verdicts;
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    RandomHistoryOptions options;
    options.transactions = static_cast<uint32_t>(3 + seed % 4);
    options.keys = static_cast<uint32_t>(1 + seed % 5);
    const History history = random_history(seed, options);
    const bool right = is_right(history);
    const Certification found = certify(history);
    const Verdict expected = right ? Verdict::kCertified : Verdict::kViolation;
    ++verdicts[right ? "right" : found.violations.empty() ? "?" : found.violations[0].name];
    ASSERT_EQ(found.verdict, expected)
        << "seed " << seed << "\n"
        << found.reason << (found.violations.empty() ? "" : found.violations[0].name) << "\n"
        << text_of(history);
  }
  for (const auto& [name, count] : verdicts) std::printf("%8lu %s\n", count, name.c_str());
}

}  // namespace
}  // namespace keydrome
