// Recorded rounds and timed benchmarks give a library payloads that it cannot tell apart, so none
// can be right only while it is watched (tests/faulty, mutant 44).
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "benchmarks/kit/letters.h"
#include "benchmarks/kit/parameters.h"
#include "benchmarks/kit/program.h"
#include "benchmarks/kit/workload.h"

namespace keydrome::isolation {
namespace {

Script script_of(std::string_view benchmark, std::string_view instance) {
  for (const BenchmarkEntry& entry : benchmark_registry()) {
    if (entry.name != benchmark) continue;
    const Manifest manifest = Manifest::parse(entry.manifest_json).value();
    const Parameters parameters = manifest.resolve(instance, "smoke", {}).value();
    return entry.make(instance)->generate(parameters, 7, CheckPolicy{}).value();
  }
  ADD_FAILURE() << "there is no benchmark " << benchmark;
  return {};
}

struct Payloads {
  std::array<uint64_t, 10> by_length{};  // inserts, by bytes behind the tag in tens
  uint64_t inserts = 0;
  uint64_t other_letters = 0;  // texts with anything but kLetters
  uint64_t monotonous = 0;     // texts of two letters and more that are all the same
  std::set<uint32_t> tags;
};

Payloads payloads_of(const Script& script) {
  Payloads payloads;
  for (const PhaseScript& phase : script.phases) {
    for (const std::vector<Op>& ops : phase.threads) {
      for (const Op& op : ops) {
        if (op.code != OpCode::kInsert) continue;
        const std::string_view text = script.pools.payloads[op.payload];
        ++payloads.inserts;
        ++payloads.by_length.at(text.size() / 10);
        payloads.tags.insert(op.argument);
        payloads.other_letters += text.find_first_not_of(kLetters) != std::string::npos ? 1 : 0;
        const bool same = text.size() > 1 && text.find_first_not_of(text[0]) == std::string::npos;
        payloads.monotonous += same ? 1 : 0;
      }
    }
  }
  return payloads;
}

TEST(Isolation, PayloadsAreAlikeInRecordedRoundsAndTimedRuns) {
  for (const auto& [benchmark, instance] :
       {std::pair<std::string_view, std::string_view>{"isolation", "isolation"},
        {"sigmod2009", "preliminary1"}}) {
    const Payloads payloads = payloads_of(script_of(benchmark, instance));
    ASSERT_GT(payloads.inserts, 1000u) << benchmark;
    // Canaries insert what they deleted before.
    EXPECT_GT(payloads.tags.size(), payloads.inserts * 9 / 10) << benchmark;
    EXPECT_EQ(payloads.other_letters, 0u) << benchmark;
    EXPECT_LT(payloads.monotonous, payloads.inserts / 100) << benchmark;
    for (std::size_t tens = 0; tens < 9; ++tens) {
      EXPECT_GT(payloads.by_length[tens], payloads.inserts / 40) << benchmark << " " << tens;
    }
  }
}

}  // namespace
}  // namespace keydrome::isolation
