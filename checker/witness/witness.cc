// Implements witness.h: writes a witness, which is JSON with the transactions and calls that prove
// a violation, and with its edges. An edge says why one transaction must precede another. kMeanings
// contains a sentence for each name of a violation.
#include "checker/witness/witness.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "checker/history/transactions.h"
#include "checker/witness/c_program.h"
#include "checker/witness/minimise.h"
#include "checker/witness/reproducer.h"
#include "checker/witness/wording.h"

namespace keydrome::witness {

using certify::EdgeKind;
using certify::Violation;
using certify::ViolationEdge;
using history::Event;
using history::EventRef;
using history::History;
using history::TransactionSpan;
using history::TransactionState;

namespace {

// Limits of the size of a witness. If minimise() (minimise.h) has reduced the history, the witness
// shows at most kTransactionsOfMinimal transactions, and at most kCallsOfMinimal calls of each.
// Otherwise it shows at most kTransactionsShown transactions and kCallsShown calls of each.
// The programs that read reports accept no more (harness/schema/report.v1.schema.json).
constexpr std::size_t kCallsShown = 12;
constexpr std::size_t kCallsOfMinimal = 200;
constexpr std::size_t kTransactionsShown = 16;
constexpr std::size_t kTransactionsOfMinimal = 64;

using Meaning = std::pair<std::string_view, std::string_view>;
constexpr std::array kMeanings = {
    Meaning{"aborted_read",
            "A transaction saw a write of another transaction that never committed"},
    Meaning{
        "answer_after_deadlock",
        "A call returned DEADLOCK, which ends a transaction without effect, but the next call of "
        "the transaction was carried out as if nothing had happened"},
    Meaning{
        "circular_information_flow",
        "Each of these transactions saw a write of the previous one, in a cycle: in every order, "
        "the first transaction saw a write that had not happened yet"},
    Meaning{
        "commit_after_deadlock",
        "A call returned DEADLOCK, which ends a transaction without effect, but the library then "
        "committed the transaction"},
    Meaning{"corrupt_key", "The library returned a key that no call ever passed to it"},
    Meaning{"corrupt_payload",
            "The library returned a payload that no call inserted under that key"},
    Meaning{
        "delete_code",
        "A call that deletes a missing pair reported the whole key as missing, although the key "
        "has other payloads"},
    Meaning{"deleted_record", "A record was found although a committed transaction had deleted it"},
    Meaning{"dirty_read",
            "A transaction saw a write of another transaction that had not yet committed"},
    Meaning{"dirty_write",
            "A transaction overwrote a change that was not yet committed, or transactions "
            "overwrote each other's changes in a cycle: no order of the transactions gives these "
            "results"},
    Meaning{"duplicate_record", "One scan returned the same record twice"},
    Meaning{"illegal_answer",
            "A call of an open transaction returned TXN_DNE or DB_DNE, although the transaction "
            "and the handle existed"},
    Meaning{"intermediate_read",
            "A transaction saw a record that its writer deleted before committing"},
    Meaning{"internal",
            "A result contradicts an earlier result of the same transaction, or no order of the "
            "transactions gives the result"},
    Meaning{"lost_update",
            "Two transactions changed the same record, and at least one of them did not see all "
            "changes of the other"},
    Meaning{"missing_record", "A record that was committed and never deleted was not found"},
    Meaning{"non_repeatable_read",
            "A record that a transaction had read changed before that transaction ended"},
    Meaning{
        "phantom",
        "A transaction looked for a record and did not find it, while another transaction inserted "
        "such a record: no order of the transactions gives these results"},
    Meaning{
        "read_only_anomaly",
        "A transaction that only reads saw a state that no order of the other transactions gives"},
    Meaning{"read_skew",
            "A transaction saw one change of another transaction but not its other change"},
    Meaning{"read_your_writes",
            "A transaction did not see a change that its own thread had committed before"},
    Meaning{"stale_read",
            "A transaction did not see a change that had been committed before the transaction "
            "began"},
    Meaning{
        "torn_commit",
        "A transaction saw some of the records that another transaction committed together, but "
        "not all of them"},
    Meaning{"undocumented_code",
            "A call returned a result code that the contract does not allow for it"},
    Meaning{"unexpected_failure", "A call returned FAILURE although the call was legal"},
    Meaning{"write_skew",
            "Two transactions each read a record that the other transaction then changed, and both "
            "committed: in every order, the second transaction should have read the change of the "
            "first"},
    Meaning{
        "wrong_insert",
        "insertRecord stored a record that already existed, but must return ENTRY_EXISTS for it"},
    Meaning{"wrong_order", "A scan went backwards: it returned a smaller key after a larger one"},
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

// The content of a witness: the minimal history (minimise.h) if there is one, and otherwise the
// recorded transactions.
struct Shown {
  const History& history;
  const Violation& violation;
  std::vector<MinimalTransaction> transactions;
  std::size_t calls_max;  // the largest number of calls to show of each transaction
  // The inserts of the initial records, i.e. of the records that existed before the first shown
  // transaction began.
  const std::vector<Event>* initial = nullptr;
  std::size_t transactions_left_out = 0;  // number of transactions of the history not shown
};

// Writes the JSON of a witness.
class WitnessWriter {
 public:
  explicit WitnessWriter(const Shown& shown) : shown_(shown), wording_(shown.history, mentioned()) {
    for (const MinimalTransaction& one : shown.transactions) {
      start_ = std::min(start_, one.span.begin_ticks);
    }
  }

  Json write() const {
    Json witness;
    witness["summary"] = summary();
    if (shown_.initial != nullptr && !shown_.initial->empty()) {
      witness["initial"] = Json::Array{};
      for (const Event& event : *shown_.initial) witness["initial"].push_back(initial(event));
    }
    witness["transactions"] = Json::Array{};
    for (std::size_t i = 0; i < shown_.transactions.size(); ++i) {
      witness["transactions"].push_back(transaction(i));
    }
    if (shown_.transactions_left_out > 0) {
      witness["transactions_left_out"] = static_cast<uint64_t>(shown_.transactions_left_out);
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

  const Wording& wording() const { return wording_; }

 private:
  // Returns what the name of the violation means, then its details. Details that begin with the
  // meaning stay as they are.
  std::string summary() const {
    std::string meaning(violation_meaning(shown_.violation.name));
    const std::string& detail = shown_.violation.detail;
    if (detail.empty()) return meaning;
    return detail.starts_with(meaning + ": ") ? detail : meaning + ". Here: " + detail;
  }

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

  // Returns the calls of a transaction that the witness shows, at most calls_max, in the order of
  // time. Prefers the calls that the violation cites. If there is room for others, adds the
  // earliest.
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
    if (shown_.initial != nullptr) {
      const auto last = static_cast<uint32_t>(shown_.history.threads.size() - 1);
      for (uint32_t at = 0; at < shown_.initial->size(); ++at) calls.push_back({last, at});
    }
    for (const MinimalTransaction& one : shown_.transactions) {
      for (const EventRef call : choose(one.span)) calls.push_back(call);
    }
    return calls;
  }

  std::string initial(const Event& event) const {
    return wording_.record(event.payload) + " under " +
           named_key(shown_.history, event.index, event.key) + " of index " +
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
    json["call"] = wording_.call(event);
    json["answer"] = wording_.answer(event);
    json["marked"] = is_cause(ref);
    return json;
  }

  const Shown& shown_;
  const Wording wording_;
  uint64_t start_ = UINT64_MAX;
};

Json whole_witness(const History& history, const Violation& violation) {
  Shown shown{history, violation, {}, kCallsShown};
  for (const TransactionSpan& span : violation.transactions) {
    if (shown.transactions.size() == kTransactionsShown) break;
    shown.transactions.push_back({span, 0});
  }
  shown.transactions_left_out = violation.transactions.size() - shown.transactions.size();
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
  Shown shown{small->history, small->violation, small->transactions, kCallsOfMinimal,
              &small->history.threads.back()};
  if (shown.transactions.size() > kTransactionsOfMinimal) {
    // The transactions of the violation come first and stay. The last ones only wrote records.
    shown.transactions_left_out = shown.transactions.size() - kTransactionsOfMinimal;
    shown.transactions.resize(kTransactionsOfMinimal);
  }
  const WitnessWriter writer(shown);
  Json witness = writer.write();
  if (!with_program) return witness;
  const std::optional<Reproducer> program = reproducer_of(*small, writer.wording());
  if (program) witness["program"] = c_program(*program);
  return witness;
}

}  // namespace keydrome::witness
