#include "checker/witness.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace keydrome {
namespace {

constexpr std::size_t kCallsShown = 12;  // of one transaction, those that an edge rests on first
constexpr std::size_t kTransactionsShown = 16;

using Meaning = std::pair<std::string_view, std::string_view>;
constexpr std::array kMeanings = {
    Meaning{"aborted_read",
            "A transaction saw what another one wrote that never committed: that data never was"},
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

constexpr std::array<std::string_view, 11> kCodeNames = {
    "SUCCESS", "DB_DNE",       "DB_EXISTS", "DB_END",   "KEY_NOTFOUND", "TXN_EXISTS",
    "TXN_DNE", "ENTRY_EXISTS", "ENTRY_DNE", "DEADLOCK", "FAILURE"};

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

std::string code_name(uint8_t code) {
  if (code < kCodeNames.size()) return std::string(kCodeNames[code]);
  return "undocumented code " + std::to_string(code);
}

class Writer {
 public:
  Writer(const History& history, const Violation& violation, double ticks_per_us)
      : history_(history), violation_(violation), ticks_per_us_(ticks_per_us) {
    const std::size_t count = std::min(violation.transactions.size(), kTransactionsShown);
    shown_ = std::vector(violation.transactions.begin(),
                         violation.transactions.begin() + static_cast<std::ptrdiff_t>(count));
    for (const TransactionSpan& span : shown_) start_ = std::min(start_, span.begin_ticks);
  }

  Json write() {
    Json witness;
    std::string summary(violation_meaning(violation_.name));
    if (!violation_.detail.empty()) summary += ". Here: " + violation_.detail;
    witness["summary"] = summary;
    witness["transactions"] = Json::Array{};
    name_records();
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      witness["transactions"].push_back(transaction(i));
    }
    witness["edges"] = Json::Array{};
    for (const ViolationEdge& edge : violation_.edges) {
      if (std::max(edge.from, edge.to) >= shown_.size()) continue;
      Json json;
      json["source"] = edge.from;
      json["target"] = edge.to;
      json["kind"] = edge_name(edge.kind);
      json["because"] = edge.because;
      witness["edges"].push_back(std::move(json));
    }
    return witness;
  }

 private:
  const Event& event(EventRef ref) const { return history_.threads[ref.thread][ref.position]; }

  double microseconds(uint64_t ticks) const {
    return ticks <= start_ ? 0.0 : static_cast<double>(ticks - start_) / ticks_per_us_;
  }

  // Positions of a transaction's own calls.
  std::vector<uint32_t> calls_of(const TransactionSpan& span) const {
    std::vector<uint32_t> calls;
    for (uint32_t at = span.first; at <= span.last; ++at) {
      const bool alone = (history_.threads[span.thread][at].call & kEventAutoCommit) != 0;
      if (alone == span.auto_commit) calls.push_back(at);
    }
    return calls;
  }

  bool is_cause(EventRef ref) const {
    const auto in = [&](const std::vector<EventRef>& refs) {
      return std::find(refs.begin(), refs.end(), ref) != refs.end();
    };
    return in(violation_.events) ||
           std::any_of(violation_.edges.begin(), violation_.edges.end(),
                       [&](const ViolationEdge& edge) { return in(edge.causes); });
  }

  // The calls to show: causes first, then the others from the front, in their order.
  std::vector<uint32_t> choose(const TransactionSpan& span) const {
    const std::vector<uint32_t> calls = calls_of(span);
    std::vector<uint32_t> chosen;
    for (const bool cause : {true, false}) {
      for (const uint32_t at : calls) {
        if (chosen.size() == kCallsShown) break;
        if (is_cause({.thread = span.thread, .position = at}) == cause) chosen.push_back(at);
      }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  // Records are named in the order of their calls in time.
  void name_records() {
    std::vector<EventRef> refs;
    for (const TransactionSpan& span : shown_) {
      for (const uint32_t at : choose(span))
        refs.push_back({.thread = span.thread, .position = at});
    }
    std::sort(refs.begin(), refs.end(),
              [&](EventRef a, EventRef b) { return event(a).end < event(b).end; });
    for (const EventRef ref : refs) {
      const uint64_t payload = event(ref).payload;
      if (payload != 0) records_.emplace(payload, "r" + std::to_string(records_.size() + 1));
    }
  }

  Json transaction(std::size_t number) const {
    const TransactionSpan& span = shown_[number];
    const std::vector<uint32_t> chosen = choose(span);
    Json json;
    json["name"] = "T" + std::to_string(number + 1);
    json["thread"] = span.thread;
    json["state"] = state_name(span.state);
    json["begin_us"] = microseconds(span.begin_ticks);
    json["end_us"] = microseconds(span.end_ticks);
    json["calls"] = Json::Array{};
    for (const uint32_t at : chosen) {
      json["calls"].push_back(call({.thread = span.thread, .position = at}));
    }
    json["calls_left_out"] = static_cast<uint64_t>(calls_of(span).size() - chosen.size());
    return json;
  }

  Json call(EventRef ref) const {
    const Event& event = this->event(ref);
    Json json;
    json["begin_us"] = microseconds(event.end - event.duration);
    json["end_us"] = microseconds(event.end);
    json["call"] = call_text(event);
    json["answer"] = answer_text(event);
    json["marked"] = is_cause(ref);
    return json;
  }

  std::string index_text(const Event& event) const {
    if (event.index >= history_.indexes.size()) return "?";
    return '"' + history_.indexes[event.index].name + '"';
  }

  std::string record_text(uint64_t payload) const {
    const auto found = records_.find(payload);
    return found == records_.end() ? "?" : found->second;
  }

  std::string call_text(const Event& event) const {
    const std::string index = index_text(event);
    const auto with_key = [&](std::string_view name) {
      return std::string(name) + "(" + index + ", " + key_text(history_, event.index, event.key);
    };
    switch (static_cast<EventCall>(event.call & ~kEventAutoCommit)) {
      case EventCall::kCreate:
        return "create(" + index + ")";
      case EventCall::kOpen:
        return "openIndex(" + index + ")";
      case EventCall::kClose:
        return "closeIndex(" + index + ")";
      case EventCall::kBegin:
        return "beginTransaction()";
      case EventCall::kCommit:
        return "commitTransaction()";
      case EventCall::kAbort:
        return "abortTransaction()";
      case EventCall::kGet:
        return with_key("get") + ")";
      case EventCall::kNext:
        return "getNext(" + index + ")";
      case EventCall::kInsert:
        return with_key("insertRecord") + ", " + record_text(event.payload) + ")";
      case EventCall::kDeletePair:
        return with_key("deleteRecord") + ", " + record_text(event.payload) + ")";
      case EventCall::kDeleteKey:
        return with_key("deleteRecord") + ", all)";
    }
    return "an unknown call";
  }

  std::string answer_text(const Event& event) const {
    std::string text = code_name(event.code);
    if (event.code != SUCCESS) return text;
    const auto call = static_cast<EventCall>(event.call & ~kEventAutoCommit);
    if (call == EventCall::kGet) return text + ", " + record_text(event.payload);
    if (call != EventCall::kNext) return text;
    return text + ", " + key_text(history_, event.index, event.key) + ", " +
           record_text(event.payload);
  }

  const History& history_;
  const Violation& violation_;
  const double ticks_per_us_;
  std::vector<TransactionSpan> shown_;
  uint64_t start_ = UINT64_MAX;
  std::map<uint64_t, std::string> records_;  // by payload
};

}  // namespace

std::string_view violation_meaning(std::string_view name) {
  for (const auto& [known, meaning] : kMeanings) {
    if (known == name) return meaning;
  }
  return "";
}

Json witness_json(const History& history, const Violation& violation, double ticks_per_us) {
  return Writer(history, violation, ticks_per_us).write();
}

}  // namespace keydrome
