#include "benchmarks/scenarios/run_judge.h"

#include <algorithm>
#include <utility>

#include "benchmarks/kit/recorded_judge.h"
#include "benchmarks/scenarios/narration.h"
#include "checker/calls.h"
#include "checker/certify.h"
#include "checker/search_orders.h"
#include "checker/transactions.h"
#include "checker/witness.h"

namespace keydrome::scenarios {
namespace {

constexpr uint32_t kLoneAttemptsMax = 10;  // index.h, convention 3

class RunJudge {
 public:
  RunJudge(const Scenario& scenario, const Variant& variant, const ScriptedRun& run,
           const RunLog& log)
      : scenario_(scenario), variant_(variant), run_(run), log_(log) {}

  std::vector<Accusation> judge() {
    History history = log_.history;
    history.varchar_keys = run_.vocabulary.strings();
    history.ticks_per_s = ticks_per_s();
    // The log fits the program (judge_logs), and the recorder knows an index by its handle: only
    // so can a call have a key that is none of its index's.
    if (!rank_varchar_keys(history) || !history.unknown_arguments.empty()) {
      accuse("shared_handle",
             "openIndex gave one handle for indexes of different types, so no call can tell which "
             "of them is meant");
      return std::move(accusations_);
    }
    if (!history.unknown_keys.empty()) accuse("corrupt_key", "getNext gave a key nobody inserted");
    const Transactions transactions = split_into_transactions(history);
    if (!transactions.problem.empty()) {
      accuse("outcome_mismatch", "the recorded calls do not fit: " + transactions.problem);
      return std::move(accusations_);
    }
    judge_codes(transactions);
    judge_last_attempts();
    // Whoever answers what nobody understands has not said what it did.
    const bool understood = std::ranges::none_of(accusations_, [](const Accusation& accusation) {
      return accusation.severity == Severity::kRequired;
    });
    if (!understood) return std::move(accusations_);
    if (scenario_.oracle) judge_order(history);
    if (scenario_.sessions == 1 && accusations_.empty()) judge_answers();
    return std::move(accusations_);
  }

 private:
  void accuse(std::string name, std::string rule) {
    accuse(std::move(name), scenario_.severity, std::move(rule));
  }
  void accuse(std::string name, Severity severity, std::string rule) {
    accusations_.push_back(
        {.name = std::move(name), .severity = severity, .rule = std::move(rule)});
  }

  const Event& event(const EventRef& ref) const {
    return log_.history.threads[ref.thread][ref.position];
  }
  std::string text(const EventRef& ref) const {
    return call_text(scenario_, variant_, run_.vocabulary, ref.thread, event(ref));
  }

  void judge_codes(const Transactions& transactions) {
    for (const WrongAnswer& wrong : transactions.wrong_answers) {
      accuse(wrong.name, wrong.severity,
             "that is no answer that the call may give: " + text(wrong.event));
    }
  }

  void judge_last_attempts() {
    if (log_.last_attempts <= kLoneAttemptsMax) return;
    accuse("no_progress", "a transaction that was alone was answered DEADLOCK " +
                              std::to_string(log_.last_attempts - 1) + " times");
  }

  void judge_order(const History& history) {
    const OrderSearch search = search_orders(history);
    // A delete that says it found what was not there is for the order to judge.
    const auto dirty = std::ranges::find_if(search.dirty_reads, [this](const EventRef& ref) {
      return call_of(event(ref)) != EventCall::kDeletePair;
    });
    if (dirty != search.dirty_reads.end()) {
      const EventRef read = *dirty;
      const bool known = run_.vocabulary.knows_payload(event(read).payload);
      accuse(known ? "dirty_read" : "corrupt_payload",
             (known ? "nobody may see a record before the transaction that inserts it asks to "
                      "commit: "
                    : "no such payload was ever inserted: ") +
                 text(read));
      return;
    }
    if (search.order) return;
    accuse_of_order(history);
    explain(history);
  }

  void accuse_of_order(const History& history) {
    if (scenario_.sessions > 1 && search_orders(without_real_time(history)).order) {
      accuse("stale_read",
             "the committed transactions have given these answers in no order in which whoever "
             "began after another's commit comes behind it");
      return;
    }
    // Boards may forgive a stale read, so nothing else is called so.
    const bool about_time = scenario_.finding == "stale_read";
    accuse(about_time ? "internal" : scenario_.finding,
           "run one after the other, in whatever order, the committed transactions could not have "
           "given these answers");
  }

  // Two sessions that meet in another order than the written one may show another anomaly than the
  // one that the scenario is named after: the checker tells which.
  void explain(const History& history) {
    Accusation& accusation = accusations_.back();
    const Certification certification = certify(history);
    const bool stale = accusation.name == "stale_read";
    const auto found =
        std::ranges::find_if(certification.violations, [stale](const Violation& violation) {
          return violation.severity == Severity::kRequired &&
                 (violation.name == "stale_read") == stale;
        });
    if (found == certification.violations.end()) return;
    if (scenario_.sessions > 1) accusation.name = found->name;
    accusation.rule += ". " + found->detail;
    accusation.witness = witness_json(history, *found, /*with_program=*/false);
  }

  // The same calls as if all sessions had made their steps at the same time, so that every order of
  // their transactions is as good as any other. What sets the run up stays before them, and what
  // reads it at the end behind them.
  History without_real_time(History history) const {
    constexpr uint64_t kSetUp = 1, kSteps = uint64_t{1} << 30, kEnd = uint64_t{1} << 31;
    for (std::size_t thread = 0; thread < history.threads.size(); ++thread) {
      std::vector<Event>& events = history.threads[thread];
      for (std::size_t i = 0; i < events.size(); ++i) {
        const bool sets_up = thread == 0 && i < log_.steps_begin;
        const bool reads = thread == 0 && i >= log_.steps_end;
        const bool step = !sets_up && !reads;
        events[i].end = (sets_up ? kSetUp : reads ? kEnd : kSteps) + i;
        events[i].duration = step ? static_cast<uint32_t>(i) : 0;
      }
    }
    return history;
  }

  // The answers that are written down, where they are not left to the serial order. A transaction
  // that was answered DEADLOCK is let off.
  void judge_answers() {
    const std::vector<Event>& events = log_.history.threads[0];
    std::size_t at = log_.steps_begin;
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      const Step& step = scenario_.steps[i];
      if (at >= log_.steps_end) return;
      skip_opens(step, at);
      if (events[at].code == DEADLOCK) return;
      if (!step.answers.empty() && !is_right(step, events[at])) {
        accuse(scenario_.finding, step.text + " must answer " + answers_text(step.answers) +
                                      ", but: " + text({0, static_cast<uint32_t>(at)}));
        return;
      }
      at = after(step, at);
    }
  }

  // The session opens its handles before its first step.
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
  std::vector<Accusation> accusations_;
};

}  // namespace

std::vector<Accusation> judge_run(const Scenario& scenario, const Variant& variant,
                                  const ScriptedRun& run, const RunLog& log) {
  return RunJudge(scenario, variant, run, log).judge();
}

}  // namespace keydrome::scenarios
