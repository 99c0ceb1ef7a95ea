// WriteJudge: decides whether the result of an insert or delete is possible. It knows all inserts
// and deletes of the script, the list of everything that a session does (expected_state.h).
//
// Refers to its arguments, which must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "benchmarks/kit/judge/expected_state.h"
#include "benchmarks/kit/judge/finding.h"

namespace keydrome::judge {

class WriteJudge {
 public:
  WriteJudge(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
             Findings& findings)
      : script_(script), ranks_(ranks), expected_(expected), findings_(findings) {}

  // Adds a finding, an entry of the report, if the result of a write to `index` is impossible.
  void judge(const format::Op& op, uint32_t index, uint32_t code, const Moment& moment) {
    const KeyType type = script_.indexes[index].type;
    const bool inserts = op.code == format::OpCode::kInsert;
    const Change change{.index = index & Change::kIndexesMax,
                        .what = what_of(op.code),
                        .rank = ranks_.rank(type, op.key),
                        .tag = op.argument,
                        .text = op.payload,
                        .moment = moment};
    const bool succeeded = code == SUCCESS;
    const std::optional<std::string> reason = inserts
                                                  ? expected_.why_wrong_insert(change, !succeeded)
                                                  : expected_.why_wrong_delete(change, succeeded);
    if (!reason) return;
    findings_.required(inserts ? "wrong_insert" : "wrong_delete",
                       "index " + script_.indexes[index].name + ", " + expected_.describe(moment) +
                           ": " + op_text(op) + " of key " + ranks_.text(type, change.rank) +
                           " returned " + code_text(code) + ", but " + *reason);
  }

 private:
  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
  Findings& findings_;
};

}  // namespace keydrome::judge
