// Implements the default judge's rules about counters and about the ends of transactions. The
// player, the process that calls the library, reports both. Each violation of a rule becomes a
// finding in the report.
#include "benchmarks/kit/judge/judge.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "base/parallel.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::judge {
namespace {

// Returns the beginning of a finding's text: phase and thread.
std::string place_text(const script::PhaseScript& phase, std::size_t thread) {
  return "phase " + phase.name + ", thread " + std::to_string(thread);
}

// Says which code a call returned although it must not.
std::string illegal_code(const std::string& call, uint32_t code) {
  if (code == ENTRY_EXISTS && call == "insertRecord") {
    return "ENTRY_EXISTS, but no earlier insert had stored this pair of key and payload";
  }
  return code_text(code) + ", which keydrome/index.h does not allow here";
}

// Adds a finding for the first violation of a thread: a call that returned a result which the
// index API does not allow, or one of the violations that the player detects (format/outcome.h).
void judge_violation(const script::PhaseScript& phase, std::size_t thread,
                     const format::ThreadOutcome& counters, Findings& findings) {
  const std::vector<format::Op>& ops = phase.threads[thread];
  const format::IllegalAnswer& first = counters.first_violation;
  const std::string call = first.op < ops.size() ? op_text(ops[first.op]) : "a call";
  const std::string where =
      place_text(phase, thread) + ", operation " + std::to_string(first.op) + ": ";
  const std::string count =
      counters.code_violations > 1
          ? " (" + std::to_string(counters.code_violations) + " illegal results in this thread)"
          : "";
  switch (first.code) {
    case format::kCodeNoProgress:
      return findings.required("no_progress", where + call +
                                                  " returned DEADLOCK in every attempt until the "
                                                  "retry budget (a number of attempts and a time) "
                                                  "was spent: let one of several conflicting "
                                                  "transactions commit" +
                                                  count);
    case format::kCodeEndless:
      return findings.required(
          "endless_scan",
          where +
              "getNext returned more records than were ever inserted, so the scan may never end: "
              "return each record once, and then DB_END" +
              count);
    case format::kCodeNoHandle:
      return findings.required(
          "illegal_answer",
          where + call +
              " could not be made, because openIndex had failed: check what openIndex returned" +
              count);
    case format::kCodeUnfit:
      return findings.required("missing_record",
                               where + call +
                                   " found that a required record was missing or changed. Its "
                                   "transaction must not commit then, but the commit succeeded" +
                                   count);
    default:
      return findings.required(
          "illegal_answer", where + call + " returned " + illegal_code(call, first.code) + count);
  }
}

// Follows a thread's program and checks that each end of a transaction which the player reports is
// possible.
class EndCheck {
 public:
  EndCheck(const script::Script& script, const std::vector<format::Op>& ops,
           const script::ThreadResult& result)
      : script_(script), ops_(ops), result_(result) {}

  // Returns true if all reported ends are possible. The player gives up a transaction as failed
  // only after a violation, which it counts. So a failure without a violation is impossible.
  bool run() {
    if (!is_simple()) check_all();
    return fits_ && (result_.totals.failed == 0 || result_.reported->code_violations > 0);
  }

 private:
  using End = script::TransactionEnd;

  // Returns true if every transaction committed, as programmed.
  bool is_simple() const {
    const auto is_abort = [](const format::Op& op) { return op.code == format::OpCode::kAbort; };
    return std::ranges::all_of(result_.ends, [](End end) { return end == End::kCommitted; }) &&
           std::ranges::none_of(ops_, is_abort);
  }

  void check_all() {
    format::walk_program(ops_, [&](const format::Step& step) {
      const format::Op& op = ops_[step.op];
      if ((op.flags & format::kAutoCommit) != 0) {
        auto_commit(step);
      } else if (op.code == format::OpCode::kBegin) {
        begin(op, step);
      } else if (op.code == format::OpCode::kRun) {  // runs a procedure, a list of instructions
        rolls_back_ = rolls_back_ || script_.pools.procedures[op.payload].rolls_back != 0;
      } else if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort) {
        close(op, step);
      }
    });
  }

  void auto_commit(const format::Step& step) {
    const End end = result_.ends[step.transaction];
    fits_ = fits_ && (end == End::kCommitted || end == End::kFailed || given_up_);
  }

  void begin(const format::Op& op, const format::Step& step) {
    const End end = result_.ends[step.transaction];
    given_up_ =
        end == End::kFailed || (end == End::kDeadlocked && (op.flags & format::kOneAttempt) != 0);
    rolls_back_ = false;
  }

  void close(const format::Op& op, const format::Step& step) {
    const End programmed = op.code == format::OpCode::kCommit ? End::kCommitted : End::kAborted;
    const End end = result_.ends[step.transaction];
    fits_ = fits_ && (end == programmed || given_up_ || (rolls_back_ && end == End::kAborted));
    given_up_ = false;
  }

  const script::Script& script_;
  const std::vector<format::Op>& ops_;
  const script::ThreadResult& result_;
  bool fits_ = true;
  bool given_up_ = false;    // the player gave the open transaction up
  bool rolls_back_ = false;  // a procedure of the open transaction may roll it back
};

void judge_ends(const script::Script& script, const script::PhaseScript& phase, std::size_t thread,
                const script::ThreadResult& result, Findings& findings) {
  if (EndCheck(script, phase.threads[thread], result).run()) return;
  findings.required(
      "outcome_mismatch",
      place_text(phase, thread) +
          ": the reported ends of transactions are impossible for this program. So the "
          "library must have overwritten the report, which is in its process: look for "
          "writes outside the library's own memory");
}

}  // namespace

std::string op_text(const format::Op& op) {
  using history::EventCall;
  // The call that an op (operation) makes, by OpCode, for the ops that make one kind of call.
  constexpr std::array<EventCall, 12> kCalls = {
      EventCall::kCreate, EventCall::kOpen,   EventCall::kClose,     EventCall::kBegin,
      EventCall::kCommit, EventCall::kAbort,  EventCall::kGet,       EventCall::kNext,
      EventCall::kNext,   EventCall::kInsert, EventCall::kDeleteKey, EventCall::kDeletePair};
  static_assert(static_cast<std::size_t>(format::OpCode::kDeletePair) == kCalls.size() - 1);
  const auto number = static_cast<std::size_t>(op.code);
  if (number < kCalls.size()) return std::string(call_name(kCalls[number]));
  if (op.code == format::OpCode::kDeleteRead) return std::string(call_name(EventCall::kDeletePair));
  if (op.code == format::OpCode::kBareCall) {
    return std::string(call_name(format::BareCall::unpacked(op.argument).call));
  }
  return op.code == format::OpCode::kRun ? "a procedure" : "a call";
}

void judge_counters(const script::Script& script, const script::Outcome& outcome,
                    Findings& findings) {
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const script::PhaseScript& phase = script.phases[p];
    uint64_t failed = 0;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      const script::ThreadResult& result = outcome.phases[p].threads[t];
      const format::ThreadOutcome& counters = *result.reported;
      failed += result.totals.failed;
      if (counters.code_violations > 0) judge_violation(phase, t, counters, findings);
      // A trace has room for every record with the longest key and payload of the script
      // (script/evidence/capacities.cc). So it overflows only if the library returned longer ones.
      if (counters.trace_dropped > 0) {
        findings.required(
            "impossible_record",
            place_text(phase, t) +
                ": the library returned keys or payloads that are longer than any that was stored: "
                "return each key and payload as it was inserted");
      }
      judge_ends(script, phase, t, result, findings);
    }
    if (failed > 0) {
      findings.required("transactions_failed",
                        "phase " + phase.name + ": " + std::to_string(failed) +
                            " transactions failed: they did not end as the benchmark's program "
                            "demands. Other findings of this phase show the first wrong result "
                            "of each thread");
    }
  }
}

void judge_script(const script::Script& script, const script::Outcome& outcome,
                  Findings& findings) {
  // In a replay of a part of the script, the outcome's ranks (judge.h) may belong to other pools
  // (lists of keys).
  const std::shared_ptr<const KeyRanks> shared =
      outcome.ranks && outcome.ranks->are_of(script.pools)
          ? outcome.ranks
          : std::make_shared<KeyRanks>(script.pools);
  const KeyRanks& ranks = *shared;
  judge_counters(script, outcome, findings);
  const ExpectedState expected(script, ranks, outcome);
  Findings reads = findings.for_part();
  in_parallel(2, [&](std::size_t part) {
    part == 0 ? judge_words(script, ranks, expected, outcome, findings)
              : judge_reads(script, ranks, expected, outcome, reads);
  });
  findings.add_part(reads);
}

}  // namespace keydrome::judge
