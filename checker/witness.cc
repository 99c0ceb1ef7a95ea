#include "checker/witness.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "checker/c_program.h"
#include "checker/minimal.h"
#include "checker/replay.h"
#include "checker/transactions.h"
#include "checker/words.h"

namespace keydrome {
namespace {

constexpr std::size_t kCallsShown = 12;  // of one transaction, those that an edge rests on first
constexpr std::size_t kCallsOfMinimal = 200;
constexpr std::size_t kTransactionsShown = 16;

using Meaning = std::pair<std::string_view, std::string_view>;
constexpr std::array kMeanings = {
    Meaning{"aborted_read",
            "A transaction saw what another one wrote that never committed: that data never was"},
    Meaning{"answer_after_deadlock",
            "The library answered DEADLOCK, which ends a transaction without effect, and then "
            "answered its next call as if nothing had happened"},
    Meaning{"circular_information_flow",
            "Each of these transactions saw what another of them wrote, around a circle: whichever "
            "is put first saw the future"},
    Meaning{"commit_after_deadlock",
            "The library answered DEADLOCK, which ends a transaction without effect, and then "
            "committed it"},
    Meaning{"corrupt_key", "The library returned a key that nobody ever passed to it"},
    Meaning{"corrupt_payload",
            "The library returned a payload that nobody inserted under that key"},
    Meaning{"dirty_read", "A transaction saw what another one had not yet committed"},
    Meaning{"dirty_write",
            "Transactions overwrote each other's changes around a circle: the result is a mixture "
            "that no order of them gives"},
    Meaning{"duplicate_record", "One scan returned the same record twice"},
    Meaning{"intermediate_read",
            "A transaction saw a value that its writer took back before it committed"},
    Meaning{"internal", "A transaction did not see its own changes as it made them"},
    Meaning{"lost_update",
            "Two transactions changed the same record, each as if the other one were not there: "
            "one of the changes is lost"},
    Meaning{"missing_record",
            "A record that was committed and never deleted cannot be found any more"},
    Meaning{"non_repeatable_read",
            "A record that a transaction had read changed before that transaction ended"},
    Meaning{"phantom",
            "A transaction looked where a record was not, and another one put a record there as "
            "if nobody had looked: no order of the two gives these answers"},
    Meaning{"read_only_anomaly",
            "A transaction that only reads saw a state that no order of the others passes "
            "through"},
    Meaning{"read_skew",
            "A transaction saw one change of another transaction but not its other change"},
    Meaning{"stale_read",
            "A transaction that began after another one had returned did not see what that one "
            "had committed"},
    Meaning{"torn_commit",
            "A transaction saw some of the records that another one committed together, but not "
            "all of them"},
    Meaning{"undocumented_code", "A call gave an answer that the contract does not know for it"},
    Meaning{"unexpected_failure", "A call answered FAILURE where nothing can fail"},
    Meaning{"write_skew",
            "Two transactions each read what the other one then changed, and both committed: "
            "whichever is put first, the other one read something else"},
    Meaning{"wrong_order", "A scan went backwards"},
};

std::string_view edge_name(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kWriteWrite:
      return "write_write";
    case EdgeKind::kWriteRead:
      return "write_read";
    case EdgeKind::kPredicateRead:
      return "predicate_read";
    case EdgeKind::kReadWrite:
      return "read_write";
    case EdgeKind::kPredicateWrite:
      return "predicate_write";
    case EdgeKind::kRealTime:
      return "real_time";
  }
  return "";
}

std::string_view state_name(TransactionState state) {
  switch (state) {
    case TransactionState::kCommitted:
      return "committed";
    case TransactionState::kFailed:
      return "failed";
    case TransactionState::kUnfinished:
      return "unfinished";
  }
  return "";
}

// What a witness shows: the minimal history where there is one, else the transactions as they are
// with the calls that matter.
struct Shown {
  const History& history;
  const Violation& violation;
  std::vector<MinimalTransaction> transactions;
  std::size_t calls_max;
  const std::vector<Event>* before = nullptr;  // inserts of what was there before
};

class WitnessWriter {
 public:
  explicit WitnessWriter(const Shown& shown) : shown_(shown), words_(shown.history, mentioned()) {
    for (const MinimalTransaction& one : shown.transactions) {
      start_ = std::min(start_, one.span.begin_ticks);
    }
  }

  Json write() const {
    Json witness;
    std::string summary(violation_meaning(shown_.violation.name));
    if (!shown_.violation.detail.empty()) summary += ". Here: " + shown_.violation.detail;
    witness["summary"] = summary;
    if (shown_.before != nullptr && !shown_.before->empty()) {
      witness["initial"] = Json::Array{};
      for (const Event& event : *shown_.before) witness["initial"].push_back(initial(event));
    }
    witness["transactions"] = Json::Array{};
    for (std::size_t i = 0; i < shown_.transactions.size(); ++i) {
      witness["transactions"].push_back(transaction(i));
    }
    witness["edges"] = Json::Array{};
    for (const ViolationEdge& edge : shown_.violation.edges) {
      if (std::max(edge.from, edge.to) >= shown_.transactions.size()) continue;
      Json json;
      json["source"] = edge.from;
      json["target"] = edge.to;
      json["kind"] = edge_name(edge.kind);
      json["because"] = edge.because;
      witness["edges"].push_back(std::move(json));
    }
    return witness;
  }

  const Words& words() const { return words_; }

 private:
  const Event& event(EventRef ref) const {
    return shown_.history.threads[ref.thread][ref.position];
  }

  double microseconds(uint64_t ticks) const {
    if (ticks <= start_) return 0.0;
    return static_cast<double>(ticks - start_) * 1e6 /
           static_cast<double>(shown_.history.ticks_per_s);
  }

  bool is_cause(EventRef ref) const {
    const auto in = [&](const std::vector<EventRef>& refs) {
      return std::find(refs.begin(), refs.end(), ref) != refs.end();
    };
    return in(shown_.violation.events) ||
           std::any_of(shown_.violation.edges.begin(), shown_.violation.edges.end(),
                       [&](const ViolationEdge& edge) { return in(edge.causes); });
  }

  // The calls to show, of those that there are: causes first, then the others from the front, in
  // their order.
  std::vector<EventRef> choose(const TransactionSpan& span) const {
    const std::vector<EventRef> calls = calls_of(shown_.history, span);
    std::vector<EventRef> chosen;
    for (const bool cause : {true, false}) {
      for (const EventRef call : calls) {
        if (chosen.size() == shown_.calls_max) break;
        if (is_cause(call) == cause) chosen.push_back(call);
      }
    }
    std::ranges::sort(chosen, {}, &EventRef::position);
    return chosen;
  }

  std::vector<EventRef> mentioned() const {
    std::vector<EventRef> calls;
    if (shown_.before != nullptr) {
      const auto last = static_cast<uint32_t>(shown_.history.threads.size() - 1);
      for (uint32_t at = 0; at < shown_.before->size(); ++at) calls.push_back({last, at});
    }
    for (const MinimalTransaction& one : shown_.transactions) {
      for (const EventRef call : choose(one.span)) calls.push_back(call);
    }
    return calls;
  }

  std::string initial(const Event& event) const {
    return words_.record(event.payload) + " under key " +
           key_text(shown_.history, event.index, event.key) + " of index " +
           shown_.history.indexes[event.index].name;
  }

  Json transaction(std::size_t number) const {
    const MinimalTransaction& one = shown_.transactions[number];
    const std::vector<EventRef> chosen = choose(one.span);
    const std::size_t calls = calls_of(shown_.history, one.span).size();
    Json json;
    json["name"] = "T" + std::to_string(number + 1);
    json["thread"] = one.span.thread;
    json["state"] = state_name(one.span.state);
    json["begin_us"] = microseconds(one.span.begin_ticks);
    json["end_us"] = microseconds(one.span.end_ticks);
    json["calls"] = Json::Array{};
    for (const EventRef ref : chosen) json["calls"].push_back(call(ref));
    json["calls_left_out"] = static_cast<uint64_t>(one.calls_left_out + calls - chosen.size());
    return json;
  }

  Json call(EventRef ref) const {
    const Event& event = this->event(ref);
    Json json;
    json["begin_us"] = microseconds(event.end - event.duration);
    json["end_us"] = microseconds(event.end);
    json["call"] = words_.call(event);
    json["answer"] = words_.answer(event);
    json["marked"] = is_cause(ref);
    return json;
  }

  const Shown& shown_;
  const Words words_;
  uint64_t start_ = UINT64_MAX;
};

Json whole_witness(const History& history, const Violation& violation) {
  Shown shown{history, violation, {}, kCallsShown};
  for (const TransactionSpan& span : violation.transactions) {
    if (shown.transactions.size() == kTransactionsShown) break;
    shown.transactions.push_back({span, 0});
  }
  return WitnessWriter(shown).write();
}

}  // namespace

std::string_view violation_meaning(std::string_view name) {
  for (const auto& [known, meaning] : kMeanings) {
    if (known == name) return meaning;
  }
  return "";
}

Json witness_json(const History& history, const Violation& violation, bool with_program) {
  const std::optional<MinimalHistory> small = minimise(history, violation);
  if (!small) return whole_witness(history, violation);
  const Shown shown{small->history, small->violation, small->transactions, kCallsOfMinimal,
                    &small->history.threads.back()};
  const WitnessWriter writer(shown);
  Json witness = writer.write();
  if (!with_program) return witness;
  const std::optional<Play> play = replay_of(*small, writer.words());
  if (play) witness["program"] = c_program(*play);
  return witness;
}

}  // namespace keydrome
