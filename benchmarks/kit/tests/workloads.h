// Provides tests that every performance benchmark has in common. Runs with a correct index must
// have no findings, and runs with faulty indexes must have findings.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::testing {

// Returns the registry's entry for a benchmark. Aborts if there is no such benchmark.
const workload::BenchmarkEntry& benchmark(std::string_view name);
workload::Manifest manifest_of(std::string_view name);

// Returns the script of an instance at smoke, the smallest scale. `overrides` replace some of its
// parameters.
script::Script make_script(std::string_view name, const std::string& instance, uint64_t seed,
                           const workload::ParameterValues& overrides = {},
                           const workload::CheckPolicy& policy = {});

// Runs the script against the correct test index, which sometimes returns DEADLOCK. Expects no
// findings, every transaction committed, and results that some serial order of the transactions
// explains. With kMayBeUndecided, the search for a serial order may also give up, because its tries
// are limited. Returns the outcome.
enum class Certainty : uint8_t { kCertified, kMayBeUndecided };
script::Outcome expect_right_is_not_accused(std::string_view name, const std::string& instance,
                                            const script::Script& script,
                                            Certainty certainty = Certainty::kCertified);

// Runs the script against three faulty indexes: one always returns SUCCESS, one drops every 100th
// insert, and one changes every 100th payload. Expects findings for each index.
void expect_faults_are_found(std::string_view name, const std::string& instance,
                             const script::Script& script);

// Returns the first timed phase.
const script::PhaseScript& timed_phase(const script::Script& script);
// Calls visit(ops) for each transaction of the workload itself. The ops begin with kBegin and end
// with kCommit or kAbort.
void for_each_transaction(const script::PhaseScript& phase,
                          const std::function<void(std::span<const format::Op>)>& visit);

// Returns the chi-square statistic for counts that should be equal.
double chi_square(const std::vector<double>& counts);
// Expects that counts which should be equal differ neither too much nor too little. Each of these
// two checks fails by chance with a probability of 0.001. REQUIRES: at least 30 counts.
void expect_uniform(const std::vector<double>& counts);

}  // namespace keydrome::testing
