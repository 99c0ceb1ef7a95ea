#include "benchmarks/kit/judge.h"

#include <array>
#include <string>

#include "benchmarks/kit/digest_judge.h"
#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/replay.h"

namespace keydrome {
namespace {

std::string place_text(const PhaseScript& phase, std::size_t thread) {
  return "phase " + phase.name + ", thread " + std::to_string(thread);
}

void judge_violation(const PhaseScript& phase, std::size_t thread, const ThreadOutcome& counters,
                     Findings& findings) {
  const std::vector<Op>& ops = phase.threads[thread];
  const IllegalAnswer& first = counters.first_violation;
  const std::string call = first.op < ops.size() ? op_text(ops[first.op]) : "a call";
  const std::string where =
      place_text(phase, thread) + ", operation " + std::to_string(first.op) + ": ";
  const std::string count =
      counters.code_violations > 1
          ? "; " + std::to_string(counters.code_violations) + " such answers in this thread"
          : "";
  switch (first.code) {
    case kCodeNoProgress:
      return findings.required(
          "no_progress",
          where + call + " was answered by DEADLOCK in every attempt, many times in a row" + count);
    case kCodeEndless:
      return findings.required("endless_scan",
                               where + "getNext gave more records than were ever inserted" + count);
    case kCodeNoHandle:
      return findings.required(
          "illegal_answer", where + call + " could not be called: the index was not open" + count);
    case kCodeUnfit:
      return findings.required("missing_record",
                               where + call +
                                   " found no record, or a changed one, where a right one must be, "
                                   "and its transaction committed" +
                                   count);
    default:
      return findings.required("illegal_answer",
                               where + call + " answered " + code_text(first.code) +
                                   ", which the contract does not allow there" + count);
  }
}

// How each transaction of a program ended against how it should have.
void judge_ends(const Script& script, const PhaseScript& phase, std::size_t thread,
                const ThreadResult& result, Findings& findings) {
  const std::vector<Op>& ops = phase.threads[thread];
  bool fits = true;
  bool skipping = false;    // inside a transaction that was given up
  bool rolls_back = false;  // the transaction may, by a procedure
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    const bool closes = op.code == OpCode::kCommit || op.code == OpCode::kAbort;
    if ((op.flags & kAutoCommit) != 0) {
      const TransactionEnd end = result.ends[step.transaction];
      fits =
          fits && (end == TransactionEnd::kCommitted || end == TransactionEnd::kFailed || skipping);
    } else if (op.code == OpCode::kBegin) {
      const TransactionEnd end = result.ends[step.transaction];
      skipping = end == TransactionEnd::kFailed ||
                 (end == TransactionEnd::kDeadlocked && (op.flags & kOneAttempt) != 0);
      rolls_back = false;
    } else if (op.code == OpCode::kRun) {
      rolls_back = rolls_back || script.pools.procedures[op.payload].rolls_back != 0;
    } else if (closes) {
      const TransactionEnd wanted =
          op.code == OpCode::kCommit ? TransactionEnd::kCommitted : TransactionEnd::kAborted;
      const TransactionEnd end = result.ends[step.transaction];
      fits = fits && (end == wanted || skipping || (rolls_back && end == TransactionEnd::kAborted));
      skipping = false;
    }
  });
  if (result.counters->failed > 0 && result.counters->code_violations == 0) fits = false;
  if (!fits) {
    findings.required("outcome_mismatch", place_text(phase, thread) +
                                              ": the player reports ends of "
                                              "transactions that its program cannot have");
  }
}

}  // namespace

std::string op_text(const Op& op) {
  static constexpr std::array<const char*, 22> kNames = {"create",
                                                         "openIndex",
                                                         "closeIndex",
                                                         "beginTransaction",
                                                         "commitTransaction",
                                                         "abortTransaction",
                                                         "get",
                                                         "getNext",
                                                         "getNext",
                                                         "insertRecord",
                                                         "deleteRecord",
                                                         "deleteRecord",
                                                         "mark",
                                                         "repeat",
                                                         "signal",
                                                         "wait",
                                                         "yield",
                                                         "deleteRecord",
                                                         "step",
                                                         "step",
                                                         "a call",
                                                         "a procedure"};
  const auto number = static_cast<std::size_t>(op.code);
  return number < kNames.size() ? kNames[number] : "an unknown call";
}

std::string code_text(uint32_t code) {
  static constexpr std::array<const char*, 11> kNames = {
      "SUCCESS", "DB_DNE",       "DB_EXISTS", "DB_END",   "KEY_NOTFOUND", "TXN_EXISTS",
      "TXN_DNE", "ENTRY_EXISTS", "ENTRY_DNE", "DEADLOCK", "FAILURE"};
  return code < kNames.size() ? kNames[code] : "the undocumented code " + std::to_string(code);
}

void judge_counters(const Script& script, const Outcome& outcome, Findings& findings) {
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const PhaseScript& phase = script.phases[p];
    uint64_t failed = 0;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      const ThreadResult& result = outcome.phases[p].threads[t];
      const ThreadOutcome& counters = *result.counters;
      failed += counters.failed;
      if (counters.code_violations > 0) judge_violation(phase, t, counters, findings);
      if (counters.order_violations > 0) {
        findings.required("scan_order", place_text(phase, t) + ": getNext went backwards " +
                                            std::to_string(counters.order_violations) + " times");
      }
      if (counters.trace_dropped > 0) {
        findings.required(
            "impossible_record",
            place_text(phase, t) + ": keys or payloads were longer than any that was stored");
      }
      judge_ends(script, phase, t, result, findings);
    }
    if (failed > 0) {
      findings.required(
          "transactions_failed",
          "phase " + phase.name + ": " + std::to_string(failed) + " transactions did not complete");
    }
  }
}

void judge_script(const Script& script, const Outcome& outcome, Findings& findings) {
  const KeyRanks ranks(script.pools);
  judge_counters(script, outcome, findings);
  judge_digests(script, ranks, outcome, findings);
  judge_reads(script, ranks, outcome, findings);
}

void Workload::judge(const Script& script, const Outcome& outcome, Findings& findings) const {
  judge_script(script, outcome, findings);
}

void Workload::examine(const Script& script, const Played& played, Findings& findings) const {
  if (played.ending.complete) judge(script, played.outcome, findings);
}

void Workload::measure(const Script& /*script*/, const Outcome& /*outcome*/,
                       std::span<const PhaseMeasures> /*phases*/, Metrics& /*metrics*/) const {}

}  // namespace keydrome
