// Tests that certify() finds the deleters of records when many updates of the same key overlap.
#include <gtest/gtest.h>

#include "checker/certify/certify.h"
#include "checker/tests/random_history.h"
#include "checker/tests/update_history.h"

namespace keydrome {
namespace {

// Some of the records in these histories have hundreds of possible deleters.
TEST(BlindUpdates, OverlappingUpdatesAreCertified) {
  for (uint64_t seed = 1; seed <= rounds(40); ++seed) {
    UpdateOptions options;
    options.seed = seed;
    options.threads = static_cast<uint32_t>(2 + seed % 7);
    options.keys = seed % 2 == 0 ? 10 : 1000;
    const certify::Certification found = certify::certify(update_history(options));
    EXPECT_EQ(found.verdict, certify::Verdict::kCertified)
        << "seed " << seed << " " << found.reason;
  }
}

// A caller may limit the search. A history without a verdict is then undecided, and never wrong.
TEST(BlindUpdates, FewTriesLeaveUndecidedWhatIsRight) {
  uint32_t undecided = 0;
  for (uint64_t seed = 1; seed <= rounds(40); ++seed) {
    UpdateOptions options;
    options.seed = seed;
    options.threads = static_cast<uint32_t>(2 + seed % 7);
    options.keys = 10;
    const certify::Certification found =
        certify::certify(update_history(options), {.deleter_tries_max = 1});
    EXPECT_TRUE(found.violations.empty()) << "seed " << seed;
    undecided += found.verdict == certify::Verdict::kUndecided ? 1 : 0;
  }
  EXPECT_GT(undecided, 0u) << "the limit has no effect";
}

}  // namespace
}  // namespace keydrome
