// Implements the default judge's rules about counters and about the ends of transactions. The
// player, the process that calls the library, reports both. Each violation of a rule becomes a
// finding in the report.
#include "benchmarks/kit/judge/judge.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "base/count_text.h"
#include "base/parallel.h"
#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::judge {
namespace {

constexpr format::Op kUnknownOp{.code = format::OpCode::kYield};  // makes no call

// Returns the beginning of a finding's text: phase and thread.
std::string place_text(const script::PhaseScript& phase, std::size_t thread) {
  return phase_text(phase) + ", thread " + std::to_string(thread);
}

// Returns which codes the contract allows for an op (operation), for the text of a finding. Returns
// an empty text for a procedure, because its calls have different codes, and for an unknown op.
std::string allowed_text(const format::Op& op) {
  if (op.code == format::OpCode::kRun || op.code == kUnknownOp.code) return "";
  const uint32_t codes = format::allowed_codes(op.code);
  std::string text = " (allowed: SUCCESS";
  for (uint32_t code = SUCCESS + 1; code <= FAILURE; ++code) {
    if ((codes >> code & 1u) != 0) text += ", " + code_text(code);
  }
  return text + " and DEADLOCK)";
}

// Returns the op that returned the first violation of a thread. If a call of a procedure (a list of
// instructions) returned it, returns an op that makes the same call. Returns kUnknownOp if the
// player, whose report is not trusted, reported an op that the program does not contain.
format::Op op_of(const std::vector<format::Op>& ops, const format::IllegalAnswer& first) {
  using history::EventCall;
  if (first.op >= ops.size()) return kUnknownOp;
  format::Op op = ops[first.op];
  if (op.code != format::OpCode::kRun || first.code == format::kCodeNoProgress) return op;
  const auto is = [&first](EventCall call) { return first.detail == static_cast<uint32_t>(call); };
  if (is(EventCall::kGet)) op.code = format::OpCode::kGet;
  if (is(EventCall::kNext)) op.code = format::OpCode::kNext;
  if (is(EventCall::kInsert)) op.code = format::OpCode::kInsert;
  if (is(EventCall::kDeleteKey)) op.code = format::OpCode::kDeleteKey;
  return op;
}

// Adds a finding for the first violation of a thread: a call that returned a result which the
// index API does not allow, or one of the violations that the player detects (format/outcome.h).
void judge_violation(const script::PhaseScript& phase, std::size_t thread,
                     const format::ThreadOutcome& counters, Findings& findings) {
  const format::IllegalAnswer& first = counters.first_violation;
  const format::Op op = op_of(phase.threads[thread], first);
  const std::string call = op_text(op);
  const auto report = [&](const char* name, const std::string& what) {
    findings.required(
        name, place_text(phase, thread) + ", operation " + std::to_string(first.op) + ": " + what +
                  (counters.code_violations > 1
                       ? " (" + count_text(counters.code_violations, "illegal result") +
                             " in this thread)"
                       : ""));
  };
  switch (first.code) {
    case format::kCodeNoProgress:
      return report("no_progress", no_progress_text(first.detail, call));
    case format::kCodeEndless:
      return report("endless_scan",
                    "getNext returned more records than were ever inserted, so the scan may never "
                    "end: return each record once, and then DB_END");
    case format::kCodeNoHandle:
      return report("illegal_answer",
                    (op.code == format::OpCode::kRun ? "the transaction was given up"
                                                     : call + " was not called") +
                        ", because openIndex had returned no handle for the index: openIndex must "
                        "return SUCCESS and set *idxState for an index that exists");
    case format::kCodeUnfit:
      return report(
          "missing_record",
          "this transaction did not find a record that must exist, or read wrong data, "
          "but commitTransaction returned SUCCESS: return the stored records. If the "
          "transaction saw an inconsistent state, commitTransaction must return DEADLOCK");
    case ENTRY_EXISTS:
      if (op.code == format::OpCode::kInsert) {
        return report("illegal_answer", call +
                                            " returned ENTRY_EXISTS, but this pair of key and "
                                            "payload was not stored before: return SUCCESS for a "
                                            "new pair");
      }
      [[fallthrough]];
    default:
      return report("illegal_answer", call + " returned " + code_text(first.code) +
                                          ", which keydrome/index.h does not allow here" +
                                          allowed_text(op));
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
  findings.required("outcome_mismatch",
                    place_text(phase, thread) +
                        ": Keydrome's recording of the results says that transactions ended in a "
                        "way that is impossible for the calls of this thread. Keydrome keeps this "
                        "recording in the library's process, so the library must have "
                        "overwritten it: look for writes outside the library's own memory");
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
  return op.code == format::OpCode::kRun ? "a call of the transaction" : "a call";
}

std::string no_progress_text(uint32_t attempts, const std::string& last_call) {
  std::string text = "each of " + count_text(attempts, "attempt") + " returned DEADLOCK";
  if (!last_call.empty()) text += ", the last one in " + last_call;
  text += ", so the library makes no progress: let one of several conflicting transactions commit";
  if (attempts >= format::kAttemptsMax) return text;
  return text + ". Keydrome made no further attempts, because " +
         std::to_string(format::kLossesMax) +
         " other transactions or calls had already failed after at least " +
         std::to_string(format::kAttemptsMax) + " attempts each";
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
                        phase_text(phase) + ": " + count_text(failed, "transaction") +
                            " failed, i.e. did not end with the commit or abort that the benchmark "
                            "demands. Other findings of this phase show the first wrong result of "
                            "each thread");
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
