// Expectations: stores the required results of single ops (operations of a script). After the run,
// compares them with the evidence, i.e. with the results of these ops that the run reported.
// Workloads use this class for scripts whose results are known in advance:
//
//   thread.insert(0, key, payload, kEvidence);
//   expectations.expect_last(phase, 0, builder, "duplicate_insert", Severity::kRequired,
//                            "a stored pair cannot be inserted", {{Answer::just(ENTRY_EXISTS)}});
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::judge {

// One correct result of a call: its code and, for a read, the returned record. The record has the
// key's number in the pool (the script's list of keys) and a list of payloads, any of which is
// correct.
struct Answer {
  uint32_t code = SUCCESS;
  std::optional<uint32_t> key;
  std::vector<script::Payload> payloads;

  static Answer just(ErrCode code) { return {.code = code, .key = std::nullopt, .payloads = {}}; }
  static Answer record(uint32_t key, std::vector<script::Payload> payloads) {
    return {.code = SUCCESS, .key = key, .payloads = std::move(payloads)};
  }
};

// The correct results of an op. Entry i lists the alternatives for the op's i-th record of
// evidence.
using Answers = std::vector<std::vector<Answer>>;

class Expectations {
 public:
  // Sets the required results of the op that was appended last to this thread. If a scan to the end
  // leaves more records of evidence than `answers` has entries, the additional records are wrong
  // results.
  void expect_last(uint32_t phase, uint32_t thread, const script::ThreadBuilder& builder,
                   std::string name, Severity severity, std::string rule, Answers answers);

  // Adds a finding (a problem in the report) for each op whose evidence differs from the required
  // results. Ops of failed transactions are skipped, because judge_counters() reports the failure.
  void judge(const script::Script& script, const script::Outcome& outcome,
             Findings& findings) const;

 private:
  struct Expectation {
    std::string name;
    Severity severity;
    std::string rule;
    Answers answers;
  };
  using Place = std::pair<uint32_t, uint32_t>;  // phase, thread

  using ByOp = std::map<uint64_t, Expectation>;

  static void judge_thread(const script::Script& script, std::span<const format::Op> ops,
                           const script::ThreadResult& result, const ByOp& expected,
                           Findings& findings);

  std::map<Place, ByOp> expected_;
};

}  // namespace keydrome::judge
