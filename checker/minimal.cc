#include "checker/minimal.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "checker/calls.h"
#include "checker/transactions.h"

namespace keydrome {
namespace {

// Larger violations are shown as they are.
constexpr std::size_t kTransactionsMax = 16;
constexpr std::size_t kCallsMax = 400;

struct RecordId {
  uint16_t index;
  uint64_t key;
  uint64_t payload;
  auto operator<=>(const RecordId&) const = default;
};

RecordId record_of(const Event& event) { return {event.index, event.key, event.payload}; }

// The event names a record that is, or was until then, in the index.
bool names_record(const Event& event) {
  return shows_record(event) || (call_of(event) == EventCall::kInsert && succeeded(event));
}

// All transactions of a history, found by their calls.
class Spans {
 public:
  explicit Spans(const History& history) : by_thread_(history.threads.size()) {
    const Transactions transactions = split_into_transactions(history);
    for (const auto* list : {&transactions.committed, &transactions.others}) {
      for (const Transaction& one : *list) by_thread_[one.thread].push_back(span_of(one));
    }
    for (auto& spans : by_thread_) std::ranges::sort(spans, {}, &TransactionSpan::first);
  }

  // The transaction of a call, if it belongs to one.
  std::optional<TransactionSpan> of(const History& history, EventRef ref) const {
    const bool alone = is_auto_commit(history.threads[ref.thread][ref.position]);
    const std::vector<TransactionSpan>& spans = by_thread_[ref.thread];
    auto at = std::ranges::upper_bound(spans, ref.position, {}, &TransactionSpan::first);
    while (at != spans.begin()) {
      --at;
      if (at->auto_commit != alone) continue;  // an open transaction beside a call of its own
      if (at->last >= ref.position) return *at;
      return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::vector<TransactionSpan>> by_thread_;
};

// Who inserted and deleted some records: events of the whole history.
struct WritesOfRecords {
  std::map<RecordId, std::vector<EventRef>> inserts, deletes;
  std::map<std::pair<uint16_t, uint64_t>, std::vector<EventRef>> key_deletes;
};

// A transaction with the calls of it that are kept.
struct Kept {
  TransactionSpan span;
  std::set<uint32_t> calls;
};

std::pair<uint32_t, uint32_t> id_of(const TransactionSpan& span) {
  return {span.thread, span.first};
}

class Minimiser {
 public:
  Minimiser(const History& history, const Violation& violation)
      : history_(history), violation_(violation), spans_(history) {
    work_.indexes = history.indexes;
    work_.varchar_keys = history.varchar_keys;
    work_.stamp_slack = history.stamp_slack;
    work_.ticks_per_s = history.ticks_per_s;
  }

  std::optional<MinimalHistory> run() {
    if (!find_core()) return std::nullopt;
    find_writes();
    std::vector<Kept> causes = projected();
    if (fits(causes)) {
      core_ = std::move(causes);
    } else if (!fits(core_)) {
      return std::nullopt;
    }
    allowed_names_ = names_;
    bool again = true;
    while (again) again = drop_calls() || drop_writers();
    fits(core_);
    return result();
  }

 private:
  const Event& event(EventRef ref) const { return history_.threads[ref.thread][ref.position]; }
  const Event& event(const TransactionSpan& span, uint32_t position) const {
    return history_.threads[span.thread][position];
  }

  // The transactions of the violation with all their calls. False: too many, or none.
  bool find_core() {
    std::vector<TransactionSpan> spans = violation_.transactions;
    const auto add = [&](const TransactionSpan& span) {
      const bool known =
          std::ranges::any_of(spans, [&](const auto& one) { return id_of(one) == id_of(span); });
      if (!known) spans.push_back(span);
    };
    for (const EventRef ref : violation_.events) {
      if (const auto span = spans_.of(history_, ref)) add(*span);
    }
    std::size_t calls = 0;
    for (const TransactionSpan& span : spans) {
      Kept kept{span, {}};
      for (uint32_t at = span.first; at <= span.last; ++at) {
        if (is_auto_commit(event(span, at)) == span.auto_commit) kept.calls.insert(at);
      }
      calls += kept.calls.size();
      window_begin_ = std::min(window_begin_, span.begin_ticks);
      window_end_ = std::max(window_end_, span.end_ticks);
      core_.push_back(std::move(kept));
    }
    return !core_.empty() && core_.size() <= kTransactionsMax && calls <= kCallsMax;
  }

  void find_writes() {
    std::set<RecordId> records;
    std::set<std::pair<uint16_t, uint64_t>> keys;
    for (const Kept& kept : core_) {
      for (const uint32_t at : kept.calls) {
        if (!names_record(event(kept.span, at))) continue;
        const RecordId id = record_of(event(kept.span, at));
        records.insert(id);
        keys.insert({id.index, id.key});
      }
    }
    for (uint32_t thread = 0; thread < history_.threads.size(); ++thread) {
      for (uint32_t at = 0; at < history_.threads[thread].size(); ++at) {
        const Event& event = history_.threads[thread][at];
        const EventCall call = call_of(event);
        if (!succeeded(event) || !is_data_call(call)) continue;
        const RecordId id = record_of(event);
        const EventRef ref{thread, at};
        if (call == EventCall::kInsert && records.contains(id)) writes_.inserts[id].push_back(ref);
        if (call == EventCall::kDeletePair && records.contains(id)) {
          writes_.deletes[id].push_back(ref);
        }
        const std::pair key{id.index, id.key};
        if (call == EventCall::kDeleteKey && keys.contains(key)) {
          writes_.key_deletes[key].push_back(ref);
        }
      }
    }
  }

  // The core with what begins and ends it, its causes, and the steps of scans that led to them.
  std::vector<Kept> projected() const {
    std::vector<Kept> result;
    for (const Kept& kept : core_) {
      Kept small{kept.span, {}};
      for (const uint32_t at : kept.calls) {
        if (is_frame(kept.span, at) || is_cause({kept.span.thread, at})) add_call(kept, at, small);
      }
      result.push_back(std::move(small));
    }
    return result;
  }

  // begin, the end, and a DEADLOCK that was followed by a commit all the same.
  bool is_frame(const TransactionSpan& span, uint32_t at) const {
    const EventCall call = call_of(event(span, at));
    if (span.auto_commit || at == span.first || !is_data_call(call)) {
      return call != EventCall::kOpen && call != EventCall::kClose;
    }
    return span.state == TransactionState::kCommitted && event(span, at).code == DEADLOCK;
  }

  bool is_cause(EventRef ref) const {
    const auto in = [&](const std::vector<EventRef>& refs) {
      return std::ranges::find(refs, ref) != refs.end();
    };
    return in(violation_.events) ||
           std::ranges::any_of(violation_.edges,
                               [&](const ViolationEdge& edge) { return in(edge.causes); });
  }

  // With what put the cursor where the call found it.
  void add_call(const Kept& whole, uint32_t at, Kept& small) const {
    small.calls.insert(at);
    while (call_of(event(whole.span, at)) == EventCall::kNext) {
      const std::optional<uint32_t> before = cursor_before(whole, at);
      if (!before) return;
      at = *before;
      small.calls.insert(at);
    }
  }

  // The last call of the transaction before `at` that moved the cursor which `at` goes on from.
  std::optional<uint32_t> cursor_before(const Kept& kept, uint32_t at) const {
    const uint16_t index = event(kept.span, at).index;
    auto found = kept.calls.find(at);
    while (found != kept.calls.begin()) {
      --found;
      const Event& before = event(kept.span, *found);
      if (moves_cursor(before) && before.index == index) return *found;
    }
    return std::nullopt;
  }

  static bool moves_cursor(const Event& event) {
    const EventCall call = call_of(event);
    return call == EventCall::kGet || call == EventCall::kNext || call == EventCall::kOpen ||
           call == EventCall::kClose;
  }

  // Whether a kept step of a scan goes on from this call.
  bool is_gone_on_from(const Kept& kept, uint32_t at) const {
    if (!moves_cursor(event(kept.span, at))) return false;
    for (auto next = kept.calls.upper_bound(at); next != kept.calls.end(); ++next) {
      const Event& after = event(kept.span, *next);
      if (!moves_cursor(after) || after.index != event(kept.span, at).index) continue;
      return call_of(after) == EventCall::kNext;
    }
    return false;
  }

  bool drop_calls() {
    bool dropped = false;
    for (std::size_t i = 0; i < core_.size(); ++i) {
      const std::set<uint32_t> calls = core_[i].calls;
      for (auto at = calls.rbegin(); at != calls.rend(); ++at) {
        if (is_frame(core_[i].span, *at) || is_gone_on_from(core_[i], *at)) continue;
        core_[i].calls.erase(*at);
        if (fits(core_)) {
          dropped = true;
        } else {
          core_[i].calls.insert(*at);
        }
      }
    }
    return dropped;
  }

  // Writers that could be left out: their record is then seen, or not, all the same.
  bool drop_writers() {
    bool dropped = false;
    fits(core_);
    const std::vector<EventRef> writers = writers_;
    for (const EventRef& ref : writers) {
      dropped_.insert({ref.thread, ref.position});
      if (fits(core_)) {
        dropped = true;
      } else {
        dropped_.erase({ref.thread, ref.position});
      }
    }
    return dropped;
  }

  // Whether what is kept has the violation, and no other than before. Leaves the small history in
  // work_.
  bool fits(const std::vector<Kept>& core) {
    build(core);
    const Certification found = certify(work_);
    names_.clear();
    for (const Violation& one : found.violations) names_.insert(one.name);
    const auto same =
        std::ranges::find_if(found.violations, [&](const Violation& one) { return is_same(one); });
    if (same == found.violations.end()) return false;
    if (!allowed_names_.empty() && !std::ranges::includes(allowed_names_, names_)) return false;
    found_ = *same;
    found_.name = violation_.name;
    found_.severity = violation_.severity;
    found_.detail = violation_.detail;
    return true;
  }

  bool is_same(const Violation& one) const {
    const bool same_name = one.name == violation_.name ||
                           (violation_.name == "stale_read" && one.name == "missing_record");
    return same_name && one.transactions.size() <= violation_.transactions.size();
  }

  // Makes work_.threads of the core's calls, the writers of what they saw, and what was there
  // before.
  void build(const std::vector<Kept>& core) {
    kept_.clear();
    writers_.clear();
    for (const Kept& one : core) kept_[id_of(one.span)] = one;
    std::set<RecordId> records;
    for (const Kept& one : core) {
      for (const uint32_t at : one.calls) {
        if (names_record(event(one.span, at))) records.insert(record_of(event(one.span, at)));
      }
    }
    std::vector<RecordId> before;
    for (const RecordId& record : records) {
      if (add_inserter(record)) before.push_back(record);
      add_deleters(record);
    }
    write_threads(before);
  }

  // Whether the record was there before.
  bool add_inserter(const RecordId& record) {
    const auto inserts = writes_.inserts.find(record);
    if (inserts == writes_.inserts.end()) return false;
    // The one that committed; of several that did not, the last that there was.
    std::optional<EventRef> chosen;
    for (const EventRef& ref : inserts->second) {
      const std::optional<TransactionSpan> span = spans_.of(history_, ref);
      if (!span || span->begin_ticks > window_end_) continue;
      const bool committed = span->state == TransactionState::kCommitted;
      if (committed && span->end_ticks < window_begin_ && !is_core(*span)) return true;
      if (committed || !chosen || event(*chosen).end < event(ref).end) chosen = ref;
      if (committed) break;
    }
    if (chosen) add_writer(*chosen, /*can_be_dropped=*/false);
    return false;
  }

  void add_deleters(const RecordId& record) {
    const auto add = [&](const std::vector<EventRef>& refs) {
      for (const EventRef& ref : refs) {
        const std::optional<TransactionSpan> span = spans_.of(history_, ref);
        if (!span || span->begin_ticks > window_end_ || span->end_ticks < window_begin_) continue;
        add_writer(ref, /*can_be_dropped=*/true);
      }
    };
    if (const auto found = writes_.deletes.find(record); found != writes_.deletes.end()) {
      add(found->second);
    }
    const auto found = writes_.key_deletes.find({record.index, record.key});
    if (found != writes_.key_deletes.end()) add(found->second);
  }

  bool is_core(const TransactionSpan& span) const {
    return std::ranges::any_of(core_,
                               [&](const Kept& one) { return id_of(one.span) == id_of(span); });
  }

  void add_writer(EventRef ref, bool can_be_dropped) {
    const std::optional<TransactionSpan> span = spans_.of(history_, ref);
    if (!span || dropped_.contains({ref.thread, ref.position})) return;
    auto [at, is_new] = kept_.try_emplace(id_of(*span), Kept{*span, {}});
    if (is_new) {
      for (const uint32_t frame : {span->first, span->last}) at->second.calls.insert(frame);
    }
    const bool added = at->second.calls.insert(ref.position).second;
    if (can_be_dropped && (added || span->auto_commit)) writers_.push_back(ref);
  }

  void write_threads(const std::vector<RecordId>& before) {
    work_.threads.assign(history_.threads.size() + 1, {});
    work_.unknown_keys.clear();
    std::vector<std::set<uint32_t>> calls(history_.threads.size());
    for (const auto& [id, kept] : kept_) {
      calls[id.first].insert(kept.calls.begin(), kept.calls.end());
    }
    positions_.assign(history_.threads.size(), {});
    uint64_t first = UINT64_MAX;
    for (uint32_t thread = 0; thread < calls.size(); ++thread) {
      for (const uint32_t at : calls[thread]) {
        const Event& event = history_.threads[thread][at];
        first = std::min(first, begin_of(event, at > 0 ? history_.threads[thread][at - 1].end : 0));
        const auto position = static_cast<uint32_t>(work_.threads[thread].size());
        const bool shown = call_of(event) == EventCall::kNext && has_unknown_key(history_, event);
        if (shown) work_.unknown_keys.push_back({thread, position, 0});
        positions_[thread][at] = position;
        work_.threads[thread].push_back(event);
      }
    }
    write_before(before, first);
  }

  void write_before(const std::vector<RecordId>& before, uint64_t first) {
    // Stamps need room before the first call.
    const uint64_t room = before.size() + 1;
    if (first < room) {
      for (auto& events : work_.threads) {
        for (Event& event : events) event.end += room;
      }
    }
    uint64_t now = 0;
    for (const RecordId& record : before) {
      work_.threads.back().push_back(
          {.call = static_cast<uint8_t>(EventCall::kInsert) | kEventAutoCommit,
           .code = SUCCESS,
           .index = record.index,
           .duration = 0,
           .key = record.key,
           .payload = record.payload,
           .end = now++});
    }
  }

  MinimalHistory result() {
    const Spans small(work_);
    MinimalHistory out;
    const auto add = [&](const Kept& kept) {
      const uint32_t first = positions_[kept.span.thread].at(*kept.calls.begin());
      const auto span = small.of(work_, {kept.span.thread, first});
      if (!span) return;
      uint32_t calls = 0;
      for (uint32_t at = kept.span.first; at <= kept.span.last; ++at) {
        calls += is_auto_commit(event(kept.span, at)) == kept.span.auto_commit ? 1 : 0;
      }
      out.transactions.push_back({*span, calls - static_cast<uint32_t>(kept.calls.size())});
    };
    std::vector<Kept> others;
    for (const auto& entry : kept_) {
      const Kept& kept = entry.second;  // clang 14 cannot capture a structured binding
      const auto in_circle = [&](const TransactionSpan& span) {
        return span.thread == kept.span.thread &&
               span.first == positions_[span.thread].at(*kept.calls.begin());
      };
      if (std::ranges::none_of(found_.transactions, in_circle)) others.push_back(kept);
    }
    for (const TransactionSpan& span : found_.transactions) {
      for (const auto& [id, kept] : kept_) {
        if (kept.span.thread != span.thread) continue;
        if (positions_[span.thread].at(*kept.calls.begin()) == span.first) add(kept);
      }
    }
    std::ranges::sort(others, {}, [](const Kept& kept) { return kept.span.begin_ticks; });
    for (const Kept& kept : others) add(kept);
    out.violation = std::move(found_);
    out.history = std::move(work_);
    return out;
  }

  const History& history_;
  const Violation& violation_;
  const Spans spans_;
  std::vector<Kept> core_;
  uint64_t window_begin_ = UINT64_MAX, window_end_ = 0;  // of the core
  WritesOfRecords writes_;
  std::set<std::string> allowed_names_;
  std::set<std::pair<uint32_t, uint32_t>> dropped_;  // writers' calls that are not needed

  // Of the last attempt.
  History work_;
  std::map<std::pair<uint32_t, uint32_t>, Kept> kept_;   // by thread and first call
  std::vector<EventRef> writers_;                        // that could be dropped
  std::vector<std::map<uint32_t, uint32_t>> positions_;  // from history_ to work_
  std::set<std::string> names_;
  Violation found_;
};

}  // namespace

std::optional<MinimalHistory> minimise(const History& history, const Violation& violation) {
  return Minimiser(history, violation).run();
}

}  // namespace keydrome
