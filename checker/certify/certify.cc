// Implements certify.h: judges a recorded history. A serial order *respects real time* if T1
// precedes T2 whenever transaction T1 had returned before T2 began. If no serial order of the
// history respects real time, certify() judges the history a second time without this condition,
// and merges the two judgements.
#include "checker/certify/certify.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "checker/certify/anomalies.h"
#include "checker/certify/certifier.h"
#include "checker/certify/reinserted.h"
#include "checker/certify/relaxed_time.h"
#include "checker/certify/rules.h"

namespace keydrome::certify {

using history::CallViolation;
using history::CursorScope;
using history::EventCall;
using history::History;
using history::Numbering;
using history::Transaction;
using history::Transactions;
using history::TransactionState;
using history::UnknownKey;

namespace {

// The largest number of attempts of has_some_order(). If a serial order exists, a few attempts
// usually find it.
constexpr uint32_t kMovesMax = 20;

void count(const History& history, const Transactions& transactions, CertificationCounts& counts) {
  counts.committed = transactions.committed.size();
  for (const Transaction& other : transactions.others) {
    ++(other.state == TransactionState::kFailed ? counts.failed : counts.unfinished);
  }
  for (const auto& events : history.threads) counts.events += events.size();
}

// Searches for a serial order that may contradict real time. Moves transactions back in time and
// judges again (relaxed_time.h), until a serial order exists, no transaction is left to move, or
// kMovesMax attempts have failed. Returns true if it found an order, and then stores the order in
// `out` if the options ask for it.
bool has_some_order(History history, const CertifyOptions& options, CursorScope scope,
                    Certification& out) {
  for (uint32_t i = 0; i < kMovesMax; ++i) {
    const Transactions transactions = split_into_transactions(history);
    const Numbering numbering(history, scope);
    Versions versions(history, numbering, transactions, /*readers_are_late=*/true);
    const Context moved{history, numbering, transactions, versions, options};
    Certification found;
    if (i > 0) judge(moved, versions, found);
    if (found.verdict == Verdict::kCertified && !has_required(found)) {
      out.order = std::move(found.order);
      return true;
    }
    if (!move_back(moved, history)) return false;
  }
  return false;
}

// Returns the end of a reason why the second judgement, which ignores real time, is unknown. If
// real time counts, the first judgement has proven a violation, so another run is not necessary.
std::string what_to_do(const CertifyOptions& options) {
  return options.strict ? "" : std::string(": ") + kShorterRun;
}

// Makes the second judgement, in which the order may contradict real time. If the deleter of a
// record was derived only from times (Versions::unsure), it counts as unknown.
void judge_without_real_time(const History& history, const Numbering& numbering,
                             const Transactions& transactions, Versions versions,
                             const CertifyOptions& options, CursorScope scope, Certification& out) {
  const std::size_t count = transactions.committed.size() + transactions.others.size();
  const bool is_long = count > options.without_real_time_max;
  for (const uint32_t element : versions.unsure) versions.notes[element] |= kOpenDeleter;
  CertifyOptions lax = options;
  lax.disabled_rules |= kRuleRealTime;
  if (is_long) lax.disabled_rules |= kRuleChoice;
  const Context context{history, numbering, transactions, versions, lax};
  report_without_real_time(context, versions, out);
  if (has_required(out)) {
    out.verdict = Verdict::kViolation;
  } else if (is_long) {
    out.verdict = Verdict::kUndecided;
    out.reason =
        "no serial order that respects real time explains the results; the checker did not search "
        "for one that contradicts real time, because the history has " +
        std::to_string(count) + " transactions and the limit of this search is " +
        std::to_string(options.without_real_time_max) + what_to_do(options);
  } else if (has_some_order(history, options, scope, out)) {
    out.verdict = Verdict::kCertified;
    out.reason.clear();
  } else if (out.reason.empty()) {
    out.verdict = Verdict::kUndecided;
    out.reason =
        "no serial order that respects real time explains the results, and all attempts to find "
        "one that contradicts real time have failed" +
        what_to_do(options);
  }
}

// Names of the violations that no serial order can explain, not even one that contradicts real
// time: a lost insert, a lost delete, and a visible effect of a transaction that never committed.
constexpr std::string_view kLostData[] = {"missing_record", "deleted_record", "aborted_read"};

bool needs_real_time(const Violation& violation) {
  return std::ranges::any_of(
      violation.edges, [](const ViolationEdge& edge) { return edge.kind == EdgeKind::kRealTime; });
}

// Moves the violations that have a real-time edge to the front. Such an edge says that one
// transaction had returned before the other began. The order within each of the two groups stays
// the same.
std::vector<Violation> real_time_first(std::vector<Violation> found) {
  std::vector<Violation> ordered, rest;
  for (Violation& violation : found) {
    (needs_real_time(violation) ? ordered : rest).push_back(std::move(violation));
  }
  ordered.insert(ordered.end(), std::make_move_iterator(rest.begin()),
                 std::make_move_iterator(rest.end()));
  return ordered;
}

// Merges both judgements into `out`. Before the call, `out` contains the violations of the first
// judgement, for which the order must respect real time. `lax` is the second judgement, which
// ignores real time.
void merge(Certification lax, const CertifyOptions& options, Certification& out) {
  const bool is_serial = lax.verdict == Verdict::kCertified;
  std::vector<Violation> found = std::exchange(out.violations, {});
  bool lost = false;
  for (Violation& violation : found) {
    const bool is_lost = std::ranges::count(kLostData, violation.name) > 0;
    lost |= is_lost;
    // If a serial order exists, it contradicts real time. Every violation except lost data then
    // proves only this contradiction, which is called a stale read.
    const bool required = violation.severity == Severity::kRequired;
    if (is_serial && !is_lost && required) rename_as_stale_read(violation);
    if (!options.strict && !is_lost) violation.severity = Severity::kAdvisory;
  }
  // add_violation() keeps only the first violation of each name. A real-time edge explains a stale
  // read best, so violations with such an edge come first.
  if (is_serial) found = real_time_first(std::move(found));
  // If `strict` is false, the violations of `lax` come first, because the violations of `found` are
  // mostly advisory (warnings).
  if (!options.strict) found.swap(lax.violations);
  for (Violation& violation : found) add_violation(std::move(violation), options, out);
  for (Violation& violation : lax.violations) add_violation(std::move(violation), options, out);
  out.without_real_time = lost ? Verdict::kViolation : lax.verdict;
  if (!options.strict || !is_serial) out.reason = std::move(lax.reason);
  out.verdict = options.strict ? Verdict::kViolation : out.without_real_time;
  out.order = std::move(lax.order);
}

// Judges a history in which a record was inserted several times. In `context`, all inserts of the
// record share one *element*, the number of a record (numbering.h). First gives each insert an
// element of its own, if real time shows which insert each read saw. If this is impossible or does
// not decide the verdict, uses judge_reinserted() (reinserted.h).
void judge_inserted_again(const Context& context, Certification& out) {
  Numbering numbering = context.numbering;
  if (split_reinserted(context.history, context.transactions, numbering)) {
    Versions versions(context.history, numbering, context.transactions);
    const Context split{context.history, numbering, context.transactions, versions,
                        context.options};
    Certification found = out;
    report_wrong_inserts(context, found);
    const bool wrong = has_required(found);
    judge(split, versions, found);
    if (found.verdict == Verdict::kCertified || (has_required(found) && context.options.strict)) {
      out = std::move(found);
      out.without_real_time = out.verdict == Verdict::kCertified ? Verdict::kCertified
                              : wrong                            ? Verdict::kViolation
                                                                 : Verdict::kCouldNotJudge;
      if (out.without_real_time == Verdict::kCouldNotJudge) out.reason = context.versions.problem;
      return;
    }
  }
  judge_reinserted(context, out);
}

void judge_orders(const History& history, const Transactions& transactions,
                  const CertifyOptions& options, CursorScope scope, Certification& out) {
  const Numbering numbering(history, scope);
  Versions versions(history, numbering, transactions);
  const Context context{history, numbering, transactions, versions, options};
  if (!versions.problem.empty()) return judge_inserted_again(context, out);
  const Certification before = out;
  judge(context, versions, out);
  out.without_real_time = out.verdict;
  if (!has_required(out) || has_required(before)) return;
  Certification lax = before;
  judge_without_real_time(history, numbering, transactions, std::move(versions), options, scope,
                          lax);
  merge(std::move(lax), options, out);
}

// If an insert passed a key that is not in History::varchar_keys, returns the reason why the
// history cannot be judged: the position of the key among the other keys is unknown, so scans
// cannot be checked. Returns "" if there is no such insert.
std::string unknown_insert(const History& history) {
  for (const UnknownKey& at : history.unknown_arguments) {
    if (call_of(history.threads[at.thread][at.position]) != EventCall::kInsert) continue;
    return place_text({at.thread, at.position}) +
           ": insertRecord was passed a key that is not in the history's table of keys, so the "
           "order of the keys is unknown; " +
           history::kLogIsDamaged;
  }
  return "";
}

// Replaces the verdict kCertified by kCouldNotJudge. certify() calls this function if the log of a
// thread filled up, because the later calls are unknown.
void limit_to_recorded_part(Certification& out) {
  for (Verdict* verdict : {&out.verdict, &out.without_real_time}) {
    if (*verdict != Verdict::kCertified) continue;
    *verdict = Verdict::kCouldNotJudge;
    out.reason =
        std::string(
            "the log of a thread is full, so the later calls are unknown; the earlier ones "
            "fit a serial order. A log becomes full if the library returns DEADLOCK very "
            "often: return it less often, or ") +
        kShorterRun;
  }
}

// Judges the history. `scope` says which handles share a cursor.
Certification judge_all(const History& history, const CertifyOptions& options, CursorScope scope) {
  Certification out;
  const Transactions transactions = split_into_transactions(history);
  out.reason = transactions.problem;
  if (!out.reason.empty()) return out;
  out.reason = unknown_insert(history);
  if (!out.reason.empty()) return out;
  count(history, transactions, out.counts);
  for (const CallViolation& found : transactions.call_violations) {
    add_violation(describe_call_violation(history, found), options, out);
  }
  for (const UnknownKey& unknown : history.unknown_keys) {
    add_violation(describe_unknown_key(history, unknown), options, out);
  }
  const bool wrong_in_any_order = has_required(out);
  judge_orders(history, transactions, options, scope, out);
  if (wrong_in_any_order) out.without_real_time = Verdict::kViolation;
  if (!history.truncated_threads.empty()) limit_to_recorded_part(out);
  if (has_required(out)) {
    out.verdict = Verdict::kViolation;
    out.order.clear();
    const Verdict lax = out.without_real_time;
    if (lax == Verdict::kViolation || lax == Verdict::kCertified) out.reason.clear();
  }
  return out;
}

}  // namespace

Certification certify(const History& history, const CertifyOptions& options) {
  Certification found = judge_all(history, options, CursorScope::kHandle);
  if (found.verdict == Verdict::kCertified || !has_several_handles(history)) return found;
  Certification shared = judge_all(history, options, CursorScope::kIndex);
  const bool is_better =
      shared.verdict == Verdict::kCertified || (has_required(found) && !has_required(shared));
  return is_better ? shared : found;
}

}  // namespace keydrome::certify
