// Implements minimise.h: reduces a recorded history to the calls that a violation depends on. The
// reduction starts with the calls that the violation cites. Then it leaves out further calls one by
// one, as long as certify() still finds the violation.
#include "checker/witness/minimise.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "checker/certify/certify.h"
#include "checker/history/calls.h"
#include "checker/history/transactions.h"
#include "checker/witness/reduced_history.h"

namespace keydrome::witness {

using certify::Certification;
using certify::Violation;
using certify::ViolationEdge;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::TransactionSpan;
using history::TransactionState;

namespace {

// Violations with more transactions or more calls are not reduced.
constexpr std::size_t kTransactionsMax = 16;
constexpr std::size_t kCallsMax = 400;

// Returns true if the call `event` moves the cursor that the getNext `scan` uses. Assumes that each
// handle has its own cursor. If the handles share one, the minimiser may keep too many calls.
bool moves_cursor_of(const Event& scan, const Event& event) {
  if (event.index != scan.index) return false;
  const EventCall call = call_of(event);
  if (call == EventCall::kOpen || call == EventCall::kClose) return true;
  const bool reads = call == EventCall::kGet || call == EventCall::kNext;
  return reads && handle_of(event) == handle_of(scan);
}

// Decides which calls of a transaction must be kept, because the violation or another kept call
// depends on them.
class CallDependencies {
 public:
  CallDependencies(const History& history, const Violation& violation)
      : history_(history), violation_(violation) {}

  // Returns true if the call must always be kept, because the transaction would not be the same
  // without it. These calls are an auto-committed call, create, begin, commit, abort, and a call
  // that returned DEADLOCK although the transaction then committed.
  bool is_boundary(const TransactionSpan& span, uint32_t at) const {
    const EventCall call = call_of(event(span, at));
    if (span.auto_commit || at == span.first || !is_data_call(call)) {
      return call != EventCall::kOpen && call != EventCall::kClose;
    }
    return span.state == TransactionState::kCommitted && event(span, at).code == DEADLOCK;
  }

  // Returns true if the violation cites the call.
  bool is_cause(EventRef ref) const {
    const auto in = [&](const std::vector<EventRef>& refs) {
      return std::ranges::find(refs, ref) != refs.end();
    };
    return in(violation_.events) ||
           std::ranges::any_of(violation_.edges,
                               [&](const ViolationEdge& edge) { return in(edge.causes); });
  }

  // Adds a call of `whole` to `small`. If the call is a getNext, also adds the earlier reads that
  // led the cursor to its position.
  void add_call(const ReducedTransaction& whole, uint32_t at, ReducedTransaction& small) const {
    small.calls.insert(at);
    while (call_of(event(whole.span, at)) == EventCall::kNext) {
      const std::optional<uint32_t> before = cursor_move_before(whole, at);
      if (!before) return;
      at = *before;
      small.calls.insert(at);
    }
  }

  // Returns true if a scan continues from this call, because the next kept call on the same cursor
  // is a getNext.
  bool has_continuation(const ReducedTransaction& kept, uint32_t at) const {
    const Event& call = event(kept.span, at);
    if (!moves_cursor_of(call, call)) return false;
    for (auto next = kept.calls.upper_bound(at); next != kept.calls.end(); ++next) {
      const Event& after = event(kept.span, *next);
      if (!moves_cursor_of(call, after)) continue;
      return call_of(after) == EventCall::kNext;
    }
    return false;
  }

 private:
  const Event& event(const TransactionSpan& span, uint32_t at) const {
    return history_.threads[span.thread][at];
  }

  // Returns the last call of the transaction before `at` that moved the cursor of the call `at`.
  std::optional<uint32_t> cursor_move_before(const ReducedTransaction& whole, uint32_t at) const {
    const Event& scan = event(whole.span, at);
    auto found = whole.calls.find(at);
    while (found != whole.calls.begin()) {
      --found;
      const Event& before = event(whole.span, *found);
      if (moves_cursor_of(scan, before)) return *found;
    }
    return std::nullopt;
  }

  const History& history_;
  const Violation& violation_;
};

class Minimiser {
 public:
  Minimiser(const History& history, const Violation& violation)
      : history_(history),
        violation_(violation),
        dependencies_(history, violation),
        reduced_(history) {}

  std::optional<MinimalHistory> run() {
    std::vector<ReducedTransaction> whole = transactions_of_violation();
    if (whole.empty()) return std::nullopt;
    reduced_.find_writes(whole);
    kept_ = initial_reduction(whole);
    if (!still_violates()) {
      kept_ = std::move(whole);
      if (!still_violates()) return std::nullopt;
    }
    // From here on, leaving out a call must not cause another kind of violation.
    allowed_names_ = names_;
    bool dropped = true;
    while (dropped) dropped = drop_calls() || drop_deletes();
    // The last attempt may have failed, so this builds the history of the kept calls again.
    still_violates();
    return result();
  }

 private:
  const Event& event(const TransactionSpan& span, uint32_t at) const {
    return history_.threads[span.thread][at];
  }

  // Returns the transactions of the violation with all their calls, or none if there are too many.
  std::vector<ReducedTransaction> transactions_of_violation() const {
    std::vector<TransactionSpan> spans = violation_.transactions;
    for (const EventRef ref : violation_.events) {
      const auto span = reduced_.transactions().of(history_, ref);
      if (!span) continue;
      const bool known = std::ranges::any_of(
          spans, [&](const TransactionSpan& one) { return id_of(one) == id_of(*span); });
      if (!known) spans.push_back(*span);
    }
    std::vector<ReducedTransaction> whole;
    std::size_t calls = 0;
    for (const TransactionSpan& span : spans) {
      whole.push_back({span, {}});
      for (uint32_t at = span.first; at <= span.last; ++at) {
        if (is_auto_commit(event(span, at)) == span.auto_commit) whole.back().calls.insert(at);
      }
      calls += whole.back().calls.size();
    }
    if (whole.size() > kTransactionsMax || calls > kCallsMax) whole.clear();
    return whole;
  }

  // Returns the transactions with only these calls: calls that the violation cites, calls that must
  // always be kept (is_boundary), and the scan steps that led to these calls.
  std::vector<ReducedTransaction> initial_reduction(
      const std::vector<ReducedTransaction>& whole) const {
    std::vector<ReducedTransaction> reduction;
    for (const ReducedTransaction& one : whole) {
      ReducedTransaction small{one.span, {}};
      for (const uint32_t at : one.calls) {
        if (dependencies_.is_boundary(one.span, at) ||
            dependencies_.is_cause({one.span.thread, at})) {
          dependencies_.add_call(one, at, small);
        }
      }
      reduction.push_back(std::move(small));
    }
    return reduction;
  }

  // Leaves out calls of the violation's transactions one by one, the last call first, as long as
  // the violation remains. Returns true if it left out any call.
  bool drop_calls() {
    bool dropped = false;
    for (ReducedTransaction& one : kept_) {
      const std::set<uint32_t> calls = one.calls;
      for (auto at = calls.rbegin(); at != calls.rend(); ++at) {
        if (dependencies_.is_boundary(one.span, *at) || dependencies_.has_continuation(one, *at)) {
          continue;
        }
        one.calls.erase(*at);
        if (still_violates()) {
          dropped = true;
        } else {
          one.calls.insert(*at);
        }
      }
    }
    return dropped;
  }

  // Leaves out one by one the deletes that ReducedHistory added from transactions outside the
  // violation, as long as the violation remains. Returns true if it left out any delete.
  bool drop_deletes() {
    bool dropped = false;
    // The last attempt may have failed, so this builds the history of the kept calls again. The
    // deletes of this history are in reduced_.deletes().
    still_violates();
    const std::vector<EventRef> deletes = reduced_.deletes();
    for (const EventRef& ref : deletes) {
      dropped_.insert(ref);
      if (still_violates()) {
        dropped = true;
      } else {
        dropped_.erase(ref);
      }
    }
    return dropped;
  }

  // Builds the reduced history and certifies it. Sets names_ to the names of the violations found.
  // Returns true if the violation is among them and all names are allowed, and then sets found_.
  bool still_violates() {
    reduced_.build(kept_, dropped_);
    const Certification result = certify::certify(reduced_.history());
    names_.clear();
    for (const Violation& one : result.violations) names_.insert(one.name);
    const auto same =
        std::ranges::find_if(result.violations, [&](const Violation& one) { return is_same(one); });
    if (same == result.violations.end()) return false;
    if (allowed_names_ && !std::ranges::includes(*allowed_names_, names_)) return false;
    found_ = *same;
    found_.name = violation_.name;
    found_.severity = violation_.severity;
    found_.detail = violation_.detail;
    return true;
  }

  bool is_same(const Violation& one) const {
    // A stale read becomes a missing record if the reduction left out the later reader that found
    // the record (minimise.h).
    const bool same_name = one.name == violation_.name ||
                           (violation_.name == "stale_read" && one.name == "missing_record");
    return same_name && one.transactions.size() <= violation_.transactions.size();
  }

  MinimalHistory result() {
    const TransactionIndex small(reduced_.history());
    MinimalHistory out;
    const auto add = [&](const ReducedTransaction& one) {
      const auto span =
          small.of(reduced_.history(), {one.span.thread, reduced_.first_position(one)});
      if (span) out.transactions.push_back({*span, calls_left_out(one)});
    };
    const auto is_at = [&](const ReducedTransaction& one, const TransactionSpan& span) {
      return one.span.thread == span.thread && reduced_.first_position(one) == span.first;
    };
    std::vector<ReducedTransaction> writers;
    for (const auto& entry : reduced_.kept()) writers.push_back(entry.second);
    std::ranges::sort(writers, {},
                      [](const ReducedTransaction& one) { return one.span.begin_ticks; });
    for (const TransactionSpan& span : found_.transactions) {
      for (const ReducedTransaction& one : writers) {
        if (is_at(one, span)) add(one);
      }
    }
    std::erase_if(writers, [&](const ReducedTransaction& one) {
      return std::ranges::any_of(found_.transactions,
                                 [&](const TransactionSpan& span) { return is_at(one, span); });
    });
    for (const ReducedTransaction& one : writers) add(one);
    out.violation = std::move(found_);
    out.history = reduced_.take_history();
    return out;
  }

  uint32_t calls_left_out(const ReducedTransaction& one) const {
    uint32_t calls = 0;
    for (uint32_t at = one.span.first; at <= one.span.last; ++at) {
      calls += is_auto_commit(event(one.span, at)) == one.span.auto_commit ? 1 : 0;
    }
    return calls - static_cast<uint32_t>(one.calls.size());
  }

  const History& history_;
  const Violation& violation_;
  const CallDependencies dependencies_;
  ReducedHistory reduced_;
  std::vector<ReducedTransaction> kept_;  // the transactions of the violation
  std::set<EventRef> dropped_;            // deletes of other transactions that are not needed
  // Names of violations that the reduced history may have. If no set is given, any name is allowed.
  std::optional<std::set<std::string>> allowed_names_;

  // Set by still_violates().
  std::set<std::string> names_;
  Violation found_;
};

}  // namespace

std::optional<MinimalHistory> minimise(const History& history, const Violation& violation) {
  return Minimiser(history, violation).run();
}

}  // namespace keydrome::witness
