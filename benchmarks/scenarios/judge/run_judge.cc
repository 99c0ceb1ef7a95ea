// Implements the judge of one run of a scenario, a short script of API calls. Checks the result
// codes, then searches for a serial order of the transactions, then compares the results with those
// that the scenario lists.
#include "benchmarks/scenarios/judge/run_judge.h"

#include <algorithm>
#include <utility>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/scenarios/judge/narration.h"
#include "checker/certify/certify.h"
#include "checker/history/calls.h"
#include "checker/history/transactions.h"
#include "checker/model/model.h"
#include "checker/model/search_orders.h"
#include "checker/witness/witness.h"

namespace keydrome::scenarios {

using certify::Certification;
using certify::Violation;
using history::CallViolation;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::Transactions;
using model::OrderSearch;

namespace {

// A transaction that runs alone must commit within this many attempts (convention 3 of
// keydrome/index.h).
constexpr uint32_t kLoneAttemptsMax = 10;

// The maximum number of transactions of a run, including auto-commit calls. A run has more only if
// beginTransaction sets no handle, and the search for a serial order would then take too long.
constexpr std::size_t kTransactionsMax = 100;

// Rules whose violation makes the recorded calls of the steps meaningless.
constexpr const char* kLeftOver =
    "the scenario could not begin. To empty an index before it, a transaction deleted every key "
    "that it contained, but getNext then still returned a record: deleteRecord with an empty "
    "payload must delete all records of the key";
constexpr const char* kSharedHandle =
    "openIndex returned the same handle for indexes of different types, so the library cannot know "
    "which index a call means: return a different handle for each index";

// Returns the same calls, with times as if all steps had been made at once. Real time then no
// longer restricts the order of the transactions. The set-up remains before the steps, and the
// final reads remain after them.
History without_real_time(History history, const RunLog& log) {
  constexpr uint64_t kSetUp = 1, kSteps = uint64_t{1} << 30, kEnd = uint64_t{1} << 31;
  for (std::size_t thread = 0; thread < history.threads.size(); ++thread) {
    std::vector<Event>& events = history.threads[thread];
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool sets_up = thread == 0 && i < log.steps_begin;
      const bool reads = thread == 0 && i >= log.steps_end;
      const bool step = !sets_up && !reads;
      events[i].end = (sets_up ? kSetUp : reads ? kEnd : kSteps) + i;
      events[i].duration = step ? static_cast<uint32_t>(i) : 0;
    }
  }
  return history;
}

// Returns true if a call has inserted this payload under this key.
bool was_inserted(const History& history, const Event& record) {
  return std::ranges::any_of(history.threads, [&record](const std::vector<Event>& events) {
    return std::ranges::any_of(events, [&record](const Event& event) {
      return call_of(event) == EventCall::kInsert && succeeded(event) &&
             event.index == record.index && event.key == record.key &&
             event.payload == record.payload;
    });
  });
}

class RunJudge {
 public:
  RunJudge(const Scenario& scenario, const Variant& variant, const ScriptedRun& run,
           const RunLog& log)
      : scenario_(scenario), variant_(variant), run_(run), log_(log) {}

  std::vector<RunViolation> judge() {
    if (log_.left_over) {
      report("wrong_delete", Severity::kRequired, kLeftOver);
      violations_.back().shows_calls = false;
      return std::move(violations_);
    }
    History history = log_.history;
    history.varchar_keys = run_.vocabulary.strings();
    history.ticks_per_s = judge::ticks_per_s();
    // The recorder identifies an index by its handle, and judge_logs() has already compared the log
    // with the program. A call with a key of another index therefore means that two indexes have
    // the same handle.
    if (!rank_varchar_keys(history) || !history.unknown_arguments.empty()) {
      report("shared_handle", kSharedHandle);
      violations_.back().shows_calls = false;  // they may have gone to another index
      return std::move(violations_);
    }
    if (!history.unknown_keys.empty())
      report("corrupt_key", "getNext returned a key that was never inserted");
    const Transactions transactions = split_into_transactions(history);
    if (!transactions.problem.empty()) {
      report("outcome_mismatch", judge::inconsistent_log_text(transactions.problem));
      return std::move(violations_);
    }
    if (transactions.committed.size() > kTransactionsMax) {
      report("no_transaction", Severity::kRequired,
             "beginTransaction returned SUCCESS, but did not set the transaction pointer, so the "
             "calls after it were outside a transaction: set *txn to the new transaction");
      return std::move(violations_);
    }
    judge_codes(transactions);
    judge_last_attempts();
    // After an illegal result the state is unknown, so serial orders and listed answers are not
    // judged.
    const bool understood = std::ranges::none_of(violations_, [](const RunViolation& violation) {
      return violation.severity == Severity::kRequired;
    });
    if (!understood) return std::move(violations_);
    if (scenario_.oracle) judge_order(history);
    if (scenario_.sessions == 1 && violations_.empty()) judge_answers();
    return std::move(violations_);
  }

 private:
  void report(std::string name, std::string rule) {
    report(std::move(name), scenario_.severity, std::move(rule));
  }
  void report(std::string name, Severity severity, std::string rule) {
    violations_.push_back({.name = std::move(name), .severity = severity, .rule = std::move(rule)});
  }

  const Event& event(const EventRef& ref) const {
    return log_.history.threads[ref.thread][ref.position];
  }
  std::string text(const EventRef& ref) const {
    return call_text(scenario_, variant_, run_.vocabulary, ref.thread, event(ref));
  }

  void judge_codes(const Transactions& transactions) {
    for (const CallViolation& wrong : transactions.call_violations) {
      report(wrong.name, wrong.severity,
             "the contract (keydrome/index.h) does not allow this result for this call: " +
                 text(wrong.event));
    }
  }

  void judge_last_attempts() {
    if (log_.last_attempts <= kLoneAttemptsMax) return;
    report("no_progress",
           "after the calls below, a transaction that reads all records ran alone, and received "
           "DEADLOCK in " +
               std::to_string(log_.last_attempts - 1) +
               " attempts. A transaction that runs alone must succeed within " +
               std::to_string(kLoneAttemptsMax) + " attempts");
  }

  void judge_order(const History& history) {
    const OrderSearch search = model::search_orders(history);
    // Skips deletes that claim to have found a missing record, because the search for a serial
    // order judges such deletes.
    const auto dirty = std::ranges::find_if(search.dirty_reads, [this](const EventRef& ref) {
      return call_of(event(ref)) != EventCall::kDeletePair;
    });
    if (dirty != search.dirty_reads.end()) return report_dirty(*dirty);
    if (!search.delete_codes.empty()) {
      report("delete_code", Severity::kAdvisory,
             std::string(model::kDeleteCodeText) + ": " + text(search.delete_codes.front()));
    }
    if (search.order) return;
    report_order(history);
    explain(history);
  }

  // Reports a read of a record that the reader must not see. If no call has inserted the record,
  // the read is not dirty, and the finding has another name.
  void report_dirty(const EventRef& read) {
    if (!run_.vocabulary.knows_payload(event(read).payload)) {
      report("corrupt_payload", "a call read a payload that was never inserted: " + text(read));
    } else if (!was_inserted(log_.history, event(read))) {
      report("impossible_record",
             "a call read a payload that no call inserted under this key: " + text(read));
    } else {
      report(
          "dirty_read",
          "no other transaction may see an inserted record before the inserting transaction begins "
          "to commit: " +
              text(read));
    }
  }

  void report_order(const History& history) {
    if (scenario_.sessions > 1 && model::search_orders(without_real_time(history, log_)).order) {
      report("stale_read",
             "a transaction did not see a change that had been committed before the transaction "
             "began (a stale read)");
      return;
    }
    // A scenario that looks for stale reads may also reveal another violation. This violation gets
    // another name, because boards (rankings) may accept stale reads.
    report(scenario_.finding == "stale_read" ? "internal" : scenario_.finding,
           "no serial order of the committed transactions gives these results");
  }

  // Names the anomaly that the checker finds. If the steps ran in another order than the written
  // one, this anomaly may differ from the one that the scenario is named after.
  void explain(const History& history) {
    RunViolation& reported = violations_.back();
    const Certification certification = certify::certify(history);
    const bool stale = reported.name == "stale_read";
    const auto found =
        std::ranges::find_if(certification.violations, [stale](const Violation& violation) {
          return violation.severity == Severity::kRequired &&
                 (violation.name == "stale_read") == stale;
        });
    if (found == certification.violations.end()) return;
    if (scenario_.sessions > 1) reported.name = found->name;
    reported.rule += ". " + found->detail;
    reported.witness = witness::witness_json(history, *found, /*with_program=*/false);
  }

  // Compares the results with the answers that the scenario lists. Stops at DEADLOCK, which every
  // call may return.
  void judge_answers() {
    const std::vector<Event>& events = log_.history.threads[0];
    std::size_t at = log_.steps_begin;
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      const Step& step = scenario_.steps[i];
      if (at >= log_.steps_end) return;
      skip_opens(step, at);
      if (events[at].code == DEADLOCK) return;
      if (!step.answers.empty() && !is_right(step, events[at])) {
        report(scenario_.finding, text({0, static_cast<uint32_t>(at)}) + ", but must return " +
                                      answers_text(step.answers));
        return;
      }
      at = after(step, at);
    }
  }

  // Skips the calls of openIndex that the run makes before the first step.
  void skip_opens(const Step& step, std::size_t& at) const {
    const std::vector<Event>& events = log_.history.threads[0];
    if (&step != &scenario_.steps.front()) return;
    while (at + 1 < log_.steps_end && call_of(events[at]) == EventCall::kOpen &&
           step.action != Action::kOpen) {
      ++at;
    }
  }

  std::size_t after(const Step& step, std::size_t at) const {
    const std::vector<Event>& events = log_.history.threads[0];
    if (step.action == Action::kNextToEnd) {
      while (at + 1 < log_.steps_end && succeeded(events[at])) ++at;
    }
    return at + 1;
  }

  bool is_right(const Step& step, const Event& event) const {
    const KeyType type = index_type(variant_, scenario_.handles[step.handle].index);
    return std::ranges::any_of(step.answers, [&](const Answer& answer) {
      if (event.code != answer.code) return false;
      const std::string key = answer.key ? run_.vocabulary.key_text(type, event.key) : "";
      if (answer.key && key != run_.vocabulary.label_text(*answer.key)) return false;
      return !answer.payload || run_.vocabulary.payload_text(event.payload) == *answer.payload;
    });
  }

  const Scenario& scenario_;
  const Variant& variant_;
  const ScriptedRun& run_;
  const RunLog& log_;
  std::vector<RunViolation> violations_;
};

}  // namespace

std::vector<RunViolation> judge_run(const Scenario& scenario, const Variant& variant,
                                    const ScriptedRun& run, const RunLog& log) {
  return RunJudge(scenario, variant, run, log).judge();
}

}  // namespace keydrome::scenarios
