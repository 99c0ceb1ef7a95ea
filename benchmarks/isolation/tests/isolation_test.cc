// Tests that payloads look alike in timed benchmarks and in recorded rounds, in which every call is
// logged and judged. Otherwise a library could recognise a recorded run and behave correctly only
// then, as mutant 44 does (a library with a deliberate fault, tests/faulty/mutants.json).
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::isolation {
namespace {

script::Script script_of(std::string_view benchmark, std::string_view instance) {
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    if (entry.name != benchmark) continue;
    const workload::Manifest manifest = workload::Manifest::parse(entry.manifest_json).value();
    const workload::Parameters parameters = manifest.resolve(instance, "smoke", {}).value();
    return entry.make(instance)->generate(parameters, 7, workload::CheckPolicy{}).value();
  }
  ADD_FAILURE() << "there is no benchmark " << benchmark;
  return {};
}

struct Payloads {
  // The number of inserts, by text length / 10. The text is what follows the payload's tag, eight
  // letters that make the payload unique.
  std::array<uint64_t, 10> by_length{};
  uint64_t inserts = 0;
  uint64_t other_letters = 0;  // texts with characters other than kLetters
  uint64_t monotonous = 0;     // texts of at least two letters, all equal
  std::set<uint32_t> tags;
};

Payloads payloads_of(const script::Script& script) {
  Payloads payloads;
  for (const script::PhaseScript& phase : script.phases) {
    for (const std::vector<format::Op>& ops : phase.threads) {
      for (const format::Op& op : ops) {
        if (op.code != format::OpCode::kInsert) continue;
        const std::string_view text = script.pools.payloads[op.payload];
        ++payloads.inserts;
        ++payloads.by_length.at(text.size() / 10);
        payloads.tags.insert(op.argument);
        payloads.other_letters +=
            text.find_first_not_of(workload::kLetters) != std::string::npos ? 1 : 0;
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
    // Most payloads have different tags. Only canaries, which are check transactions, insert the
    // same payload several times.
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
