// What the tests of every performance benchmark ask of its scripts: a right index is never accused,
// faulty ones are found.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome::testing {

// The entry of the registry; aborts when there is none.
const BenchmarkEntry& benchmark(std::string_view name);
Manifest manifest_of(std::string_view name);

// The script of an instance at smoke scale with some parameters replaced.
Script make_script(std::string_view name, const std::string& instance, uint64_t seed,
                   const ParameterValues& overrides = {}, const CheckPolicy& policy = {});

// Plays the script against the test index without faults, which answers DEADLOCK now and then, and
// expects that nothing is found and everything committed, and that a recorded run of it is
// certified. The outcome.
Outcome expect_right_is_not_accused(std::string_view name, const std::string& instance,
                                    const Script& script);

// Plays the script against indexes that answer SUCCESS to everything, drop writes, or change
// payloads (every 100th), and expects that each is found.
void expect_faults_are_found(std::string_view name, const std::string& instance,
                             const Script& script);

// The first timed phase.
const PhaseScript& timed_phase(const Script& script);
// Calls visit(ops of a transaction, from its kBegin to its end) for each of the stream's.
void for_each_transaction(const PhaseScript& phase,
                          const std::function<void(std::span<const Op>)>& visit);

// The chi-square statistic of counts that should all be alike.
double chi_square(const std::vector<double>& counts);
// Expects that counts that should all be alike are neither too different nor too alike: beyond what
// happens once in a thousand times, either way. At least 30 counts.
void expect_uniform(const std::vector<double>& counts);

}  // namespace keydrome::testing
