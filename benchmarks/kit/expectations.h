// Expectations: what single ops of a script must answer, for tests whose right answers are known
// beforehand.
//
//   thread.insert(0, key, payload, kEvidence);
//   expectations.expect_last(phase, 0, "duplicate_insert", Severity::kRequired, "a stored pair
//   cannot be inserted",
//                            {{Answer::code(ENTRY_EXISTS)}});
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// One answer that is right: a code and, for a read record, its key (number in the pool) and any of
// some payloads.
struct Answer {
  uint32_t code = SUCCESS;
  std::optional<uint32_t> key;
  std::vector<Payload> payloads;

  static Answer just(ErrCode code) { return {.code = code, .key = std::nullopt, .payloads = {}}; }
  static Answer record(uint32_t key, std::vector<Payload> payloads) {
    return {.code = SUCCESS, .key = key, .payloads = std::move(payloads)};
  }
};

// For each record of an op's evidence the answers that are right.
using Answers = std::vector<std::vector<Answer>>;

class Expectations {
 public:
  // What the op that was appended last to that thread must answer. A scan to the end may not leave
  // more records than there are answers.
  void expect_last(uint32_t phase, uint32_t thread, const ThreadBuilder& builder, std::string name,
                   Severity severity, std::string rule, Answers answers);

  // Adds a finding for each op whose evidence is different. Ops of failed transactions are left
  // out: their failure is a finding of judge_counters.
  void judge(const Script& script, const Outcome& outcome, Findings& findings) const;

 private:
  struct Expectation {
    std::string name;
    Severity severity;
    std::string rule;
    Answers answers;
  };
  using Place = std::pair<uint32_t, uint32_t>;  // phase, thread

  using ByOp = std::map<uint64_t, Expectation>;

  static void judge_thread(const Script& script, std::span<const Op> ops,
                           const ThreadResult& result, const ByOp& expected, Findings& findings);

  std::map<Place, ByOp> expected_;
};

}  // namespace keydrome
